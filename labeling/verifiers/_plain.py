r"""Reading answers that need no algebra: plain numbers, words, choices, and how a list is laid out.

Conventions: a comma groups thousands only when the whole number is one to three digits followed by
groups of exactly three, else it separates values; the point is decimal; x % is x/100 in every spelling;
5 million is 5000000; full-width signs are read as ASCII.
"""

import itertools
import re
import unicodedata
from dataclasses import dataclass
from fractions import Fraction

_MAX_NUMBER_CHARS = 400  # far below the length at which Python refuses to read an integer

_PERCENT = r"(?P<percent>\s*(?:%|per\s?cent\b|percentage\b|pct\b))?"
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
    rf"(?P<sign>[-+]?)\s*(?P<body>{_DECIMAL_BODY})(?P<power>[eE][-+]?\d{{1,3}})?{_SCALE}{_PERCENT}",
    re.IGNORECASE,
)
_RATIO = re.compile(rf"(?P<sign>[-+]?)\s*(?:(?P<whole>\d+)\s+)?(?P<top>\d+)\s*/\s*(?P<bottom>\d+){_PERCENT}")
_FRAC = re.compile(
    r"\\frac\s*(?:\{\s*(?P<sign>-?)\s*(?P<top>\d+)\s*\}|(?P<top1>\d))\s*(?:\{\s*(?P<bottom>\d+)\s*\}|(?P<bottom1>\d))"
)
_TEXT_COMMAND = re.compile(r"\\(?:text|mathrm|textbf|mathbf|textit|textrm|mbox|operatorname)\s*\{([^{}]*)\}")
_GROUP_SPACE = re.compile(r"(?<=\d)(?:,?\\[,;! ]|\{,\}|~|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")
_POWER = r"(?:\s*\^\s*\{?\s*-?\d\s*\}?|[²³])?\s*$"
_TRAILING_TEXT = re.compile(
    r"\\(?:text|mathrm|textrm|mbox)\s*\{\s*(?P<unit>[A-Za-z][A-Za-z. /]*?)\s*\}" + _POWER
)
_TRAILING_UNIT = re.compile(
    r"(?<![A-Za-z\\/])(?:(?:square|cubic|sq\.?)\s+)?(?P<unit>mm|cm|dm|km|kg|ft|in(?:ch(?:es)?)?|yd|yards?|feet"
    r"|foot|(?:milli|centi|kilo)?met(?:er|re)s?|miles?|units?|dollars?|degrees?|radians?|seconds?|minutes?|hours?"
    r"|days?|k?N|[kMG]?Pa|[kM]W|kJ|k?Hz|k?N/m|m/s|km/h|kg/m|(?<=\d )[msghLJWVAK])" + _POWER
)
_CURRENCY = re.compile(r"\\\$|[$€£]")
_VULGAR_FRACTION = re.compile(r"[¼-¾⅐-⅞]")
# Full-width signs (U+FF01 to U+FF5E) lie at a fixed distance from the ASCII ones.
_NARROW = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_NARROW |= {ord("\u3000"): ord(" "), ord("、"): ord(","), ord("−"): ord("-")}
_SUPERSCRIPT = re.compile(r"[⁻⁰¹²³⁴-⁹]+")
_NAMED_VALUE = re.compile(r"(?P<name>[A-Za-z](?:_\{?\w+\}?)?)\s*=(?!=)\s*(?P<value>[^=]+)")
_CHOICE = re.compile(r"(?:[Cc]hoice[_ ]|[Oo]ption[_ ])?\(?(?P<letter>[A-Za-z])(?:\)?[.:]?$|\)?[.:]\s|\)\s)")
_ANOTHER_CHOICE = re.compile(r"\b[A-J]\)")
_WORDS = re.compile(r"[A-Za-z]+(?:[ '\-][A-Za-z]+)*")

