"""The finite-element model against other roads: Macaulay's method, the method of joints, frame formulas."""

import math
from random import Random

import numpy as np
import pytest

from labeling.simulators.structures.drawing import draw_problem
from labeling.simulators.structures.families import FAMILIES
from labeling.simulators.structures.families.base import LEVELS
from labeling.simulators.structures.families.beams import BEAMS
from labeling.simulators.structures.families.indeterminate import INDETERMINATE
from labeling.simulators.structures.model import solve
from labeling.simulators.structures.spec import spec_of
from labeling.simulators.structures.structure import Load, Member, Node, Structure, structure_from

SEEDS = range(3)


def spec_for(family, seed):
    return spec_of(draw_problem(FAMILIES[family], Random(f"{family} {seed}")))


def floats(spec):
    """Givens as floats in kN and m."""
    factor = {"kN": 1, "kN/m": 1, "m": 1, "mm": 1e-3, "GPa": 1e6, "MPa": 1e3}
    return {name: float(text.split()[0]) * factor[text.split()[1]] for name, text in spec.givens}


def in_kn_and_m(spec):
    scale = {"reaction": 1e3, "axial": 1e3, "shear": 1e3, "moment": 1e3, "deflection": 1, "stress": 1e3}
    return {q.symbol: spec.values[q.symbol] / scale[q.kind] for q in spec.quantities if q.kind in scale}


def stiffness(spec):
    return spec.setting.modulus * 1e3 * spec.setting.section.second_moment * 1e-12


STRAIGHT = [family.name for family in (*BEAMS, *INDETERMINATE)]


# --- straight beams: one polynomial with brackets, unknown reactions from the conditions at supports ---


def step(x, a, power):
    return np.where(x > a, np.maximum(x - a, 0.0) ** power, 0.0)


def macaulay(structure):
    """Solve a straight beam with E I = 1; return reactions, largest shear and moment, and w(x).

    Unknowns are a force at every support, a moment at every fixed one, and two constants of integration.
    E I w'' = M, M the sum of forces to the left times their arms.
    """
    where = {node.name: node.x for node in structure.nodes}
    ends = {s.name: (where[s.name[0]], where[s.name[1]]) for s in structure.spans}
    last = max(where.values())
    unknowns = [("force", where[n]) for n, _ in structure.supports]
    unknowns += [("moment", where[n]) for n, kind in structure.supports if kind == "fixed"]

    def of_unknown(kind, a, x, order):
        """order 0: shear, 1: moment, 2: slope, 3: deflection."""
        power = order if kind == "force" else order - 1
        return step(x, a, power) / math.factorial(power) if power >= 0 else 0.0 * x

    def of_loads(x, order):
        total = 0.0 * x
        for load in structure.loads:
            if load.kind == "point":
                total += load.y * step(x, where[load.place], order) / math.factorial(order)
            else:
                a, b = ends[load.place]
                brackets = step(x, a, order + 1) - step(x, b, order + 1)
                total += load.y * brackets / math.factorial(order + 1)
        return total

    def constants(x, order):
        return {2: (1.0 + 0 * x, 0 * x), 3: (x, 1.0 + 0 * x)}.get(order, (0 * x, 0 * x))

    def row(x, order):
        point = np.array([x])
        values = [of_unknown(kind, a, point, order)[0] for kind, a in unknowns]
        values += [c[0] for c in constants(point, order)]
        return values, -of_loads(point, order)[0]

    beyond = last + 1e-9
    conditions = [row(beyond, 0), row(beyond, 1)]
    conditions += [row(where[n], 3) for n, _ in structure.supports]
    conditions += [row(where[n], 2) for n, kind in structure.supports if kind == "fixed"]
    found = np.linalg.solve(np.array([c[0] for c in conditions]), np.array([c[1] for c in conditions]))

    def at(x, order):
        c = constants(x, order)
        parts = [f * of_unknown(kind, a, x, order) for f, (kind, a) in zip(found, unknowns, strict=False)]
        return of_loads(x, order) + sum(parts) + found[-2] * c[0] + found[-1] * c[1]

    near = 1e-9
    joints = np.array(sorted(where.values()))
    xs = np.sort(np.concatenate([np.linspace(near, last - near, 40001), joints - near, joints + near]))
    reactions = {n: f for (n, _), f in zip(structure.supports, found, strict=False)}
    return (
        reactions,
        abs(at(xs, 0)).max(),
        abs(at(xs, 1)).max(),
        lambda name: at(np.array([where[name]]), 3)[0],
    )


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", STRAIGHT)
def test_beams_agree_with_macaulays_method(family, seed):
    spec = spec_for(family, seed)
    values = in_kn_and_m(spec)
    reactions, shear, moment, deflection = macaulay(spec.setting.structure)
    for node, force in reactions.items():
        assert values[f"R_{node}"] == pytest.approx(force, rel=1e-6, abs=1e-6)
    assert values["V_max"] == pytest.approx(shear, rel=1e-6)
    assert values["M_max"] == pytest.approx(moment, rel=1e-6)
    where = spec.deflection
    assert values[where.symbol] == pytest.approx(abs(deflection(where.place)) / stiffness(spec), rel=1e-6)


