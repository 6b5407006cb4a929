"""The reference solution: a chain by hand, in plain words, each value computed from those written before.

It never looks at the finite-element model, except where no formula is short enough for a line: that the
model agrees with it is a check of both.
"""

import re
import types
from collections.abc import Mapping

from labeling.records import Problem
from labeling.simulators.structures.amounts import computed, plain, shown
from labeling.simulators.structures.drawing import answer_of
from labeling.simulators.structures.quantities import SIGNED, UNIT_OF, Quantity
from labeling.simulators.structures.spec import Spec, spec_of

_NAME = re.compile(r"[A-Za-z]\w*")
_LEAD = {
    "reaction": "Reaction at {place}",
    "axial": "Force in bar {place}",
    "shear": "Largest shear force",
    "moment": "Largest bending moment",
    "area": "Area of a bar",
    "second_moment": "Second moment of area",
    "section_modulus": "Section modulus",
    "stress": "Largest stress",
    "deflection": "Deflection at {place}",
    "safety": "Factor of safety",
}


def solution_steps(problem: Problem) -> list[str]:
    """Return the reference solution of a problem of this world, one line a step, answer line last.

    Raises:
        RecordError: The problem is not of this world.
    """
    spec = spec_of(problem)
    lines, amounts = quantity_lines(spec)
    return [*lines, *closing_lines(spec, amounts)]


def quantity_lines(
    spec: Spec, overrides: Mapping[str, str] = types.MappingProxyType({})
) -> tuple[list[str], dict[str, float]]:
    """Return one line a quantity, and symbol -> value as written, in SI base units.

    Args:
        spec: The problem.
        overrides: Symbol -> amount that is stated in place of the true one, without working, and used by
            the formulas behind it.
    """
    names, amounts, lines = dict(spec.givens), {}, []
    for quantity, (symbol, formula) in zip(spec.quantities, spec.formulas, strict=True):
        if symbol in overrides:
            names[symbol] = overrides[symbol]
            amounts[symbol] = computed(names[symbol])
            lines.append(line_of(quantity, names[symbol]))
            continue
        working = filled_in(formula, names)
        value = computed(working) if formula else spec.values[symbol]
        value = value if quantity.kind in SIGNED else abs(value)
        names[symbol] = shown(value, UNIT_OF[quantity.kind])
        amounts[symbol] = computed(names[symbol])
        lines.append(line_of(quantity, names[symbol], formula=formula, working=working))
    return lines, amounts


def line_of(quantity: Quantity, amount: str, *, formula: str = "", working: str = "") -> str:
    """Return a step that states one quantity: "Reaction at A: R_A = 12 kN * 4 m / 6 m = 8 kN."."""
    lead = _LEAD[quantity.kind].format(place=quantity.place)
    # A name by itself is a value taken over: nothing is computed, and a load has no name in the problem.
    is_taken_over = _NAME.fullmatch(formula) is not None
    way = formula if is_taken_over and "_" in formula else "" if is_taken_over else working
    return f"{lead}: {quantity.symbol} = {f'{way} = {amount}' if way else amount}."


def filled_in(formula: str, amounts: dict[str, str]) -> str:
    """Return a formula with amounts in the place of names; in brackets under a power or behind a sign."""

    def amount(match: re.Match[str]) -> str:
        text = amounts.get(match.group(), match.group())
        is_bare = not text.startswith("-") and formula[match.end() : match.end() + 1] != "^"
        return text if is_bare or match.group() not in amounts else f"({text})"

    return _NAME.sub(amount, formula)


def closing_lines(spec: Spec, amounts: dict[str, float]) -> list[str]:
    """Return the comparison with the limits and the answer line that follow from the written values."""
    stress, deflection = amounts["sigma"], amounts[spec.deflection.symbol]
    keeps_stress = stress <= spec.setting.allowable * 1e6
    keeps_deflection = deflection <= spec.limit * 1e-3
    return [
        _limit_line("stress", shown(stress, "MPa"), f"{spec.setting.allowable:g} MPa", is_kept=keeps_stress),
        _limit_line(
            "deflection", shown(deflection, "mm"), f"{plain(spec.limit)} mm", is_kept=keeps_deflection
        ),
        f"Answer: {answer_of(amounts['n'], is_safe=keeps_stress and keeps_deflection)}",
    ]


def _limit_line(what: str, amount: str, limit: str, *, is_kept: bool) -> str:
    sign, said = ("<", "kept") if is_kept else (">", "exceeded")
    return f"{amount} {sign} {limit}: the {what} limit is {said}."
