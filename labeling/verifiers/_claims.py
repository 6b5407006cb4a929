"""Where a step writes a relation, and which expressions stand on its two sides.

A clause (what stands between two breaks) is cut at its relation signs into members. The left side of a
relation is the longest expression that ends at it, the right side the longest that starts after it; words
around them are prose. Whatever makes that choice doubtful is noted as a doubt, and a doubtful claim
never counts against a step.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

from labeling.verifiers._clause_signs import (
    clause_doubts,
    doubts_at_the_opening,
    loses_exponents,
    remainder_in,
)
from labeling.verifiers._expressions import MAX_TOKENS, parse
from labeling.verifiers._labels import RATE_WORDS, is_number_word
from labeling.verifiers._reading import UnreadableError, ends_with, opens_with_name
from labeling.verifiers._tokens import Token, tokenize
from labeling.verifiers._trees import Parse

MAX_CANDIDATES = 6
MAX_WORDS_WITHIN = 6

_VERBS = frozenset({"is", "gives", "makes"})
_CONNECTIVES = frozenset(
    {"so", "since", "because", "that", "then", "thus", "therefore", "hence", "but", "now"}
)
_COMPARING = frozenset(
    {
        "more",
        "less",
        "fewer",
        "greater",
        "smaller",
        "times",
        "percent",
        "of",
        "and",
        "or",
        "to",
        "than",
        "over",
    }
)
_OPERAND_ENDS = frozenset({"NUM", ")", "}", "PCT", "SUP", "PI", "BANG", "BAR", "CLOSES", "CALL"})
_SPOKEN_RELATION = re.compile(r"[\d)}%!]\W{0,4}\s(?:is|gives|makes)\s\W{0,4}\d")
_RELATION = re.compile(
    r"[=＝≈≃≅≠≤≥<>＜＞≡]|\\(?:approx|simeq|le|ge|ne|lt|gt|equiv)|\bequals\b|\bequal to\b", re.IGNORECASE
)
_ANNOTATION = re.compile(r"<<([^<>\n]{1,200})>>")
MAX_CLAIMS = 100
_STARTS = frozenset(
    {"NUM", "CUR", "(", "{", "FRAC", "BINOM", "SQRT", "ROOT", "PI", "EULER", "FUNC", "CALL", "BAR", "OPENS"}
)
_FACTORS = frozenset({"FUNC", "SQRT", "ROOT", "PI", "EULER", "BAR"})
"""What a name before it multiplies: AB \\cos 30."""
_PROSE = frozenset({"WORD", "LABEL"})
_ARITHMETIC_WORDS = frozenset(
    {"times", "plus", "minus", "than", "half", "twice", "double", "triple", "thrice", "third", "quarter"}
    | {"fourth", "fifth", "square", "squared", "cube", "cubed", "root", "divided", "multiplied", "percent"}
    | {"ratio", "quotient", "average"}
)
_OPERATION_NAMES = frozenset({"sum", "difference", "product"})
_FRACTION_TAILS = frozenset({"half", "third", "quarter", "remainder", "r", "with", "thirds", "quarters"})
_PREPOSITIONS = frozenset({"by", "from", "to", "over", "per", "between"})
_COPULAS = frozenset(
    {"is", "are", "was", "were", "be", "has", "have", "had", "get", "gets", "got", "gives", "makes", "so"}
)


_INTRODUCING = frozenset({"that", "therefore", "thus", "hence", "so", "get", "since", "because"})
"""Words behind which a number opens a formula, rather than ends a name."""


@dataclass
class Member:
    """One side of a relation as read: either `parse`, or `problem` says why there is none."""

    tokens: Sequence[Token]
    parse: Parse | None = None
    problem: str = ""
    doubts: list[str] = field(default_factory=list)
    is_named: bool = False
    """Words stand before it in the same clause, so a bare number may belong to a name ("Day 3 = ...")."""
    remainder: Fraction | None = None
    """What is left over, of a quotient written as "255 remainder 4" or "255 R 4"."""
    before: Sequence[Token] = ()
    """The two tokens before its clause, of a clause's first member."""
    name: str = ""
    """The words that it consists of when it holds nothing else ("Total cost"), at least two letters."""


