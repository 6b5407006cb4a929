import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labeling.agreement import harmonic_mean, process_bench_f1
from labeling.errors import InputError
from labeling.report import wilson
from prm.benchmarks.first_error import (
    choose_threshold,
    first_error_f1,
    first_error_over_problems,
    flag_score,
    predict_first_error,
)

quick = settings(deadline=None, max_examples=80)

coarse = st.integers(0, 10).map(lambda k: k / 10)


@st.composite
def chains(draw):
    """Chains of scores with a first error inside or -1; at least one of each kind."""
    scores, gold = [], []
    for must in ("error", "right", *draw(st.lists(st.sampled_from(["error", "right"]), max_size=6))):
        scores.append(draw(st.lists(st.one_of(coarse, st.floats(0, 1)), min_size=1, max_size=5)))
        gold.append(-1 if must == "right" else draw(st.integers(0, len(scores[-1]) - 1)))
    return scores, gold


def f1_at(scores, gold, threshold):
    return first_error_f1([predict_first_error(s, threshold) for s in scores], gold).f1


def test_eval_01_exact_index_on_errors_and_no_flag_on_right_chains(golden):
    case = golden("evaluation.json")["eval-01"]
    samples, expected = case["input"]["samples"], case["expected"]
    predicted = [predict_first_error(s["step_scores"], case["input"]["threshold"]) for s in samples]
    assert predicted == expected["predicted"]
    score = first_error_f1(predicted, [s["first_error"] for s in samples])
    assert score.accuracy_on_errors == pytest.approx(expected["acc_on_error_samples"], abs=1e-6)
    assert score.accuracy_on_right == pytest.approx(expected["acc_on_correct_samples"], abs=1e-6)
    assert score.f1 == pytest.approx(expected["f1"], abs=1e-6)
    assert (score.n_errors, score.n_right) == (4, 3)


def test_a_score_equal_to_the_threshold_counts_as_right():
    assert predict_first_error([0.5, 0.5], 0.5) == -1
    assert predict_first_error([0.5, math.nextafter(0.5, 0)], 0.5) == 1


def test_f1_is_zero_when_nothing_is_hit_and_not_a_number_without_a_kind_of_chain():
    assert first_error_f1([0, 0], [1, -1]).f1 == 0
    only_errors = first_error_f1([1], [1])
    assert only_errors.accuracy_on_errors == 1
    assert math.isnan(only_errors.accuracy_on_right)
    assert math.isnan(only_errors.f1)


@quick
@given(
    pairs=st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=20), data=st.data()
)
def test_f1_lies_between_the_accuracies_and_order_does_not_matter(pairs, data):
    score = first_error_f1([p for p, _ in pairs], [g for _, g in pairs])
    mixed = data.draw(st.permutations(pairs))
    again = first_error_f1([p for p, _ in mixed], [g for _, g in mixed])
    assert score.n_errors + score.n_right == len(pairs)
    assume(score.n_errors and score.n_right)
    assert again == score
    low, high = sorted((score.accuracy_on_errors, score.accuracy_on_right))
    assert low - 1e-12 <= score.f1 <= high + 1e-12


def test_the_chosen_threshold_is_the_middle_of_the_widest_best_stretch():
    # The error is hit for thresholds in (.2, .9], the right chain for thresholds up to .6.
    found = choose_threshold([[0.9, 0.2], [0.6, 0.8]], [1, -1])
    assert found.threshold == pytest.approx(0.4)
    assert found.f1 == 1


def test_of_two_equally_good_stretches_the_wider_is_chosen():
    # One error is hit in (.2, .5], the other in (.5, .9]; the right chain up to .95.
    found = choose_threshold([[0.5, 0.2], [0.9, 0.5], [0.95]], [1, 1, -1])
    assert found.threshold == pytest.approx(0.7)
    assert found.f1 == pytest.approx(2 * 0.5 / 1.5)


def test_a_stretch_between_neighbouring_doubles_is_found():
    just_above = math.nextafter(0.5, 1)
    found = choose_threshold([[just_above, 0.5], [1.0]], [1, -1])
    assert (found.threshold, found.f1) == (just_above, 1)


@quick
@given(drawn=chains())
def test_no_other_threshold_does_better_than_the_chosen_one(drawn):
    scores, gold = drawn
    found = choose_threshold(scores, gold)
    assert found.f1 == pytest.approx(f1_at(scores, gold, found.threshold))
    values = np.unique([0.0, 1.0, *(s for chain in scores for s in chain)])
    candidates = [*values, *np.nextafter(values, 2), *((values[1:] + values[:-1]) / 2)]
    assert found.f1 == pytest.approx(max(f1_at(scores, gold, t) for t in candidates if t <= 1))


@pytest.mark.parametrize("gold", [[-1, -1], [0, 0]])
def test_a_threshold_needs_chains_of_both_kinds(gold):
    with pytest.raises(InputError, match="with and without an error"):
        choose_threshold([[0.5], [0.6]], gold)


def test_a_first_error_outside_its_chain_is_refused():
    with pytest.raises(InputError, match="first error 2 in a chain of 2 scores"):
        choose_threshold([[0.5, 0.4], [0.6]], [2, -1])


