"""A step of free text -> the named quantities that it states, with value, unit and place.

Words and signs are the units verifier's tokens; amounts are read by its parser. What is done here is to
find whose value a chain states: `R_A = 12 kN * 4 m / 6 m = 8 kN`, "the reaction at A is 8 kN", "factor of
safety: 1.42". Of a chain every plain amount counts, and the last. A sum or product with a name in it
(R_A + R_B = 12 kN) states no value of that name.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from labeling.simulators.structures.amounts import side_of, written
from labeling.simulators.structures.quantities import Quantity
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._unit_table import Dims, physical
from labeling.verifiers._unit_tokens import Token, tokenize
from labeling.verifiers._unit_trees import Side
from labeling.verifiers._unit_values import ClashError, Notes, measure

MAX_CLAIMS = 40

_GREEK = re.compile(r"\\(?=(?:sigma|delta|Delta)(?![a-z]))")
_LINKS = frozenset({
    "is", "are", "of", "equals", "equal", "to", "becomes", "comes", "be", "then", "therefore", "thus",
    "hence", "now", "was", "gives", "amounts",
})  # fmt: skip
_HEDGES = frozenset({"about", "approximately", "approx", "roughly", "around", "nearly", "~"})
_MOST = r"(?:largest|maximum|max|greatest|peak)"


@dataclass(frozen=True)
class Stated:
    """A value that a step gives to a named quantity. Offsets are code points of the step's text."""

    symbol: str
    value: float
    """In SI base units."""
    dims: Dims
    digit: float
    """Worth of the last digit written, in SI base units; 0 for what is left uncomputed."""
    is_bare: bool
    """No unit is written."""
    start: int
    end: int
    is_product: bool
    """A single letter stands before the name, so that a product may be meant."""
    working: float | None
    """What the first readable member of the chain comes to, in SI base units, where it is not the last and
    has its dimensions."""


@dataclass(frozen=True)
class Names:
    """How the quantities of one problem may be called."""

    symbols: Mapping[str, str]
    """Symbol as written, without braces and the like -> symbol."""
    phrases: tuple[tuple[re.Pattern[str], str], ...]
    """Words -> symbol."""


@lru_cache(maxsize=1024)
def names_of(quantities: tuple[Quantity, ...]) -> Names:
    """Return the names of a problem's quantities."""
    symbols: dict[str, str] = {}
    phrases: list[tuple[re.Pattern[str], str]] = []
    for quantity in quantities:
        symbols |= dict.fromkeys(_symbols(quantity), quantity.symbol)
        phrases += [(re.compile(phrase, re.IGNORECASE), quantity.symbol) for phrase in _phrases(quantity)]
    return Names(symbols, tuple(phrases))


def _symbols(quantity: Quantity) -> list[str]:
    place = quantity.place
    other = place[::-1]
    return {
        "reaction": [f"R{place}", f"R{place}y", f"R{place},y", f"{place}y"],
        "axial": [f"{letter}{bar}" for letter in "NFS" for bar in (place, other)],
        "shear": ["Vmax"],
        "moment": ["Mmax"],
        "area": ["A"],
        "second_moment": ["I", "Iy", "Iz", "Ix"],
        "section_modulus": ["W", "Wel", "Wy", "Wz", "Wel,y", "S", "Sx", "Z"],
        "stress": ["sigma", "σ", "sigmamax", "σmax", "sigmab", "σb"],
        "deflection": [
            f"{letter}{index}" for letter in ("delta", "δ", "Delta", "Δ") for index in ("", place, "max")
        ],
        "safety": ["n", "FS", "FoS", "FOS", "SF", "ns"],
    }[quantity.kind]


def _phrases(quantity: Quantity) -> list[str]:
    place, other = quantity.place, quantity.place[::-1]
    return {
        "reaction": [rf"\b(?:vertical )?reaction (?:force )?(?:at|in) (?-i:{place})\b"],
        "axial": [rf"\bforce in (?:the )?(?:bar |member )?(?-i:{place}|{other})\b"],
        "shear": [rf"\b{_MOST}\.? shear(?: force)?\b"],
        "moment": [rf"\b{_MOST}\.? (?:bending )?moment\b"],
        "area": [r"\b(?:cross-sectional )?area of (?:a|the|each) bar\b"],
        "second_moment": [r"\bsecond moment of area\b", r"\bmoment of inertia\b"],
        "section_modulus": [r"\b(?:elastic )?section modulus\b"],
        "stress": [rf"\b{_MOST}\.? (?:bending |normal |axial )?stress\b"],
        "deflection": [rf"\bdeflection (?:at|of|in) (?:the )?(?:point |joint )?(?-i:{place})\b"],
        "safety": [r"\bfactor of safety\b", r"\bsafety factor\b"],
    }[quantity.kind]


def statements(text: str, names: Names) -> list[Stated]:
    """Return what a step states of named quantities, in its order, `MAX_CLAIMS` at most.

    Args:
        text: The step; of any content.
        names: The problem's names.
    """
    # As long as what it replaces, so that places stay.
    text = _GREEK.sub(" ", text)
    tokens = _named(tokenize(text), _spoken(text, names), names)
    found: list[Stated] = []
    for clause in _clauses(tokens):
        for stated in _chains(clause):
            found.append(stated)
            if len(found) == MAX_CLAIMS:
                return found
    return found


