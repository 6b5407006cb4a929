"""Problems in, sampled solutions cut into steps out."""

from collections.abc import Iterator, Sequence

from labeling.records import Problem, Solution
from labeling.rollouts.sampler import Prefix, Sampler
from labeling.steps import segment


def sample_solutions(
    problems: Sequence[Problem],
    sampler: Sampler,
    *,
    n: int,
    max_tokens: int,
    segment_mode: str = "auto",
    chunk: int = 128,
) -> Iterator[list[Solution]]:
    """Sample `n` solutions of each problem, `chunk` problems at a time.

    Ids are `PROBLEM/0` .. `PROBLEM/n-1`. A solution may have no steps (the policy said nothing) and may
    be cut by the token limit; neither is left out here.

    Yields:
        The solutions of one chunk of problems, in order.
    """
    for first in range(0, len(problems), chunk):
        part = problems[first : first + chunk]
        rollouts = sampler.extend(
            [Prefix(problem.text) for problem in part],
            n,
            max_tokens=max_tokens,
            keys=[f"solve/{problem.id}" for problem in part],
        )
        yield [
            Solution(
                id=f"{problem.id}/{index}",
                problem=problem,
                text=rollout.text,
                steps=segment(rollout.text, segment_mode).steps,
                is_cut=rollout.is_cut,
            )
            for problem, group in zip(part, rollouts, strict=True)
            for index, rollout in enumerate(group)
        ]