@dataclass
class Claim:
    """A relation between two neighbouring members. Offsets are code points of the step's text."""

    relation: str
    left: Member
    right: Member
    start: int
    end: int
    has_operation: bool
    """Something is computed in one of the two, or in an earlier member of the same chain."""
    doubts: list[str] = field(default_factory=list)
    modulus: int | None = None
    """What stands behind as (mod 7): the relation then speaks of remainders."""


def find_claims(text: str, before: Claim | None = None) -> Iterator[Claim]:
    """Yield every relation written in a step, annotations like <<48/2=24>> last.

    A clause gives `MAX_CLAIMS` + 1 at most: enough to see that there are too many.

    Args:
        text: The step.
        before: The claim with which the step before ends, see `left_open`.
    """
    if _RELATION.search(text) is None and _SPOKEN_RELATION.search(text) is None:
        return
    inner = list(_ANNOTATION.finditer(text))
    outer = _ANNOTATION.sub(lambda match: " " * len(match.group()), text) if inner else text
    yield from _claims_of(
        tokenize(outer), 0, before if before is not None and opens_with_name(text) else None
    )
    for match in inner:
        yield from _claims_of(tokenize(match.group(1)), match.start(1))


def left_open(text: str, claims: Sequence[Claim]) -> Claim | None:
    """Return the claim by which a step ends with a computation for a name: the next may state its value."""
    last = claims[-1] if claims else None
    if last is None or not last.left.name or last.relation != "=" or not _computes(last.right):
        return None
    return last if ends_with(text, last.end) else None


def _claims_of(tokens: list[Token], offset: int, before_all: Claim | None = None) -> Iterator[Claim]:
    start = 0
    last = before_all
    ends = [index for index, token in enumerate(tokens) if token.kind == "BREAK"]
    for index in (*ends, len(tokens)):
        clause = tokens[start:index]
        before, behind = tokens[max(0, start - 2) : start], tokens[index : index + 1]
        start = index + 1
        _turn_copulas(clause)
        if not any(token.kind == "REL" for token in clause):
            continue
        claims = _clause_claims(clause, before, clause_doubts(before, behind), offset)
        restated = _restatement(last, claims[0])
        if restated is not None:
            yield restated if last is not before_all else replace(restated, start=claims[0].start)
        yield from claims
        last = claims[-1]


def _turn_copulas(clause: list[Token]) -> None:
    """Turn the "is" between a computation and a number into a relation, in place: "20% of 50 is 10".

    Only where a clause starts: words before may be what the number belongs to ("the sine of pi/2 is 1").
    """
    for index, token in enumerate(clause):
        if token.kind == "REL":
            return
        if token.kind != "WORD" or token.text not in _VERBS or not 2 < index + 1 < len(clause):
            continue
        behind = clause[index + 1 : index + 4]
        if clause[index - 1].kind not in _OPERAND_ENDS or behind[0].kind not in ("NUM", "CUR"):
            return
        number = 1 if behind[0].kind == "NUM" else 2
        if any(each.text in _COMPARING or each.kind in ("OP", "PCT", "SCALE") for each in behind[number:]):
            return
        before = clause[:index]
        left = _left_side(before)
        words = before[: len(before) - len(left.tokens)]
        is_spaced = any(each.kind == "OP" and not each.is_tight for each in left.tokens)
        is_share = any(each.text == "of" for each in left.tokens)
        opens = all(word.text in _CONNECTIVES for word in words)
        if _computes(left) and not left.doubts and opens and (is_spaced or is_share):
            clause[index] = token._replace(kind="REL", text="=")
        return


def _restatement(before: Claim | None, claim: Claim) -> Claim | None:
    """Return what "Total = 20 + 23. Total = 43" says of the two right sides, None for other pairs.

    Only for a name in words: the unknown of an equation can have two values.
    """
    if before is None or not claim.left.name or claim.left.name != before.left.name:
        return None
    first, second = before.right, claim.right
    if before.relation != "=" or claim.relation != "=" or second.parse is None:
        return None
    if not _computes(first) or _computes(second):
        return None
    return Claim(
        relation="=",
        left=first,
        right=second,
        start=before.start,
        end=claim.end,
        has_operation=True,
        doubts=before.doubts + claim.doubts,
    )


