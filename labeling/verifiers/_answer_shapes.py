r"""How an answer is laid out: lists, sets, tuples, matrices, named values, intervals and inequalities.

Works on cleaned text and compares nothing: it takes an answer apart, and the values in it stay text.
"""

import itertools
import re
from dataclasses import dataclass

from labeling.verifiers._answer_text import closes_at, closing_bracket, split_top
from labeling.verifiers._plain import read_number

MAX_ITEMS = 60
"""Lists and matrices beyond this many values are not compared item by item."""


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


_SEPARATOR = re.compile(r"[,;]")
_AND_OR = re.compile(r",?\s+(?:and|or)\s+|\s*\\(?:lor|vee)(?![A-Za-z])\s*")


def split_list(clean: str) -> ValueList | None:
    """Split cleaned text at its top-level commas; None when it is a single value."""
    text = clean.replace("\\{", "{").replace("\\}", "}") if clean.startswith("\\{") else clean
    opening, closing, body = "", "", text
    if text[:1] in ("(", "[", "{") and closes_at(text) == len(text) - 1:
        opening, body, closing = text[0], text[1:-1], text[-1]
    else:
        body = _AND_OR.sub(", ", body)
    items = split_top(body, _SEPARATOR)
    if not opening:
        items = _regrouped(items)
    items = [item.strip() for item in items]
    if len(items) < 2 and not (opening == "{" and text != clean and items[0]):
        return None
    return ValueList(opening, tuple(items), closing)


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


_GROUPED = re.compile(r"[^,]*(?<![\d.])[1-9]\d{0,2}(?:,\d{3})*,\d{3}(?!\d)[^,]*")


def _joined(run: list[str]) -> list[str]:
    whole = ",".join(run)
    return [whole] if len(run) > 1 and _GROUPED.fullmatch(whole) else run


def without_plus_minus(clean: str) -> str:
    r"""Write `1 \pm \sqrt{2}` as the list of both values, a tuple with one sign as two tuples.

    Signs in several places of one item are left alone: whether they go together nobody says.
    """
    if "\\pm" not in clean and "\\mp" not in clean:
        return clean
    values = split_list(clean)
    items = [clean] if values is None or values.is_ordered else list(values.items)
    written = [each for item in items for each in _both_signs(item)]
    return ", ".join(written) if len(written) > len(items) else clean


def _both_signs(item: str) -> list[str]:
    if len(re.findall(r"\\(?:pm|mp)(?![A-Za-z])", item)) != 1:
        return [item]
    upper = re.sub(r"\\pm(?![A-Za-z])", "+", re.sub(r"\\mp(?![A-Za-z])", "-", item))
    lower = re.sub(r"\\pm(?![A-Za-z])", "-", re.sub(r"\\mp(?![A-Za-z])", "+", item))
    return [re.sub(r"(^|[=(,])\s*\+\s*", r"\1", each).strip() for each in (upper, lower)]


_EQUALS = re.compile(r"(?<![<>!:=\\])=(?!=)")
_SUBSCRIPT = r"(?:_\s*(?:\{[^{}]*\}|\w))?'{0,3}"
_GREEK = (
    r"\\(?:alpha|beta|gamma|delta|theta|lambda|mu|phi|varphi|omega|rho|sigma|tau|epsilon|ell|Delta|Omega)"
)
_VARIABLE = re.compile(rf"(?:[A-Za-z]|{_GREEK}){_SUBSCRIPT}")
_LABEL = re.compile(
    rf"""
    (?:
      (?:[A-Za-z]|{_GREEK}){_SUBSCRIPT} (?:\s*\^\s*\{{-1\}})? \s* \([^()=]*\)     # f(x), P(A), f^{{-1}}(2)
    | (?:m\s*)? \\(?:angle|measuredangle|triangle) \s* [A-Za-z0-9_\s]+            # \angle ABC
    | \\(?:sin|cos|tan|cot|sec|csc|log|ln|det|gcd|dim|arg) \s* [A-Za-z\\(){{}}\s]+     # \tan\theta
    | \\(?:overline|vec|hat|overrightarrow|widehat|mathbf) \s* \{{[^{{}}]*\}}
    | \|[A-Za-z{{}}\\ ]+\|
    | \[[A-Z]+\]                                                                  # [ABC], an area
    | \\frac\{{d[a-z]?\}}\{{d[a-z]\}}
    | [A-Z]{{2,5}}                                                                # AB
    | [A-Za-z'][A-Za-z'\s-]*[A-Za-z']                                             # words
    )
    """,
    re.VERBOSE,
)
_TUPLE_LABEL = re.compile(r"\(\s*[A-Za-z]\w{0,3}(?:\s*,\s*[A-Za-z]\w{0,3})+\s*\)")
_NUMERIC = re.compile(r"[-+\d.,\s*/^(){}]|\\(?:frac|cdot|times|sqrt|pi|div)(?![A-Za-z])|%")


