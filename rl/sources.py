"""Verifiers, simulators and PRMs behind the one call that the trainers know: `StepSource.judge`."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

from labeling._at_once import map_at_once
from labeling.errors import InputError, NotGradedError
from labeling.grades import Grade, graded
from labeling.records import Problem, Solution
from labeling.steps import CANONICAL, canonical_text, segment
from labeling.verifiers.verdict import Outcome, Verifier, check_verdicts
from rl.penalties import idle_steps
from rl.step_source import JudgedCompletion

SCORE_OF = {Outcome.RIGHT: 1.0, Outcome.WRONG: 0.0, Outcome.UNDECIDED: math.nan}


class StepScorer(Protocol):
    """What `PRMSource` asks of a process reward model; `prm.model.StepScorer` meets it."""

    def score_or_reason(
        self, prompts: Sequence[str], steps: Sequence[Sequence[str]], *, is_calibrated: bool
    ) -> list[list[float] | str]: ...


class Grader:
    """A grade turned into an outcome: wrong, unanswered and not checkable stay apart.

    Args:
        grade: (problem, text) -> is the final answer right; None for no answer, `NotGradedError` for an
            answer that it cannot judge.
    """

    def __init__(self, grade: Grade) -> None:
        self.grade = grade

    def outcome(self, problem: Problem, text: str) -> tuple[float | None, bool]:
        """Return (outcome, is_answered); an outcome is 1.0, 0.0 (wrong or no answer) or None."""
        try:
            is_right = graded(self.grade, problem, text)
        except NotGradedError:
            return None, True
        return float(bool(is_right)), is_right is not None


class OutcomeSource:
    """The final answer alone: no steps, so a trainer has only the outcome to go by."""

    def __init__(self, grade: Grade, *, name: str = "outcome") -> None:
        self._grader = Grader(grade)
        self.name = name

    def judge(self, problems: Sequence[Problem], completions: Sequence[str]) -> list[JudgedCompletion]:
        """Judge completions; see `StepSource`."""
        pairs = zip(problems, completions, strict=True)
        return list(map_at_once(self._grader.grade, self._judge, pairs))

    def _judge(self, pair: tuple[Problem, str]) -> JudgedCompletion:
        outcome, is_answered = self._grader.outcome(*pair)
        return JudgedCompletion(spans=(), scores=(), outcome=outcome, is_answered=is_answered)


class VerifierSource:
    """Programmatic verdicts as step scores: RIGHT 1.0, WRONG 0.0, UNDECIDED NaN.

    A verifier that also has `truth` (a simulator) tells which steps are not needed.

    Args:
        verifier: Judges the steps.
        grade: Judges the final answer; by default the verifier's own `grade`, which a simulator has.
        segment_mode: How completions are cut into steps; see `labeling.steps`.

    Raises:
        InputError: There is no `grade`, and the verifier has none.
    """

    def __init__(self, verifier: Verifier, *, grade: Grade | None = None, segment_mode: str = "line") -> None:
        chosen = grade or getattr(verifier, "grade", None)
        if chosen is None:
            raise InputError(
                f"the verifier {verifier.name!r} cannot grade a final answer.",
                remedy="Hand a grade over as well, e.g. that of the answers verifier.",
            )
        self._verifier = verifier
        self._grader = Grader(chosen)
        self._segment_mode = segment_mode
        self.name = verifier.name

    def judge(self, problems: Sequence[Problem], completions: Sequence[str]) -> list[JudgedCompletion]:
        """Judge completions; see `StepSource`. As many at once as the verifier's `concurrency` says."""
        pairs = zip(problems, completions, strict=True)
        return list(map_at_once(self._verifier, self._judge, pairs))

    def _judge(self, pair: tuple[Problem, str]) -> JudgedCompletion:
        problem, text = pair
        solution = solution_of(problem, text, self._segment_mode)
        verdicts = check_verdicts(
            self._verifier.verify(problem, solution),
            name=f"the verifier {self.name!r}",
            n_steps=len(solution.steps),
            record_id=problem.id,
        )
        outcome, is_answered = self._grader.outcome(problem, text)
        return JudgedCompletion(
            spans=tuple((step.start, step.end) for step in solution.steps),
            scores=tuple(SCORE_OF[verdict.outcome] for verdict in verdicts),
            outcome=outcome,
            is_answered=is_answered,
            is_filler=filler_of(self._verifier, problem, solution),
            pays_separators=self._segment_mode != CANONICAL,
        )


