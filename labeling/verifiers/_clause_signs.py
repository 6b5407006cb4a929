"""What the signs in and around a clause say of its formulas: quoted, asked, listed, with a remainder."""

import re
from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._tokens import Token


def clause_doubts(before: Sequence[Token], behind: Sequence[Token]) -> list[str]:
    """Say what in the signs around a clause makes its formulas doubtful."""
    opening = before[-1].text if before else ""
    closing = behind[0].text if behind else ""
    doubts = []
    if closing in ("?", "？"):
        doubts.append("a question")
    if opening in ('"', "“", "„", "«") or closing in ('"', "”", "»"):
        doubts.append("a quotation")
    return doubts


def doubts_at_the_opening(before: Sequence[Token], opening: Sequence[Token]) -> list[str]:
    """Say what in the signs before a clause, or at its start, makes the opening formula doubtful."""
    if len(opening) > 1 and opening[0].text == "-" and not opening[1].is_tight:
        return ["a minus that may be a list mark"]
    if before and before[-1].text in ("-", "–", "+"):
        return ["a sign that may be a list mark"]
    if len(before) > 1 and before[-1].text in (",", "，", "、") and before[-2].kind in ("NUM", ")"):
        return ["a list of numbers or a number broken in two"]
    return []


def loses_exponents(clause: Sequence[Token]) -> bool:
    """Whether powers of ten stand here without their sign: 2.5 x 10-3, 3.00x108."""
    for index, token in enumerate(clause[2:], start=2):
        if token.kind != "NUM" or clause[index - 1].text != "*" or not token.text.startswith("10"):
            continue
        has_decimals = "." in clause[index - 2].text and len(token.text) in (3, 4) and token.text.isdecimal()
        behind = clause[index + 1 : index + 3]
        has_minus = [each.text for each in behind[:1]] == ["-"] and all(each.is_tight for each in behind)
        if has_decimals or (token.text == "10" and len(behind) == 2 and has_minus):
            return True
    return False


_REMAINDER = frozenset(
    {"remainder", "r", "rem", "reste", "resto", "rest", "остаток", "나머지", "あまり", "余り"}
)
_REMAINDER_IN_CHINESE = re.compile(r"[余餘][数數]?[是为為]?")


def remainder_in(tokens: Sequence[Token]) -> Fraction | None:
    """Read "with a remainder of 4", "remainder 4", "R 4", and the same in other languages (余 4, Rest 4)."""
    texts = [token.text.lower() for token in tokens[:5]]
    while texts and texts[0] in ("with", "a", "and", "mit", "et", "con"):
        texts = texts[1:]
    if not texts or not (texts[0] in _REMAINDER or _REMAINDER_IN_CHINESE.fullmatch(texts[0])):
        return None
    texts = texts[2:] if texts[1:2] in (["of"], ["is"]) else texts[1:]
    return Fraction(texts[0]) if texts and texts[0].isdecimal() else None
