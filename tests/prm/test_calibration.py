import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss, roc_auc_score

from labeling.errors import InputError
from labeling.records import normalised_problem_text
from labeling.report import wilson
from prm.calibration.metrics import (
    BIN_KINDS,
    brier_score,
    expected_calibration_error,
    gap_of_bins,
    known_labels,
    maximum_calibration_error,
    over_problems,
    reliability_bins,
    step_auroc,
)
from prm.calibration.reliability import plot_reliability, reliability_figure, reliability_svg
from prm.calibration.split import is_for_calibration

quick = settings(deadline=None, max_examples=60)

# A third of the scores sit on the edges of ten bins, where half-open bins go wrong.
a_score = st.one_of(st.floats(0, 1), st.integers(0, 10).map(lambda k: k / 10), st.sampled_from([0.0, 1.0]))
steps = st.lists(st.tuples(a_score, st.integers(0, 1)), min_size=1, max_size=40)


def columns(pairs):
    return [p for p, _ in pairs], [y for _, y in pairs]


def noisy_steps(n, *, seed=0, sharpness=1.0):
    """Scores that would be calibrated at sharpness 1."""
    rng = np.random.default_rng(seed)
    truth = rng.beta(2, 1, n)
    logit = sharpness * np.log(truth / (1 - truth))
    return 1 / (1 + np.exp(-logit)), (rng.random(n) < truth).astype(int)


def test_eval_02_saturated_scores_stay_in_the_first_and_last_bin(golden):
    case = golden("evaluation.json")["eval-02"]
    p, y, n_bins = case["input"]["probabilities"], case["input"]["labels"], case["input"]["bins"]["n"]
    expected, close = case["expected"], {"abs": case["expected"]["tolerance"]}
    bins = reliability_bins(p, y, n_bins)
    assert [b.n for b in bins] == expected["counts_per_bin"]
    assert sum(b.n for b in bins) == expected["n_used"]
    assert expected_calibration_error(p, y, n_bins) == pytest.approx(expected["ece"], **close)
    assert maximum_calibration_error(p, y, n_bins) == pytest.approx(expected["mce"], **close)
    assert brier_score(p, y) == pytest.approx(expected["brier"], **close)


def test_ece_mce_and_brier_worked_by_hand():
    # Bin [0, .5): scores .2 .4, right 1 of 2: gap |.5 - .3| = .2.
    # Bin [.5, 1]: scores .6 .8 1, right 1 of 3: gap |1/3 - .8| = 7/15.
    p, y = [0.2, 0.4, 0.6, 0.8, 1.0], [1, 0, 0, 0, 1]
    assert expected_calibration_error(p, y, 2) == pytest.approx(2 / 5 * 0.2 + 3 / 5 * 7 / 15)
    assert maximum_calibration_error(p, y, 2) == pytest.approx(7 / 15)
    assert brier_score(p, y) == pytest.approx((0.64 + 0.16 + 0.36 + 0.64 + 0) / 5)


def test_auroc_worked_by_hand_counts_ties_one_half():
    # Right: .9 .5; wrong: .5 .1. Pairs won: .9>.5, .9>.1, .5>.1, and .5=.5 for one half: 3.5 of 4.
    assert step_auroc([0.9, 0.5, 0.5, 0.1], [1, 1, 0, 0]) == 3.5 / 4


def test_auroc_of_one_class_is_not_a_number():
    assert math.isnan(step_auroc([0.1, 0.9], [1, 1]))
    assert math.isnan(step_auroc([0.1, 0.9], [0, 0]))


def test_a_score_on_an_edge_belongs_to_the_bin_above_it():
    for k in range(10):
        bins = reliability_bins([k / 10], [1], 10)
        assert bins[k].n == 1


@pytest.mark.parametrize("kind", BIN_KINDS)
@quick
@given(pairs=steps, n_bins=st.integers(1, 12))
def test_every_step_falls_into_exactly_one_bin(kind, pairs, n_bins):
    p, y = columns(pairs)
    bins = reliability_bins(p, y, n_bins, kind)
    assert sum(b.n for b in bins) == len(p)
    assert sum(b.n_right for b in bins) == sum(y)
    assert all(b.low - 1e-12 <= b.mean_score <= b.high + 1e-12 for b in bins if b.n)
    assert 0 <= gap_of_bins(bins) <= maximum_calibration_error(p, y, n_bins, kind) + 1e-12 <= 1 + 1e-12


