r"""Is the final answer the reference answer? Extraction, equivalence, and the verifier of both.

Plain numbers are compared here, exactly; everything else by math-verify in a process that can be
killed. What cannot be told is None, never False: an unreadable reference leaves a solution unscored.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType

from labeling.records import Problem, Solution
from labeling.verifiers import _plain
from labeling.verifiers._extract import FoundAnswer, find_answer
from labeling.verifiers._killable import WorkerDiedError, WorkerPool
from labeling.verifiers._plain import PlainNumber, ValueList
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_ANSWER_CHARS = 2000
"""A longer text is no answer that could be compared."""

BARE_PERCENT_KEY = "bare_percent_matches"
"""Key of `Problem.meta`: true lets a bare 35 match 35% (and the reverse) in this problem."""


@dataclass(frozen=True)
class Comparison:
    """Whether two answers are equal; None where that cannot be told. The reason is one phrase."""

    equal: bool | None
    reason: str


_UNREADABLE = Comparison(None, "the reference cannot be read")

Algebra = Callable[[str, str | None], Comparison]
"""Compares two cleaned answers by algebra; without a candidate, tells whether the reference is readable."""


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
        seconds: Limit for one algebraic comparison; beyond it the result is None.
        bare_percent_matches: Let a bare 35 match 35%; a match that needs this says so in its reason.

    Returns:
        True or False; None when the reference is missing or unreadable, or the limit was reached. No
        candidate against a readable reference is False.
    """
    return _compare(reference, candidate, _by_algebra(_shared_pool(), seconds), bare_percent_matches)


class AnswersVerifier:
    """Judges the step in which the final answer stands, against the reference answer.

    Args:
        seconds: Limit for one algebraic comparison; beyond it the verdict is undecided.
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
            True or False; False when it gives no answer; None when that cannot be told (no readable
            reference, or a limit was reached), which is to be left out and counted apart.
        """
        return self._compare(problem, extract_answer(text)).equal

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


