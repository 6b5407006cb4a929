"""Where a step sets quantities equal: signs of relation, restated names, conversions in words."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from labeling.verifiers._reading import UnreadableError, ends_with, opens_with_name
from labeling.verifiers._unit_parser import MAX_TOKENS, parse
from labeling.verifiers._unit_phrases import COMPUTED
from labeling.verifiers._unit_table import is_unit, unit_of
from labeling.verifiers._unit_tokens import Token
from labeling.verifiers._unit_trees import Side

MAX_CLAIMS = 40
MAX_CANDIDATES = 6
MAX_NAME_TOKENS = 6
_STARTS = frozenset({"NUM", "CUR", "(", "FRAC", "SQRT", "PI"})
_SHORT_WORDS = frozenset({
    "a", "i", "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "my", "no", "of", "on", "or",
    "so", "to", "up", "us", "we",
})  # fmt: skip
_COPULAS = frozenset({"is", "are", "has", "contains", "makes", "was", "were"})
_REASONS = frozenset({"so", "because", "since", "which"})
_LONG_VERBS = re.compile(
    r"(?:is|are) (?:the same as|equivalent to|equal to)|can be (?:simplified|converted) to|can be written as"
)
_ONE = frozenset({"a", "an", "one"})
_APPROXIMATELY = frozenset({"about", "approximately", "approx", "around", "roughly", "nearly", "almost", "~"})
_PREPOSITIONS = frozenset({
    "after", "at", "before", "by", "for", "from", "in", "of", "on", "over", "per", "plus", "to", "under",
    "until", "up", "with", "within", "and", "or", "every", "each",
})  # fmt: skip
_ARITHMETIC_WORDS = frozenset({
    "times", "plus", "minus", "than", "half", "twice", "double", "triple", "thrice", "third",
    "quarter", "fourth", "square", "squared", "cube", "cubed", "root", "divided", "multiplied",
    "percent", "ratio", "average", "by", "from", "of", "over", "per", "between", "every", "each",
    "another", "additional", "extra", "other", "first", "last", "next",
})  # fmt: skip
_GOES_ON = frozenset({
    "and", "half", "third", "quarter", "per", "each", "of", "times", "plus", "minus", "more",
    "less", "longer", "shorter", "than", "to", "or", "away", "short", "early", "late", "before",
    "after", "from", "an", "a", "remainder", "ago", "older", "younger", "faster", "slower",
    "behind", "ahead", "off", "over", "on", "for",
})  # fmt: skip


@dataclass
class Claim:
    """Two sides set in relation. Offsets are code points of the step's text."""

    relation: str
    left: Sequence[Token]
    right: Sequence[Token]
    start: int
    end: int
    doubts: list[str] = field(default_factory=list)
    is_in_words: bool = False
    """Said in words (2 hours is 120 minutes) or by a restated name, rather than by one chain of signs."""


@dataclass
class _Member:
    tokens: Sequence[Token]
    side: Side | None = None
    doubts: list[str] = field(default_factory=list)
    is_named: bool = False
    """Words stand before it, to which a quantity may belong (the speed after 2 s = ...)."""


@dataclass
class LeftOpen:
    """The name and the computation with which a step ends, whose value the next step may state."""

    name: str = ""
    member: "_Member | None" = None


def find_claims(text: str, tokens: Sequence[Token], left_open: LeftOpen) -> Iterator[Claim]:
    """Yield what a step sets equal, at most `MAX_CLAIMS` + 1 a clause.

    Args:
        text: The step.
        tokens: Its tokens.
        left_open: What the step before left open; holds what this one leaves open when all is yielded.
    """
    last_name, last = (left_open.name, left_open.member) if opens_with_name(text) else ("", None)
    left_open.name, left_open.member = "", None
    is_first = True
    start = 0
    ends = [index for index, token in enumerate(tokens) if token.kind == "BREAK"]
    for index in (*ends, len(tokens)):
        clause, start = tokens[start:index], index + 1
        if len(clause) < 3 or not _speaks_of_quantities(clause):
            continue
        doubts = _clause_doubts(tokens, index - len(clause) - 1, index)
        if any(token.kind == "REL" for token in clause):
            name, claims, final = _chain(clause, doubts, _is_list(tokens, index - len(clause)))
            if last is not None and name and name == last_name:
                for claim in _restated(last, claims, final, doubts):
                    yield replace(claim, start=clause[0].start) if is_first else claim
            yield from claims
            last_name, last, is_first = name, final, False
        yield from _in_words(clause, doubts)
    is_open = last is not None and last.side is not None and last.side.shown is None and not is_first
    if last is not None and is_open and ends_with(text, last.tokens[-1].end):
        left_open.name, left_open.member = last_name, last


