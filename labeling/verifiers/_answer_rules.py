"""Comparing answers that need no algebra: fixed meanings, choices, dates and times, words, counted things.

Every rule returns None when it does not apply, and is symmetric up to which answer it calls unreadable.
"""

import re

from labeling.verifiers import _answer_words as words_of
from labeling.verifiers._answer_findings import (
    Finding,
    Rules,
    different,
    equal,
    unless_equal,
    unreadable,
    unsure,
)
from labeling.verifiers._plain import PlainNumber, number_in_prose, read_number, same_number, with_digits

MAX_UNIT_WORDS = 4
"""Words that may stand around a wrong number ("72 cubic metres of water"); a longer sentence with
another number in it may mean anything, and is not read."""

_MAX_VARIABLE_LETTERS = 3
"""Up to so many letters may be a product of variables."""


def compare_meanings(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare "no solution", "infinitely many", "yes" and their like."""
    said = words_of.meaning(left), words_of.meaning(right)
    if all(said):
        if said[0] == said[1]:
            return equal("the same meaning")
        is_near = words_of.may_mean_the_same(*said)
        return unsure("words of near meaning") if is_near else different("different meanings")
    word, other = (said[0], right) if said[0] else (said[1], left)
    if not word or word == "all reals":
        return None
    number = read_number(other)
    if word == "no solution" and number is not None and number.value == 0:
        return unsure("none may be zero")
    words = words_of.read_words(other)
    if words is not None:
        return unsure("words that hold the other") if _holds(words, word) else different("different words")
    if words_of.is_prose(other) or not (number is not None or rules.is_readable(other)):
        return unreadable(is_left=not said[0])
    return different("words against a value")


def compare_choices(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare the options of a multiple-choice problem, "(B)" and "B. 12"."""
    first, second = words_of.read_choice(left), words_of.read_choice(right)
    if first and second:
        if first.letter == second.letter:
            return equal("the same letter")
        if not (first.is_sure and second.is_sure):
            return None
        has_contents = first.content and second.content
        if has_contents and rules.values(first.content, second.content).is_equal:
            return unsure("different letters before the same value")
        return different("different choices")
    choice, other = (first, right) if first else (second, left)
    if choice is None or not choice.is_sure:
        return None
    if choice.content:
        return rules.values(choice.content, right) if first else rules.values(left, choice.content)
    words = words_of.read_words(other)
    if words is not None and len(words) > 1 and choice.letter.casefold() not in words.split():
        return different("a choice against words")
    return unreadable(is_left=not first)


def compare_calendar(left: str, right: str, rules: Rules) -> Finding | None:  # one signature
    """Compare dates, numbers written in a base, ratios and times of day."""
    dates = words_of.read_date(left), words_of.read_date(right)
    if dates[0] and dates[1]:
        is_same = words_of.same_date(dates[0], dates[1])
        return equal("the same date") if is_same else different("different dates")
    bases = words_of.read_in_base(left), words_of.read_in_base(right)
    if bases[0] and bases[1]:
        return _compare_bases(bases[0], bases[1])
    if bases[0] or bases[1]:
        return _base_against_bare(bases[0] or bases[1] or ("0", 2), right if bases[0] else left)
    return _compare_ratios_and_times(left, right)


def _compare_bases(left: tuple[str, int], right: tuple[str, int]) -> Finding:
    if left == right:
        return equal("the same digits in the same base")
    is_same = int(*left) == int(*right)
    return unsure("the same number in another base") if is_same else different("different numbers")


def _base_against_bare(based: tuple[str, int], other: str) -> Finding:
    if re.fullmatch(r"0*" + based[0], other, re.IGNORECASE):
        return equal("the same digits, the base not said")
    number = read_number(other)
    if number is None:
        return unsure("a number of another base against an expression")
    is_same = number.value == int(*based)
    return unsure("the same number in another base") if is_same else different("different numbers")


def _compare_ratios_and_times(left: str, right: str) -> Finding | None:
    times = words_of.read_time(left), words_of.read_time(right)
    ratios = words_of.read_ratio(left), words_of.read_ratio(right)
    is_same_time = bool(times[0] and times[1] and words_of.same_time(times[0], times[1]))
    if ratios[0] and ratios[1]:
        if ratios[0] == ratios[1]:
            is_doubtful = times[0] and times[1] and not is_same_time
            return unsure("a ratio or a time") if is_doubtful else equal("the same ratio")
        return unsure("a ratio or a time") if is_same_time else different("different ratios")
    if times[0] and times[1]:
        return equal("the same time") if is_same_time else different("different times")
    for ratio, other in ((ratios[0], right), (ratios[1], left)):
        number = read_number(other)
        if ratio and len(ratio) == 1 and number is not None:
            is_quotient = ratio[0] * number.value == 1
            return equal("a ratio and its quotient") if is_quotient else different("different ratios")
    return None


def compare_words(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare names and other words without case; a few letters may be variables, and are left alone."""
    first, second = words_of.read_words(left), words_of.read_words(right)
    if first is not None and first == second:
        return equal("the same words")
    if left.casefold() == right.casefold() and words_of.is_prose(left):
        return equal("the same text")
    if first is not None and second is not None:
        if max(len(first), len(second)) <= _MAX_VARIABLE_LETTERS:
            return None
        return unsure("words that hold the other") if _holds(first, second) else different("different words")
    words, other = (first, right) if first is not None else (second, left)
    if words is None or len(words) <= _MAX_VARIABLE_LETTERS:
        return None
    is_left = first is not None
    if words in other.casefold() or words_of.is_prose(other):
        return unreadable(
            is_left=not is_left
        )  # "not Evelyn", "Evelyn or Ann": named, but not as the answer alone
    if read_number(other) is not None:
        # Words are an answer that nobody can read where a number is asked for, but not the other way round.
        return different("words against a number") if is_left else unreadable(is_left=False)
    return different("words against a value") if rules.is_readable(other) else unreadable(is_left=not is_left)


_MAX_WORDS_HELD = 6


def _holds(left: str, right: str) -> bool:
    """Tell whether one name may be the other with words added: "Evelyn" and "Evelyn Smith"."""
    first, second = set(left.split()), set(right.split())
    return max(len(first), len(second)) <= _MAX_WORDS_HELD and (first <= second or second <= first)


def compare_spelt(left: str, right: str, rules: Rules) -> Finding | None:
    """Compare numbers in words, "twenty-five apples", as if written in digits."""
    spelt = with_digits(left), with_digits(right)
    return None if spelt == (left, right) else rules.values(*spelt)


def compare_counted(left: str, right: str, rules: Rules) -> Finding | None:  # one signature
    """Compare numbers with words around them: "28 apples". Any other sentence cannot be read."""
    cheerful = read_number(left.removesuffix("!")), read_number(right.removesuffix("!"))
    if cheerful[0] and cheerful[1] and same_number(cheerful[0], cheerful[1]):
        return equal("the same number")  # "42!"; any other factorial is left to algebra
    first, second = _counted(left), _counted(right)
    if first and second:
        is_same = same_number(first[0], second[0])
        if is_same:
            finding = equal("the same number")
            return (
                finding
                if _share_words(first[1], second[1])
                else unless_equal(finding, "other things counted")
            )
        if max(len(first[1]), len(second[1])) <= MAX_UNIT_WORDS:
            return different("different numbers")
        return unreadable(is_left=len(second[1]) <= MAX_UNIT_WORDS)
    if words_of.is_prose(right):
        return unreadable(is_left=False)
    return unreadable(is_left=True) if words_of.is_prose(left) else None


_ORDINAL = re.compile(r"(\d{1,9})\s*(?:\^\s*\{?\s*)?(?:st|nd|rd|th)\s*\}?")


def _counted(clean: str) -> tuple[PlainNumber, tuple[str, ...]] | None:
    ordinal = _ORDINAL.fullmatch(clean)
    number = read_number(ordinal[1] if ordinal else clean)
    return (number, ()) if number is not None else number_in_prose(clean)


_FILLERS = frozenset(
    (
        *(
            "in",
            "total",
            "altogether",
            "all",
            "of",
            "the",
            "is",
            "are",
            "was",
            "were",
            "there",
            "left",
            "each",
        ),
        *(
            "about",
            "he",
            "she",
            "it",
            "they",
            "has",
            "have",
            "more",
            "so",
            "answer",
            "value",
            "result",
            "number",
        ),
        *("final", "now", "needs", "need", "takes", "gets"),
    )
)


def _share_words(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Tell whether two counts may be of one thing: a noun in common, or no noun on a side."""
    stems = [{word.removesuffix("s") for word in words if word not in _FILLERS} for words in (left, right)]
    return not stems[0] or not stems[1] or bool(stems[0] & stems[1])


def is_readable_without_algebra(clean: str) -> bool:
    """Tell whether one of these rules, or plain numbers, can read a cleaned answer."""
    return bool(
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
        or _ORDINAL.fullmatch(clean)
    )
