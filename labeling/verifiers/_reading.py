"""What the readers of formulas share: signs of relation, line ends, and the way along a list of tokens."""

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Generic, Protocol, Self, TypeVar

from labeling.errors import ToolkitError

RELATIONS = {
    "=": "=", "==": "=", "＝": "=", ":=": "=", "≈": "~", "≃": "~", "≅": "~", "\\approx": "~", "\\simeq": "~",
    "≡": "≡", "\\equiv": "≡",
    "≠": "!=", "!=": "!=", "\\ne": "!=", "\\neq": "!=", "<": "<", "＜": "<", "\\lt": "<", ">": ">",
    "＞": ">", "\\gt": ">", "<=": "<=", "=<": "<=", "≤": "<=", "\\le": "<=", "\\leq": "<=",
    "\\leqslant": "<=", ">=": ">=", "≥": ">=", "\\ge": ">=", "\\geq": ">=", "\\geqslant": ">=",
}  # fmt: skip
"""A relation as it is written -> one of = ~ < > <= >= != ≡."""


SCALES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
"""Words behind a number that multiply it."""
SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")


class UnreadableError(ToolkitError):
    """An expression cannot be read or computed; says why. Never leaves the verifier."""


class TokenLike(Protocol):
    """What every kind of token has."""

    @property
    def kind(self) -> str: ...
    @property
    def text(self) -> str: ...
    def _replace(self, **changes: Any) -> Self: ...


T = TypeVar("T", bound=TokenLike)


class TokenCursor(Generic[T]):
    """A place in a list of tokens; `end` is what stands behind the last."""

    def __init__(self, tokens: Sequence[T], end: T) -> None:
        self.tokens = tokens
        self.at = 0
        self._end = end

    def peek(self, ahead: int = 0) -> T:
        """Return the token that many places ahead (behind, below 0); `end` outside the list."""
        place = self.at + ahead
        return self.tokens[place] if 0 <= place < len(self.tokens) else self._end

    def take(self, kind: str) -> T:
        """Return the token here and go on.

        Raises:
            UnreadableError: It is of another kind.
        """
        token = self.peek()
        if token.kind != kind:
            raise UnreadableError(f"expected {kind}, found {token.text or 'the end'!r}")
        self.at += 1
        return token

    def is_operator(self, signs: str, ahead: int = 0) -> bool:
        """Whether one of these operators stands here."""
        token = self.peek(ahead)
        return token.kind == "OP" and token.text in signs


def join_lines(tokens: Sequence[T]) -> list[T]:
    """Turn line ends into breaks, except beside a relation, where the formula goes on."""
    joined: list[T] = []
    pending: T | None = None
    for token in tokens:
        if token.kind == "NEWLINE":
            pending = token
            continue
        if pending is not None and token.kind != "REL" and not (joined and joined[-1].kind == "REL"):
            joined.append(pending._replace(kind="BREAK"))
        pending = None
        joined.append(token)
    return joined


_OPENING = re.compile(
    r"\W{0,12}(?:(?:step|line)\s?\d{1,3}\W{1,8})?"
    r"(?:(?:so|thus|therefore|hence|then|this gives|we get)\b\W{0,4})?[^=.;:!?\n]{1,40}=",
    re.IGNORECASE,
)
_CLOSING = re.compile(r"(?:[\s.$*})]|\\[\])])*")


def opens_with_name(text: str) -> bool:
    """Whether a step may begin by stating the value of what the step before left open: so M = 5 g."""
    return _OPENING.match(text) is not None


def ends_with(text: str, end: int) -> bool:
    """Whether nothing but punctuation stands behind a place in a step."""
    return _CLOSING.fullmatch(text, end) is not None


def order_holds(relation: str, difference: Fraction) -> bool:
    """Whether left minus right has the sign that the relation (< > <= >= !=) claims."""
    return {
        "<": difference < 0,
        ">": difference > 0,
        "<=": difference <= 0,
        ">=": difference >= 0,
        "!=": difference != 0,
    }[relation]
