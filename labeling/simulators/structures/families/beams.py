"""Statically determinate beams: formulas by equilibrium, deflections from the beam equation."""

from random import Random

from labeling.simulators.structures.families.base import (
    Draft,
    Family,
    Line,
    down,
    force,
    given,
    intensity,
    largest,
    length,
    other_supports,
    uniform,
    vertical,
)
from labeling.simulators.structures.quantities import Quantity

_SIMPLE = {"A": "pin", "B": "roller"}
_CLAMPED = {"A": "fixed", "B": "fixed"}
_ENDS_FIXED = ("both ends taken as fixed", _CLAMPED)


def _simple_point(rng: Random) -> Draft:
    size, span = force(rng), length(rng, 4, 10)
    a = rng.choice([x / 2 for x in range(2, round(2 * span) - 1) if x != span])
    b = span - a
    structure = Line(
        {"A": 0.0, "C": a, "G": b, "B": span}, _SIMPLE, [down("C", size)], load_places=("C", "G")
    ).build()
    return Draft(
        opening=f"A simply supported beam AB is {span:g} m long, with a pin at A and a roller at B. A point "
        f"load of {size:g} kN acts downwards at C, {a:g} m from A.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "P * b / L",
            "R_B": "P * a / L",
            "V_max": "R_A" if b >= a else "R_B",
            "M_max": "R_A * a",
            "delta_C": "P * a^2 * b^2 / (3 * E * I * L)",
        },
        givens=given("kN", P=size) | given("m", L=span, a=a, b=b),
        mistakes=other_supports(structure, _ENDS_FIXED),
    )


def _simple_uniform(rng: Random) -> Draft:
    size, span = intensity(rng), length(rng, 4, 10)
    structure = Line(
        {"A": 0.0, "C": span / 2, "B": span}, _SIMPLE, [uniform("AB", size)], [("A", "C", "B")]
    ).build()
    return Draft(
        opening=f"A simply supported beam AB is {span:g} m long, with a pin at A and a roller at B. A "
        f"uniform load of {size:g} kN/m acts downwards on its whole length; C is its middle.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "q * L / 2",
            "R_B": "q * L / 2",
            "V_max": "R_A",
            "M_max": "q * L^2 / 8",
            "delta_C": "5 * q * L^4 / (384 * E * I)",
        },
        givens=given("kN/m", q=size) | given("m", L=span),
        mistakes=other_supports(structure, _ENDS_FIXED),
    )


def _simple_two(rng: Random) -> Draft:
    first, second = rng.sample(range(4, 60), 2)
    span = length(rng, 5, 10)
    a = rng.choice([x / 2 for x in range(2, round(span))])
    c = rng.choice([x / 2 for x in range(2, round(span))])
    left = (first * (span - a) + second * c) / span
    right = first + second - left
    structure = Line(
        {"A": 0.0, "C": a, "F": span / 2, "D": span - c, "B": span},
        _SIMPLE,
        [down("C", first), down("D", second)],
        load_places=("C", "D"),
    ).build()
    return Draft(
        opening=f"A simply supported beam AB is {span:g} m long, with a pin at A and a roller at B. Point "
        f"loads act downwards: {first:g} kN at C, {a:g} m from A, and {second:g} kN at D, {span - c:g} m "
        "from A; F is the middle of the beam.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_F", "deflection", "F"),
        formulas={
            "R_A": "(P * (L - a) + Q * c) / L",
            "R_B": "(P * a + Q * (L - c)) / L",
            "V_max": largest({"R_A": left, "R_B": right}),
            "M_max": largest({"R_A * a": left * a, "R_B * c": right * c}),
            "delta_F": "(P * a * (3 * L^2 - 4 * a^2) + Q * c * (3 * L^2 - 4 * c^2)) / (48 * E * I)",
        },
        givens=given("kN", P=first, Q=second) | given("m", L=span, a=a, c=c),
        mistakes=other_supports(structure, _ENDS_FIXED),
    )


def _cantilever_point(rng: Random) -> Draft:
    size, span = force(rng), length(rng, 1.5, 5)
    structure = Line(
        {"A": 0.0, "C": span / 2, "B": span}, {"A": "fixed"}, [down("B", size)], load_places=("B", "C")
    ).build()
    return Draft(
        opening=f"A cantilever AB is {span:g} m long, fixed at A and free at B. A point load of {size:g} kN "
        "acts downwards at B.",
        structure=structure,
        asked=vertical("A"),
        deflection=Quantity("delta_B", "deflection", "B"),
        formulas={"R_A": "P", "V_max": "R_A", "M_max": "P * L", "delta_B": "P * L^3 / (3 * E * I)"},
        givens=given("kN", P=size) | given("m", L=span),
    )


def _cantilever_uniform(rng: Random) -> Draft:
    size, span = intensity(rng), length(rng, 1.5, 5)
    structure = Line(
        {"A": 0.0, "C": span / 2, "B": span}, {"A": "fixed"}, [uniform("AB", size)], [("A", "C", "B")]
    ).build()
    return Draft(
        opening=f"A cantilever AB is {span:g} m long, fixed at A and free at B. A uniform load of {size:g} "
        "kN/m acts downwards on its whole length.",
        structure=structure,
        asked=vertical("A"),
        deflection=Quantity("delta_B", "deflection", "B"),
        formulas={
            "R_A": "q * L",
            "V_max": "R_A",
            "M_max": "q * L^2 / 2",
            "delta_B": "q * L^4 / (8 * E * I)",
        },
        givens=given("kN/m", q=size) | given("m", L=span),
        mistakes=other_supports(structure, ("B taken as propped by a roller", {"B": "roller"})),
    )


def _overhang(rng: Random) -> Draft:
    size, span = force(rng), length(rng, 3, 8)
    c = rng.choice([x / 2 for x in range(2, round(2 * span))])
    structure = Line(
        {"A": 0.0, "E": span / 2, "B": span, "D": span + c},
        _SIMPLE,
        [down("D", size)],
        load_places=("D", "E"),
    ).build()
    return Draft(
        opening=f"A beam AD rests on a pin at A and on a roller at B, {span:g} m from A, and overhangs B by "
        f"{c:g} m. A point load of {size:g} kN acts downwards at its free end D.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_D", "deflection", "D"),
        formulas={
            "R_A": "-P * c / L",
            "R_B": "P * (L + c) / L",
            "V_max": "P",
            "M_max": "P * c",
            "delta_D": "P * c^2 * (L + c) / (3 * E * I)",
        },
        givens=given("kN", P=size) | given("m", L=span, c=c),
        mistakes=other_supports(structure, ("A taken as fixed", {"A": "fixed"})),
    )


BEAMS = (
    Family(name="simple-point", level="easy", draw=_simple_point),
    Family(name="simple-uniform", level="easy", draw=_simple_uniform),
    Family(name="cantilever-point", level="easy", draw=_cantilever_point),
    Family(name="cantilever-uniform", level="easy", draw=_cantilever_uniform),
    Family(name="simple-two-loads", level="medium", draw=_simple_two),
    Family(name="overhang", level="medium", draw=_overhang),
)
"""The determinate beams."""