@dataclass(frozen=True)
class Named:
    """`x = 4` taken apart. `name` is "" when there is none, or when it only describes the value."""

    name: str
    value: str
    is_equation: bool = False
    """True for an equation that names nothing: `x^2 + y^2 = 4`; `value` is then its last side."""


def split_name(clean: str) -> Named:
    r"""Take "x = 4", "AB = 2 + 3 = 5", "2 + 3 = 5" and "x \in S" apart; a bare value has no name."""
    clean = re.sub(r"^[A-Za-z]\s*\\in(?![A-Za-z])\s*", "", clean)
    if "=" not in clean:
        return Named("", clean)
    sides = [side.strip() for side in split_top(clean, _EQUALS)]
    if len(sides) < 2 or not all(sides):
        return Named("", clean)
    first, last = sides[0], sides[-1]
    if len(sides) == 2 and _VARIABLE.fullmatch(last) and read_number(first):
        first, last = last, first  # "4 = x"
    if _VARIABLE.fullmatch(first):
        return Named(first.replace("{", "").replace("}", ""), last)
    if _LABEL.fullmatch(first) or _TUPLE_LABEL.fullmatch(first) or not _NUMERIC.sub("", first):
        return Named("", last)
    return Named("", last, is_equation=True)


_MATRIX = re.compile(
    r"(?:[\[(]\s*)?\\begin\{(?P<kind>[pbB]?matrix|smallmatrix|array)\}(?:\s*\{[lcr|\s]*\})?(?P<body>.*)\\end\{(?P=kind)\}(?:\s*[\])])?",
    re.DOTALL,
)


def read_matrix(clean: str) -> tuple[tuple[str, ...], ...] | None:
    r"""Read `\begin{pmatrix} ... \end{pmatrix}` or "[[1, 2], [3, 4]]" as rows of cells."""
    match = _MATRIX.fullmatch(clean)
    if match:
        if "\\begin" in match["body"]:
            return None
        rows = [row.strip() for row in re.split(r"\\\\", match["body"])]
        if rows and not rows[-1]:
            rows.pop()
        cells = [tuple(cell.strip() for cell in row.split("&")) for row in rows]
    else:
        outer = split_list(clean) if clean.startswith("[[") else None
        inner = [split_list(item) for item in outer.items] if outer else []
        if not inner or any(row is None or row.opening != "[" for row in inner):
            return None
        cells = [row.items for row in inner if row is not None]
    if not cells or len({len(row) for row in cells}) != 1 or not all(all(row) for row in cells):
        return None
    return tuple(cells)


@dataclass(frozen=True)
class Interval:
    r"""One piece of a region of the real line; the ends are cleaned text, "" for infinity."""

    low: str
    is_low_open: bool
    high: str
    is_high_open: bool


Region = tuple[Interval, ...]

REALS: Region = (Interval("", True, "", True),)
_CUP = re.compile(r"\s*\\cup(?![A-Za-z])\s*")
_OR = re.compile(r",?\s+or\s+|\s*\\(?:lor|vee)(?![A-Za-z])\s*")
_RELATION = re.compile(r"\s*(\\le(?![A-Za-z])|\\ge(?![A-Za-z])|\\ne(?![A-Za-z])|<|>)\s*")
_BUILDER = re.compile(
    r"\\?\{\s*[A-Za-z]\s*(?:\\in\s*\\mathbb\{R\}\s*)?(?:\\mid|\||:)(?P<body>.*?)\\?\}?", re.DOTALL
)
_WITHOUT = re.compile(
    r"(?:\\mathbb\{R\}|\(-\s*\\infty\s*,\s*\+?\\infty\s*\))\s*(?:\\setminus|\\backslash|-|\\)\s*\\?\{(?P<points>.*?)\\?\}"
)
_INFINITY = re.compile(r"[-+]?\s*\\infty")
_REALS = re.compile(r"\\mathbb\s*\{?R\}?|\\mathbf\s*\{?R\}?|-\s*\\infty\s*<\s*[A-Za-z]\s*<\s*\+?\\infty")


