"""How good scores are as probabilities, and how well they rank: pure functions on flat arrays.

Throughout, `score` is the probability in [0, 1] that a step is right, and `is_right` its label: 1
right, 0 wrong, both of shape (step,). Steps without a score or with an unknown label never enter: the
caller drops and counts them.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeling.errors import InputError
from labeling.records import UNKNOWN_LABEL
from labeling.report import Estimate, cluster_bootstrap

Floats = NDArray[np.float64]
Statistic = Callable[[Floats, Floats], float]

BIN_KINDS = ("uniform", "quantile")


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """The steps whose score lies in [low, high); the last bin is closed: [low, high]."""

    low: float
    high: float
    n: int
    """Steps in the bin."""
    n_right: int
    """Of these, how many are right."""
    mean_score: float
    """Mean score of the bin's steps; NaN when the bin is empty."""

    @property
    def share_right(self) -> float:
        """Share of the bin's steps that are right, in [0, 1]; NaN when the bin is empty."""
        return self.n_right / self.n if self.n else float("nan")

    @property
    def gap(self) -> float:
        """Distance between mean score and share right, in [0, 1]; 0 when the bin is empty."""
        return abs(self.share_right - self.mean_score) if self.n else 0.0


def reliability_bins(
    score: ArrayLike, is_right: ArrayLike, n_bins: int = 10, kind: str = "uniform"
) -> list[ReliabilityBin]:
    """Sort steps into bins of score. Each step falls into exactly one bin: counts add up to n.

    Args:
        score: Shape (step,), in [0, 1].
        is_right: Shape (step,), 0 or 1.
        n_bins: Bins, at least 1.
        kind: "uniform" cuts [0, 1] into `n_bins` equal widths and keeps empty bins; "quantile" cuts
            the scores into equal counts and returns fewer bins where scores are tied.

    Raises:
        InputError: A score is missing, NaN or outside [0, 1], a label is neither 0 nor 1, the shapes
            differ, there are no steps, or `n_bins` or `kind` is not one of the above.
    """
    p, y = check_scores(score, is_right)
    if n_bins < 1:
        raise InputError(f"n_bins is {n_bins}.", remedy="Use at least 1 bin.")
    if kind not in BIN_KINDS:
        raise InputError(f"there are no {kind!r} bins.", remedy=f"Use one of {', '.join(BIN_KINDS)}.")
    edges = np.arange(n_bins + 1) / n_bins
    if kind == "quantile":
        edges = np.unique(np.quantile(p, edges))
    count = max(len(edges) - 1, 1)
    # The clip puts a score of exactly the last edge into the last bin instead of one beyond it.
    index = np.clip(np.searchsorted(edges, p, side="right") - 1, 0, count - 1)
    n = np.bincount(index, minlength=count)
    total_score = np.bincount(index, weights=p, minlength=count)
    n_right = np.bincount(index, weights=y, minlength=count)
    return [
        ReliabilityBin(
            low=float(edges[b]),
            high=float(edges[min(b + 1, len(edges) - 1)]),
            n=int(n[b]),
            n_right=round(n_right[b]),
            mean_score=float(total_score[b] / n[b]) if n[b] else float("nan"),
        )
        for b in range(count)
    ]


def expected_calibration_error(
    score: ArrayLike, is_right: ArrayLike, n_bins: int = 10, kind: str = "uniform"
) -> float:
    """Mean gap between score and share right, in [0, 1]; 0 is calibrated.

    ECE = sum over bins of (n_bin / n) * |share right - mean score|. Empty bins add nothing. On few
    steps it is biased upwards: even perfect scores give more than 0.

    Raises:
        InputError: See `reliability_bins`.

    Source:
        Naeini, Cooper, Hauskrecht 2015, "Obtaining well calibrated probabilities using Bayesian
        binning"; Guo et al. 2017, "On calibration of modern neural networks", equation 3.
    """
    return gap_of_bins(reliability_bins(score, is_right, n_bins, kind))


def gap_of_bins(bins: Sequence[ReliabilityBin]) -> float:
    """Mean gap of the steps in these bins, which is their ECE, in [0, 1]; NaN without steps."""
    n = sum(b.n for b in bins)
    return sum(b.n * b.gap for b in bins) / n if n else float("nan")


def maximum_calibration_error(
    score: ArrayLike, is_right: ArrayLike, n_bins: int = 10, kind: str = "uniform"
) -> float:
    """Largest gap of any bin that holds steps, in [0, 1]: max over bins of |share right - mean score|.

    Raises:
        InputError: See `reliability_bins`.

    Source:
        Guo et al. 2017, equation 4.
    """
    return max(b.gap for b in reliability_bins(score, is_right, n_bins, kind))


def brier_score(score: ArrayLike, is_right: ArrayLike) -> float:
    """Mean squared distance between score and label, in [0, 1]; 0 is certain and right.

    Brier = mean of (score - is_right)^2.

    Raises:
        InputError: See `reliability_bins`.

    Source:
        Brier 1950, "Verification of forecasts expressed in terms of probability".
    """
    p, y = check_scores(score, is_right)
    return float(np.mean((p - y) ** 2))


