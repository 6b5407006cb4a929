"""Where sentences end: full stops told from decimals, abbreviations, initials and ellipses, in any script.

The rules are those of careful typography, not a trained model: a sign of the end, what may close behind it
(quotes, brackets, emphasis), white space (none is needed behind a full-width sign), and something that can
open a sentence. Nothing ends inside mathematics, code, brackets or quotes.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from labeling._blocks import Span, merged, outside

MAX_BRACKET_CHARACTERS = 400
"""A bracket or quote that is longer than this protects nothing: its partner is more likely lost."""

_END = re.compile(
    r"[.!?…。！？｡．](?:(?<=[。！？｡．])(?P<wide>[。！？｡．!?…]*[\"'”’」』）》】)\]*_$]*)"
    r"|(?<=[.!?…])(?<![.!?…][.!?…])(?P<signs>[.!?…]*+)(?P<close>(?:[\"'”’»)\]}）」』*_$]|\\[)\]])*)(?=\s))"
)
_BRACKET = re.compile(r"[$`()\[\]（）【】\"“”«»「」『』《》]+|\\[()]")
_OPENINGS_OF = {
    ")": ("(", "（"),
    "）": ("（", "("),
    "]": ("[",),
    "】": ("【",),
    "”": ("“",),
    "»": ("«",),
    "」": ("「",),
    "』": ("『",),
    "》": ("《",),
    "\\)": ("\\(",),
}

BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LINE_BREAK = re.compile(r"\n\s*")
_FORMULAS = ("\\[", "$$", "\\begin{")
_MAX_TRAILING_BLANKS = 8
_SMALL_WORD = re.compile(r"(?:[a-zà-ÿа-я]{2}|a )")
_GOES_ON_AFTER = re.compile(r"[,;:，；：、=+−×/÷<>≤≥≈(\[{&—–]")
_GOES_ON_WITH = re.compile(
    r"[=+×÷<≤≥≈,;)\]}]|\\(?:cdot|times|div|le|ge|leq|geq|approx|equiv|implies|Rightarrow|to|quad)\b"
    r"|(?:and|or|but|so|which|that|because|since|where|with|then|thus|hence|therefore|giving|gives|is|are|for|if"
    r"|when|while|as|by|to)\b"
)

_MAX_WORD = 24
_OPENER = re.compile(r"\s+(?P<lead>[\"'“‘«(\[（「『《*_#>-]*)(?P<next>\S)(?P<rest>[^\W\d_]{0,15})")

_BEFORE_A_NAME = frozenset(
    """
    mr mrs ms mx dr prof mt rev hon gen col capt lt sgt sen rep gov pres fig figs eq eqs eqn eqns ref refs sec
    secs ch chap thm lem prop cor def ex exs pp vs viz cf e.g i.e eg ie approx ca resp nos vol vols ed eds
    incl excl dept univ
    """.split()  # noqa: SIM905 - read as text
)
"""Abbreviations that never end a sentence: something that they introduce follows."""
_BEFORE_A_NUMBER = frozenset("no p jan feb mar apr jun jul aug sep sept oct nov dec".split())  # noqa: SIM905
"""Words that are abbreviations in front of a number only."""
_IN_A_NAME = frozenset("jr sr st inc ltd co corp".split())  # noqa: SIM905
"""Abbreviations that end a name, and so a sentence at times."""
_UNITS = frozenset("in ft yd mi oz lb lbs gal qt pt hr hrs min mins sec secs cm mm km kg".split())  # noqa: SIM905
_OPENING_WORDS = frozenset(
    """
    A After All Also An And Answer Any As Assume At Because Before Both But By Calculate Can Check Clearly
    Combining Compute Consider Continuing Convert Denote Determine Divide Does During Each Either Every
    Finally Find First For From Given Half Hence Here His How However I If In Indeed Instead It Its Last
    Let Likewise Multiply My Next No Nor Note Notice Now Observe On Once One Only Or Otherwise Our Out
    Over Plugging Recall Repeat Second Set She Show Similarly Simplify Since So Solve Solving Some Step
    Still Substitute Substituting Subtract Such Suppose Take Taking That The Their Then There Therefore
    These They Third This Those Though Through Thus To Together Two Under Use Using Verify We What When
    Where Whereas Which While Who Why With Within Without Write Yes Yet You Your He Her
    """.split()  # noqa: SIM905 - read as text
)
"""Capitalised words that open sentences and are no names: behind them a point was a full stop."""
_SHORT_FORMS = _BEFORE_A_NAME | _BEFORE_A_NUMBER | _IN_A_NAME | _UNITS
_LAST_WORD = re.compile(r"[^\w.]+")
_NAME_BEFORE = re.compile(
    r"(?:\A|[^\W\d_a-z][\w.'’-]*|\b(?:by|and|of|with|from|to|for|named|called)|[,;(&\"“])\s*\Z"
)
_COUNTED = re.compile(
    r"[\s#*_>-]*(?:(?:step|case|part|problem|question|example|exercise|claim|lemma|theorem|note|method|option)\s+)?"
    r"[(（]?(?:\d{1,3}|[A-Za-z]|[ivxIVX]{1,5})",
    re.IGNORECASE,
)
_MAX_COUNTED = 40
_GOING_ON = frozenset(",;:=+/×÷·<>≤≥≈)]}.")


def sentence_cuts(text: str, region: Span, blocks: Sequence[Span]) -> Iterator[Span]:
    """Yield what separates the sentences of a region; an empty span only divides.

    A blank line separates, and a line break unless the next line goes on: it opens with a sign of mathematics
    or a connective, or, behind a word, with a small word or a displayed formula; or the line before ends in
    a comma, a colon or an operator.
    """
    paragraph_start = region[0]
    blanks = (match.span() for match in BLANK_LINE.finditer(text, *region))
    for blank in (*outside(blanks, blocks), (region[1], region[1])):
        paragraph = (paragraph_start, blank[0])
        protected = protected_spans(text, paragraph, blocks)
        breaks = (match.span() for match in LINE_BREAK.finditer(text, *paragraph))
        cuts = [cut for cut in outside(breaks, protected) if not _is_wrapped(text, cut)]
        cuts += ((end, end) for end in sentence_ends(text, paragraph, protected))
        yield from sorted(cuts)
        yield blank
        paragraph_start = blank[1]


def goes_on(text: str, before: int, after: int) -> bool:
    """Tell whether what begins at `after` goes on with what ends before `before`, by the signs there."""
    last = _last_sign(text, before)
    if _GOES_ON_AFTER.match(last) or _GOES_ON_WITH.match(text, after):
        return True
    return last.isalpha() and text.startswith(_FORMULAS, after)


def _is_wrapped(text: str, line_break: Span) -> bool:
    before, after = line_break
    is_prose = _last_sign(text, before).isalpha() and _SMALL_WORD.match(text, after) is not None
    return is_prose or goes_on(text, before, after)


def _last_sign(text: str, before: int) -> str:
    return text[max(0, before - _MAX_TRAILING_BLANKS) : before].rstrip()[-1:]


def protected_spans(text: str, region: Span, blocks: Sequence[Span]) -> list[Span]:
    r"""Return what no sentence ends inside: the blocks, and $..$, \(..\), code, brackets and quotes."""
    blocks_here = _blocks_in(blocks, region)
    return merged([*blocks_here, *_enclosed(text, region, blocks_here)])


def sentence_ends(text: str, region: Span, protected: Sequence[Span]) -> Iterator[int]:
    """Yield the offsets behind the sentences that end inside a region, in order."""
    start = region[0]
    starts = [span[0] for span in protected]
    for match in _END.finditer(text, *region):
        end = match.end()
        if end >= region[1]:
            return
        # An end within a stretch, not at its border, is none.
        index = bisect_left(starts, end) - 1
        if index >= 0 and end < protected[index][1]:
            continue
        if _is_end(text, start, match, region[1]):
            yield end
            start = end


def _blocks_in(blocks: Sequence[Span], region: Span) -> list[Span]:
    first = bisect_right(blocks, region[0], key=lambda block: block[1])
    last = bisect_left(blocks, region[1], first, key=lambda block: block[0])
    return list(blocks[first:last])


def _is_end(text: str, start: int, match: re.Match[str], limit: int) -> bool:
    """Tell whether the sign of a match ends the sentence that began at `start`."""
    if match["wide"] is not None:
        return match[0] != "．" or not text[match.end()].isdigit()
    opener = _OPENER.match(text, match.end(), limit)
    if opener is None:
        return False
    following = opener["next"]
    if following.islower() or following in _GOING_ON:
        return False
    place = match.start()
    sign = text[place]
    if sign != ".":
        # Behind a number or a letter "!" may be a factorial.
        return sign != "!" or following.isupper() or not text[place - 1 : place].isalnum()
    if match["signs"]:
        return following.isupper() or not (following.isdigit() or following in "\\$")
    if not match["close"] and _is_short_form(text, start, place, opener):
        return False
    begin = max(start, text.rfind("\n", start, place) + 1)
    return place - begin > _MAX_COUNTED or _COUNTED.fullmatch(text, begin, place) is None


def _is_short_form(text: str, start: int, place: int, opener: re.Match[str]) -> bool:
    """Tell whether the word before a point is an abbreviation or an initial, not the end of a sentence."""
    before = text[max(start, place - _MAX_WORD) : place]
    word = _LAST_WORD.split(before)[-1]
    name = word.lower()
    if name not in _SHORT_FORMS and "." not in name and (len(name) != 1 or name == word):
        return False
    following = opener["next"]
    opens_sentence = following + opener["rest"] in _OPENING_WORDS
    if name in _BEFORE_A_NAME:
        return not (opens_sentence and name in _UNITS)
    if name in _BEFORE_A_NUMBER or name in _UNITS:
        return following.isdigit()
    if name in _IN_A_NAME:
        return not opens_sentence
    if "." in name:
        return name[0].isalpha() and (following.isdigit() or not opens_sentence)
    if not following.isupper() or opener["lead"]:
        return False
    if not opener["rest"] and text[opener.end() : opener.end() + 1] == ".":
        return True
    if opens_sentence:
        return False
    # An initial belongs to a name; behind any other word a letter names a point, a choice or a quantity.
    return _NAME_BEFORE.search(before[: -len(word)]) is not None


def _enclosed(text: str, region: Span, blocks: Sequence[Span]) -> list[Span]:
    """Return brackets, quotes, inline code and inline mathematics, each with its signs."""
    scan = _Enclosures(text)
    runs = (match.span() for match in _BRACKET.finditer(text, *region))
    for start, end in outside(runs, blocks):
        scan.read(start, end)
    return scan.found


class _Enclosures:
    """Pairs opening and closing signs, left to right; what stands in code or mathematics is no sign."""

    def __init__(self, text: str) -> None:
        self.found: list[Span] = []
        self._text = text
        self._open_of: dict[str, list[int]] = {}
        self._ticks_of: dict[str, int] = {}
        self._dollar = self._quote = -1

    def read(self, start: int, end: int) -> None:
        """Take in a run of signs."""
        if self._text[start] == "\\":
            self._read_bracket(self._text[start:end], start, end)
            return
        at = start
        while at < end:
            sign = self._text[at]
            last = at + 1
            if sign == "`":
                while last < end and self._text[last] == sign:
                    last += 1
                self._read_ticks(at, last)
            elif sign == "$":
                self._read_dollar(at)
            elif sign == '"':
                self._read_quote(at)
            else:
                self._read_bracket(sign, at, last)
            at = last

    def _read_bracket(self, sign: str, start: int, end: int) -> None:
        if sign not in _OPENINGS_OF:
            self._open_of.setdefault(sign, []).append(start)
            return
        for opening in _OPENINGS_OF[sign]:
            if places := self._open_of.get(opening):
                self._keep(places.pop(), end)
                return

    def _read_ticks(self, start: int, end: int) -> None:
        # As in Markdown, a run of ticks is closed by a run of the same length.
        run = self._text[start:end]
        if run in self._ticks_of:
            self._keep(self._ticks_of.pop(run), end)
        else:
            self._ticks_of[run] = start

    def _read_dollar(self, at: int) -> None:
        # As pandoc tells mathematics from money: no blank inside the signs, no digit behind the second.
        before, behind = self._text[at - 1 : at] if at else "", self._text[at + 1 : at + 2]
        if before == "\\":
            return
        if self._dollar >= 0 and not before.isspace() and not behind.isdigit():
            self._keep(self._dollar, at + 1)
            self._dollar = -1
        elif behind and not behind.isspace():
            self._dollar = at

    def _read_quote(self, at: int) -> None:
        before, behind = self._text[at - 1 : at] if at else "", self._text[at + 1 : at + 2]
        if (not before or before.isspace() or before in "([{—–-") and behind and not behind.isspace():
            self._quote = at
        elif self._quote >= 0:
            self._keep(self._quote, at + 1)
            self._quote = -1

    def _keep(self, start: int, end: int) -> None:
        if end - start <= MAX_BRACKET_CHARACTERS:
            self.found.append((start, end))