@quick
@given(pairs=steps, n_bins=st.integers(1, 12))
def test_ece_equals_a_plain_loop_over_bins(pairs, n_bins):
    total = 0.0
    for b in range(n_bins):
        low, high, is_last = b / n_bins, (b + 1) / n_bins, b == n_bins - 1
        inside = [(p, y) for p, y in pairs if low <= p and (p < high or is_last)]
        if inside:
            total += abs(sum(p for p, _ in inside) - sum(y for _, y in inside))
    assert expected_calibration_error(*columns(pairs), n_bins) == pytest.approx(total / len(pairs), abs=1e-12)


@quick
@given(pairs=steps)
def test_auroc_and_brier_equal_those_of_scikit_learn(pairs):
    p, y = columns(pairs)
    assert brier_score(p, y) == pytest.approx(brier_score_loss(y, p, pos_label=1, labels=[0, 1]), abs=1e-12)
    if 0 < sum(y) < len(y):
        assert step_auroc(p, y) == pytest.approx(roc_auc_score(y, p), abs=1e-12)


def test_uniform_bins_equal_scikit_learns_curve_away_from_edges():
    p, y = noisy_steps(500)
    share, mean = calibration_curve(y, p, n_bins=10, strategy="uniform")
    bins = [b for b in reliability_bins(p, y, 10) if b.n]
    assert [b.share_right for b in bins] == pytest.approx(share)
    assert [b.mean_score for b in bins] == pytest.approx(mean)


def test_quantile_bins_hold_equal_counts_and_tied_scores_share_one():
    p = np.arange(100) / 100
    assert [b.n for b in reliability_bins(p, np.ones(100), 4, "quantile")] == [25, 25, 25, 25]
    assert [b.n for b in reliability_bins([0.7] * 9, [1] * 9, 4, "quantile")] == [9]


@pytest.mark.parametrize("metric", [expected_calibration_error, brier_score, step_auroc, reliability_bins])
@pytest.mark.parametrize(
    ("score", "label", "reason"),
    [
        ([0.5, math.nan], [1, 0], "position 1 is not a number in 0..1"),
        ([None, 0.5], [1, 0], "position 0 is not a number in 0..1"),
        ([0.5, 1.01], [1, 0], "score 1.01"),
        ([-0.1, 0.5], [1, 0], "score -0.1"),
        ([0.5, 0.5], [1, -100], "label -100 is neither"),
        ([0.5, 0.5], [1, 0.5], "label 0.5 is neither"),
        ([0.5, 0.5], [1], "2 scores but 1 labels"),
        ([], [], "no steps"),
    ],
)
def test_what_cannot_be_measured_is_refused(metric, score, label, reason):
    with pytest.raises(InputError, match=reason):
        metric(score, label)


def test_bins_of_no_such_kind_or_number_are_refused():
    with pytest.raises(InputError, match="no 'even' bins"):
        reliability_bins([0.5], [1], 10, "even")
    with pytest.raises(InputError, match="n_bins is 0"):
        reliability_bins([0.5], [1], 0)


def test_unknown_labels_are_left_out_and_counted():
    p, y, n_unknown = known_labels([0.1, 0.2, 0.3], [1, -100, 0])
    assert (p.tolist(), y.tolist(), n_unknown) == ([0.1, 0.3], [1, 0], 1)


def test_an_interval_counts_problems_and_holds_its_value():
    p, y = noisy_steps(60)
    problems = [(p[i : i + 3], y[i : i + 3]) for i in range(0, 60, 3)]
    for metric in (expected_calibration_error, maximum_calibration_error, brier_score, step_auroc):
        found = over_problems(metric, problems, rng=np.random.default_rng(0), draws=100)
        assert found.n == 20
        assert found.low <= found.value <= found.high
        assert found.value == pytest.approx(metric(p, y))
        assert found == over_problems(metric, problems, rng=np.random.default_rng(0), draws=100)


def test_copies_of_a_solution_do_not_narrow_the_interval():
    p, y = noisy_steps(40)
    once = [(p[i : i + 1], y[i : i + 1]) for i in range(40)]
    often = [(np.tile(a, 10), np.tile(b, 10)) for a, b in once]
    single, copied = (
        over_problems(brier_score, x, rng=np.random.default_rng(0), draws=100) for x in (once, often)
    )
    assert copied.value == pytest.approx(single.value)
    assert copied.high - copied.low == pytest.approx(single.high - single.low)


def test_no_problem_gives_no_number():
    found = over_problems(step_auroc, [], rng=np.random.default_rng(0))
    assert found.n == 0
    assert math.isnan(found.value)


def test_one_problem_in_two_spellings_falls_on_one_side():
    for k in range(50):
        sides = {
            is_for_calibration(text, seed=3)
            for text in (f"A beam of {k} m.", f"  a BEAM of\n{k} m. ", f"A beam\u00a0of {k} m.")
        }
        assert len(sides) == 1
    assert normalised_problem_text("Bolt M\uff18 ") == "bolt m8"


