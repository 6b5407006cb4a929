"""Steps for rewards: the same ones whether a blank line, a line break or "Step n:" stands between them.

A policy that is paid by the step can change how many steps a text seems to have by its white space alone.
Canonical steps are cut by what is said: sentences and lines are pieces, a piece that is too short goes with
what follows it, a step that is too long is divided. Labels of steps and white space count for nothing.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from labeling._blocks import Span, outside
from labeling._numbering import LABEL, WORD_LABEL, step_labels
from labeling._sentences import LINE_BREAK, goes_on, protected_spans, sentence_ends

MIN_TOKENS = 8
MAX_TOKENS = 200
_ROOMY_TOKENS = 150
"""A step that is too long is divided into parts of about this size: room to choose a good place."""

_TOKEN = re.compile(r"[^\W\d_⺀-鿿가-힯]{1,8}|\d{1,3}|\S")
_CLAUSE_ENDS = frozenset(",;:，；：、")


@dataclass(frozen=True)
class _Piece:
    """A stretch that is not cut but for its length."""

    start: int
    end: int
    n_tokens: int
    goes_on: bool = False
    """It belongs together with the next piece."""


def count_tokens(text: str) -> int:
    """Count tokens without a tokenizer: up to 8 letters, up to 3 digits, a CJK sign or any other sign each.

    A stand-in within some 20 % of the usual byte-pair encodings on solutions. Every stage has the text and
    few have the policy's tokenizer: with this count, labels, scores and rewards are cut at the same places,
    and white space cannot move a border.
    """
    return len(_TOKEN.findall(text))


def canonical_text(step: str) -> str:
    """Return a canonical step without the delimiters that stand inside it where short pieces were merged.

    Two texts with the same pieces and other delimiters (see the module's docstring) give the same results.
    """
    first, *others = step.split("\n")
    lines = [first, *(LABEL.sub("", line, count=1) for line in others)]
    return " ".join(word for line in lines for word in line.split())


def canonical_spans(text: str, region: Span, blocks: Sequence[Span]) -> list[Span]:
    """Return [start, end) of the canonical steps of a region.

    Each has `MIN_TOKENS` to `MAX_TOKENS` tokens (see `count_tokens`), unless the whole region has fewer. A
    piece is a sentence or a line; lines that go on (an operator, a comma, "so") are one piece, and a block is
    part of one. Only a step that is too long is cut inside a block, best at a line's end.
    """
    spans: list[Span] = []
    for group in _merged(list(_pieces(text, region, blocks))):
        spans += _divided(text, group)
    return spans


def _pieces(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[_Piece]:
    lines = list(_lines(text, region, blocks))
    for number, (start, end) in enumerate(lines):
        following = lines[number + 1][0] if number + 1 < len(lines) else None
        is_open = following is not None and goes_on(text, end, following)
        protected = protected_spans(text, (start, end), blocks)
        cut = start
        for stop in (*sentence_ends(text, (start, end), protected), end):
            if label := WORD_LABEL.match(text, cut, stop):
                cut = label.end()
            body = text[cut:stop].strip()
            if body:
                first = text.index(body, cut)
                yield _Piece(first, first + len(body), count_tokens(body), is_open and stop == end)
            cut = stop


def _lines(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[Span]:
    """Yield the lines outside blocks that hold something, without their labels and the blanks around them."""
    labels = step_labels(text, region, blocks)
    breaks = (match.span() for match in LINE_BREAK.finditer(text, *region))
    start = region[0]
    for stop, following in sorted([*outside(breaks, blocks), *labels, (region[1], region[1])]):
        body = text[start:stop].strip()
        if body:
            first = text.index(body, start)
            yield first, first + len(body)
        start = max(start, following)


def _merged(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Put a short piece together with what follows it; a short rest with what stands before."""
    groups: list[list[_Piece]] = []
    group: list[_Piece] = []
    n_tokens = 0
    for piece in pieces:
        group.append(piece)
        n_tokens += piece.n_tokens
        if n_tokens >= MIN_TOKENS and not piece.goes_on:
            groups.append(group)
            group, n_tokens = [], 0
    if group and groups and n_tokens < MIN_TOKENS:
        groups[-1] += group
    elif group:
        groups.append(group)
    return groups


def _divided(text: str, group: Sequence[_Piece]) -> Iterator[Span]:
    """Yield the span of a group, or of parts of it of at most `MAX_TOKENS` tokens."""
    if sum(piece.n_tokens for piece in group) <= MAX_TOKENS:
        yield group[0].start, group[-1].end
        return
    tokens = [m.start() for piece in group for m in _TOKEN.finditer(text, piece.start, piece.end)]
    borders = set(accumulate(piece.n_tokens for piece in group))
    n_parts = -(-len(tokens) // _ROOMY_TOKENS)
    first = 0
    for part in range(1, n_parts):
        ideal = len(tokens) * part // n_parts
        n_left = n_parts - part
        choices = range(
            max(first + MIN_TOKENS, len(tokens) - MAX_TOKENS * n_left),
            min(first + MAX_TOKENS, len(tokens) - MIN_TOKENS * n_left) + 1,
        )
        place = min(choices, key=lambda at: (_rank(text, tokens, at, borders), abs(at - ideal)))
        yield tokens[first], _end_of(text, group, tokens[place])
        first = place
    yield tokens[first], group[-1].end


def _rank(text: str, tokens: Sequence[int], place: int, borders: set[int]) -> int:
    """Return how bad it is to cut before a token: 0 between pieces ... 4 inside a word."""
    if place in borders:
        return 0
    gap = text[tokens[place - 1] + 1 : tokens[place]]
    if "\n" in gap:
        return 1
    if text[tokens[place - 1]] in _CLAUSE_ENDS:
        return 2
    return 3 if gap != gap.rstrip() else 4


def _end_of(text: str, group: Sequence[_Piece], place: int) -> int:
    """Return where the ink before an offset ends, leaving out a label that stands between two pieces."""
    piece = group[bisect_right(group, place - 1, key=lambda piece: piece.start) - 1]
    end = min(place, piece.end)
    return piece.start + len(text[piece.start : end].rstrip())
