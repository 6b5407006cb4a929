"""Answers in words: what has a fixed meaning, choices, times of day, dates, ratios, numbers of a base."""

import re
from dataclasses import dataclass
from fractions import Fraction

CHOICES = frozenset("ABCDEFGHIJ")
"""Capital letters that are read as the options of a multiple-choice problem when they stand alone."""

_WORDS = re.compile(r"[A-Za-z]+(?:[ '\-][A-Za-z]+)*")
_ARTICLE = re.compile(r"^(?:the|an?)\s+(?=[a-z]{2})")
_MEANINGS = {
    "no solution": r"(?:there (?:is|are) )?no (?:real |integer |such |valid |possible |positive )*"
    r"(?:solutions?|values?|roots?|numbers?)(?: exists?)?"
    r"|(?:the )?empty set|none|null set|\\emptyset|\\\{\s*\\\}|\{\}"
    r"|impossible|not possible",
    "all reals": r"(?:all|any|every)(?: the)?(?: real)? (?:numbers?|values?|reals?|x)|all reals?"
    r"|\\mathbb\{R\}"
    r"|(?:the )?(?:set of )?(?:all )?real numbers|\(-\s*\\infty\s*,\s*\+?\\infty\s*\)",
    "infinitely many": r"infinite(?:ly)?(?: many)?(?: (?:solutions?|values?|numbers?))?|infinitely",
    "undefined": r"undefined|not defined|does(?: not|n't) exist|d\.?n\.?e\.?|indeterminate",
    "yes": r"yes",
    "no": r"no",
    "true": r"true",
    "false": r"false",
}
_MEANING = re.compile(
    "|".join(f"(?P<m{i}>{pattern})" for i, pattern in enumerate(_MEANINGS.values())), re.IGNORECASE
)
_NAMES = tuple(_MEANINGS)
_NEAR = {frozenset(("yes", "true")), frozenset(("no", "false")), frozenset(("no", "no solution"))}
"""Meanings of which one may stand for the other; which was asked for, the answer does not tell."""


def meaning(clean: str) -> str:
    """Return the fixed meaning of an answer in words, "" when it has none."""
    if len(clean) > 60 or not clean or clean[0].isdigit():
        return ""
    match = _MEANING.fullmatch(clean)
    return _NAMES[int(match.lastgroup[1:])] if match and match.lastgroup else ""


def may_mean_the_same(left: str, right: str) -> bool:
    """Tell whether two different meanings may be one ("yes" and "true")."""
    return frozenset((left, right)) in _NEAR


def read_words(clean: str) -> str | None:
    """Return case-folded words without a leading article; None when the text holds anything but words."""
    if not _WORDS.fullmatch(clean):
        return None
    return _ARTICLE.sub("", clean.casefold())


_MATH_WORD = re.compile(
    r"(?:and|or|pi|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|mod|abs|min|max|gcd|lcm|degrees|dollars|euros|gbp)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[A-Za-z]{2,}")


_COMMAND = re.compile(r"\\[A-Za-z]+")


def is_prose(clean: str) -> bool:
    """Tell whether text is a sentence or a part of one: two words or more, beside LaTeX three long ones."""
    has_commands = "\\" in clean
    found = _WORD.findall(_COMMAND.sub(" ", clean) if has_commands else clean)
    words = [word for word in found if len(word) > 2 + has_commands and not _MATH_WORD.fullmatch(word)]
    return len(words) >= 2 + has_commands


_CHOICE = re.compile(
    r"(?:[Cc]hoice[_ ]|[Oo]ption[_ ])?\(?\s*(?P<letter>[A-Za-z])\s*(?:\)?[.:]?$|\)?[.:]\s|\)\s)(?P<rest>.*)",
    re.DOTALL,
)
_ANOTHER_CHOICE = re.compile(r"\b[A-J]\)")


@dataclass(frozen=True)
class Choice:
    """An option's letter, and what stands behind it ("4 - i" of "(B) 4 - i")."""

    letter: str
    content: str
    is_sure: bool
    """False for a lower-case or late letter without brackets, which may be a variable."""


def read_choice(clean: str) -> Choice | None:
    """Read "B", "(B)", "b.", "Option B", "(B) 12" and "B: 4 - i"; None when it is no choice, or several."""
    match = _CHOICE.fullmatch(clean)
    if match is None or _ANOTHER_CHOICE.search(match["rest"]):
        return None
    letter = match["letter"]
    is_sure = letter in CHOICES and (
        not match["rest"] or bool(re.search(r"[).:]", clean[: match.end("letter") + 2]))
    )
    return Choice(letter.upper(), match["rest"].strip(), is_sure)


