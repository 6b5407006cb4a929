"""One batch of judged completions -> advantages of every step, and what to log of them.

Completions stand group by group: `group_size` neighbours answer the same problem.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rl.advantages import GroupAdvantages, Method, group_advantages, hazard_counts
from rl.hazard import NO_COUNTS, HazardCounts
from rl.penalties import PenaltyCosts
from rl.step_rewards import Floats
from rl.step_source import JudgedCompletion


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchAdvantages:
    """Advantages of B completions."""

    groups: list[GroupAdvantages]
    costs: Sequence[PenaltyCosts] | None = None
    """What the penalties charged, one entry a completion; None: no penalties."""

    @property
    def of_steps(self) -> list[Floats]:
        """One array (K_i,) a completion."""
        return [steps for group in self.groups for steps in group.advantages]

    @property
    def of_outcome(self) -> list[float]:
        """The outcome's part, (B,): what tokens outside every step receive."""
        return [float(value) for group in self.groups for value in group.outcome]

    def metrics(self, judged: Sequence[JudgedCompletion], lengths: Sequence[int]) -> dict[str, float]:
        """Return what to log; a number that nothing could measure is NaN (trl logs it as null).

        Args:
            judged: The completions behind these advantages.
            lengths: Sampled tokens of each.
        """
        outcomes = [record.outcome for record in judged if record.outcome is not None]
        scores = [score for record in judged for score in record.scores]
        scored = [score for score in scores if not math.isnan(score)]
        marked = [sum(record.is_filler) for record in judged if record.is_filler is not None]
        return {
            "outcome": _mean(outcomes),
            "score": _mean(scored),
            "steps": _mean([len(record.spans) for record in judged]),
            "tokens_per_step": sum(lengths) / len(scores) if scores else math.nan,
            "filler": _mean(marked),
            "unscored_completions": float(len(judged) - len(outcomes)),
            "undecided_steps": float(len(scores) - len(scored)),
            "unanswered": _mean([not record.is_answered for record in judged]),
            "degenerate_outcome": _mean([group.is_outcome_degenerate for group in self.groups]),
            "degenerate_process": _mean([group.is_process_degenerate for group in self.groups]),
            "process_share": self._process_share(),
            **self._penalty_hits(),
        }

    def _penalty_hits(self) -> dict[str, float]:
        """Share of completions that each penalty charged, and what all together cost a completion."""
        if self.costs is None:
            return {}
        names = list(self.costs[0].by_name)
        hits = {f"penalty_{name}": _mean([bool(c.by_name[name].any()) for c in self.costs]) for name in names}
        return {**hits, "penalty_cost": _mean([float(c.total.sum()) for c in self.costs])}

    def _process_share(self) -> float:
        """Share of the process part in |A|, summed over steps; NaN when every advantage is 0."""
        process = outcome = 0.0
        for group in self.groups:
            for total, of_outcome, cost in zip(group.advantages, group.outcome, group.cost, strict=True):
                process += float(np.abs(total - of_outcome + cost).sum())
                outcome += abs(float(of_outcome)) * len(total)
        whole = process + outcome
        return process / whole if whole else math.nan


def batch_advantages(
    judged: Sequence[JudgedCompletion],
    *,
    group_size: int,
    settings: Method,
    costs: Sequence[PenaltyCosts] | None = None,
) -> BatchAdvantages:
    """Compare every completion with its group.

    Args:
        judged: B completions, group by group; B is a multiple of `group_size`.
        group_size: Completions of one problem.
        settings: The estimator.
        costs: What the penalties charge, one entry a completion; None: nothing.
    """
    starts = range(0, len(judged), group_size)
    groups = [_Evidence.of(judged[i : i + group_size]) for i in starts]
    totals = None if costs is None else [cost.total for cost in costs]
    counts = None
    if settings.baseline == "hazard":
        counts = sum((group.hazard_counts(settings) for group in groups), start=NO_COUNTS)
    compared = [
        group_advantages(
            group.scores,
            group.outcomes,
            settings=settings,
            costs=None if totals is None else totals[start : start + group_size],
            is_filler=group.is_filler,
            is_answered=group.is_answered,
            batch_counts=counts,
        )
        for start, group in zip(starts, groups, strict=True)
    ]
    return BatchAdvantages(groups=compared, costs=costs)


@dataclass(frozen=True, kw_only=True)
class _Evidence:
    """What is known of one group, a list entry a completion."""

    scores: list[tuple[float, ...]]
    outcomes: list[float]
    is_filler: list[tuple[bool, ...] | None]
    is_answered: list[bool]

    @classmethod
    def of(cls, group: Sequence[JudgedCompletion]) -> "_Evidence":
        return cls(
            scores=[record.scores for record in group],
            outcomes=[math.nan if record.outcome is None else record.outcome for record in group],
            is_filler=[record.is_filler for record in group],
            is_answered=[record.is_answered for record in group],
        )

    def hazard_counts(self, settings: Method) -> HazardCounts:
        return hazard_counts(
            self.scores, settings=settings, is_filler=self.is_filler, is_answered=self.is_answered
        )


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan
