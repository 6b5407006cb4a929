"""What a step says, for the penalties: its tokens, numbers, expressions and content words.

Made for plain prose, LaTeX and terse machine text ("slab-b 23 + 7 = 30") alike; no tokenizer is involved.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\\[a-zA-Z]+|[^\W\d_]+(?:['’-][^\W_]+)*|[^\w\s]|_", re.UNICODE
)
_OPERATORS = frozenset(
    r"""
    + - * / ^ = < > × ÷ · ± ≤ ≥ ≠ ≈ % ! | \times \div \cdot \pm \mp \frac \dfrac \tfrac \sqrt \le \leq \ge
    \geq \ne \neq \lt \gt \equiv \approx \sum \prod \int \binom \pmod \bmod \implies \to \cup \cap
    """.split()  # noqa: SIM905 - read as text
)
_OPENING = frozenset("([{")
_CLOSING = frozenset(")]}")
_PUNCTUATION = frozenset(",.:;")
_INSIDE_MATHS = _OPENING | _CLOSING | _PUNCTUATION | frozenset("_'&")
_UNWRITTEN = frozenset("$\\") | {r"\left", r"\right", r"\,", r"\text"}
"""Marks of mathematics that say nothing: the same expression with and without them is one."""
_RELATION = re.compile(r"=|\\equiv|\\approx|≈")

CHECK_WORDS = frozenset(
    """
    check checks checking checked verify verifies verifying verified double-check recheck confirm
    confirms confirming confirmed review reviewing reconsider correct right sure indeed
    """.split()  # noqa: SIM905 - read as text
)
_EMPTY_WORDS = CHECK_WORDS | frozenset(
    """
    a about above after again ahead all also am an and another answer any are as at be been before being
    below but by can carefully continue continued continuing could did do does doing done each
    everything far final first for forward from further get go goes going good got great had has have
    having hence here how however i i'll i'm if in into is it it's its itself just keep let let's like
    look looking me more moreover move moving must my need needs next no not now of ok okay on once one
    onward onwards or our out over part please point problem proceed proceeding progress question ready
    really result said same second see should simply since so solution solve solving some step steps
    still such task than that that's the their them then there therefore these they think third this
    those though thus to too try trying up us use used using very want was way we we'll well were what
    when where which while will with work working would yes yet you your
    """.split()  # noqa: SIM905 - read as text
)
"""Words without content of a solution: function words, connectives, talk of going on or of checking."""


@dataclass(frozen=True, kw_only=True)
class StepText:
    """One step, taken apart. Everything is case-folded."""

    tokens: tuple[str, ...]
    numbers: frozenset[str]
    expressions: frozenset[str]
    """Runs of numbers, single letters and signs with at least one operator or relation, without trivial
    identities (30 = 30) and without the marks around them."""
    content: tuple[str, ...]
    """Words in order, without those that carry no content."""
    is_check: bool
    """Whether a word of checking occurs."""


@lru_cache(maxsize=4096)  # every penalty reads every step
def read_step(text: str) -> StepText:
    """Take one step apart."""
    tokens = tuple(match.group().casefold() for match in _TOKEN.finditer(text))
    words = [t for t in tokens if t[0].isalpha() and len(t) > 1]
    return StepText(
        tokens=tokens,
        numbers=frozenset(_canonical_number(t) for t in tokens if t[0].isdigit()),
        expressions=frozenset(_expressions(tokens)),
        content=tuple(word for word in words if word not in _EMPTY_WORDS),
        is_check=not CHECK_WORDS.isdisjoint(words),
    )


def shingles(tokens: Sequence[str], size: int) -> frozenset[tuple[str, ...]]:
    """Return the runs of `size` tokens; a shorter text is one run."""
    if not tokens:
        return frozenset()
    return frozenset(tuple(tokens[i : i + size]) for i in range(max(1, len(tokens) - size + 1)))


def _canonical_number(token: str) -> str:
    digits = token.replace(",", "")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _expressions(tokens: Sequence[str]) -> list[str]:
    """Return the expressions of a step as canonical text.

    A run ends at a word, and at a comma, full stop or colon outside brackets: these belong to the sentence.
    """
    runs: list[list[str]] = [[]]
    depth = 0
    for token in tokens:
        if token in _UNWRITTEN:
            continue
        if not _is_mathematical(token) or (depth == 0 and token in _PUNCTUATION):
            runs.append([])
            depth = 0
            continue
        runs[-1].append(_canonical_number(token) if token[0].isdigit() else token)
        depth = max(0, depth + (token in _OPENING) - (token in _CLOSING))
    found = ["".join(run) for run in runs if not _OPERATORS.isdisjoint(run)]
    return [text for text in found if not _is_trivial(text)]


def _is_mathematical(token: str) -> bool:
    is_name = (len(token) == 1 and token.isalpha()) or token.startswith("\\")
    return token[0].isdigit() or is_name or token in _OPERATORS or token in _INSIDE_MATHS


def _is_trivial(expression: str) -> bool:
    sides = _RELATION.split(expression)
    return len(sides) > 1 and len(set(sides)) == 1
