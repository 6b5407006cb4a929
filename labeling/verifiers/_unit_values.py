"""Exact sizes of quantity trees in SI base units, with dimensions and the bounds that rounding leaves."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from labeling.errors import ToolkitError
from labeling.verifiers._exact import Value, evaluate
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._trees import Node
from labeling.verifiers._unit_table import Dims, multiply, physical
from labeling.verifiers._unit_trees import Term, Units

MAX_BITS = 4096
_TENTH = Fraction(1, 10)
_HALF = Fraction(1, 2)
_ROOT_BITS = 120
_TURNS = frozenset({"°", "degree", "revolution", "revolutions_per_minute"})


class ClashError(ToolkitError):
    """A sum adds quantities of different dimensions. Never leaves the verifier."""

    def __init__(self, left: Dims, right: Dims) -> None:
        super().__init__("a sum of different dimensions")
        self.left = left
        self.right = right


class Size(NamedTuple):
    """What a side comes to."""

    value: Fraction
    """In SI base units (or as the numbers stand, when units are ignored)."""
    low: Fraction
    high: Fraction
    """Bounds of the value when the decimals in it are rounded; whole numbers are exact."""
    dims: Dims
    is_bare: bool
    """No unit occurs in it: a number without a unit may stand for any."""
    is_exact: bool = True
    """False when a root or pi went into it."""


@dataclass
class Notes:
    """What was met on the way."""

    has_bare_factor: bool = False
    """A quantity is multiplied or divided by a number without a unit, which may hide one."""
    has_operation: bool = False


def unit_size(units: Units) -> tuple[Fraction, Dims]:
    """Return the factor to SI base units and the dimensions of a product of units."""
    factor, dims = Fraction(1), ()
    for unit, power in units:
        factor *= unit.factor ** int(power)
        dims = multiply(dims, unit.dims, power)
    return factor, dims


def measure(term: Term, notes: Notes, *, has_units: bool = True) -> Size:
    """Compute a tree; without `has_units` its numbers alone.

    Raises:
        ClashError: A sum adds different dimensions.
        UnreadableError: Division by zero, an exponent with a unit, a value too large, and the like.
    """
    kind = term.kind
    if kind == "number":
        error = _error(term)
        return Size(_bounded(term.value), term.value - error, term.value + error, (), True)
    if kind == "pi":
        value = evaluate(Node("pi")).number
        return Size(value, value, value, (), True, False)
    assert term.left is not None
    left = measure(term.left, notes, has_units=has_units)
    if kind == "unit":
        factor, dims = unit_size(term.units) if has_units else (Fraction(1), ())
        return Size(
            _bounded(left.value * factor),
            left.low * factor,
            left.high * factor,
            multiply(left.dims, dims),
            False,
            left.is_exact and not any(unit.name in _TURNS for unit, _ in term.units),
        )
    if kind == "negative":
        return left._replace(value=-left.value, low=-left.high, high=-left.low)
    if kind == "percent":
        return left._replace(value=left.value / 100, low=left.low / 100, high=left.high / 100)
    notes.has_operation = True
    if kind == "sqrt":
        return _power(left, _HALF)
    if kind in ("sin", "cos", "tan", "ln", "exp"):
        return _function(kind, left)
    assert term.right is not None
    right = measure(term.right, notes, has_units=has_units)
    if kind == "^":
        if not right.is_bare:
            raise UnreadableError("an exponent with a unit")
        return _power(left, right.value)
    if kind in "+-":
        return _sum(left, right, 1 if kind == "+" else -1)
    if left.is_bare != right.is_bare:
        notes.has_bare_factor = True
    return _product(left, right, kind)


def _error(number: Term) -> Fraction:
    """Return how far a written number may lie from what it stands for."""
    is_scientific = number.last_digit > 1 or number.last_digit < _TENTH**2
    if is_scientific and abs(number.value) < 10 * number.last_digit:
        # One digit before a power of ten (3 x 10^8) is nearly always more exact than it looks.
        return abs(number.value) / 100
    if number.last_digit > _TENTH or number.value == _HALF:
        return Fraction(0)
    return number.last_digit / 2


def _sum(left: Size, right: Size, sign: int) -> Size:
    if left.is_bare != right.is_bare and left.value != 0 and right.value != 0:
        raise UnreadableError("a number without a unit beside a quantity")
    if physical(left.dims) != physical(right.dims) and not (left.is_bare or right.is_bare):
        raise ClashError(left.dims, right.dims)
    # Apples and pears add up to fruit: which things they are is then open.
    dims = left.dims if left.dims == right.dims else physical(left.dims or right.dims)
    low, high = (right.low, right.high) if sign == 1 else (-right.high, -right.low)
    return Size(
        _bounded(left.value + sign * right.value),
        left.low + low,
        left.high + high,
        dims,
        left.is_bare and right.is_bare,
        left.is_exact and right.is_exact,
    )


def _product(left: Size, right: Size, kind: str) -> Size:
    is_bare, is_exact = left.is_bare and right.is_bare, left.is_exact and right.is_exact
    if kind == "*":
        ends = [a * b for a in (left.low, left.high) for b in (right.low, right.high)]
        value = left.value * right.value
    else:
        if right.value == 0:
            raise UnreadableError("division by zero")
        if right.low <= 0 <= right.high:
            ends = [left.value / right.value]
        else:
            ends = [a / b for a in (left.low, left.high) for b in (right.low, right.high)]
        value = left.value / right.value
    dims = multiply(left.dims, right.dims, Fraction(1 if kind == "*" else -1))
    return Size(_bounded(value), min(ends), max(ends), dims, is_bare, is_exact)


def _root(number: Fraction) -> Value:
    """Return a square root, exactly where it is rational, else to at least thirty digits of its own."""
    if number < 0:
        raise UnreadableError("root of a negative number")
    over, under = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if over * over == number.numerator and under * under == number.denominator:
        return Value(Fraction(over, under))
    shift = max(0, _ROOT_BITS - (number.numerator.bit_length() - number.denominator.bit_length()) // 2)
    return Value(
        Fraction(math.isqrt((number.numerator << 2 * shift) // number.denominator), 1 << shift), False
    )


def _power(base: Size, exponent: Fraction) -> Size:
    def raised(number: Fraction) -> Value:
        if exponent == _HALF:
            return _root(number)
        node = Node("^", Node("number", value=number), Node("number", value=exponent))
        return evaluate(node)

    middle = raised(base.value)
    try:
        ends = [raised(end).number for end in (base.low, base.high)]
    except UnreadableError:
        ends = [middle.number]
    dims = multiply((), base.dims, exponent)
    value = middle.number
    low, high = min(*ends, value), max(*ends, value)
    return Size(value, low, high, dims, base.is_bare, base.is_exact and middle.is_exact)


def _function(kind: str, argument: Size) -> Size:
    """Compute a function of a pure number or an angle; a bare number may be in degrees, so it has no sine.

    Raises:
        UnreadableError: The argument has dimensions, is a bare angle, or has no such value.
    """
    if physical(argument.dims):
        raise UnreadableError(f"{kind} of a quantity with dimensions")
    if kind in ("sin", "cos", "tan") and argument.is_bare and argument.is_exact and argument.value != 0:
        raise UnreadableError("an angle without a unit")

    def computed(number: Fraction) -> Fraction:
        inner = Node("number", value=number)
        if kind == "exp":
            return evaluate(Node("^", Node("euler"), inner)).number
        return evaluate(Node("log" if kind == "ln" else kind, inner)).number

    ends = [computed(number) for number in (argument.low, argument.value, argument.high)]
    return Size(ends[1], min(ends), max(ends), (), True, False)


def _bounded(number: Fraction) -> Fraction:
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MAX_BITS:
        raise UnreadableError("number too large")
    return number
