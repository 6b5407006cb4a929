"""ProcessBench's first-error measure, and the plain measures of verdicts that raise a flag.

Indices are 0-based; -1 means that all steps are right.

Source: Zheng et al. 2025, "ProcessBench: identifying process errors in mathematical reasoning",
section 2. What it calls F1 is the harmonic mean of two accuracies, not the F1 of a detector.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from labeling.agreement import harmonic_mean
from labeling.errors import InputError
from labeling.label_values import ALL_RIGHT
from labeling.randomness import generator
from labeling.report import Estimate, cluster_bootstrap, wilson
from prm.calibration.metrics import as_probabilities


@dataclass(frozen=True, kw_only=True)
class FirstErrorScore:
    """How often the first error was found exactly. A share of no chains is NaN."""

    accuracy_on_errors: float
    """Of chains that hold an error, the share whose predicted index is exactly the first error."""
    accuracy_on_right: float
    """Of chains that are all right, the share predicted -1."""
    f1: float
    """Harmonic mean of the two; 0 when both are 0, NaN when either is."""
    n_errors: int
    """Chains that hold an error."""
    n_right: int
    """Chains that are all right."""


@dataclass(frozen=True, kw_only=True)
class FlagScore:
    """How good flags on first wrong steps are; each number with Wilson's interval and its n."""

    precision: Estimate
    """Of flagged chains, the share whose flag is exactly the first error."""
    recall: Estimate
    """Of chains that hold an error, the share whose first error is exactly where the flag is."""
    false_positive_rate: Estimate
    """Of chains that are all right, the share that is flagged."""
    chain_precision: Estimate
    """Of flagged chains, the share that holds an error, wherever the flag is."""
    chain_recall: Estimate
    """Of chains that hold an error, the share that is flagged, wherever the flag is."""


@dataclass(frozen=True, kw_only=True)
class ThresholdChoice:
    """A threshold on the score and what it reached on the chains it was chosen on."""

    threshold: float
    f1: float


def predict_first_error(scores: ArrayLike, threshold: float) -> int:
    """Index of the first step whose score lies strictly below `threshold`, else -1.

    Args:
        scores: Shape (step,), in [0, 1]; complete: a chain with an unscored step has no prediction.
        threshold: A score equal to it counts as right.

    Raises:
        InputError: A score is missing, NaN or outside [0, 1].
    """
    below = np.flatnonzero(as_probabilities(scores) < threshold)
    return int(below[0]) if below.size else ALL_RIGHT


def first_error_f1(predicted: Sequence[int], gold: Sequence[int]) -> FirstErrorScore:
    """Compare predicted with true first errors, one pair a chain.

    f1 = 2 e r / (e + r), e the accuracy on chains with an error, r on chains that are all right.

    Args:
        predicted: Index or -1, shape (chain,).
        gold: Index or -1, shape (chain,).

    Raises:
        InputError: The lengths differ, or an index is below -1 or no whole number.
    """
    _check_indices(predicted, gold)
    on_errors = [p == g for p, g in zip(predicted, gold, strict=True) if g != ALL_RIGHT]
    on_right = [p == g for p, g in zip(predicted, gold, strict=True) if g == ALL_RIGHT]
    return score_of_counts(sum(on_errors), len(on_errors), sum(on_right), len(on_right))


def score_of_counts(hits_on_errors: int, n_errors: int, hits_on_right: int, n_right: int) -> FirstErrorScore:
    """Return the score of these many exact hits among chains with an error and all-right chains."""
    on_errors = hits_on_errors / n_errors if n_errors else math.nan
    on_right = hits_on_right / n_right if n_right else math.nan
    return FirstErrorScore(
        accuracy_on_errors=on_errors,
        accuracy_on_right=on_right,
        f1=float(harmonic_mean(on_errors, on_right)),
        n_errors=n_errors,
        n_right=n_right,
    )


