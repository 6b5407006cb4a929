import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError, RecordError
from labeling.records import Problem, Solution
from labeling.simulators.base import Simulator
from labeling.simulators.engineering import EngineeringWorld, solution_steps
from labeling.simulators.engineering.catalogue import DEEP_FAMILIES
from labeling.simulators.engineering.short import SHORT_FAMILIES
from labeling.simulators.splits import split_of
from labeling.verifiers.verdict import Outcome

RIGHT, WRONG, UNDECIDED = Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED

WORLD = EngineeringWorld()

# Three elements of a chain: 20 + 7 = 27, 27 - 3 = 24, 24 + 9 = 33.
CHAIN = Problem(
    id="chain",
    text="Column with 20 kN at the top. Going down: slab-b void-a stair-b. Find the load at the base in kN.",
    answer="33",
    meta={
        "part": "deep",
        "steps": [
            ["slab-b", 20, "+", 7, 27],
            ["void-a", 27, "-", 3, 24],
            ["stair-b", 24, "+", 9, 33],
        ],
    },
)

# Stiffness 4 * 3 = 12 N/mm, load 6 * 10 = 60 N, deflection 60 / 12 = 5 mm.
SPRINGS = Problem(
    id="springs",
    text="Spring rack, 4 springs of 3 N/mm, height 9 cm, 6 crates of 10 N. Find the deflection in mm.",
    answer="5",
    meta={
        "part": "short",
        "family": "springs",
        "steps": [
            ["stiffness", 4, "*", 3, 12],
            ["load", 6, "*", 10, 60],
            ["deflection", 60, "/", 12, 5],
        ],
    },
)


def solution_of(problem, lines):
    return Solution.from_steps(lines, id="s", problem=problem)


def outcomes(problem, *lines):
    return [v.outcome for v in WORLD.verify(problem, solution_of(problem, lines))]


def test_the_world_meets_the_simulator_protocol():
    simulator: Simulator = WORLD
    assert simulator.name == "engineering"


def test_the_world_has_the_families_and_the_catalogue_that_its_card_states():
    assert len(SHORT_FAMILIES) == 9
    assert len(DEEP_FAMILIES) == 4
    names = [name for family in DEEP_FAMILIES for name in family.values]
    assert len(names) == len(set(names)) == 80
    assert all(1 <= abs(v) <= 9 for family in DEEP_FAMILIES for v in family.values.values())
    assert all(3 <= len(family.formulas) <= 6 for family in SHORT_FAMILIES)


# --- steps worked by hand -------------------------------------------------------------------------


def test_a_true_chain_is_right_in_every_line():
    lines = ("slab-b 20 + 7 = 27", "void-a 27 - 3 = 24", "stair-b 24 + 9 = 33", "answer 33")
    assert outcomes(CHAIN, *lines) == [RIGHT] * 4


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("slab-b 20 + 7 = 28", "20 + 7 is 27, 28 was written"),
        ("slab-b 20 + 6 = 26", "second value 7 expected, 6 written"),
        ("slab-b 21 + 7 = 28", "first value 20 expected, 21 written"),
        ("slab-b 20 - 7 = 13", "operator + expected, - written"),
        ("stair-a 20 + 7 = 27", "stair-a is not among this problem's elements"),
        ("void-a 27 - 3 = 24", "slab-b comes before void-a and was passed over"),
        ("check 27 = 28", "27 is not 28"),
        ("answer 34", "The answer is 33, 34 was written"),
        ("slab-b 20 / 0 = 20", "20 / 0 is no whole number"),
    ],
)
def test_each_way_to_go_wrong_is_wrong_and_says_how(line, reason):
    (verdict,) = WORLD.verify(CHAIN, solution_of(CHAIN, [line]))
    assert verdict.outcome is WRONG
    assert reason in verdict.reason


def test_an_error_that_is_carried_on_keeps_later_steps_wrong():
    lines = ("slab-b 20 + 6 = 26", "void-a 26 - 3 = 23", "stair-b 23 + 9 = 32", "answer 32")
    assert outcomes(CHAIN, *lines) == [WRONG] * 4


