"""Comparing answers of several parts: lists, sets, tuples, matrices, ranges of the real line."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from labeling.verifiers import _answer_shapes as shapes
from labeling.verifiers import _answer_words as words_of
from labeling.verifiers._answer_findings import (
    Finding,
    Rules,
    all_of,
    best_of,
    different,
    equal,
    unless_equal,
    unreadable,
    unsure,
)
from labeling.verifiers._answer_shapes import Interval, Region, ValueList
from labeling.verifiers._plain import read_number

_MAX_WORDS = 4
"""A longer part of a list makes it a sentence."""
_MAX_PAIRS = 500
"""Comparisons that two lists in any order may take: enough for 31 values each."""


@dataclass(frozen=True)
class Listed:
    """A list, and what its values are called."""

    values: ValueList
    names: tuple[str, ...] = ()
    """One for each value, all different; empty when the values have no names, or one name."""


def listed(clean: str) -> Listed | None:
    r"""Read a list and its names: "x = 1, y = 2", "x = 2 or x = 3", "x = 2, 3", "(x, y) = (1, 2)"."""
    values = shapes.split_list(clean)
    if values is None:
        return None
    if values.opening:
        return Listed(values)
    named = [shapes.split_name(item) for item in values.items]
    if any(each.is_equation for each in named):
        return Listed(values)
    bare = ValueList(values.opening, tuple(each.value for each in named), values.closing)
    names = tuple(each.name for each in named)
    return Listed(bare, names) if all(names) and len(set(names)) == len(names) else Listed(bare)


def compare_matrices(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare cell by cell; None when neither is a matrix. A row or column may stand for a tuple: unsure."""
    first, second = shapes.read_matrix(left), shapes.read_matrix(right)
    if first and second:
        if (len(first), len(first[0])) != (len(second), len(second[0])):
            return different("matrices of different shape")
        rows = zip(first, second, strict=True)
        return _all([pair for row in rows for pair in zip(*row, strict=True)], rules)
    matrix, other = (first, right) if first else (second, left)
    if matrix is None:
        return None
    values = shapes.split_list(other)
    if values is None:
        return rules.algebra_of(left, right) if "\\" in other else different("a matrix against a value")
    flat = [cell for row in matrix for cell in row]
    if len(flat) != len(values.items) or 1 not in (len(matrix), len(matrix[0])):
        return different("laid out differently")
    pairs = [(a, b) if first else (b, a) for a, b in zip(flat, values.items, strict=True)]
    return unless_equal(_all(pairs, rules), "the same values, laid out differently")


