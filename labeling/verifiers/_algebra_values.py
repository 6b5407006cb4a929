"""Values of algebraic trees: exactly as rationals, and modulo a large prime.

Two rational expressions that differ at one point modulo a prime are different; that is exact. Two that agree
at several random points are equal but for a chance of about degree / 2^61 a point (Schwartz 1980, Zippel
1979). Nothing is expanded, so no expression can blow up. Univariate polynomials modulo the prime tell
whether two equations have a solution in common: when they have none there, they have none at all.

The prime is 7 modulo 8 and the primes up to 47 are squares modulo it. So the root of a square that is a
square itself is defined, and it is multiplicative, as roots of positive numbers are: sqrt(12) = 2 sqrt(3).
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce

from labeling.randomness import derive_seed
from labeling.verifiers._algebra_trees import Node
from labeling.verifiers._reading import UnreadableError

PRIME = 0x1FFFFFFFFFF64837
MAX_EXPONENT = 10_000
MAX_DEGREE = 24
MAX_BITS = 4096

Polynomial = list[int]
"""Coefficients modulo the prime, constant first, without zeros at the end; [] is 0."""


def evaluate_mod(node: Node, point: Mapping[str, int]) -> int:
    """Compute a tree modulo the prime.

    A function, and a root that is not a square root of a number, counts as an unknown of its own: the same
    value for the same argument.

    Raises:
        UnreadableError: Division by zero here, a symbol without a value, or an exponent that is not a
            moderate whole number.
    """
    kind = node.kind
    if kind == "number":
        return _residue(node.value)
    if kind == "symbol":
        if node.name not in point:
            raise UnreadableError(f"{node.name} has no value")
        return point[node.name]
    if kind == "^":
        return _power_mod(node, point)
    values = [evaluate_mod(child, point) for child in node.children]
    if kind == "+":
        return (values[0] + values[1]) % PRIME
    if kind == "-":
        return (values[0] - values[1]) % PRIME
    if kind == "*":
        return values[0] * values[1] % PRIME
    if kind == "/":
        return values[0] * _inverse(values[1]) % PRIME
    if kind == "negative":
        return -values[0] % PRIME
    if kind == "root" and node.value == 2 and not _has_unknowns(node.children[0]):
        return _square_root(values[0])
    return random_residue(f"{kind} {node.name} {node.value}", values[0])


def _power_mod(node: Node, point: Mapping[str, int]) -> int:
    base, exponent = node.children
    value = evaluate_mod(base, point)
    try:
        power = evaluate_exactly(exponent, {})
    except UnreadableError:
        # 2^x and e^x: an unknown of its own.
        return random_residue(f"power {value}", evaluate_mod(exponent, point))
    if power == Fraction(1, 2):
        return _square_root(value) if not _has_unknowns(base) else random_residue("root  2", value)
    if power.denominator != 1:
        return random_residue(f"power {power}", value)
    if abs(power) > MAX_EXPONENT:
        raise UnreadableError("exponent too large")
    if value == 0 and power <= 0:
        raise UnreadableError("zero to a power that is not positive")
    return pow(value, int(power), PRIME)


def has_opaque_parts(node: Node) -> bool:
    """Whether a tree holds what is only compared by its looks: functions, roots, powers that are unknown."""
    if node.kind == "function":
        return True
    if node.kind == "root" and (node.value != 2 or has_roots_or_unknowns(node.children[0])):
        return True
    if node.kind == "^":
        try:
            power = evaluate_exactly(node.children[1], {})
        except UnreadableError:
            return True
        is_root = power == Fraction(1, 2) and not has_roots_or_unknowns(node.children[0])
        if power.denominator != 1 and not is_root:
            return True
    return any(has_opaque_parts(child) for child in node.children)


def has_roots_or_unknowns(node: Node) -> bool:
    """Whether a tree is more than rational arithmetic on numbers."""
    if node.kind in ("symbol", "root", "function"):
        return True
    return any(has_roots_or_unknowns(child) for child in node.children) or (
        node.kind == "^" and node.children[1].kind != "number"
    )


def _has_unknowns(node: Node) -> bool:
    return node.kind in ("symbol", "function") or any(_has_unknowns(child) for child in node.children)


def random_residue(*key: object) -> int:
    """Return the residue that belongs to a key; always the same for the same key."""
    return derive_seed(0, "algebra", *(str(part) for part in key)) % (PRIME - 2) + 1


def _residue(value: Fraction) -> int:
    if value.denominator == 1:
        return value.numerator % PRIME
    return value.numerator * _inverse(value.denominator) % PRIME


def _inverse(value: int) -> int:
    if value % PRIME == 0:
        raise UnreadableError("division by zero")
    return pow(value, -1, PRIME)


def _square_root(value: int) -> int:
    root = pow(value, (PRIME + 1) // 4, PRIME)
    if root * root % PRIME != value % PRIME:
        raise UnreadableError("a root that is not read")
    return root


def evaluate_exactly(node: Node, values: Mapping[str, Fraction]) -> Fraction:
    """Compute a tree as a rational.

    Raises:
        UnreadableError: A symbol without a value, a function or an irrational root, division by zero, or a
            number too large to hold.
    """
    kind = node.kind
    if kind == "number":
        return node.value
    if kind == "symbol":
        if node.name not in values:
            raise UnreadableError(f"{node.name} has no value")
        return values[node.name]
    if kind == "function":
        raise UnreadableError(f"the function {node.name}")
    args = [evaluate_exactly(child, values) for child in node.children]
    if kind == "root":
        return _exact_root(args[0], int(node.value))
    if kind == "^":
        return _exact_power(args[0], args[1])
    if kind == "negative":
        return -args[0]
    if kind == "/" and args[1] == 0:
        raise UnreadableError("division by zero")
    left, right = args
    result = left + right if kind == "+" else left - right if kind == "-" else None
    if result is None:
        result = left * right if kind == "*" else left / right
    return _bounded(result)


def _bounded(number: Fraction) -> Fraction:
    if number.numerator.bit_length() > MAX_BITS or number.denominator.bit_length() > MAX_BITS:
        raise UnreadableError("number too large")
    return number


def _exact_power(base: Fraction, power: Fraction) -> Fraction:
    if power.denominator != 1:
        if power.denominator > 20:
            raise UnreadableError("an exponent that is not read")
        base, power = _exact_root(base, power.denominator), Fraction(power.numerator)
    if abs(power) > MAX_EXPONENT or (base == 0 and power <= 0):
        raise UnreadableError("an exponent that is not read")
    n_bits = max(base.numerator.bit_length(), base.denominator.bit_length())
    if n_bits * abs(power) > MAX_BITS:
        raise UnreadableError("number too large")
    return base ** int(power)


def _exact_root(value: Fraction, degree: int) -> Fraction:
    if value < 0:
        raise UnreadableError("root of a negative number")
    over, under = _whole_root(value.numerator, degree), _whole_root(value.denominator, degree)
    if over**degree != value.numerator or under**degree != value.denominator:
        raise UnreadableError("an irrational root")
    return Fraction(over, under)


def _whole_root(number: int, degree: int) -> int:
    """Return the whole part of a root, by bisection."""
    low, high = 0, 1 << (number.bit_length() // degree + 1)
    while low < high:
        middle = (low + high + 1) // 2
        if middle**degree <= number:
            low = middle
        else:
            high = middle - 1
    return low


def as_quotient(node: Node, unknown: str, point: Mapping[str, int]) -> tuple[Polynomial, Polynomial]:
    """Return a tree as a quotient of two polynomials in one unknown, the other symbols at a point.

    Raises:
        UnreadableError: It is none (the unknown stands in a function, root or exponent), its degree is
            beyond `MAX_DEGREE`, or as `evaluate_mod`.
    """
    if not _holds(node, unknown):
        value = evaluate_mod(node, point)
        return ([value] if value else []), [1]
    if node.kind == "symbol":
        return [0, 1], [1]
    if node.kind in ("root", "function"):
        raise UnreadableError("the unknown stands in a root or function")
    over, under = as_quotient(node.children[0], unknown, point)
    if node.kind == "negative":
        return [-c % PRIME for c in over], under
    if node.kind == "^":
        if _holds(node.children[1], unknown):
            raise UnreadableError("the unknown stands in an exponent")
        power = evaluate_exactly(node.children[1], {})
        if power.denominator != 1 or abs(power) > MAX_DEGREE:
            raise UnreadableError("an exponent that is not read")
        if power < 0:
            over, under, power = under, over, -power
        powers = [reduce(multiply, [each] * int(power), [1]) for each in (over, under)]
        return _checked(powers[0], powers[1])
    over_2, under_2 = as_quotient(node.children[1], unknown, point)
    if node.kind == "*":
        return _checked(multiply(over, over_2), multiply(under, under_2))
    if node.kind == "/":
        return _checked(multiply(over, under_2), multiply(under, over_2))
    sign = 1 if node.kind == "+" else -1
    if under == under_2:
        return _add(over, over_2, sign), under
    return _checked(_add(multiply(over, under_2), multiply(over_2, under), sign), multiply(under, under_2))


def _holds(node: Node, unknown: str) -> bool:
    if node.kind == "symbol":
        return node.name == unknown
    return any(_holds(child, unknown) for child in node.children)


def _checked(over: Polynomial, under: Polynomial) -> tuple[Polynomial, Polynomial]:
    if not under:
        raise UnreadableError("division by zero")
    return over, under


def multiply(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return the product of two polynomials.

    Raises:
        UnreadableError: Its degree is beyond `MAX_DEGREE`.
    """
    if not left or not right:
        return []
    if len(left) + len(right) - 2 > MAX_DEGREE:
        raise UnreadableError("degree too high")
    product = [0] * (len(left) + len(right) - 1)
    for i, a in enumerate(left):
        for j, b in enumerate(right):
            product[i + j] = (product[i + j] + a * b) % PRIME
    return product


