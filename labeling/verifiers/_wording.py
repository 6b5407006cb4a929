"""What the words of a step say about its formulas: rejected, tried out, rounded, another arithmetic."""

import re
from bisect import bisect_left, bisect_right
from fractions import Fraction
from functools import cached_property

from labeling.verifiers._claims import Claim
from labeling.verifiers._phrasing import REJECTION, one_of

_REJECTED_NEARBY = one_of(
    r"""
    reject(?:s|ed|ing)?|(?:this|that|which|it|equation|equality|also|and|\d+) fails?|
    fails? (?:to|because|since|as|here|when|the (?:test|check|condition))|scratch that|a slip(?! of paper)|
    (?:that|this|it|which|answer|result|sum|product|total) should (?:actually |really )?(?:be|read|equal)
    [\s$\\(:]{0,4}-?\d
    """
)
"""Words that deny a formula in their own sentence or the one before."""
_CORRECTION = (
    r"(?:actually|hold on|no(?=[,.!;:—–]|\s[-—–])|sorry|correction|recomput\w*|recalculat\w*|scratch that|"
    r"hmm+|(?:i|we) (?:made a|meant|slipped)|let(?:['’]s| us| me) (?:re\w+|double[- ]check|"
    r"check (?:again|that again))|double[- ]check\w*)\b"
)
_CORRECTS_ITSELF = re.compile(rf"(?:[.!?…。！？:;]\s|\n|[—–(,]\s?|\s-\s){_CORRECTION}", re.IGNORECASE)
_OPENS_WITH_CORRECTION = re.compile(
    rf"\W{{0,8}}(?:(?:step|line)\s\d{{1,3}}\W{{1,6}})?(?:(?:but|oh|ah|well|and)\W{{1,3}})?{_CORRECTION}",
    re.IGNORECASE,
)
_MARKED_FALSE = re.compile(
    r"(?:[(\[,;:→⇒✓]|->|=>|\\(?:right|R)ightarrow|\\to|[-—–])[\s$\\)]{0,4}(?:no|nope|F)(?=\s?[)\].,;!|]|\s*$|\s*\n)",
    re.IGNORECASE,
)
"""What a table or list of trials writes behind a formula that does not hold."""
_HYPOTHESIS = one_of(
    r"""
    suppose|assum\w+|try|trying|tries|testing|guess\w*|check(?:ing)? (?:if|whether|that)|verif\w+|
    hypothe\w+|claim\w*|said|says|thinks?|thought|pretend\w*|let us say|let['’]s say|
    would (?:be|have|mean|give|require|need|imply|make|get|lead)|
    naive\w*|tempt\w+|common (?:error|mistake|slip)\w*|
    one (?:may|might|could|would) \w+|
    angenommen|supon\w+|suppos(?:ons|ez)|supponiamo|предположим|допустим|
    (?:dice|dijo|afirma|diz|disse|dit|sagt|meint|behauptet|говорит|сказал\w?|думает),? (?:que|dass|che|что)
    """,
    r"假设|假定|假如|假設|仮定|もし|만약|[说說]|认为|認為|算成",
)
"""Words in whose sentence a formula is tried out or told as somebody's."""
_CONDITION = re.compile(
    r"(?:\b(?:if|unless|wenn|falls|si|se|если|(?-i:Were|Had))[\s$\\(\[{]{1,6}|(?:如果|若|要是)\s?)"
    r"-?\d(?:[\d\s.,+\-−*/×·÷^(){}\\$²³°]|[a-zA-Zµ]{1,3}\b){0,60}(?:=|\\?(?:times|cdot|div))",
    re.IGNORECASE,
)
"""A condition that is a formula: "If 2 + 2 = 5 then"; conditions in words speak of what they are about."""
_REPORTED = one_of(
    r"""
    (?:students?|pupils?|learners?|beginners?|people|someone|somebody|classmates?|friend|teacher)\s
    (?:\w+ ){0,2}(?:wr[io]tes?|write|comput\w+|calculat\w+|believ\w+|conclud\w+|argu\w+|answer\w*)|
    according to (?:him|her|them|(?!the\b|this\b)(?-i:[A-Z])\w+)(?=,|\s[\d$\\(])|
    (?:do not|don['’]t|never|must not|mustn['’]t|should not|shouldn['’]t) (?:just |simply )?
    (?:write|say|claim|conclude|think|confuse)|
    (?:cannot|can['’]t|can not|couldn['’]t|could not) (?:have|get|obtain|reach)
    """
)
"""Words in whose sentence a formula is somebody else's, or warned of."""
_LEADS_TO_REPORT = re.compile(
    r"\b(?:(?!(?:We|I|You|It|So|Then|Thus|This|That|Now|Next|And)\b)[A-Z]\w+ (?:wrote|writes|computed|"
    r"computes|calculated|calculates|answered|answers|argued|argues|believes|believed)|"
    r"[Ww]e (?:need|want|require)(?: to have)?|[Rr]equires?)(?: that| down)?[:\s$\\(]{1,6}$"
)
"""What stands at once before a formula of a person, or one that is wished for; see `Wording._is_told`."""
_OPTION = re.compile(
    r"\b(?:option|choice|statement)\s\(?[A-H1-9]\)?\s?(?:is\b|says\b|[:.)–-])[\s$\\(]{0,6}$", re.I
)
_COMMAND = re.compile(r"\\(?!approx)[A-Za-z]+")
_NAMES_THINGS = re.compile(r"[^\W\d_]|[$€£≈](?=.)")
"""What stands in a formula with a value of its own: things, money, an approximation of something computed."""
_GOES_ON = re.compile(
    r"[\s$\\)]{0,3}(?:[a-z]{3,12}\s)?(?:and|with|,)\s(?:an?\s)?\d{1,6}(?:/\d{1,6})?(?![\d./])"
    r"(?!\s?(?:[-+*×÷=^<>%]|\\))"
)
_QUOTIENT = re.compile(r"[/÷]|\\[dt]?frac|\\div")
_NUMBER_BASE = re.compile(
    r"\b(?:binary|hexadecimal|octal|base[- ](?:\d+|two|eight|ten)|congruent|xor|boolean|bitwise|"
    r"logical (?:or|and)|GF\s?\(|F_\{?\d|finite field)|⊕|\\oplus|\\mathbb\s?\{?F\}?_",
    re.IGNORECASE,
)
_MODULUS = re.compile(r"\\[pb]?mod(?![A-Za-z])|\\equiv|≡|\bmod(?:ulo)?\b", re.IGNORECASE)
_NAMED_MODULUS = re.compile(
    r"(?:\\[pb]?mod(?![A-Za-z])|\bmod(?:ulo)?\b)[\s{($\\]{0,4}(\d{1,12})(?![\d.])", re.IGNORECASE
)
_RING = re.compile(r"(?:\bZ|ℤ|\\(?:mathbb|mathbf)\s?\{?Z\}?|\\Z)\s?(?:_\s?\{?|/\s?)(\d{1,12})(?![\d.])")
_CLOCK = re.compile(r"\d\s?\\?[ap]\.?m\b|\bo['’]clock\b|\bclock\b|点钟|點鐘|\bUhr\b", re.IGNORECASE)
HALF_DAY = 12
_SMALL_CHANGE = re.compile(
    r"(?:[€£]|\beuros?\b)(?:[^.;\n]|\.\d){0,40}(?:\b(?:cents?|pence|pennies)\b|¢|\dp\b)|"
    r"(?:\b(?:cents?|pence|pennies)\b|¢|\dp\b)[^.;\n]{0,40}(?:[€£]|\beuros?\b)",
    re.IGNORECASE,
)
"""Cents beside another currency than the dollar, which units judge."""
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[。！？\n]")
MAX_LOOK_AHEAD = 200
"""Characters of the next step that may still reject this one."""
_NEAR = 12
_ROUNDING = re.compile(
    r"(?<!\\)\b(?:round\w*|approx\w*|about|nearest|roughly|around|whole|estimat\w*|ceil\w*|floor|almost|nearly|"
    r"at least|integer|partial|half a|remainder|quotient|left over|leftover|"
    r"(?<=\d\s)(?:full|complete|entire)|(?<=\d\s)extra)\b",
    re.IGNORECASE,
)
_ANNOTATED_RESULT = re.compile(r"<<[^<>\n]{1,200}=\s?(-?\d{1,30}(?:\.\d{1,30})?)>>")
_PERCENT = re.compile(r"%|\bpercent", re.IGNORECASE)