def _compare(
    reference: str | None, candidate: str | None, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    clean_reference = _prepared(reference)
    if not clean_reference:
        return _UNREADABLE
    clean_candidate = _prepared(candidate)
    if max(len(clean_reference), len(clean_candidate)) > MAX_ANSWER_CHARS:
        return Comparison(None, f"longer than {MAX_ANSWER_CHARS} characters")
    if not clean_candidate:
        readable = _is_readable(clean_reference, algebra)
        return Comparison(False, "no final answer") if readable else _UNREADABLE
    reference_name, reference_value = _plain.split_name(clean_reference)
    candidate_name, candidate_value = _plain.split_name(clean_candidate)
    # A name on one side only is dropped: "x = 4" answers 4. "x = 4" and "y = 4" stay different.
    if not (reference_name and candidate_name and reference_name != candidate_name):
        clean_reference, clean_candidate = reference_value, candidate_value
    return _compare_clean(clean_reference, clean_candidate, algebra, bare_percent_matches)


def _prepared(answer: str | None) -> str:
    if answer is None:
        return ""
    if "\\boxed" in answer or "\\fbox" in answer:
        answer = extract_answer(answer, answer_format="boxed") or ""
    return _plain.cleaned(answer)


def _is_readable(clean: str, algebra: Algebra) -> bool:
    if _plain.read_number(clean) or _plain.read_words(clean) or _plain.read_choice(clean, is_whole=True):
        return True
    values = _plain.split_list(clean)
    if values:
        return all(_is_readable(item, algebra) for item in values.items)
    return algebra(clean, None).equal is True


def _compare_clean(
    reference: str, candidate: str, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    number = _plain.read_number(reference)
    if number is not None:
        return _compare_with_number(number, reference, candidate, algebra, bare_percent_matches)
    reference_list, candidate_list = _plain.split_list(reference), _plain.split_list(candidate)
    if reference_list or candidate_list:
        return _compare_lists(reference, reference_list, candidate_list, algebra)
    return _compare_words(reference, candidate) or algebra(reference, candidate)


def _compare_with_number(
    number: PlainNumber, reference: str, candidate: str, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    other = _plain.read_number(candidate)
    if other is not None:
        return _compare_numbers(number, other, bare_percent_matches)
    values = _plain.split_list(candidate)
    if values and all(_plain.read_number(item) for item in values.items):
        return Comparison(False, "several values against one")
    named = _plain.numbers_in_prose(candidate)
    if named is not None:
        results = [_compare_numbers(number, each, bare_percent_matches) for each in named]
        if len(results) == 1 or not any(each.equal for each in results):
            return results[0]
        return Comparison(None, "several numbers stand in the answer")
    if values:
        return Comparison(False, "several values against one")
    if _plain.read_words(candidate):
        return Comparison(False, "words against a number")
    return algebra(reference, candidate)


def _compare_numbers(left: PlainNumber, right: PlainNumber, bare_percent_matches: bool) -> Comparison:
    if _plain.same_number(left, right):
        return Comparison(True, "the same number")
    if bare_percent_matches and left.is_percent != right.is_percent:
        scaled = [PlainNumber(n.value * 100, n.decimals, False) if n.is_percent else n for n in (left, right)]
        if _plain.same_number(*scaled):
            return Comparison(True, "the same number, a bare one taken as per cent")
    return Comparison(False, "different numbers")


def _compare_words(reference: str, candidate: str) -> Comparison | None:
    """Compare choices and words; None when the reference is neither, or may be a product of variables."""
    choice = _plain.read_choice(reference, is_whole=True)
    if choice is not None:
        other = _plain.read_choice(candidate, is_whole=len(reference) == 1 and reference.islower())
        return Comparison(choice == other, "choice") if other else None
    words = _plain.read_words(reference)
    if words is None:
        return None
    other_words = _plain.read_words(candidate)
    if words == other_words:
        return Comparison(True, "the same words")
    if len(words) <= 3 and (other_words is None or sorted(words) == sorted(other_words)):
        return None
    return Comparison(False, "different words")


def _compare_lists(
    reference: str, left: ValueList | None, right: ValueList | None, algebra: Algebra
) -> Comparison:
    if left is None or right is None or len(left.items) != len(right.items) or not left.same_layout(right):
        readable = _is_readable(reference, algebra)
        return Comparison(False, "laid out differently") if readable else _UNREADABLE
    if left.is_ordered:
        return _all_of(
            [_compare_clean(a, b, algebra, False) for a, b in zip(left.items, right.items, strict=True)]
        )
    unmatched = list(right.items)
    results: list[Comparison] = []
    for item in left.items:
        tried = [_compare_clean(item, other, algebra, False) for other in unmatched]
        match = next((i for i, each in enumerate(tried) if each.equal), None)
        if match is not None:
            del unmatched[match]
        results.append(_best_of(tried))
    return _all_of(results)


def _best_of(tried: list[Comparison]) -> Comparison:
    """Return what a value has among the candidates: a match, else a doubt, else no match."""
    rank = {True: 0, None: 1, False: 2}
    return min(tried, key=lambda each: rank[each.equal], default=Comparison(False, "values differ"))


def _all_of(results: list[Comparison]) -> Comparison:
    unreadable = next((each for each in results if each == _UNREADABLE), None)
    if unreadable:
        return unreadable
    different = next((each for each in results if each.equal is False), None)
    undecided = next((each for each in results if each.equal is None), None)
    return different or undecided or Comparison(True, "the same values")


def _by_algebra(pool: WorkerPool, seconds: float) -> Algebra:
    """Bind math-verify, in a worker of `pool`, to a time limit."""

    def compare(reference: str, candidate: str | None) -> Comparison:
        try:
            reply = pool.ask({"reference": reference, "candidate": candidate}, seconds=seconds)
        except WorkerDiedError as error:
            return Comparison(None, f"comparison {error}")
        return _COMPARISONS.get(reply["state"]) or Comparison(None, f"comparison failed: {reply['reason']}")

    return compare


_COMPARISONS = {
    "equal": Comparison(True, "equal by algebra"),
    "different": Comparison(False, "different by algebra"),
    "reference unreadable": _UNREADABLE,
    "candidate unreadable": Comparison(False, "the answer given cannot be read"),
}

_shared: list[WorkerPool] = []
_shared_lock = threading.Lock()


def _shared_pool() -> WorkerPool:
    """Return the pool of `compare_answers`, one a program, closed at exit."""
    with _shared_lock:
        if not _shared:
            _shared.append(WorkerPool())
        return _shared[0]