# --- trusses: equilibrium of every joint, deflection by virtual work -----------------------------------


def joints(structure, loads):
    """Solve bar forces (tension positive) and reactions from two equations a joint."""
    n_of = {node.name: 2 * i for i, node in enumerate(structure.nodes)}
    held = [(n, d) for n, kind in structure.supports for d in range(2) if kind == "pin" or d == 1]
    matrix = np.zeros((2 * len(n_of), len(structure.members) + len(held)))
    for column, member in enumerate(structure.members):
        a, b = structure.where(member.start), structure.where(member.end)
        direction = np.array([b.x - a.x, b.y - a.y]) / structure.length_of(member)
        matrix[n_of[a.name] : n_of[a.name] + 2, column] += direction
        matrix[n_of[b.name] : n_of[b.name] + 2, column] -= direction
    for column, (node, d) in enumerate(held, start=len(structure.members)):
        matrix[n_of[node] + d, column] = 1
    right = np.zeros(2 * len(n_of))
    for place, size in loads:
        right[n_of[place] + 1] -= size
    found = np.linalg.solve(matrix, right)
    forces = {m.name: f for m, f in zip(structure.members, found, strict=False)}
    upward = {n: f for (n, d), f in zip(held, found[len(forces) :], strict=True) if d == 1}
    return forces, upward


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("family", ["king-post-truss", "warren-truss", "pratt-truss"])
def test_trusses_agree_with_the_method_of_joints_and_virtual_work(family, seed):
    spec = spec_for(family, seed)
    structure, values = spec.setting.structure, in_kn_and_m(spec)
    forces, upward = joints(structure, [(load.place, load.y) for load in structure.loads])
    for quantity in spec.quantities:
        if quantity.kind == "axial":
            assert values[quantity.symbol] == pytest.approx(forces[quantity.place], rel=1e-6, abs=1e-6)
        if quantity.kind == "reaction":
            assert values[quantity.symbol] == pytest.approx(upward[quantity.place], rel=1e-6)
    area = spec.setting.section.area * 1e-6
    assert values["sigma"] == pytest.approx(max(map(abs, forces.values())) / area, rel=1e-6)
    unit, _ = joints(structure, [(spec.deflection.place, -1.0)])
    work = sum(forces[m.name] * unit[m.name] * structure.length_of(m) for m in structure.members)
    expected = work / (spec.setting.modulus * 1e3 * area)
    assert values[spec.deflection.symbol] == pytest.approx(expected, rel=1e-6)


def test_three_bars_share_the_load_by_hand():
    # d = 3 m, h = 4 m, s = 5 m, P = 10 kN: N_BD = 10 / (1 + 2 * 0.8^3) = 10 / 2.024 = 4.9407 kN and
    # N_AD = 4.9407 * 0.8^2 = 3.1621 kN; D sinks by 4.9407 * 4 / (210e6 * 500e-6) = 0.18822 mm.
    bars = tuple(Member(name, name[0], "D", True) for name in ("AD", "BD", "CD"))
    structure = Structure(
        nodes=(Node("A", -3, 4), Node("B", 0, 4), Node("C", 3, 4), Node("D", 0, 0)),
        members=bars,
        supports=(("A", "pin"), ("B", "pin"), ("C", "pin")),
        loads=(Load("point", "D", 0.0, -10.0),),
    )
    solved = solve(structure, 210_000, 500, 1e6)
    assert solved.axial == pytest.approx({"AD": 3.1621, "BD": 4.9407, "CD": 3.1621}, rel=1e-4)
    assert solved.displacements["D"][1] == pytest.approx(-0.18822e-3, rel=1e-4)