def test_steps_are_right_again_once_the_running_value_is():
    lines = ("slab-b 20 + 6 = 26", "void-a 27 - 3 = 24", "stair-b 24 + 9 = 33", "answer 33")
    assert outcomes(CHAIN, *lines) == [WRONG, RIGHT, RIGHT, RIGHT]


def test_a_skipped_element_makes_the_next_step_wrong_even_with_true_values():
    lines = ("slab-b 20 + 7 = 27", "stair-b 24 + 9 = 33", "answer 33")
    assert outcomes(CHAIN, *lines) == [RIGHT, WRONG, RIGHT]


def test_filler_and_repetition_are_right_when_true_and_never_needed():
    lines = ["slab-b 20 + 7 = 27", "check 27 = 27", "slab-b 20 + 7 = 27", "void-a 27 - 3 = 24"]
    assert outcomes(CHAIN, *lines) == [RIGHT] * 4
    needed = [t.is_needed for t in WORLD.truth(CHAIN, solution_of(CHAIN, lines))]
    assert needed == [True, False, False, True]


def test_a_corrected_step_is_needed_and_its_repetition_is_not():
    lines = ["slab-b 20 + 6 = 26", "slab-b 20 + 7 = 27", "slab-b 7 + 20 = 27"]
    truths = WORLD.truth(CHAIN, solution_of(CHAIN, lines))
    assert [t.is_needed for t in truths] == [True, True, False]
    assert [t.is_equation_right for t in truths] == [True, True, True]
    assert [t.is_quantity_right for t in truths] == [False, True, True]


@pytest.mark.parametrize(
    "line", ["", "   ", "slab-b twenty", "slab-b 20 + 7", "Answer: 33", "slab-b 20 + 7 = 27 kN"]
)
def test_a_line_that_nobody_can_read_is_undecided_and_says_so(line):
    (verdict,) = WORLD.verify(CHAIN, solution_of(CHAIN, [line]))
    assert verdict.outcome is UNDECIDED
    assert verdict.reason


def test_a_right_answer_without_its_derivation_is_undecided():
    assert outcomes(CHAIN, "answer 33") == [UNDECIDED]
    assert outcomes(CHAIN, "answer 32") == [WRONG]


def test_short_steps_may_come_in_any_order_and_either_factor_first():
    assert (
        outcomes(SPRINGS, "load 10 * 6 = 60", "stiffness 4 * 3 = 12", "deflection 60 / 12 = 5") == [RIGHT] * 3
    )


def test_another_way_to_a_true_value_is_undecided_in_short_problems():
    assert outcomes(SPRINGS, "stiffness 6 + 6 = 12", "bend 2 + 2 = 4") == [UNDECIDED, UNDECIDED]
    assert outcomes(SPRINGS, "bend 2 + 2 = 5", "deflection 60 / 3 = 20") == [WRONG, WRONG]


def test_several_lines_in_one_step_are_wrong_when_one_is_and_undecided_before_right():
    right, wrong, noise = "slab-b 20 + 7 = 27", "check 1 = 2", "hm"
    assert outcomes(CHAIN, f"{right}\n{wrong}\n{noise}") == [WRONG]
    assert outcomes(CHAIN, f"{right}\n{noise}") == [UNDECIDED]
    assert outcomes(CHAIN, f"{right}\nvoid-a 27 - 3 = 24") == [RIGHT]


def test_evidence_says_expected_against_written():
    (verdict,) = WORLD.verify(CHAIN, solution_of(CHAIN, ["slab-b 20 + 6 = 26"]))
    (evidence,) = verdict.evidence
    assert (evidence.left, evidence.right) == ("slab-b 20 + 6 = 26", "slab-b 20 + 7 = 27")
    assert (evidence.verifier, evidence.kind, evidence.outcome) == ("engineering", "step", "WRONG")


# --- grades ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("answer 33", True),
        ("slab-b 20 + 7 = 27\nanswer 33\n", True),
        ("answer 32", False),
        ("answer 33\nanswer 33", False),
        ("answer 33\nanswer 32", False),
        ("answer 32\nanswer 33", False),
        ("answer 33\ncheck 33 = 33", False),
        ("slab-b 20 + 7 = 27", None),
        ("the answer 33", None),
        ("", None),
    ],
)
def test_the_first_answer_line_counts_and_must_end_the_solution(text, grade):
    assert WORLD.grade(CHAIN, text) is grade


