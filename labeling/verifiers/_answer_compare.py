r"""Are two answers the same? Taken apart as far as they can be; only the rest is left to algebra.

Every rule is symmetric: the order of the two answers changes nothing but which of them is called
unreadable. What no rule decides goes to algebra, and what that cannot decide is UNSURE, not DIFFERENT.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from labeling.verifiers import _answer_shapes as shapes
from labeling.verifiers._answer_findings import (
    LEFT_UNREADABLE,
    RIGHT_UNREADABLE,
    Algebra,
    Finding,
    State,
    different,
    equal,
    unless_equal,
    unsure,
)
from labeling.verifiers._answer_layouts import compare_lists, compare_matrices, compare_regions, listed
from labeling.verifiers._answer_rules import (
    compare_calendar,
    compare_choices,
    compare_counted,
    compare_meanings,
    compare_spelt,
    compare_words,
    is_readable_without_algebra,
)
from labeling.verifiers._answer_shapes import Named
from labeling.verifiers._answer_text import cleaned
from labeling.verifiers._answer_units import Unit, conversions, split_unit
from labeling.verifiers._plain import PlainNumber, read_number, same_number, with_digits

_MAX_DEPTH = 20
"""Brackets within brackets: each level costs the parser as much as a whole short answer."""

Quantity = tuple[str, Unit | None]


@dataclass(frozen=True)
class Comparer:
    """The rules, bound to an algebra and to one option.

    Args:
        algebra: Decides what is neither number, word nor layout.
        bare_percent_matches: Let a bare 35 match 35 %.
    """

    algebra: Algebra
    bare_percent_matches: bool = False

    def compare(self, left: str, right: str) -> Finding:
        """Compare two answers as written."""
        left, right = cleaned(left), cleaned(right)
        if not left:
            return LEFT_UNREADABLE
        return self.answers(left, right) if right else RIGHT_UNREADABLE

    def can_read(self, answer: str) -> bool:
        """Tell whether an answer as written could be compared with anything."""
        clean = cleaned(answer)
        return bool(clean) and self.is_readable(clean)

    def answers(self, left: str, right: str) -> Finding:
        """Compare two cleaned answers of any kind."""
        finding = self._as_numbers(left, right)
        if finding is not None:
            return finding
        left, right = (shapes.without_plus_minus(with_digits(text)) for text in (left, right))
        is_listed = [bool(values and not values.opening) for values in map(shapes.split_list, (left, right))]
        if any(is_listed):
            left, right = (
                text if is_list else shapes.split_name(text).value
                for text, is_list in zip((left, right), is_listed, strict=True)
            )
            return self._first_of((compare_regions, compare_lists), left, right)
        first, second = shapes.split_name(left), shapes.split_name(right)
        if first.is_equation or second.is_equation:
            return self._with_equation(first, second, left, right)
        if first.name and second.name and first.name != second.name:
            return self._differently_named(first, second, left, right)
        return self.values(first.value, second.value)

    def values(self, left: str, right: str) -> Finding:
        """Compare two single values without names: numbers, quantities, words, layouts, expressions."""
        finding = self._as_numbers(left, right)
        if finding is not None:
            return finding
        return self._first_of(
            (
                compare_meanings,
                compare_choices,
                compare_calendar,
                compare_words,
                compare_spelt,
                _compare_quantities,
                compare_counted,
                compare_matrices,
                compare_regions,
                compare_lists,
            ),
            left,
            right,
        )

    def algebra_of(self, left: str, right: str) -> Finding:
        """Compare two cleaned answers as expressions."""
        numbers = read_number(left), read_number(right)
        places = [number.last_place for number in numbers if number and number.decimals >= 6]
        left, right = _without_percent(left), _without_percent(right)
        for text, unreadable in ((left, LEFT_UNREADABLE), (right, RIGHT_UNREADABLE)):
            if _depth(text) > _MAX_DEPTH:
                return unreadable
        return self.algebra(left, right, places[0] if len(places) == 1 else Fraction(0))

    def is_readable(self, clean: str) -> bool:
        """Tell whether a cleaned answer can be read."""
        if is_readable_without_algebra(clean):
            return True
        value, unit = split_unit(clean)
        if unit:
            return self.is_readable(value)
        clean = shapes.without_plus_minus(clean)
        matrix, region, values = shapes.read_matrix(clean), shapes.read_region(clean), listed(clean)
        if matrix:
            parts = [cell for row in matrix for cell in row]
        elif region:
            parts = [end for piece in region[1] for end in (piece.low, piece.high) if end]
        elif values:
            parts = list(values.values.items)
        else:
            named = shapes.split_name(clean)
            if not named.is_equation and named.value != clean:
                return self.is_readable(named.value)
            if _depth(clean) > _MAX_DEPTH:
                return False
            return self.algebra(_without_percent(clean), None, Fraction(0)).is_equal
        return len(parts) <= shapes.MAX_ITEMS and all(self.is_readable(part) for part in parts)

    def _first_of(
        self, rules: tuple[Callable[[str, str, "Comparer"], Finding | None], ...], left: str, right: str
    ) -> Finding:
        for rule in rules:
            finding = rule(left, right, self)
            if finding is not None:
                return finding
        return self.algebra_of(left, right)

    def _as_numbers(self, left: str, right: str) -> Finding | None:
        first, second = read_number(left), read_number(right)
        if first is None or second is None:
            return None
        if same_number(first, second):
            return equal("the same number")
        if self.bare_percent_matches and first.is_percent != second.is_percent:
            bare = [
                PlainNumber(n.value * 100, n.decimals, False) if n.is_percent else n for n in (first, second)
            ]
            if same_number(*bare):
                return equal("the same number, a bare one taken as per cent")
        return different("different numbers")

    def _with_equation(self, first: Named, second: Named, left: str, right: str) -> Finding:
        """Compare an equation that names nothing with another, or with a value that may solve it."""
        if "=" in left and "=" in right:
            return self.algebra_of(left, right)
        finding = self.values(first.value, second.value)
        if finding.state is State.DIFFERENT:
            finding = self.algebra_of(left, right)
        return unless_equal(finding, "one is an equation, the other a value")

    def _differently_named(self, first: Named, second: Named, left: str, right: str) -> Finding:
        if read_number(first.value) is not None and read_number(second.value) is not None:
            return different("values of different variables")
        return self.algebra_of(left, right)


def _compare_quantities(left: str, right: str, rules: Comparer) -> Finding | None:
    """Compare numbers with units; None when neither has one."""
    first, second = split_unit(left), split_unit(right)
    if first[1] is None and second[1] is None:
        return None
    if first[1] is None or second[1] is None:
        return _with_one_unit(first, second, rules)
    values = rules.values(first[0], second[0])
    if first[1].dimensions != second[1].dimensions:
        counts_units = not first[1].dimensions or not second[1].dimensions  # "5 units" may be of anything
        return values if counts_units else unless_equal(values, "different units")
    if first[1].factor == second[1].factor:
        return values
    numbers = read_number(first[0]), read_number(second[0])
    if numbers[0] is not None and numbers[1] is not None:
        is_same = numbers[0].value * first[1].factor == numbers[1].value * second[1].factor
        return equal("the same quantity") if is_same else different("different quantities")
    ratio = first[1].factor / second[1].factor
    return rules.algebra_of(rf"\frac{{{ratio.numerator}}}{{{ratio.denominator}}}\cdot({first[0]})", second[0])


def _with_one_unit(left: Quantity, right: Quantity, rules: Comparer) -> Finding:
    (left_value, left_unit), (right_value, right_unit) = left, right
    unit = left_unit or right_unit
    assert unit is not None
    if unit.is_angle and "\\pi" in (right_value if left_unit else left_value):
        return rules.algebra_of(
            rf"\frac{{\pi}}{{180}}\cdot({left_value})" if left_unit else left_value,
            rf"\frac{{\pi}}{{180}}\cdot({right_value})" if right_unit else right_value,
        )
    finding = rules.values(left_value, right_value)
    numbers = read_number(left_value), read_number(right_value)
    if (
        finding.state is State.DIFFERENT
        and numbers[0]
        and numbers[1]
        and numbers[0].value
        and numbers[1].value
    ):
        ratio = numbers[0].value / numbers[1].value
        if ratio in conversions(unit) or 1 / ratio in conversions(unit):
            return unsure("the same in another unit")
    return finding


def _without_percent(clean: str) -> str:
    return rf"\frac{{{clean[:-1].strip()}}}{{100}}" if clean.endswith("%") and len(clean) > 1 else clean


def _depth(clean: str) -> int:
    """Return how deep brackets are nested, whether or not they are closed in the right order."""
    depth = deepest = 0
    for sign in clean:
        depth += (sign in "([{") - (sign in ")]}")
        deepest = max(deepest, depth)
    return deepest
