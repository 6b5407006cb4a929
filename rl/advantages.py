"""Advantages of one group: completions of one problem, compared with each other.

A_{i,k} = A^out_i + alpha * A^proc_{i,k} - A^cost_{i,k}, one number a step, to be spread over the tokens of
that step and summed with a constant denominator. Outcome, process and costs keep baselines of their own.

Exact zeros: where completions do not differ there is nothing to learn, and rounding noise must not be learnt
(divided by a small spread it is no longer small). So each part is exactly 0 where its spread is within a
tolerance, for completions that were not scored, and for a completion without peers.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from rl.baselines import counterfactual_suffix, index_loo, no_baseline, trajectory_loo
from rl.hazard import NO_COUNTS, Bools, HazardCounts, RiskPath, hazard_advantages, risk_path
from rl.methods import EQUAL_TOLERANCE, METHODS, OUTCOME_BASELINES, Method, check_name
from rl.step_rewards import Floats, as_scores, clipped_levels, gate_final, potential, returns_to_go

__all__ = [
    "METHODS",
    "GroupAdvantages",
    "HazardCounts",
    "Method",
    "group_advantages",
    "hazard_counts",
    "outcome_advantages",
]

STD_EPSILON = 1e-4
"""Added to the group's standard deviation, as in trl's GRPOTrainer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupAdvantages:
    """Advantages of the G completions of one problem; lists hold one array (K_i,) per completion."""

    advantages: list[Floats]
    """outcome + alpha * process - cost."""
    outcome: Floats
    """(G,); exactly 0 where not scored or without spread."""
    process: list[Floats]
    """Before weighting; within [-process_clip, process_clip]."""
    cost: list[Floats]
    """Cost return-to-go less its leave-one-out baseline; positive where dearer than its peers."""
    is_outcome_degenerate: bool
    """True when the outcomes have no spread (or fewer than two are known)."""
    is_process_degenerate: bool
    """True when every process advantage is 0."""
    n_unscored_steps: int
    """Steps whose score is NaN; they left the potential unchanged."""


def outcome_advantages(outcomes: ArrayLike, *, baseline: str = "loo") -> Floats:
    """Compare each outcome with the group.

    - `loo`: R_i - mean_{j != i} R_j = n/(n-1) (R_i - mean). Unbiased (RLOO, arXiv 2402.14740).
    - `group`: R_i - mean(R), the same scaled by (n-1)/n (Dr. GRPO, arXiv 2503.20783).
    - `group_std`: (R_i - mean(R)) / (std(R) + 1e-4), sample standard deviation (GRPO, arXiv 2402.03300);
      weighs problems by their difficulty and magnifies noise.

    Args:
        outcomes: (G,) outcome rewards; NaN or None where not scored: left out of mean and spread.
        baseline: One of `OUTCOME_BASELINES`.

    Returns:
        (G,); exactly 0 where not scored, and everywhere if the scored ones differ by at most 1e-6.

    Raises:
        ConfigError: Unknown baseline.
        ValueError: Outcomes are not one-dimensional, or one is infinite.
    """
    check_name("outcome_baseline", baseline, OUTCOME_BASELINES)
    rewards = np.array(outcomes, dtype=np.float64)
    if rewards.ndim != 1:
        raise ValueError(f"outcomes of one group must be one-dimensional, got shape {rewards.shape}")
    if np.isinf(rewards).any():
        raise ValueError("an outcome is infinite")
    advantages = np.zeros(rewards.size)
    is_scored = ~np.isnan(rewards)
    scored = rewards[is_scored]
    if scored.size < 2 or np.ptp(scored) <= EQUAL_TOLERANCE:
        return advantages
    centred = scored - scored.mean()
    if baseline == "loo":
        centred *= scored.size / (scored.size - 1)
    elif baseline == "group_std":
        centred /= scored.std(ddof=1) + STD_EPSILON
    advantages[is_scored] = centred
    return advantages


