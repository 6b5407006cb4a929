import json
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from labeling.errors import InputError
from prm.calibration.calibrators import (
    CALIBRATOR_KINDS,
    SCORE_CLIP,
    TEMPERATURE_RANGE,
    IsotonicCalibrator,
    PlattCalibrator,
    TemperatureCalibrator,
    fit_calibrator,
    load_calibrator,
)
from prm.calibration.metrics import brier_score, expected_calibration_error, step_auroc

quick = settings(deadline=None, max_examples=60)

scores = st.one_of(st.floats(0, 1), st.sampled_from([0.0, 1.0, 0.5, 1e-300, 1 - 1e-16]))
labelled = st.lists(st.tuples(scores, st.integers(0, 1)), min_size=2, max_size=30)


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def overconfident(n, *, seed=0, temperature=2.5):
    rng = np.random.default_rng(seed)
    z = rng.normal(1.0, 1.5, n)
    return sigmoid(temperature * z), (rng.random(n) < sigmoid(z)).astype(int)


def test_temperature_worked_by_hand():
    # All scores are .8, logit ln 4; two of three are right. sigmoid(ln 4 / T) = 2/3 where ln 4 / T = ln 2.
    found = TemperatureCalibrator.fit([0.8] * 3, [1, 1, 0])
    assert found.temperature == pytest.approx(2.0, rel=1e-9)
    assert found([0.8]).tolist() == pytest.approx([2 / 3])


def test_platt_worked_by_hand():
    # At .8 three of four are right, at .2 one of four: a ln 4 + b = ln 3 and -a ln 4 + b = -ln 3.
    found = PlattCalibrator.fit([0.8] * 4 + [0.2] * 4, [1, 1, 1, 0, 1, 0, 0, 0])
    assert found.slope == pytest.approx(math.log(3) / math.log(4), rel=1e-6)
    assert found.shift == pytest.approx(0, abs=1e-6)