_PROSE_NUMBER = re.compile(
    rf"(?<![\w.,/^*+-])-?{_DECIMAL_BODY}(?:\s*/\s*\d+)?{_SCALE}{_PERCENT}(?![\w^*/+])(?!\.\d)"
)
_PROSE_REST = re.compile(r"(?:[A-Za-z]{2,}+(?:'s)?|[aI]\b|[\s.,;:'\"()!?&]|(?<=[A-Za-z])-(?=[A-Za-z]))*+")
_WORD = re.compile(r"[A-Za-z]{2,}")
_MATH_WORD = re.compile(
    r"(?:and|or|pi|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|mod|abs|min|max|gcd|lcm)", re.IGNORECASE
)
_VALUE_CHANGING_WORD = re.compile(
    r"\b(?:pi|sin|cos|tan|cot|sec|csc|log|ln|exp|sqrt|mod|abs|min|max|gcd|lcm|not?|nor|neither|never"
    r"|hundreds?|thousands?|millions?|billions?|trillions?|dozens?|half|third|quarter|plus|minus|times|over|divided"
    r"|squared|cubed|root|power|factorial|twice|double|more|less|than|least|most|about|around|between"
    r"|percent|per ?cent|percentage|pct)\b",
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


def without_delimiters(text: str) -> str:
    r"""Strip blanks, bold, currency and the signs of math mode around an answer, and its full stop."""
    text = _VULGAR_FRACTION.sub(_as_slash, text.translate(_NARROW))
    text = _CURRENCY.sub("", text).strip().strip("*").strip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]")):
        if text.startswith(opening) and text.endswith(closing):
            text = text[2:-2]
    return text.rstrip(".,;。 \n")


def _as_slash(match: re.Match[str]) -> str:
    return " " + unicodedata.normalize("NFKC", match[0]).replace("⁄", "/")


def _as_power(match: re.Match[str]) -> str:
    return "^{" + unicodedata.normalize("NFKC", match[0]).replace("−", "-") + "}"


def cleaned(text: str) -> str:
    r"""Strip what carries no value: math delimiters, currency, \left and \right, \text, spacing."""
    clean = without_delimiters(text).replace("\\%", "%").replace("°", "^\\circ")
    clean = re.sub(r"\\(?:left|right)(?![A-Za-z])", "", clean)
    clean = _TEXT_COMMAND.sub(r" \1 ", _GROUP_SPACE.sub(",", clean))
    clean = re.sub(r"(?<!\\)\\[,;:! ]|~|\\q?quad\b", " ", clean)
    clean = re.sub(r"\\[dtc]frac", r"\\frac", clean)
    clean = re.sub(r"\^\s*\{?\s*\\circ\s*\}?", "", clean)
    return " ".join(_SUPERSCRIPT.sub(_as_power, clean).split()).rstrip(".,; ")


def split_unit(text: str) -> tuple[str, str]:
    r"""Split a quantity as written, "36\pi\text{ cm}^2" or "5 km", into value and unit.

    The unit is "" when there is none, and comes without its power and its plural. Words that change
    a value ("million", "percent") are no unit.
    """
    for pattern in (_TRAILING_TEXT, _TRAILING_UNIT):
        match = pattern.search(text)
        if match is None or _VALUE_CHANGING_WORD.search(match[0]):
            continue
        head = text[: match.start()].rstrip()
        if re.search(r"\d|\\pi|\\infty", head):
            unit = match["unit"].strip(" .")
            return head, unit.removesuffix("s") if len(unit) > 2 else unit
    return text, ""


def read_number(clean: str) -> PlainNumber | None:
    """Read cleaned text that is one plain number, exactly; None when it is anything else."""
    if len(clean) > _MAX_NUMBER_CHARS:
        return None
    ratio = _RATIO.fullmatch(_FRAC.sub(_as_ratio, clean).strip())
    if ratio:
        return _read_ratio(ratio)
    decimal = _DECIMAL.fullmatch(clean)
    if decimal is None:
        return None
    digits = decimal["body"].replace(",", "").replace(" ", "")
    value = Fraction(decimal["sign"] + digits.rstrip(".") + (decimal["power"] or ""))
    value *= _SCALES[decimal["scale"].lower()] if decimal["scale"] else 1
    decimals = len(digits.partition(".")[2])
    return PlainNumber(value / 100 if decimal["percent"] else value, decimals, bool(decimal["percent"]))


def _as_ratio(match: re.Match[str]) -> str:
    sign = match["sign"] or ""
    return f" {sign}{match['top'] or match['top1']}/{match['bottom'] or match['bottom1']}"


def _read_ratio(match: re.Match[str]) -> PlainNumber | None:
    if int(match["bottom"]) == 0:
        return None
    value = int(match["whole"] or 0) + Fraction(int(match["top"]), int(match["bottom"]))
    value = -value if match["sign"] == "-" else value
    return PlainNumber(value / 100 if match["percent"] else value, 0, bool(match["percent"]))


def same_number(left: PlainNumber, right: PlainNumber) -> bool:
    """Tell whether two plain numbers are equal.

    Exactly, as rationals; where one is written with six or more decimal places (the noise of a
    calculator, 0.333333 for 1/3) a difference of up to half a unit of the sixth place, and of five
    millionths of the value, is rounding.
    """
    gap = abs(left.value - right.value)
    if gap == 0:
        return True
    if max(left.decimals, right.decimals) < 6:
        return False
    largest = max(abs(left.value), abs(right.value))
    return gap <= Fraction(5, 10**7) and gap <= largest * Fraction(5, 10**6)


