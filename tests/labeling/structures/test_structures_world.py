"""Problems, references, mutants: what every family promises, over many seeds."""

import json
from random import Random

import pytest

from labeling.errors import ConfigError, RecordError
from labeling.records import Problem, Solution
from labeling.simulators.base import Simulator
from labeling.simulators.splits import split_of
from labeling.simulators.structures import StressLimits, mutants, solution_steps
from labeling.simulators.structures.amounts import shown
from labeling.simulators.structures.drawing import draw_problem
from labeling.simulators.structures.families import FAMILIES
from labeling.simulators.structures.families.base import LEVELS
from labeling.simulators.structures.mistakes import mistakes_of
from labeling.simulators.structures.reference import quantity_lines
from labeling.simulators.structures.spec import spec_of
from labeling.verifiers.units import UnitsVerifier
from labeling.verifiers.verdict import Outcome

RIGHT, WRONG, UNDECIDED = Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED
WORLD = StressLimits()
SEEDS = range(3)
CAUSES = {
    "arithmetic", "unit_slip", "dimension", "wrong_section", "wrong_load_path", "wrong_support",
    "wrong_sign", "other_formula", "wrong_verdict",
}  # fmt: skip


def drawn(family, seed):
    return draw_problem(FAMILIES[family], Random(f"{family} {seed}"))


def solution_of(problem, steps):
    return Solution.from_steps(list(steps), id="s", problem=problem)


def causes(verdict):
    """The causes that the evidence of a wrong step names."""
    kinds = [item.kind for item in verdict.evidence if item.outcome == WRONG]
    return {cause for kind in kinds for cause in kind.partition(": ")[2].split("|")}


def test_the_world_meets_the_simulator_protocol():
    simulator: Simulator = WORLD
    assert simulator.name == "structures"


# --- references ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_step_of_a_reference_is_right_and_its_answer_counts(family):
    for seed in SEEDS:
        problem = drawn(family, seed)
        steps = solution_steps(problem)
        verdicts = WORLD.verify(problem, solution_of(problem, steps))
        assert [v.outcome for v in verdicts] == [RIGHT] * len(steps), [v.reason for v in verdicts]
        assert WORLD.grade(problem, "\n".join(steps)) is True
        assert WORLD.grade(problem, f"Answer: {problem.answer}") is True
        assert all(
            t.is_quantity_right and t.is_needed for t in WORLD.truth(problem, solution_of(problem, steps))
        )


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_reference_by_hand_and_the_model_agree_to_a_thousandth(family):
    # The reference takes nothing from the model but the deflection of the Pratt truss: two roads.
    for seed in SEEDS:
        spec = spec_of(drawn(family, seed))
        _, amounts = quantity_lines(spec)
        assert amounts == pytest.approx(spec.values, rel=2e-3)


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_the_units_verifier_finds_no_fault_in_a_reference_and_much_that_is_right(family):
    problem = drawn(family, 7)
    verdicts = UnitsVerifier().verify(problem, solution_of(problem, solution_steps(problem)))
    outcomes = [v.outcome for v in verdicts]
    assert WRONG not in outcomes
    assert outcomes.count(RIGHT) >= 5


OTHER_UNITS = {
    "reaction": "N", "axial": "MN", "shear": "N", "moment": "N mm", "area": "cm^2", "second_moment": "mm^4",
    "section_modulus": "mm^3", "stress": "N/mm^2", "deflection": "cm", "safety": "",
}  # fmt: skip


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_true_values_in_other_units_and_with_three_digits_are_right(family):
    for seed in SEEDS:
        problem = drawn(family, seed)
        spec = spec_of(problem)
        steps = [
            f"Hence {q.symbol} = {shown(spec.values[q.symbol], OTHER_UNITS[q.kind], digits=3)} in all."
            for q in spec.quantities
        ]
        verdicts = WORLD.verify(problem, solution_of(problem, steps))
        assert [v.outcome for v in verdicts] == [RIGHT] * len(steps), [v.reason for v in verdicts]


# --- mutants ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_every_mutant_fails_at_its_first_wrong_step_for_its_cause(family):
    for seed in range(3):
        problem = drawn(family, seed)
        found = mutants(problem)
        assert len({mutant.name for mutant in found}) >= 5
        assert len({mutant.cause for mutant in found}) >= 5
        for mutant in found:
            verdicts = WORLD.verify(problem, solution_of(problem, mutant.steps))
            outcomes = [v.outcome for v in verdicts]
            assert outcomes.index(WRONG) == mutant.first_wrong, mutant.name
            assert set(outcomes[: mutant.first_wrong]) <= {RIGHT}, mutant.name
            assert mutant.cause in causes(verdicts[mutant.first_wrong]), mutant.name


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_no_wrong_structure_that_is_solved_to_name_a_mistake_is_a_mechanism(family):
    for seed in SEEDS:
        spec = spec_of(drawn(family, seed))
        for mistake, values in mistakes_of(spec):
            assert all(abs(value) < 1e3 * (abs(spec.values[s]) + 1e4) for s, value in values.items()), mistake


