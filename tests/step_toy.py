"""Small worlds whose every trajectory can be listed, so that an estimator's expectation is exact."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement

import numpy as np

from rl.step_rewards import Floats

STOP = "stop"


@dataclass(frozen=True, eq=False)
class Trajectory:
    actions: tuple[str, ...]
    probability: float
    score_functions: Floats
    """(K, n_parameters): gradient of log probability of each action, in the policy's logits."""


@dataclass(frozen=True, eq=False)
class Toy:
    """A tabular softmax policy. The state after an action is given by `next_state`; None ends the episode."""

    logits: dict[str, dict[str, float]]
    next_state: Callable[[str, str], str | None]
    max_steps: int

    @cached_property
    def trajectories(self) -> list[Trajectory]:
        return list(self._walk("start", (), 1.0, ()))

    def _walk(
        self, state: str | None, actions: tuple, probability: float, scores: tuple
    ) -> Iterator[Trajectory]:
        if state is None or len(actions) == self.max_steps:
            yield Trajectory(actions, probability, np.array(scores))
            return
        exponentials = {action: np.exp(logit) for action, logit in self.logits[state].items()}
        for action, weight in exponentials.items():
            p = weight / sum(exponentials.values())
            score = self.score_function(state, action)
            yield from self._walk(
                self.next_state(state, action), (*actions, action), probability * p, (*scores, score)
            )

    @cached_property
    def parameters(self) -> list[tuple[str, str]]:
        return [(state, action) for state, row in self.logits.items() for action in row]

    def score_function(self, state: str, action: str) -> Floats:
        total = sum(np.exp(logit) for logit in self.logits[state].values())
        return np.array(
            [
                (s == state) * ((a == action) - np.exp(self.logits[state][a]) / total)
                for s, a in self.parameters
            ]
        )

    def gradient(self, value: Callable[[Trajectory], float]) -> Floats:
        """Gradient of the expected value of a trajectory, by the score-function identity."""
        return sum(t.probability * value(t) * t.score_functions.sum(axis=0) for t in self.trajectories)

    def expectation(self, value: Callable[[Trajectory], float]) -> float:
        return sum(t.probability * value(t) for t in self.trajectories)


def last_action_toy() -> Toy:
    """Four actions, at most four steps, 121 trajectories; the state is the last action."""
    names = ("good", "bad", "pad", STOP)
    rows = {
        "start": (0.3, 0.1, 0, -1),
        "good": (0.2, 0, 0.1, 0.3),
        "bad": (0, 0.2, 0.1, 0.2),
        "pad": (0.1, 0.1, 0.3, 0.1),
    }
    logits = {state: dict(zip(names, row, strict=True)) for state, row in rows.items()}
    return Toy(logits, lambda state, action: None if action == STOP else action, max_steps=4)


def progress_toy(risks: Sequence[float], filler_logit: float | None = None, max_steps: int = 6) -> Toy:
    """The state is the number of right steps so far: the risk of a wrong one depends on it alone.

    It ends with the first wrong step, after `len(risks)` right ones, or after `max_steps`.
    """
    names = ["start", *[f"m{m}" for m in range(1, len(risks))]]
    logits = {}
    for name, risk in zip(names, risks, strict=True):
        logits[name] = {"right": 0.0, "wrong": float(np.log(risk / (1 - risk)))}
        if filler_logit is not None:
            logits[name]["filler"] = filler_logit

    def next_state(state: str, action: str) -> str | None:
        if action == "filler":
            return state
        m = names.index(state) + 1
        return names[m] if action == "right" and m < len(names) else None

    return Toy(logits, next_state, max_steps)


@dataclass(frozen=True)
class Moments:
    mean: Floats
    """Expected gradient contribution of one completion."""
    variance: float
    """Trace of its covariance."""

    def bias(self, truth: Floats) -> float:
        return float(np.linalg.norm(self.mean - truth))

    def cosine(self, truth: Floats) -> float:
        return float(self.mean @ truth / np.linalg.norm(self.mean) / np.linalg.norm(truth))


Estimator = Callable[[Trajectory, Sequence[Trajectory]], Floats]
"""(own, peers) -> advantages (K,) of the own completion."""
Conditional = Callable[[Trajectory], tuple[Floats, Floats]]
"""own -> expectation over the peers of its advantages A (K,) and of A A^T (K, K)."""


def moments(toy: Toy, conditional: Conditional) -> Moments:
    """Sum the moments of one completion's gradient contribution over all own trajectories."""
    mean, second = 0.0, 0.0
    for t in toy.trajectories:
        first_moment, second_moment = conditional(t)
        mean = mean + t.probability * (first_moment @ t.score_functions)
        second = second + t.probability * np.sum(second_moment * (t.score_functions @ t.score_functions.T))
    return Moments(mean, float(second - mean @ mean))


def over_one_peer(toy: Toy, estimator: Estimator) -> Conditional:
    """Conditional moments with a single peer; see `with_peers` for more."""
    weights = np.array([peer.probability for peer in toy.trajectories])

    def conditional(own: Trajectory) -> tuple[Floats, Floats]:
        advantages = np.stack([estimator(own, [peer]) for peer in toy.trajectories])
        return weights @ advantages, (advantages * weights[:, None]).T @ advantages

    return conditional


def with_peers(one_peer: Conditional, n_peers: int) -> Conditional:
    """From one peer to n for estimators that are the mean over their peers one by one."""

    def conditional(own: Trajectory) -> tuple[Floats, Floats]:
        first, second = one_peer(own)
        return first, second / n_peers + (1 - 1 / n_peers) * np.outer(first, first)

    return conditional


def over_two_peers(toy: Toy, estimator: Estimator, key: Callable[[Trajectory], object]) -> Conditional:
    """For any estimator; trajectories of equal key are interchangeable as peers, so one of each is tried."""
    weights = defaultdict(float)
    representative = {}
    for t in toy.trajectories:
        weights[representative.setdefault(key(t), t)] += t.probability
    pairs = list(combinations_with_replacement(weights, 2))
    chances = np.array([weights[a] * weights[b] * (1 if a is b else 2) for a, b in pairs])

    def conditional(own: Trajectory) -> tuple[Floats, Floats]:
        advantages = np.stack([estimator(own, pair) for pair in pairs])
        return chances @ advantages, (advantages * chances[:, None]).T @ advantages

    return conditional
