import math

import evaluate
import pytest

from labeling.errors import InputError
from prm.metrics import NAMES, path_of


@pytest.fixture
def load(tmp_path):
    return lambda name: evaluate.load(path_of(name), cache_dir=str(tmp_path), keep_in_memory=True)


def test_eval_01_comes_out_of_the_module(load, golden):
    case = golden("evaluation.json")["eval-01"]
    gold = [s["first_error"] for s in case["input"]["samples"]]
    found = load("first_error_f1").compute(predictions=case["expected"]["predicted"], references=gold)
    assert found["f1"] == pytest.approx(case["expected"]["f1"], abs=1e-6)
    assert (found["n_errors"], found["n_right"]) == (4, 3)


def test_eval_02_comes_out_of_the_module(load, golden):
    case = golden("evaluation.json")["eval-02"]
    found = load("step_calibration").compute(
        predictions=[*case["input"]["probabilities"], 0.4],
        references=[*case["input"]["labels"], -100],
        n_bins=case["input"]["bins"]["n"],
    )
    for name in ("ece", "mce", "brier"):
        assert found[name] == pytest.approx(case["expected"][name], abs=1e-9)
    assert (found["n"], found["n_unknown"]) == (5, 1)


def test_the_number_of_bins_reaches_the_metric(load):
    # Two bins: gaps .2 and 7/15 for 2 and 3 of 5 steps, as worked in the tests of calibration.
    found = load("step_calibration").compute(
        predictions=[0.2, 0.4, 0.6, 0.8, 1.0], references=[1, 0, 0, 0, 1], n_bins=2
    )
    assert found["ece"] == pytest.approx(2 / 5 * 0.2 + 3 / 5 * 7 / 15)
    assert found["mce"] == pytest.approx(7 / 15)


def test_auroc_comes_out_of_the_module_and_unknown_labels_are_counted(load):
    found = load("step_auroc").compute(predictions=[0.9, 0.5, 0.5, 0.1, 0.3], references=[1, 1, 0, 0, -100])
    assert found == {"auroc": 3.5 / 4, "n": 4, "n_unknown": 1}


def test_modules_collect_batches(load):
    metric = load("first_error_f1")
    metric.add_batch(predictions=[1, -1], references=[1, -1])
    metric.add(prediction=0, reference=2)
    assert metric.compute()["accuracy_on_errors"] == 0.5


def test_a_module_loads_from_a_path_in_the_repository(repository, monkeypatch, tmp_path):
    monkeypatch.chdir(repository)
    metric = evaluate.load("prm/metrics/step_auroc", cache_dir=str(tmp_path), keep_in_memory=True)
    assert math.isnan(metric.compute(predictions=[0.5], references=[1])["auroc"])


def test_a_misspelt_option_is_refused(load):
    with pytest.raises(TypeError, match="nbins"):
        load("step_calibration").compute(predictions=[0.5], references=[1], nbins=5)


@pytest.mark.parametrize("name", NAMES)
def test_every_module_says_what_it_takes(load, name):
    metric = load(name)
    assert metric.name == name
    assert "Args:" in metric.inputs_description


def test_an_unknown_metric_is_answered_with_the_known_ones():
    with pytest.raises(InputError, match="first_error_f1, step_auroc, step_calibration"):
        path_of("accuracy")
