"""Two sets of labels on the same steps: how far they agree.

Correctness and value labels mean different things after the first error (a wrong step can be repaired,
a right one can stand on a lost prefix), so agreement is also given up to the reference's first error.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from labeling.errors import RecordError
from labeling.label_values import ALL_RIGHT, count_until_first_error
from labeling.records import (
    RIGHT_LABEL,
    UNKNOWN_LABEL,
    WRONG_LABEL,
    LabelledSolution,
    known_first_error,
)
from labeling.report import Estimate, cluster_bootstrap

_CELLS = (
    (RIGHT_LABEL, RIGHT_LABEL),
    (RIGHT_LABEL, WRONG_LABEL),
    (WRONG_LABEL, RIGHT_LABEL),
    (WRONG_LABEL, WRONG_LABEL),
)


@dataclass(frozen=True, kw_only=True)
class StepAgreement:
    """Agreement on single steps. The confusion counts name the reference first and add up to `n_steps`."""

    n_steps: int
    """Steps that both sides decided."""
    n_undecided_reference: int
    """Steps that the reference left undecided, whatever the other side says."""
    n_undecided_other: int
    """Steps that the other side left undecided, whatever the reference says."""
    agreement: Estimate
    """Share of `n_steps` with equal labels; NaN without steps."""
    kappa: Estimate
    """Cohen's kappa on `n_steps`, in [-1, 1]; NaN when chance alone gives full agreement."""
    right_right: int
    right_wrong: int
    wrong_right: int
    wrong_wrong: int


@dataclass(frozen=True, kw_only=True)
class FirstErrorAgreement:
    """Agreement on the first error of whole solutions, where both sides know it."""

    n_with_error: int
    """Solutions in which the reference has an error."""
    n_all_right: int
    """Solutions that are all right by the reference."""
    n_unknown_reference: int
    """Solutions whose first error the reference does not know, whatever the other side says."""
    n_unknown_other: int
    """Solutions whose first error the other side does not know, whatever the reference says."""
    exact_match: Estimate
    """Share of solutions on which both name the same index (-1: none)."""
    f1: Estimate
    """ProcessBench's F1; NaN when there is no solution with, or none without, an error."""


@dataclass(frozen=True, kw_only=True)
class Agreement:
    """How far another set of labels agrees with a reference; intervals are over problems."""

    n_solutions: int
    n_problems: int
    all_steps: StepAgreement
    until_first_error: StepAgreement
    """Steps up to and including the reference's first error: there both kinds of label mean the same."""
    first_error: FirstErrorAgreement


def compare_labels(
    reference: Sequence[LabelledSolution], other: Sequence[LabelledSolution], rng: np.random.Generator
) -> Agreement:
    """Compare two sets of labels of the same solutions, given in the same order.

    Args:
        reference: The labels that count as the truth.
        other: The labels to compare.
        rng: Source of the bootstrap's randomness.

    Raises:
        RecordError: The sides differ in number, in a solution's id, or in its number of steps.
    """
    pairs = _paired(reference, other)
    return Agreement(
        n_solutions=len(pairs),
        n_problems=len({ours.solution.problem.id for ours, _ in pairs}),
        all_steps=_step_agreement(pairs, lambda labelled: len(labelled.labels), rng),
        until_first_error=_step_agreement(pairs, steps_until_first_error, rng),
        first_error=_first_error_agreement(pairs, rng),
    )


def steps_until_first_error(labelled: LabelledSolution) -> int:
    """Count the steps up to and including the first error; all steps when there is none.

    When the first error is not known: the steps that are certainly before it, which are the right ones
    before the first undecided step.
    """
    values = [label.value for label in labelled.labels]
    first_error = known_first_error(labelled)
    if first_error is None and UNKNOWN_LABEL in values:
        return values.index(UNKNOWN_LABEL)
    return count_until_first_error(values, first_error)


def cohen_kappa(confusion: np.ndarray) -> float:
    """Return Cohen's kappa, (p_o - p_e) / (1 - p_e).

    p_o is the share of equal labels, p_e the share expected if both sides labelled independently with
    their own shares of right. NaN without counts and when p_e is 1.

    Args:
        confusion: Counts right-right, right-wrong, wrong-right, wrong-wrong, the reference first.

    Source: Cohen 1960, "A coefficient of agreement for nominal scales".
    """
    right_right, right_wrong, wrong_right, wrong_wrong = (float(c) for c in confusion)
    n = right_right + right_wrong + wrong_right + wrong_wrong
    if n == 0:
        return math.nan
    ours, theirs = (right_right + right_wrong) / n, (right_right + wrong_right) / n
    by_chance = ours * theirs + (1 - ours) * (1 - theirs)
    return ((right_right + wrong_wrong) / n - by_chance) / (1 - by_chance) if by_chance < 1 else math.nan