# --- frames: the formulas of rigid-frame tables --------------------------------------------------------


def pinned_sway(g, ei):
    # Each foot takes half of F sideways; the corners hold F h / 2; the beam turns them by M L / (6 E I).
    sway = g["F"] / 2 * g["h"] ** 3 / (3 * ei) + g["F"] * g["h"] / 2 * g["L"] / (6 * ei) * g["h"]
    couple = g["F"] * g["h"] / g["L"]
    return {"R_A": -couple, "R_D": couple, "M_max": g["F"] * g["h"] / 2, "delta_B": sway}


def fixed_sway(g, ei):
    # Slope deflection with equal corner rotation t and sway s: 4 i t + 6 j t = 6 i s / h and
    # F h = 12 i (s / h) * 2 - 12 i t, with i = E I / h and j = E I / L.
    i, j, h = ei / g["h"], ei / g["L"], g["h"]
    t, s = np.linalg.solve([[4 * i + 6 * j, -6 * i / h], [-12 * i, 24 * i / h]], [0.0, g["F"] * h])
    foot, corner = 6 * i * s / h - 2 * i * t, 6 * j * t
    couple = 2 * corner / g["L"]
    return {"R_A": -couple, "R_D": couple, "M_max": max(foot, corner), "delta_B": s}


def pinned_uniform(g, ei):
    # Three-hinge compatibility: fixed beam ends q L^2 / 12, shared 2 j (symmetric) to 3 i (pinned far end).
    i, j = ei / g["h"], ei / g["L"]
    fixed_end = g["q"] * g["L"] ** 2 / 12
    corner = fixed_end * 3 * i / (3 * i + 2 * j)
    middle = g["q"] * g["L"] ** 2 / 8 - corner
    sag = 5 * g["q"] * g["L"] ** 4 / (384 * ei) - corner * g["L"] ** 2 / (8 * ei)
    half = g["q"] * g["L"] / 2
    return {"R_A": half, "R_D": half, "V_max": half, "M_max": max(corner, middle), "delta_E": sag}


def bent(g, ei):
    # The column turns by P a h / (E I), the arm bends by P a^3 / (3 E I).
    sag = g["P"] * g["a"] * g["h"] / ei * g["a"] + g["P"] * g["a"] ** 3 / (3 * ei)
    return {"R_A": g["P"], "V_max": g["P"], "M_max": g["P"] * g["a"], "delta_C": sag}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("family", "road"),
    [
        ("portal-pinned-sway", pinned_sway),
        ("portal-fixed-sway", fixed_sway),
        ("portal-pinned-uniform", pinned_uniform),
        ("l-frame", bent),
    ],
)
def test_frames_agree_with_slope_deflection(family, road, seed):
    spec = spec_for(family, seed)
    values = in_kn_and_m(spec)
    expected = road(floats(spec), stiffness(spec))
    # Axially rigid is a large number in the model, not an infinite one.
    assert {symbol: values[symbol] for symbol in expected} == pytest.approx(expected, rel=1e-4)


# --- all of them ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_vertical_forces_of_every_family_add_up_to_nothing(family):
    structure = spec_for(family, 1).setting.structure
    solved = solve(structure, 210_000, 5000, 2e7)
    load = 0.0
    for each in structure.loads:
        size = (
            1.0
            if each.kind == "point"
            else sum(
                structure.length_of(m)
                for m in structure.members
                if m.name in structure.span(each.place).members
            )
        )
        load += each.y * size
    assert sum(y for _, y in solved.reactions.values()) == pytest.approx(-load, abs=1e-6)


def test_there_are_at_least_twelve_families_of_every_kind_and_level():
    assert len(FAMILIES) == 19
    assert {family.level for family in FAMILIES.values()} == set(LEVELS)
    kinds = {name: spec_for(name, 0).setting.structure for name in FAMILIES}
    assert sum(all(m.is_bar for m in s.members) for s in kinds.values()) == 4
    assert sum(len({n.y for n in s.nodes}) == 1 for s in kinds.values()) == len(STRAIGHT) == 11


def test_a_structure_comes_back_from_json_as_it_was():
    for family in FAMILIES.values():
        structure = family.draw(Random(2)).structure
        assert structure_from(structure.to_json()) == structure