def test_the_split_has_its_share_and_depends_on_the_seed():
    texts = [f"problem {k}" for k in range(2000)]
    first, again, other = ([is_for_calibration(t, seed=s, share=0.3) for t in texts] for s in (0, 0, 1))
    assert first == again != other
    assert sum(first) / 2000 == pytest.approx(0.3, abs=0.04)


def test_the_diagram_is_one_svg_element_and_equal_for_equal_bins():
    p, y = noisy_steps(300, sharpness=3)
    bins = reliability_bins(p, y)
    text = reliability_svg(bins, bins)
    assert ElementTree.fromstring(text).tag.endswith("svg")
    assert text == reliability_svg(bins, bins)
    assert "Before calibration" in text
    assert "After calibration" in text
    assert f"ECE {gap_of_bins(bins):.3f}" in text
    assert "After calibration" not in reliability_svg(bins, None)


def drawn(figure, column, n_columns):
    """What a panel of the diagram shows: dots, the ends of their bars, and the counts below."""
    curve, counts = figure.axes[column], figure.axes[n_columns + column]
    line, _, (bars,) = curve.containers[0]
    ends = [tuple(float(y) for _, y in bar) for bar in bars.get_segments()]
    boxes = [(box.get_x(), box.get_width(), box.get_height()) for box in counts.patches]
    return curve.get_title(loc="left"), list(line.get_xdata()), list(line.get_ydata()), ends, boxes


def test_the_diagram_shows_the_numbers_of_its_bins():
    # Two halves: 0.1 and 0.3, one of two right; three of 0.9, two of them right.
    before = reliability_bins([0.1, 0.3, 0.9, 0.9, 0.9], [0, 1, 1, 1, 0], 2)
    title, x, y, ends, boxes = drawn(reliability_figure(before, None), 0, 1)
    assert title == "Raw scores"
    assert x == pytest.approx([0.2, 0.9])
    assert y == pytest.approx([1 / 2, 2 / 3])
    for end, share in zip(ends, (wilson(1, 2), wilson(2, 3)), strict=True):
        assert end == pytest.approx((share.low, share.high))
    assert boxes == [(0.0, 0.5, 2), (0.5, 0.5, 3)]

    after = reliability_bins([0.6, 0.6, 0.7, 0.7, 0.7], [0, 1, 1, 1, 0], 2)
    figure = reliability_figure(before, after)
    assert drawn(figure, 0, 2) == ("Before calibration", x, y, ends, boxes)
    # Calibrated, all five stand in the upper half, at a mean of 0.66; three of them are right.
    title, x, y, _, boxes = drawn(figure, 1, 2)
    assert title == "After calibration"
    assert (x, y) == (pytest.approx([0.66]), pytest.approx([0.6]))
    assert boxes == [(0.0, 0.5, 0), (0.5, 0.5, 5)]


@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_the_diagram_is_written_in_the_format_of_its_suffix(tmp_path, suffix):
    bins = reliability_bins([0.0, 0.4, 1.0], [0, 1, 1])
    path = plot_reliability(bins, None, tmp_path / "new" / f"reliability.{suffix}")
    start = path.read_bytes()[:8]
    assert start.startswith(b"\x89PNG" if suffix == "png" else b"<svg")


@pytest.mark.parametrize("pairs", [[(0.0, 0)], [(0.7, 1)] * 3, [(0.0, 1), (1.0, 0)]])
@pytest.mark.parametrize("kind", BIN_KINDS)
def test_extreme_bins_can_be_drawn(pairs, kind):
    assert "<svg" in reliability_svg(reliability_bins(*columns(pairs), 3, kind), None)


def test_resamples_that_all_agree_give_no_interval():
    problems = [([0.1, 0.9], [0, 1])] * 5
    found = over_problems(step_auroc, problems, rng=np.random.default_rng(0), draws=20)
    assert (found.value, found.n) == (1, 5)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_an_interval_reaches_down_to_a_value_below_all_its_resamples():
    # In each of ten bins the share right is exactly the score, so ECE is 0; no resample stays that even.
    centres = [(2 * k + 1) / 20 for k in range(10)]
    problems = [([p], [int(i < round(20 * p))]) for p in centres for i in range(20)]
    found = over_problems(expected_calibration_error, problems, rng=np.random.default_rng(0), draws=50)
    assert found.value == pytest.approx(0, abs=1e-12)
    assert found.low == found.value
    assert found.high > 0.02