def _speaks_of_quantities(clause: Sequence[Token]) -> bool:
    has_number = has_unit = False
    before = ""
    for token in clause:
        has_number |= token.kind == "NUM"
        is_rate = token.text == "per" or (before == "/" and token.kind == "WORD")
        has_unit |= is_rate or token.kind == "CUR" or (token.kind == "WORD" and is_unit(token.text))
        before = token.text
    return has_number and has_unit


def _clause_doubts(tokens: Sequence[Token], before: int, behind: int) -> list[str]:
    opening = tokens[before].text if before >= 0 else ""
    closing = tokens[behind].text if behind < len(tokens) else ""
    doubts = []
    if closing in ("?", "？"):
        doubts.append("a question")
    if opening in ('"', "“", "„", "«") or closing in ('"', "”", "»"):
        doubts.append("a quotation")
    return doubts


def _is_list(tokens: Sequence[Token], start: int) -> bool:
    """Whether a clause follows a quantity and a comma: 5 hours, 30 minutes = ..."""
    if start < 2 or tokens[start - 1].text not in (",", "，", "、"):
        return False
    before = tokens[start - 2]
    return before.kind in ("NUM", ")") or (before.kind == "WORD" and is_unit(before.text))


def _chain(
    clause: Sequence[Token], doubts: list[str], is_list: bool
) -> tuple[str, list[Claim], _Member | None]:
    """Return the name at the left end of a clause's chain, its claims, and its last member."""
    places = [index for index, token in enumerate(clause) if token.kind == "REL"][: MAX_CLAIMS + 1]
    bounds = [-1, *places, len(clause)]
    segments = [clause[bounds[i] + 1 : bounds[i + 1]] for i in range(len(bounds) - 1)]
    name = _name_of(segments[0])
    claims: list[Claim] = []
    left: _Member | None = None if name else _left_member(segments[0])
    if left is not None and is_list and left.tokens[0] is clause[0]:
        left.doubts.append("a list of quantities")
    quantity = left if left is not None and left.side is not None and left.side.has_units else None
    for number, place in enumerate(places):
        segment, relation = segments[number + 1], clause[place].text
        while segment and segment[0].text in _APPROXIMATELY and relation == "=":
            segment, relation = segment[1:], "~"
        while len(segment) > 1 and segment[0].text in _APPROXIMATELY:
            segment = segment[1:]
        right = _right_member(segment)
        if right is None or right.side is None:
            left = quantity = None
        else:
            if left is not None and left.side is not None:
                claims.append(_claim(relation, left, right, doubts))
            # 2 hours = 2 * 60 = 120 minutes: the quantities at both ends are set equal, too.
            skips = quantity is not None and quantity is not left and right.side.has_units
            if (
                skips
                and quantity is not None
                and relation in ("=", "~")
                and clause[places[number - 1]].text in ("=", "~")
            ):
                claims.append(_claim(relation, quantity, right, doubts))
        is_whole = right is not None and right.side is not None and right.side.n_tokens == len(segment)
        left = right if is_whole else (_left_member(segment) if number + 1 < len(places) else right)
        if left is None or not is_whole:
            quantity = left if left is not None and left.side is not None and left.side.has_units else None
        elif left.side is not None and left.side.has_units:
            quantity = left
    return name, claims, left


def _claim(relation: str, left: _Member, right: _Member, doubts: Sequence[str]) -> Claim:
    is_plain = left.side is not None and left.side.shown is not None
    if left.is_named and is_plain and right.side is not None and right.side.shown is None:
        doubts = [*doubts, "the quantity may belong to a name"]
    return Claim(
        relation,
        left.tokens,
        right.tokens,
        left.tokens[0].start,
        right.tokens[-1].end,
        [*doubts, *left.doubts, *right.doubts],
    )


