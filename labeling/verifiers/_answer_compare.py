r"""Are two cleaned answers the same? Taken apart as far as they can be; only the rest is left to algebra.

Every rule is symmetric: the order of the two answers changes nothing but which of them is called
unreadable. What no rule decides goes to `Algebra`, and what that cannot decide is UNSURE, not DIFFERENT.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

from labeling.verifiers import _answer_shapes as shapes
from labeling.verifiers import _answer_words as words_of
from labeling.verifiers._answer_shapes import Named, Region, ValueList
from labeling.verifiers._answer_text import cleaned
from labeling.verifiers._answer_units import Unit, split_unit
from labeling.verifiers._plain import (
    PlainNumber,
    number_in_prose,
    read_number,
    same_number,
    with_digits,
)


class State(Enum):
    """What is known of two answers."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNSURE = "unsure"
    LEFT_UNREADABLE = "left unreadable"
    RIGHT_UNREADABLE = "right unreadable"


@dataclass(frozen=True)
class Finding:
    """A state and its reason, one phrase."""

    state: State
    reason: str

    def mirrored(self) -> "Finding":
        """The same finding with the two answers exchanged."""
        return Finding(_MIRROR.get(self.state, self.state), self.reason)


_MIRROR = {State.LEFT_UNREADABLE: State.RIGHT_UNREADABLE, State.RIGHT_UNREADABLE: State.LEFT_UNREADABLE}

Algebra = Callable[[str, str | None, Fraction], Finding]
"""Compares two cleaned answers by algebra, up to a rounding error; without a second one, EQUAL tells that
the first can be read."""

MAX_UNIT_WORDS = 4
"""Words that may stand around a wrong number ("72 cubic metres of water"); a longer sentence with
another number in it may mean anything, and is not read."""


def equal(reason: str) -> Finding:
    """EQUAL, and why."""
    return Finding(State.EQUAL, reason)


def different(reason: str) -> Finding:
    """DIFFERENT, and why."""
    return Finding(State.DIFFERENT, reason)


def unsure(reason: str) -> Finding:
    """UNSURE, and why."""
    return Finding(State.UNSURE, reason)


