r"""Is the final answer the reference answer? Extraction, equivalence, and the verifier of both.

Plain numbers are compared here, exactly; what is laid out (lists, intervals, matrices, quantities) is
taken apart; what remains is read by math-verify and compared in a process that can be killed. What
cannot be told is None, never False: an unreadable reference leaves a solution unscored.
"""

import os
import re
import threading
from dataclasses import dataclass
from fractions import Fraction
from types import TracebackType

from labeling.errors import NotGradedError
from labeling.records import Problem, Solution
from labeling.verifiers._answer_compare import Comparer
from labeling.verifiers._answer_findings import Algebra, Finding, State
from labeling.verifiers._extract import FoundAnswer, boxes_read, find_answer
from labeling.verifiers._killable import WorkerDiedError, WorkerPool
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_ANSWER_CHARS = 2000
"""A longer text is not read as an answer."""

BARE_PERCENT_KEY = "bare_percent_matches"
"""Key of `Problem.meta`: true lets a bare 35 match 35% (and the reverse) in this problem."""


@dataclass(frozen=True)
class Comparison:
    """Whether two answers are equal; None where that cannot be told. The reason is one phrase."""

    equal: bool | None
    reason: str
    is_candidate_read: bool = True
    """False when no candidate answer was given or readable; `equal` is then False by convention."""


_UNREADABLE = Comparison(None, "the reference cannot be read")
_NO_CANDIDATE = Comparison(False, "no final answer", is_candidate_read=False)
_UNREADABLE_CANDIDATE = Comparison(False, "the answer given cannot be read", is_candidate_read=False)


def extract_answer(text: str, *, answer_format: str = "auto") -> str | None:
    r"""Return the final answer of a solution text as written, or None when there is none.

    Args:
        text: The solution, or a chat completion with its thinking.
        answer_format: "auto", "boxed" (last \boxed or \fbox), "gsm8k" (`#### 31`) or "phrase"
            ("A: 27", "The answer is 34", a last line that is a value).

    Raises:
        ConfigError: There is no such format.
    """
    found = find_answer(text, answer_format=answer_format)
    return found.text if found else None


def compare_answers(
    reference: str | None,
    candidate: str | None,
    *,
    seconds: float = 2.0,
    bare_percent_matches: bool = False,
) -> Comparison:
    r"""Tell whether a candidate answer is the reference answer.

    Numbers are compared as exact rationals: "12,500" is 12500 while "2,5" is a list, 35% is 0.35. Tuples
    and intervals are compared item by item in order, bare lists and sets in any order, words without
    case, the rest by math-verify. Safe to call from any thread.

    Args:
        reference: The answer taken as true, plain or LaTeX.
        candidate: The answer to be judged, plain, LaTeX or a whole box; None when the solution gives none.
        seconds: Limit of processor time for one algebraic comparison (twice that of wall time);
            beyond it the result is None.
        bare_percent_matches: Let a bare 35 match 35%; a match that needs this says so in its reason.

    Returns:
        True or False; None when the reference is missing or unreadable, or the limit was reached. No
        candidate, or none that can be read, against a readable reference is False.
    """
    return _compare(reference, candidate, _by_algebra(_shared_pool(), seconds), bare_percent_matches)


class AnswersVerifier:
    """Judges the step in which the final answer stands, against the reference answer.

    Args:
        seconds: Limit of processor time for one algebraic comparison (twice that of wall time);
            beyond it the verdict is undecided.
        processes: Worker processes for algebra, started when first needed.
    """

    name = "answers"

    def __init__(self, *, seconds: float = 2.0, processes: int = 1) -> None:
        self._pool = WorkerPool(processes)
        self._algebra = _by_algebra(self._pool, seconds)

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge the step that holds the final answer; every other step is undecided.

        A solution without a readable final answer has no step that could be judged (`grade` calls the
        whole text wrong). The last step is judged when the answer lies in no single step.
        """
        n_steps = len(solution.steps)
        found = find_answer(solution.text)
        if problem.answer is None or found is None or n_steps == 0:
            reason = (
                "the problem has no reference answer" if problem.answer is None else "no final answer found"
            )
            return [Verdict.undecided(reason)] * n_steps
        verdicts = [Verdict.undecided("no final answer here")] * n_steps
        index = _step_of(found, solution)
        comparison = self._compare(problem, found.text)
        verdicts[index] = _verdict(comparison, found, problem.answer, solution.steps[index].start)
        return verdicts

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether a whole text ends in the right answer.

        Returns:
            True or False; False, too, for an answer that cannot be read, so that writing one never pays. None
                when the text gives no answer.

        Raises:
            NotGradedError: That cannot be told (no readable reference, or a limit was reached): to be left
                out and counted apart.
        """
        answer = extract_answer(text)
        comparison = self._compare(problem, answer)
        if comparison.equal is None:
            raise NotGradedError(comparison.reason)
        return None if answer is None else comparison.equal

    def can_grade(self, problem: Problem) -> bool:
        """Whether a problem has a reference answer that can be read."""
        return self._compare(problem, None).equal is not None

    def close(self) -> None:
        """End the worker processes."""
        self._pool.close()

    def __enter__(self) -> "AnswersVerifier":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _compare(self, problem: Problem, candidate: str | None) -> Comparison:
        bare_percent_matches = bool(problem.meta.get(BARE_PERCENT_KEY, False))
        return _compare(problem.answer, candidate, self._algebra, bare_percent_matches)


