"""In which unit a number or a name was given earlier, and claims that use it as if in another one.

"A car of 1200 kg at 72 km/h has KE = 0.5 * 1200 * 72^2 = 3110400 J" takes 72 for metres a second. That is
held against a step only where it is certain: every number of the computation was given once, the units
given fit the result's dimensions, the computation is right without units and wrong with them.
"""

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property

from labeling.records import Problem
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._unit_benefit import agreement, agrees_plainly, excuse_of_value
from labeling.verifiers._unit_claims import Claim
from labeling.verifiers._unit_parser import parse
from labeling.verifiers._unit_table import physical
from labeling.verifiers._unit_tokens import Token, tokenize
from labeling.verifiers._unit_trees import Side, Term, Units, walk
from labeling.verifiers._unit_values import ClashError, Notes, Size, measure, unit_size

MAX_PROBLEM_CHARACTERS = 20_000
MAX_QUANTITIES = 200
_FACTORS = frozenset(map(Fraction, (7, 10, 12, 24, 52, 60, 100, 365, 1000, 3600)))
"""Numbers that convert units: where one was also given in a plain unit, it is not clear which is meant."""
_PURE = frozenset({Fraction(1, 2), Fraction(1), Fraction(2), Fraction(3), Fraction(4)})


class History:
    """What a problem gives; its text is read when a claim first asks."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    @cached_property
    def given(self) -> dict[Fraction, Units | None]:
        """Each number of the problem with its units, None where it comes with several."""
        tokens = tokenize(self.problem.text[:MAX_PROBLEM_CHARACTERS])
        places = [index for index, token in enumerate(tokens) if token.kind == "NUM"]
        found: dict[Fraction, Units | None] = {}
        for place in places[:MAX_QUANTITIES]:
            start = place - 1 if place and tokens[place - 1].kind == "CUR" else place
            number, units = tokens[place].value, _units_at(tokens, start)
            if units and number in _FACTORS and len(unit_size(units)[1]) == 1:
                units = None
            found[number] = None if found.get(number, units) != units else units
        return found

    def with_units(self, term: Term) -> Term | None:
        """Return a computation on bare numbers with the units in which they were given; None when unclear."""
        if term.kind == "number":
            units = self.given.get(term.value, () if term.value in _PURE else None)
            if units is None:
                return None
            return Term("unit", term, units=units) if units else term
        if term.left is None:
            return term
        if term.kind == "^":
            base = self.with_units(term.left)
            return None if base is None else term._replace(left=base)
        left = self.with_units(term.left)
        right = None if term.right is None else self.with_units(term.right)
        if left is None or (right is None and term.right is not None):
            return None
        return term._replace(left=left, right=right)


def _units_at(tokens: Sequence[Token], start: int) -> Units | None:
    """Return the units of the quantity that starts here; () for a bare number or things, None if unclear."""
    try:
        shown = parse(tokens[start : start + 10]).shown
    except UnreadableError:
        return None
    if shown is None:
        return None
    return tuple(pair for pair in shown.units if physical(pair[0].dims))


def unconverted(claim: Claim, history: History) -> tuple[Size, Size] | None:
    """Return what a computation on bare numbers comes to in the units given, and what the claim says.

    None where the claim is no such computation, is right, or may be meant otherwise.
    """
    try:
        left, right = parse(claim.left), parse(claim.right)
        if left.has_units or left.shown is not None or right.shown is None or claim.relation != "=":
            return None
        term = history.with_units(left.term)
        if term is None or sum(part.kind == "unit" for part in walk(term)) < 2:
            return None
        _, dims = unit_size(right.shown.units)
        side = Side(term, left.n_tokens, {unit for part in walk(term) for unit, _ in part.units})
        first, second = measure(term, Notes()), measure(right.term, Notes())
    except (UnreadableError, ClashError):
        return None
    if not physical(dims) or physical(first.dims) != physical(second.dims):
        return None
    if not agrees_plainly(claim, left, right) and not _agrees_in_base_units(claim, left, right):
        return None
    if agreement(claim.relation, side, right, first, second) or claim.doubts:
        return None
    # Fresh notes: the numbers that bear no unit here were given without one.
    return None if excuse_of_value(claim, side, right, first, second, Notes()) else (first, second)


def _agrees_in_base_units(claim: Claim, left: Side, right: Side) -> bool:
    """Whether the numbers agree as if all were given in SI base units."""
    first, second = measure(left.term, Notes()), measure(right.term, Notes())
    return bool(agreement(claim.relation, left, right, first._replace(dims=second.dims), second))