def first_error_over_problems(
    problems: Sequence[str], predicted: Sequence[int], gold: Sequence[int], *, seed: int, draws: int = 500
) -> dict[str, Estimate]:
    """`first_error_f1` with intervals that resample whole problems; n counts problems.

    Resampling nothing but hits, or nothing but misses, gives an interval without width, which would
    claim certainty. An accuracy of 0 or 1 therefore gets Wilson's interval for as many units as there
    are problems with such chains, and an F1 of 0 or 1 the harmonic means of the accuracies' limits.

    Args:
        problems: Name of each chain's problem, shape (chain,).
        predicted: Index or -1, shape (chain,).
        gold: Index or -1, shape (chain,).
        seed: Root seed of the intervals.
        draws: Resamples.

    Returns:
        `first_error_f1`, `first_error_accuracy_on_errors` and `first_error_accuracy_on_right`.

    Raises:
        InputError: See `first_error_f1`.
    """
    _check_indices(predicted, gold)
    tallies: dict[str, np.ndarray] = {}
    for problem, guess, true in zip(problems, predicted, gold, strict=True):
        is_right = true == ALL_RIGHT
        row = tallies.setdefault(problem, np.zeros(4, dtype=np.int64))
        row[2 * is_right : 2 * is_right + 2] += (guess == true, 1)
    clusters = list(tallies.values())

    def estimate(field: str) -> Estimate:
        def statistic(drawn: list[np.ndarray]) -> float:
            hits_on_errors, n_errors, hits_on_right, n_right = np.sum(drawn or [np.zeros(4)], axis=0)
            score = score_of_counts(int(hits_on_errors), int(n_errors), int(hits_on_right), int(n_right))
            return getattr(score, field)

        rng = generator(seed, "interval", "first_error", field)
        return cluster_bootstrap(clusters, statistic, rng=rng, draws=draws)

    on_errors = _with_width(estimate("accuracy_on_errors"), n=sum(int(c[1] > 0) for c in clusters))
    on_right = _with_width(estimate("accuracy_on_right"), n=sum(int(c[3] > 0) for c in clusters))
    f1 = estimate("f1")
    if f1.value in (0, 1):
        low = float(harmonic_mean(on_errors.low, on_right.low))
        high = float(harmonic_mean(on_errors.high, on_right.high))
        f1 = replace(f1, low=low, high=high, method="limits of the two accuracies 95 %")
    return {
        "first_error_f1": f1,
        "first_error_accuracy_on_errors": on_errors,
        "first_error_accuracy_on_right": on_right,
    }


def _with_width(accuracy: Estimate, *, n: int) -> Estimate:
    """Give an accuracy of exactly 0 or 1 Wilson's interval for `n` independent units."""
    if accuracy.value not in (0, 1):
        return accuracy
    found = wilson(round(accuracy.value) * n, n)
    return replace(accuracy, low=found.low, high=found.high, method="Wilson over problems 95 %")


def choose_threshold(scores: Sequence[ArrayLike], gold: Sequence[int]) -> ThresholdChoice:
    """Find the threshold with the highest first-error F1. Use on calibration chains, never on test.

    A chain is a hit exactly for thresholds in a half-open range: (score of the first error, lowest
    score before it] for a chain with an error, [0, lowest score] for one that is all right. Counting
    the ranges that hold a threshold gives F1 for every threshold at once, exactly. Between neighbouring
    ends of ranges F1 is constant; the middle of the widest best stretch is returned, the lowest such
    stretch when widths are equal.

    Args:
        scores: One array of shape (step,) a chain, in [0, 1].
        gold: Index or -1, shape (chain,).

    Raises:
        InputError: No chain holds an error, none is all right, or a score is missing.
    """
    _check_indices(gold, gold)
    if len(scores) != len(gold):
        raise InputError(f"{len(scores)} chains but {len(gold)} first errors.", remedy="Give one each.")
    n_right = sum(g == ALL_RIGHT for g in gold)
    if not n_right or n_right == len(gold):
        raise InputError(
            f"a threshold needs chains with and without an error; of {len(gold)}, {n_right} are all right.",
            remedy="Give more problems, or set the threshold by hand.",
        )
    ranges = [_hit_range(as_probabilities(s), g) for s, g in zip(scores, gold, strict=True)]
    error_ends = np.array([r for r, g in zip(ranges, gold, strict=True) if g != ALL_RIGHT])
    right_ends = np.array([r for r, g in zip(ranges, gold, strict=True) if g == ALL_RIGHT])
    ends = np.unique(np.concatenate([error_ends, right_ends]).clip(0, 1))
    ends = np.unique(np.concatenate([[0.0], ends, [1.0]]))
    middles = (ends[:-1] + ends[1:]) / 2
    # Midway between two neighbouring doubles rounds to one of them; the upper one lies inside.
    middles = np.where(middles > ends[:-1], middles, ends[1:])
    f1 = harmonic_mean(_hits(error_ends, middles) / len(error_ends), _hits(right_ends, middles) / n_right)
    best = np.flatnonzero(f1 == f1.max())
    widest = best[np.argmax(np.diff(ends)[best])]
    return ThresholdChoice(threshold=float(middles[widest]), f1=float(f1[widest]))


