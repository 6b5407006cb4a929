"""Monte-Carlo labels: a step is worth what rollouts from the prefix that ends in it come to.

Source: Wang et al. 2023, "Math-Shepherd" (arXiv 2312.08935), section 3.3: hard estimation (eq. 3, one
rollout that reaches the answer suffices) and soft estimation (eq. 4, the share that does). Differs from
it in that a rollout cut by the token limit, or that nobody could grade, is unknown, not wrong, and is left
out of the share.
"""

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from labeling._at_once import map_at_once
from labeling.errors import ConfigError, NotGradedError, RecordError
from labeling.grades import Grade, graded
from labeling.records import (
    LABEL_OF,
    UNKNOWN_LABEL,
    VALUE,
    LabelledSolution,
    RolloutCounts,
    Solution,
    StepLabel,
    first_error_of,
)
from labeling.rollouts.sampler import Prefix, Rollout, Sampler
from labeling.verifiers.verdict import Verdict

ORIGIN = "monte_carlo"


@dataclass(frozen=True, kw_only=True)
class MonteCarloResult:
    """The labels and what they cost. The totals cover sampled rollouts only."""

    labelled: list[LabelledSolution]
    """One a solution, in order."""
    tokens: int
    """Tokens sampled, end-of-text tokens included."""
    rollouts: int
    """Rollouts sampled."""
    cut: int
    """Of these, how many the token limit stopped."""
    unparsable: int
    """Of these, how many ended by themselves without a readable answer."""
    undecided: int
    """Of these, how many have an answer that could not be graded."""


@dataclass
class _Tally:
    """The rollouts from one prefix so far."""

    solution: Solution
    step: int
    n: int = 0
    k: int = 0
    cut: int = 0
    unparsable: int = 0
    undecided: int = 0
    tokens: int = 0
    is_graded_as_it_stands: bool = False

    def counts(self) -> RolloutCounts:
        return RolloutCounts(
            n=self.n, k=self.k, cut=self.cut, unparsable=self.unparsable, undecided=self.undecided
        )


def estimate_steps(  # noqa: PLR0913 - what is estimated, by whom, and six numbers of the estimate
    solutions: Sequence[Solution],
    sampler: Sampler,
    grade: Grade,
    *,
    n: int,
    max_tokens: int,
    seed: int,
    stop_at_first_success: bool = False,
    separator: str = "\n",
) -> MonteCarloResult:
    """Label every step by `n` rollouts from the prefix that ends in it.

    For the prefix after step k, with n rollouts of which `cut` hit the token limit, `undecided` could not be
    graded and `right` ended in the right answer: soft = right / (n - cut - undecided), hard = 1 if right > 0,
    else 0; both unknown where nothing was graded.
    A rollout that ended by itself without an answer counts as wrong. Labels carry VALUE semantics: a
    right step that the policy cannot finish gets 0, a wrong one that it repairs gets 1.

    A last step that brings the solution to an answer needs no rollout: when `grade` can read the whole
    text, its word is the label, recorded as n = 1, k = 0 or 1, and not counted in the totals. So `grade`
    must return None for a text that has not reached its answer yet.

    Args:
        solutions: Solutions with distinct ids; those without steps come back without labels.
        sampler: What continues prefixes; all prefixes of all solutions go to it together.
        grade: Called with the problem and prefix + continuation; never on a rollout that was cut.
        n: Rollouts a prefix, at least 1.
        max_tokens: Limit of new tokens for each rollout.
        seed: Root seed; with solution id, step and the rollout's number it keys the randomness.
        stop_at_first_success: Sample in rounds of 1, 1, 2, 4, ... (n in all) and leave a prefix alone
            once a rollout came out right. The hard labels are the same as without stopping; soft ones
            rest on the rollouts that were made, and are biased upwards.
        separator: What stands between the last step and a rollout.

    Raises:
        ConfigError: `n` or `max_tokens` is below 1.
        RecordError: Two solutions share an id (they would share their randomness).
    """
    _check(solutions, n=n, max_tokens=max_tokens)
    tallies = [[_Tally(solution, step) for step in range(len(solution.steps))] for solution in solutions]
    to_sample = [tally for row in tallies for tally in row if not _grade_as_it_stands(tally, grade)]
    for size in _rounds(n) if stop_at_first_success else [n]:
        pending = [t for t in to_sample if not (stop_at_first_success and t.k) for _ in range(size)]
        _sample_once_each(pending, sampler, grade, max_tokens=max_tokens, seed=seed, separator=separator)
    return MonteCarloResult(
        labelled=[_labelled(s, row) for s, row in zip(solutions, tallies, strict=True)],
        tokens=sum(t.tokens for t in to_sample),
        rollouts=sum(t.n for t in to_sample),
        cut=sum(t.cut for t in to_sample),
        unparsable=sum(t.unparsable for t in to_sample),
        undecided=sum(t.undecided for t in to_sample),
    )


def not_graded(solution: Solution, reason: str) -> LabelledSolution:
    """Label every step unknown, without rollouts: nothing could tell whether one came out right."""
    label = StepLabel(value=UNKNOWN_LABEL, verdict=Verdict.undecided(reason), counts=RolloutCounts(n=0, k=0))
    return LabelledSolution(
        solution=solution, labels=(label,) * len(solution.steps), origin=ORIGIN, semantics=VALUE
    )