def test_a_chain_with_an_unscored_step_has_no_prediction():
    with pytest.raises(InputError, match="position 1"):
        predict_first_error([0.9, math.nan], 0.5)


@pytest.mark.parametrize(
    ("predicted", "gold"), [([0], [0, 1]), ([-2], [0]), ([0], [-2]), ([0.5], [0]), ([0], [None])]
)
def test_indices_that_are_none_are_refused(predicted, gold):
    with pytest.raises(InputError):
        first_error_f1(predicted, gold)


def test_flags_worked_by_hand():
    # Flagged: chains 0 (exact), 1 (too late), 4 (all right); errors: chains 0 to 3; right: 4 to 6.
    flagged, gold = [1, 2, None, None, 0, None, None], [1, 1, 0, 3, -1, -1, -1]
    found = flag_score(flagged, gold)
    assert (found.precision.value, found.precision.n) == (pytest.approx(1 / 3), 3)
    assert (found.recall.value, found.recall.n) == (pytest.approx(1 / 4), 4)
    assert (found.false_positive_rate.value, found.false_positive_rate.n) == (pytest.approx(1 / 3), 3)
    assert (found.chain_precision.value, found.chain_precision.n) == (pytest.approx(2 / 3), 3)
    assert (found.chain_recall.value, found.chain_recall.n) == (pytest.approx(2 / 4), 4)
    # Wilson for p = 1/4, n = 4: (p + z2/2n -+ z sqrt(p (1 - p)/n + z2/4n2)) / (1 + z2/n), z = 1.96.
    z2 = 1.96**2
    centre, half = (0.25 + z2 / 8) / (1 + z2 / 4), 1.96 * math.sqrt(0.1875 / 4 + z2 / 64) / (1 + z2 / 4)
    assert (found.recall.low, found.recall.high) == (
        pytest.approx(centre - half),
        pytest.approx(centre + half),
    )


@quick
@given(pairs=st.lists(st.tuples(st.one_of(st.none(), st.integers(0, 3)), st.integers(-1, 3)), max_size=20))
def test_recall_and_false_positives_are_the_accuracies_of_first_error_f1(pairs):
    flagged, gold = [f for f, _ in pairs], [g for _, g in pairs]
    flags = flag_score(flagged, gold)
    score = first_error_f1([-1 if f is None else f for f in flagged], gold)
    if score.n_errors:
        assert flags.recall.value == pytest.approx(score.accuracy_on_errors)
    if score.n_right:
        assert 1 - flags.false_positive_rate.value == pytest.approx(score.accuracy_on_right)


def test_no_flags_leave_precision_unknown():
    assert math.isnan(flag_score([None], [0]).precision.value)
    with pytest.raises(InputError, match="None for a chain without a flag"):
        flag_score([-1], [0])


def test_intervals_resample_problems_and_leave_the_values_alone():
    problems = [str(k // 4) for k in range(40)]
    predicted, gold = [k % 3 - 1 for k in range(40)], [k % 2 - 1 for k in range(40)]
    found = first_error_over_problems(problems, predicted, gold, seed=0, draws=50)
    plain = first_error_f1(predicted, gold)
    for name in ("f1", "accuracy_on_errors", "accuracy_on_right"):
        estimate = found[f"first_error_{name}"]
        assert estimate.value == pytest.approx(getattr(plain, name))
        assert estimate.n == 10
        assert estimate.low <= estimate.value <= estimate.high
    assert found == first_error_over_problems(problems, predicted, gold, seed=0, draws=50)


def test_accuracies_of_0_and_1_do_not_claim_certainty():
    # Three problems with an error, none hit; two all right, both hit. Each has two chains.
    problems, gold = list("aabbccddee"), [0] * 6 + [-1] * 4
    found = first_error_over_problems(problems, [1] * 6 + [-1] * 4, gold, seed=0, draws=50)
    missed, hit = wilson(0, 3), wilson(2, 2)
    on_errors, on_right = found["first_error_accuracy_on_errors"], found["first_error_accuracy_on_right"]
    assert (on_errors.value, on_errors.low, on_errors.high) == (0, missed.low, missed.high)
    assert (on_right.value, on_right.low, on_right.high) == (1, hit.low, hit.high)
    f1 = found["first_error_f1"]
    assert (f1.value, f1.low) == (0, 0)
    assert f1.high == pytest.approx(2 * missed.high / (missed.high + 1))


shares = st.floats(0, 1)


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12))
def test_the_measure_of_scores_is_that_of_two_sets_of_labels(pairs):
    predicted, gold = zip(*pairs, strict=True)
    counts = [0, 0, 0, 0]
    for guess, true in pairs:
        counts[1 if true >= 0 else 3] += 1
        counts[0 if true >= 0 else 2] += guess == true
    ours, theirs = first_error_f1(predicted, gold).f1, process_bench_f1(np.array(counts))
    assert ours == theirs or (math.isnan(ours) and math.isnan(theirs))


@given(shares, shares)
def test_the_harmonic_mean_is_the_reciprocal_of_the_mean_reciprocal(a, b):
    found = float(harmonic_mean(a, b))
    if min(a, b) < 1e-100:
        assert found == pytest.approx(0, abs=1e-99)
    else:
        assert found == pytest.approx(1 / ((1 / a + 1 / b) / 2))
