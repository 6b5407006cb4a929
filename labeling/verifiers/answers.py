r"""Is the final answer the reference answer? Extraction, equivalence, and the verifier of both.

Plain numbers are compared here, exactly; everything else by math-verify in a process that can be
killed. What cannot be told is None, never False: an unreadable reference leaves a solution unscored.
"""

import os
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
"""A longer text is not read as an answer."""

CHOICES = frozenset("ABCDEFGHIJ")
"""Capital letters that are read as the options of a multiple-choice problem when they stand alone."""

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

MAX_UNIT_WORDS = 4
"""Words that may stand around a wrong number ("72 cubic metres of water"); a longer sentence with
another number in it may mean anything, and is not read."""

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
            True or False; False when it gives no readable answer, so that saying nothing never pays;
            None when that cannot be told (no readable reference, or a limit was reached), which is to
            be left out and counted apart.
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


def _compare(
    reference: str | None, candidate: str | None, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    clean_reference, reference_unit = _prepared(reference)
    if not clean_reference or len(clean_reference) > MAX_ANSWER_CHARS:
        return _UNREADABLE
    if candidate is not None and len(candidate) > MAX_ANSWER_CHARS:
        return _unless_unreadable(clean_reference, _UNREADABLE_CANDIDATE, algebra)
    clean_candidate, candidate_unit = _prepared(candidate)
    if not clean_candidate:
        return _unless_unreadable(clean_reference, _NO_CANDIDATE, algebra)
    if reference_unit and candidate_unit and reference_unit != candidate_unit:
        return Comparison(None, f"different units: {reference_unit} and {candidate_unit}")
    reference_name, reference_value = _plain.split_name(clean_reference)
    candidate_name, candidate_value = _plain.split_name(clean_candidate)
    # A name on one side only is dropped: "x = 4" answers 4. "x = 4" and "y = 4" stay different.
    if not (reference_name and candidate_name and reference_name != candidate_name):
        clean_reference, clean_candidate = reference_value, candidate_value
    return _compare_clean(clean_reference, clean_candidate, algebra, bare_percent_matches)


def _prepared(answer: str | None) -> tuple[str, str]:
    """Return an answer's cleaned value and its unit, "" for what is not there."""
    if answer is None:
        return "", ""
    if "\\boxed" in answer or "\\fbox" in answer:
        answer = extract_answer(answer, answer_format="boxed") or ""
    value, unit = _plain.split_unit(_plain.without_delimiters(answer))
    return _plain.cleaned(value), unit


def _is_readable(clean: str, algebra: Algebra) -> bool:
    if (
        _plain.read_number(clean)
        or _plain.number_in_prose(clean)
        or _plain.read_words(clean)
        or _plain.read_choice(clean, is_whole=True)
    ):
        return True
    values = _plain.split_list(clean)
    if values:
        return all(_is_readable(item, algebra) for item in values.items)
    return algebra(clean, None).equal is True


def _unless_unreadable(reference: str, comparison: Comparison, algebra: Algebra) -> Comparison:
    return comparison if _is_readable(reference, algebra) else _UNREADABLE


def _compare_clean(
    reference: str, candidate: str, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    quantity = _plain.number_in_prose(reference)
    number = _plain.read_number(reference) or (quantity[0] if quantity else None)
    if number is not None:
        return _compare_with_number(number, reference, candidate, algebra, bare_percent_matches)
    by_words = _compare_words(reference, candidate)
    if by_words is not None:
        return by_words
    if _plain.is_prose(candidate):
        return _unless_unreadable(reference, _UNREADABLE_CANDIDATE, algebra)
    reference_list, candidate_list = _plain.split_list(reference), _plain.split_list(candidate)
    if reference_list or candidate_list:
        return _compare_lists(reference, reference_list, candidate_list, algebra)
    return algebra(reference, candidate)


def _compare_with_number(
    number: PlainNumber, reference: str, candidate: str, algebra: Algebra, bare_percent_matches: bool
) -> Comparison:
    other = _plain.read_number(candidate)
    if other is not None:
        return _compare_numbers(number, other, bare_percent_matches)
    # A factorial is tried below; a cheerful "42!" is read first.
    exclaimed = _plain.read_number(candidate.removesuffix("!"))
    if exclaimed is not None and _plain.same_number(number, exclaimed):
        return Comparison(True, "the same number")
    named = _plain.number_in_prose(candidate)
    if named is not None:
        named_number, n_words = named
        comparison = _compare_numbers(number, named_number, bare_percent_matches)
        return comparison if comparison.equal or n_words <= MAX_UNIT_WORDS else _UNREADABLE_CANDIDATE
    if _plain.is_prose(candidate) or _plain.read_words(candidate):
        return _UNREADABLE_CANDIDATE
    if _plain.split_list(candidate):
        return Comparison(False, "several values against one")
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
    if choice is not None and choice == _plain.read_choice(candidate, is_whole=True):
        return Comparison(True, "the same letter")
    if choice is not None and choice in CHOICES and not reference.islower():
        other = _plain.read_choice(candidate, is_whole=False)
        return Comparison(choice == other, "choice") if other else _UNREADABLE_CANDIDATE
    words = _plain.read_words(reference)
    if choice is not None or words is None:
        return None
    other_words = _plain.read_words(candidate)
    if words == other_words:
        return Comparison(True, "the same words")
    if len(words) <= 3 and (other_words is None or sorted(words) == sorted(other_words)):
        return None
    if words in candidate.casefold():
        return _UNREADABLE_CANDIDATE  # "not Evelyn", "Evelyn or Ann": named, but not as the answer alone
    return Comparison(False, "different words")


def _compare_lists(
    reference: str, left: ValueList | None, right: ValueList | None, algebra: Algebra
) -> Comparison:
    if left is None or right is None or len(left.items) != len(right.items) or not left.same_layout(right):
        return _unless_unreadable(reference, Comparison(False, "laid out differently"), algebra)
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
    "candidate unreadable": _UNREADABLE_CANDIDATE,
}

_shared: dict[int, WorkerPool] = {}
_shared_lock = threading.Lock()


def _shared_pool() -> WorkerPool:
    """Return the pool of `compare_answers`: one a process, also after a fork; closed at exit."""
    with _shared_lock:
        if os.getpid() not in _shared:
            _shared[os.getpid()] = WorkerPool()
        return _shared[os.getpid()]
