"""A `train-prm` that was stopped late, or whose model changed, is told apart from a finished one."""

import json
import shutil

import pytest
from safetensors.torch import load_file, save_file

import prm.train
from labeling.errors import StoreError
from prm.resume import hash_model


@pytest.fixture
def config(base_folder, tmp_path):
    shutil.copytree(base_folder, tmp_path / "base")
    rows = [
        {"id": f"r{k}", "prompt": f"{k}?", "completions": ["a.", "b."], "labels": [1, k % 2]}
        for k in range(12)
    ]
    labels = tmp_path / "labels.jsonl"
    labels.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return prm.train.TrainPRMConfig(
        model=str(tmp_path / "base"),
        labels=[str(labels)],
        output=str(tmp_path / "prm"),
        max_steps=2,
        batch_size=4,
        micro_batch_size=4,
    )


def change_weights(folder):
    file = folder / "model.safetensors"
    save_file({name: weight + 0.01 for name, weight in load_file(file).items()}, file, {"format": "pt"})


def test_an_interrupted_run_does_not_go_on_from_another_model(config, tmp_path, monkeypatch, noted_steps):
    def save(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(prm.train.checkpoint, "save", save)
        with pytest.raises(KeyboardInterrupt):
            prm.train.run(config)
    change_weights(tmp_path / "base")
    steps = noted_steps(monkeypatch)
    report = prm.train.run(config)
    assert steps == [0, 1]
    assert report.settings["model_sha256"] == hash_model(tmp_path / "base")


def test_a_run_stopped_while_it_swept_up_is_finished(config, tmp_path, monkeypatch, noted_steps):
    real_rmtree = shutil.rmtree

    def stop_halfway(path, **more):
        if path == tmp_path / ".prm.partial":
            real_rmtree(next(path.glob("checkpoints/checkpoint-*/model.safetensors")).parent)
            raise KeyboardInterrupt
        real_rmtree(path, **more)

    with monkeypatch.context() as patch:
        patch.setattr(prm.train.shutil, "rmtree", stop_halfway)
        with pytest.raises(KeyboardInterrupt):
            prm.train.run(config)
    partial = tmp_path / ".prm.partial"
    assert partial.is_dir()
    assert not (partial / "settings.json").exists(), "half of the checkpoints must not be gone on from"
    weights = (tmp_path / "prm" / "model.safetensors").read_bytes()
    steps = noted_steps(monkeypatch)
    report = prm.train.run(config)
    assert steps == [], "equal weights alone could have been trained once more"
    assert "finished before" in report.notes[-1]
    assert not partial.exists()
    assert (tmp_path / "prm" / "model.safetensors").read_bytes() == weights
    with pytest.raises(StoreError, match="exists already"):
        prm.train.run(config)


def test_a_work_folder_beside_another_runs_output_is_left_alone(config, tmp_path):
    (tmp_path / "prm").mkdir()
    (tmp_path / ".prm.partial").mkdir()
    with pytest.raises(StoreError, match="exists already"):
        prm.train.run(config)
    assert (tmp_path / ".prm.partial").is_dir()
