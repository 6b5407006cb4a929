"""How good is a policy: accuracy, strict accuracy and what its solutions are made of, with intervals."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from labeling.errors import InputError
from labeling.randomness import generator
from labeling.records import Problem
from labeling.report import Estimate, cluster_bootstrap, wilson
from labeling.rollouts.sampler import Prefix, Rollout, Sampler
from rl.step_source import JudgedCompletion, StepSource

WRONG_BELOW = 0.5
"""Score below which a step counts as wrong; verdicts are 0 and 1."""


@dataclass(frozen=True, kw_only=True)
class PolicyEvaluation:
    """Numbers of one policy on one set of problems. `n` of each estimate counts problems."""

    accuracy: Estimate
    """Share of scored solutions whose final answer is right."""
    strict_accuracy: Estimate
    """Share of scored solutions with the right answer and no wrong step; NaN when the source has no steps."""
    steps: Estimate
    """Steps a solution."""
    tokens: Estimate
    """Sampled tokens a solution, the end-of-text token included."""
    filler: Estimate
    """Steps a solution that are not needed; NaN when the source cannot tell."""
    cut: Estimate
    """Share of solutions that the token limit stopped."""
    n_solutions: int
    n_unscored: int
    """Solutions whose answer could not be checked; left out of both accuracies."""

    def to_dict(self) -> dict[str, Estimate | int]:
        """Return the numbers by name, for a report."""
        return dict(self.__dict__)


def evaluate_policy(
    sampler: Sampler,
    problems: Sequence[Problem],
    source: StepSource,
    *,
    max_tokens: int,
    n: int = 1,
    seed: int = 0,
) -> PolicyEvaluation:
    """Sample `n` solutions of each problem and judge them.

    The sampler decides temperature and randomness: hand over one at temperature 0 (with n = 1) for
    greedy numbers, one at temperature 1 for sampled ones.

    Args:
        sampler: The policy.
        problems: At least one.
        source: Judges the solutions; a verifier or a simulator, since a PRM's word is what is optimised.
        max_tokens: Limit of new tokens a solution.
        n: Solutions a problem.
        seed: Seed of the bootstrap.

    Returns:
        Estimates with 95 % intervals over problems (bootstrap, whole problems resampled).

    Raises:
        InputError: There are no problems.
    """
    if not problems:
        raise InputError("there are no problems to evaluate on.", remedy="Name a file with problems.")
    groups = sampler.extend(
        [Prefix(problem.text) for problem in problems],
        n,
        max_tokens=max_tokens,
        keys=[f"evaluate/{problem.id}" for problem in problems],
    )
    judged = source.judge(
        [problem for problem in problems for _ in range(n)],
        [rollout.text for group in groups for rollout in group],
    )
    rows = [
        _row(record, rollout)
        for record, rollout in zip(judged, (r for group in groups for r in group), strict=True)
    ]
    table = np.array(rows, dtype=np.float64).reshape(len(problems), n, len(_COLUMNS))
    estimates = {
        name: _estimate(name, list(table[:, :, column]), seed) for column, name in enumerate(_COLUMNS)
    }
    n_unscored = sum(record.outcome is None for record in judged)
    return PolicyEvaluation(**estimates, n_solutions=len(rows), n_unscored=n_unscored)


def _estimate(name: str, clusters: list[np.ndarray], seed: int) -> Estimate:
    estimate = cluster_bootstrap(clusters, _mean_of_known, rng=generator(seed, "evaluate", name))
    if name in _SHARES and estimate.value in (0.0, 1.0):
        # Every resample agrees, which is no certainty: Wilson's interval over problems is not a point.
        return wilson(round(estimate.value) * estimate.n, estimate.n)
    return estimate


_SHARES = ("accuracy", "strict_accuracy", "cut")
_COLUMNS = ("accuracy", "strict_accuracy", "steps", "tokens", "filler", "cut")


def _row(judged: JudgedCompletion, rollout: Rollout) -> tuple[float, ...]:
    outcome = math.nan if judged.outcome is None else judged.outcome
    is_every_step_right = not any(score < WRONG_BELOW for score in judged.scores)
    return (
        outcome,
        outcome * is_every_step_right if judged.scores or not outcome else math.nan,
        len(judged.spans),
        rollout.tokens,
        math.nan if judged.is_filler is None else sum(judged.is_filler),
        rollout.is_cut,
    )


def _mean_of_known(clusters: Sequence[np.ndarray]) -> float:
    values = np.concatenate(clusters)
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan
