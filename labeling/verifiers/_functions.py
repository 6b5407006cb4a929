"""Roots, logarithms and other functions of exact values, good to 40 digits where no rational is."""

import decimal
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from labeling.verifiers._reading import UnreadableError

MAX_BITS = 2048
MAX_ROOT = 12
MAX_EXPONENT = 512
MAX_FACTORIAL = 170
PI = Fraction("3.14159265358979323846264338327950288419716939937510582")
EULER = Fraction("2.71828182845904523536028747135266249775724709369995957")
_SCALE = 10**40
_MAX_ANGLE = 10**6
_SERIES_ENDS = Fraction(1, 10**45)
_CONTEXT = decimal.Context(prec=50, Emin=-999, Emax=999)


@dataclass(frozen=True)
class Value:
    """A computed value."""

    number: Fraction
    is_exact: bool = True
    """False when an irrational root, a function or pi went into it: good to about 40 digits then."""


def bounded(number: Fraction) -> Fraction:
    """Return a number that is small enough to compute on.

    Raises:
        UnreadableError: It has more than `MAX_BITS` bits above or below.
    """
    if number.numerator.bit_length() > MAX_BITS or number.denominator.bit_length() > MAX_BITS:
        raise UnreadableError("number too large")
    return number


def root(value: Value, degree: int) -> Value:
    """Return the real root of a degree: exact when it is rational, the negative one for -8 and 3.

    Raises:
        UnreadableError: An even root of a negative number, a degree below 1 or above `MAX_ROOT`.
    """
    if not 1 <= degree <= MAX_ROOT:
        raise UnreadableError("a root of an unusual degree")
    number = value.number
    if number < 0:
        if degree % 2 == 0:
            raise UnreadableError("root of a negative number")
        positive = root(Value(-number, value.is_exact), degree)
        return Value(-positive.number, positive.is_exact)
    over, under = _whole_root(number.numerator, degree), _whole_root(number.denominator, degree)
    if over**degree == number.numerator and under**degree == number.denominator:
        return Value(Fraction(over, under), value.is_exact)
    scaled = number * _SCALE**degree
    return Value(Fraction(_whole_root(scaled.numerator // scaled.denominator, degree), _SCALE), False)


def _whole_root(number: int, degree: int) -> int:
    """Return the largest whole number whose power is at most `number` (Newton's iteration)."""
    if degree == 1 or number < 2:
        return number
    if degree == 2:
        return math.isqrt(number)
    guess = 1 << -(-number.bit_length() // degree)
    while True:
        better = ((degree - 1) * guess + number // guess ** (degree - 1)) // degree
        if better >= guess:
            return guess
        guess = better


def power(base: Value, exponent: Value) -> Value:
    """Return a power: exact for a whole exponent and for a root that is rational.

    Raises:
        UnreadableError: The result is too large, or no real number.
    """
    number = exponent.number
    if base.is_exact and exponent.is_exact and 1 < number.denominator <= MAX_ROOT and base.number >= 0:
        rooted = root(base, number.denominator)
        if rooted.is_exact:
            base, number = rooted, Fraction(number.numerator)
    if number.denominator != 1 or not exponent.is_exact:
        return _real_power(base, exponent)
    if abs(number) > MAX_EXPONENT:
        raise UnreadableError("exponent too large")
    n_bits = max(base.number.numerator.bit_length(), base.number.denominator.bit_length())
    if n_bits * abs(number) > MAX_BITS:
        raise UnreadableError("power too large")
    if base.number == 0 and number <= 0:
        raise UnreadableError("zero to a power that is not positive")
    return Value(base.number ** int(number), base.is_exact)


def _real_power(base: Value, exponent: Value) -> Value:
    """Return a positive number to any power, as exp(exponent * ln(base)).

    Raises:
        UnreadableError: The base is not positive or the result too large or small to hold.
    """
    if base.number <= 0:
        raise UnreadableError("a broken power of a number that is not positive")
    return Value(_real(lambda: _CONTEXT.power(_decimal(base.number), _decimal(exponent.number))), False)


def _logarithm(value: Value, base: Fraction) -> Value:
    """Return the logarithm to a base; base 0 stands for e. Exact when it is a whole number."""
    if value.number <= 0 or base == 1:
        raise UnreadableError("a logarithm of a number that is not positive")

    def quotient() -> decimal.Decimal:
        above = _CONTEXT.ln(_decimal(value.number))
        return above if base == 0 else _CONTEXT.divide(above, _CONTEXT.ln(_decimal(base)))

    found = _real(quotient)
    nearest = round(found)
    if base != 0 and value.is_exact and abs(nearest) <= 100 and base**nearest == value.number:
        return Value(Fraction(nearest))
    return Value(found, False)


def _real(compute: Callable[[], decimal.Decimal]) -> Fraction:
    try:
        found = compute()
    except decimal.DecimalException as error:
        raise UnreadableError("a function value that cannot be computed") from error
    if not found.is_finite() or (found != 0 and abs(found.adjusted()) > 300):
        raise UnreadableError("number too large")
    return bounded(Fraction(found))


def _decimal(number: Fraction) -> decimal.Decimal:
    return _CONTEXT.divide(decimal.Decimal(number.numerator), decimal.Decimal(number.denominator))


def _sine(angle: Fraction) -> Fraction:
    """Return the sine of an angle in radians by its series, after taking whole turns off."""
    if abs(angle) > _MAX_ANGLE:
        raise UnreadableError("an angle too large")
    turned = angle - 2 * PI * round(angle / (2 * PI))
    total, term, n = Fraction(0), turned, 1
    while abs(term) > _SERIES_ENDS:
        total += term
        # Cut to 50 digits: the exact powers of a fraction would grow without end.
        term = Fraction(round(-term * turned * turned / ((n + 1) * (n + 2)) * 10**50), 10**50)
        n += 2
    return Fraction(round(total * _SCALE), _SCALE)


def _tangent(value: Value, _: Fraction) -> Value:
    below = _sine(value.number + PI / 2)
    if abs(below) < Fraction(1, 10**20):
        raise UnreadableError("a tangent without a value")
    return _tidied(Fraction(round(_sine(value.number) / below * _SCALE), _SCALE))


def _tidied(number: Fraction) -> Value:
    """Return a value; one that is a half, a whole number or zero to 30 digits is exactly that."""
    doubled = round(2 * number)
    if abs(2 * number - doubled) < Fraction(1, 10**30):
        return Value(Fraction(doubled, 2))
    return Value(number, False)


def whole_number(value: Value) -> int:
    """Return a value that is a whole number.

    Raises:
        UnreadableError: It is none.
    """
    if value.number.denominator != 1 or not value.is_exact:
        raise UnreadableError("whole numbers are needed here")
    return int(value.number)


def _small_whole(value: Value) -> int:
    number = value.number
    if number.denominator != 1 or not 0 <= number <= MAX_FACTORIAL or not value.is_exact:
        raise UnreadableError("a factorial or binomial of other than small whole numbers")
    return int(number)


ONE_ARGUMENT: dict[str, Callable[[Value, Fraction], Value]] = {
    "unit": lambda value, _: value,
    "negative": lambda value, _: Value(-value.number, value.is_exact),
    "percent": lambda value, _: Value(value.number / 100, value.is_exact),
    "factorial": lambda value, _: Value(Fraction(math.factorial(_small_whole(value)))),
    "sqrt": lambda value, _: root(value, 2),
    "root": lambda value, degree: root(value, int(degree)),
    "log": _logarithm,
    "abs": lambda value, _: Value(abs(value.number), value.is_exact),
    "floor": lambda value, _: Value(Fraction(math.floor(value.number))),
    "ceil": lambda value, _: Value(Fraction(math.ceil(value.number))),
    "sin": lambda value, _: _tidied(_sine(value.number)),
    "cos": lambda value, _: _tidied(_sine(value.number + PI / 2)),
    "tan": _tangent,
}
"""Node kind -> function of the argument's value and the node's own value (a degree or base)."""

TWO_ARGUMENTS: dict[str, Callable[[Value, Value], Value]] = {
    "^": power,
    "binomial": lambda n, k: Value(Fraction(math.comb(_small_whole(n), _small_whole(k)))),
    "gcd": lambda left, right: Value(Fraction(math.gcd(whole_number(left), whole_number(right)))),
    "lcm": lambda left, right: Value(bounded(Fraction(math.lcm(whole_number(left), whole_number(right))))),
    "max": lambda left, right: max(left, right, key=lambda value: value.number),
    "min": lambda left, right: min(left, right, key=lambda value: value.number),
}
