"""Text -> steps with character spans -> the identical text.

A step is a stretch of the text with its place; only white space, markers and thinking tags lie outside
the steps (and, in canonical steps, labels such as "Step 2:"), so the text can always be put together again
(`join`). Displayed mathematics, fenced code, tables and nested lists are one unit in every mode: a separator
inside them does not cut.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from labeling._blocks import Span, blocks_of, outside
from labeling._canonical import canonical_spans, canonical_text
from labeling._numbering import step_labels
from labeling._sentences import BLANK_LINE, sentence_cuts
from labeling.errors import ConfigError, InputError
from labeling.records import Step

__all__ = [
    "CANONICAL",
    "MODES",
    "SEGMENT_MODES",
    "THINK_TAG",
    "Segmentation",
    "canonical_text",
    "join",
    "open_thinking",
    "segment",
]

CANONICAL = "canonical"
"""The mode whose steps do not depend on delimiters: the one for rewards."""
MODES = ("blank_line", "line", "numbered", "sentence", "marker", CANONICAL, "auto")
SEGMENT_MODES = tuple(mode for mode in MODES if mode != "marker")
"""Modes that a recipe can name: those that need no marker."""

THINK_TAG = re.compile(r"<(?P<slash>/?)think(?:ing)?\s{0,4}>", re.IGNORECASE)
"""Opens or closes a thinking part: what stands in it is no answer, and the tag belongs to no step."""

_LINE = re.compile(r"\n")
_OPEN_AT_END = re.compile(r"<think(?:ing)?\s{0,4}>\s*\Z", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """A text cut into steps. Invariant: `text[step.start:step.end] == step.text` for every step."""

    steps: tuple[Step, ...]
    mode: str
    """The mode that was used; under "auto" the one it picked, for the answer where there is thinking."""
    n_think_steps: int
    """The first so many steps are thinking; all of them when the thinking never ends."""
    is_think_closed: bool
    """False when the text ends inside a thinking part: it then gives no final answer."""

    @property
    def answer_steps(self) -> tuple[Step, ...]:
        """The steps that follow the thinking."""
        return self.steps[self.n_think_steps :]


def segment(
    text: str, mode: str = "blank_line", *, marker: str | None = None, think_is_open: bool = False
) -> Segmentation:
    """Cut a solution into steps, in time linear in its length.

    Args:
        text: The solution as the policy wrote it.
        mode: "blank_line"; "line"; "numbered" ("Step 3:", "3.", "3)", "步骤3：", "第三步", "一、"; a bare
            number counts only where it continues 1, 2, 3, and "3." needs white space behind it; what stands
            before the first number is a step of its own); "sentence"; "marker" (the text between occurrences
            of `marker`); "canonical" (sentences and lines, short ones merged and long ones divided: the same
            steps whatever separates them, for rewards); "auto" (numbered when two numbers are found, else
            blank_line, else line, else sentence; thinking and answer are looked at apart).
        marker: The separating text of mode "marker".
        think_is_open: The prompt already opened the thinking part, so the text starts inside it.

    Returns:
        The steps, never empty and without white space at their ends, with spans in code points.

    Raises:
        ConfigError: The mode is unknown, or `marker` is missing or not used by the mode.
    """
    _check_mode(mode, marker)
    regions, n_think_regions, is_closed = _regions(text, think_is_open)
    steps: list[Step] = []
    n_think_steps = 0
    used = mode if mode != "auto" else "blank_line"
    for number, region in enumerate(regions):
        blocks = blocks_of(text, region)
        picked, found = _pick(text, region, blocks) if mode == "auto" else (mode, None)
        found = _steps_in(text, region, blocks, picked, marker) if found is None else found
        if found:
            used = picked
            steps += found
        if number < n_think_regions:
            n_think_steps = len(steps)
    return Segmentation(steps=tuple(steps), mode=used, n_think_steps=n_think_steps, is_think_closed=is_closed)


def join(text: str, steps: Sequence[Step]) -> str:
    """Put a text together from its steps and what lies between them.

    With the steps of `segment(text)` the result is `text`; with edited step texts (spans unchanged) it
    is the text with those edits.

    Raises:
        InputError: The spans overlap, go backwards or leave the text.
    """
    parts: list[str] = []
    offset = 0
    for index, step in enumerate(steps):
        if not offset <= step.start <= step.end <= len(text):
            raise InputError(
                f"step {index} has the span [{step.start}, {step.end}) after offset {offset} "
                f"in a text of {len(text)} characters.",
                remedy="Spans must be in order, apart from each other and inside the text.",
            )
        parts += [text[offset : step.start], step.text]
        offset = step.end
    parts.append(text[offset:])
    return "".join(parts)


def _check_mode(mode: str, marker: str | None) -> None:
    if mode not in MODES:
        raise ConfigError(f"segmentation mode {mode!r} is unknown.", remedy=f"Use one of {', '.join(MODES)}.")
    if mode == "marker" and not marker:
        raise ConfigError("segmentation mode 'marker' needs a marker.", remedy="Give marker=, not empty.")
    if mode != "marker" and marker is not None:
        raise ConfigError(f"mode {mode!r} does not use a marker.", remedy="Use mode='marker'.")


def open_thinking(text: str) -> str:
    """Return the thinking tag, with the white space behind it, that a text ends in; empty when it does not.

    A prompt that ends so has opened the thinking part of what follows: handed on together with the tag, the
    completion tells by itself that it begins with thinking.
    """
    tail = text[text.rfind("<") :]
    found = _OPEN_AT_END.match(tail) if tail else None
    return found[0] if found else ""


def _regions(text: str, think_is_open: bool) -> tuple[list[Span], int, bool]:
    """Return the stretches between thinking tags, how many of them are thinking, and if that ended."""
    regions: list[Span] = []
    n_think = 0
    is_open = think_is_open
    offset = 0
    for tag in THINK_TAG.finditer(text):
        regions.append((offset, tag.start()))
        offset = tag.end()
        is_open = not tag["slash"]
        if not is_open:
            n_think = len(regions)
    regions.append((offset, len(text)))
    return regions, len(regions) if is_open else n_think, not is_open


def _steps_in(text: str, region: Span, blocks: Sequence[Span], mode: str, marker: str | None) -> list[Step]:
    if mode == CANONICAL:
        return [Step(text[start:end], start, end) for start, end in canonical_spans(text, region, blocks)]
    if mode == "marker":
        found = re.compile(re.escape(marker or "")).finditer(text, *region)
        cuts = (match.span() for match in found)
        return list(_steps_between(text, region, outside(cuts, blocks)))
    return list(_steps_between(text, region, _CUTS_OF[mode](text, region, blocks)))


def _blank_lines(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[Span]:
    return outside((match.span() for match in BLANK_LINE.finditer(text, *region)), blocks)


def _lines(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[Span]:
    return outside((match.span() for match in _LINE.finditer(text, *region)), blocks)


def _numbers(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[Span]:
    return ((start, start) for start, _ in step_labels(text, region, blocks))


_CUTS_OF: dict[str, Callable[[str, Span, Sequence[Span]], Iterator[Span]]] = {
    "blank_line": _blank_lines,
    "line": _lines,
    "numbered": _numbers,
    "sentence": sentence_cuts,
}
"""What separates steps, in order; an empty span only divides."""


def _steps_between(text: str, region: Span, cuts: Iterable[Span]) -> Iterator[Step]:
    start, end = region
    for stop, following in cuts:
        piece = text[start:stop]
        body = piece.strip()
        if body:
            begin = start + piece.index(body)
            yield Step(body, begin, begin + len(body))
        start = following
    piece = text[start:end]
    body = piece.strip()
    if body:
        begin = start + piece.index(body)
        yield Step(body, begin, begin + len(body))


def _pick(text: str, region: Span, blocks: Sequence[Span]) -> tuple[str, list[Step]]:
    """Pick the mode that fits a region, and cut by it."""
    labels = step_labels(text, region, blocks)
    if len(labels) >= 2:
        return "numbered", list(_steps_between(text, region, ((start, start) for start, _ in labels)))
    steps: list[Step] = []
    for mode in ("blank_line", "line", "sentence"):
        steps = list(_steps_between(text, region, _CUTS_OF[mode](text, region, blocks)))
        if len(steps) >= 2:
            return mode, steps
    return "blank_line", steps
