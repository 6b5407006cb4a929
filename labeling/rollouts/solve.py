"""Problems in, sampled solutions cut into steps out."""

from collections.abc import Iterator, Sequence

from labeling.records import Problem, Solution
from labeling.rollouts.sampler import Prefix, Rollout, Sampler
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
    be cut by the token limit; neither is left out here. A text that begins inside thinking, which the prompt
    has opened, begins with its tag (see `Rollout.text`).

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
            _solution(f"{problem.id}/{index}", problem, rollout, segment_mode)
            for problem, group in zip(part, rollouts, strict=True)
            for index, rollout in enumerate(group)
        ]


def _solution(solution_id: str, problem: Problem, rollout: Rollout, segment_mode: str) -> Solution:
    found = segment(rollout.text, segment_mode)
    return Solution(
        id=solution_id,
        problem=problem,
        text=rollout.text,
        steps=found.steps,
        is_cut=rollout.is_cut,
        segment_mode=found.mode,
    )
