"""Labels of numbered steps: "Step 3:", "3.", "3)", 第三步, 步骤三：, 一、, with any Unicode digits."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from labeling._blocks import Span, is_inside

_HEAD = r"(?P<indent>[^\S\n]{0,8})(?P<head>(?:#{1,6}[^\S\n]{0,4})?(?:\*\*|__)?)"
_CJK_DIGITS = "〇零一二三四五六七八九十百两兩"
_CJK = f"[{_CJK_DIGITS}]{{1,6}}"
_WORD = (
    _HEAD + r"(?:step[^\S\n]{0,4}"
    r"(?:\d{1,4}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"[^\S\n]{0,4}(?:(?:\*\*|__)?[^\S\n]{0,4}(?:[:：.)）](?!\d)|[-–—](?=\s))|(?:\*\*|__)?(?=[^\S\n]{0,40}(?:\n|\Z)))"
    rf"|(?:步骤|步驟)[^\S\n]{{0,4}}(?:\d{{1,4}}|{_CJK})[^\S\n]{{0,4}}(?:[:：.．、)）,，]|(?=\s|\Z))"
    rf"|第[^\S\n]?(?:\d{{1,4}}|{_CJK})[^\S\n]?步[:：,，、.．]?)"
    r"(?:\*\*|__)?"
)
_NUMBER = (
    _HEAD + rf"(?P<open>[(（]?)(?P<number>\d{{1,4}}|{_CJK}|[①-⑳])"
    r"(?:(?P<sign>\.(?=\s|\*\*|\Z|[⺀-｠])(?!\d)|[)）:：、．](?!\d)|\)(?=\d))|(?<=[①-⑳]))"
)
# The patterns for a line's start are told apart from the text's start: a leading "\n" lets the engine skip.
_FIRST_WORD, _NEXT_WORD = re.compile(_WORD, re.IGNORECASE), re.compile(r"\n" + _WORD, re.IGNORECASE)
_FIRST_NUMBER, _NEXT_NUMBER = re.compile(_NUMBER), re.compile(r"\n" + _NUMBER)
WORD_LABEL = re.compile(r"\s*" + _WORD + r"\s*", re.IGNORECASE)
"""A label with a word, at the place where it is matched, and the blanks around it."""
LABEL = re.compile(rf"^\s*(?:{_WORD.replace('?P<', '?P<word_')}|{_NUMBER})\s*", re.IGNORECASE)
"""A label with a word or a bare number at the beginning of a line."""
_DIGIT_OF = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0, "两": 2, "兩": 2}


@dataclass
class _Chain:
    """Labels of one style whose numbers follow one another."""

    labels: list[Span] = field(default_factory=list)
    expected: int = 1
    widest_indent: int = 0


def step_labels(text: str, region: Span, blocks: Sequence[Span]) -> list[Span]:
    """Return [start, end) of the labels that open numbered steps, in order.

    Labels with a word ("Step n", 步骤, 第n步) count wherever they open a line. A bare number counts where it
    continues 1, 2, 3 in its own style (sign, heading, emphasis), or goes on from the number that opens the
    region; where two styles do, the one that comes first is the outer one.

    Args:
        text: The whole text.
        region: Where to look.
        blocks: Stretches in which no label counts.
    """
    words = [
        (match.start("indent"), match.end())
        for match in _matches(_FIRST_WORD, _NEXT_WORD, text, region)
        if not is_inside(blocks, match.start("indent"))
    ]
    if len(words) >= 2:
        return words
    numbers = _number_labels(text, region, blocks)
    return numbers if len(numbers) >= 2 or not words else words


def _matches(
    first: re.Pattern[str], following: re.Pattern[str], text: str, region: Span
) -> list[re.Match[str]]:
    found = list(following.finditer(text, *region))
    opening = first.match(text, *region)
    return found if opening is None else [opening, *found]


def _number_labels(text: str, region: Span, blocks: Sequence[Span]) -> list[Span]:
    chains: dict[tuple[str, ...], _Chain] = {}
    for match in _matches(_FIRST_NUMBER, _NEXT_NUMBER, text, region):
        start = match.start("indent")
        if is_inside(blocks, start):
            continue
        number, kind = _value(match["number"])
        style = (kind, match["head"].strip(), match["open"] and "(", _SIGN_OF.get(match["sign"], ""))
        chain = chains.get(style)
        indent = len(match["indent"])
        if chain is None:
            if number != 1 and text[region[0] : start].strip():
                continue
            chains[style] = _Chain([(start, match.end())], number + 1, indent)
        elif number == chain.expected and indent <= chain.widest_indent:
            chain.labels.append((start, match.end()))
            chain.expected += 1
    known = [chain for chain in chains.values() if len(chain.labels) >= 2 or chain.expected == 2]
    known.sort(key=lambda chain: (len(chain.labels) < 2, chain.labels[0]))
    return known[0].labels if known else []


_SIGN_OF = {".": ".", "．": ".", ")": ")", "）": ")", ":": ":", "：": ":", "、": "、"}


def _value(number: str) -> tuple[int, str]:
    if "①" <= number[0] <= "⑳":
        return ord(number[0]) - ord("①") + 1, "circled"
    if number[0] in _CJK_DIGITS:
        return _cjk_value(number), "cjk"
    return int(number), "digit"


def _cjk_value(number: str) -> int:
    """Return the value of a Chinese numeral below a thousand; signs in a row are read as digits."""
    total, digit = 0, 0
    for sign in number:
        if sign in "十百":
            total += (digit or 1) * (10 if sign == "十" else 100)
            digit = 0
        else:
            digit = digit * 10 + _DIGIT_OF[sign]
    return total + digit
