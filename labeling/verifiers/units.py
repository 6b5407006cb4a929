"""Quantities with units that a step sets equal: their values and their dimensions, both exactly.

A claim is false only when no reasonable reading makes it true: a number without a unit takes any, a letter
may be a variable, everyday language leaves units out, ratios between systems of units are quoted rounded.
A step is WRONG when one claim is false, RIGHT when at least one claim was checked and all were true, else
UNDECIDED. Sums of plain numbers are the arithmetic verifier's; nothing is said of them here.
"""

import re
from itertools import islice

from labeling.records import Problem, Solution
from labeling.verifiers._unit_claims import MAX_CLAIMS, Claim, LeftOpen, find_claims, variables_of
from labeling.verifiers._unit_history import History, unconverted
from labeling.verifiers._unit_judgement import DOUBTFUL, Finding, judge, shown_size
from labeling.verifiers._unit_tokens import tokenize
from labeling.verifiers._wording import Wording
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_STEP_CHARACTERS = 20_000

_MAY_SPEAK = re.compile(r"\d")
_SCALE_DRAWING = re.compile(r"\b(?:map|scale|model|drawing|represents?|blueprint|diagram)\b", re.IGNORECASE)


class UnitsVerifier:
    """Checks units and conversions that a step writes out; meets `Verifier`."""

    name = "units"

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step; earlier steps and the problem tell which letters are variables."""
        variables: set[str] = set()
        texts = solution.step_texts
        is_drawing = _SCALE_DRAWING.search(problem.text) is not None
        history, left_open = History(problem), LeftOpen()
        verdicts = []
        for index, text in enumerate(texts):
            following = texts[index + 1] if index + 1 < len(texts) else ""
            verdicts.append(self._judge(text, following, variables, history, left_open, is_drawing))
        return verdicts

    def judge(self, text: str, *, following: str = "") -> Verdict:
        """Judge one step by itself. `following` is the next step, which may reject what this one tries."""
        return self._judge(text, following, set(), History(Problem(id="", text="")), LeftOpen(), False)

    def _judge(
        self,
        text: str,
        following: str,
        variables: set[str],
        history: History,
        left_open: LeftOpen,
        is_drawing: bool,
    ) -> Verdict:
        """Judge one step, and add to `variables` the letters that it uses as names."""
        is_long = len(text) > MAX_STEP_CHARACTERS
        if is_long or _MAY_SPEAK.search(text) is None:
            left_open.name, left_open.member = "", None
            too_long = f"step longer than {MAX_STEP_CHARACTERS} characters"
            return Verdict.undecided(too_long if is_long else "no quantities set equal")
        tokens = tokenize(text)
        variables |= variables_of(tokens)
        claims = list(islice(find_claims(text, tokens, left_open), MAX_CLAIMS + 1))
        wording = Wording(text, following)
        evidence = [
            self._evidence(wording, claim, _judge_claim(claim, variables, history), is_drawing)
            for claim in claims[:MAX_CLAIMS]
        ]
        if len(claims) > MAX_CLAIMS:
            return Verdict.undecided(f"more than {MAX_CLAIMS} claims", evidence)
        return _conclude(evidence)

    def _evidence(self, wording: Wording, claim: Claim, finding: Finding, is_drawing: bool) -> Evidence:
        outcome, kind, reason, text = finding.outcome, finding.kind, finding.reason, wording.text
        doubt = _doubt(wording, claim, is_drawing=is_drawing) if outcome is Outcome.WRONG else ""
        if doubt:
            outcome, kind, reason = Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {doubt}"
        return Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=kind,
            text=text[claim.start : claim.end],
            start=claim.start,
            end=claim.end,
            left=finding.left,
            right=finding.right,
            reason=reason,
        )


def _judge_claim(claim: Claim, variables: set[str], history: History) -> Finding:
    finding = judge(claim, variables)
    if finding.outcome is Outcome.UNDECIDED and (sizes := unconverted(claim, history)) is not None:
        left, right = (shown_size(size) for size in sizes)
        reason = f"in the units given it is {left}, not {right}"
        return Finding(Outcome.WRONG, "unconverted", reason, left, right)
    return finding


def _doubt(wording: Wording, claim: Claim, *, is_drawing: bool) -> str:
    """Return what in the words takes a claim out of plain assertion; "" when nothing does."""
    doubt = wording.doubt(claim.start, claim.end)
    if not doubt and (is_drawing or _SCALE_DRAWING.search(wording.text)):
        return "the text speaks of a scale"
    return doubt


def _conclude(evidence: list[Evidence]) -> Verdict:
    for item in evidence:
        if item.outcome == Outcome.WRONG:
            return Verdict.wrong(f"{item.text}: {item.reason}", evidence)
    for item in evidence:
        if item.kind == DOUBTFUL:
            return Verdict.undecided(f"doubtful: {item.reason.rpartition(', but: ')[2]}", evidence)
    if any(item.outcome == Outcome.RIGHT for item in evidence):
        return Verdict.right("every checked quantity agrees", evidence)
    reasons = [item.reason for item in evidence]
    return Verdict.undecided(reasons[0] if reasons else "no quantities set equal", evidence)
