"""Where the final answer stands in a text: boxes, `####`, closing phrases, a last line that is a value.

The whole text is searched, never a window at its end. Thinking is not answering: what stands inside
`<think>` ... `</think>` holds no answer, nor does thinking that never closes.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from labeling.errors import ConfigError
from labeling.steps import THINK_TAG

_BOX = re.compile(r"\\(?:boxed|fbox)(?![A-Za-z])[ \t]*\n?[ \t]*")
_UNBRACED = re.compile(r"[-+]?\d+(?:,\d{3})*(?:\.\d+)?|[A-Za-z]\b")
_BETWEEN_BOXES = re.compile(
    r"[\s$.;]*(?:\\\)|\\\])?[\s$]*(?:,|\\text\s*\{|\\quad|\b(?=and\b|or\b))[\s$,]*(?:(?:and|or)\b)?[\s$}]*"
    r"(?:\\\(|\\\[)?(?:\\[,;: ]|\\quad|\s)*(?:[A-Za-z]\s*=\s*)?"
)
"""What stands between boxes that are one answer: "\boxed{2} and \boxed{3}"."""
_HASHES = re.compile(r"^[ \t]*####[ \t]*(?P<answer>\S.*)$", re.MULTILINE)
_VALUE_LINE = re.compile(
    r"[-+]?[$€£]?[ \t]*[-+]?(?:\d[\d,]*(?:\.\d*)?|\.\d+)(?:[ \t]*/[ \t]*\d+)?[ \t]*(?:%|\\%)?\.?|\([A-J]\)"
)
_LAST_LINE_A = re.compile(r"[ \t]*A[ \t]*:[ \t]*(?P<answer>\S.*)")
_TAGS = re.compile(r"<answer>(?P<answer>(?:(?!</?answer>).){1,4000}?)</answer>", re.IGNORECASE | re.DOTALL)
_OPENER = re.compile(
    r"""
    (?:
      \banswers?\b (?:[ ](?:to|for)\b[^.\n]{0,80}?)? (?:,[^.,\n]{1,20},)?
        [*_"']* [ \t]* (?: \bis\b | \bare\b | \b(?:would|will|must|should)[ ]be\b | : | ： ) (?:[ \t]*[:=：])?
        (?:,?[ ](?:therefore|thus|then|hence|simply|just|indeed|exactly|equal[ ]to),?(?=[ ]))? [*_]*
                                                                                 # "answer is", "Answer: **"
    | \banswer\b [ \t]* (?: = | (?= [ ] [-+$\\(]? [ \t]* \d ) )                  # "answer = 34", "answer 34"
    | \bcorrect[ ](?:one|option|choice)[ ]is\b[ \t]*:?
    | ^[ \t]*(?:\#+|\*\*)[ \t]*(?:final[ ])?answer[ \t]*:?[ \t]*(?:\*\*)?[ \t]*:?[ \t]*\n\s*
                                                                                 # "# Answer", then the value
    | ^[ \t]*(?:final[ ])?solution[ \t]*:[ \t]* (?= (?:choice|option)[_ ] )     # "Solution: Choice_B"
    | 答案 [ \t]* (?: 是 | 为 | 為 )? [ \t]* [:：]?
    )
    [ \t]* (?: (?<=[:：*]) [ \t]*\n\s* | (?<=is) [ \t]*\n\s* (?=\$|\\[(\[]) )?
    """,
    re.VERBOSE | re.IGNORECASE | re.MULTILINE,
)
_REASON = re.compile(
    r",?[ ](?:because|since|which)\b|,[ ](?:so|as|but|where|when|meaning|i\.e)\b|[.?;](?=\s)|。|<\||</"
)
_DISPLAY = re.compile(
    r"(\$\$)(?P<dollars>(?:(?!\$\$).){1,2000}?)\$\$|\\\[(?P<square>(?:(?!\\\]).){1,2000}?)\\\]", re.DOTALL
)
_CHOICE = re.compile(r"(?:choice|option)[_ ]*\(?(?P<letter>[A-Z])\b", re.IGNORECASE)
_OUTER = "*_\"'"


@dataclass(frozen=True)
class FoundAnswer:
    """The final answer and where it stands. Invariant: searched_text[start:end] == text, not empty."""

    text: str
    start: int
    end: int


def find_answer(text: str, *, answer_format: str = "auto") -> FoundAnswer | None:
    r"""Find the final answer of a solution text.

    Args:
        text: The solution as written.
        answer_format: "boxed" (the last \boxed or \fbox), "gsm8k" (the last `#### value`), "phrase"
            ("A: 27", "The answer is 34", a last line that is a value), or "auto": these in this order.

    Returns:
        The answer, or None. A text that ends inside thinking gives none, as in `labeling.steps`; nor is a
        last box that is never closed one in "auto" and "boxed", whatever else the text says: the text was
        cut while answering.

    Raises:
        ConfigError: There is no such format.
    """
    if answer_format not in _FINDERS:
        raise ConfigError(
            f"there is no answer format {answer_format!r}.", remedy=f"Use one of {', '.join(_FINDERS)}."
        )
    return None if ends_in_thinking(text) else _FINDERS[answer_format](without_thinking(text))


def ends_in_thinking(text: str) -> bool:
    """Whether the last thinking tag of a text opens: the text was cut while thinking."""
    tags = list(THINK_TAG.finditer(text))
    return bool(tags) and not tags[-1]["slash"]


def without_thinking(text: str) -> str:
    """Blank out thinking and its tags; offsets stay."""
    hidden: list[tuple[int, int]] = []
    opened_at: int | None = None
    for tag in THINK_TAG.finditer(text):
        if not tag["slash"]:
            opened_at = tag.start() if opened_at is None else opened_at
            continue
        # A closing tag without an opening one: a chat template wrote the opening tag into the prompt.
        hidden.append((0 if opened_at is None else opened_at, tag.end()))
        opened_at = None
    if opened_at is not None:
        hidden.append((opened_at, len(text)))
    pieces, at = [], 0
    for start, end in hidden:
        pieces += [text[at:start], " " * (end - start)]
        at = end
    return "".join([*pieces, text[at:]])


def _find_auto(text: str) -> FoundAnswer | None:
    box, is_cut = _last_box(text)
    if box is not None or is_cut:
        return box
    tagged = list(_TAGS.finditer(text))
    if tagged:
        return _trimmed(text, tagged[-1].start("answer"), tagged[-1].end("answer"))
    # Four hashes are also a heading in Markdown: without being told, only a plain value counts, or
    # the last line, which heads nothing.
    last_line = _last_line(text)[0]
    hashes = [
        match
        for match in _HASHES.finditer(text)
        if match.start() == last_line or _VALUE_LINE.fullmatch(match["answer"].strip())
    ]
    if hashes:
        return _trimmed(text, hashes[-1].start("answer"), hashes[-1].end("answer"))
    return _find_phrase(text)


def _find_boxed(text: str) -> FoundAnswer | None:
    return _last_box(text)[0]


def _find_hashes(text: str) -> FoundAnswer | None:
    matches = list(_HASHES.finditer(text))
    return _trimmed(text, matches[-1].start("answer"), matches[-1].end("answer")) if matches else None


def _find_phrase(text: str) -> FoundAnswer | None:
    last_start, last_end = _last_line(text)
    line = _LAST_LINE_A.fullmatch(text, last_start, last_end)
    if line:
        return _trimmed(text, line.start("answer"), line.end("answer"))
    if _VALUE_LINE.fullmatch(text[last_start:last_end].strip()):
        return _trimmed(text, last_start, last_end)
    for opener in reversed(list(_OPENER.finditer(text))):
        start = opener.end()
        end = _end_of_value(text, start)
        if text[end : end + 1] == "?":
            continue  # "Is the answer 5?"
        found = _trimmed(text, start, end, left=_OUTER, right=_OUTER + ".?,;:")
        if found is not None:
            return _choice_of(found)
    return None


def _last_box(text: str) -> tuple[FoundAnswer | None, bool]:
    r"""Return the last box that holds something, and whether the last box is cut off.

    Boxes that are listed with it ("\boxed{2} and \boxed{3}") belong to the answer, which then runs from
    the first of them to the end of the last, commands and all.
    """
    boxes = list(_BOX.finditer(text))
    for number in range(len(boxes) - 1, -1, -1):
        start = boxes[number].end()
        if text[start : start + 1] != "{":
            bare = _UNBRACED.match(text, start)
            if bare:
                return FoundAnswer(bare[0], bare.start(), bare.end()), False
            continue
        end = _closing_brace(text, start)
        if end is None:
            return None, True
        found = _trimmed(text, start + 1, end)
        if found is not None:
            return _with_listed_boxes(text, boxes[: number + 1], found, end + 1), False
    return None, False


def _with_listed_boxes(text: str, boxes: list[re.Match[str]], last: FoundAnswer, end: int) -> FoundAnswer:
    begin = boxes[-1].start()
    for box in reversed(boxes[:-1]):
        closing = _closing_brace(text, box.end()) if text[box.end() : box.end() + 1] == "{" else None
        if closing is None or closing > begin or begin - closing > _MAX_GAP:
            break
        is_listed = _BETWEEN_BOXES.fullmatch(text, closing + 1, begin)
        # The same value twice is one answer, given twice.
        if not is_listed or text[box.end() + 1 : closing].strip() == last.text:
            break
        begin = box.start()
    return last if begin == boxes[-1].start() else FoundAnswer(text[begin:end], begin, end)


_MAX_GAP = 40
"""Characters between two boxes beyond which they are not one answer."""


def boxes_read(answer: str) -> str:
    r"""Return what stands in the boxes of an answer: its last box, or those that are listed with it."""
    box, is_cut = _last_box(answer)
    if box is None or is_cut:
        return ""
    if "\\boxed" not in box.text and "\\fbox" not in box.text:
        return box.text
    contents: list[str] = []
    at = 0
    while match := _BOX.search(box.text, at):
        end = _closing_brace(box.text, match.end())
        if end is None:
            break
        contents.append(box.text[match.end() + 1 : end].strip())
        at = end + 1
    return ", ".join(contents)


def _closing_brace(text: str, opening: int) -> int | None:
    """Return the offset of the brace that closes the one at `opening`; a backslash hides the next sign."""
    depth = 0
    offset = opening
    while offset < len(text):
        sign = text[offset]
        if sign == "\\":
            offset += 2
            continue
        depth += (sign == "{") - (sign == "}")
        if depth == 0:
            return offset
        offset += 1
    return None


def _last_line(text: str) -> tuple[int, int]:
    end = len(text.rstrip())
    return text.rfind("\n", 0, end) + 1, end


def _end_of_value(text: str, start: int) -> int:
    """Return where a closing phrase's value ends: with its formula, sentence, line, or before its reason."""
    display = _DISPLAY.match(text, start)
    if display:
        return display.end()
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    stop = _REASON.search(text, start, line_end)
    return stop.start() if stop else line_end


def _choice_of(found: FoundAnswer) -> FoundAnswer:
    choice = _CHOICE.match(found.text)
    if choice is None:
        return found
    start, end = choice.span("letter")
    return FoundAnswer(choice["letter"], found.start + start, found.start + end)


def _trimmed(text: str, start: int, end: int, *, left: str = "", right: str = "") -> FoundAnswer | None:
    while start < end and (text[start].isspace() or text[start] in left):
        start += 1
    while start < end and (text[end - 1].isspace() or text[end - 1] in right):
        end -= 1
    return FoundAnswer(text[start:end], start, end) if start < end else None


_FINDERS: dict[str, Callable[[str], FoundAnswer | None]] = {
    "auto": _find_auto,
    "boxed": _find_boxed,
    "gsm8k": _find_hashes,
    "phrase": _find_phrase,
}