def compare_regions(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare intervals and inequalities; None when neither is certain to be one."""
    texts = [r"\mathbb{R}" if words_of.meaning(text) == "all reals" else text for text in (left, right)]
    first, second = (shapes.read_region(text) for text in texts)
    if first is None and second is None:
        return None
    first = first or shapes.read_region(left, may_be_tuple=True)
    second = second or shapes.read_region(right, may_be_tuple=True)
    if first is None or second is None:
        other = left if first is None else right
        if re.search(r"[<>]|\\(?:le|ge|ne|c[ua]p|in|setminus|mid)(?![A-Za-z])", other):
            return rules.algebra_of(left, right)
        if read_number(other) is not None or rules.is_readable(other):
            return different("a range against a value")
        return unreadable(is_left=first is None)
    finding = _compare_pieces(first[1], second[1], rules)
    if first[0] and second[0] and first[0] != second[0]:
        return unless_equal(finding, "ranges of different variables")
    return finding


def _compare_pieces(left: Region, right: Region, rules: Rules) -> Finding:
    left, right = merged(left), merged(right)
    if len(left) != len(right):
        is_plain = all(_number(end) is not None for end in _ends((*left, *right)))
        return different("different ranges") if is_plain else unsure("ranges of different pieces")
    unmatched = list(right)
    results: list[Finding] = []
    for piece in left:
        tried = [_compare_intervals(piece, other, rules) for other in unmatched]
        results.append(best_of(tried))
        if results[-1].is_equal:
            del unmatched[tried.index(results[-1])]
    return all_of(results, "the same range")


def _compare_intervals(left: Interval, right: Interval, rules: Rules) -> Finding:
    kinds = [(i.is_low_open, i.is_high_open, bool(i.low), bool(i.high)) for i in (left, right)]
    if kinds[0] != kinds[1]:
        return different("different ends")
    return _all([pair for pair in ((left.low, right.low), (left.high, right.high)) if all(pair)], rules)


def _ends(region: Region) -> list[str]:
    return [end for piece in region for end in (piece.low, piece.high) if end]


def _number(end: str) -> Fraction | None:
    number = read_number(re.sub(r"^([-+])\s+", r"\1", end))
    return None if number is None else number.value


def merged(region: Region) -> Region:
    """Sort the pieces and join those that touch, where all ends are plain numbers; else change nothing."""
    if len(region) < 2 or any(_number(end) is None for end in _ends(region)):
        return region

    def low(piece: Interval) -> tuple[int, Fraction, bool]:
        value = _number(piece.low) if piece.low else None
        return (0, Fraction(0), True) if value is None else (1, value, piece.is_low_open)

    def high(piece: Interval) -> tuple[int, Fraction, bool]:
        value = _number(piece.high) if piece.high else None
        return (2, Fraction(0), True) if value is None else (1, value, not piece.is_high_open)

    done: list[Interval] = []
    for piece in sorted(region, key=low):
        last = done[-1] if done else None
        touches = last is not None and (
            low(piece)[:2] < high(last)[:2]
            or (low(piece)[:2] == high(last)[:2] and not (last.is_high_open and piece.is_low_open))
        )
        if last is None or not touches:
            done.append(piece)
        elif high(piece) > high(last):
            done[-1] = Interval(last.low, last.is_low_open, piece.high, piece.is_high_open)
    return tuple(done)


def compare_lists(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare lists, sets and tuples; None when neither is one."""
    first, second = listed(left), listed(right)
    if first is None and second is None:
        return None
    sentence = _sentence(left, right)
    if sentence is not None:
        return sentence
    if first is None or second is None:
        return _list_against_value(first or second, left, right, rules)
    return _compare_listed(first, second, rules)


def _sentence(left: str, right: str) -> Finding | None:
    """A sentence is no list, though it may hold commas."""
    for is_left, text in ((False, right), (True, left)):
        values = shapes.split_list(text)
        longest = max(len(item.split()) for item in values.items) if values else 0
        if longest > _MAX_WORDS and words_of.is_prose(text) and left != right:
            return unreadable(is_left=is_left)
    return None


def _list_against_value(found: Listed | None, left: str, right: str, rules: Rules) -> Finding:
    assert found is not None
    values, is_left = found.values, listed(left) is not None
    other = right if is_left else left
    if words_of.is_prose(other):
        return unreadable(is_left=not is_left)
    if _holds_names(values):
        return unreadable(is_left=is_left)
    if not values.is_ordered and len(set(values.items)) == 1:
        pair = (values.items[0], other) if is_left else (other, values.items[0])
        finding = rules.answers(*pair)
        is_repeated = len(values.items) > 1
        return unless_equal(finding, "one value, and the same repeated") if is_repeated else finding
    if not all(rules.is_readable(item) for item in values.items[: shapes.MAX_ITEMS]):
        return unreadable(is_left=is_left)
    return (
        different("several values against one")
        if rules.is_readable(other)
        else unreadable(is_left=not is_left)
    )


def _holds_names(values: ValueList) -> bool:
    """Tell whether a list is made of words: a sentence, or names."""
    has_numbers = any(re.search(r"[\d\\]", item) for item in values.items)
    return not has_numbers and any(
        words_of.is_prose(item) or len(words_of.read_words(item) or "") > 1 for item in values.items
    )


def _compare_listed(left: Listed, right: Listed, rules: Rules) -> Finding:
    first, second = left.values, right.values
    if len(first.items) != len(second.items):
        return _if_readable(first, second, different("lists of different length"), rules)
    pairs = list(zip(first.items, second.items, strict=True))
    if len(pairs) > shapes.MAX_ITEMS:
        return equal("the same values") if first == second else unsure("too many values to compare")
    if left.names and right.names:
        if sorted(left.names) != sorted(right.names):
            return different("values of different variables")
        order = [right.names.index(name) for name in left.names]
        return _all([(a, second.items[i]) for a, i in zip(first.items, order, strict=True)], rules)
    if left.names or right.names:
        in_order = _all(pairs, rules)
        if in_order.is_equal or (second if left.names else first).is_ordered:
            return in_order
        return unless_equal(_in_any_order(first, second, rules), "the same values in another order")
    if first.is_ordered and second.is_ordered:
        if first.same_layout(second):
            return _all(pairs, rules)
        return _if_readable(first, second, different("laid out differently"), rules)
    if first.is_ordered or second.is_ordered:
        return unless_equal(_in_any_order(first, second, rules), "the same values, laid out differently")
    return _in_any_order(first, second, rules)


def _if_readable(left: ValueList, right: ValueList, finding: Finding, rules: Rules) -> Finding:
    for is_left, values in ((True, left), (False, right)):
        if not all(rules.is_readable(item) for item in values.items[: shapes.MAX_ITEMS]):
            return unreadable(is_left=is_left)
    return finding


def _in_any_order(left: ValueList, right: ValueList, rules: Rules) -> Finding:
    unmatched = list(right.items)
    results: list[Finding] = []
    known: dict[tuple[str, str], Finding] = {}
    for item in left.items:
        tried: list[Finding] = []
        for other in unmatched:
            if (item, other) not in known:
                if len(known) == _MAX_PAIRS:
                    return unsure("too many values to compare in any order")
                known[item, other] = rules.answers(item, other)
            tried.append(known[item, other])
            if tried[-1].is_equal:
                break
        results.append(best_of(tried))
        if results[-1].is_equal:
            del unmatched[tried.index(results[-1])]
        elif results[-1].state.value == "different":
            return _if_readable(left, right, results[-1], rules)
    return all_of(results, "the same values")


def _all(pairs: Sequence[tuple[str, str]], rules: Rules) -> Finding:
    return all_of([rules.answers(a, b) for a, b in pairs], "the same values")
