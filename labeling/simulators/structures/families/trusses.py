"""Trusses of hinged bars: joints and sections by equilibrium, deflections by virtual work."""

from collections.abc import Mapping, Sequence
from random import Random

from labeling.simulators.structures.families.base import (
    Draft,
    Family,
    down,
    force,
    given,
    other_supports,
    vertical,
)
from labeling.simulators.structures.quantities import Quantity
from labeling.simulators.structures.spec import Mistake
from labeling.simulators.structures.structure import Load, Member, Node, Structure

_TRIANGLES = ((3, 4, 5), (4, 3, 5), (12, 5, 13), (5, 12, 13), (8, 6, 10), (15, 8, 17), (8, 15, 17))
"""Width, height and slope of right triangles: lengths of inclined bars are then exact."""


def _triangle(rng: Random, longest: float) -> tuple[float, float, float]:
    """Draw width, height and slope in m, with a slope of at most `longest`."""
    width, height, slope = rng.choice(_TRIANGLES)
    scale = rng.choice([s for s in (0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.75, 0.8) if slope * s <= longest])
    return width * scale, height * scale, slope * scale


def _truss(
    points: Mapping[str, tuple[float, float]],
    bars: str,
    supports: Mapping[str, str],
    loads: Sequence[Load],
    load_places: tuple[str, ...],
) -> Structure:
    return Structure(
        nodes=tuple(Node(name, x, y) for name, (x, y) in points.items()),
        members=tuple(Member(bar, bar[0], bar[1], True) for bar in bars.split()),
        supports=tuple(supports.items()),
        loads=tuple(loads),
        load_places=load_places,
    )


def _bars(*names: str) -> tuple[Quantity, ...]:
    return tuple(Quantity(f"N_{name}", "axial", name) for name in names)


_SIMPLE = {"A": "pin", "B": "roller"}


def _king_post(rng: Random) -> Draft:
    size = force(rng)
    half, height, slope = _triangle(rng, 8)
    structure = _truss(
        {"A": (0, 0), "B": (2 * half, 0), "C": (half, 0), "D": (half, height)},
        "AC CB AD DB CD",
        _SIMPLE,
        [down("C", size)],
        ("C", "D"),
    )
    return Draft(
        opening="A king-post truss has hinged bars AC, CB, AD, DB and CD, with a pin at A and a roller at "
        f"B at the same height, {2 * half:g} m apart. C is the middle between A and B, D lies {height:g} m "
        f"above C; AD and DB are {slope:g} m long. A point load of {size:g} kN acts downwards at C.",
        structure=structure,
        asked=(*vertical("A", "B"), *_bars("AD", "AC", "CD")),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "P / 2",
            "R_B": "P / 2",
            "N_AD": "-R_A * s / h",
            "N_AC": "R_A * d / h",
            "N_CD": "P",
            "sigma": "-N_AD / A" if slope > 2 * height else "N_CD / A",
            "delta_C": "(2 * N_AD^2 * s + 2 * N_AC^2 * d + N_CD^2 * h) / (P * E * A)",
        },
        givens=given("kN", P=size) | given("m", d=half, h=height, s=slope),
        mistakes=other_supports(structure, ("B taken as a pin", {"B": "pin"})),
    )


def _three_bars(rng: Random) -> Draft:
    size = force(rng)
    offset, height, slope = _triangle(rng, 6)
    structure = _truss(
        {"A": (-offset, height), "B": (0, height), "C": (offset, height), "D": (0, 0)},
        "AD BD CD",
        {"A": "pin", "B": "pin", "C": "pin"},
        [down("D", size)],
        ("D",),
    )
    return Draft(
        opening="Three hinged bars AD, BD and CD of the same section hang from pins at A, B and C, which "
        f"lie at one height with {offset:g} m from A to B and from B to C, and meet at D, {height:g} m "
        f"below B; AD and CD are {slope:g} m long. A point load of {size:g} kN acts downwards at D.",
        structure=structure,
        asked=(*_bars("BD", "AD"), *vertical("A", "B", "C")),
        deflection=Quantity("delta_D", "deflection", "D"),
        formulas={
            "N_BD": "P * s^3 / (s^3 + 2 * h^3)",
            "N_AD": "N_BD * h^2 / s^2",
            "R_A": "N_AD * h / s",
            "R_B": "N_BD",
            "R_C": "N_AD * h / s",
            "sigma": "N_BD / A",
            "delta_D": "N_BD * h / (E * A)",
        },
        givens=given("kN", P=size) | given("m", h=height, s=slope),
        mistakes=(
            Mistake(
                cause="wrong_load_path",
                description="the bar BD taken as carrying nothing",
                structure=structure.without_member("BD"),
            ),
        ),
    )


