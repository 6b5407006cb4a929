"""Exact values of expression trees, with bounds, and the comparison of two of them.

Values are rationals. A root that is not rational and pi are carried as rationals good to 40 digits and
marked; a power or product that would grow past `MAX_BITS` is refused before it is computed.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

from labeling.verifiers._trees import Node, UnreadableError
from labeling.verifiers._units import multiply_dims

MAX_BITS = 2048
MAX_EXPONENT = 512
MAX_FACTORIAL = 170
_PI = Fraction("3.14159265358979323846264338327950288419716939937510582")
_ROOT_SCALE = 10**40
_SAME = Fraction(1, 10**25)
_HALF = Fraction(1, 2)

Dims = tuple[tuple[str, int], ...]
Interval = tuple[Fraction, Fraction]


@dataclass(frozen=True)
class Value:
    """A computed value."""

    number: Fraction
    is_exact: bool = True
    """False when an irrational root or pi went into it: good to about 40 digits then."""


def evaluate(node: Node) -> Value:
    """Compute a tree, units ignored.

    Raises:
        UnreadableError: Division by zero, an even root of a negative number, an exponent that is not a small
            whole number (one half is a square root), or a value too large to hold.
    """
    kind = node.kind
    if kind == "number":
        return Value(_bounded(node.value))
    if kind == "pi":
        return Value(_PI, False)
    assert node.left is not None
    left = evaluate(node.left)
    if kind == "unit":
        return left
    if kind == "negative":
        return Value(-left.number, left.is_exact)
    if kind == "percent":
        return Value(left.number / 100, left.is_exact)
    if kind == "sqrt":
        return _root(left)
    if kind == "factorial":
        return _factorial(left)
    assert node.right is not None
    right = evaluate(node.right)
    if kind == "^":
        return _power(left, right)
    if kind == "binomial":
        return _binomial(left, right)
    return Value(_apply(kind, left.number, right.number), left.is_exact and right.is_exact)


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    if operator == "+":
        return _bounded(left + right)
    if operator == "-":
        return _bounded(left - right)
    if operator == "*":
        return _bounded(left * right)
    if right == 0:
        raise UnreadableError("division by zero")
    return _bounded(left / right)


def _bounded(number: Fraction) -> Fraction:
    if number.numerator.bit_length() > MAX_BITS or number.denominator.bit_length() > MAX_BITS:
        raise UnreadableError("number too large")
    return number


def _root(value: Value) -> Value:
    number = value.number
    if number < 0:
        raise UnreadableError("root of a negative number")
    over, under = math.isqrt(number.numerator), math.isqrt(number.denominator)
    if over * over == number.numerator and under * under == number.denominator:
        return Value(Fraction(over, under), value.is_exact)
    scaled = number * _ROOT_SCALE * _ROOT_SCALE
    return Value(Fraction(math.isqrt(scaled.numerator // scaled.denominator), _ROOT_SCALE), False)


def _factorial(value: Value) -> Value:
    return Value(Fraction(math.factorial(_small_whole(value))))


def _binomial(n: Value, k: Value) -> Value:
    return Value(Fraction(math.comb(_small_whole(n), _small_whole(k))))


def _small_whole(value: Value) -> int:
    number = value.number
    if number.denominator != 1 or not 0 <= number <= MAX_FACTORIAL or not value.is_exact:
        raise UnreadableError("a factorial or binomial of other than small whole numbers")
    return int(number)


def _power(base: Value, exponent: Value) -> Value:
    if exponent.number == _HALF:
        return _root(base)
    power = exponent.number
    if power.denominator != 1 or abs(power) > MAX_EXPONENT or not exponent.is_exact:
        raise UnreadableError("exponent not a small whole number")
    n_bits = max(base.number.numerator.bit_length(), base.number.denominator.bit_length())
    if n_bits * abs(power) > MAX_BITS:
        raise UnreadableError("power too large")
    if base.number == 0 and power <= 0:
        raise UnreadableError("zero to a power that is not positive")
    return Value(base.number ** int(power), base.is_exact)


def evaluate_in_base_units(node: Node) -> tuple[Fraction, Dims] | None:
    """Compute a tree with its units converted; None when dimensions do not fit together.

    Raises:
        UnreadableError: As `evaluate`.
    """
    if node.kind == "unit" and node.unit is not None and node.left is not None:
        return evaluate(node.left).number * node.unit.factor, node.unit.dims
    if node.kind == "number":
        return node.value, ()
    if node.kind in ("+", "-", "*", "/") and node.left is not None and node.right is not None:
        left, right = evaluate_in_base_units(node.left), evaluate_in_base_units(node.right)
        if left is None or right is None or (node.kind in "+-" and left[1] != right[1]):
            return None
        dims = left[1]
        if node.kind in "*/":
            dims = multiply_dims(left[1], right[1], 1 if node.kind == "*" else -1)
        return _apply(node.kind, left[0], right[0]), dims
    if node.kind == "negative" and node.left is not None:
        inner = evaluate_in_base_units(node.left)
        return None if inner is None else (-inner[0], inner[1])
    return None if node.kind == "percent" else (evaluate(node).number, ())


def is_same(left: Value, right: Value) -> bool:
    """Whether two values are equal: exactly, or to 25 digits when a root or pi went into one."""
    if left.is_exact and right.is_exact:
        return left.number == right.number
    gap = abs(left.number - right.number)
    return gap <= _SAME * max(abs(left.number), abs(right.number), 1)


def is_rounding(value: Value, shown: Node, *, is_approximate: bool) -> bool:
    """Whether a shown number is the value rounded (half either way) to the digits it shows.

    After "=" only a number with a decimal place may be a rounding; after an approximation sign a whole
    number may be one too.
    """
    if shown.last_digit >= 1 and not is_approximate:
        return False
    if shown.is_cut and is_truncation(value, shown):
        return True
    return abs(value.number - shown.value) <= shown.last_digit / 2


def is_truncation(value: Value, shown: Node) -> bool:
    """Whether a shown number with decimals is the value with its further digits cut off."""
    gap = abs(value.number) - abs(shown.value)
    return shown.last_digit < 1 and 0 <= gap < shown.last_digit and value.number * shown.value >= 0


def are_near(left: Node, right: Node) -> bool:
    """Whether two trees can be equal when the decimals written in them are themselves rounded.

    A number with two or more decimals stands for all that round to it; with one decimal only where the
    tree multiplies or divides. Whole numbers are exact.

    Raises:
        UnreadableError: As `evaluate`.
    """
    coarsest = Fraction(1, 10) if _multiplies(left) or _multiplies(right) else Fraction(1, 100)
    first, second = _interval(left, coarsest), _interval(right, coarsest)
    return first[0] <= second[1] and second[0] <= first[1]


def _multiplies(node: Node | None) -> bool:
    if node is None:
        return False
    return node.kind in ("*", "/", "^") or _multiplies(node.left) or _multiplies(node.right)


def _interval(node: Node, coarsest: Fraction) -> Interval:
    if node.kind == "number":
        error = node.last_digit / 2 if node.last_digit <= coarsest else Fraction(0)
        return node.value - error, node.value + error
    if node.kind in ("unit", "negative", "percent") and node.left is not None:
        low, high = _interval(node.left, coarsest)
        if node.kind == "negative":
            return -high, -low
        return (low / 100, high / 100) if node.kind == "percent" else (low, high)
    if node.kind in ("+", "-", "*", "/") and node.left is not None and node.right is not None:
        first, second = _interval(node.left, coarsest), _interval(node.right, coarsest)
        if node.kind == "/" and second[0] <= 0 <= second[1]:
            raise UnreadableError("division by zero")
        ends = [_apply(node.kind, a, b) for a in first for b in second]
        return min(ends), max(ends)
    if node.kind == "^" and node.left is not None and node.right is not None:
        low, high = _interval(node.left, coarsest)
        exponent = evaluate(node.right)
        if low > 0 and low != high:
            powers = [_power(Value(end), exponent).number for end in (low, high)]
            return min(powers), max(powers)
    number = evaluate(node).number
    return number, number