def read_region(clean: str, *, may_be_tuple: bool = False) -> tuple[str, Region] | None:
    r"""Read intervals and inequalities in one variable: the variable's name, "" when none, and the pieces.

    Args:
        clean: Cleaned text: `[2,5)`, `(1,2) \cup (3,\infty)`, `-1 < x \le 3`, `x \ne 2`, `\{x \mid x > 2\}`.
        may_be_tuple: Also take "(2, 5)" and "[2, 5]" for intervals, which may be points and lists.
    """
    if len(clean) < 3 or not (
        "\\" in clean or "<" in clean or ">" in clean or may_be_tuple or clean[0] in "(["
    ):
        return None
    membership = re.match(r"(?P<name>[A-Za-z])\s*\\in(?![A-Za-z])\s*", clean)
    if membership:
        return _named(membership["name"], read_region(clean[membership.end() :], may_be_tuple=True))
    builder = _BUILDER.fullmatch(clean)
    if builder:
        return read_region(builder["body"].strip())
    if _REALS.fullmatch(clean):
        return "", REALS
    without = _WITHOUT.fullmatch(clean)
    if without:
        return "", _all_but([point.strip() for point in split_top(without["points"], _SEPARATOR)])
    pieces = split_top(clean, _CUP)
    if len(pieces) > 1:
        return _union([read_region(piece.strip(), may_be_tuple=True) for piece in pieces])
    if _RELATION.search(clean):
        return _union([_read_inequality(piece.strip()) for piece in _alternatives(clean)])
    interval = _read_interval(clean, may_be_tuple=may_be_tuple)
    return ("", (interval,)) if interval else None


def _named(name: str, found: tuple[str, Region] | None) -> tuple[str, Region] | None:
    return (name, found[1]) if found else None


def _alternatives(clean: str) -> list[str]:
    pieces = split_top(clean, _OR)
    if len(pieces) == 1 and "\\ne" not in clean:
        pieces = split_top(clean, _SEPARATOR)
    return pieces


def _union(found: list[tuple[str, Region] | None]) -> tuple[str, Region] | None:
    names = {each[0] for each in found if each} - {""}
    if not all(found) or len(names) > 1 or len(found) > MAX_ITEMS:
        return None
    return next(iter(names), ""), tuple(itertools.chain.from_iterable(each[1] for each in found if each))


def _all_but(points: list[str]) -> Region:
    ends = ["", *points, ""]
    return tuple(Interval(low, True, high, True) for low, high in itertools.pairwise(ends))


def _read_interval(clean: str, *, may_be_tuple: bool) -> Interval | None:
    values = split_list(clean)
    if values is None or not values.is_ordered or len(values.items) != 2:
        return None
    low, high = values.items
    is_interval = _INFINITY.fullmatch(low) or _INFINITY.fullmatch(high)
    is_interval = is_interval or (values.opening, values.closing) in (("(", "]"), ("[", ")"))
    if not (is_interval or may_be_tuple) or not low or not high:
        return None
    return _interval(low, values.opening == "(", high, values.closing == ")")


def _interval(low: str, is_low_open: bool, high: str, is_high_open: bool) -> Interval:
    low, high = ("" if _INFINITY.fullmatch(end) else end for end in (low, high))
    return Interval(low, is_low_open or not low, high, is_high_open or not high)


def _read_inequality(clean: str) -> tuple[str, Region] | None:
    parts = split_top(clean, _RELATION)
    signs = [match[1] for match in _RELATION.finditer(clean)]
    parts = [part.strip() for part in parts]
    if len(parts) != len(signs) + 1 or not all(parts):
        return None
    places = [index for index, part in enumerate(parts) if _VARIABLE.fullmatch(part) and part != "e"]
    if len(places) != 1 or len(parts) > 3:
        return None
    at = places[0]
    name = parts[at]
    if len(parts) == 2:
        sign, end = signs[0], parts[1 - at]
        if sign == "\\ne":
            return name, _all_but([end])
        is_open, is_upper = sign in "<>", (sign in ("<", "\\le")) == (at == 0)
        return name, (_interval("", True, end, is_open) if is_upper else _interval(end, is_open, "", True),)
    if at != 1 or "\\ne" in signs or len({sign in ("<", "\\le") for sign in signs}) != 1:
        return None
    low, high = (parts[0], parts[2]) if signs[0] in ("<", "\\le") else (parts[2], parts[0])
    low_sign, high_sign = signs if signs[0] in ("<", "\\le") else reversed(signs)
    return name, (_interval(low, low_sign in "<>", high, high_sign in "<>"),)


def starts_bracketed(clean: str) -> bool:
    """Tell whether the whole text stands in one pair of brackets."""
    return clean[:1] in ("(", "[") and closing_bracket(clean, 0) == len(clean) - 1
