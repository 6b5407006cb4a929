"""The named quantities of a solution: their kinds, units and symbols, and their values from the model."""

from collections.abc import Mapping
from typing import NamedTuple

from labeling.simulators.structures.model import Solved, solve
from labeling.simulators.structures.sections import Section
from labeling.simulators.structures.structure import Structure

UNIT_OF = {
    "reaction": "kN",
    "axial": "kN",
    "shear": "kN",
    "moment": "kN m",
    "area": "mm^2",
    "second_moment": "cm^4",
    "section_modulus": "cm^3",
    "stress": "MPa",
    "deflection": "mm",
    "safety": "",
}
"""Kind -> unit in which it is written."""
SIGNED = frozenset({"reaction", "axial"})
"""Kinds whose sign says something: upwards and tension are positive. The others are magnitudes."""
_ZERO = 1e-9
"""Below this share of the other values a number is rounding noise of the solution."""


class Quantity(NamedTuple):
    """A quantity that a solution states."""

    symbol: str
    kind: str
    place: str = ""
    """Node, or bar, that it belongs to; "" for the whole structure."""
    direction: str = "y"
    """Of a reaction or deflection: "x" or "y"."""


class Setting(NamedTuple):
    """All that the values follow from."""

    structure: Structure
    section: Section
    modulus: float
    """Young's modulus in MPa."""
    allowable: float
    """Allowable stress in MPa."""


def values_of(setting: Setting, quantities: tuple[Quantity, ...]) -> dict[str, float]:
    """Return symbol -> value in SI base units, from the finite-element model.

    Signed kinds keep their sign, the others are magnitudes.

    Raises:
        MissingExtraError: PyNiteFEA is not installed.
    """
    section = setting.section
    solved = solve(setting.structure, setting.modulus, section.area, section.second_moment)
    stress = _stress(solved, section)
    fixed = {
        "shear": solved.largest_shear * 1e3,
        "moment": solved.largest_moment * 1e3,
        "area": section.area * 1e-6,
        "second_moment": section.second_moment * 1e-12,
        "section_modulus": section.modulus * 1e-9,
        "stress": stress,
        "safety": setting.allowable * 1e6 / stress if stress else float("inf"),
    }
    return {q.symbol: fixed[q.kind] if q.kind in fixed else _at(solved, q) for q in quantities}


def _stress(solved: Solved, section: Section) -> float:
    """Return the largest stress in Pa: bending in beams and frames, axial in trusses."""
    if solved.axial:
        return max(map(abs, solved.axial.values())) * 1e3 / (section.area * 1e-6)
    return solved.largest_moment * 1e3 / (section.modulus * 1e-9)


def _at(solved: Solved, quantity: Quantity) -> float:
    index = "xy".index(quantity.direction)
    if quantity.kind == "deflection":
        return abs(solved.displacements[quantity.place][index])
    if quantity.kind == "axial":
        # A bar that somebody left out carries nothing.
        return _clean(solved.axial.get(quantity.place, 0.0), solved.axial) * 1e3
    reactions = {node: pair[index] for node, pair in solved.reactions.items()}
    return _clean(reactions.get(quantity.place, 0.0), reactions) * 1e3


def _clean(value: float, others: Mapping[str, float]) -> float:
    return 0.0 if abs(value) <= _ZERO * max(map(abs, others.values()), default=0.0) else value
