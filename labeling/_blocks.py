r"""Stretches of a text that no separator cuts: displayed mathematics, fenced code, tables, nested lists.

Spans are [start, end) in code points. Every search begins with a literal sign or a set of them (no anchor, no
repetition), which lets the regular expression engine skip plain prose.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence

Span = tuple[int, int]

_EDGE = re.compile(
    r"\$\$|\\\[|\\\]|\\begin\{(?P<begin>[A-Za-z]{1,20}\*?)\}|\\end\{(?P<end>[A-Za-z]{1,20}\*?)\}|````*|~~~~*"
)
_MAX_FENCE_INDENT = 12
_FENCE_INDENT = re.compile(r"[ \t]*(?:(?:[-*+•]|\d{1,4}[.)])[ \t]+)?")
"""What may stand before a fence in its line: code stands inside list items, too."""

_RULE_SIGN = re.compile(r"\|[ \t:]{0,40}-")
_TABLE_RULE = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*")

_NESTED_ITEM = re.compile(r"\n[ \t]+(?:[-*+•]|[(（]?\w{1,3}[.)）])[ \t]")
_LINE = re.compile(
    r"(?P<indent>[ \t]*+)"
    r"(?P<item>(?:\*\*|__)?(?:[-*+•]|[(（]?(?:\d{1,4}|[A-Za-z])[.)）]|step[ \t]{0,4}\d{1,4}\b)(?=[ \t:*]))?"
    r"[^\n]*+",
    re.IGNORECASE,
)
_TAB_WIDTH = 4


def blocks_of(text: str, region: Span) -> list[Span]:
    r"""Return what stays whole in a region of a text, in order and apart from one another.

    Displayed mathematics ($$..$$, \[..\], \begin..\end), fenced code (an open fence runs to the region's
    end), a table with its rule (|---|---|), and the deeper part of a list item that holds a list. Any other
    opening without its partner protects nothing.
    """
    return merged([*_marked(text, region), *_tables(text, region), *_nested_lists(text, region)])


def merged(spans: list[Span]) -> list[Span]:
    """Return the union of spans, in order and apart."""
    if len(spans) < 2:
        return spans
    spans.sort()
    union = [spans[0]]
    for start, end in spans[1:]:
        if start < union[-1][1]:
            union[-1] = (union[-1][0], max(end, union[-1][1]))
        else:
            union.append((start, end))
    return union


def is_inside(blocks: Sequence[Span], offset: int) -> bool:
    """Tell whether an offset lies in one of the blocks, which are in order and apart."""
    if not blocks:
        return False
    index = bisect_right(blocks, offset, key=lambda block: block[0]) - 1
    return index >= 0 and offset < blocks[index][1]


def outside(spans: Iterable[Span], blocks: Sequence[Span]) -> Iterator[Span]:
    """Yield the spans, which come in order, that do not start inside a block."""
    if not blocks:
        yield from spans
        return
    following = iter(blocks)
    block = next(following, None)
    for span in spans:
        while block is not None and block[1] <= span[0]:
            block = next(following, None)
        if block is None or span[0] < block[0]:
            yield span


def _marked(text: str, region: Span) -> list[Span]:
    """Return displayed mathematics and fenced code."""
    edges = [edge for edge in _EDGE.finditer(text, *region) if _is_edge(text, edge, region[0])]
    if not edges:
        return []
    partner_of = _partners(edges)
    toggles: dict[str, list[int]] = {}
    for index, edge in enumerate(edges):
        toggles.setdefault(edge[0], []).append(index)
    blocks: list[Span] = []
    index = 0
    while index < len(edges):
        edge = edges[index]
        partner = partner_of.get(index)
        if edge[0][0] != "\\":
            same = toggles[edge[0]]
            place = bisect_left(same, index) + 1
            partner = same[place] if place < len(same) else None
            if partner is None and edge[0] != "$$":
                blocks.append((edge.start(), region[1]))
                break
        if partner is not None:
            blocks.append((edge.start(), edges[partner].end()))
            index = partner
        index += 1
    return blocks


def _is_edge(text: str, edge: re.Match[str], first: int) -> bool:
    start = edge.start()
    if edge[0][0] in "`~":
        line = max(text.rfind("\n", max(first, start - _MAX_FENCE_INDENT - 1), start) + 1, first)
        return start - line <= _MAX_FENCE_INDENT and _FENCE_INDENT.fullmatch(text, line, start) is not None
    # A backslash in front makes another sign of it: \$, or the line break \\ before [2pt].
    return start == first or text[start - 1] != "\\"


def _partners(edges: Sequence[re.Match[str]]) -> dict[int, int]:
    r"""Match \[ with \] and \begin with \end, innermost first."""
    partner_of: dict[int, int] = {}
    open_of: dict[str, list[int]] = {}
    for index, edge in enumerate(edges):
        if edge[0] == "\\[" or edge["begin"]:
            open_of.setdefault(edge["begin"] or "", []).append(index)
        elif (edge[0] == "\\]" or edge["end"]) and open_of.get(edge["end"] or ""):
            partner_of[open_of[edge["end"] or ""].pop()] = index
    return partner_of


def _tables(text: str, region: Span) -> list[Span]:
    """Return tables: the line above a rule, the rule, and the lines with a bar below it."""
    tables: list[Span] = []
    at, end = region
    while sign := _RULE_SIGN.search(text, at, end):
        start = max(text.rfind("\n", at, sign.start()) + 1, at)
        at = _line_end(text, sign.end(), end)
        head = text.rfind("\n", region[0], max(start - 1, region[0])) + 1
        if start == region[0] or not _TABLE_RULE.fullmatch(text, start, at):
            continue
        head = max(head, region[0], tables[-1][1] if tables else 0)
        if text.find("|", head, start) < 0:
            continue
        has_outer_bars = text[start:at].lstrip().startswith("|")
        while at < end:
            row_end = _line_end(text, at + 1, end)
            bar = text.find("|", at + 1, row_end)
            if bar < 0 or (has_outer_bars and text[at + 1 : bar].strip()):
                break
            at = row_end
        tables.append((head, at))
    return tables


def _nested_lists(text: str, region: Span) -> list[Span]:
    """Return what hangs deeper under a list item, from the end of the item's own line on."""
    if not _NESTED_ITEM.search(text, *region):
        return []
    blocks: list[Span] = []
    at, end = region
    item_indent, item_end = -1, 0
    last_nested_end = 0
    has_list = False
    while at < end:
        line = _LINE.match(text, at, end)
        if line is None:
            break
        at = line.end() + 1
        indent = len(line["indent"].expandtabs(_TAB_WIDTH))
        if line.end("indent") == line.end():
            continue
        if 0 <= item_indent < indent:
            has_list = has_list or line["item"] is not None
            last_nested_end = line.end()
            continue
        if has_list:
            blocks.append((item_end, last_nested_end))
        has_list = False
        item_indent, item_end = (indent, line.end()) if line["item"] else (-1, 0)
    if has_list:
        blocks.append((item_end, last_nested_end))
    return blocks


def _line_end(text: str, start: int, end: int) -> int:
    found = text.find("\n", start, end)
    return end if found < 0 else found
