"""Plane frames with rigid corners and one section throughout; formulas for equal stiffness."""

from collections.abc import Mapping, Sequence
from random import Random

from labeling.simulators.structures.families.base import (
    Draft,
    Family,
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
from labeling.simulators.structures.structure import Load, Member, Node, Span, Structure


def _portal(span: float, height: float, supports: Mapping[str, str], loads: Sequence[Load]) -> Structure:
    """Return columns AB and DC with the beam BC on them; E is the middle of the beam."""
    return Structure(
        nodes=(
            Node("A", 0, 0),
            Node("B", 0, height),
            Node("E", span / 2, height),
            Node("C", span, height),
            Node("D", span, 0),
        ),
        members=tuple(Member(name, name[0], name[1], False) for name in ("AB", "BE", "EC", "CD")),
        supports=tuple(supports.items()),
        loads=tuple(loads),
        spans=(Span("BC", "E", ("BE", "EC")),),
    )


_PINNED = {"A": "pin", "D": "pin"}
_FIXED = {"A": "fixed", "D": "fixed"}


def _opening(span: float, height: float, feet: str, load: str) -> str:
    return (
        f"A portal frame ABCD has columns AB and DC, {height:g} m high, and a beam BC, {span:g} m long, with "
        f"rigid corners at B and C; its feet A and D are {feet}. {load}"
    )


def _pinned_sway(rng: Random) -> Draft:
    size, span, height = force(rng), length(rng, 4, 9), length(rng, 3, 6)
    structure = _portal(span, height, _PINNED, [Load("point", "B", size, 0.0)])
    return Draft(
        opening=_opening(span, height, "pinned", f"A horizontal load of {size:g} kN acts to the right at B."),
        structure=structure,
        asked=vertical("A", "D"),
        deflection=Quantity("delta_B", "deflection", "B", "x"),
        formulas={
            "R_A": "-F * h / L",
            "R_D": "F * h / L",
            "V_max": largest({"R_D": size * height / span, "F / 2": size / 2}),
            "M_max": "F * h / 2",
            "delta_B": "F * h^2 * (2 * h + L) / (12 * E * I)",
        },
        givens=given("kN", F=size) | given("m", L=span, h=height),
        mistakes=other_supports(structure, ("the feet taken as fixed", _FIXED)),
    )


def _fixed_sway(rng: Random) -> Draft:
    size, span, height = force(rng), length(rng, 4, 9), length(rng, 3, 6)
    structure = _portal(span, height, _FIXED, [Load("point", "B", size, 0.0)])
    beam_shear = 3 * size * height**2 / (span * (6 * height + span))
    return Draft(
        opening=_opening(span, height, "fixed", f"A horizontal load of {size:g} kN acts to the right at B."),
        structure=structure,
        asked=vertical("A", "D"),
        deflection=Quantity("delta_B", "deflection", "B", "x"),
        formulas={
            "R_A": "-3 * F * h^2 / (L * (6 * h + L))",
            "R_D": "3 * F * h^2 / (L * (6 * h + L))",
            "V_max": largest({"R_D": beam_shear, "F / 2": size / 2}),
            "M_max": "F * h * (3 * h + L) / (2 * (6 * h + L))",
            "delta_B": "F * h^3 * (3 * h + 2 * L) / (12 * E * I * (6 * h + L))",
        },
        givens=given("kN", F=size) | given("m", L=span, h=height),
        mistakes=other_supports(structure, ("the feet taken as pinned", _PINNED)),
    )


def _pinned_uniform(rng: Random) -> Draft:
    size, span, height = intensity(rng), length(rng, 4, 9), length(rng, 3, 6)
    structure = _portal(span, height, _PINNED, [uniform("BC", size)])
    corner = size * span**3 / (4 * (2 * height + 3 * span))
    return Draft(
        opening=_opening(
            span,
            height,
            "pinned",
            f"A uniform load of {size:g} kN/m acts downwards on the whole beam; E is the middle of the beam.",
        ),
        structure=structure,
        asked=vertical("A", "D"),
        deflection=Quantity("delta_E", "deflection", "E"),
        formulas={
            "R_A": "q * L / 2",
            "R_D": "q * L / 2",
            "V_max": "R_A",
            "M_max": largest(
                {
                    "q * L^3 / (4 * (2 * h + 3 * L))": corner,
                    "q * L^2 / 8 - q * L^3 / (4 * (2 * h + 3 * L))": size * span**2 / 8 - corner,
                }
            ),
            "delta_E": "(5 * q * L^4 / 384 - q * L^5 / (32 * (2 * h + 3 * L))) / (E * I)",
        },
        givens=given("kN/m", q=size) | given("m", L=span, h=height),
        mistakes=other_supports(structure, ("the feet taken as fixed", _FIXED)),
    )


def _bent(rng: Random) -> Draft:
    size, arm, height = force(rng), length(rng, 1, 4), length(rng, 2, 6)
    structure = Structure(
        nodes=(Node("A", 0, 0), Node("B", 0, height), Node("E", arm / 2, height), Node("C", arm, height)),
        members=tuple(Member(name, name[0], name[1], False) for name in ("AB", "BE", "EC")),
        supports=(("A", "fixed"),),
        loads=(down("C", size),),
        load_places=("C", "E"),
    )
    return Draft(
        opening=f"An L-shaped frame ABC has a column AB, {height:g} m high and fixed at its foot A, and an "
        f"arm BC, {arm:g} m long, with a rigid corner at B; C is free. A point load of {size:g} kN acts "
        "downwards at C.",
        structure=structure,
        asked=vertical("A"),
        deflection=Quantity("delta_C", "deflection", "C"),
        formulas={
            "R_A": "P",
            "V_max": "P",
            "M_max": "P * a",
            "delta_C": "P * a^2 * (a + 3 * h) / (3 * E * I)",
        },
        givens=given("kN", P=size) | given("m", a=arm, h=height),
    )


FRAMES = (
    Family(name="l-frame", level="medium", draw=_bent),
    Family(name="portal-pinned-sway", level="hard", draw=_pinned_sway),
    Family(name="portal-fixed-sway", level="hard", draw=_fixed_sway),
    Family(name="portal-pinned-uniform", level="hard", draw=_pinned_uniform),
)
"""The frames."""