def number_in_prose(clean: str) -> tuple[PlainNumber, int] | None:
    """Return the one number of text that is words around a number ("28 apples"), and how many words.

    None when it is not: no word, no number or several, or something beside the number that changes
    its meaning ("2x", "half of 5", "not 5", "3 + 4").
    """
    found = list(_PROSE_NUMBER.finditer(clean))
    rest = _PROSE_NUMBER.sub(" ", clean)
    n_words = len(_WORD.findall(rest))
    if len(found) != 1 or not n_words or not _PROSE_REST.fullmatch(rest) or _VALUE_CHANGING_WORD.search(rest):
        return None
    number = read_number(found[0][0].strip())
    return None if number is None else (number, n_words)


def is_prose(clean: str) -> bool:
    """Tell whether text is a sentence or a part of one: two words or more, and no LaTeX."""
    words = [word for word in _WORD.findall(clean) if len(word) > 2 and not _MATH_WORD.fullmatch(word)]
    return "\\" not in clean and len(words) >= 2


def read_choice(clean: str, *, is_whole: bool) -> str | None:
    """Return the upper-case letter of "B", "(B)", "b." and, unless it must be whole, "B: 4 - i"."""
    match = _CHOICE.match(clean)
    if match is None or (is_whole and match.end() < len(clean)) or _ANOTHER_CHOICE.search(clean, match.end()):
        return None
    return match["letter"].upper()


def read_words(clean: str) -> str | None:
    """Return case-folded words; None when the text is anything but letters, blanks and hyphens."""
    return clean.casefold() if _WORDS.fullmatch(clean) else None


def split_name(clean: str) -> tuple[str, str]:
    r"""Split "x = 4" into name and value; the name is "" when there is none. "x \in S" loses its head."""
    clean = re.sub(r"^[A-Za-z]\s*\\in(?![A-Za-z])\s*", "", clean)
    match = _NAMED_VALUE.fullmatch(clean)
    return (match["name"], match["value"].strip()) if match else ("", clean)


@dataclass(frozen=True)
class ValueList:
    """A list of values. `opening` and `closing` are "" for one without brackets, "{" and "}" for a set."""

    opening: str
    items: tuple[str, ...]
    closing: str

    @property
    def is_ordered(self) -> bool:
        """Tuples and intervals are ordered; bare lists and sets are not."""
        return self.opening in ("(", "[")

    def same_layout(self, other: "ValueList") -> bool:
        """A set in braces and a bare list are laid out alike; round and square brackets differ."""
        if not self.is_ordered and not other.is_ordered:
            return True
        return (self.opening, self.closing) == (other.opening, other.closing)


def split_list(clean: str) -> ValueList | None:
    """Split cleaned text at its top-level commas; None when it is a single value."""
    text = clean.replace("\\{", "{").replace("\\}", "}") if clean.startswith("\\{") else clean
    opening, closing, body = "", "", text
    if text[:1] in ("(", "[", "{") and _closes_at(text) == len(text) - 1:
        opening, body, closing = text[0], text[1:-1], text[-1]
    if not opening:
        body = re.sub(r",?\s+(?:and|or)\s+", ", ", body)
    items = _top_level_items(body, commas_group=not opening)
    if len(items) < 2:
        return None
    return ValueList(opening, tuple(items), closing)


def _closes_at(text: str) -> int:
    """Return the offset at which the bracket that opens `text` is closed; any closing bracket will do."""
    depth = 0
    for offset, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return offset
    return -1


def _top_level_items(body: str, *, commas_group: bool) -> list[str]:
    """Split at commas outside all brackets. "1,000, 2,000" holds two values where commas may group."""
    cuts = [-1]
    depth = 0
    for offset, sign in enumerate(body):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0 and sign in ",;":
            cuts.append(offset)
    cuts.append(len(body))
    items = [body[start + 1 : end] for start, end in itertools.pairwise(cuts)]
    if commas_group:
        items = _regrouped(items)
    return [item.strip() for item in items]


def _regrouped(items: list[str]) -> list[str]:
    """Join pieces that belong to one grouped number: a comma without a blank before three digits."""
    grouped: list[str] = []
    run: list[str] = []
    for item in items:
        if run and item[:1].isspace():
            grouped += _joined(run)
            run = []
        run.append(item)
    return grouped + _joined(run)


def _joined(run: list[str]) -> list[str]:
    whole = ",".join(run)
    return [whole] if len(run) > 1 and read_number(whole.strip()) is not None else run
