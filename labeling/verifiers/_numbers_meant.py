"""What a number of a false equation may stand for: a name, a size, a bare quantity, an unknown's factor."""

import re
from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._benefit import agreement
from labeling.verifiers._claims import Claim
from labeling.verifiers._exact import Value, evaluate
from labeling.verifiers._expressions import parse
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._tokens import Token
from labeling.verifiers._trees import Node, Parse, walk
from labeling.verifiers._unit_table import is_unit

_SHAPES = frozenset({
    "rectangle", "rectangular", "grid", "matrix", "board", "chessboard", "checkerboard", "array", "sheet",
    "prism", "lattice", "table", "photo", "box",
})  # fmt: skip
_PREFIXES = frozenset(Fraction(10) ** power for power in (-12, -9, -6, -4, -3, 3, 4, 6, 9, 12))
_CLOCK_FACTORS = frozenset(map(Fraction, ("1/60", "1/3600", "1/24", "1/7", "1/12")))
_CENTS = frozenset({Fraction(1, 100)})
_SYMBOL_LENGTH = 3
MAX_LIST_NUMBER = 4
"""Larger numbers with a dash behind them are no list marks."""


_DEFINITION = re.compile(
    r"(?<![A-Za-z\\])([a-zA-Z])\s?(\*|\\ast|\\times|∗|×|\^|\\cdot|·|\\div|÷)\s?([a-zA-Z])(?![A-Za-z])"
    r"[\s$\\)]{0,4}(?:=|(?:is|means|be|as)\b)((?:(?!\band\b)[^.;,=\n]){0,80})"
)
_SIGNS = {"*": "*", "\\ast": "*", "\\times": "*", "∗": "*", "×": "*", "\\cdot": "*", "·": "*", "^": "^"}


def operations_defined_in(text: str) -> frozenset[str]:
    """Return the signs that a text gives a meaning of its own: "define a * b = a^2 + b"."""
    return frozenset(
        _SIGNS.get(match.group(2), "/")
        for match in _DEFINITION.finditer(text)
        if match.group(1) != match.group(3)
        and all(re.search(rf"(?<![A-Za-z]){match.group(i)}(?![A-Za-z])", match.group(4)) for i in (1, 3))
    )


def doubt_of_numbers(claim: Claim, left: Parse, right: Parse, first: Value, second: Value) -> str:
    """Return what a number in a false equation may stand for instead, "" when nothing speaks for it.

    Args:
        claim: The claim; `left` and `right` are its sides as read.
        left: Left side.
        right: Right side.
        first: Value of the left side.
        second: Value of the right side.
    """
    if _holds_without_its_opening(claim, right, second):
        return "the first number may belong to a name or a list"
    if _holds_behind_a_colon(claim, right, second):
        return "a colon before it may divide"
    if _loses_its_exponent(claim, second):
        return "an exponent that may be lost"
    if left.node.kind == "*" and claim.left.is_named and left.labels & _SHAPES:
        return "the size of a thing rather than a product"
    if [token.kind for token in claim.left.tokens] == ["PI", "(", "NUM", ")"] and not right.has_operation:
        return "pi may be the function that counts primes"
    if _is_bare_quantity(claim, left, right, first, second):
        return "the unit of the result may be another than that of the numbers"
    if any(_multiplies_an_unknown(*sides) for sides in ((left, right), (right, left))):
        return "a word may be a factor"
    return ""


def _holds_without_its_opening(claim: Claim, right: Parse, second: Value) -> bool:
    """Whether "Day 1 - 5 + 3 = 8" is true without its "1 -"."""
    tokens = claim.left.tokens
    if len(tokens) < 3 or tokens[0].kind != "NUM" or not tokens[0].text.isdecimal() or tokens[1].text != "-":
        return False
    is_listed = claim.left.is_named or int(tokens[0].text) <= MAX_LIST_NUMBER
    return is_listed and not tokens[1].is_tight and _agrees(claim, tokens[2:], right, second)


def _holds_behind_a_colon(claim: Claim, right: Parse, second: Value) -> bool:
    """Whether 48 : 8 - 2 = 4, of which the clause holds the part behind the colon, is true as a division."""
    before = claim.left.before
    if len(before) < 2 or before[-1].text not in (":", "：") or before[-2].kind != "NUM":
        return False
    sign = Token("OP", "/", before[-1].start, before[-1].end, False)
    return _agrees(claim, [before[-2], sign, *claim.left.tokens], right, second)


def _agrees(claim: Claim, tokens: Sequence[Token], right: Parse, second: Value) -> bool:
    try:
        side = parse(tokens)
        value = evaluate(side.node)
    except UnreadableError:
        return False
    return side.n_tokens == len(tokens) and bool(agreement(claim.relation, side, right, value, second))


def _is_bare_quantity(claim: Claim, left: Parse, right: Parse, first: Value, second: Value) -> bool:
    """Whether numbers without units give a result in a unit that another power of ten or time fits."""
    if left.labels or not right.labels or right.has_operation or not left.has_operation:
        return False
    factors = set[Fraction]()
    for label in right.labels:
        if label in ("$", "€", "£"):
            factors |= _CENTS
        elif len(label) <= _SYMBOL_LENGTH or is_unit(label):
            factors |= _PREFIXES | _CLOCK_FACTORS
    return any(
        agreement(claim.relation, left, right, Value(first.number * factor, first.is_exact), second)
        for factor in factors
    )


def _multiplies_an_unknown(side: Parse, other: Parse) -> bool:
    """Whether a sum has a term whose word may be an unknown, and the other side is bare.

    Such as "5 price", whose word is no plural, "5/day", "3 g + 2 h", whose letters are as likely unknowns, or
    "20 + 5 hours", whose other term has no unit.
    """
    if side.node.kind not in ("+", "-") or other.labels - {"$"}:
        return False
    if side.traits & {"singular", "rate", "symbol"}:
        return True
    terms = [any(node.kind == "unit" for node in walk(term)) for term in _terms(side.node)]
    return any(terms) and not all(terms)


def _terms(node: Node) -> list[Node]:
    """Return the terms of a sum."""
    terms, rest = list[Node](), [node]
    while rest:
        node = rest.pop()
        if node.kind in ("+", "-") and node.left is not None and node.right is not None:
            rest += [node.left, node.right]
        else:
            terms.append(node)
    return terms


def _loses_its_exponent(claim: Claim, second: Value) -> bool:
    """Whether 10-3 = 0.001 is a power of ten in print."""
    tokens = claim.left.tokens
    if [token.text for token in tokens[:2]] != ["10", "-"] or len(tokens) != 3 or not tokens[1].is_tight:
        return False
    return tokens[2].text.isdecimal() and second.number == Fraction(1, 10 ** min(int(tokens[2].text), 99))