def flag_score(flagged_first: Sequence[int | None], gold: Sequence[int]) -> FlagScore:
    """Measure flags against true first errors, one pair a chain.

    Args:
        flagged_first: Index of the first step judged WRONG, None when no step was, shape (chain,).
            An UNDECIDED step raises no flag.
        gold: Index of the first error or -1, shape (chain,).

    Raises:
        InputError: The lengths differ, or an index is negative where it marks a step.
    """
    _check_indices([0 if f is None else f for f in flagged_first], gold)
    if ALL_RIGHT in flagged_first:
        raise InputError("a flag of -1.", remedy="Give None for a chain without a flag.")
    pairs = list(zip(flagged_first, gold, strict=True))
    n_exact = sum(flag == true for flag, true in pairs)
    n_flagged = sum(flag is not None for flag, _ in pairs)
    flags_on_right = [flag is not None for flag, true in pairs if true == ALL_RIGHT]
    n_errors = len(pairs) - len(flags_on_right)
    n_flagged_errors = n_flagged - sum(flags_on_right)
    return FlagScore(
        precision=wilson(n_exact, n_flagged),
        recall=wilson(n_exact, n_errors),
        false_positive_rate=wilson(sum(flags_on_right), len(flags_on_right)),
        chain_precision=wilson(n_flagged_errors, n_flagged),
        chain_recall=wilson(n_flagged_errors, n_errors),
    )


def _hit_range(scores: np.ndarray, first_error: int) -> tuple[float, float]:
    """Return (low, high]: the thresholds at which this chain's first error is predicted exactly."""
    if first_error == ALL_RIGHT:
        return -math.inf, float(scores.min(initial=math.inf))
    if first_error >= len(scores):
        raise InputError(
            f"first error {first_error} in a chain of {len(scores)} scores.",
            remedy="Indices are 0-based and lie inside the chain.",
        )
    return float(scores[first_error]), float(scores[:first_error].min(initial=math.inf))


def _hits(ranges: np.ndarray, thresholds: np.ndarray) -> np.ndarray:
    low, high = ranges[:, 0], ranges[:, 1]
    low, high = low[low < high], high[low < high]
    begun = np.searchsorted(np.sort(low), thresholds, side="left")
    ended = np.searchsorted(np.sort(high), thresholds, side="left")
    return begun - ended


def _check_indices(predicted: Sequence[int], gold: Sequence[int]) -> None:
    if len(predicted) != len(gold):
        raise InputError(
            f"{len(predicted)} predictions for {len(gold)} chains.", remedy="Give one prediction a chain."
        )
    for name, column in (("prediction", predicted), ("first error", gold)):
        for value in column:
            if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < ALL_RIGHT:
                raise InputError(
                    f"{name} {value!r} is not a 0-based index or -1.",
                    remedy="Leave out chains whose first error is unknown, and count them.",
                )
