"""Text -> steps with character spans -> the identical text.

A step is a stretch of the text with its place; only white space, markers and thinking tags lie outside
the steps, so the text can always be put together again (`join`). Displayed mathematics and fenced code
are one unit in every mode: a separator inside them does not cut.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from labeling.errors import ConfigError, InputError
from labeling.records import Step

MODES = ("blank_line", "line", "numbered", "marker", "auto")
SEGMENT_MODES = tuple(mode for mode in MODES if mode != "marker")
"""Modes that a recipe can name: those that need no marker."""

THINK_TAG = re.compile(r"<(?P<slash>/?)think(?:ing)?\s{0,4}>", re.IGNORECASE)
"""Opens or closes a thinking part: what stands in it is no answer, and the tag belongs to no step."""

Span = tuple[int, int]

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_LINE = re.compile(r"\n")
_BLOCK_EDGE = re.compile(
    r"^ {0,3}(?P<fence>```|~~~)"
    r"|(?P<dollars>\$\$)"
    r"|(?<!\\)(?P<open>\\\[)|(?<!\\)(?P<close>\\\])"
    r"|(?<!\\)\\begin\{(?P<begin>[A-Za-z]{1,20}\*?)\}|(?<!\\)\\end\{(?P<end>[A-Za-z]{1,20}\*?)\}",
    re.MULTILINE,
)
_WORD_MARKER = re.compile(
    r"^[^\S\n]{0,8}(?:#{1,6}[^\S\n]{0,4})?(?:\*\*|__)?"
    r"(?:step[^\S\n]{0,4}(?P<step>\d{1,4})[^\S\n]{0,4}(?:\*\*)?[:：.)）]"
    r"|(?:步骤|步驟)[^\S\n]{0,4}(?P<cjk>\d{1,4})[^\S\n]{0,4}[:：.．、)）]"
    r"|第(?P<nth>\d{1,4})步[:：,，、]?)",
    re.MULTILINE | re.IGNORECASE,
)
_NUMBER_MARKER = re.compile(
    r"^(?P<indent>[^\S\n]{0,8})(?:#{1,6}[^\S\n]{0,4})?(?:\*\*|__)?[(（]?(?P<number>\d{1,4})"
    r"(?:\.(?=\s|\*\*)|[)）:：、．](?!\d)|\)(?=\d))",
    re.MULTILINE,
)


@dataclass(frozen=True, kw_only=True)
class Segmentation:
    """A text cut into steps. Invariant: `text[step.start:step.end] == step.text` for every step."""

    steps: tuple[Step, ...]
    mode: str
    """The mode that was used; under "auto" the one it picked."""
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
        mode: "blank_line"; "line"; "numbered" ("Step 3:", "3.", "3)", "步骤3："; a bare number counts
            only where it continues 1, 2, 3, and "3." needs white space behind it; what stands before
            the first number is a step of its own); "marker" (the text between occurrences of `marker`);
            "auto" (numbered when two numbers are found, else blank_line, else line).
        marker: The separating text of mode "marker".
        think_is_open: The prompt already opened the thinking part, so the text starts inside it.

    Returns:
        The steps, never empty and without white space at their ends, with spans in code points.

    Raises:
        ConfigError: The mode is unknown, or `marker` is missing or not used by the mode.
    """
    _check_mode(mode, marker)
    regions, n_think_regions, is_closed = _regions(text, think_is_open)
    blocks = _blocks(text)
    used = _pick_mode(text, blocks) if mode == "auto" else mode
    steps: list[Step] = []
    n_think_steps = 0
    for number, region in enumerate(regions):
        steps += _steps_of(text, region, _cuts(text, region, blocks, used, marker))
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


def _blocks(text: str) -> list[Span]:
    r"""Return the stretches that stay whole: $$..$$, \[..\], \begin..\end, fenced code.

    An opening edge without its partner protects nothing, except a fence, which then runs to the end.
    """
    edges = [(m.lastgroup or "", m) for m in _BLOCK_EDGE.finditer(text)]
    closers: dict[str, list[int]] = {}
    for index, (kind, match) in enumerate(edges):
        closers.setdefault(_closer_key(kind, match), []).append(index)
    blocks: list[Span] = []
    index = 0
    while index < len(edges):
        kind, match = edges[index]
        index += 1
        if kind in ("close", "end"):
            continue
        key = {"open": "close", "begin": f"end {match.group('begin')}"}.get(kind, _closer_key(kind, match))
        places = closers.get(key, [])
        place = bisect_left(places, index)
        if place < len(places):
            blocks.append((match.start(), edges[places[place]][1].end()))
            index = places[place] + 1
        elif kind == "fence":
            blocks.append((match.start(), len(text)))
            break
    return blocks


def _closer_key(kind: str, match: re.Match[str]) -> str:
    if kind == "end":
        return f"end {match.group('end')}"
    return match.group("fence") if kind == "fence" else kind


def _cuts(text: str, region: Span, blocks: list[Span], mode: str, marker: str | None) -> Iterator[Span]:
    """Yield the separators of a region that lie outside every block; an empty one only divides."""
    if mode == "numbered":
        yield from ((start, start) for start in _numbered_starts(text, region, blocks))
        return
    if mode == "marker":
        pattern = re.compile(re.escape(marker or ""))
    else:
        pattern = _LINE if mode == "line" else _BLANK_LINE
    yield from _outside(((m.start(), m.end()) for m in pattern.finditer(text, *region)), blocks)


def _outside(spans: Iterator[Span], blocks: list[Span]) -> Iterator[Span]:
    """Yield the spans, which come in order, that do not start inside a block."""
    yield from (span for span in spans if not _is_inside(blocks, span[0]))


def _numbered_starts(text: str, region: Span, blocks: list[Span]) -> list[int]:
    """Return where numbered steps start: by "Step n" where that is written, else by 1., 2., 3."""
    piece = text[region[0] : region[1]]
    words = (region[0] + match.start() for match in _WORD_MARKER.finditer(piece))
    starts = [start for start in words if not _is_inside(blocks, start)]
    if starts:
        return starts
    expected = 1
    widest_indent = 0
    for match in _NUMBER_MARKER.finditer(piece):
        if int(match.group("number")) != expected or _is_inside(blocks, region[0] + match.start()):
            continue
        indent = len(match.group("indent"))
        if expected == 1:
            widest_indent = indent
        elif indent > widest_indent:
            continue
        starts.append(region[0] + match.start())
        expected += 1
    return starts


def _is_inside(blocks: list[Span], offset: int) -> bool:
    """Tell whether an offset lies in one of the blocks, which are in order and apart."""
    index = bisect_right(blocks, offset, key=lambda block: block[0]) - 1
    return index >= 0 and offset < blocks[index][1]


def _steps_of(text: str, region: Span, cuts: Iterator[Span]) -> list[Step]:
    steps: list[Step] = []
    start = region[0]
    for cut in (*cuts, (region[1], region[1])):
        piece = text[start : cut[0]]
        body = piece.strip()
        if body:
            begin = start + len(piece) - len(piece.lstrip())
            steps.append(Step(body, begin, begin + len(body)))
        start = cut[1]
    return steps


def _pick_mode(text: str, blocks: list[Span]) -> str:
    whole = (0, len(text))
    if len(_numbered_starts(text, whole, blocks)) >= 2:
        return "numbered"
    for mode in ("blank_line", "line"):
        if len(_steps_of(text, whole, _cuts(text, whole, blocks, mode, None))) >= 2:
            return mode
    return "blank_line"
