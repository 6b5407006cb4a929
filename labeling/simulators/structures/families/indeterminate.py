"""Statically indeterminate beams: textbook coefficients for equal spans and uniform stiffness."""

from random import Random

from labeling.simulators.structures.families.base import (
    Draft,
    Family,
    Line,
    down,
    force,
    given,
    intensity,
    length,
    other_supports,
    uniform,
    vertical,
)
from labeling.simulators.structures.quantities import Quantity

_SIMPLE = {"A": "pin", "B": "roller"}
_AS_SIMPLE = ("both ends taken as simply supported", _SIMPLE)


def _propped(rng: Random) -> Draft:
    size, span = intensity(rng), length(rng, 4, 10)
    supports = {"A": "fixed", "B": "roller"}
    structure = Line(
        {"A": 0.0, "C": span / 2, "B": span}, supports, [uniform("AB", size)], [("A", "C", "B")]
    ).build()
    return Draft(
        opening=f"A propped cantilever AB is {span:g} m long, fixed at A and on a roller at B. A uniform "
        f"load of {size:g} kN/m acts downwards on its whole length; C is its middle.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "5 * q * L / 8",
            "R_B": "3 * q * L / 8",
            "V_max": "R_A",
            "M_max": "q * L^2 / 8",
            "delta_C": "q * L^4 / (192 * E * I)",
        },
        givens=given("kN/m", q=size) | given("m", L=span),
        mistakes=other_supports(structure, _AS_SIMPLE, ("the prop at B left out", {"B": ""})),
    )


def _fixed_point(rng: Random) -> Draft:
    size, span = force(rng), length(rng, 4, 10)
    structure = Line(
        {"A": 0.0, "G": span / 4, "C": span / 2, "B": span},
        {"A": "fixed", "B": "fixed"},
        [down("C", size)],
        load_places=("C", "G"),
    ).build()
    return Draft(
        opening=f"A beam AB is {span:g} m long and fixed at both ends. A point load of {size:g} kN acts "
        "downwards at its middle C.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "P / 2",
            "R_B": "P / 2",
            "V_max": "R_A",
            "M_max": "P * L / 8",
            "delta_C": "P * L^3 / (192 * E * I)",
        },
        givens=given("kN", P=size) | given("m", L=span),
        mistakes=other_supports(structure, _AS_SIMPLE, ("B taken as a roller", {"B": "roller"})),
    )


def _fixed_uniform(rng: Random) -> Draft:
    size, span = intensity(rng), length(rng, 4, 10)
    structure = Line(
        {"A": 0.0, "C": span / 2, "B": span},
        {"A": "fixed", "B": "fixed"},
        [uniform("AB", size)],
        [("A", "C", "B")],
    ).build()
    return Draft(
        opening=f"A beam AB is {span:g} m long and fixed at both ends. A uniform load of {size:g} kN/m acts "
        "downwards on its whole length; C is its middle.",
        structure=structure,
        asked=vertical("A", "B"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "q * L / 2",
            "R_B": "q * L / 2",
            "V_max": "R_A",
            "M_max": "q * L^2 / 12",
            "delta_C": "q * L^4 / (384 * E * I)",
        },
        givens=given("kN/m", q=size) | given("m", L=span),
        mistakes=other_supports(structure, _AS_SIMPLE, ("B taken as a roller", {"B": "roller"})),
    )


def _two_spans(rng: Random, *, is_half_loaded: bool) -> Draft:
    size, span = intensity(rng), length(rng, 3, 8)
    loads = [uniform("AB", size)] if is_half_loaded else [uniform("AB", size), uniform("BC", size)]
    structure = Line(
        {"A": 0.0, "D": span / 2, "B": span, "E": 1.5 * span, "C": 2 * span},
        {"A": "pin", "B": "roller", "C": "roller"},
        loads,
        [("A", "D", "B"), ("B", "E", "C")],
    ).build()
    where = "on the span AB alone" if is_half_loaded else "on both spans"
    halved = {
        "R_A": "7 * q * L / 16",
        "R_B": "5 * q * L / 8",
        "R_C": "-q * L / 16",
        "V_max": "q * L - R_A",
        # Where the shear is zero, at 7 L / 16 from A.
        "M_max": "R_A^2 / (2 * q)",
        "delta_D": "7 * q * L^4 / (768 * E * I)",
    }
    full = {
        "R_A": "3 * q * L / 8",
        "R_B": "5 * q * L / 4",
        "R_C": "3 * q * L / 8",
        "V_max": "R_B / 2",
        "M_max": "q * L^2 / 8",
        "delta_D": "q * L^4 / (192 * E * I)",
    }
    return Draft(
        opening=f"A continuous beam ABC has two spans AB and BC of {span:g} m each, with a pin at A and "
        f"rollers at B and C. A uniform load of {size:g} kN/m acts downwards {where}; D is the middle of "
        "AB.",
        structure=structure,
        asked=vertical("A", "B", "C"),
        deflection=Quantity("delta_D", "deflection", "D"),
        formulas=halved if is_half_loaded else full,
        givens=given("kN/m", q=size) | given("m", L=span),
        mistakes=other_supports(structure, ("the support at B left out", {"B": ""})),
    )


def _two_spans_full(rng: Random) -> Draft:
    return _two_spans(rng, is_half_loaded=False)


def _two_spans_half(rng: Random) -> Draft:
    return _two_spans(rng, is_half_loaded=True)


INDETERMINATE = (
    Family(name="propped-uniform", level="hard", draw=_propped),
    Family(name="fixed-point", level="hard", draw=_fixed_point),
    Family(name="fixed-uniform", level="hard", draw=_fixed_uniform),
    Family(name="two-spans", level="hard", draw=_two_spans_full),
    Family(name="two-spans-one-loaded", level="hard", draw=_two_spans_half),
)
"""The indeterminate beams."""