# --- properties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", [f.name for f in (*SHORT_FAMILIES, *DEEP_FAMILIES)])
def test_the_ideal_solution_is_right_needed_and_graded_right(family):
    world = EngineeringWorld(families=(family,))
    for problem in world.problems(60, split="train", seed=3):
        lines = solution_steps(problem)
        solution = solution_of(problem, lines)
        assert {v.outcome for v in world.verify(problem, solution)} == {RIGHT}
        assert all(t.is_needed for t in world.truth(problem, solution))
        assert world.grade(problem, solution.text) is True
        assert lines[-1] == f"answer {problem.answer}"
        assert all(0 <= step[4] <= 199 for step in problem.meta["steps"])


@settings(max_examples=80, deadline=None)
@given(data=st.data())
def test_a_changed_number_is_never_right(data):
    problem = data.draw(st.sampled_from(SAMPLE))
    lines = solution_steps(problem)
    index = data.draw(st.integers(0, len(lines) - 1))
    words = lines[index].split(" ")
    place = data.draw(st.sampled_from([i for i, word in enumerate(words) if word.isdigit()]))
    words[place] = str(int(words[place]) + data.draw(st.sampled_from((-10, -2, -1, 1, 2, 10))))
    changed = [*lines[:index], " ".join(words), *lines[index + 1 :]]
    # UNDECIDED where a factor of a product with 0 changed: the equation stays true, by another way.
    assert WORLD.verify(problem, solution_of(problem, changed))[index].outcome is not RIGHT


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.one_of(st.text(max_size=30), st.sampled_from(("answer 33", "check 1 = 1", "slab-b 20 + 7 = 27"))),
        min_size=1,
        max_size=6,
    )
)
def test_any_text_gets_one_verdict_a_step_and_one_truth_a_step(lines):
    solution = solution_of(CHAIN, lines)
    verdicts, truths = WORLD.verify(CHAIN, solution), WORLD.truth(CHAIN, solution)
    assert len(verdicts) == len(truths) == len(lines)
    assert all(v.reason for v in verdicts if v.outcome is not RIGHT)
    assert WORLD.grade(CHAIN, solution.text) in (True, False, None)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_true_filler_anywhere_changes_no_other_verdict(data):
    problem = data.draw(st.sampled_from(SAMPLE))
    lines = solution_steps(problem)
    place, number = data.draw(st.integers(0, len(lines))), data.draw(st.integers(0, 199))
    padded = [*lines[:place], f"check {number} = {number}", *lines[place:]]
    assert outcomes(problem, *padded) == [RIGHT] * len(padded)


# --- the truth by another road --------------------------------------------------------------------


def physics(family, q):
    """The family's formula in one expression, in floating point and SI units where units differ."""
    if family == "beam":
        moment_newton_metre = q["load"] * 1e3 * q["span"] / 4
        return q["allowable"] - moment_newton_metre / (q["modulus"] * 1e-3) / 1e6
    if family == "bolts":
        area_square_metre = q["bolts"] * q["planes"] * q["bolt_area"] * 1e-4
        return area_square_metre * q["strength"] * 1e7 / 1e3 - q["pull"]
    if family == "tank":
        missing = q["length"] * q["width"] * q["height"] - q["held"]
        return missing / (q["inflow"] - q["outflow"])
    if family == "gears":
        return q["motor_speed"] * (q["pinion"] / q["wheel"]) * (q["driver"] / q["driven"])
    if family == "resistors":
        return q["voltage"] ** 2 / (1 / (1 / q["first"] + 1 / q["second"]) + q["series"])
    if family == "springs":
        return 1e3 * q["crates"] * q["weight"] / (q["springs"] * q["rate"] * 1e3)
    if family == "pump":
        density, gravity, flow = 1000, 10, q["flow"] * 1e-3
        return q["motor"] - density * gravity * flow * (q["lift"] + q["friction"])
    if family == "wall":
        conductance = (q["conductivity"] * 1e-3) / (q["thickness"] * 1e-3)
        return conductance * q["area"] * (q["inside"] - q["outside"])
    if family == "crane":
        return (q["load"] * q["reach"] + q["boom"] * q["middle"]) / q["arm"]
    raise AssertionError(family)


