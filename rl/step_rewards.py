"""From step scores to step rewards: potentials, their differences, and returns.

A potential Phi_0 .. Phi_K tells how good the solution looks after each step. The process reward of step k is
the difference Phi_k - Phi_{k-1}, so the rewards of any stretch of steps sum to the difference of its ends.
Transform the potential, never the difference: a clipped difference no longer telescopes, and a cycle of small
ignored drops followed by one credited jump earns without bound.

An unscored step (NaN) leaves the potential as it was: its reward is 0. `n_unscored` counts such steps.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from labeling.errors import ConfigError

Floats = NDArray[np.float64]

POTENTIALS = ("running_min", "log_survival", "value", "grounded", "raw_sum")
NEUTRAL_VALUE = 0.5
"""Phi_0 of `value` and `grounded`: a constant, so it changes no gradient."""
SURVIVAL_FLOOR = 0.01
"""Survival probability at which `log_survival` stops falling."""


def as_scores(scores: ArrayLike) -> Floats:
    """Return step scores as a float64 array (K,), NaN where unscored; a copy.

    Raises:
        ValueError: Not one-dimensional, or a score outside 0..1.
    """
    array = np.array(scores, dtype=np.float64)
    if array.ndim != 1:
        raise ValueError(f"step scores of one completion must be one-dimensional, got shape {array.shape}")
    outside = array[(array < 0) | (array > 1)]
    if outside.size:
        raise ValueError(f"step score {outside[0]} is outside 0..1")
    return array


def n_unscored(scores: ArrayLike) -> int:
    """Count the steps without a score (NaN); they leave every potential unchanged."""
    return int(np.isnan(as_scores(scores)).sum())


def clipped_levels(scores: ArrayLike, *, ceiling: float = 0.8) -> Floats:
    """Return min(q_k, ceiling) / ceiling for each step, 1 where unscored; `running_min` is their minimum.

    The ceiling keeps the minimum from drifting down with the mere number of right steps: under score noise
    the minimum of K scores falls about like sigma * sqrt(2 ln K).

    Args:
        scores: Step scores (K,), probabilities in 0..1, NaN where unscored.
        ceiling: Score from which a step counts as fully right, in (0, 1].

    Raises:
        ConfigError: The ceiling is outside (0, 1].
    """
    if not 0 < ceiling <= 1:
        raise ConfigError(f"the ceiling of step scores is {ceiling}, outside (0, 1].", remedy="Try 0.8.")
    levels = np.minimum(as_scores(scores), ceiling) / ceiling
    return np.where(np.isnan(levels), 1.0, levels)


def potential(
    scores: ArrayLike, *, name: str = "running_min", ceiling: float = 0.8, outcome: float | None = None
) -> Floats:
    """Return Phi_0 .. Phi_K of one completion, shape (K+1,).

    - `running_min`: Phi_k = min_{l<=k} min(q_l, ceiling)/ceiling, Phi_0 = 1. In [0, 1], never rises. For
      scores that say whether a step is right. Its return is the minimum: an inserted step cannot earn.
    - `log_survival`: Phi_k = max(sum_{l<=k} log q_l, log 0.01) / -log 0.01, Phi_0 = 0. In [-1, 0], never
      rises. For models of the first wrong step, q = 1 - hazard.
    - `value`: Phi_k = q_k, Phi_0 = 0.5. For scores that estimate whether the prefix still reaches the answer.
      Its return is the last score: an outcome reward model; what a restated last step can fool.
    - `grounded`: `value` with Phi_K = outcome. The scores only lower the variance of outcome learning.
    - `raw_sum`: Phi_k = sum_{l<=k} q_l, the naive sum of scores. Not bounded, hence EXPLOITABLE: each
      inserted step earns its own score. Only for comparison.

    Args:
        scores: Step scores (K,), probabilities in 0..1, NaN where unscored. K may be 0.
        name: One of `POTENTIALS`.
        ceiling: See `clipped_levels`; only `running_min` reads it.
        outcome: 0..1, read (and needed) only by `grounded`.

    Raises:
        ConfigError: Unknown name, or a ceiling outside (0, 1].
        ValueError: A score outside 0..1, or `grounded` without an outcome.
    """
    q = as_scores(scores)
    is_scored = ~np.isnan(q)
    match name:
        case "running_min":
            return np.minimum.accumulate(np.concatenate(([1.0], clipped_levels(q, ceiling=ceiling))))
        case "log_survival":
            logs = np.log(np.maximum(np.where(is_scored, q, 1.0), SURVIVAL_FLOOR))
            floor = np.log(SURVIVAL_FLOOR)
            return _from_zero(np.maximum(np.cumsum(logs), floor) / -floor)
        case "value":
            return _carried(q)
        case "grounded":
            if outcome is None or np.isnan(outcome):
                raise ValueError("the potential 'grounded' ends in the outcome, and this completion has none")
            phi = _carried(q)
            if q.size:
                phi[-1] = outcome
            return phi
        case "raw_sum":
            return _from_zero(np.cumsum(np.where(is_scored, q, 0.0)))
    raise ConfigError(f"unknown potential {name!r}.", remedy=f"Choose one of {', '.join(POTENTIALS)}.")


def _from_zero(later: Floats) -> Floats:
    return np.concatenate(([0.0], later))


def _carried(q: Floats) -> Floats:
    phi = np.concatenate(([NEUTRAL_VALUE], q))
    last_scored = np.maximum.accumulate(np.where(np.isnan(phi), 0, np.arange(phi.size)))
    return phi[last_scored]


def gate_final(phi: ArrayLike, is_answered: bool, *, minimum: float = 0.0) -> Floats:
    """Return the potential with its end set to the minimum when no final answer is present.

    Closes the hole of minimum-type potentials that a cut-off solution skips its hardest step. Without a step
    (K = 0) there is nothing to take from, and Phi_0 stays.

    Args:
        phi: Potential (K+1,).
        is_answered: Whether a final answer can be parsed.
        minimum: Lowest value of this potential; -1 for `log_survival`.
    """
    gated = np.array(phi, dtype=np.float64)
    if gated.size > 1 and not is_answered:
        gated[-1] = minimum
    return gated


def step_rewards(
    scores: ArrayLike, *, name: str = "running_min", ceiling: float = 0.8, outcome: float | None = None
) -> Floats:
    """Return the process rewards r_k = Phi_k - Phi_{k-1}, shape (K,); arguments as in `potential`."""
    return np.diff(potential(scores, name=name, ceiling=ceiling, outcome=outcome))


def returns_to_go(rewards: ArrayLike) -> Floats:
    """Return G_k = sum_{l>=k} r_l, shape (K,); undiscounted, since a discount pays for stalling."""
    return np.cumsum(np.asarray(rewards, dtype=np.float64)[::-1])[::-1].copy()