def _add(left: Polynomial, right: Polynomial, sign: int) -> Polynomial:
    size = max(len(left), len(right))
    total = [0] * size
    for i, a in enumerate(left):
        total[i] = a
    for i, b in enumerate(right):
        total[i] = (total[i] + sign * b) % PRIME
    return _trimmed(total)


def _trimmed(polynomial: Polynomial) -> Polynomial:
    while polynomial and polynomial[-1] == 0:
        polynomial.pop()
    return polynomial


def divide(over: Polynomial, under: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Return quotient and remainder; `under` is not 0."""
    rest, lead = list(over), _inverse(under[-1])
    quotient = [0] * max(0, len(rest) - len(under) + 1)
    for shift in range(len(rest) - len(under), -1, -1):
        factor = rest[shift + len(under) - 1] * lead % PRIME
        quotient[shift] = factor
        if factor:
            for i, c in enumerate(under):
                rest[shift + i] = (rest[shift + i] - factor * c) % PRIME
    return _trimmed(quotient), _trimmed(rest[: len(under) - 1])


def common_factor(left: Polynomial, right: Polynomial) -> Polynomial:
    """Return a greatest common divisor; of 0 and 0 it is 0."""
    while right:
        left, right = right, divide(left, right)[1]
    return left


def without_powers(polynomial: Polynomial) -> Polynomial:
    """Return the product of the different factors, leading coefficient 1."""
    if len(polynomial) < 2:
        return [1] if polynomial else []
    slope = _trimmed([i * c % PRIME for i, c in enumerate(polynomial)][1:])
    simple = divide(polynomial, common_factor(polynomial, slope))[0]
    lead = _inverse(simple[-1])
    return [c * lead % PRIME for c in simple]


def rational(residue: int) -> Fraction | None:
    """Return the small rational that a residue stands for (Wang 1981), None when there is none."""
    low, high = (PRIME, 0), (residue % PRIME, 1)
    while high[0] > 1 << 30:
        quotient = low[0] // high[0]
        low, high = high, (low[0] - quotient * high[0], low[1] - quotient * high[1])
    if high[1] == 0 or abs(high[1]) > 1 << 29:
        return None
    return Fraction(high[0], high[1])