@dataclass(frozen=True, kw_only=True, eq=False)
class _Completion:
    scores: Floats
    outcome: float
    is_filler: Bools | None
    is_answered: bool

    def can_take_part(self, settings: Method) -> bool:
        needs_outcome = settings.potential == "grounded"
        return not np.isnan(self.scores).all() and not (needs_outcome and np.isnan(self.outcome))


def group_advantages(
    scores: Sequence[ArrayLike],
    outcomes: ArrayLike,
    *,
    settings: Method,
    costs: Sequence[ArrayLike] | None = None,
    is_filler: Sequence[ArrayLike | None] | None = None,
    is_answered: Sequence[bool] | None = None,
    batch_counts: HazardCounts | None = None,
) -> GroupAdvantages:
    """Return the advantage of every step of one group.

    Args:
        scores: Per completion its step scores (K_i,) in 0..1, NaN where unscored. A completion without any
            scored step gets process advantage 0 and gives no baseline.
        outcomes: (G,) outcome rewards, NaN or None where not scored.
        settings: The estimator.
        costs: Per completion non-negative costs (K_i,), see `rl.penalties`; None: no costs.
        is_filler: Per completion marks (K_i,) or None; only `hazard` reads it.
        is_answered: Per completion whether a final answer is present. Where it is not, the potential ends at
            its minimum (`hazard`: the last step counts as wrong). None: all are. `grounded` (which ends in
            the outcome) and the naive `raw_sum` take no notice.
        batch_counts: `hazard_counts` summed over all groups handed in, this one included; None: this group.

    Raises:
        ValueError: Sizes differ, a score lies outside 0..1, or a cost is negative or not finite.
    """
    rewards = np.array(outcomes, dtype=np.float64)
    completions = _completions(scores, rewards, is_filler, is_answered)
    outcome = outcome_advantages(rewards, baseline=settings.outcome_baseline)
    is_outcome_degenerate = not outcome.any()
    process = _process_advantages(completions, settings, batch_counts)
    weight = settings.process_weight
    if is_outcome_degenerate and not np.isnan(rewards).all():
        is_all_right = np.nanmean(rewards) >= 0.5
        weight *= (
            settings.degenerate_weight_all_right if is_all_right else settings.degenerate_weight_all_wrong
        )
    cost = _cost_advantages(costs, [c.scores.size for c in completions])
    return GroupAdvantages(
        advantages=[o + weight * p - c for o, p, c in zip(outcome, process, cost, strict=True)],
        outcome=outcome,
        process=process,
        cost=cost,
        is_outcome_degenerate=is_outcome_degenerate,
        is_process_degenerate=not any(p.any() for p in process),
        n_unscored_steps=int(sum(np.isnan(c.scores).sum() for c in completions)),
    )


def hazard_counts(
    scores: Sequence[ArrayLike],
    *,
    settings: Method,
    is_filler: Sequence[ArrayLike | None] | None = None,
    is_answered: Sequence[bool] | None = None,
) -> HazardCounts:
    """Count one group's events per state; sum the counts of all groups (`+`) for `batch_counts`.

    Arguments as in `group_advantages`.
    """
    completions = _completions(scores, np.full(len(scores), np.nan), is_filler, is_answered)
    return sum((_risk_path(c, settings).counts() for c in completions), start=NO_COUNTS)


def _completions(
    scores: Sequence[ArrayLike],
    rewards: Floats,
    is_filler: Sequence[ArrayLike | None] | None,
    is_answered: Sequence[bool] | None,
) -> list[_Completion]:
    size = len(scores)
    fillers = [None] * size if is_filler is None else list(is_filler)
    answered = [True] * size if is_answered is None else list(is_answered)
    for name, n_given in (
        ("outcomes", len(rewards)),
        ("is_filler", len(fillers)),
        ("is_answered", len(answered)),
    ):
        if n_given != size:
            raise ValueError(f"{n_given} {name} for {size} completions")
    return [
        _Completion(
            scores=as_scores(s),
            outcome=float(r),
            is_filler=None if f is None else np.asarray(f, dtype=bool),
            is_answered=bool(a),
        )
        for s, r, f, a in zip(scores, rewards, fillers, answered, strict=True)
    ]