def _spoken(text: str, names: Names) -> list[tuple[int, int, str]]:
    """Return the places of names in words, first to last, none inside another."""
    places = sorted(
        (match.start(), -match.end(), symbol)
        for pattern, symbol in names.phrases
        for match in pattern.finditer(text)
    )
    kept: list[tuple[int, int, str]] = []
    for start, negative_end, symbol in places:
        if not kept or start >= kept[-1][1]:
            kept.append((start, -negative_end, symbol))
    return kept


def _named(tokens: Sequence[Token], spoken: Sequence[tuple[int, int, str]], names: Names) -> list[Token]:
    """Return the tokens with names as NAME tokens, and links behind them (is, of, a colon) as "="."""
    result: list[Token] = []
    place = 0
    for token in tokens:
        while place < len(spoken) and spoken[place][1] <= token.start:
            place += 1
        if place < len(spoken) and spoken[place][0] <= token.start:
            start, end, symbol = spoken[place]
            if not result or result[-1].start != start:
                result.append(Token("NAME", symbol, start, end, False))
            continue
        symbol = names.symbols.get(_bare(token.text)) if token.kind == "WORD" else None
        result.append(token if symbol is None else token._replace(kind="NAME", text=symbol))
    return _linked(result)


def _bare(word: str) -> str:
    return word.translate(_STRIPPED)


_STRIPPED = str.maketrans("", "", "\\_{} ")


def _linked(tokens: Sequence[Token]) -> list[Token]:
    result: list[Token] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        result.append(token)
        at += 1
        if token.kind != "NAME":
            continue
        ahead = at
        while ahead < len(tokens) and ahead < at + 4 and tokens[ahead].text in _LINKS:
            ahead += 1
        if ahead == at and ahead < len(tokens) and tokens[ahead].text == ":":
            ahead += 1
        opens = tokens[ahead] if ahead < len(tokens) else None
        if ahead > at and opens is not None and (opens.kind == "NUM" or opens.text in ("-", *_HEDGES)):
            result.append(tokens[at]._replace(kind="REL", text="="))
            at = ahead
    return result


def _clauses(tokens: Sequence[Token]) -> Iterator[Sequence[Token]]:
    start = 0
    for index, token in enumerate(tokens):
        if token.kind == "BREAK":
            yield tokens[start:index]
            start = index + 1
    yield tokens[start:]


def _chains(clause: Sequence[Token]) -> Iterator[Stated]:
    """Yield the values that the chains of one clause end in, for each name at their head."""
    places = [index for index, token in enumerate(clause) if token.kind == "REL"]
    if not places:
        return
    ends = [*places[1:], len(clause)]
    heads = _head(clause[: places[0]])
    members: list[tuple[Side, int]] = []
    for place, end in zip(places, ends, strict=True):
        if clause[place].text not in ("=", "~"):
            # n = 0.77 < 1: what stands behind is compared, not stated.
            yield from _all_stated(heads, members)
            heads, members = [], []
            rest = clause[place + 1 : end]
        else:
            segment = _without_hedges(clause[place + 1 : end])
            side = side_of(segment)
            if side is not None:
                members = [*members, (side, segment[side.n_tokens - 1].end)]
            elif len(segment) == 1 and segment[0].kind == "NAME":
                heads = [*heads, segment[0]]
            rest = segment[side.n_tokens :] if side is not None else ()
        if end < len(clause) and (following := _head(rest)):
            yield from _all_stated(heads, members)
            heads, members = following, []
    yield from _all_stated(heads, members)


def _head(segment: Sequence[Token]) -> list[Token]:
    """Return the name that a chain begins with, none when it is a part of something computed."""
    if not segment or segment[-1].kind != "NAME":
        return []
    before = segment[-2] if len(segment) > 1 else None
    if before is not None and before.kind in ("OP", "NUM", "FRAC", "SQRT", "PI", "SUP", "("):
        return []
    is_product = before is not None and before.kind == "WORD" and len(before.text) == 1
    return [segment[-1]._replace(is_tight=is_product)]


def _without_hedges(segment: Sequence[Token]) -> Sequence[Token]:
    while segment and segment[0].text in _HEDGES:
        segment = segment[1:]
    return segment


def _all_stated(heads: Sequence[Token], members: Sequence[tuple[Side, int]]) -> Iterator[Stated]:
    """Yield for each name the last amount of its chain, and plain ones before: 9 kN = 8 kN states both."""
    if not members or not heads or (last := _amount(members[-1][0])) is None:
        return
    first = _amount(members[0][0]) if len(members) > 1 else None
    working = first[0] if first is not None and first[1] == last[1] else None
    plain = [(written(side), end) for side, end in members[:-1]]
    before = [(amount, end) for amount, end in plain if amount and amount[1::2] == last[1::2]]
    for head in heads:
        for amount, end in (*before, (last, members[-1][1])):
            value, dims, digit, is_bare = amount
            yield Stated(
                symbol=head.text,
                value=value,
                dims=dims,
                digit=digit,
                is_bare=is_bare,
                start=head.start,
                end=end,
                is_product=head.is_tight,
                working=working if amount is last else None,
            )


def _amount(side: Side) -> tuple[float, Dims, float, bool] | None:
    """Return value, dimensions, worth of the last digit (0 of what is computed), and "has no unit"."""
    if side.shown is not None:
        return written(side)
    try:
        size = measure(side.term, Notes())
        return float(size.value), physical(size.dims), 0.0, size.is_bare
    except (UnreadableError, ClashError, OverflowError):
        return None
