import pytest

from labeling.errors import ConfigError, InputError, RecordError
from labeling.records import Problem, Solution, labelled_from_verdicts
from labeling.simulators.engineering import EngineeringWorld
from labeling.simulators.load import checked_problems, load_simulator
from labeling.verifiers.verdict import Verdict


class Mine(EngineeringWorld):
    """A user's own world."""

    @property
    def name(self) -> str:
        return "mine"


def test_a_simulator_is_loaded_by_its_name():
    assert load_simulator("engineering:deep:8").depths == (8, 8)
    assert load_simulator("engineering:deep:8-12").depths == (8, 12)
    assert load_simulator(f"{__name__}:Mine").name == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("enginering", "there is no simulator 'enginering'"),
        ("engineering:middle", "no part 'middle'"),
        ("engineering:deep:x", "cannot be read"),
        ("engineering:deep:2-40", "not within 3..12"),
        ("engineering:deep:3:4", "cannot be read"),
        ("no_such_package:World", "no module no_such_package"),
        ("json:World", "module json has no World"),
        ("json:JSONDecoder", "which has no name, problems, verify, truth, grade"),
    ],
)
def test_a_simulator_that_cannot_be_loaded_is_the_users_mistake_and_says_why(name, message):
    with pytest.raises(ConfigError, match=message):
        load_simulator(name)


@pytest.mark.parametrize(
    ("problems", "said"),
    [
        (iter([]), "a list_iterator and no list of problems"),
        (["p"], r"a str where a Problem belongs \(index 0\)"),
        ([Problem(id=5, text="t")], r"a problem whose id is 5 \(index 0\)"),
        ([Problem(id="p", text=" ")], "a problem whose text is ' '"),
        ([Problem(id="p", text="t", answer=4)], "a problem whose answer is 4"),
        ([Problem(id="p", text="t")] * 2, "two problems with the id p"),
        ([Problem(id="p", text="t", meta={"f": print})], "meta of problem p cannot be written as JSON"),
        ([Problem(id="p", text="t", meta={"f": "\ud800"})], "meta of problem p cannot be written as JSON"),
    ],
)
def test_problems_of_a_simulator_that_could_not_be_read_back_are_refused(problems, said):
    with pytest.raises(InputError, match=said):
        checked_problems(problems, simulator="m:World")


def test_the_problems_of_the_shipped_world_pass():
    problems = load_simulator("engineering").problems(8, split="train", seed=0)
    assert checked_problems(problems, simulator="engineering") == list(problems)


def test_meta_that_is_no_json_makes_no_row():
    problem = Problem(id="p", text="t", meta={"f": print})
    solution = Solution.from_steps(["s"], id="s", problem=problem)
    with pytest.raises(RecordError, match="meta of problem p cannot be written"):
        labelled_from_verdicts(solution, [Verdict.right()], origin="v").to_row()


def test_a_grade_of_a_users_simulator_is_known_to_be_a_worlds():
    # Who grades decides what "no answer" means: a world knows the truth, a verifier may not be able to tell.
    world = load_simulator(f"{__name__}:Mine")
    assert hasattr(world.grade.__self__, "truth")
    problem = world.problems(1, split="train", seed=0)[0]
    assert world.grade(problem, "no answer here") is None