_LEFT_UNREADABLE = Finding(State.LEFT_UNREADABLE, "cannot be read")
_RIGHT_UNREADABLE = Finding(State.RIGHT_UNREADABLE, "cannot be read")


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
        return self._answers(_prepared(left), _prepared(right))

    def is_readable(self, answer: str) -> bool:
        """Tell whether anything could be compared with this answer."""
        text = _prepared(answer)
        return bool(text) and self._is_readable(text)

    def _answers(self, left: str, right: str) -> Finding:
        if not left:
            return _LEFT_UNREADABLE
        if not right:
            return _RIGHT_UNREADABLE
        quick_left, quick_right = read_number(left), read_number(right)
        if quick_left is not None and quick_right is not None:
            return self._numbers(quick_left, quick_right)
        left, right = (shapes.without_plus_minus(with_digits(text)) for text in (left, right))
        left_list, right_list = _bare_list(left), _bare_list(right)
        if left_list or right_list:
            return self._with_lists(left, right)
        return self._named(shapes.split_name(left), shapes.split_name(right), left, right)

    def _named(self, left: Named, right: Named, whole_left: str, whole_right: str) -> Finding:
        if left.is_equation or right.is_equation:
            has_sides = ("=" in whole_left, "=" in whole_right)
            return (
                self.algebra(whole_left, whole_right, Fraction(0))
                if all(has_sides)
                else self._unsolved(left, right, whole_left, whole_right)
            )
        if left.name and right.name and left.name != right.name:
            finding = self._values(left.value, right.value)
            if read_number(left.value) and read_number(right.value):
                return different("values of different variables")
            return (
                finding
                if finding.state is State.EQUAL and _is_function_pair(left.name, right.name)
                else self.algebra(whole_left, whole_right, Fraction(0))
            )
        return self._values(left.value, right.value)

    def _unsolved(self, left: Named, right: Named, whole_left: str, whole_right: str) -> Finding:
        finding = self._values(left.value, right.value)
        if finding.state is State.DIFFERENT:
            finding = self.algebra(whole_left, whole_right, Fraction(0))
        return unsure("one is an equation, the other a value") if finding.state is State.EQUAL else finding

    def _values(self, left: str, right: str) -> Finding:
        """Compare two single values without names: numbers, quantities, words, layouts, expressions."""
        for rule in (
            self._as_numbers,
            self._as_meanings,
            self._as_choices,
            self._as_calendar,
            self._as_words,
        ):
            finding = rule(left, right)
            if finding is not None:
                return finding
        left_value, left_unit = split_unit(left)
        right_value, right_unit = split_unit(right)
        if left_unit or right_unit:
            return self._quantities((left_value, left_unit), (right_value, right_unit))
        for rule in (self._as_nouns, self._as_matrices, self._as_regions, self._as_lists):
            finding = rule(left, right)
            if finding is not None:
                return finding
        return self._by_algebra(left, right)

    def _as_numbers(self, left: str, right: str) -> Finding | None:
        left_number, right_number = read_number(left), read_number(right)
        if left_number is not None and right_number is not None:
            return self._numbers(left_number, right_number)
        return None

    def _numbers(self, left: PlainNumber, right: PlainNumber) -> Finding:
        if same_number(left, right):
            return equal("the same number")
        if self.bare_percent_matches and left.is_percent != right.is_percent:
            scaled = [
                PlainNumber(n.value * 100, n.decimals, False) if n.is_percent else n for n in (left, right)
            ]
            if same_number(*scaled):
                return equal("the same number, a bare one taken as per cent")
        return different("different numbers")

    def _as_meanings(self, left: str, right: str) -> Finding | None:
        said = words_of.meaning(left), words_of.meaning(right)
        if not any(said):
            return None
        if all(said):
            if said[0] == said[1]:
                return equal("the same meaning")
            return (
                unsure("words of near meaning")
                if words_of.may_mean_the_same(*said)
                else different("different meanings")
            )
        word, other = (said[0], right) if said[0] else (said[1], left)
        if word == "all reals":
            return None
        number = read_number(other)
        if word == "no solution" and number is not None and number.value == 0:
            return unsure("none may be zero")
        if number is not None or shapes.split_list(other) or shapes.read_region(other):
            return different("words against a value")
        words = words_of.read_words(other)
        if words is not None:
            return (
                unsure("words that hold the other") if _holds(words, word) else different("different words")
            )
        if words_of.is_prose(other):
            return _LEFT_UNREADABLE if said[1] else _RIGHT_UNREADABLE
        return (
            different("words against a value")
            if self._is_readable(other)
            else (_LEFT_UNREADABLE if said[1] else _RIGHT_UNREADABLE)
        )

    def _as_choices(self, left: str, right: str) -> Finding | None:
        first, second = words_of.read_choice(left), words_of.read_choice(right)
        if first and second:
            if first.letter == second.letter:
                return equal("the same letter")
            if first.is_sure and second.is_sure:
                if (
                    first.content
                    and second.content
                    and self._values(first.content, second.content).state is State.EQUAL
                ):
                    return unsure("different letters before the same value")
                return different("different choices")
            return None
        choice = first or second
        if choice is None or not choice.is_sure:
            return None
        if choice.content:
            return self._values(choice.content, right) if first else self._values(left, choice.content)
        other = right if first else left
        words = words_of.read_words(other)
        if words is not None and len(words) > 1 and choice.letter.casefold() not in words.split():
            return different("a choice against words")
        return _RIGHT_UNREADABLE if first else _LEFT_UNREADABLE

    def _as_calendar(self, left: str, right: str) -> Finding | None:
        dates = words_of.read_date(left), words_of.read_date(right)
        if dates[0] and dates[1]:
            return (
                equal("the same date")
                if words_of.same_date(dates[0], dates[1])
                else different("different dates")
            )
        bases = words_of.read_in_base(left), words_of.read_in_base(right)
        if any(bases):
            return _in_bases(left, right, *bases)
        times = words_of.read_time(left), words_of.read_time(right)
        ratios = [words_of.read_ratio(text) for text in (left, right)]
        if ratios[0] and ratios[1]:
            is_same_ratio = ratios[0] == ratios[1]
            if times[0] and times[1] and is_same_ratio and not words_of.same_time(times[0], times[1]):
                return unsure("a ratio or a time")
            return equal("the same ratio") if is_same_ratio else different("different ratios")
        if times[0] and times[1]:
            return (
                equal("the same time")
                if words_of.same_time(times[0], times[1])
                else different("different times")
            )
        for ratio, other in ((ratios[0], right), (ratios[1], left)):
            number = read_number(other)
            if ratio and len(ratio) == 1 and number is not None and number.value:
                return (
                    equal("a ratio and its quotient")
                    if 1 / ratio[0] == number.value
                    else different("different ratios")
                )
        return None

    def _as_words(self, left: str, right: str) -> Finding | None:
        first, second = words_of.read_words(left), words_of.read_words(right)
        spelt_left, spelt_right = with_digits(left), with_digits(right)
        if first is not None and first == second:
            return equal("the same words")
        if (spelt_left, spelt_right) != (left, right):
            return self._values(spelt_left, spelt_right)
        if first is None and second is None:
            return None
        if first is not None and second is not None:
            if min(len(first), len(second)) <= 3 and sorted(first) == sorted(second):
                return None  # "xy" and "yx" may be products of variables
            if min(len(first), len(second)) > 3 or len(first) > 1 or len(second) > 1:
                return (
                    unsure("words that hold the other")
                    if _holds(first, second)
                    else different("different words")
                )
            return None
        words, other = (first, right) if first is not None else (second, left)
        assert words is not None
        if len(words) <= 3 or words in _SINGLE_LETTER_WORDS:
            return None  # may be variables
        return self._words_against_other(words, other, is_left=first is not None)

    def _words_against_other(self, words: str, other: str, *, is_left: bool) -> Finding:
        unreadable = _RIGHT_UNREADABLE if is_left else _LEFT_UNREADABLE
        if words in other.casefold() or words_of.is_prose(other):
            return unreadable  # "not Evelyn", "Evelyn or Ann": named, but not as the answer alone
        if read_number(other) is not None:
            # Against a number words are an answer that nobody can read, whichever side they stand on.
            return _RIGHT_UNREADABLE if not is_left else different("words against a number")
        return different("words against a value") if self._is_readable(other) else unreadable

    def _quantities(self, left: tuple[str, Unit | None], right: tuple[str, Unit | None]) -> Finding:
        (left_value, left_unit), (right_value, right_unit) = left, right
        if left_unit is None or right_unit is None:
            return self._with_one_unit(left, right)
        values = self._values(left_value, right_value)
        if left_unit.dimensions != right_unit.dimensions:
            is_plain = not left_unit.dimensions or not right_unit.dimensions
            return values if is_plain or values.state is not State.EQUAL else unsure("different units")
        if left_unit.factor == right_unit.factor:
            return values
        numbers = read_number(left_value), read_number(right_value)
        if numbers[0] is not None and numbers[1] is not None:
            scaled = [
                _scaled(n, u.factor) for n, u in zip(numbers, (left_unit, right_unit), strict=True) if n
            ]
            return equal("the same quantity") if same_number(*scaled) else different("different quantities")
        ratio = left_unit.factor / right_unit.factor
        return self._by_algebra(
            f"\\frac{{{ratio.numerator}}}{{{ratio.denominator}}}\\cdot({left_value})", right_value
        )

    def _with_one_unit(self, left: tuple[str, Unit | None], right: tuple[str, Unit | None]) -> Finding:
        (left_value, left_unit), (right_value, right_unit) = left, right
        unit = left_unit or right_unit
        assert unit is not None
        if unit.is_angle and "\\pi" in (right_value if left_unit else left_value):
            in_radians = "\\frac{{\\pi}}{{180}}\\cdot({})"
            pair = (
                (in_radians.format(left_value), right_value)
                if left_unit
                else (left_value, in_radians.format(right_value))
            )
            return self._by_algebra(*pair)
        values = self._values(left_value, right_value)
        numbers = read_number(left_value), read_number(right_value)
        if values.state is State.DIFFERENT and all(number is not None and number.value for number in numbers):
            assert numbers[0] and numbers[1]
            scaled = numbers[0].value / numbers[1].value if left_unit else numbers[1].value / numbers[0].value
            if scaled in _CONVERSIONS.get(unit.dimensions, frozenset()):
                return unsure("the same in another unit")
        return values

    def _as_nouns(self, left: str, right: str) -> Finding | None:
        """Compare numbers with words around them: "28 apples"."""
        cheerful = read_number(left.removesuffix("!")), read_number(right.removesuffix("!"))
        if cheerful[0] and cheerful[1] and same_number(cheerful[0], cheerful[1]):
            return equal("the same number")  # "42!"; any other factorial is left to algebra
        first, second = _counted(left), _counted(right)
        if first and second:
            comparison = self._numbers(first[0], second[0])
            few = max(len(first[1]), len(second[1])) <= MAX_UNIT_WORDS
            if comparison.state is State.EQUAL:
                return (
                    comparison
                    if _share_words(first[1], second[1])
                    else unsure("the same number of other things")
                )
            if few:
                return comparison
            return _RIGHT_UNREADABLE if len(second[1]) > MAX_UNIT_WORDS else _LEFT_UNREADABLE
        if words_of.is_prose(right):
            return _RIGHT_UNREADABLE
        if words_of.is_prose(left):
            return _LEFT_UNREADABLE
        return None

    def _as_matrices(self, left: str, right: str) -> Finding | None:
        first, second = shapes.read_matrix(left), shapes.read_matrix(right)
        if not first and not second:
            return None
        if first and second:
            if (len(first), len(first[0])) != (len(second), len(second[0])):
                return different("matrices of different shape")
            cells = [(a, b) for rows in zip(first, second, strict=True) for a, b in zip(*rows, strict=True)]
            return self._all(cells)
        matrix, other = (first, right) if first else (second, left)
        assert matrix
        listed = shapes.split_list(other)
        if listed is None:
            return (
                self._by_algebra(left, right)
                if "\\begin" in other or "\\mat" in other
                else different("a matrix against a value")
            )
        flat = [cell for row in matrix for cell in row]
        if len(flat) != len(listed.items) or 1 not in (len(matrix), len(matrix[0])):
            return different("laid out differently")
        pairs = list(zip(flat, listed.items, strict=True))
        return _same_or(
            self._all(pairs if first else [(b, a) for a, b in pairs]), "the same values, laid out differently"
        )

    def _as_regions(self, left: str, right: str) -> Finding | None:
        first = shapes.read_region(_spelt_region(left))
        second = shapes.read_region(_spelt_region(right))
        if first is None and second is None:
            return None
        first = first or shapes.read_region(left, may_be_tuple=True)
        second = second or shapes.read_region(right, may_be_tuple=True)
        if first is None or second is None:
            other = left if first is None else right
            if re.search(r"<|>|\\le|\\ge|\\cup|\\cap|\\in|\\setminus|\\mid", other):
                return self._by_algebra(left, right)
            if read_number(other) is not None or shapes.split_list(other) is not None:
                return different("a range against values")
            return (
                different("a range against a value")
                if self._is_readable(other)
                else (_LEFT_UNREADABLE if first is None else _RIGHT_UNREADABLE)
            )
        if first[0] and second[0] and first[0] != second[0]:
            finding = self._regions(first[1], second[1])
            return unsure("ranges of different variables") if finding.state is State.EQUAL else finding
        return self._regions(first[1], second[1])

    def _regions(self, left: Region, right: Region) -> Finding:
        left, right = _merged(left), _merged(right)
        if len(left) != len(right):
            is_plain = all(
                _end_value(end) is not None
                for piece in (*left, *right)
                for end in (piece.low, piece.high)
                if end
            )
            return different("different ranges") if is_plain else unsure("ranges of different pieces")
        unmatched = list(right)
        results: list[Finding] = []
        for piece in left:
            tried = [self._intervals(piece, other) for other in unmatched]
            best = _best_of(tried)
            if best.state is State.EQUAL:
                del unmatched[tried.index(best)]
            results.append(best)
        return _all_of(results, "the same range")

    def _intervals(self, left: shapes.Interval, right: shapes.Interval) -> Finding:
        if (left.is_low_open, left.is_high_open, not left.low, not left.high) != (
            right.is_low_open,
            right.is_high_open,
            not right.low,
            not right.high,
        ):
            return different("different ends")
        ends = [(left.low, right.low), (left.high, right.high)]
        return self._all([(a, b) for a, b in ends if a and b])

    def _as_lists(self, left: str, right: str) -> Finding | None:
        first, second = shapes.split_list(left), shapes.split_list(right)
        return self._with_lists(left, right) if first or second else None

    def _with_lists(self, left: str, right: str) -> Finding:
        for rule in (self._as_regions, self._as_prose):
            finding = rule(left, right)
            if finding is not None:
                return finding
        first, second = _listed(left), _listed(right)
        if first is None or second is None:
            return self._list_against_value(left, right, is_left=first is not None)
        return self._lists(first, second)

    def _as_prose(self, left: str, right: str) -> Finding | None:
        """A sentence is no list, though it may hold commas."""
        if left == right:
            return None
        for text, unreadable in ((right, _RIGHT_UNREADABLE), (left, _LEFT_UNREADABLE)):
            items = shapes.split_list(text)
            longest = max((len(item.split()) for item in items.items), default=0) if items else 0
            if longest > MAX_UNIT_WORDS and words_of.is_prose(text):
                return unreadable
        return None

    def _list_against_value(self, left: str, right: str, *, is_left: bool) -> Finding:
        values, other = (_listed(left), right) if is_left else (_listed(right), left)
        assert values
        finding = self._as_meanings(left, right) or self._as_choices(left, right)
        if finding is not None:
            return finding
        if words_of.is_prose(other):
            return _RIGHT_UNREADABLE if is_left else _LEFT_UNREADABLE
        if not any(re.search(r"[\d\\]", item) for item in values.values.items) and any(
            words_of.is_prose(item) or len(words_of.read_words(item) or "") > 1
            for item in values.values.items
        ):
            return _LEFT_UNREADABLE if is_left else _RIGHT_UNREADABLE  # a sentence, or names
        if not values.values.is_ordered and len(set(values.values.items)) == 1:
            pair = (values.values.items[0], other) if is_left else (other, values.values.items[0])
            finding = self._answers(*pair)
            return (
                _same_or(finding, "one value, and the same in a list")
                if len(values.values.items) > 1
                else finding
            )
        if not all(self._is_readable(item) for item in values.values.items):
            return _LEFT_UNREADABLE if is_left else _RIGHT_UNREADABLE
        if not self._is_readable(other):
            return _RIGHT_UNREADABLE if is_left else _LEFT_UNREADABLE
        return different("several values against one")

    def _lists(self, left: "_Listed", right: "_Listed") -> Finding:
        first, second = left.values, right.values
        if len(first.items) != len(second.items) or len(first.items) > shapes.MAX_ITEMS:
            return self._readable_and(first, second, different("lists of different length"))
        if left.names and right.names and sorted(left.names) != sorted(right.names):
            return different("values of different variables")
        if left.names and right.names:
            order = [right.names.index(name) for name in left.names]
            return self._all([(a, second.items[i]) for a, i in zip(first.items, order, strict=True)])
        if left.names or right.names:
            in_order = self._all(list(zip(first.items, second.items, strict=True)))
            is_other_ordered = (second if left.names else first).is_ordered
            if in_order.state is State.EQUAL or is_other_ordered:
                return in_order
            return _same_or(self._in_any_order(first, second), "the same values in another order")
        if first.is_ordered and second.is_ordered and first.same_layout(second):
            return self._all(list(zip(first.items, second.items, strict=True)))
        if first.is_ordered and second.is_ordered:
            return self._readable_and(first, second, different("laid out differently"))
        if not first.is_ordered and not second.is_ordered:
            return self._in_any_order(first, second)
        return _same_or(self._in_any_order(first, second), "the same values, laid out differently")

    def _readable_and(self, left: ValueList, right: ValueList, finding: Finding) -> Finding:
        for values, unreadable in ((left, _LEFT_UNREADABLE), (right, _RIGHT_UNREADABLE)):
            if not all(self._is_readable(item) for item in values.items[: shapes.MAX_ITEMS]):
                return unreadable
        return finding

    def _in_any_order(self, left: ValueList, right: ValueList) -> Finding:
        unmatched = list(right.items)
        results: list[Finding] = []
        for item in left.items:
            tried: list[Finding] = []
            for other in unmatched:
                tried.append(self._answers(item, other))
                if tried[-1].state is State.EQUAL:
                    break
            best = _best_of(tried)
            if best.state is State.EQUAL:
                del unmatched[tried.index(best)]
            results.append(best)
        return _all_of(results, "the same values")

    def _all(self, pairs: Sequence[tuple[str, str]]) -> Finding:
        return _all_of([self._answers(a, b) for a, b in pairs], "the same values")

    def _by_algebra(self, left: str, right: str) -> Finding:
        left, right = _without_percent(left), _without_percent(right)
        places = [
            number.last_place
            for number in (read_number(left), read_number(right))
            if number and number.decimals >= 6
        ]
        return self.algebra(left, right, places[0] if len(places) == 1 else Fraction(0))

    def _is_readable(self, clean: str) -> bool:
        if (
            read_number(clean) is not None
            or number_in_prose(clean)
            or words_of.meaning(clean)
            or words_of.read_words(clean)
            or words_of.read_choice(clean)
            or words_of.read_date(clean)
            or words_of.read_time(clean)
            or words_of.read_ratio(clean)
            or words_of.read_in_base(clean)
            or with_digits(clean) != clean
        ):
            return True
        value, unit = split_unit(clean)
        if unit:
            return self._is_readable(value)
        clean = shapes.without_plus_minus(clean)
        matrix, region, values = shapes.read_matrix(clean), shapes.read_region(clean), _listed(clean)
        if matrix:
            parts = [cell for row in matrix for cell in row]
        elif region:
            parts = [end for piece in region[1] for end in (piece.low, piece.high) if end]
        elif values:
            parts = list(values.values.items)
        else:
            named = shapes.split_name(clean)
            if not named.is_equation and named.value != clean:
                return self._is_readable(named.value)
            return self.algebra(_without_percent(clean), None, Fraction(0)).state is State.EQUAL
        return len(parts) <= shapes.MAX_ITEMS and all(self._is_readable(part) for part in parts)