def _is_bracketed_number(member: Member) -> bool:
    """Whether a member is (8) alone, as behind the name of a function."""
    is_number = member.parse is not None and not member.parse.has_operation
    return is_number and member.tokens[0].kind == "("


def _clause_claims(
    clause: list[Token], before: Sequence[Token], doubts: list[str], offset: int
) -> list[Claim]:
    claims: list[Claim] = []
    if loses_exponents(clause):
        doubts = [*doubts, "an exponent that may be lost (10-3, 3.0 x 108)"]
    moduli = {int(token.text) for token in clause if token.kind == "MODULUS"}
    clause = [token for token in clause if token.kind != "MODULUS"] if moduli else clause
    places = [index for index, token in enumerate(clause) if token.kind == "REL"][: MAX_CLAIMS + 1]
    bounds = [-1, *places, len(clause)]
    segments = [clause[bounds[i] + 1 : bounds[i + 1]] for i in range(len(bounds) - 1)]
    left = _left_side(segments[0])
    if left.tokens and left.tokens[0] is segments[0][0]:
        left.doubts += doubts_at_the_opening(before, left.tokens)
        left.before = before
        left.is_named = _is_bracketed_number(left)
    has_operation = False
    for number, place in enumerate(places):
        segment = segments[number + 1]
        whole = _whole(segment)
        right = whole or _right_side(segment)
        has_operation |= _computes(left) or _computes(right)
        tokens = [*left.tokens, clause[place], *right.tokens]
        claims.append(
            Claim(
                relation=clause[place].text,
                left=left,
                right=right,
                start=offset + tokens[0].start,
                end=offset + tokens[-1].end,
                has_operation=has_operation or bool(moduli),
                doubts=[*doubts, "several moduli"] if len(moduli) > 1 else doubts,
                modulus=max(moduli, default=None),
            )
        )
        if whole is None:
            has_operation = False
        if number + 1 < len(places):
            left = whole or _left_side(segment)
    return claims


def _computes(member: Member) -> bool:
    return member.parse is not None and member.parse.has_operation


def _whole(segment: Sequence[Token]) -> Member | None:
    """Return the member that takes up the whole segment, or None."""
    if not segment or len(segment) > MAX_TOKENS:
        return None
    try:
        found = parse(segment)
    except UnreadableError:
        return None
    return Member(segment, found) if found.n_tokens == len(segment) else None


def _left_side(segment: Sequence[Token]) -> Member:
    """Return the longest expression that ends where the segment ends."""
    if not segment:
        return Member((), problem="nothing on the left")
    first = max(0, len(segment) - MAX_TOKENS + 1)
    problem = "free symbol" if segment[-1].kind == "WORD" else "no expression on the left"
    n_tried = 0
    for start in range(first, len(segment)):
        if not _can_start(segment, start):
            continue
        n_tried += 1
        if n_tried > MAX_CANDIDATES:
            break
        try:
            found = parse(segment[start:])
        except UnreadableError as error:
            problem = str(error)
            continue
        if start + found.n_tokens == len(segment):
            doubts = _doubts_before(segment, start)
            is_named = start > 0 and segment[start - 1].text not in _INTRODUCING
            return Member(segment[start:], found, doubts=doubts, is_named=is_named)
    return Member(segment, problem=problem, name=_name_of(segment))


def _name_of(segment: Sequence[Token]) -> str:
    if any(token.kind not in _PROSE for token in segment):
        return ""
    name = " ".join(token.text for token in segment)
    return name if len(name) > 1 else ""


def _can_start(segment: Sequence[Token], start: int) -> bool:
    token = segment[start]
    is_sign = token.kind == "OP" and token.text == "-"
    if not is_sign and token.kind not in _STARTS:
        return False
    if start == 0:
        return True
    before = segment[start - 1]
    if is_sign:
        return before.kind in ("(", "{") or (before.kind in _PROSE and not token.is_tight)
    return before.kind in _PROSE or before.kind in ("(", "{")


