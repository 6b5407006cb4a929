"""Sources turn verdicts and scores into numbers without making undecided wrong."""

import math
import threading

import numpy as np
import pytest

from labeling.errors import InputError, NotGradedError, PluginError
from labeling.records import Problem
from labeling.simulators.engineering import EngineeringWorld
from labeling.verifiers.answers import AnswersVerifier
from labeling.verifiers.verdict import Verdict
from rl.sources import Grader, OutcomeSource, PRMSource, VerifierSource, check_judged
from rl.step_source import JudgedCompletion

WORLD = EngineeringWorld(part="deep", depths=(3, 3))
PROBLEM = WORLD.problems(1, split="train", seed=0)[0]
TRUE_STEPS = [f"{n} {left} {op} {right} = {result}" for n, left, op, right, result in PROBLEM.meta["steps"]]
RIGHT_TEXT = "\n".join([*TRUE_STEPS, f"answer {PROBLEM.answer}"])


class Undecided:
    """A verifier that never knows."""

    name = "undecided"

    def verify(self, problem, solution):
        return [Verdict.undecided("no idea")] * len(solution.steps)


class TooFew(Undecided):
    name = "too-few"

    def verify(self, problem, solution):
        return [Verdict.right()]


class LengthScorer:
    """Scores a step by its length; refuses solutions of more than three steps."""

    def __init__(self):
        self.calls = []

    def score_or_reason(self, prompts, steps, *, is_calibrated):
        self.calls.append((list(prompts), is_calibrated))
        return [[min(1.0, len(s) / 10) for s in row] if len(row) <= 3 else "too long" for row in steps]


def test_a_right_solution_of_the_world_scores_one_everywhere():
    (judged,) = VerifierSource(WORLD).judge([PROBLEM], [RIGHT_TEXT])
    assert judged.scores == (1.0,) * 4
    assert judged.outcome == 1.0
    assert judged.is_answered
    assert judged.is_filler == (False,) * 4
    assert [RIGHT_TEXT[a:b] for a, b in judged.spans] == RIGHT_TEXT.split("\n")


def test_a_wrong_step_scores_zero_and_filler_is_marked():
    wrong = RIGHT_TEXT.replace(TRUE_STEPS[0], "check 30 = 30\n" + TRUE_STEPS[0] + "1")
    (judged,) = VerifierSource(WORLD).judge([PROBLEM], [wrong])
    assert judged.scores[:2] == (1.0, 0.0)
    assert judged.is_filler is not None
    assert judged.is_filler[:2] == (True, False)


def test_no_answer_in_a_simulated_world_is_wrong_and_said_to_be_unanswered():
    (judged,) = VerifierSource(WORLD).judge([PROBLEM], [TRUE_STEPS[0]])
    assert (judged.outcome, judged.is_answered) == (0.0, False)


def test_undecided_verdicts_are_not_a_number():
    grade = AnswersVerifier().grade
    (judged,) = VerifierSource(Undecided(), grade=grade).judge([PROBLEM], ["a\nb"])
    assert all(math.isnan(score) for score in judged.scores)
    assert len(judged.scores) == 2


@pytest.mark.parametrize(
    ("reference", "text", "expected"),
    [
        ("12", "So 3 * 4 = 12.\nThe answer is 12", (1.0, True)),
        ("12", "The answer is 13", (0.0, True)),
        ("12", "I do not know", (0.0, False)),
        (None, "The answer is 12", (None, True)),
    ],
)
def test_an_answer_is_right_wrong_missing_or_not_checkable(reference, text, expected):
    problem = Problem(id="p", text="?", answer=reference)
    with AnswersVerifier() as answers:
        assert Grader(answers.grade).outcome(problem, text) == expected


def test_what_a_simulator_could_not_grade_has_no_outcome():
    class Crashing(type(WORLD)):
        def grade(self, problem, text):
            raise NotGradedError("the process ended")

    for source in (OutcomeSource(Crashing().grade), VerifierSource(Crashing())):
        (judged,) = source.judge([PROBLEM], [RIGHT_TEXT])
        assert (judged.outcome, judged.is_answered) == (None, True)