class PRMSource:
    """The scores of a process reward model as step scores, in [0, 1].

    Args:
        scorer: Scores steps.
        grade: Judges the final answer.
        segment_mode: How completions are cut into steps; the mode that the PRM was trained on.
        is_calibrated: Ask for calibrated scores.

    Which steps are filler is read off the text: a learned reward knows no more than it would on problems
    without a simulator.
    """

    def __init__(
        self,
        scorer: StepScorer,
        grade: Grade,
        *,
        segment_mode: str = "line",
        is_calibrated: bool = True,
    ) -> None:
        self._scorer = scorer
        self._grader = Grader(grade)
        self._segment_mode = segment_mode
        self._is_calibrated = is_calibrated
        self.name = "prm"

    def judge(self, problems: Sequence[Problem], completions: Sequence[str]) -> list[JudgedCompletion]:
        """Judge completions in one call of the scorer; see `StepSource`."""
        solutions = [
            solution_of(problem, text, self._segment_mode)
            for problem, text in zip(problems, completions, strict=True)
        ]
        with_steps = [index for index, solution in enumerate(solutions) if solution.steps]
        rows = self._scorer.score_or_reason(
            [solutions[index].problem.text for index in with_steps],
            [self._texts(solutions[index]) for index in with_steps],
            is_calibrated=self._is_calibrated,
        )
        scores_of = dict(zip(with_steps, rows, strict=True))
        judged = ((s, scores_of.get(index, [])) for index, s in enumerate(solutions))
        return list(map_at_once(self._grader.grade, self._judged, judged))

    def _texts(self, solution: Solution) -> list[str]:
        """Return what the PRM reads: the steps, freed of delimiters where these must not count."""
        if self._segment_mode != CANONICAL:
            return solution.step_texts
        return [canonical_text(step) for step in solution.step_texts]

    def _judged(self, scored: tuple[Solution, Sequence[float] | str]) -> JudgedCompletion:
        solution, scores = scored
        # A reason in place of scores (the solution is longer than the PRM's context): nobody can tell.
        if isinstance(scores, str):
            scores = [math.nan] * len(solution.steps)
        outcome, is_answered = self._grader.outcome(solution.problem, solution.text)
        return JudgedCompletion(
            spans=tuple((step.start, step.end) for step in solution.steps),
            scores=tuple(float(score) for score in scores),
            outcome=outcome,
            is_answered=is_answered,
            is_filler=idle_of(solution),
            pays_separators=self._segment_mode != CANONICAL,
        )


def solution_of(problem: Problem, text: str, segment_mode: str) -> Solution:
    """Cut a completion into the steps of a solution."""
    found = segment(text, segment_mode)
    return Solution(id=problem.id, problem=problem, text=text, steps=found.steps, segment_mode=found.mode)


def filler_of(world: Any, problem: Problem, solution: Solution) -> tuple[bool, ...]:
    """Tell which steps are not needed: by the world's truth, or by the text where there is none."""
    truth = getattr(world, "truth", None)
    if truth is None:
        return idle_of(solution)
    told = truth(problem, solution)
    if len(told) != len(solution.steps):
        raise InputError(
            f"the simulator {world.name!r} tells the truth of {len(told)} steps, and there are"
            f" {len(solution.steps)}.",
            remedy="`truth` returns exactly one StepTruth a step, in order.",
            record_id=problem.id,
        )
    return tuple(not known.is_needed for known in told)


def idle_of(solution: Solution) -> tuple[bool, ...]:
    """Tell by their text which steps bring nothing new: repetition, empty checks, not all useless ones."""
    return tuple(bool(idle) for idle in idle_steps(solution.problem.text, solution.step_texts))


def check_judged(
    name: str, judged: Sequence[JudgedCompletion], n_completions: int
) -> Sequence[JudgedCompletion]:
    """Return `judged` when it has one record a completion.

    Raises:
        InputError: It has not; a shorter list must never be spread over the batch in silence.
    """
    if len(judged) != n_completions:
        raise InputError(
            f"the reward function {name!r} returned {len(judged)} {'value' if len(judged) == 1 else 'values'}"
            f" for {n_completions} completions.",
            remedy="Return exactly one record a completion, in order; outcome None where it cannot tell.",
        )
    return judged
