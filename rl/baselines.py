"""Baselines of step returns within one group: what the other completions say a step was going to earn.

Every baseline reads only the *other* completions and, at most, the state before the step. It is then a
constant for the step that it is subtracted from, and the gradient stays unbiased whatever the alignment and
whatever the lengths (checked by exact enumeration in tests/rl/test_enumeration.py). What breaks this: taking
the completion itself into the mean, aligning by k/K of the completion itself, or subtracting from each reward
before accumulating (which pays or charges for length).

Arrays are ragged: one array (K_i,) per completion. A completion with K_i = 0 neither receives nor gives.
"""

from collections.abc import Sequence

import numpy as np

from rl.step_rewards import Floats


def no_baseline(returns: Sequence[Floats]) -> list[Floats]:
    """Return the returns themselves; unbiased, and noisier by the return's mean."""
    return [r.copy() for r in returns]


def index_loo(returns: Sequence[Floats], *, is_alive_only: bool = False) -> list[Floats]:
    """Subtract from each step's return the mean of the other completions' returns at the same step.

    A_{i,k} = G_{i,k} - mean_{j != i} G_{j,k}, with G_{j,k} = 0 for k > K_j (absorbing: a completion that has
    ended has nothing left to gain), or with the mean over peers that have a step k (`is_alive_only`; 0 when
    there is none).

    Args:
        returns: Per completion its returns (K_i,).
        is_alive_only: Whether peers that ended earlier are left out instead of counted as 0.

    Returns:
        Per completion (K_i,); 0 everywhere for a completion without peers.
    """
    takes_part = _with_steps(returns)
    padded = np.zeros((len(returns), max((r.size for r in returns), default=0)))
    is_alive = np.zeros(padded.shape, dtype=bool)
    for j in takes_part:
        padded[j, : returns[j].size] = returns[j]
        is_alive[j, : returns[j].size] = True
    advantages = []
    for i, own in enumerate(returns):
        peers = _peers(takes_part, i)
        if not peers or not own.size:
            advantages.append(np.zeros(own.size))
            continue
        n_counted = is_alive[peers].sum(axis=0) if is_alive_only else np.full(padded.shape[1], len(peers))
        baseline = padded[peers].sum(axis=0) / np.maximum(n_counted, 1)
        advantages.append(own - baseline[: own.size])
    return advantages


def trajectory_loo(returns: Sequence[Floats]) -> list[Floats]:
    """Give every step its completion's whole return minus the mean whole return of the others.

    A_{i,k} = G_{i,1} - mean_{j != i} G_{j,1}: RLOO on the summed rewards; no credit to single steps.
    """
    totals = [r[:1] for r in returns]
    return [np.repeat(advantage, own.size) for advantage, own in zip(index_loo(totals), returns, strict=True)]


def counterfactual_suffix(
    phi: Sequence[Floats], levels: Sequence[Floats], *, is_immediate: bool = False
) -> list[Floats]:
    """Subtract how much further the running minimum would fall if the rest looked like the peers' rest.

    With m = Phi_{i,k-1} and u_{j,k} = min_{l>=k} level_{j,l} of a peer,
    A_{i,k} = (Phi_{i,K_i} - m) - mean_{j != i} [min(m, u_{j,k}) - m]. It is 0 once the own minimum lies below
    the peers' rest, so what follows a fatal step earns nothing. For a peer with fewer than k steps its last
    step is its rest: whoever stands before step k has not stopped, so a closing step is still to come. (That
    is also why two completions that differ by a line break alone get 0.)

    Args:
        phi: Per completion Phi_0 .. Phi_K of `running_min`, (K_i+1,).
        levels: Per completion the clipped step scores whose running minimum phi is, (K_i,).
        is_immediate: Compare the next reward alone, Phi_{i,k} - m against min(m, level_{j,k}) - m.

    Returns:
        Per completion (K_i,), each value in [-1, 1]; 0 everywhere for a completion without peers.
    """
    takes_part = _with_steps(levels)
    rests = [level if is_immediate else _suffix_minimum(level) for level in levels]
    advantages = []
    for i, own in enumerate(phi):
        before = own[:-1]
        peers = _peers(takes_part, i)
        if not peers or not before.size:
            advantages.append(np.zeros(before.size))
            continue
        gain = np.diff(own) if is_immediate else own[-1] - before
        steps = np.arange(before.size)
        rest = np.stack([rests[j][np.minimum(steps, rests[j].size - 1)] for j in peers])
        advantages.append(gain - (np.minimum(before, rest) - before).mean(axis=0))
    return advantages


def _suffix_minimum(levels: Floats) -> Floats:
    return np.minimum.accumulate(levels[::-1])[::-1]


def _with_steps(arrays: Sequence[Floats]) -> list[int]:
    return [i for i, array in enumerate(arrays) if array.size]


def _peers(takes_part: list[int], i: int) -> list[int]:
    return [j for j in takes_part if j != i]