@pytest.mark.parametrize("family", [f.name for f in SHORT_FAMILIES])
def test_short_answers_equal_the_formula_in_one_expression(family):
    problems = EngineeringWorld(part="short", families=(family,)).problems(80, split="test", seed=5)
    for problem in problems:
        assert math.isclose(int(problem.answer or ""), physics(family, problem.meta["given"]), abs_tol=1e-9)


@pytest.mark.parametrize("family", DEEP_FAMILIES, ids=lambda f: f.name)
def test_deep_answers_equal_the_start_plus_the_catalogue_values_read_from_the_text(family):
    for problem in EngineeringWorld(families=(family.name,)).problems(80, split="test", seed=5):
        words = problem.text.replace(".", " ").split()
        (start,) = [int(word) for word in words if word.isdigit()]
        changes = [family.values[word] for word in words if word in family.values]
        assert len(changes) == problem.meta["depth"]
        assert problem.answer == str(start + sum(changes))


# --- generation -----------------------------------------------------------------------------------


def test_no_text_is_in_both_splits_whatever_the_seeds():
    train = {p.text for p in WORLD.problems(600, split="train", seed=1)}
    test = {p.text for p in WORLD.problems(600, split="test", seed=2)}
    assert len(train) == len(test) == 600
    assert not train & test
    assert {split_of(text) for text in test} == {"test"}


def test_a_longer_list_begins_with_the_shorter_and_another_seed_gives_another():
    assert WORLD.problems(40, split="train", seed=7)[:10] == WORLD.problems(10, split="train", seed=7)
    assert WORLD.problems(10, split="train", seed=7) != WORLD.problems(10, split="train", seed=8)


def test_depths_are_kept():
    problems = EngineeringWorld(part="deep", depths=(8, 9)).problems(50, split="train", seed=0)
    assert {p.meta["depth"] for p in problems} == {8, 9}
    assert all(len(solution_steps(p)) == p.meta["depth"] + 1 for p in problems)


def test_a_problem_read_back_from_json_is_judged_alike():
    for problem in SAMPLE[:50]:
        again = Problem(
            **json.loads(
                json.dumps(
                    {"id": problem.id, "text": problem.text, "answer": problem.answer, "meta": problem.meta}
                )
            )
        )
        assert again == problem
        assert solution_steps(again) == solution_steps(problem)


def test_a_problem_of_another_source_is_refused_by_id():
    foreign = Problem(id="gsm-17", text="How many?", answer="3")
    with pytest.raises(RecordError, match=r"gsm-17.*meta"):
        WORLD.grade(foreign, "answer 3")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"part": "long"}, "no part 'long'"),
        ({"families": ("beems",)}, "Did you mean beam"),
        ({"families": ()}, "no family was chosen"),
        ({"part": "deep", "families": ("beam",)}, "part deep has no family 'beam'"),
        ({"depths": (2, 4)}, "2..4"),
        ({"depths": (9, 8)}, "9..8"),
    ],
)
def test_settings_that_do_not_exist_are_refused(arguments, message):
    with pytest.raises(ConfigError, match=message):
        EngineeringWorld(**arguments)


def test_an_unknown_split_and_an_exhausted_family_are_refused():
    with pytest.raises(ConfigError, match="validation"):
        WORLD.problems(1, split="validation", seed=0)
    world = EngineeringWorld(families=("pump",))
    with pytest.raises(ConfigError, match="of 3 distinct problems"):
        _with_few_attempts(world, 3)


def _with_few_attempts(world, count):
    """Run the generator with a drawing of one fixed problem, so that no second text appears."""
    problem = world.problems(1, split="test", seed=0)[0]

    class Narrow(EngineeringWorld):
        def _draw(self, rng):
            return problem

    return Narrow(families=("pump",)).problems(count, split="test", seed=0)


SAMPLE = WORLD.problems(120, split="train", seed=11)
