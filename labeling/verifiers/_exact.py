"""Exact values of expression trees, with bounds, and the comparison of two of them.

Values are rationals. A root that is not rational and pi are carried as rationals good to 40 digits and
marked; a power or product that would grow past `MAX_BITS` is refused before it is computed.
"""

from fractions import Fraction

from labeling.verifiers._functions import (
    EULER,
    ONE_ARGUMENT,
    PI,
    TWO_ARGUMENTS,
    Value,
    bounded,
    power,
    whole_number,
)
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._trees import Node
from labeling.verifiers._units import multiply_dims

_CONSTANTS = {"pi": PI, "euler": EULER}
_SAME = Fraction(1, 10**25)

Dims = tuple[tuple[str, int], ...]
Interval = tuple[Fraction, Fraction]


def evaluate(node: Node) -> Value:
    """Compute a tree, units ignored.

    Raises:
        UnreadableError: Division by zero, an even root of a negative number, an exponent that is not a small
            whole number (one half is a square root), or a value too large to hold.
    """
    kind = node.kind
    if kind == "number":
        return Value(bounded(node.value))
    if kind in _CONSTANTS:
        return Value(_CONSTANTS[kind], False)
    assert node.left is not None
    if kind == "mod":
        assert node.right is not None
        return Value(Fraction(residue(node.left, whole_number(evaluate(node.right)))))
    left = evaluate(node.left)
    if kind in ONE_ARGUMENT:
        return ONE_ARGUMENT[kind](left, node.value)
    assert node.right is not None
    right = evaluate(node.right)
    if kind in TWO_ARGUMENTS:
        return TWO_ARGUMENTS[kind](left, right)
    return Value(_apply(kind, left.number, right.number), left.is_exact and right.is_exact)


def residue(node: Node, modulus: int) -> int:
    """Return what a tree of whole numbers leaves when divided by a modulus; powers may be of any height.

    Raises:
        UnreadableError: The modulus is below 1, or something in the tree is no whole number.
    """
    if modulus < 1:
        raise UnreadableError("a modulus that is not positive")
    left, right = node.left, node.right
    if node.kind in ("+", "-", "*") and left is not None and right is not None:
        first, second = residue(left, modulus), residue(right, modulus)
        return {"+": first + second, "-": first - second, "*": first * second}[node.kind] % modulus
    if node.kind == "^" and left is not None and right is not None:
        exponent = whole_number(evaluate(right))
        if exponent >= 0:
            return pow(residue(left, modulus), exponent, modulus)
    return whole_number(evaluate(node)) % modulus


def _apply(operator: str, left: Fraction, right: Fraction) -> Fraction:
    if operator == "+":
        return bounded(left + right)
    if operator == "-":
        return bounded(left - right)
    if operator == "*":
        return bounded(left * right)
    if right == 0:
        raise UnreadableError("division by zero")
    return bounded(left / right)


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
    """Whether a shown number is the value rounded to the digits it shows.

    After "=" only a number with a decimal place may be a rounding, and a half goes up; after an approximation
    sign a whole number may be one too, and a half goes either way.
    """
    if shown.last_digit >= 1 and not is_approximate:
        return False
    if shown.is_cut and is_truncation(value, shown):
        return True
    excess = abs(value.number) - abs(shown.value)
    if excess == shown.last_digit / 2 and value.is_exact and not is_approximate:
        return False
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
            powers = [power(Value(end), exponent).number for end in (low, high)]
            return min(powers), max(powers)
    number = evaluate(node).number
    return number, number
