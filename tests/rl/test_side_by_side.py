"""Training runs side by side: what is done is not repeated, a failure stops the others and is told."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from labeling.files import only_writer
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
    assert raised.value.exit_code == 2
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
    with pytest.raises(ArmError, match=r"exit code 1\. Its last lines:\n  out of luck") as raised:
        run_side_by_side([arm(tmp_path, "slow"), arm(tmp_path, "bad")], workers=2)
    assert raised.value.exit_code == 1
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


def test_progress_tells_runs_that_wait_go_on_and_are_done(tmp_path):
    one = arm(tmp_path, "one")
    assert one.progress == "waits"
    one.log.parent.mkdir()
    one.log.touch()
    assert one.progress == "0/3"
    finish(one)
    assert one.progress == "done"


DRIVER = """
import sys
from pathlib import Path
from test_side_by_side import trained
from rl.side_by_side import run_side_by_side
run_side_by_side([trained(Path(sys.argv[1]))], workers=1)
"""


def trained(folder):
    """A real run of six steps, a checkpoint each."""
    sizes = {"steps": 6, "save_every": 1, "completions_per_step": 16, "max_completion_tokens": 64}
    return arm(folder, "real", **sizes, simulator_problems=16)


def start_driver(folder):
    """A process that runs one arm."""
    return subprocess.Popen(
        [sys.executable, "-c", DRIVER, str(folder)],
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parent)},
        stderr=subprocess.DEVNULL,
        # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(is_so, seconds=240):
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_runs_end_with_the_process_that_started_them(tmp_path, number):
    driver = start_driver(tmp_path)
    of_driver = psutil.Process(driver.pid)
    wait_for(of_driver.children)
    runs = of_driver.children()
    driver.send_signal(number)
    driver.wait(timeout=side_by_side.GRACE_SECONDS + 30)
    assert psutil.wait_procs(runs, timeout=10)[1] == []


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_run_whose_parent_was_killed_leaves_its_folder_to_the_next(tmp_path):
    one = trained(tmp_path)
    driver = start_driver(tmp_path)
    wait_for(lambda: one.n_steps_done)
    driver.kill()
    driver.wait()
    time.sleep(1)
    with only_writer(one.folder):
        n_steps_done = one.n_steps_done
    assert 1 <= n_steps_done < 6
    run_side_by_side([one], workers=1)
    assert one.n_steps_done == 6


DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)"
SLOW = "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: (time.sleep(1), sys.exit(3)))"


def started(program):
    command = [sys.executable, "-c", f"{program}; print(flush=True); import time; time.sleep(60)"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    process.stdout.readline()
    return process


def test_runs_are_stopped_all_at_once_and_have_time_to_unwind():
    processes = [started(SLOW) for _ in range(4)]
    begun = time.monotonic()
    side_by_side._stop(processes)
    assert time.monotonic() - begun < 3
    assert [process.returncode for process in processes] == [3] * 4
    for process in processes:
        process.stdout.close()


def test_a_run_that_does_not_stop_is_killed_after_the_grace_time(monkeypatch):
    monkeypatch.setattr(side_by_side, "GRACE_SECONDS", 2)
    processes = [started(DEAF) for _ in range(8)]  # one grace time for all: one each would be sixteen seconds
    begun = time.monotonic()
    side_by_side._stop(processes)
    assert 1.9 < time.monotonic() - begun < 10
    assert [process.returncode for process in processes] == [-signal.SIGKILL] * 8
    for process in processes:
        process.stdout.close()