def _warren(rng: Random) -> Draft:
    size = force(rng)
    half, height, slope = _triangle(rng, 5)
    panel = 2 * half
    structure = _truss(
        {
            "A": (0, 0), "C": (panel, 0), "B": (2 * panel, 0),
            "D": (half, height), "E": (panel + half, height),
        },
        "AC CB AD DC CE EB DE",
        _SIMPLE,
        [down("C", size)],
        ("C", "D", "E"),
    )  # fmt: skip
    return Draft(
        opening=f"A Warren truss has hinged bars AC and CB at the bottom, each {panel:g} m long, the top "
        f"bar DE {height:g} m above them, and inclined bars AD, DC, CE and EB, each {slope:g} m long; D "
        "lies above the middle of AC and E above the middle of CB. There is a pin at A and a roller at B. "
        f"A point load of {size:g} kN acts downwards at C.",
        structure=structure,
        asked=(*vertical("A", "B"), *_bars("AD", "AC", "DC", "DE")),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "P / 2",
            "R_B": "P / 2",
            "N_AD": "-R_A * s / h",
            "N_AC": "R_A * d / h",
            "N_DC": "R_A * s / h",
            "N_DE": "-R_A * p / h",
            "sigma": "N_DC / A" if slope > panel else "-N_DE / A",
            "delta_C": "(4 * N_AD^2 * s + 2 * N_AC^2 * p + N_DE^2 * p) / (P * E * A)",
        },
        givens=given("kN", P=size) | given("m", p=panel, d=half, h=height, s=slope),
        mistakes=other_supports(structure, ("B taken as a pin", {"B": "pin"})),
    )


def _pratt(rng: Random) -> Draft:
    sizes = [force(rng) for _ in range(3)]
    panel, height, slope = _triangle(rng, 5)
    left = (3 * sizes[0] + 2 * sizes[1] + sizes[2]) / 4
    right = sum(sizes) - left
    forces = {
        "-N_AF / A": left * slope / height,
        "-N_HB / A": right * slope / height,
        "-N_FG / A": (2 * left - sizes[0]) * panel / height,
    }
    structure = _truss(
        {
            "A": (0, 0), "C": (panel, 0), "D": (2 * panel, 0), "E": (3 * panel, 0), "B": (4 * panel, 0),
            "F": (panel, height), "G": (2 * panel, height), "H": (3 * panel, height),
        },
        "AC CD DE EB AF FG GH HB CF DG EH FD DH",
        _SIMPLE,
        [down(node, size) for node, size in zip("CDE", sizes, strict=True)],
        (),
    )  # fmt: skip
    return Draft(
        opening=f"A Pratt truss has hinged bars AC, CD, DE and EB at the bottom, each {panel:g} m long, FG "
        f"and GH at the top, {height:g} m above them, verticals CF, DG and EH, and inclined bars AF, FD, "
        f"DH and HB, each {slope:g} m long. There is a pin at A and a roller at B. Point loads act "
        f"downwards: {sizes[0]:g} kN at C, {sizes[1]:g} kN at D and {sizes[2]:g} kN at E.",
        structure=structure,
        asked=(*vertical("A", "B"), *_bars("AF", "HB", "FG", "CD", "CF")),
        deflection=Quantity("delta_D", "deflection", "D"),
        formulas={
            "R_A": "(3 * P + 2 * Q + S) / 4",
            "R_B": "(P + 2 * Q + 3 * S) / 4",
            "N_AF": "-R_A * s / h",
            "N_HB": "-R_B * s / h",
            "N_FG": "-(R_A * 2 * p - P * p) / h",
            "N_CD": "R_A * p / h",
            "N_CF": "P",
            "sigma": max(forces, key=lambda formula: forces[formula]),
            # Virtual work over thirteen bars is too long a line.
            "delta_D": "",
        },
        givens=given("kN", P=sizes[0], Q=sizes[1], S=sizes[2]) | given("m", p=panel, h=height, s=slope),
    )


TRUSSES = (
    Family(name="king-post-truss", level="medium", draw=_king_post),
    Family(name="warren-truss", level="medium", draw=_warren),
    Family(name="pratt-truss", level="hard", draw=_pratt),
    Family(name="three-bars", level="hard", draw=_three_bars),
)
"""The trusses."""