_TIME = re.compile(
    r"(?P<hour>\d{1,2})(?:\s*:\s*(?P<minute>[0-5]\d))?\s*(?P<half>[ap]\.?\s?m\b\.?|noon\b|midnight\b|o'?clock\b)?",
    re.IGNORECASE,
)


def read_time(clean: str) -> tuple[int, bool] | None:
    """Return minutes since midnight, and whether the half of the day was said; None for anything else."""
    lowered = clean.lower()
    if lowered in ("noon", "midnight"):
        return (720 if lowered == "noon" else 0), True
    match = _TIME.fullmatch(clean)
    if match is None or not (match["minute"] or match["half"]):
        return None
    hour, minute, half = int(match["hour"]), int(match["minute"] or 0), (match["half"] or "").lower()
    if hour > 23 or (half[:1] in ("a", "p") and not 1 <= hour <= 12):
        return None
    if half.startswith("o"):
        half = ""
    if half:
        hour = hour % 12 + (12 if half[0] == "p" or half == "noon" else 0)
    return 60 * hour + minute, bool(half) or hour > 12 or hour == 0


def same_time(left: tuple[int, bool], right: tuple[int, bool]) -> bool:
    """Tell whether two times agree; where one does not say the half of the day, on the dial."""
    if left[1] and right[1]:
        return left[0] == right[0]
    return left[0] % 720 == right[0] % 720


_RATIO = re.compile(r"\d{1,9}(?:\s*:\s*\d{1,9})+")


def read_ratio(clean: str) -> tuple[Fraction, ...] | None:
    """Return the parts of "4:6" or "4 to 6", each divided by the first; None when it is no ratio."""
    clean = re.sub(r"(?<=\d)\s+to\s+(?=\d)", ":", clean)
    if not _RATIO.fullmatch(clean):
        return None
    parts = [int(part) for part in clean.split(":")]
    return tuple(Fraction(part, parts[0]) for part in parts[1:]) if all(parts) else None


_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_MONTH = re.compile(
    rf"\b(?P<month>{'|'.join(month[:3] + '(?:' + month[3:] + ')?' for month in _MONTHS)})\b\.?", re.I
)


def read_date(clean: str) -> tuple[int, int | None, int | None] | None:
    """Return month, day and year of "July 4th, 2020"; None for anything but a date with its month's name."""
    found = _MONTH.search(clean)
    if found is None or len(clean) > 60:
        return None
    rest = clean[: found.start()] + " " + clean[found.end() :]
    if re.sub(
        r"\b(?:\d+(?:st|nd|rd|th)?|of|the|on|in|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b|[\s,.]",
        "",
        rest,
    ):
        return None
    numbers = [int(number) for number in re.findall(r"\d{1,6}", rest)]
    days, years = [n for n in numbers if n <= 31], [n for n in numbers if n > 31]
    if len(days) > 1 or len(years) > 1 or (not numbers and found["month"].lower() == "may"):
        return None
    month = next(i for i, name in enumerate(_MONTHS, start=1) if name.startswith(found["month"].lower()[:3]))
    return month, days[0] if days else None, years[0] if years else None


def same_date(left: tuple[int, int | None, int | None], right: tuple[int, int | None, int | None]) -> bool:
    """Tell whether two dates agree in all that both say."""
    return all(a == b for a, b in zip(left, right, strict=True) if a is not None and b is not None)


_BASES = {"two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10}
_IN_BASE = re.compile(
    r"(?P<digits>[0-9A-Fa-f]{1,200})\s*(?:_\s*\{?\s*(?P<low>\d{1,2}|[a-z]+)\s*\}?|(?:,?\s*in)?\s*\(?base[\s-]*(?P<word>\d{1,2}|[a-z]+)\)?)"
)


def read_in_base(clean: str) -> tuple[str, int] | None:
    """Return the digits and the base of "1011_2" and "1011 base 2"; None for anything else."""
    match = _IN_BASE.fullmatch(clean)
    if match is None or not any(sign.isdigit() for sign in match["digits"]):
        return None
    name = match["low"] or match["word"]
    base = int(name) if name.isdigit() else {**_BASES, "twelve": 12, "sixteen": 16}.get(name, 0)
    digits = match["digits"].upper().lstrip("0") or "0"
    if not 2 <= base <= 36 or any(int(digit, 36) >= base for digit in digits):
        return None
    return digits, base
