"""Tokens -> steps, by the character offsets of the tokens that were really sampled.

The text is never encoded again: a policy may sample a token sequence that the tokenizer itself would
not produce, and advantages must fall on the sampled one. Pure functions; `decode` is handed in.
"""

from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

NO_STEP = -1
"""Step index of every token when a completion has no steps."""

_LONGEST_CHARACTER = 8
"""Tokens tried together before giving up on the quick path; a UTF-8 character has at most 4 bytes."""

Decode = Callable[[Sequence[int]], str]


class CachedDecoder:
    """Ids -> text without special tokens and without any clean-up; single ids are remembered.

    Args:
        tokenizer: A transformers tokenizer.
    """

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._text_of: dict[int, str] = {}

    def __call__(self, ids: Sequence[int]) -> str:
        """Return the text of `ids`."""
        if len(ids) != 1:
            return self._text(ids)
        if ids[0] not in self._text_of:
            self._text_of[ids[0]] = self._text(ids)
        return self._text_of[ids[0]]

    def _text(self, ids: Sequence[int]) -> str:
        return self._tokenizer.decode(list(ids), skip_special_tokens=True, clean_up_tokenization_spaces=False)


def token_offsets(ids: Sequence[int], text: str, decode: Decode) -> list[tuple[int, int]]:
    """Return [start, end) of each token in `text`, in code points; offsets never fall.

    Tokens that only decode together (the bytes of one character) share the start of what they make:
    all but the last have length 0. Special tokens that `decode` leaves out have length 0.

    Args:
        ids: The sampled token ids, T of them.
        text: `decode(ids)`.
        decode: Ids -> text, leaving special tokens out. Called with single ids most of the time, so
            a cache pays.
    """
    offsets = _offsets_piecewise(ids, text, decode)
    return _offsets_by_prefix(ids, text, decode) if offsets is None else offsets


def _offsets_piecewise(ids: Sequence[int], text: str, decode: Decode) -> list[tuple[int, int]] | None:
    """Linear: valid when the text is the concatenation of what tokens (or small runs) decode to."""
    offsets: list[tuple[int, int]] = []
    at, index = 0, 0
    while index < len(ids):
        for width in range(1, min(_LONGEST_CHARACTER, len(ids) - index) + 1):
            piece = decode(ids[index : index + width])
            if text.startswith(piece, at):
                break
        else:
            return None
        offsets += [(at, at)] * (width - 1)
        offsets.append((at, at + len(piece)))
        at += len(piece)
        index += width
    return offsets if at == len(text) else None


def _offsets_by_prefix(ids: Sequence[int], text: str, decode: Decode) -> list[tuple[int, int]]:
    """Quadratic, for decoders that look at neighbours (SentencePiece, clean-up of spaces)."""
    ends = [0]
    for index in range(1, len(ids) + 1):
        prefix = decode(ids[:index])
        while not text.startswith(prefix):
            prefix = prefix[:-1]
        ends.append(max(ends[-1], len(prefix)))
    ends[-1] = len(text)
    return list(pairwise(ends))


def step_of_tokens(
    ids: Sequence[int], text: str, spans: Sequence[tuple[int, int]], decode: Decode
) -> list[int]:
    """Return the step index of every sampled token: shape (T,), values 0..K-1, never falling.

    A token belongs to the step that holds its first character that is not blank; a blank token (a
    separator) to the step that it closes; text before the first step to the first; end-of-text and
    everything after the last step to the last. All are `NO_STEP` when there are no steps.

    Args:
        ids: The sampled token ids.
        text: `decode(ids)`, in which `spans` are measured.
        spans: [start, end) of each step in code points, ascending and disjoint.
        decode: Ids -> text, leaving special tokens out.
    """
    if not spans:
        return [NO_STEP] * len(ids)
    starts = [start for start, _ in spans]
    steps: list[int] = []
    for start, end in token_offsets(ids, text, decode):
        piece = text[start:end]
        ink = piece.lstrip()
        place = start + len(piece) - len(ink) if ink else start
        step = min(max(bisect_right(starts, place) - 1, 0), len(spans) - 1)
        steps.append(max(step, steps[-1]) if steps else step)
    return steps


def separator_tokens(
    ids: Sequence[int], text: str, spans: Sequence[tuple[int, int]], decode: Decode
) -> list[bool]:
    """Tell of every sampled token whether it stands between steps: shape (T,).

    Such a token has no part in any span: blanks, and labels that the spans leave out. A token without text
    behind the last step (end of text) is none, and no token is where there are no steps.

    Args:
        ids: The sampled token ids.
        text: `decode(ids)`, in which `spans` are measured.
        spans: [start, end) of each step in code points, ascending and disjoint.
        decode: Ids -> text, leaving special tokens out.
    """
    if not spans:
        return [False] * len(ids)
    return [not _is_of_step(offset, spans) for offset in token_offsets(ids, text, decode)]


def _is_of_step(offset: tuple[int, int], spans: Sequence[tuple[int, int]]) -> bool:
    start, end = offset
    if start == end and start >= spans[-1][1]:
        return True
    # Of the tokens that make one character together all but the last have length 0: its step is theirs.
    end = max(end, start + 1)
    place = bisect_right(spans, start, key=lambda span: span[1])
    return place < len(spans) and spans[place][0] < end


def broadcast(advantages_K: np.ndarray, step_of_token: Sequence[int], *, outside: float) -> np.ndarray:
    """Spread one advantage a step over the tokens of that step.

    Args:
        advantages_K: Shape (K,), one advantage a step.
        step_of_token: Shape (T,), step indices or `NO_STEP`.
        outside: Advantage of tokens that belong to no step.

    Returns:
        Shape (T,), float64.
    """
    steps = np.asarray(step_of_token, dtype=np.int64)
    table = np.append(np.asarray(advantages_K, dtype=np.float64), outside)
    return table[steps]
