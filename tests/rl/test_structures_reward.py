from labeling.simulators.structures import StressLimits, mutants, solution_steps
from rl.sources import OutcomeSource, VerifierSource


def test_the_stress_limits_pay_a_right_answer_and_not_a_wrong_one():
    world = StressLimits(families=("overhang",))
    problem = world.problems(1, split="train", seed=0)[0]
    right = "\n".join(solution_steps(problem))
    wrong = "\n".join(next(m for m in mutants(problem) if m.cause == "wrong_section").steps)
    for source in (OutcomeSource(world.grade), VerifierSource(world, grade=world.grade)):
        judged = source.judge([problem] * 3, [right, wrong, "no answer"])
        assert [j.outcome for j in judged][:2] == [1.0, 0.0]
        assert judged[2].outcome != 1.0
