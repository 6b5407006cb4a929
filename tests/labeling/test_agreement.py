import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from labeling.agreement import cohen_kappa, compare_labels, process_bench_f1, steps_until_first_error
from labeling.errors import RecordError
from labeling.records import LabelledSolution, Problem, Solution, StepLabel, first_error_of
from labeling.verifiers.verdict import Outcome, Verdict

OUTCOME = {1: Outcome.RIGHT, 0: Outcome.WRONG, -100: Outcome.UNDECIDED}
labels_of_one = st.lists(st.sampled_from([1, 0, -100]), max_size=6)


def labelled(values, *, id="s", problem="p"):
    outcomes = [OUTCOME[v] for v in values]
    steps = [f"step {i}" for i in range(len(values))]
    return LabelledSolution(
        solution=Solution.from_steps(steps, id=id, problem=Problem(id=problem, text=problem)),
        labels=tuple(StepLabel(value=v, verdict=Verdict(o)) for v, o in zip(values, outcomes, strict=True)),
        origin="test",
        first_error=first_error_of(outcomes),
    )


def side(rows):
    """Two solutions a problem."""
    return [labelled(row, id=f"s{i}", problem=f"p{i // 2}") for i, row in enumerate(rows)]


def compare(ours, theirs):
    return compare_labels(side(ours), side(theirs), np.random.default_rng(0))


def test_three_solutions_worked_by_hand():
    # Steps both decided: (1,1) (0,1) (1,1) | (1,1) (0,0) | (1,0); one undecided on each side.
    found = compare([[1, 0, 1], [1, 0, -100], [1, 1]], [[1, 1, 1], [1, 0, 1], [0, -100]])
    steps = found.all_steps
    assert (found.n_solutions, found.n_problems) == (3, 2)
    assert (steps.right_right, steps.right_wrong, steps.wrong_right, steps.wrong_wrong) == (3, 1, 1, 1)
    assert (steps.n_steps, steps.n_undecided_reference, steps.n_undecided_other) == (6, 1, 1)
    assert steps.agreement.value == pytest.approx(4 / 6)
    # p_o = 4/6; both sides say right 4 times in 6: p_e = 4/9 + 1/9; kappa = (2/3 - 5/9) / (4/9).
    assert steps.kappa.value == pytest.approx(1 / 4)
    assert steps.agreement.n == 2


def test_after_the_first_error_value_and_correctness_may_differ_without_harm():
    # The second side holds values: the lost prefix keeps every later step at 0.
    found = compare([[1, 0, 1, 1], [1, 1]], [[1, 0, 0, 0], [1, 1]])
    assert found.all_steps.agreement.value == pytest.approx(4 / 6)
    assert found.until_first_error.agreement.value == 1
    assert found.until_first_error.n_steps == 4


def test_first_errors_are_matched_exactly_and_unknown_ones_are_counted():
    found = compare(
        [[1, 0], [0, 1], [1, 1], [1, 1], [-100, 0], [1, 0]],
        [[1, 0], [1, 0], [1, 1], [1, 0], [1, 1], [-100, 1]],
    ).first_error
    assert (found.n_with_error, found.n_all_right) == (2, 2)
    assert (found.n_unknown_reference, found.n_unknown_other) == (1, 1)
    assert found.exact_match.value == pytest.approx(2 / 4)
    # One hit of two on either kind: the harmonic mean of 1/2 and 1/2.
    assert found.f1.value == pytest.approx(1 / 2)


def test_process_bench_f1_is_the_harmonic_mean_of_two_accuracies():
    assert process_bench_f1(np.array([1, 4, 3, 4])) == pytest.approx(2 * 0.25 * 0.75 / (0.25 + 0.75))
    assert process_bench_f1(np.array([0, 4, 0, 4])) == 0
    assert math.isnan(process_bench_f1(np.array([1, 4, 0, 0])))
    assert math.isnan(process_bench_f1(np.array([0, 0, 1, 4])))


