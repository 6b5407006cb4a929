"""What `prm evaluate` reads from the model's folder, and where it may write."""

import json
import re
import shutil
from pathlib import Path

import pytest

from labeling.errors import ModelError, StoreError
from prm import checkpoint
from prm.config import parse_config
from prm.evaluate import EvaluateConfig, run
from prm.model import StepScorer


@pytest.fixture
def model(prm_folder, tmp_path):
    """A copy that the stage may write into."""
    return str(shutil.copytree(prm_folder, tmp_path / "prm"))


@pytest.fixture
def labels(tmp_path):
    rows = [
        {"id": f"s{k}", "prompt": f"{k}?", "completions": ["a", "b", "c"], "labels": [1, k % 2, 1]}
        for k in range(4)
    ]
    path = tmp_path / "labels.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def config(tmp_path, labels, **settings):
    return EvaluateConfig(**({"labels": labels, "output": str(tmp_path / "out")} | settings))


def test_an_output_that_cannot_be_written_is_refused_before_anything_is_read(tmp_path, model):
    def refused(match, output, **settings):
        with pytest.raises(StoreError, match=match):
            run(config(tmp_path, str(tmp_path / "no labels"), output=str(output), model=model, **settings))

    (tmp_path / "file").write_text("x")
    refused("file: is not a folder", tmp_path / "file")
    refused("cannot be written", "/proc/self/task/out")
    (tmp_path / "taken" / "reliability.png").mkdir(parents=True)
    refused(r"reliability\.png: is not a file", tmp_path / "taken")
    (tmp_path / "prm" / "report.json").write_text(json.dumps({"stage": "train-prm"}))
    refused("report of the stage train-prm", model)
    assert json.loads((tmp_path / "prm" / "report.json").read_text()) == {"stage": "train-prm"}


def test_a_model_that_no_calibrator_can_be_saved_into_is_refused_before_scoring(
    tmp_path, model, labels, monkeypatch
):
    def no_room(folder, *names):
        if names == ("prm.json",):
            raise StoreError("no room", file=folder)

    def score(*arguments, **more):
        raise AssertionError("scored before the output was looked at")

    monkeypatch.setattr("prm.evaluate.check_writable", no_room)
    monkeypatch.setattr(StepScorer, "from_pretrained", score)
    with pytest.raises(StoreError, match="no room"):
        run(config(tmp_path, labels, model=model))
    with pytest.raises(AssertionError, match="scored"):
        run(config(tmp_path, labels, model=model, calibrator="none"))


def set_in_info(model, **fields):
    file = Path(model) / "prm.json"
    info = json.loads(file.read_text(encoding="utf-8")) | fields
    file.write_text(json.dumps({name: value for name, value in info.items() if value != "left out"}))


LEFT_OUT = "steps behind a first error, left out"


@pytest.mark.parametrize(
    ("in_training", "asked", "is_cut", "note"),
    [
        (True, None, True, "as in the model's training"),
        (True, False, False, "trained without .* measured with them"),
        (True, True, True, None),
        (False, None, False, None),
        (False, True, True, "trained with .* measured without them"),
        (False, False, False, None),
        (None, None, False, None),
        (None, True, True, None),
        ("left out", None, False, None),  # a checkpoint of before
    ],
)
def test_a_model_trained_up_to_first_errors_is_measured_so_unless_told_otherwise(
    tmp_path, model, labels, in_training, asked, is_cut, note
):
    set_in_info(model, until_first_error=in_training)
    fixed = {"calibrator": "none", "threshold": 0.5, "resamples": 1}
    report = run(config(tmp_path, labels, model=model, until_first_error=asked, **fixed))
    assert report.counts.get(LEFT_OUT) == (2 if is_cut else None)  # by hand: two solutions are wrong at b
    told = [text for text in report.notes if "first wrong step" in text]
    assert len(told) == (note is not None)
    assert all(re.search(note, text) for text in told)


def test_the_command_line_can_say_it_deny_it_or_leave_it_open(tmp_path):
    def parsed(*flags):
        needed = ["--labels", "l", "--output", "o", "--model", "m"]
        return parse_config(EvaluateConfig, [*needed, *flags], prog="x", description="").until_first_error

    assert parsed() is None
    assert parsed("--until_first_error") is True
    assert parsed("--until_first_error", "true") is True
    assert parsed("--until_first_error", "false") is False


def test_damage_to_what_a_model_was_trained_on_is_told(model):
    set_in_info(model, until_first_error="yes")
    with pytest.raises(ModelError, match="until_first_error cannot be read"):
        checkpoint.read_info(model)
