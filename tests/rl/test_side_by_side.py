"""Training runs side by side: what is done is not repeated, a failure stops the others and is told."""

import subprocess
import sys
import time

import pytest

from rl import side_by_side
from rl.side_by_side import Arm, ArmError, run_side_by_side


def arm(folder, name, **settings):
    return Arm(
        name=name,
        folder=folder / name,
        settings={"model": "starter", "output": str(folder / name), "simulator": "engineering", **settings},
        n_steps=3,
        recipe=folder / "recipes" / f"{name}.yaml",
        log=folder / "logs" / f"{name}.txt",
    )


def finish(one):
    one.folder.mkdir(parents=True)
    (one.folder / "report.json").write_text("{}")


def test_a_run_whose_report_stands_is_not_run_again(tmp_path):
    done = arm(tmp_path, "done")
    finish(done)
    run_side_by_side([done], workers=2)
    assert not done.log.exists()


def test_a_refused_run_is_told_with_its_name_exit_code_and_last_words(tmp_path):
    first, second = arm(tmp_path, "first", reward="nothing"), arm(tmp_path, "second")
    with pytest.raises(ArmError, match="the run first ended with exit code 2") as raised:
        run_side_by_side([first, second], workers=1)
    assert "there is no reward 'nothing': known are outcome, verifiers:NAMES" in str(raised.value)
    assert not second.log.exists()


def test_a_failure_stops_the_runs_beside_it(tmp_path, monkeypatch):
    programs = {"bad": "raise SystemExit('out of luck')", "slow": "import time; time.sleep(60)"}
    started = {}

    def start(one):
        one.log.parent.mkdir(parents=True, exist_ok=True)
        log = one.log.open("w")
        command = [sys.executable, "-c", programs[one.name]]
        started[one.name] = subprocess.Popen(command, stdout=log, stderr=log)
        return started[one.name], log

    monkeypatch.setattr(side_by_side, "_start", start)
    begun = time.monotonic()
    with pytest.raises(ArmError, match=r"exit code 1\. Its last lines:\n  out of luck"):
        run_side_by_side([arm(tmp_path, "slow"), arm(tmp_path, "bad")], workers=2)
    assert started["slow"].poll() is not None
    assert time.monotonic() - begun < 30


def test_a_run_that_ends_well_without_a_report_is_a_failure(tmp_path, monkeypatch):
    def start(one):
        one.log.parent.mkdir(parents=True, exist_ok=True)
        return subprocess.Popen([sys.executable, "-c", ""]), one.log.open("w")

    monkeypatch.setattr(side_by_side, "_start", start)
    with pytest.raises(ArmError, match="exit code 0"):
        run_side_by_side([arm(tmp_path, "mute")], workers=1)


def test_optimiser_steps_are_counted_from_the_metrics(tmp_path):
    one = arm(tmp_path, "one")
    assert one.n_steps_done == 0
    one.folder.mkdir()
    (one.folder / "metrics.jsonl").write_text("{}\n{}\n{")
    assert one.n_steps_done == 2