@dataclass(frozen=True)
class _Listed:
    values: ValueList
    names: tuple[str, ...] = ()
    """One for each value, all different; empty when the values have no names, or one name."""


def _listed(clean: str) -> _Listed | None:
    r"""Read a list and its names: "x = 1, y = 2", "x = 2 or x = 3", "x = 2, 3", "(x, y) = (1, 2)"."""
    values = shapes.split_list(clean)
    if values is None:
        return None
    if values.opening:
        return _Listed(values)
    named = [shapes.split_name(item) for item in values.items]
    if any(each.is_equation for each in named):
        return _Listed(values)
    items = tuple(each.value for each in named)
    names = tuple(each.name for each in named)
    bare = ValueList(values.opening, items, values.closing)
    return _Listed(bare, names) if all(names) and len(set(names)) == len(names) else _Listed(bare)


def _bare_list(clean: str) -> ValueList | None:
    values = shapes.split_list(clean)
    return values if values and not values.opening else None


def _prepared(answer: str) -> str:
    return cleaned(answer)


_SINGLE_LETTER_WORDS = frozenset(("alpha", "beta", "gamma", "theta", "lambda"))


def _is_function_pair(left: str, right: str) -> bool:
    return "y" in (left, right)


def _holds(left: str, right: str) -> bool:
    first, second = set(left.split()), set(right.split())
    return first <= second or second <= first


