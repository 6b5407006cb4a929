r"""Plain numbers, read exactly: no algebra, no floats.

Conventions: a comma groups thousands only when the whole number is one to three digits followed by
groups of exactly three, else it separates values; the point is decimal; x % is x/100 in every spelling;
5 million is 5000000; a number may be spelt out.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

_MAX_NUMBER_CHARS = 400  # far below the length at which Python refuses to read an integer
_MAX_POWER_DIGITS = 2000
_MAX_PRIME_PERIOD = 60

_PERCENT = r"(?P<percent>\s*(?:%|per\s?cent\b|percentage(?:\spoints?)?\b|pct\b))?"
_SCALES = {
    "hundred": 10**2,
    "thousand": 10**3,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
_SCALE = rf"(?:\s+(?P<scale>{'|'.join(_SCALES)})s?\b)?"
_DECIMAL_BODY = r"(?:(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d{0,2}(?:\ \d{3})+|\d+)(?:\.\d*)?|\.\d+)"
_DECIMAL = re.compile(
    rf"(?P<sign>[-+]?)\s*(?P<body>{_DECIMAL_BODY})"
    r"(?P<power>[eE][-+]?\d{1,3}|\s*(?:\\times|\\cdot)\s*10\s*\^\s*(?:\{\s*[-+]?\d{1,3}\s*\}|-?\d{1,3}))?"
    rf"{_SCALE}{_PERCENT}",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"(?P<sign>[-+]?)\s*(?:(?P<whole>\d{1,3}(?:,\d{3})+|\d+)\s+(?:and\s+)?)?"
    rf"(?P<top>{_DECIMAL_BODY})\s*/\s*(?P<minus>-?)(?P<bottom>{_DECIMAL_BODY}){_PERCENT}"
)
_FRAC = re.compile(
    rf"\\frac\s*\{{\s*(?P<sign>-?)\s*(?P<top>{_DECIMAL_BODY})\s*\}}\s*\{{\s*(?P<bottom>-?\s*{_DECIMAL_BODY})\s*\}}"
)
_PERIODIC = re.compile(
    r"(?P<sign>-?)(?P<whole>\d*)\.(?P<fixed>\d*)\\(?:overline|bar|dot)\s*\{?\s*(?P<period>\d+)\s*\}?"
    + _PERCENT
)
_POWER = re.compile(r"(?P<sign>-?)(?P<base>\d{1,6})\s*\^\s*(?:\{\s*(?P<braced>-?\d{1,4})\s*\}|(?P<bare>\d))")

_PROSE_NUMBER = re.compile(
    rf"(?<![\w.,/^*+-])-?{_DECIMAL_BODY}(?:\s*/\s*\d+)?{_SCALE}{_PERCENT}(?![\w^*/+:])(?!\.\d)"
)
_PROSE_PIECE = re.compile(r"[A-Za-z]{2,}(?:'s)?|[aI]\b|[\s.,;:'\"()!?&]|(?<=[A-Za-z])-(?=[A-Za-z])")
_WORD = re.compile(r"[A-Za-z]{2,}")
_VALUE_CHANGING_WORD = re.compile(
    r"\b(?:pi|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|mod|abs|min|max|gcd|lcm|not?|nor|neither|never"
    r"|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|third|quarter|plus|minus|times|over|divided"
    r"|squared|cubed|root|power|factorial|twice|double|more|less|than|least|most|about|around|between"
    r"|or|base|percent|per ?cent|percentage|pct|isn't|aren't|wasn't)\b",
    re.IGNORECASE,
)
"""Words beside a number that change its value or turn it round."""


@dataclass(frozen=True)
class PlainNumber:
    """A number as written; `value` has the percent sign already applied."""

    value: Fraction
    decimals: int
    """Decimal places written; 0 for whole numbers and fractions."""
    is_percent: bool
    is_decimal: bool = True
    """False for fractions and powers, which are exact however long their decimals would be."""

    @property
    def last_place(self) -> Fraction:
        """The unit of the last decimal place; 0 for a fraction, which rounds nothing."""
        if not self.is_decimal:
            return Fraction(0)
        return Fraction(1, 10**self.decimals * (100 if self.is_percent else 1))


def read_number(clean: str) -> PlainNumber | None:
    """Read cleaned text that is one plain number, exactly; None when it is anything else."""
    if len(clean) > _MAX_NUMBER_CHARS or not clean:
        return None
    decimal = _DECIMAL.fullmatch(clean)
    if decimal:
        return _read_decimal(decimal)
    ratio = (
        _RATIO.fullmatch(_FRAC.sub(_as_ratio, clean).strip()) if "/" in clean or "\\frac" in clean else None
    )
    if ratio:
        return _read_ratio(ratio)
    if "^" in clean and (power := _POWER.fullmatch(clean)):
        return _read_power(power)
    periodic = _PERIODIC.fullmatch(clean) if "\\" in clean else None
    return _read_periodic(periodic) if periodic else None


def _digits(body: str) -> str:
    return body.replace(",", "").replace(" ", "")


def _read_decimal(match: re.Match[str]) -> PlainNumber:
    digits = _digits(match["body"])
    exponent = int(re.sub(r".*\^|[eE{}\s]", "", match["power"])) if match["power"] else 0
    value = Fraction(match["sign"] + digits.rstrip(".")) * Fraction(10) ** exponent
    value *= _SCALES[match["scale"].lower()] if match["scale"] else 1
    decimals = len(digits.partition(".")[2])
    is_percent = bool(match["percent"])
    return PlainNumber(value / 100 if is_percent else value, 0 if exponent else decimals, is_percent)


def _as_ratio(match: re.Match[str]) -> str:
    return f" {match['sign']}{match['top']}/{match['bottom'].replace(' ', '')}"


def _read_ratio(match: re.Match[str]) -> PlainNumber | None:
    top, bottom = Fraction(_digits(match["top"]).rstrip(".")), Fraction(_digits(match["bottom"]).rstrip("."))
    if bottom == 0 or (match["whole"] and match["minus"]):
        return None
    value = int(_digits(match["whole"] or "0")) + top / bottom
    is_negative = (match["sign"] == "-") != (match["minus"] == "-")
    value = -value if is_negative else value
    is_percent = bool(match["percent"])
    return PlainNumber(value / 100 if is_percent else value, 0, is_percent, is_decimal=False)


def _read_power(match: re.Match[str]) -> PlainNumber | None:
    base, exponent = int(match["base"]), int(match["braced"] or match["bare"])
    if len(match["base"]) * abs(exponent) > _MAX_POWER_DIGITS or (base == 0 and exponent <= 0):
        return None
    value = Fraction(base) ** exponent
    return PlainNumber(-value if match["sign"] else value, 0, False, is_decimal=False)


def _read_periodic(match: re.Match[str]) -> PlainNumber | None:
    fixed, period = match["fixed"], match["period"]
    if len(period) > _MAX_PRIME_PERIOD:
        return None
    nines = (10 ** len(period) - 1) * 10 ** len(fixed)
    value = Fraction(int(match["whole"] or "0")) + Fraction(int(fixed or "0"), 10 ** len(fixed))
    value += Fraction(int(period), nines)
    value = -value if match["sign"] else value
    is_percent = bool(match["percent"])
    return PlainNumber(value / 100 if is_percent else value, 0, is_percent, is_decimal=False)


def same_number(left: PlainNumber, right: PlainNumber) -> bool:
    """Tell whether two plain numbers are equal.

    Exactly, as rationals, with two exceptions for what calculators print: six or more decimal places
    that are the other number rounded or cut (0.333333 for 1/3, 2.718282 for 2.7182818), and the noise
    of binary arithmetic (20.000000000000004 for 20). Both sides with the same places are compared exactly.
    """
    gap = abs(left.value - right.value)
    if gap == 0:
        return True
    fine, coarse = sorted((left, right), key=lambda number: number.last_place)
    if coarse.decimals >= 6 and fine.last_place < coarse.last_place:
        is_cut = abs(coarse.value) <= abs(fine.value) and gap < coarse.last_place
        is_rounded = 2 * gap <= coarse.last_place
        return (is_cut or is_rounded) and abs(coarse.value) >= 10**5 * coarse.last_place
    return (
        fine.is_decimal
        and fine.decimals >= 12
        and coarse.decimals <= fine.decimals - 3
        and gap <= 9 * fine.last_place
        and abs(fine.value) >= 10**14 * fine.last_place
    )


def number_in_prose(clean: str) -> tuple[PlainNumber, tuple[str, ...]] | None:
    """Return the one number of text that is words around a number ("28 apples"), and the words.

    None when it is not: no word, no number or several, or something beside the number that changes
    its meaning ("2x", "half of 5", "not 5", "3 + 4").
    """
    found = list(_PROSE_NUMBER.finditer(clean))
    rest = _PROSE_NUMBER.sub(" ", clean)
    words = tuple(word.casefold() for word in _WORD.findall(rest))
    if len(found) != 1 or not words or not _is_prose(rest) or _VALUE_CHANGING_WORD.search(rest):
        return None
    number = read_number(found[0][0].strip())
    return None if number is None else (number, words)


def _is_prose(text: str) -> bool:
    """Tell whether a text is words and punctuation to its end.

    Piece by piece: one pattern needs a possessive group to stay linear, and the engine of Python 3.11.7 was
    seen to refuse "The total is" by such a pattern in one process and to match it in others.
    """
    at = 0
    while at < len(text):
        piece = _PROSE_PIECE.match(text, at)
        if piece is None:
            return False
        at = piece.end()
    return True


_UNITS_OF_TEN = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_NUMBER_WORDS = {
    word: value for value, word in enumerate(f"{_UNITS_OF_TEN} seventeen eighteen nineteen".split())
}
_NUMBER_WORDS |= {
    word: 10 * value
    for value, word in enumerate(
        ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], start=2
    )
}
_PARTS = {"half": 2, "halves": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7}
_PARTS |= {"eighth": 8, "ninth": 9, "tenth": 10}
_SPELT = re.compile(r"[A-Za-z]+(?:[ -]+[A-Za-z]+)*")


def with_digits(clean: str) -> str:
    """Write a number that starts the text in words ("twenty-five apples") in digits; else return the text."""
    match = _SPELT.match(clean)
    if match is None or len(clean) > _MAX_NUMBER_CHARS:
        return clean
    words = re.split(r"[ -]+", match[0])
    lowered = [word.casefold() for word in words]
    n_used, value = _spelt_value(lowered)
    if value is None:
        return clean
    rest = match[0]
    for word in words[:n_used]:
        rest = rest.removeprefix(word).lstrip(" -")
    return f"{value} {rest}{clean[match.end() :]}".strip()


def _spelt_value(words: list[str]) -> tuple[int, Fraction | None]:
    """Return how many of the words are the number, and its value."""
    sign = -1 if words[0] in ("negative", "minus") else 1
    at = start = 1 if sign < 0 else 0
    total, group, is_open = 0, 0, False
    while at < len(words):
        word = words[at]
        if word in _NUMBER_WORDS:
            number = _NUMBER_WORDS[word]
            if is_open and not (number < 10 and group % 100 >= 20 and group % 10 == 0) and group % 100:
                break
            group, is_open = group + number, True
        elif word in ("hundred", "dozen") and (is_open or words[:at] in (["a"], [])):
            group = max(group, 1) * _SCALES[word]
            is_open = True
        elif word in _SCALES and (is_open or words[:at] == ["a"]):
            total, group, is_open = total + max(group, 1) * _SCALES[word], 0, True
        elif (
            word == "and"
            and is_open
            and at + 1 < len(words)
            and words[at + 1] in _NUMBER_WORDS
            and total + group >= 100
        ) or (word == "a" and at == start and at + 1 < len(words) and words[at + 1] in (*_SCALES, *_PARTS)):
            pass
        else:
            break
        at += 1
    if not is_open:
        is_part = words[at - 1 : at] == ["a"] or at == start
        if (
            is_part
            and words[at : at + 1]
            and words[at] in ("half", "quarter", "third")
            and len(words) == at + 1
        ):
            return at + 1, Fraction(sign, _PARTS[words[at]])
        return 0, None
    value = Fraction(total + group)
    part = words[at].removesuffix("s") if at < len(words) else ""
    part = "half" if part in ("halve", "half") else part
    if part in _PARTS and at == len(words) - 1:
        return at + 1, sign * value / _PARTS[part]
    return at, sign * value
