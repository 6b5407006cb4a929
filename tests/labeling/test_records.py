import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import RecordError
from labeling.randomness import derive_seed, generator
from labeling.records import (
    Problem,
    RolloutCounts,
    Solution,
    check_label,
    first_error_of,
    labelled_from_row,
    labelled_from_verdicts,
)
from labeling.report import Report, cluster_bootstrap, plain, wilson
from labeling.verifiers.verdict import Outcome, Verdict

R, W, U = Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [([R, R], -1), ([R, W, R], 1), ([W], 0), ([R, U, W], None), ([R, U], None), ([], -1)],
)
def test_the_first_error_is_unknown_behind_an_undecided_step(outcomes, expected):
    assert first_error_of(outcomes) == expected


def test_spans_give_the_steps_back():
    solution = Solution.from_steps(["a = 1", "b = 2"], id="s", problem=Problem(id="p", text="?"))
    assert [solution.text[s.start : s.end] for s in solution.steps] == ["a = 1", "b = 2"]


def test_a_wrong_number_of_verdicts_is_refused():
    solution = Solution.from_steps(["a", "b"], id="s7", problem=Problem(id="p", text="?"))
    with pytest.raises(RecordError, match="1 verdicts for 2 steps") as caught:
        labelled_from_verdicts(solution, [Verdict.right()], origin="x")
    assert caught.value.record_id == "s7"


@pytest.mark.parametrize(
    ("label", "expected"),
    [
        (True, (1, None)),
        (0, (0, None)),
        (0.9, (1, 0.9)),
        (0.5, (1, 0.5)),
        (0.1, (0, 0.1)),
        (None, (-100, None)),
    ],
)
def test_labels_are_hard_or_soft_but_never_cut_to_integers(label, expected):
    assert check_label(label, record_id="r", step=0) == expected


@pytest.mark.parametrize(
    ("label", "message"), [(1.2, "outside 0..1"), (math.nan, "not a finite number"), ("1", "not a finite")]
)
def test_labels_that_are_no_probability_are_refused(label, message):
    with pytest.raises(RecordError, match=message):
        check_label(label, record_id="r", step=0)


def test_labels_of_numpy_are_read_and_a_huge_one_is_refused_like_any_other():
    assert check_label(np.float32(0.75), record_id="r", step=0) == (1, 0.75)
    assert check_label(np.int64(0), record_id="r", step=0) == (0, None)
    with pytest.raises(RecordError, match="not a finite number"):
        check_label(np.float64("nan"), record_id="r", step=0)
    with pytest.raises(RecordError, match="outside"):
        check_label(10**400, record_id="r", step=0)


def test_a_label_missing_for_a_step_is_an_error_that_names_both_counts():
    with pytest.raises(RecordError, match="2 steps but 1 entries in labels"):
        labelled_from_row({"id": "a", "prompt": "p", "completions": ["x", "y"], "labels": [1]})


def test_cut_rollouts_leave_the_fraction_and_unparsable_ones_do_not():
    assert RolloutCounts(n=8, k=3, cut=2, unparsable=1).soft == 0.5
    assert RolloutCounts(n=4, k=0, cut=4).soft is None


def test_wilson_agrees_with_a_case_worked_by_hand():
    # 8 of 10: centre (0.8 + 3.8416/20) / 1.38416 = 0.71674
    # half width 1.96 sqrt(0.016 + 0.009604) / 1.38416 = 0.22658
    estimate = wilson(8, 10)
    assert estimate.low == pytest.approx(0.49016, abs=1e-4)
    assert estimate.high == pytest.approx(0.94332, abs=1e-4)


@given(st.integers(0, 50), st.integers(1, 50))
def test_wilson_holds_the_share_and_stays_in_the_unit_interval(k, extra):
    n = k + extra
    estimate = wilson(k, n)
    assert 0 <= estimate.low <= estimate.value <= estimate.high <= 1


def test_the_bootstrap_resamples_problems_and_is_repeatable():
    clusters = [[1.0] * 5, [0.0] * 5, [1.0], [0.0]]

    def mean(chosen):
        return float(np.mean([v for c in chosen for v in c]))

    one = cluster_bootstrap(clusters, mean, rng=generator(0, "t"))
    two = cluster_bootstrap(clusters, mean, rng=generator(0, "t"))
    assert one == two
    assert one.n == 4
    assert one.low < one.value < one.high


def test_a_single_problem_gives_no_interval():
    estimate = cluster_bootstrap([[1.0]], lambda c: c[0][0], rng=generator(0))
    assert math.isnan(estimate.low)


def test_keys_of_neighbouring_seeds_and_of_other_types_differ():
    seeds = {
        derive_seed(s, *k) for s in range(3) for k in [("a", 1), ("a", "1"), ("a1",), ("a", 12), ("a", 1, 2)]
    }
    assert len(seeds) == 15
    assert derive_seed(0, "a", 1) == derive_seed(0, "a", 1)


def test_errors_cross_process_borders_whole():
    error = RecordError("bad.", remedy="Mend it.", file="f.jsonl", line=3, record_id="a")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.line, again.record_id) == (RecordError, str(error), 3, "a")
    assert str(error) == "f.jsonl:3 (record a): bad. Mend it."


def test_a_report_holds_no_nan_and_is_written_whole(tmp_path):
    report = Report(stage="x", numbers={"a": float("nan"), "b": wilson(1, 2)}, counts={"dropped": 0})
    path = report.write(tmp_path)
    assert '"a": null' in path.read_text()
    assert plain(np.float32(0.5)) == 0.5
    assert plain({"a": np.array([[1.0, np.nan]])}) == {"a": [[1.0, None]]}
    assert "| dropped | 0 |" in report.to_markdown()
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_tells_where_its_outputs_are():
    assert "- labels: a/b.jsonl\n" in Report(stage="x", outputs={"labels": "a/b.jsonl"}).to_markdown()
    assert "- A limit was hit.\n" in Report(stage="x", notes=["A limit was hit."]).to_markdown()
    both = Report(stage="x", notes=["A limit was hit."], outputs={"labels": "a/b.jsonl"}).to_markdown()
    assert both.endswith("- A limit was hit.\n\n## Written\n\n- labels: a/b.jsonl\n")


def test_a_reports_table_has_columns_of_one_width():
    text = Report(stage="x", counts={"a": 1, "lines skipped": 0}).to_markdown()
    assert "| what          | value |\n|---------------|---|\n| a             | 1 |\n" in text
    long = Report(stage="x", counts={"a": 1, "b" * 200: 1}).to_markdown()
    assert f"| a{' ' * 59} | 1 |\n| {'b' * 200} | 1 |\n" in long


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        ("verdicts", ["right", "WRONG"]),
        ("verdicts", "RIGHT"),
        ("evidence", [[{"colour": "red"}], []]),
        ("evidence", [3, []]),
        ("n", ["many", 1]),
        ("soft", [2.0, 0.1]),
        ("soft", ["half", 0.1]),
    ],
)
def test_columns_of_verdicts_that_cannot_be_read_are_the_users_mistake(column, cells):
    row = {"id": "s7", "prompt": "?", "completions": ["a", "b"], "labels": [1, 0], column: cells}
    with pytest.raises(RecordError, match="record s7") as raised:
        labelled_from_row(row)
    assert raised.value.exit_code == 2