def step_auroc(score: ArrayLike, is_right: ArrayLike) -> float:
    """Chance that a right step scores above a wrong one, ties counting one half; in [0, 1].

    AUROC = (sum of the ranks of right steps - R (R + 1) / 2) / (R W) with R right and W wrong steps,
    tied scores sharing their mean rank. NaN when all steps are right or all are wrong: there is
    nothing to rank.

    Raises:
        InputError: See `reliability_bins`.

    Source:
        Mann and Whitney 1947; equal to scikit-learn's `roc_auc_score`.
    """
    p, y = check_scores(score, is_right)
    n_right = float(y.sum())
    n_wrong = len(y) - n_right
    if not n_right or not n_wrong:
        return float("nan")
    _, index, count = np.unique(p, return_inverse=True, return_counts=True)
    mean_rank = np.cumsum(count) - (count - 1) / 2
    rank_sum = float(mean_rank[index][y == 1].sum())
    return (rank_sum - n_right * (n_right + 1) / 2) / (n_right * n_wrong)


def over_problems(
    statistic: Statistic,
    problems: Sequence[tuple[ArrayLike, ArrayLike]],
    *,
    rng: np.random.Generator,
    draws: int = 500,
) -> Estimate:
    """Estimate a statistic of all steps with an interval that resamples whole problems.

    The interval is a percentile interval. ECE and MCE grow with noise, so their resampled values sit
    above the value itself; the interval is stretched to hold the value where it would not. Where every
    resample gives the same (an AUROC of 1), there is no interval: it would claim certainty.

    Args:
        statistic: Any function above: (score, is_right) -> float; NaN draws are left out.
        problems: One pair (score, is_right) a problem, each of shape (step,).
        rng: Source of randomness.
        draws: Resamples.

    Returns:
        The statistic with n problems; limits NaN without an interval; all NaN when there is no problem.

    Raises:
        InputError: `statistic` refuses the steps.
    """
    if not problems:
        nan = float("nan")
        return Estimate(value=nan, low=nan, high=nan, n=0, method="no problem to resample")
    arrays = [(np.asarray(p, dtype=np.float64), np.asarray(y, dtype=np.float64)) for p, y in problems]

    def of_clusters(clusters: Sequence[tuple[Floats, Floats]]) -> float:
        return statistic(np.concatenate([p for p, _ in clusters]), np.concatenate([y for _, y in clusters]))

    found = cluster_bootstrap(arrays, of_clusters, rng=rng, draws=draws)
    if found.low == found.high:
        return replace(found, low=math.nan, high=math.nan, method="no interval: all resamples agree")
    return Estimate(
        value=found.value,
        low=min(found.low, found.value),
        high=max(found.high, found.value),
        n=found.n,
        method=found.method,
    )


def known_labels(score: ArrayLike, label: ArrayLike) -> tuple[Floats, Floats, int]:
    """Leave out steps whose label is -100; return (score, is_right, how many were left out).

    Args:
        score: Shape (step,).
        label: Shape (step,): 1, 0 or -100.

    Raises:
        InputError: The shapes differ.
    """
    p, y = np.asarray(score, dtype=np.float64), np.asarray(label, dtype=np.float64)
    if p.shape != y.shape:
        raise InputError(
            f"{p.size} scores but {y.size} labels.", remedy="Give one label a score, in the same order."
        )
    is_known = y != UNKNOWN_LABEL
    return p[is_known], y[is_known], int((~is_known).sum())


def check_scores(score: ArrayLike, is_right: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as float arrays of shape (step,).

    Raises:
        InputError: See `reliability_bins`.
    """
    p = as_probabilities(score)
    y = np.asarray(is_right, dtype=np.float64)
    if p.shape != y.shape:
        raise InputError(
            f"{p.size} scores but {y.size} labels.", remedy="Give one label a score, in the same order."
        )
    if not p.size:
        raise InputError("there are no steps to measure.", remedy="Give steps with a score and a label.")
    if not np.isin(y, (0.0, 1.0)).all():
        bad = y[~np.isin(y, (0.0, 1.0))][0]
        raise InputError(
            f"label {bad:g} is neither 0 nor 1.", remedy="Leave out steps whose label is unknown; count them."
        )
    return p, y


def as_probabilities(score: ArrayLike) -> Floats:
    """Return scores as a float array of shape (step,).

    Raises:
        InputError: A score is None, NaN, infinite or outside [0, 1], or the array is not flat.
    """
    p = np.asarray(score, dtype=np.float64)
    if p.ndim != 1:
        raise InputError(f"scores of {p.ndim} dimensions.", remedy="Give a flat list of one score a step.")
    outside = ~((p >= 0) & (p <= 1))
    if outside.any():
        index = int(np.flatnonzero(outside)[0])
        raise InputError(
            f"score {p[index]:g} at position {index} is not a number in 0..1.",
            remedy="Leave out steps that were not scored, and count them.",
        )
    return p