def _doubts_before(segment: Sequence[Token], start: int) -> list[str]:
    """Say what in the words before an expression may belong to it."""
    if start == 0:
        return []
    doubts = []
    if segment[start].kind == "OP":
        doubts.append("a minus after words")
    end = start
    while start > 0 and segment[start - 1].kind in _PROSE and end - start < 8:
        start -= 1
    words = [word for token in segment[start:end] for word in token.text.split()]
    if words and is_number_word(words[-1]) and segment[end].kind != "OP":
        doubts.append("a number in words before the formula")
    is_of_all = words[-2:-1] in (["total"], ["sum"]) and not _ARITHMETIC_WORDS & set(words[:-2])
    if _goes_on(words) or (words[-1:] == ["of"] and not is_of_all):
        doubts.append("words of arithmetic before the formula")
    elif words == ["and"] and _OPERATION_NAMES & {token.text for token in segment[max(0, start - 6) : start]}:
        doubts.append("a sum or difference in words before the formula")
    elif "of" in words[-4:] and start > 0 and segment[start - 1].kind in ("NUM", "PCT", ")", "}"):
        doubts.append("a share of something before the formula")
    if words and segment[end].kind in _FACTORS and words[-1] not in _COPULAS | _CONNECTIVES:
        doubts.append("a word before a function or root")
    if words and len(words[-1]) == 1 and words[-1].isascii() and words[-1] not in "aAI":
        doubts.append("a symbol before the formula")
    if words and segment[end].is_tight and segment[end - 1].text.isascii():
        doubts.append("a word glued to the formula")
    if start > 0 and segment[start - 1].kind in ("OP", "BAD", "DOTS", "FRAC", "SQRT"):
        doubts.append("a formula in words before this one")
    return doubts


def _goes_on_behind_words(tokens: Sequence[Token]) -> bool:
    """Whether an operator and an operand follow a few words or signs of units: "3 k * 2"."""
    n_words = next((i for i, token in enumerate(tokens) if token.kind not in _PROSE), len(tokens))
    following = tokens[n_words : n_words + 2]
    if len(following) < 2 or n_words > MAX_WORDS_WITHIN or following[0].kind != "OP":
        return False
    return following[1].kind in _STARTS and (following[0].text != "-" or not following[1].is_tight)


def _goes_on(words: Sequence[str]) -> bool:
    """Whether words of arithmetic reach into the formula that follows: "twice the 3 + 4"."""
    if not words or words[-1] in _COPULAS:
        return False
    return words[-1] in _PREPOSITIONS or any(word in _ARITHMETIC_WORDS for word in words[-3:])


def _right_side(segment: Sequence[Token]) -> Member:
    """Return the longest expression that starts where the segment starts."""
    if not segment:
        return Member((), problem="nothing on the right")
    try:
        found = parse(segment)
    except UnreadableError as error:
        return Member(segment, problem=str(error))
    if found.n_tokens == len(segment):
        return Member(segment, found)
    following = segment[found.n_tokens]
    member = Member(segment[: found.n_tokens], found)
    member.remainder = remainder_in(segment[found.n_tokens :])
    if member.remainder is not None:
        return member
    behind = {token.text for token in segment[found.n_tokens : found.n_tokens + 4]}
    if following.text in RATE_WORDS and found.node.kind in ("+", "-"):
        member.doubts.append("a rate behind the formula")
    if following.kind in ("WORD", "LABEL") and _goes_on_behind_words(segment[found.n_tokens :]):
        member.doubts.append("the formula may go on behind words")
        return member
    if following.kind in (")", "}", "LABEL") or (following.kind == "WORD" and not behind & _FRACTION_TAILS):
        return member
    if following.kind in ("WORD", "DOTS") or (following.kind == "BAD" and following.text == "!"):
        member.doubts.append("the number may go on in words")
        return member
    if following.kind == "(" and not following.is_tight:
        is_remark = len(segment) > found.n_tokens + 1 and segment[found.n_tokens + 1].kind in _PROSE
        if not is_remark:
            member.doubts.append("a bracket behind the number")
        return member
    if following.kind == "OP" and following.text == "-" and not following.is_tight and len(behind) > 1:
        member.doubts.append("a dash behind the number")
        return member
    return Member(segment, problem=f"cannot read on at {following.text!r}")