def test_all_kinds_of_mistake_occur():
    seen = {mutant.cause for family in FAMILIES for mutant in mutants(drawn(family, 0))}
    assert seen == CAUSES


def test_no_mutant_with_a_wrong_factor_of_safety_or_verdict_is_graded_right():
    for family in FAMILIES:
        problem = drawn(family, 1)
        for mutant in mutants(problem):
            is_answer_right = mutant.steps[-1] == solution_steps(problem)[-1]
            if mutant.cause in ("wrong_section", "wrong_verdict"):
                assert WORLD.grade(problem, "\n".join(mutant.steps)) is False
            if is_answer_right:
                assert WORLD.grade(problem, "\n".join(mutant.steps)) is True


# --- problems --------------------------------------------------------------------------------------------


def test_problems_follow_from_the_seed_and_a_longer_list_begins_with_the_shorter():
    first = WORLD.problems(12, split="train", seed=3)
    assert WORLD.problems(12, split="train", seed=3) == first
    assert WORLD.problems(20, split="train", seed=3)[:12] == first
    assert WORLD.problems(12, split="train", seed=4) != first
    assert len({p.text for p in first}) == len({p.id for p in first}) == 12


def test_splits_share_no_text():
    train = {p.text for p in WORLD.problems(60, split="train", seed=0)}
    test = {p.text for seed in (0, 1) for p in WORLD.problems(30, split="test", seed=seed)}
    assert not train & test
    assert {split_of(text) for text in test} == {"test"}
    with pytest.raises(ConfigError, match="no split 'dev'"):
        WORLD.problems(1, split="dev", seed=0)


def test_a_problem_read_back_from_a_file_is_judged_alike():
    problem = drawn("portal-fixed-sway", 0)
    again = Problem(
        id=problem.id,
        text=problem.text,
        answer=problem.answer,
        meta=json.loads(json.dumps(dict(problem.meta))),
    )
    steps = solution_steps(problem)
    assert solution_steps(again) == steps
    assert WORLD.verify(again, solution_of(again, steps)) == WORLD.verify(
        problem, solution_of(problem, steps)
    )


@pytest.mark.parametrize("family", sorted(FAMILIES))
def test_a_problem_states_everything_it_takes_with_units(family):
    problem = drawn(family, 4)
    spec = spec_of(problem)
    section = spec.setting.section
    assert section.description in problem.text
    assert f"E = {spec.setting.modulus / 1e3:g} GPa" in problem.text
    assert f"{spec.setting.allowable:g} MPa" in problem.text
    assert f"limited to {spec.limit:g} mm" in problem.text
    for quantity in spec.quantities:
        assert quantity.symbol in problem.text
    for name, amount in spec.givens:
        is_derived = name in ("E", "B", "H", "b_i", "h_i", "D", "d_i", "b", "c", "d", "L", "allowable")
        assert is_derived or amount in problem.text, (name, amount)


def test_no_stress_and_no_deflection_is_close_to_its_limit_and_both_verdicts_occur():
    safe = 0
    problems = WORLD.problems(80, split="train", seed=1)
    for problem in problems:
        spec = spec_of(problem)
        assert abs(1 / spec.values["n"] - 1) >= 0.05
        assert abs(spec.values[spec.deflection.symbol] / (spec.limit * 1e-3) - 1) >= 0.05
        safe += spec.is_safe
    assert 15 < safe < 65


def test_a_level_keeps_its_families_and_what_does_not_exist_is_refused():
    assert {FAMILIES[name].level for name in StressLimits(level="easy").families} == {"easy"}
    assert sum(len(StressLimits(level=level).families) for level in LEVELS) == len(FAMILIES)
    with pytest.raises(ConfigError, match="no level 'harder'"):
        StressLimits(level="harder")
    with pytest.raises(ConfigError, match="Did you mean overhang"):
        StressLimits(families=("overhanging",))
    with pytest.raises(ConfigError, match="no family is left"):
        StressLimits(families=("overhang",), level="easy")


def test_a_problem_of_another_world_is_refused_by_name():
    other = Problem(id="other", text="t", meta={"part": "deep", "steps": []})
    with pytest.raises(RecordError, match=r"record other.*does not hold a structure"):
        WORLD.grade(other, "Answer: n = 1, safe")
