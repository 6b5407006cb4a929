"""Scored and labelled chains -> numbers with intervals."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from labeling.label_values import RIGHT_LABEL, UNKNOWN_LABEL, count_until_first_error
from labeling.randomness import generator
from labeling.records import LabelledSolution, known_first_error, normalised_problem_text
from labeling.report import Estimate
from prm.benchmarks.first_error import first_error_over_problems, predict_first_error
from prm.calibration.calibrators import Calibrator
from prm.calibration.metrics import (
    Floats,
    Statistic,
    brier_score,
    expected_calibration_error,
    maximum_calibration_error,
    over_problems,
    step_auroc,
)


@dataclass(frozen=True, kw_only=True)
class ScoredChain:
    """One solution with a score and a label a step. Invariant: both of shape (step,)."""

    problem: str
    """Normalised problem text: chains of one problem are resampled together."""
    scores: Floats
    """In [0, 1]; NaN where the step could not be scored."""
    labels: NDArray[np.int64]
    """1 right, 0 wrong, -100 unknown."""
    first_error: int | None
    """Index, -1 for all right, None when not known."""

    @classmethod
    def of(cls, labelled: LabelledSolution, scores: Sequence[float | None]) -> "ScoredChain":
        """Pair a labelled solution with its scores, None where a step has none."""
        return cls(
            problem=normalised_problem_text(labelled.solution.problem.text),
            scores=np.array(scores, dtype=np.float64),
            labels=np.array([label.value for label in labelled.labels], dtype=np.int64),
            first_error=known_first_error(labelled),
        )

    def until_first_error(self) -> "ScoredChain":
        """Return the chain with the labels behind its first error unknown."""
        n_kept = count_until_first_error(self.labels.tolist(), self.first_error)
        is_behind = np.arange(len(self.labels)) >= n_kept
        return replace(self, labels=np.where(is_behind, UNKNOWN_LABEL, self.labels))

    @property
    def is_scored(self) -> NDArray[np.bool_]:
        """True where the step has a score, shape (step,)."""
        return ~np.isnan(self.scores)

    @property
    def is_usable(self) -> NDArray[np.bool_]:
        """True where the step has a score and a known label, shape (step,)."""
        return self.is_scored & (self.labels != UNKNOWN_LABEL)

    @property
    def has_prediction(self) -> bool:
        """Whether the first error is known and every step has a score."""
        return self.first_error is not None and bool(self.is_scored.all())


def is_at_risk(labels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """True up to and including the first step that is not known to be right, shape (step,).

    These are the steps whose prefix is still right: the ones on which a policy can still be steered.
    """
    before = np.concatenate([[RIGHT_LABEL], labels[:-1]]) == RIGHT_LABEL
    return np.logical_and.accumulate(before)


def usable_steps(chains: Iterable[ScoredChain], *, at_risk: bool = False) -> tuple[Floats, Floats]:
    """Return (score, is_right) of all steps with a score and a known label, each of shape (step,).

    Args:
        chains: Any number of chains.
        at_risk: Take only the steps at risk, see `is_at_risk`.
    """
    scores, labels = [np.zeros(0)], [np.zeros(0)]
    for chain in chains:
        taken = chain.is_usable & is_at_risk(chain.labels) if at_risk else chain.is_usable
        scores.append(chain.scores[taken])
        labels.append(chain.labels[taken].astype(np.float64))
    return np.concatenate(scores), np.concatenate(labels)


def count_chains(chains: Sequence[ScoredChain]) -> dict[str, int]:
    """Count what is used and what is not, zeros included."""
    return {
        "problems": len({chain.problem for chain in chains}),
        "solutions": len(chains),
        "steps": sum(len(chain.scores) for chain in chains),
        "steps used": sum(int(chain.is_usable.sum()) for chain in chains),
        "steps used, at risk": len(usable_steps(chains, at_risk=True)[0]),
        "steps without a score": sum(int((~chain.is_scored).sum()) for chain in chains),
        "steps without a known label": sum(int((chain.labels == UNKNOWN_LABEL).sum()) for chain in chains),
        "solutions used for the first error": sum(chain.has_prediction for chain in chains),
        "solutions without a known first error": sum(chain.first_error is None for chain in chains),
        "solutions with an unscored step": sum(not chain.is_scored.all() for chain in chains),
    }


def measure_ranking(
    chains: Sequence[ScoredChain], *, threshold: float, seed: int, resamples: int = 500
) -> dict[str, Estimate]:
    """Measure how well raw scores find wrong steps: AUROC of steps, and the first error.

    Args:
        chains: Held-out chains, disjoint from those the threshold was chosen on.
        threshold: A step whose score lies strictly below it is predicted wrong.
        seed: Root seed of the intervals.
        resamples: Resamples of problems behind each interval.
    """
    predicted = [chain for chain in chains if chain.has_prediction]
    return {
        "step_auroc": _steps_estimate("step_auroc", step_auroc, chains, seed=seed, resamples=resamples),
        "step_auroc_at_risk": over_problems(
            step_auroc,
            _by_problem(chains, at_risk=True),
            rng=generator(seed, "interval", "step_auroc_at_risk"),
            draws=resamples,
        ),
        **first_error_over_problems(
            [chain.problem for chain in predicted],
            [predict_first_error(chain.scores, threshold) for chain in predicted],
            [chain.first_error for chain in predicted if chain.first_error is not None],
            seed=seed,
            draws=resamples,
        ),
    }


def measure_calibration(
    chains: Sequence[ScoredChain],
    calibrator: Calibrator | None,
    *,
    n_bins: int,
    seed: int,
    resamples: int = 500,
) -> dict[str, Estimate]:
    """Measure scores as probabilities, after `calibrator` where one is given.

    Args:
        chains: Held-out chains, disjoint from those the calibrator was fitted on.
        calibrator: Applied to each score first; None measures raw scores.
        n_bins: Uniform bins behind ECE and MCE.
        seed: Root seed of the intervals; equal seeds resample equal problems.
        resamples: Resamples of problems behind each interval.
    """
    statistics: dict[str, Statistic] = {
        "ece": lambda p, y: expected_calibration_error(p, y, n_bins),
        "mce": lambda p, y: maximum_calibration_error(p, y, n_bins),
        "brier": brier_score,
    }
    return {
        name: _steps_estimate(name, statistic, chains, calibrator, seed=seed, resamples=resamples)
        for name, statistic in statistics.items()
    }


def share_right(chains: Sequence[ScoredChain], *, seed: int, resamples: int = 500) -> Estimate:
    """Share of usable steps that are right: what a constant score would have to say."""

    def mean_label(score: Floats, is_right: Floats) -> float:
        return float(is_right.mean())

    return _steps_estimate("share_right", mean_label, chains, seed=seed, resamples=resamples)


def _steps_estimate(
    name: str,
    statistic: Statistic,
    chains: Sequence[ScoredChain],
    calibrator: Calibrator | None = None,
    *,
    seed: int,
    resamples: int,
) -> Estimate:
    problems = _by_problem(chains)
    if calibrator is not None:
        problems = [(calibrator(p), y) for p, y in problems]
    return over_problems(statistic, problems, rng=generator(seed, "interval", name), draws=resamples)


def _by_problem(chains: Sequence[ScoredChain], *, at_risk: bool = False) -> list[tuple[Floats, Floats]]:
    grouped: dict[str, list[ScoredChain]] = defaultdict(list)
    for chain in chains:
        grouped[chain.problem].append(chain)
    steps = [usable_steps(group, at_risk=at_risk) for group in grouped.values()]
    return [(p, y) for p, y in steps if len(p)]