def _in_bases(
    left: str, right: str, first: tuple[str, int] | None, second: tuple[str, int] | None
) -> Finding:
    if first and second:
        if first == second:
            return equal("the same digits in the same base")
        same_value = int(*first) == int(*second)
        return unsure("the same number in another base") if same_value else different("different numbers")
    based, other = (first, right) if first else (second, left)
    assert based
    if re.fullmatch(r"0*" + based[0], other, re.IGNORECASE):
        return equal("the same digits, the base not said")
    number = read_number(other)
    if number is not None:
        same_value = number.value == int(*based)
        return unsure("the same number in another base") if same_value else different("different numbers")
    return unsure("a number of another base against an expression")


def _counted(clean: str) -> tuple[PlainNumber, tuple[str, ...]] | None:
    number = read_number(clean)
    if number is not None:
        return number, ()
    ordinal = re.fullmatch(r"(\d+)\s*(?:\^\s*\{?\s*)?(?:st|nd|rd|th)\s*\}?", clean)
    if ordinal:
        return read_number(ordinal[1]), ()  # pyright: ignore[reportReturnType]  # digits are a number
    return number_in_prose(clean)


def _share_words(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    stems = [{word.removesuffix("s") for word in words} for words in (left, right)]
    return not left or not right or bool(stems[0] & stems[1])


def _scaled(number: PlainNumber, factor: Fraction) -> PlainNumber:
    return PlainNumber(number.value * factor, 0, number.is_percent, is_decimal=False)


def _without_percent(clean: str) -> str:
    return f"\\frac{{{clean[:-1].strip()}}}{{100}}" if clean.endswith("%") and len(clean) > 1 else clean


def _spelt_region(clean: str) -> str:
    return "\\mathbb{R}" if words_of.meaning(clean) == "all reals" else clean


def _end_value(end: str) -> Fraction | None:
    number = read_number(re.sub(r"^([-+])\s+", r"\1", end))
    return None if number is None else number.value


def _merged(region: Region) -> Region:
    """Join pieces that touch, where all ends are plain numbers; else return the region as it is."""
    ends = [end for piece in region for end in (piece.low, piece.high) if end]
    if len(region) < 2 or any(_end_value(end) is None for end in ends):
        return region
    low, high = Fraction(-(10**500)), Fraction(10**500)

    def key(piece: shapes.Interval) -> tuple[Fraction, bool]:
        return (_end_value(piece.low) if piece.low else low) or Fraction(0), piece.is_low_open

    done: list[shapes.Interval] = []
    for piece in sorted(region, key=key):
        last = done[-1] if done else None
        if last is None:
            done.append(piece)
            continue
        last_high = _end_value(last.high) if last.high else high
        next_low = _end_value(piece.low) if piece.low else low
        assert last_high is not None
        assert next_low is not None
        if next_low > last_high or (next_low == last_high and last.is_high_open and piece.is_low_open):
            done.append(piece)
            continue
        piece_high = _end_value(piece.high) if piece.high else high
        assert piece_high is not None
        takes = piece_high > last_high or (piece_high == last_high and not piece.is_high_open)
        if takes:
            done[-1] = shapes.Interval(last.low, last.is_low_open, piece.high, piece.is_high_open)
    return tuple(done)


def _conversions() -> dict[tuple[tuple[str, int], ...], frozenset[Fraction]]:
    from labeling.verifiers._answer_units import _UNITS

    units: dict[tuple[tuple[str, int], ...], set[Fraction]] = {}
    for unit in _UNITS.values():
        units.setdefault(unit.dimensions, set()).add(unit.factor)
    return {
        dimensions: frozenset(a / b for a in factors for b in factors if a != b)
        for dimensions, factors in units.items()
    }


_CONVERSIONS = _conversions()


def _same_or(finding: Finding, reason: str) -> Finding:
    """Turn EQUAL into UNSURE: the values agree, and how they are laid out does not."""
    return unsure(reason) if finding.state is State.EQUAL else finding


def _best_of(tried: list[Finding]) -> Finding:
    """Return what a value has among the candidates: a match, else a doubt, else no match."""
    ranks = {
        State.EQUAL: 0,
        State.UNSURE: 1,
        State.LEFT_UNREADABLE: 2,
        State.RIGHT_UNREADABLE: 3,
        State.DIFFERENT: 4,
    }
    return min(tried, key=lambda each: ranks[each.state], default=different("values differ"))


def _all_of(results: Sequence[Finding], reason: str) -> Finding:
    for state in (State.LEFT_UNREADABLE, State.DIFFERENT, State.RIGHT_UNREADABLE, State.UNSURE):
        found = next((each for each in results if each.state is state), None)
        if found:
            return found
    return equal(reason)
