"""The trees that arithmetic is read into, the ways to read it, and what can be asked of a tree."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import NamedTuple

from labeling.verifiers._units import Unit

ONE = Fraction(1)
MAX_POWER_OF_TEN = 99


class Node(NamedTuple):
    """A tree node; which fields count depends on `kind`."""

    kind: str
    """number, pi, euler, unit, percent, negative, sqrt, root (to the degree `value`), abs, floor, ceil,
    factorial, log (to the base `value`, 0 for e), sin, cos, tan (of radians), binomial, gcd, lcm, max, min,
    or an operator + - * / ^ mod."""
    left: "Node | None" = None
    right: "Node | None" = None
    value: Fraction = Fraction(0)
    last_digit: Fraction = ONE
    """Worth of the last digit shown (1/100 in 3.14, 1 in 12); of a number only."""
    is_cut: bool = False
    """The digits go on: 3.33..."""
    unit: Unit | None = None


@dataclass(frozen=True)
class Reading:
    """One way to read the signs; the default is the textbook's."""

    has_tight_fractions: bool = False
    """25 / 1/3 is 25 / (1/3)."""
    has_tight_products: bool = False
    """6 / 2(3) is 6 / (2(3)), and 1/2 x 3 with a letter glued on likewise."""
    has_negative_bases: bool = False
    """-3^2 is (-3)^2."""
    has_percent_as_unit: bool = False
    """40% is the number 40 with a unit."""
    has_mixed_as_product: bool = False
    """3 1/2 and 3 \\frac{1}{2} are products."""
    has_plain_bangs: bool = False
    """5! at the end is an excited 5."""
    has_scale_as_unit: bool = False
    """2 dozen is the number 2 with a unit."""
    has_decimal_points: bool = False
    """1·5 is 1.5."""
    has_natural_logs: bool = False
    """log without a base is the natural one."""
    has_other_angles: bool = False
    """sin 30 is of degrees, sin 30° of radians."""
    has_loose_mod: bool = False
    """2 + 3 mod 4 is (2 + 3) mod 4."""
    has_tight_powers_of_ten: bool = False
    """3 x 10^8 / 6 x 10^14 is a quotient of two numbers in scientific notation."""
    has_raised_quantities: bool = False
    """2 cm^2 behind a sign is the square of 2 cm."""
    has_wide_of: bool = False
    """25% of 40 + 60 is a share of 100."""
    has_narrow_obelus: bool = False
    """6 ÷ 1/2 is 6 / 1 / 2."""
    has_periods: bool = False
    """0.1(6) is 0.1666..."""
    has_lost_carets: bool = False
    """25 is 2^5: an exponent that was raised in print."""
    has_long_roots: bool = False
    """√9/4 is the root of nine quarters."""
    pi_as: Fraction | None = None
    """pi is this number, as in schoolbooks."""


TEXTBOOK = Reading()


_TRANSPARENT = frozenset({"+", "-", "*", "/", "^", "mod", "negative", "unit", "percent"})


@dataclass
class Parse:
    """A member as read."""

    node: Node
    n_tokens: int
    """Tokens used, from the first on."""
    labels: set[str] = field(default_factory=set)
    """Count nouns and units seen, in the singular as far as an s tells it."""
    units: set[Unit] = field(default_factory=set)
    traits: set[str] = field(default_factory=set)
    """Which ambiguous constructions occurred: percent, slash, implicit, negative_power, mixed, bang, scale,
    compound, symbol (a single letter taken for a unit), point, log, angle, mod, pi, euler, root (of a bare
    number), scientific (a power of ten behind a quotient), raised (a unit with an exponent), digits (a
    whole number of two or three), of (a share of what follows), period (digits in brackets behind a
    point), obelus (÷ before a fraction), singular (a word that may be an unknown), rate (5 per day)."""

    @property
    def has_operation(self) -> bool:
        """Whether anything is computed in it."""
        return plain_number(self.node) is None

    @property
    def first_number(self) -> Fraction | None:
        """The number that the member starts with, None when it starts otherwise."""
        node: Node | None = self.node
        sign = 1
        while node is not None and node.left is not None and node.kind in _TRANSPARENT:
            sign = -sign if node.kind == "negative" else sign
            node = node.left
        return sign * node.value if node is not None and node.kind == "number" else None


def plain_number(node: Node) -> Node | None:
    """Return a number without operations (sign, unit and percent allowed) as one node, else None."""
    if node.kind == "number":
        return node
    if node.kind == "unit" and node.left is not None:
        return plain_number(node.left)
    if node.kind in ("negative", "percent") and node.left is not None:
        inner = plain_number(node.left)
        if inner is None:
            return None
        if node.kind == "negative":
            return inner._replace(value=-inner.value)
        return inner._replace(value=inner.value / 100, last_digit=inner.last_digit / 100)
    return None


def shown_number(node: Node) -> Node | None:
    """Return a number, one in scientific notation (3.2 x 10^5) included, as one node, else None."""
    plain = plain_number(node)
    if plain is not None:
        return plain
    if node.kind == "negative" and node.left is not None:
        inner = shown_number(node.left)
        return None if inner is None else inner._replace(value=-inner.value)
    if node.kind == "unit" and node.left is not None:
        return shown_number(node.left)
    if node.kind != "*" or node.left is None or node.right is None:
        return None
    mantissa, power = plain_number(node.left), _power_of_ten(node.right)
    if mantissa is None or power is None:
        return None
    return mantissa._replace(value=mantissa.value * power, last_digit=mantissa.last_digit * power)


def _power_of_ten(node: Node) -> Fraction | None:
    if node.kind == "unit" and node.left is not None:
        return _power_of_ten(node.left)
    if node.kind != "^" or node.left is None or node.right is None or node.left.kind != "number":
        return None
    exponent = plain_number(node.right)
    if node.left.value != 10 or exponent is None or exponent.value.denominator != 1:
        return None
    return Fraction(10) ** int(exponent.value) if abs(exponent.value) <= MAX_POWER_OF_TEN else None


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        yield node
        nodes += [child for child in (node.left, node.right) if child is not None]
