"""Amounts with units: computing and writing them, all through the units verifier's own reading code."""

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from math import floor, log10

from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._unit_parser import parse
from labeling.verifiers._unit_table import Dims, physical
from labeling.verifiers._unit_tokens import Token, tokenize
from labeling.verifiers._unit_trees import Side
from labeling.verifiers._unit_values import ClashError, Notes, measure, unit_size

DIGITS = 4
"""Significant digits of what is written."""


def side_of(tokens: Sequence[Token]) -> Side | None:
    """Return the quantity expression at the start of the tokens, None when there is none."""
    try:
        return parse(tokens)
    except UnreadableError:
        return None


@cache
def size_of_unit(unit: str) -> tuple[float, Dims]:
    """Return a unit's factor to SI base units and its dimensions; "" is a pure number."""
    size = measure(parse(tokenize(f"1 {unit}".strip())).term, Notes())
    return float(size.value), physical(size.dims)


def computed(expression: str) -> float:
    """Return what an expression with units comes to, in SI base units.

    Raises:
        ValueError: It cannot be read, or adds different dimensions.
    """
    try:
        return float(measure(parse(tokenize(expression)).term, Notes()).value)
    except (UnreadableError, ClashError) as error:
        raise ValueError(f"{expression!r} cannot be computed: {error}") from error


def shown(value: float, unit: str, *, digits: int = DIGITS) -> str:
    """Write an amount in a unit: 8000.0 in "kN" is "8 kN".

    Args:
        value: In SI base units.
        unit: What to write it in; "" for a pure number.
        digits: Significant digits at most.
    """
    return f"{plain(value / size_of_unit(unit)[0], digits=digits)} {unit}".strip()


def plain(number: float, *, digits: int = DIGITS) -> str:
    """Write a number without a power of ten and without closing zeros: 0.01230 is "0.0123"."""
    if number == 0:
        return "0"
    places = max(0, digits - 1 - floor(log10(abs(number))))
    text = f"{number:.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in ("-0", "") else text


def written(side: Side) -> tuple[float, Dims, float, bool] | None:
    """Return a plain quantity's value, dimensions, worth of its last digit, and whether it has no unit.

    The value and the digit are in SI base units. None when the side computes something.
    """
    term = side.shown
    if term is None:
        return None
    factor, dims = unit_size(term.units)
    try:
        value, digit = float(term.value * factor), float(abs(term.last_digit * factor))
    except OverflowError:
        return None
    return value, physical(dims), digit, not term.units and factor == Fraction(1)