def process_bench_f1(counts: np.ndarray) -> float:
    """Harmonic mean of the exact-match shares on solutions with an error and on those all right.

    Args:
        counts: Hits on solutions with an error, their number, hits on all-right ones, their number.

    Returns:
        2 e r / (e + r) in [0, 1]; 0 when both shares are 0, NaN when there are no solutions of a kind.

    Source: Zheng et al. 2025, "ProcessBench" (arXiv 2412.06559), section 2.
    """
    hits_on_errors, n_errors, hits_on_right, n_right = (float(c) for c in counts)
    if not n_errors or not n_right:
        return math.nan
    return float(harmonic_mean(hits_on_errors / n_errors, hits_on_right / n_right))


def harmonic_mean(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Return 2 a b / (a + b), element by element: 0 where both are 0, NaN where either is.

    Args:
        a: Shares in [0, 1].
        b: As many.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    total = a + b
    return np.where(total == 0, 0.0, 2 * a * b / np.where(total == 0, 1.0, total))


_Pair = tuple[LabelledSolution, LabelledSolution]


def _paired(reference: Sequence[LabelledSolution], other: Sequence[LabelledSolution]) -> list[_Pair]:
    if len(reference) != len(other):
        raise RecordError(
            f"{len(reference)} reference solutions but {len(other)} to compare.",
            remedy="Give both sides the same solutions in the same order.",
        )
    for ours, theirs in zip(reference, other, strict=True):
        if ours.solution.id != theirs.solution.id or len(ours.labels) != len(theirs.labels):
            raise RecordError(
                f"the reference has {len(ours.labels)} steps here, the other side has record "
                f"{theirs.solution.id} with {len(theirs.labels)} steps.",
                remedy="Give both sides the same solutions, cut into the same steps, in the same order.",
                record_id=ours.solution.id,
            )
    return list(zip(reference, other, strict=True))


def _step_agreement(
    pairs: Sequence[_Pair], n_counted: Callable[[LabelledSolution], int], rng: np.random.Generator
) -> StepAgreement:
    values = [
        [(a.value, b.value) for a, b in zip(ours.labels, theirs.labels, strict=True)][: n_counted(ours)]
        for ours, theirs in pairs
    ]
    rows = [[row.count(cell) for cell in _CELLS] for row in values]
    clusters = _by_problem(pairs, rows)
    total = _summed(clusters)
    return StepAgreement(
        n_steps=int(total.sum()),
        n_undecided_reference=sum(a == UNKNOWN_LABEL for row in values for a, _ in row),
        n_undecided_other=sum(b == UNKNOWN_LABEL for row in values for _, b in row),
        agreement=cluster_bootstrap(clusters, lambda c: _share_equal(_summed(c)), rng=rng),
        kappa=cluster_bootstrap(clusters, lambda c: cohen_kappa(_summed(c)), rng=rng),
        right_right=int(total[0]),
        right_wrong=int(total[1]),
        wrong_right=int(total[2]),
        wrong_wrong=int(total[3]),
    )


def _first_error_agreement(pairs: Sequence[_Pair], rng: np.random.Generator) -> FirstErrorAgreement:
    known = [(known_first_error(ours), known_first_error(theirs)) for ours, theirs in pairs]
    rows = [_first_error_counts(ours, theirs) for ours, theirs in known]
    clusters = _by_problem(pairs, rows)
    total = _summed(clusters)
    return FirstErrorAgreement(
        n_with_error=int(total[1]),
        n_all_right=int(total[3]),
        n_unknown_reference=sum(ours is None for ours, _ in known),
        n_unknown_other=sum(theirs is None for _, theirs in known),
        exact_match=cluster_bootstrap(clusters, lambda c: _share_exact(_summed(c)), rng=rng),
        f1=cluster_bootstrap(clusters, lambda c: process_bench_f1(_summed(c)), rng=rng),
    )


def _first_error_counts(ours: int | None, theirs: int | None) -> list[int]:
    if ours is None or theirs is None:
        return [0, 0, 0, 0]
    is_hit = int(ours == theirs)
    return [0, 0, is_hit, 1] if ours == ALL_RIGHT else [is_hit, 1, 0, 0]


def _by_problem(pairs: Sequence[_Pair], rows: Iterable[Sequence[int]]) -> list[np.ndarray]:
    """Counts added up problem by problem, four a problem; problems that count nothing are left out."""
    sums: dict[str, np.ndarray] = {}
    for (ours, _), row in zip(pairs, rows, strict=True):
        problem_id = ours.solution.problem.id
        sums[problem_id] = sums.get(problem_id, np.zeros(4)) + np.asarray(row)
    return [counts for counts in sums.values() if counts.any()]


def _summed(clusters: Sequence[np.ndarray]) -> np.ndarray:
    return np.reshape(clusters, (-1, 4)).sum(axis=0)


def _share_equal(confusion: np.ndarray) -> float:
    n = confusion.sum()
    return float((confusion[0] + confusion[3]) / n) if n else math.nan


def _share_exact(counts: np.ndarray) -> float:
    n = counts[1] + counts[3]
    return float((counts[0] + counts[2]) / n) if n else math.nan