def _name_of(segment: Sequence[Token]) -> str:
    """Return the words or the symbol that a segment consists of: F, Total distance; "" for anything else."""
    if not segment or len(segment) > MAX_NAME_TOKENS or any(token.kind != "WORD" for token in segment):
        return ""
    return " ".join(token.text for token in segment)


def _restated(
    last: _Member, claims: Sequence[Claim], final: _Member | None, doubts: Sequence[str]
) -> Iterator[Claim]:
    """Yield what "L = 5 m + 40 cm, L = 5.4 m" says of the two right sides."""
    first = claims[0].left if claims else (final.tokens if final is not None else ())
    if not first or last.side is None or last.side.shown is not None:
        return
    if final is None or final.side is None or final.side.shown is None or claims:
        return
    claim = _claim("=", last, final, doubts)
    claim.is_in_words = True
    yield claim


def _left_member(segment: Sequence[Token]) -> _Member | None:
    """Return the longest expression that ends where the segment ends."""
    first = max(0, len(segment) - MAX_TOKENS + 1)
    n_tried = 0
    for start in range(first, len(segment)):
        if not _can_start(segment, start):
            continue
        n_tried += 1
        if n_tried > MAX_CANDIDATES:
            return None
        try:
            side = parse(segment[start:])
        except UnreadableError:
            continue
        if start + side.n_tokens == len(segment):
            doubts = _doubts_before(segment, start)
            if start and side.shown is not None and segment[start - 1].text.lower() in _PREPOSITIONS:
                doubts.append("a quantity behind a preposition")
            return _Member(segment[start:], side, doubts, is_named=start > 0)
    return None


def _can_start(segment: Sequence[Token], start: int) -> bool:
    token = segment[start]
    is_sign = token.kind == "OP" and token.text == "-"
    is_function = token.kind == "WORD" and token.text in COMPUTED
    if token.kind not in _STARTS and not is_sign and not is_function:
        return False
    if start == 0:
        return True
    before = segment[start - 1]
    if is_sign:
        return before.kind == "WORD" and before.end < token.start and len(before.text) > 1
    return before.kind == "WORD" and not (token.kind == "(" and token.is_tight)


def _doubts_before(segment: Sequence[Token], start: int) -> list[str]:
    if start == 0:
        return []
    before = segment[start - 1]
    word = before.text
    doubts = []
    if len(word) == 1 or "_" in word or is_unit(word) or segment[start].is_tight:
        doubts.append("a symbol before the formula")
    if {token.text.lower() for token in segment[max(0, start - 3) : start]} & _ARITHMETIC_WORDS:
        doubts.append("words of arithmetic before the formula")
    if any(
        token.kind in ("OP", "BAD", "FRAC", "SQRT", "NUM") for token in segment[max(0, start - 6) : start]
    ):
        doubts.append("a formula in words before this one")
    return doubts


def _right_member(segment: Sequence[Token]) -> _Member | None:
    """Return the longest expression that starts where the segment starts."""
    if not segment:
        return None
    try:
        side = parse(segment)
    except UnreadableError:
        return None
    member = _Member(segment[: side.n_tokens], side)
    if side.n_tokens == len(segment):
        return member
    following = segment[side.n_tokens]
    if following.kind == "WORD":
        if not _is_prose(following.text):
            # A symbol that is not known here: 4 GV is not the number 4.
            return None
        if following.text.lower() in _GOES_ON:
            member.doubts.append("the quantity may go on in words")
        return member
    if following.kind == "(" and not following.is_tight:
        return member
    if following.kind in (")", "PCT") or (
        following.kind == "OP" and following.text == "-" and not following.is_tight
    ):
        member.doubts.append(f"{following.text} behind the quantity")
        return member
    return None


def _is_prose(word: str) -> bool:
    """Whether a word behind a quantity is one of a sentence, rather than a symbol."""
    letters = word.replace("-", "").replace("'", "").replace("’", "")
    if len(letters) <= 2:
        return letters.lower() in _SHORT_WORDS
    return letters.isalpha() and letters[1:].islower()