def prefix_text(solution: Solution, step: int, separator: str = "\n") -> str:
    """Return the solution's text up to where the next step starts.

    Between two steps the text itself says what separates them; behind the last one `separator` is added,
    unless the text already ends in it.

    Args:
        solution: Where the prefix comes from.
        step: Index of the prefix's last step.
        separator: What ends a step.
    """
    if step + 1 < len(solution.steps):
        return solution.text[: solution.steps[step + 1].start]
    return solution.text if solution.text.endswith(separator) else solution.text + separator


def hard_verdict(counts: RolloutCounts) -> Verdict:
    """Return RIGHT if any rollout came out right, WRONG if none of the graded did, else UNDECIDED."""
    if not counts.graded:
        if not counts.undecided:
            return Verdict.undecided(f"all {counts.n} rollouts were stopped by the token limit")
        return Verdict.undecided(
            f"none of {counts.n} rollouts could be graded ({counts.undecided} undecided, {counts.cut} cut)"
        )
    undecided = f", {counts.undecided} undecided" if counts.undecided else ""
    reason = (
        f"{counts.k} of {counts.graded} graded rollouts reached the answer "
        f"({counts.unparsable} without an answer, {counts.cut} cut{undecided})"
    )
    return Verdict.right(reason) if counts.k else Verdict.wrong(reason)


def _check(solutions: Sequence[Solution], *, n: int, max_tokens: int) -> None:
    if n < 1 or max_tokens < 1:
        raise ConfigError(f"n is {n} and max_tokens is {max_tokens}.", remedy="Both must be at least 1.")
    seen: set[str] = set()
    for solution in solutions:
        if solution.id in seen:
            raise RecordError(
                "two solutions share this id, and with it their randomness.",
                remedy="Give every solution an id of its own.",
                record_id=solution.id,
            )
        seen.add(solution.id)


def _rounds(n: int) -> Iterator[int]:
    """Sizes 1, 1, 2, 4, ... that add up to n: each round doubles what was made."""
    made = 0
    while made < n:
        size = min(max(1, made), n - made)
        yield size
        made += size


def _prefix(tally: _Tally, separator: str) -> Prefix:
    return Prefix(
        problem=tally.solution.problem.text, text=prefix_text(tally.solution, tally.step, separator)
    )


def _grade_as_it_stands(tally: _Tally, grade: Grade) -> bool:
    """Decide the prefix without rollouts if it is a whole solution with an answer; tell whether it was."""
    solution = tally.solution
    if tally.step + 1 < len(solution.steps):
        return False
    try:
        is_right = graded(grade, solution.problem, solution.text)
    except NotGradedError:
        # No grade came; a rollout would be added behind an answer, for all that is known.
        tally.n, tally.undecided, tally.is_graded_as_it_stands = 1, 1, True
        return True
    if is_right is None:
        return False
    tally.n, tally.k, tally.is_graded_as_it_stands = 1, int(is_right), True
    return True


def _sample_once_each(
    tallies: Sequence[_Tally], sampler: Sampler, grade: Grade, *, max_tokens: int, seed: int, separator: str
) -> None:
    """Sample one rollout for each entry; a prefix that is named m times gets m of them."""
    # A rollout's key holds its number and not its round, so stopping early changes no rollout that is made.
    numbers: dict[int, int] = {}
    keys: list[str] = []
    for tally in tallies:
        number = numbers.get(id(tally), tally.n)
        numbers[id(tally)] = number + 1
        keys.append(f"{ORIGIN}/{seed}/{tally.solution.id}/{tally.step}/{number}")
    prefixes = [_prefix(tally, separator) for tally in tallies]
    grown = sampler.extend(prefixes, 1, max_tokens=max_tokens, keys=keys) if prefixes else []
    made = [(t, p, rollouts[0]) for t, p, rollouts in zip(tallies, prefixes, grown, strict=True)]
    for _ in map_at_once(grade, partial(_count, grade), made):
        pass


def _count(grade: Grade, made: tuple[_Tally, Prefix, Rollout]) -> None:
    """Grade a rollout and count what came of it; `map_at_once` may do so in threads."""
    tally, prefix, rollout = made
    is_right = is_graded = None
    if not rollout.is_cut:
        try:
            is_right = graded(grade, tally.solution.problem, prefix.text + rollout.text)
            is_graded = True
        except NotGradedError:
            is_graded = False
    with _counting:
        tally.n += 1
        tally.tokens += rollout.tokens
        tally.cut += rollout.is_cut
        tally.undecided += is_graded is False
        tally.k += is_right is True
        tally.unparsable += is_graded is True and is_right is None


_counting = threading.Lock()


def _labelled(solution: Solution, tallies: Sequence[_Tally]) -> LabelledSolution:
    labels = tuple(_label(tally) for tally in tallies)
    return LabelledSolution(
        solution=solution,
        labels=labels,
        origin=ORIGIN,
        semantics=VALUE,
        # A solution without steps is not "all right": nothing is known of it.
        first_error=first_error_of([label.verdict.outcome for label in labels]) if labels else None,
    )


def _label(tally: _Tally) -> StepLabel:
    counts = tally.counts()
    verdict = _verdict_of_answer(counts) if tally.is_graded_as_it_stands else hard_verdict(counts)
    return StepLabel(value=LABEL_OF[verdict.outcome], verdict=verdict, soft=counts.soft, counts=counts)


def _verdict_of_answer(counts: RolloutCounts) -> Verdict:
    if counts.undecided:
        return Verdict.undecided("the solution ends here in an answer that could not be graded")
    if counts.k:
        return Verdict.right("the solution ends here in the right answer")
    return Verdict.wrong("the solution ends here in a wrong answer")
