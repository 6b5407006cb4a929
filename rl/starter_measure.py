"""What a policy of the embedded world can do: accuracy, strict accuracy, filler, tokens."""

from collections.abc import Sequence
from typing import Any

from transformers import PreTrainedModel, PreTrainedTokenizerFast

from labeling.randomness import derive_seed
from labeling.records import Problem, Solution
from labeling.report import wilson
from labeling.rollouts.sampler import Prefix, Rollout, Sampler
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.simulators.base import Simulator
from labeling.simulators.engineering import EngineeringWorld
from labeling.verifiers.verdict import Outcome

MEASURED = {
    "short": EngineeringWorld(part="short"),
    "depth 4": EngineeringWorld(part="deep", depths=(4, 4)),
    "depth 8": EngineeringWorld(part="deep", depths=(8, 8)),
    "depth 12": EngineeringWorld(part="deep", depths=(12, 12)),
}
"""Name in the report -> the world whose test split is measured."""

MOST_TOKENS = 192
"""Limit of new tokens; the longest true solution has about 130."""


def measure(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, *, n: int, seed: int
) -> dict[str, Any]:
    """Measure a policy on `n` held-out problems each of `MEASURED`, at temperature 1 and greedy."""
    numbers: dict[str, Any] = {}
    for name, world in MEASURED.items():
        problems = world.problems(n, split="test", seed=derive_seed(seed, "starter measured"))
        for way, temperature in (("sampled", 1.0), ("greedy", 0.0)):
            sampler = TransformersSampler(
                model, tokenizer, temperature=temperature, seed=derive_seed(seed, "starter sampled")
            )
            numbers[f"{name}, {way}"] = tally(world, problems, write(sampler, problems))
    return numbers


def write(sampler: Sampler, problems: Sequence[Problem]) -> list[Rollout]:
    """Return one solution of each problem; a problem's id is the key of its randomness."""
    prefixes = [Prefix(problem.text) for problem in problems]
    rollouts = sampler.extend(prefixes, 1, max_tokens=MOST_TOKENS, keys=[p.id for p in problems])
    return [rollout for (rollout,) in rollouts]


def tally(world: Simulator, problems: Sequence[Problem], rollouts: Sequence[Rollout]) -> dict[str, Any]:
    """Grade solutions: accuracy, strict accuracy (answer and every step right), lines, tokens."""
    n_right = n_strict = n_unanswered = n_lines = n_lines_right = n_filler = 0
    for problem, rollout in zip(problems, rollouts, strict=True):
        solution = Solution.from_steps(rollout.text.split("\n"), id=problem.id, problem=problem)
        outcomes = [verdict.outcome for verdict in world.verify(problem, solution)]
        grade = world.grade(problem, rollout.text)
        n_right += grade is True
        n_unanswered += grade is None
        n_strict += grade is True and all(outcome is Outcome.RIGHT for outcome in outcomes)
        n_lines += len(outcomes)
        n_lines_right += outcomes.count(Outcome.RIGHT)
        n_filler += sum(not truth.is_needed for truth in world.truth(problem, solution))
    n = len(rollouts)
    return {
        "accuracy": wilson(n_right, n),
        "strict accuracy": wilson(n_strict, n),
        "solutions without an answer": n_unanswered,
        "solutions cut": sum(rollout.is_cut for rollout in rollouts),
        "share of lines right": round(n_lines_right / max(1, n_lines), 3),
        "lines a solution": round(n_lines / max(1, n), 2),
        "lines not needed a solution": round(n_filler / max(1, n), 3),
        "tokens a solution": round(sum(rollout.tokens for rollout in rollouts) / max(1, n), 1),
    }