def _in_words(clause: Sequence[Token], doubts: list[str]) -> Iterator[Claim]:
    """Yield "2 hours is 120 minutes", "60 minutes in an hour", "2 hours (120 minutes)"."""
    for index, token in enumerate(clause):
        if token.kind == "WORD" and (length := _verb_length(clause, index)):
            yield from _pair(clause, index, doubts, relation="is", length=length)
        elif token.kind == "WORD" and token.text == "in" and _opens_with_existence(clause[:index]):
            yield from _pair(clause, index, doubts, relation="in")
        elif token.kind == "(" and index and clause[index - 1].kind == "WORD" and not token.is_tight:
            yield from _pair(clause, index, doubts, relation="(")


def _verb_length(clause: Sequence[Token], index: int) -> int:
    """Return how many tokens "is", "is the same as" or "can be simplified to" take here; 0 for none."""
    verb = _LONG_VERBS.match(" ".join(token.text for token in clause[index : index + 4]))
    return len(verb.group().split()) if verb else int(clause[index].text in _COPULAS)


def _opens_with_existence(clause: Sequence[Token]) -> bool:
    return any(token.text.lower() in ("there", "has", "have", "are") for token in clause[-5:-2])


def _pair(
    clause: Sequence[Token], index: int, doubts: list[str], *, relation: str, length: int = 1
) -> Iterator[Claim]:
    left, right = _quantity_before(clause[:index]), _quantity_behind(clause[index + length :], relation)
    if left is None or right is None:
        return
    claim = Claim("=", left, right, left[0].start, right[-1].end, list(doubts), is_in_words=True)
    if relation == "(":
        claim.doubts.append("a remark in brackets")
    yield claim


def _quantity_before(clause: Sequence[Token]) -> Sequence[Token] | None:
    if len(clause) < 2 or not _is_unit_word(clause[-1]):
        return None
    number = clause[-2]
    if number.kind != "NUM" and number.text.lower() not in _ONE:
        return None
    if len(clause) > 2:
        before = clause[-3]
        if before.kind != "WORD" or before.text.lower() in _ARITHMETIC_WORDS or len(before.text) == 1:
            return None
    return _as_quantity(number, clause[-1])


def _power_of_ten(clause: Sequence[Token]) -> Sequence[Token] | None:
    """Return 10^-6 kg, where nothing but a stop or a reason follows."""
    if len(clause) < 2 or clause[0].kind != "NUM" or (clause[1].text != "^" and clause[1].kind != "SUP"):
        return None
    unit = next((at for at, token in enumerate(clause[:8]) if token.kind == "WORD"), 0)
    is_whole = len(clause) == unit + 1 or clause[unit + 1].text in _REASONS
    return clause[: unit + 1] if unit and is_whole and _is_unit_word(clause[unit]) else None


def _quantity_behind(clause: Sequence[Token], relation: str) -> Sequence[Token] | None:
    if relation == "is" and (power := _power_of_ten(clause)) is not None:
        return power
    if len(clause) < 2 or not _is_unit_word(clause[1]):
        return None
    number = clause[0]
    if number.kind != "NUM" and not (number.text.lower() in _ONE and relation == "in"):
        return None
    if relation == "(":
        return _as_quantity(number, clause[1]) if len(clause) > 2 and clause[2].kind == ")" else None
    if len(clause) > 2 and (clause[2].kind != "WORD" or clause[2].text not in _REASONS):
        return None
    return _as_quantity(number, clause[1])


def _is_unit_word(token: Token) -> bool:
    if token.kind != "WORD":
        return False
    unit = unit_of(token.text)
    return unit is not None and not unit.is_letter


def _as_quantity(number: Token, unit: Token) -> Sequence[Token]:
    if number.kind == "NUM":
        return (number, unit)
    return (number._replace(kind="NUM", value=number.value + 1), unit)


def variables_of(tokens: Sequence[Token]) -> set[str]:
    """Return the single letters that a text uses as names: m = 5 kg, the mass m, v * t."""
    found: set[str] = set()
    for index, token in enumerate(tokens):
        if token.kind != "WORD" or token.is_upright or len(token.text) != 1 or not is_unit(token.text):
            continue
        before = tokens[index - 1] if index else None
        is_sentence_word = before is not None and before.kind == "WORD" and not is_unit(before.text)
        if before is None or before.kind in ("REL", "BREAK") or is_sentence_word:
            found.add(token.text)
    return found
