"""Line -> what is true of it.

The grammar has three kinds of line:

    NAME A OPERATOR B = C       a step
    check A = B                 filler
    answer A                    the end of a solution

A line is judged against the problem's true values, not against what was written before it: whoever
carries a wrong result on writes wrong steps until the running value is right again.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from labeling.simulators.base import StepTruth
from labeling.simulators.engineering.spec import Spec, TrueStep, apply
from labeling.verifiers.verdict import Outcome

_NUMBER = r"-?\d{1,9}"
_STEP = re.compile(rf"([A-Za-z][A-Za-z-]*) ({_NUMBER}) ([-+*/]) ({_NUMBER}) = ({_NUMBER})", re.ASCII)
_CHECK = re.compile(rf"check ({_NUMBER}) = ({_NUMBER})", re.ASCII)
_ANSWER = re.compile(rf"answer ({_NUMBER})", re.ASCII)


@dataclass(frozen=True)
class Finding:
    """What is true of one line."""

    outcome: Outcome
    kind: str
    """"step", "filler", "final_answer", "blank" or "unreadable"."""
    reason: str
    expected: str
    """The true line, "" when none corresponds."""
    truth: StepTruth


@dataclass
class Judge:
    """Judges the lines of one solution in order; it remembers only which lines were written."""

    spec: Spec
    written: set[str] = field(default_factory=set)
    """Names of the steps and texts of the lines seen so far."""

    def line(self, text: str) -> Finding:
        """Judge the next line; leading and trailing blanks do not matter."""
        line = text.strip()
        finding = self._judge(line)
        self.written.add(line)
        self.written.add(line.split(" ", 1)[0])
        return finding

    def _judge(self, line: str) -> Finding:
        if not line:
            return _undecided("blank", "The line is empty: it claims nothing.")
        if match := _ANSWER.fullmatch(line):
            return self._answer(int(match[1]), is_repeated=line in self.written)
        if match := _CHECK.fullmatch(line):
            return _filler(int(match[1]), int(match[2]))
        if match := _STEP.fullmatch(line):
            name, left, operator, right, result = match.groups()
            claim = TrueStep(name, int(left), operator, int(right), int(result))
            return self._step(claim, is_repeated=line in self.written)
        return _undecided("unreadable", "The line is none of: NAME A + B = C, check A = B, answer A.")

    def _answer(self, value: int, *, is_repeated: bool) -> Finding:
        last, is_right = self.spec.steps[-1], value == self.spec.answer
        outcome, reason = Outcome.RIGHT, ""
        if not is_right:
            outcome, reason = Outcome.WRONG, f"The answer is {self.spec.answer}, {value} was written."
        elif last.name not in self.written:
            outcome = Outcome.UNDECIDED
            reason = f"The value is right, but the step {last.name} that gives it was not written."
        return Finding(
            outcome,
            "final_answer",
            reason,
            f"answer {self.spec.answer}",
            StepTruth(is_equation_right=None, is_quantity_right=is_right, is_needed=not is_repeated),
        )

    def _step(self, claim: TrueStep, *, is_repeated: bool) -> Finding:
        is_equation_right = apply(claim.left, claim.operator, claim.right) == claim.result
        place = next((i for i, s in enumerate(self.spec.steps) if s.name == claim.name), None)
        expected = None if place is None else self.spec.steps[place]
        is_quantity_right, reason = self._quantities(claim, place)
        outcome = Outcome.RIGHT
        if not is_equation_right:
            outcome, reason = Outcome.WRONG, _false_equation(claim)
        elif is_quantity_right is False:
            outcome = Outcome.WRONG
        elif is_quantity_right is None:
            outcome = Outcome.UNDECIDED
        is_needed = expected is not None and not is_repeated and not self._is_settled(expected)
        return Finding(
            outcome,
            "step",
            reason,
            "" if expected is None else str(expected),
            StepTruth(
                is_equation_right=is_equation_right,
                is_quantity_right=is_quantity_right,
                is_needed=is_needed,
            ),
        )

    def _is_settled(self, step: TrueStep) -> bool:
        return any(str(form) in self.written for form in _equal_forms(step))

    def _quantities(self, claim: TrueStep, place: int | None) -> tuple[bool | None, str]:
        if place is None:
            if self.spec.is_chain:
                return False, f"{claim.name} is not among this problem's elements."
            return None, f"This problem's solution names no {claim.name}; it may be another way."
        expected = self.spec.steps[place]
        if self.spec.is_chain and place > 0:
            before = self.spec.steps[place - 1].name
            if before not in self.written:
                return False, f"{before} comes before {claim.name} and was passed over."
        if claim in _equal_forms(expected):
            return True, ""
        if claim.result == expected.result and not self.spec.is_chain:
            return None, f"The value is right, but by another way than {expected}."
        return False, _difference(claim, expected)


def _equal_forms(step: TrueStep) -> tuple[TrueStep, ...]:
    if step.operator in "+*":
        return step, TrueStep(step.name, step.right, step.operator, step.left, step.result)
    return (step,)


def _false_equation(claim: TrueStep) -> str:
    value = apply(claim.left, claim.operator, claim.right)
    shown = "no whole number" if value is None else value
    return f"{claim.left} {claim.operator} {claim.right} is {shown}, {claim.result} was written."


def _difference(claim: TrueStep, expected: TrueStep) -> str:
    parts = [
        f"{what} {right!s} expected, {written!s} written"
        for what, right, written in (
            ("first value", expected.left, claim.left),
            ("operator", expected.operator, claim.operator),
            ("second value", expected.right, claim.right),
            ("result", expected.result, claim.result),
        )
        if right != written
    ]
    return f"{claim.name}: {'; '.join(parts)}."


def _filler(left: int, right: int) -> Finding:
    is_true = left == right
    return Finding(
        Outcome.RIGHT if is_true else Outcome.WRONG,
        "filler",
        "" if is_true else f"{left} is not {right}.",
        "",
        StepTruth(is_equation_right=is_true, is_quantity_right=None, is_needed=False),
    )


def _undecided(kind: str, reason: str) -> Finding:
    nothing_known = StepTruth(is_equation_right=None, is_quantity_right=None, is_needed=False)
    return Finding(Outcome.UNDECIDED, kind, reason, "", nothing_known)


def combine(findings: list[Finding]) -> Finding:
    """Join the lines of one step: WRONG wins, then UNDECIDED; needed when one line is.

    The finding that decided is returned, with the needs of all.
    """
    order = (Outcome.WRONG, Outcome.UNDECIDED, Outcome.RIGHT)
    head = min(findings, key=lambda finding: order.index(finding.outcome))
    truth = StepTruth(
        is_equation_right=_all(f.truth.is_equation_right for f in findings),
        is_quantity_right=_all(f.truth.is_quantity_right for f in findings),
        is_needed=any(f.truth.is_needed for f in findings),
    )
    return Finding(head.outcome, head.kind, head.reason, head.expected, truth)


def _all(values: Iterable[bool | None]) -> bool | None:
    known = list(values)
    if False in known:
        return False
    return None if None in known else True
