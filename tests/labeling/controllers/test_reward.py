"""The simulator as a reward of policy training."""

import math

from controllers_engine import ToyEngine

from labeling.simulators.controllers import ControllersWorld, faulty_programs, solution_steps
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import specification_of
from rl.sources import OutcomeSource, VerifierSource


def completions(problem):
    right = "\n\n".join(solution_steps(problem))
    faulty = faulty_programs(specification_of(problem, FAMILIES))[0].code
    return [right, f"(a), (b) and (c)\n\n```python\n{faulty}\n```", "I do not know."]


def test_outcomes_reward_programs_that_satisfy_every_property():
    world = ControllersWorld(engine=ToyEngine())
    for problem in world.problems(6, split="train", seed=0):
        judged = OutcomeSource(world.grade).judge([problem] * 3, completions(problem))
        assert [j.outcome for j in judged] == [1.0, 0.0, 0.0]
        assert [j.is_answered for j in judged] == [True, True, False]


def test_step_rewards_follow_the_verdicts():
    world = ControllersWorld(engine=ToyEngine())
    problem = world.problems(1, split="train", seed=0)[0]
    right, wrong, _ = VerifierSource(world).judge([problem] * 3, completions(problem))
    assert 1.0 in right.scores
    assert 0.0 not in right.scores
    assert 0.0 in wrong.scores
    assert all(math.isnan(score) or score in (0.0, 1.0) for score in (*right.scores, *wrong.scores))
    assert (right.outcome, wrong.outcome) == (1.0, 0.0)
