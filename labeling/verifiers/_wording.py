"""What the words of a step say about its formulas: rejected, tried out, rounded, another arithmetic."""

import re
from fractions import Fraction

from labeling.verifiers._claims import Claim

_REJECTION = re.compile(
    r"\b(?:incorrect|wrong|false|contradict\w*|impossible|mistake\w*|error|invalid|wait|oops|no solution|"
    r"not (?:equal|true|possible|correct|valid|work|satisf\w+|match\w*|hold)|does(?:n't| not)|isn't|can't|"
    r"cannot|unless|too (?:large|small|big|high|low|much|many|few))\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"\b(?:suppose|assum\w+|try|trying|tries|testing|guess\w*|check(?:ing)? (?:if|whether|that)|verif\w+|"
    r"plug\w*|hypothe\w+|claim\w*|"
    r"said|says|thinks|thought|both sides|set up|write (?:this|an?|the) equation|can write|proportion)\b",
    re.IGNORECASE,
)
_OTHER_ARITHMETIC = re.compile(
    r"\\(?:p|b)?mod|\\equiv|≡|\b(?:mod|modulo|binary|hexadecimal|congruent|base[- ](?:\d+|two|eight|ten))\b",
    re.IGNORECASE,
)
_ROUNDING = re.compile(
    r"\b(?:round\w*|approx\w*|about|nearest|roughly|around|whole|estimat\w*|ceil\w*|floor|almost|nearly|"
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

    @property
    def doubt(self) -> str:
        """What in the words takes the formulas out of plain assertion; "" when nothing does."""
        if _REJECTION.search(self.text) or _REJECTION.search(self.following[:200]):
            return "the text rejects something"
        if _HYPOTHESIS.search(self.text):
            return "the text tries something out"
        if _OTHER_ARITHMETIC.search(self.text):
            return "another arithmetic (modulus, number base)"
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
