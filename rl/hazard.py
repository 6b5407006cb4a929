"""The hazard advantage: credit for surviving a step that others got wrong, nothing for filler.

For step verdicts (exact, or a step score cut at a threshold). While no step is wrong, the state is m, the
number of productive right steps so far; a filler or unscored step leaves it. H(m) is the probability of going
wrong before the next productive right step.

    right productive step   +H(m)
    first wrong step        -1 + H(m)      (wrong filler counts as wrong)
    filler, unscored step   0
    after the first wrong   0

H(m) of completion i comes from the *other* completions of its group, shrunk towards a batch rate:
H_i(m) = (w_i(m) + 4 h(m)) / (n_i(m) + 4), with n_i(m) the peers that took a productive or wrong step at m,
w_i(m) those among them that went wrong, and h(m) the rate over all completions of the batch but i itself.

What it optimises, examined by enumeration (tests/rl/test_enumeration.py). Where the risk depends on m alone
and H(m) is that risk, its expectation is exactly -sum_m S(m) grad h(m), S(m) the expected number of
productive or wrong steps at m: the gradient of the probability of going wrong *with the visits held fixed*.
The full gradient has one more factor, the probability of surviving the rest. So every h(m) is pushed down,
early ones relatively harder than P(no step wrong) asks, and it is the gradient of no function: dF(m)/dh(l)
differs from dF(l)/dh(m). Filler is pushed neither up nor down, for going on has expectation 0 too; P(no
step wrong) itself would reward stalling and stopping.

Not exact: (1) where the risk depends on more than m, filler becomes attractive in states riskier than H(m)
says and unattractive in safer ones, a bias that zero credit does not remove; (2) where no other completion
reached m, H(m) is the rate over all states. Ending early is neutral: pair it with an outcome reward and
`is_answered`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rl.step_rewards import Floats, as_scores

Bools = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class HazardCounts:
    """How often completions went wrong at each state m. Arrays (M,), m from 0; n_wrong <= n_at_risk."""

    n_at_risk: Floats
    """Completions that took a productive or wrong step at m while still right."""
    n_wrong: Floats
    """Those among them whose step was wrong."""

    def __add__(self, other: "HazardCounts") -> "HazardCounts":
        size = max(self.n_at_risk.size, other.n_at_risk.size)
        mine, theirs = self.padded(size), other.padded(size)
        return HazardCounts(
            n_at_risk=mine.n_at_risk + theirs.n_at_risk, n_wrong=mine.n_wrong + theirs.n_wrong
        )

    def without(self, other: "HazardCounts") -> "HazardCounts":
        """Return these counts less those of a part of them.

        Raises:
            ValueError: `other` is not a part: a count would fall below 0.
        """
        size = max(self.n_at_risk.size, other.n_at_risk.size)
        mine, theirs = self.padded(size), other.padded(size)
        left = HazardCounts(
            n_at_risk=mine.n_at_risk - theirs.n_at_risk, n_wrong=mine.n_wrong - theirs.n_wrong
        )
        if (left.n_at_risk < 0).any() or (left.n_wrong < 0).any():
            raise ValueError(
                "the batch counts do not contain this group; count all groups that are handed in"
            )
        return left

    def padded(self, size: int) -> "HazardCounts":
        """Return the same counts with zeros up to `size` states."""
        extra = (0, size - self.n_at_risk.size)
        return HazardCounts(n_at_risk=np.pad(self.n_at_risk, extra), n_wrong=np.pad(self.n_wrong, extra))

    def rates(self) -> Floats:
        """Return n_wrong / n_at_risk per state (M,); where nobody was at risk, the rate over all states."""
        n_all = self.n_at_risk.sum()
        overall = self.n_wrong.sum() / n_all if n_all else 0.0
        return np.where(self.n_at_risk > 0, self.n_wrong / np.maximum(self.n_at_risk, 1), overall)


NO_COUNTS = HazardCounts(n_at_risk=np.zeros(0), n_wrong=np.zeros(0))


@dataclass(frozen=True, kw_only=True, eq=False)
class RiskPath:
    """One completion as the hazard form sees it; arrays (K,)."""

    state: NDArray[np.int64]
    """Productive right steps before step k."""
    is_at_risk: Bools
    """True for a productive right step, or the first wrong one."""
    is_first_wrong: Bools

    def counts(self) -> HazardCounts:
        """Count this completion's own events per state."""
        visited = self.state[self.is_at_risk]
        return HazardCounts(
            n_at_risk=np.bincount(visited).astype(np.float64),
            n_wrong=np.bincount(
                self.state[self.is_first_wrong], minlength=int(visited.max(initial=-1)) + 1
            ).astype(np.float64),
        )


def risk_path(scores: Floats, is_filler: Bools | None = None, *, wrong_below: float = 0.5) -> RiskPath:
    """Follow one completion up to its first wrong step.

    Args:
        scores: Step scores (K,) in 0..1; NaN (unscored) is taken as filler: not wrong, and no progress.
        is_filler: (K,) True for a right step that is not needed; None when no step is known to be filler.
        wrong_below: A step is wrong when its score is below this.

    Raises:
        ValueError: `is_filler` has another length than the scores.
    """
    q = as_scores(scores)
    filler = np.zeros(q.size, dtype=bool) if is_filler is None else np.asarray(is_filler, dtype=bool)
    if filler.shape != q.shape:
        raise ValueError(f"{filler.size} filler marks for {q.size} steps")
    is_wrong = q < wrong_below
    is_past_error = np.cumsum(is_wrong) - is_wrong > 0
    is_first_wrong = is_wrong & ~is_past_error
    is_progress = ~is_wrong & ~is_past_error & ~filler & ~np.isnan(q)
    return RiskPath(
        state=np.cumsum(is_progress) - is_progress,
        is_at_risk=is_progress | is_first_wrong,
        is_first_wrong=is_first_wrong,
    )


def hazard_advantages(
    paths: Sequence[RiskPath], *, batch: HazardCounts | None = None, prior_weight: float = 4.0
) -> list[Floats]:
    """Return the hazard advantage of each step of one group.

    Args:
        paths: The group's completions.
        batch: Summed counts of all completions handed in, *including* this group (each completion's own
            events are taken out again, so nothing depends on itself); None: the group is the batch.
        prior_weight: How many peers the batch rate counts for.

    Returns:
        Per completion (K_i,), in [-1, 1]; 0 everywhere for a completion none of whose peers was at risk.

    Raises:
        ValueError: `batch` does not contain the group.
    """
    own_counts = [path.counts() for path in paths]
    group = sum(own_counts, start=NO_COUNTS)
    advantages = []
    for path, own in zip(paths, own_counts, strict=True):
        peers = group.without(own)
        advantage = np.zeros(path.state.size)
        if peers.n_at_risk.sum() > 0:
            others = (batch or group).without(own)
            # A filler step can stand in a state that no completion has taken a step from.
            size = max(peers.n_at_risk.size, others.n_at_risk.size, int(path.state.max(initial=0)) + 1)
            peers, others = peers.padded(size), others.padded(size)
            hazard = (peers.n_wrong + prior_weight * others.rates()) / (peers.n_at_risk + prior_weight)
            advantage = np.where(path.is_at_risk, hazard[path.state] - path.is_first_wrong, 0.0)
        advantages.append(advantage)
    return advantages