def _process_advantages(
    completions: Sequence[_Completion], settings: Method, batch_counts: HazardCounts | None
) -> list[Floats]:
    process = [np.zeros(c.scores.size) for c in completions]
    members = [i for i, c in enumerate(completions) if c.can_take_part(settings)]
    if settings.process_weight == 0 or len(members) < 2:
        return process
    profiles, advantages = _compare([completions[i] for i in members], settings, batch_counts)
    spread = max(np.abs(a).max() for a in advantages)
    if spread <= settings.process_tolerance or _are_equal(profiles):
        return process
    clip = settings.process_clip
    for i, advantage in zip(members, advantages, strict=True):
        process[i] = advantage if clip is None else np.clip(advantage, -clip, clip)
    return process


def _compare(
    members: Sequence[_Completion], settings: Method, batch_counts: HazardCounts | None
) -> tuple[list[Floats], list[Floats]]:
    """Return what is compared (potentials or risk paths) and the advantages that come of it."""
    if settings.baseline == "hazard":
        paths = [_risk_path(c, settings) for c in members]
        advantages = hazard_advantages(paths, batch=batch_counts, prior_weight=settings.prior_weight)
        return [path.is_at_risk + path.is_first_wrong.astype(np.float64) for path in paths], advantages
    phi = [_gated_potential(c, settings) for c in members]
    is_immediate = settings.credit == "immediate"
    if settings.baseline == "counterfactual_suffix":
        levels = [_gated(clipped_levels(c.scores, ceiling=settings.ceiling), c) for c in members]
        return phi, counterfactual_suffix(phi, levels, is_immediate=is_immediate)
    credits = [np.diff(p) if is_immediate else returns_to_go(np.diff(p)) for p in phi]
    match settings.baseline:
        case "index_loo":
            return phi, index_loo(credits)
        case "index_loo_alive":
            return phi, index_loo(credits, is_alive_only=True)
        case "trajectory_loo":
            return phi, trajectory_loo(credits)
        case _:
            return phi, no_baseline(credits)


def _risk_path(completion: _Completion, settings: Method) -> RiskPath:
    return risk_path(
        _gated(completion.scores, completion), completion.is_filler, wrong_below=settings.wrong_below
    )


def _gated_potential(completion: _Completion, settings: Method) -> Floats:
    phi = potential(
        completion.scores, name=settings.potential, ceiling=settings.ceiling, outcome=completion.outcome
    )
    if settings.potential in ("grounded", "raw_sum"):
        return phi
    minimum = -1.0 if settings.potential == "log_survival" else 0.0
    return gate_final(phi, completion.is_answered, minimum=minimum)


def _gated(levels: Floats, completion: _Completion) -> Floats:
    return levels if completion.is_answered else np.append(levels[:-1], 0.0)[: levels.size]


def _cost_advantages(costs: Sequence[ArrayLike] | None, n_steps: Sequence[int]) -> list[Floats]:
    if costs is None:
        return [np.zeros(n) for n in n_steps]
    given = [np.array(c, dtype=np.float64) for c in costs]
    if [c.size for c in given] != list(n_steps):
        raise ValueError(f"costs for {[c.size for c in given]} steps, scores for {list(n_steps)}")
    if any(not np.isfinite(c).all() or (c < 0).any() for c in given):
        raise ValueError("a step cost is negative or not finite")
    advantages = index_loo([returns_to_go(c) for c in given])
    if max((np.abs(a).max(initial=0.0) for a in advantages), default=0.0) <= EQUAL_TOLERANCE:
        return [np.zeros(n) for n in n_steps]
    return advantages


def _are_equal(profiles: Sequence[Floats]) -> bool:
    first = profiles[0]
    return all(p.size == first.size and np.abs(p - first).max() <= EQUAL_TOLERANCE for p in profiles[1:])
