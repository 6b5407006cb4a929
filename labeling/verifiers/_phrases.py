"""What the sentence forms are made of: numbers, lists, verbs, openings and endings, as patterns."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

_OPENS = r"(?:\\\(\s?|\$)?"
_CLOSES = r"(?:\s?\\\)|\$(?!\d))?"
DIGITS = r"(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,12})?(?:/\d{1,9})?"
NUMBER = rf"{_OPENS}(-?{DIGITS}){_CLOSES}"
WHOLE = rf"{_OPENS}(\d{{1,3}}(?:,\d{{3}})+|\d{{1,15}}){_CLOSES}"
ITEM = rf"{_OPENS}-?{DIGITS}{_CLOSES}"
LIST = rf"({ITEM}(?:\s?,\s?{ITEM}){{0,30}}\s?,?\s(?:and|&)\s{ITEM})"
IS = r"\s(?:is|equals|is equal to|was|gives|makes|comes to|=)\s(?:also\s|just\s|simply\s|exactly\s)?"
CLAUSE = (
    r"(?:^|(?<=[.;:!?,(])\s{1,3}|(?<=\n)|(?<=\()"
    r"|\b(?:[Ss]o|[Ss]ince|[Bb]ecause|that|then|[Tt]hus|[Hh]ence|[Tt]herefore|but|as)\s)\s{0,8}"
)
"""A phrase opens a clause: words before it could be what the number belongs to ("twice the sum of ...")."""
STOPS = (
    r"(?![.,:]?\d|\s?\\?[-+*/×÷^=<>%!–−]|\s?\\(?:times|cdot|div|frac|sqrt|pi|le|ge|ne|pmod)|\s?[\[({|√π]"
    r"|[A-Za-z_'’]|\s?(?:times|plus|minus|more|less|fewer|greater|smaller|larger|percent|of|over|divided|"
    r"multiplied|hundred|thousand|million|billion|dozen|or|to|than|squared|cubed|mod|modulo|point|"
    r"remainder|with|degrees|[a-zA-Z])\b|\s?and\s(?:a\b|one|two|three|four|half|[-\d$\\]))"
)
"""The number ends its phrase: "is 12 more than" claims something else than "is 12"."""


@dataclass(frozen=True)
class Spoken:
    """A claim in words. Offsets are code points of the step's text."""

    start: int
    end: int
    left: str = ""
    """Formula of what is spoken of; "" for a question of yes or no."""
    right: str = ""
    """The number that is claimed, as written."""
    truth: bool | None = None
    """Answer to the question, None where a formula is to be computed."""
    reason: str = ""
    """What is so instead, in words."""


Reader = Callable[[re.Match[str]], Spoken | None]
Form = tuple[tuple[str, ...], re.Pattern[str], Reader]
"""Words of which one must be there, the sentence, and its reader; no claim where the reader gives None."""


def formula(match: re.Match[str], left: str, right: str) -> Spoken | None:
    """Return the claim that a formula has a value; None where no formula could be made."""
    return Spoken(match.start(1), match.end(), left, right) if left else None


def answer(match: re.Match[str], is_so: bool, reason: str) -> Spoken:
    """Return a statement that is so or not."""
    return Spoken(match.start(1), match.end(), truth=is_so, reason=reason)


def compiled(pattern: str) -> re.Pattern[str]:
    """Return a pattern whose ^ is the start of any line."""
    return re.compile(pattern, re.MULTILINE)


def value_of(text: str) -> Fraction:
    """Return the number that `NUMBER` found; a fraction over zero is 0."""
    over, _, under = text.replace(",", "").partition("/")
    below = Fraction(under or 1)
    return Fraction(over) / below if below else Fraction(0)