def _step_of(found: FoundAnswer, solution: Solution) -> int:
    holders = [i for i, s in enumerate(solution.steps) if s.start <= found.start and found.end <= s.end]
    return holders[-1] if holders else len(solution.steps) - 1


def _verdict(comparison: Comparison, found: FoundAnswer, reference: str, step_start: int) -> Verdict:
    outcome = {True: Outcome.RIGHT, False: Outcome.WRONG, None: Outcome.UNDECIDED}[comparison.equal]
    if not comparison.is_candidate_read:
        outcome = Outcome.UNDECIDED  # an answer that nobody could read is no proof of a mistake
    evidence = Evidence(
        verifier=AnswersVerifier.name,
        outcome=str(outcome),
        kind="final_answer",
        text=found.text,
        start=max(0, found.start - step_start),
        end=max(0, found.end - step_start),
        left=found.text,
        right=reference,
        reason=comparison.reason,
    )
    return Verdict(outcome, comparison.reason, (evidence,))


_WHOLE = re.compile(r"-?\d{1,15}")
_OVER_ZERO = re.compile(
    r"(?:/|÷|\\div)\s?0+(?:\.0*)?(?![\d.])|frac\s?(?:\{[^{}]*\}|\d)\s?(?:\{\s?0+(?:\.0*)?\s?\}|0)"
)
"""A division by zero: a reference that holds one has no value."""


def _compare(
    reference: str | None, candidate: str | None, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    reference = _unboxed(reference)
    if not reference or len(reference) > MAX_ANSWER_CHARS or _OVER_ZERO.search(reference):
        return _UNREADABLE
    is_whole = _WHOLE.fullmatch(reference)
    comparer = Comparer(algebra, bare_percent_matches)
    if candidate is None or len(candidate) > MAX_ANSWER_CHARS:
        unread = _NO_CANDIDATE if candidate is None else _UNREADABLE_CANDIDATE
        return unread if is_whole or comparer.can_read(reference) else _UNREADABLE
    candidate = _unboxed(candidate)
    if not candidate.strip():
        return _NO_CANDIDATE if is_whole or comparer.can_read(reference) else _UNREADABLE
    if is_whole and _WHOLE.fullmatch(candidate):
        is_equal = int(reference) == int(candidate)
        return Comparison(is_equal, "the same number" if is_equal else "different numbers")
    finding = comparer.compare(reference, candidate)
    if finding.state is State.RIGHT_UNREADABLE:
        return _UNREADABLE_CANDIDATE if is_whole or comparer.can_read(reference) else _UNREADABLE
    if finding.state is State.LEFT_UNREADABLE:
        return _UNREADABLE
    return Comparison(_EQUAL[finding.state], finding.reason)


_EQUAL = {State.EQUAL: True, State.DIFFERENT: False, State.UNSURE: None}


def _unboxed(answer: str | None) -> str:
    if answer is None:
        return ""
    return boxes_read(answer) if "\\boxed" in answer or "\\fbox" in answer else answer.strip()


def _by_algebra(pool: WorkerPool, seconds: float) -> Algebra:
    """Bind math-verify, in a worker of `pool`, to a time limit."""

    def compare(left: str, right: str | None, tolerance: Fraction) -> Finding:
        request = {"left": left, "right": right, "tolerance": str(tolerance)}
        try:
            reply = pool.ask(request, seconds=seconds)
        except WorkerDiedError as error:
            return Finding(State.UNSURE, f"comparison {error}")
        if reply["state"] == "failed":
            return Finding(State.UNSURE, f"comparison failed: {reply['reason']}")
        return Finding(State(reply["state"]), reply["reason"] or _REASONS[reply["state"]])

    return compare


_REASONS = {
    "equal": "equal by algebra",
    "different": "different by algebra",
    "unsure": "algebra cannot tell",
    "left unreadable": "cannot be read",
    "right unreadable": "cannot be read",
}

_shared: dict[int, WorkerPool] = {}
_shared_lock = threading.Lock()


def _shared_pool() -> WorkerPool:
    """Return the pool of `compare_answers`: one a process, also after a fork; closed at exit."""
    with _shared_lock:
        if os.getpid() not in _shared:
            _shared[os.getpid()] = WorkerPool()
        return _shared[os.getpid()]
