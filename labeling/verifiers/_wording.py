"""What the words of a step say about its formulas: rejected, tried out, rounded, another arithmetic."""

import re
from fractions import Fraction

from labeling.verifiers._claims import Claim

_REJECTION = re.compile(
    r"\b(?:incorrect|wrong|false|contradict\w*|impossible|mistake\w*|error|invalid|wait|oops|no solution|"
    r"(?:not|n't|never|cannot) (?:be |quite )?(?:equal|true|possible|correct|valid|work|satisf\w+|match\w*|"
    r"hold|fit|divide|give|add up|happen|make sense|the same|what we)|isn't|can't be|cannot be|"
    r"unlike|instead of|"
    r"rather than|too (?:large|small|big|high|low|much|many|few))\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"\b(?:suppose|assum\w+|try|trying|tries|testing|guess\w*|check(?:ing)? (?:if|whether|that)|verif\w+|"
    r"hypothe\w+|claim\w*|said|says|thinks|thought|pretend\w*|would (?:be|have|mean|give)|let us say|"
    r"let's say)\b",
    re.IGNORECASE,
)
_NUMBER_BASE = re.compile(
    r"\b(?:binary|hexadecimal|octal|base[- ](?:\d+|two|eight|ten)|congruent)\b", re.IGNORECASE
)
_MODULUS = re.compile(r"\\[pb]?mod(?![A-Za-z])|\\equiv|≡|\bmod(?:ulo)?\b", re.IGNORECASE)
_NAMED_MODULUS = re.compile(
    r"(?:\\[pb]?mod(?![A-Za-z])|\bmod(?:ulo)?\b)[\s{($\\]{0,4}(\d{1,12})(?![\d.])", re.IGNORECASE
)
_SENTENCE_END = re.compile(r"[.!?。！？](?=\s|$)|\n")
MAX_LOOK_AHEAD = 200
"""Characters of the next step that may still reject this one."""
_ROUNDING = re.compile(
    r"(?<!\\)\b(?:round\w*|approx\w*|about|nearest|roughly|around|whole|estimat\w*|ceil\w*|floor|almost|nearly|"
    r"at least|integer|partial|half a|remainder|quotient|left over)\b",
    re.IGNORECASE,
)
_ANNOTATED_RESULT = re.compile(r"<<[^<>\n]{1,200}=\s?(-?\d{1,30}(?:\.\d{1,30})?)>>")
_PERCENT = re.compile(r"%|\bpercent", re.IGNORECASE)


class Wording:
    """What the words of a step (and the start of the next) say about its formulas."""

    def __init__(self, text: str, following: str) -> None:
        self.text = text
        self.following = following

    def doubt(self, start: int, end: int) -> str:
        """Return what in the words around a claim takes it out of plain assertion; "" when nothing does.

        What rejects it stands anywhere in the step or at the start of the next; what makes it an assumption
        stands in its own sentence.

        Args:
            start: Where the claim starts in the step's text.
            end: Where it ends.
        """
        ends = [match.end() for match in _SENTENCE_END.finditer(self.text)]
        first = max((place for place in ends if place <= start), default=0)
        behind = [place for place in ends if place > end]
        last = behind[0] if behind else len(self.text)
        if _HYPOTHESIS.search(self.text, first, last):
            return "the text tries something out"
        if _REJECTION.search(self.text) or _REJECTION.search(self.following, 0, MAX_LOOK_AHEAD):
            return "the text rejects something"
        return ""

    def other_arithmetic(self, difference: Fraction) -> str:
        """Return which other arithmetic an equation may belong to, "" when none of them saves it.

        Args:
            difference: Left side minus right side.
        """
        if _NUMBER_BASE.search(self.text):
            return "another number base"
        if not _MODULUS.search(self.text):
            return ""
        moduli = [int(match.group(1)) for match in _NAMED_MODULUS.finditer(self.text)]
        if not moduli or difference.denominator != 1 or any(n and difference % n == 0 for n in moduli):
            return "an arithmetic of remainders"
        return ""

    def annotated_value(self, claim: Claim) -> Fraction | None:
        """Return the result that an annotation inside the claim shows: 24 in <<48/2=24>>."""
        match = _ANNOTATED_RESULT.search(self.text, claim.start, claim.end)
        return None if match is None else Fraction(match.group(1))

    @property
    def speaks_of_rounding(self) -> bool:
        return _ROUNDING.search(self.text) is not None

    @property
    def speaks_of_percent(self) -> bool:
        return _PERCENT.search(self.text) is not None