def test_steps_count_as_before_the_first_error_only_where_that_is_certain():
    assert steps_until_first_error(labelled([1, 1, 0, 1])) == 3
    assert steps_until_first_error(labelled([1, 1])) == 2
    assert steps_until_first_error(labelled([1, -100, 0])) == 1
    assert steps_until_first_error(labelled([])) == 0


def test_labels_that_prove_a_first_error_need_no_source_that_names_it():
    ours, theirs = [[1, 0, 1], [1, 1], [0, 1, -100]], [[1, 0, 0], [1, 1], [0, 0, 0]]
    named = compare(ours, theirs)
    bare = [[replace(one, first_error=None) for one in side(rows)] for rows in (ours, theirs)]
    assert compare_labels(*bare, np.random.default_rng(0)) == named
    assert named.until_first_error.n_steps == 5
    assert named.first_error.n_unknown_reference == 0
    assert steps_until_first_error(replace(labelled([]), first_error=None)) == 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs):
    ours, theirs = zip(*pairs, strict=True)
    cells = np.array([pairs.count(cell) for cell in ((1, 1), (1, 0), (0, 1), (0, 0))])
    found = cohen_kappa(cells)
    if len({*ours, *theirs}) == 1:
        assert math.isnan(found)
    else:
        assert found == pytest.approx(cohen_kappa_score(ours, theirs))


@settings(max_examples=15, deadline=None)
@given(st.lists(labels_of_one, max_size=6))
def test_labels_agree_fully_with_themselves(rows):
    found = compare(rows, rows)
    steps = found.all_steps
    decided = sum(v != -100 for row in rows for v in row)
    assert steps.n_steps == steps.right_right + steps.wrong_wrong == decided
    assert steps.right_wrong == steps.wrong_right == 0
    assert steps.n_undecided_reference == steps.n_undecided_other
    assert steps.n_undecided_reference == sum(v == -100 for row in rows for v in row)
    assert steps.agreement.value == 1 if decided else math.isnan(steps.agreement.value)
    known = found.first_error.n_with_error + found.first_error.n_all_right
    assert known + found.first_error.n_unknown_reference == len(rows)
    if known:
        assert found.first_error.exact_match.value == 1


@settings(max_examples=15, deadline=None)
@given(st.lists(labels_of_one.flatmap(lambda row: st.tuples(st.just(row), st.permutations(row))), max_size=6))
def test_changing_sides_keeps_agreement_and_kappa(pairs):
    ours, theirs = [list(a) for a, _ in pairs], [list(b) for _, b in pairs]
    there, back = compare(ours, theirs).all_steps, compare(theirs, ours).all_steps
    assert (there.right_wrong, there.wrong_right) == (back.wrong_right, back.right_wrong)
    assert there.agreement.value == pytest.approx(back.agreement.value, nan_ok=True)
    assert there.kappa.value == pytest.approx(back.kappa.value, nan_ok=True)


def test_the_interval_is_over_problems_and_holds_the_value():
    rng = np.random.default_rng(1)
    ours = [rng.integers(0, 2, 4).tolist() for _ in range(60)]
    theirs = [[v if rng.random() < 0.8 else 1 - v for v in row] for row in ours]
    found = compare(ours, theirs).all_steps.agreement
    assert found.n == 30
    assert found.low < found.value < found.high
    # 240 steps at .8: the standard error is about .026, so the interval is about .1 wide.
    assert found.high - found.low == pytest.approx(0.1, abs=0.05)


def test_sides_that_do_not_belong_together_are_refused_by_name():
    rng = np.random.default_rng(0)
    with pytest.raises(RecordError, match="2 reference solutions but 1"):
        compare_labels(side([[1], [1]]), side([[1]]), rng)
    with pytest.raises(RecordError, match="record s0"):
        compare_labels(side([[1, 1]]), side([[1]]), rng)
    with pytest.raises(RecordError, match="record a"):
        compare_labels([labelled([1], id="a")], [labelled([1], id="b")], rng)
