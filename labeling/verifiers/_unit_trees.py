"""Trees of quantities, the ways to read them, and what was met in reading one side of a relation."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import NamedTuple

from labeling.verifiers._unit_table import MONEY, SMALL_CHANGE, Unit, small_change

Units = tuple[tuple[Unit, Fraction], ...]
"""A product of units to powers."""


class Term(NamedTuple):
    """A tree node; which fields count depends on `kind`."""

    kind: str
    """number, pi, unit, negative, percent, sqrt, sin, cos, tan, ln, exp, or an operator + - * / ^."""
    left: "Term | None" = None
    right: "Term | None" = None
    value: Fraction = Fraction(0)
    last_digit: Fraction = Fraction(1)
    units: Units = ()
    """Of a unit node: what its left child is measured in."""


class Reading(NamedTuple):
    """One way to read the signs."""

    has_lost_carets: bool = False
    """3.0x108 is 3.0 * 10^8."""
    has_loose_powers: bool = False
    """12 / 3 x 10^2 is (12 / 3) x 10^2."""
    has_short_denominators: bool = False
    """J/mol K is (J/mol) K."""
    has_units_of_quotients: bool = False
    """9/5 km is (9/5) km."""
    has_tight_products: bool = False
    """1/2π is 1/(2π)."""
    has_powers_of_quantities: bool = False
    """3.14 * 2 m^2 is 3.14 * (2 m)^2."""


TEXTBOOK = Reading()


@dataclass
class Side:
    """One side of a relation as read."""

    term: Term
    n_tokens: int
    """Tokens used, from the first on."""
    units: set[Unit] = field(default_factory=set)
    letters: set[str] = field(default_factory=set)
    """Single letters taken for units (5 m, 3 s) that are not set upright."""
    glued_letters: set[str] = field(default_factory=set)
    """Those without a space behind their number (5m)."""
    has_rates: bool = False
    """A unit with a slash (m/s) occurs, which no product of variables looks like."""
    has_letter_products: bool = False
    """Letters stand side by side (3 m g), as in a product of variables."""
    traits: set[str] = field(default_factory=set)
    """Names of the fields of `Reading` that matter here."""
    doubts: list[str] = field(default_factory=list)

    @property
    def shown(self) -> Term | None:
        """A number with or without units, sign included; None when something is computed."""
        return plain_quantity(self.term)

    @property
    def has_units(self) -> bool:
        return any(term.kind == "unit" for term in walk(self.term))


def plain_quantity(term: Term) -> Term | None:
    """Return a number with or without units as one node, sign included, else None."""
    if term.kind == "number":
        return term
    if term.left is None or term.kind not in ("unit", "negative"):
        return None
    inner = plain_quantity(term.left)
    if inner is None:
        return None
    return (
        inner._replace(units=inner.units + term.units)
        if term.kind == "unit"
        else inner._replace(value=-inner.value)
    )


def walk(term: Term) -> Iterator[Term]:
    """Yield a node and everything below it."""
    terms = [term]
    while terms:
        term = terms.pop()
        yield term
        terms += [child for child in (term.left, term.right) if child is not None]


def with_small_change(left: Side, right: Side) -> tuple[Side, Side]:
    """Return two sides with their cents as those of the one currency beside them: €5 + 50 cents."""
    units = left.units | right.units
    small = {unit for unit in units if unit.name in SMALL_CHANGE}
    money = {unit for unit in units - small if {name for name, _ in unit.dims} & MONEY}
    if not small or len(money) != 1:
        return left, right
    change = small_change(money.pop())
    renamed = dict.fromkeys(small, change)
    return _renamed(left, renamed), _renamed(right, renamed)


def _renamed(side: Side, renamed: dict[Unit, Unit]) -> Side:
    units = {renamed.get(unit, unit) for unit in side.units}
    return replace(side, term=_renamed_term(side.term, renamed), units=units)


def _renamed_term(term: Term, renamed: dict[Unit, Unit]) -> Term:
    left, right = (
        None if child is None else _renamed_term(child, renamed) for child in (term.left, term.right)
    )
    units = tuple((renamed.get(unit, unit), power) for unit, power in term.units)
    return term._replace(left=left, right=right, units=units)