def test_isotonic_worked_by_hand():
    # The second and third label are out of order and share their mean; between knots it is a line.
    found = IsotonicCalibrator.fit([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    assert found([0.1, 0.2, 0.3, 0.4]).tolist() == [0, 0.5, 0.5, 1]
    assert found([0.0, 0.15, 1.0]).tolist() == pytest.approx([0, 0.25, 1])


def test_one_over_temperature_is_the_slope_of_a_logistic_regression_without_intercept():
    p, y = overconfident(400)
    z = np.log(p / (1 - p))[:, None]
    slope = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(z, y).coef_[0, 0]
    assert 1 / TemperatureCalibrator.fit(p, y).temperature == pytest.approx(slope, rel=1e-5)


def test_isotonic_equals_scikit_learn_on_scores_it_has_not_seen():
    p, y = overconfident(300)
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(p, y)
    grid = np.linspace(0, 1, 501)
    assert IsotonicCalibrator.fit(p, y)(grid) == pytest.approx(theirs.predict(grid), abs=1e-12)


def test_temperature_finds_the_one_that_made_the_scores():
    p, y = overconfident(20_000, temperature=2.5)
    assert TemperatureCalibrator.fit(p, y).temperature == pytest.approx(2.5, rel=0.08)


@pytest.mark.parametrize("kind", CALIBRATOR_KINDS)
def test_calibration_mends_overconfident_scores_of_other_steps(kind):
    calibrator = fit_calibrator(kind, *overconfident(2000, seed=0))
    p, y = overconfident(2000, seed=1)
    assert expected_calibration_error(p, y) > 0.08
    assert expected_calibration_error(calibrator(p), y) < 0.04
    assert brier_score(calibrator(p), y) < brier_score(p, y)


@pytest.mark.parametrize("kind", CALIBRATOR_KINDS)
@quick
@given(pairs=labelled, new=st.lists(scores, min_size=1, max_size=30))
def test_calibration_keeps_the_order_and_the_range(kind, pairs, new):
    y = [label for _, label in pairs]
    assume(0 < sum(y) < len(y))
    calibrator = fit_calibrator(kind, [p for p, _ in pairs], y)
    mapped = calibrator(np.sort(new))
    assert (np.diff(mapped) >= -1e-12).all()
    assert ((mapped >= 0) & (mapped <= 1)).all()


@pytest.mark.parametrize("kind", CALIBRATOR_KINDS)
@quick
@given(pairs=labelled)
def test_a_saved_calibrator_maps_scores_as_before(kind, pairs):
    y = [label for _, label in pairs]
    assume(0 < sum(y) < len(y))
    calibrator = fit_calibrator(kind, [p for p, _ in pairs], y)
    again = load_calibrator(json.loads(json.dumps(calibrator.to_dict())))
    grid = np.linspace(0, 1, 21)
    assert again == calibrator
    assert (again(grid) == calibrator(grid)).all()


def test_temperature_and_platt_leave_the_auroc_alone():
    p, y = overconfident(500)
    for kind in ("temperature", "platt"):
        assert step_auroc(fit_calibrator(kind, p, y)(p), y) == pytest.approx(step_auroc(p, y))


def test_scores_of_exactly_0_and_1_are_clipped_and_stay_finite():
    mapped = TemperatureCalibrator(1.0)([0.0, 1.0])
    assert mapped.tolist() == pytest.approx([SCORE_CLIP, 1 - SCORE_CLIP])
    found = TemperatureCalibrator.fit([0.0, 0.0, 1.0, 1.0], [0, 1, 1, 1])
    assert TEMPERATURE_RANGE[0] < found.temperature < TEMPERATURE_RANGE[1]


def test_scores_that_rank_backwards_are_flattened_and_never_turned_round():
    p, y = [0.9, 0.8, 0.2, 0.1], [0, 0, 1, 1]
    assert TemperatureCalibrator.fit(p, y).temperature == pytest.approx(TEMPERATURE_RANGE[1])
    assert PlattCalibrator.fit(p, y)([0.1, 0.9]).tolist() == pytest.approx([0.5, 0.5])
    assert IsotonicCalibrator.fit(p, y)([0.1, 0.9]).tolist() == pytest.approx([0.5, 0.5])


@pytest.mark.parametrize("kind", CALIBRATOR_KINDS)
def test_one_class_of_label_is_refused(kind):
    with pytest.raises(InputError, match="all 2 steps to calibrate on are right"):
        fit_calibrator(kind, [0.5, 0.6], [1, 1])


@pytest.mark.parametrize("kind", CALIBRATOR_KINDS)
@pytest.mark.parametrize("bad", [math.nan, 1.5, None])
def test_a_score_that_is_none_is_never_mapped(kind, bad):
    calibrator = fit_calibrator(kind, [0.2, 0.5, 0.7], [0, 1, 1])
    with pytest.raises(InputError, match="position 1"):
        calibrator([0.5, bad])


def test_an_unknown_kind_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="temperature, isotonic, platt"):
        fit_calibrator("beta", [0.2, 0.8], [0, 1])


@pytest.mark.parametrize(
    "saved",
    [
        {},
        {"kind": "temperature"},
        {"kind": "temperature", "temperature": 0.0},
        {"kind": "temperature", "temperature": float("nan")},
        {"kind": "temperature", "temperature": "x"},
        {"kind": ["temperature"]},
        {"kind": "platt", "slope": [1.0], "shift": None},
        {"kind": "isotonic", "scores": 5, "calibrated": ["x"]},
        {"kind": "temperature", "temperature": 1.0, "shift": 0.0},
        {"kind": "platt", "slope": -1.0, "shift": 0.0},
        {"kind": "isotonic", "scores": [0.2, 0.1], "calibrated": [0.0, 1.0]},
        {"kind": "isotonic", "scores": [0.1, 0.2], "calibrated": [1.0, 0.0]},
        {"kind": "isotonic", "scores": [0.1, 0.2], "calibrated": [0.0]},
        {"kind": "isotonic", "scores": [], "calibrated": []},
    ],
)
def test_a_damaged_calibrator_is_refused(saved):
    with pytest.raises(InputError):
        load_calibrator(saved)