@pytest.mark.parametrize("value", ["NO_ANSWER", "WRONG", 0.5, math.nan, 1, [], -3])
def test_a_grade_of_another_type_is_refused(value):
    with pytest.raises(PluginError, match="a grade is"):
        OutcomeSource(lambda problem, text: value).judge([PROBLEM], [RIGHT_TEXT])


@pytest.mark.parametrize(("value", "outcome"), [(np.True_, 1.0), (np.False_, 0.0), (None, 0.0), (True, 1.0)])
def test_grades_of_numpy_count_as_those_of_python(value, outcome):
    (judged,) = OutcomeSource(lambda problem, text: value).judge([PROBLEM], [RIGHT_TEXT])
    assert (judged.outcome, judged.is_answered) == (outcome, value is not None)


def test_a_verifier_with_processes_of_its_own_is_asked_at_once():
    together = threading.Barrier(3, timeout=10)

    class Parallel(type(WORLD)):
        concurrency = 3

        def verify(self, problem, solution):
            together.wait()
            return super().verify(problem, solution)

        def truth(self, problem, solution):
            return WORLD.truth(problem, solution)

    texts = [RIGHT_TEXT, "nothing", RIGHT_TEXT + "\nand more"]
    assert VerifierSource(Parallel()).judge([PROBLEM] * 3, texts) == VerifierSource(WORLD).judge(
        [PROBLEM] * 3, texts
    )


def test_the_outcome_source_has_no_steps():
    (judged,) = OutcomeSource(WORLD.grade).judge([PROBLEM], [RIGHT_TEXT])
    assert (judged.spans, judged.scores, judged.outcome) == ((), (), 1.0)


def test_a_prm_is_asked_once_and_its_scores_are_handed_on():
    scorer = LengthScorer()
    source = PRMSource(scorer, WORLD.grade, is_calibrated=True)
    first, empty, last = source.judge([PROBLEM] * 3, ["abcde\nab", "", RIGHT_TEXT.split("\n")[0]])
    assert scorer.calls == [([PROBLEM.text, PROBLEM.text], True)]
    assert first.scores == (0.5, 0.2)
    assert (empty.spans, empty.scores) == ((), ())
    assert last.is_filler == (False,)


def test_a_prm_learns_of_filler_from_the_text_alone():
    first = RIGHT_TEXT.split("\n")[0]
    # A new equation by its text, repeated once; only the simulator knows that nothing needs it.
    text = "\n".join([first, "check 9 + 1 = 10", "check 9 + 1 = 10", "answer 1"])
    (judged,) = PRMSource(LengthScorer(), WORLD.grade).judge([PROBLEM], [text])
    (exact,) = VerifierSource(WORLD).judge([PROBLEM], [text])
    assert exact.is_filler == (False, True, True, False)
    assert judged.is_filler == (False, False, True, False)


def test_a_solution_too_long_for_the_prm_is_unscored_not_wrong():
    (judged,) = PRMSource(LengthScorer(), WORLD.grade).judge([PROBLEM], ["a\nb\nc\nd"])
    assert [math.isnan(score) for score in judged.scores] == [True] * 4


def test_a_verifier_without_a_grade_is_refused():
    with pytest.raises(InputError, match=r"undecided.*cannot grade"):
        VerifierSource(Undecided())


def test_a_verifier_that_returns_too_few_verdicts_is_named():
    with pytest.raises(InputError, match=r"too-few.*1 verdicts for 2 steps"):
        VerifierSource(TooFew(), grade=WORLD.grade).judge([PROBLEM], ["a\nb"])


def test_grpo_04_e_a_reward_that_returns_one_value_for_all_is_named(golden):
    case = next(c for c in golden("group_sizes.json")["grpo-04"]["input"]["cases"] if c["name"] == "e")
    judged = [JudgedCompletion(spans=(), scores=(), outcome=v) for v in case["reward_function_returns"]]
    with pytest.raises(InputError, match="'my_reward' returned 1 value for 4 completions"):
        check_judged("my_reward", judged, case["completions"])
