import pytest

from benchmarks.verification import first_flag, is_in, naive_flag, tally
from labeling.label_values import ALL_RIGHT, UNKNOWN_LABEL
from labeling.records import LabelledSolution, Problem, Solution, StepLabel
from labeling.verifiers.arithmetic import ArithmeticVerifier
from labeling.verifiers.verdict import Verdict


def chain(steps, first_error, *, problem="What is it?"):
    solution = Solution.from_steps(steps, id="s", problem=Problem(id="p", text=problem))
    unknown = StepLabel(value=UNKNOWN_LABEL, verdict=Verdict.undecided("unknown"))
    return LabelledSolution(
        solution=solution, labels=(unknown,) * len(steps), origin="people", first_error=first_error
    )


def test_flags_are_sorted_by_where_they_fall_and_counted_by_hand():
    items = [
        chain(["1 + 1 = 2", "2 + 2 = 5"], 1),  # exact
        chain(["1 + 1 = 3", "so it is"], 1),  # early
        chain(["wrong plan", "1 + 1 = 3"], 0),  # late
        chain(["wrong plan"], 0),  # silent
        chain(["1 + 1 = 3"], ALL_RIGHT),  # false
        chain(["1 + 1 = 2"], ALL_RIGHT),  # quiet
        chain(["1 + 1 = 3"], None),  # unknown: counted nowhere
    ]
    verifier = ArithmeticVerifier()
    result = tally(items, lambda solution: first_flag(verifier, solution))
    found = list(vars(result).values())
    assert [len(part) for part in found] == [1, 1, 1, 1, 1, 1]
    assert all(part[0] is item for part, item in zip(found, items[:6], strict=True))
    cells = [cell.split(" ")[0] for cell in result.row().split(" | ")]
    # One exact of four flags; one of four errors; one of two all-right chains; three of four flags.
    assert cells == ["0.250", "0.250", "0.500", "0.750"]


@pytest.mark.parametrize(
    ("step", "is_flagged"),
    [
        ("2 + 3 * 4 = 14", False),
        ("2 + 3 * 4 = 20", True),
        ("$1,200 / 4 = $300.", False),
        ("10 - 2 - 3 = 5", False),
        ("10 - 2 - 3 = 5 and 4 \\times 2 = 9", True),
        ("5 / 0 = 1", False),
        ("x = 3", False),
        ("(2 - 5) * -3 = 9", False),
        ("(2 - 5) * -3 = -9", True),
        ("10 / 3 = 3.33", False),
    ],
)
def test_the_naive_check_reads_plain_equations_only(step, is_flagged):
    assert (naive_flag(chain([step], None).solution) == 0) is is_flagged


def test_halves_part_the_problems_whatever_their_spacing():
    items = [chain(["a"], 0, problem=f"Problem {i}?") for i in range(400)]
    opened = [is_in(item, "open") for item in items]
    assert [is_in(item, "closed") for item in items] == [not side for side in opened]
    assert 150 < sum(opened) < 250
    assert all(is_in(item, "all") for item in items)
    assert is_in(chain(["a"], 0, problem="  problem  7? "), "open") == opened[7]