class Wording:
    """What the words of a step (and the start of the next) say about its formulas."""

    def __init__(self, text: str, following: str) -> None:
        self.text = text
        self.following = following
        self._found: dict[tuple[re.Pattern[str], int, int], bool] = {}

    def _finds(self, pattern: re.Pattern[str], start: int = 0, end: int | None = None) -> bool:
        """Whether a part of the step matches; the claims of a sentence ask for the same part."""
        key = (pattern, start, len(self.text) if end is None else end)
        if key not in self._found:
            self._found[key] = pattern.search(self.text, *key[1:]) is not None
        return self._found[key]

    def doubt(self, start: int, end: int) -> str:
        """Return what in the words around a claim takes it out of plain assertion; "" when nothing does.

        What rejects it stands anywhere in the step or at the start of the next; what makes it an assumption
        or somebody's saying stands in its own sentence; a correction stands behind it.

        Args:
            start: Where the claim starts in the step's text.
            end: Where it ends.
        """
        first, last, next_end = self._sentence(start, end)
        if self._finds(_HYPOTHESIS, first, last) or self._finds(_CONDITION, first, last):
            return "the text tries something out"
        if self._is_told(first, start, end, last):
            return "the text tells what somebody says or wants"
        if self._is_rejected(first, start, end, next_end):
            return "the text rejects something"
        if _QUOTIENT.search(self.text, start, end) and _GOES_ON.match(self.text, end):
            return "the quotient may go on in words"
        return ""

    def _sentence(self, start: int, end: int) -> tuple[int, int, int]:
        """Return where a claim's sentence starts and ends, and where the next one ends."""
        ends = self._sentence_ends
        before, behind = bisect_right(ends, start), bisect_left(ends, end + 1)
        bounds = [*ends[behind : behind + 2], len(self.text), len(self.text)]
        return (ends[before - 1] if before else 0), bounds[0], bounds[1]

    @cached_property
    def _sentence_ends(self) -> list[int]:
        return [match.end() for match in _SENTENCE_END.finditer(self.text)]

    @cached_property
    def _rejects_something(self) -> bool:
        return (
            REJECTION.search(self.text) is not None
            or REJECTION.search(self.following, 0, MAX_LOOK_AHEAD) is not None
            or _OPENS_WITH_CORRECTION.match(self.following) is not None
            or _REJECTED_NEARBY.search(self.following, 0, self._first_sentence) is not None
        )

    @property
    def _first_sentence(self) -> int:
        """Where the first sentence of the next step ends."""
        ending = _SENTENCE_END.search(self.following, 0, MAX_LOOK_AHEAD)
        return MAX_LOOK_AHEAD if ending is None else ending.end()

    def _is_rejected(self, first: int, start: int, end: int, next_end: int) -> bool:
        return (
            self._rejects_something
            or self._finds(_REJECTED_NEARBY, first, next_end)
            or _CORRECTS_ITSELF.search(self.text, end - 1, end + MAX_LOOK_AHEAD) is not None
            or _MARKED_FALSE.search(self.text, start, end + _NEAR) is not None
        )

    def _is_told(self, first: int, start: int, end: int, last: int) -> bool:
        """Whether a formula is another person's, a wish, or one of the options.

        A bare formula alone: she needs 3 * 4 = 13 eggs, and option A costs 3 * $4 = $13.
        """
        if self._finds(_REPORTED, first, last):
            return True
        # A dollar sign that opens a formula in LaTeX is no money.
        begin = start + 1 if self.text[end : end + 1] == self.text[start] == "$" else start
        if _NAMES_THINGS.search(_COMMAND.sub("", self.text[begin:end])):
            return False
        opening = self.text[max(first, start - 80) : start]
        return any(pattern.search(opening) for pattern in (_LEADS_TO_REPORT, _OPTION))

    def other_arithmetic(self, difference: Fraction) -> str:
        """Return which other arithmetic an equation may belong to, "" when none of them saves it.

        Args:
            difference: Left side minus right side.
        """
        if self._finds(_NUMBER_BASE):
            return "another number base or kind of arithmetic"
        if self._finds(_SMALL_CHANGE):
            return "cents of another currency"
        if difference % HALF_DAY == 0 and self._finds(_CLOCK):
            return "hours on a clock"
        if not self._finds(_RING) and not self._finds(_MODULUS):
            return ""
        moduli = [int(match.group(1)) for match in _RING.finditer(self.text)]
        moduli += [int(match.group(1)) for match in _NAMED_MODULUS.finditer(self.text)]
        if not moduli or difference.denominator != 1 or any(n and difference % n == 0 for n in moduli):
            return "an arithmetic of remainders"
        return ""

    def annotated_value(self, claim: Claim) -> Fraction | None:
        """Return the result that an annotation inside the claim shows: 24 in <<48/2=24>>."""
        match = _ANNOTATED_RESULT.search(self.text, claim.start, claim.end)
        return None if match is None else Fraction(match.group(1))

    @property
    def speaks_of_rounding(self) -> bool:
        return self._finds(_ROUNDING)

    @property
    def speaks_of_percent(self) -> bool:
        return self._finds(_PERCENT)
