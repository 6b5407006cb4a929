"""How a process of `prm` ends: its exit code and its last words."""

import errno
import json
import os
import signal
import subprocess
import sys

import pytest

from labeling.errors import Terminated
from prm import cli
from prm._refusals import refusal

PROGRAM = """
import os, signal, sys, time
from dataclasses import dataclass
from prm.cli import VERBS, Verb, main

@dataclass(kw_only=True)
class Config:
    # The name of the signal.
    name: str = "SIGINT"

def run(config):
    exec(f"os.kill(os.getpid(), signal.{config.name}); time.sleep(5)")

if __name__ == "__main__":
    VERBS["toy"] = Verb("toy", "Config", "a toy")
    sys.exit(main())
"""


def label(folder, *flags, **more):
    """Run `prm label` on one row."""
    row = {"id": "r", "problem": "What is it?", "steps": ["six"], "answer": "2"}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    command = [sys.executable, "-m", "prm.cli", "label", "--input", "rows.jsonl", "--processes", "1", *flags]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        **more,
    )


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_a_text_is_executed_ends_with_its_exit_code(tmp_path, name, code):
    (tmp_path / "toy.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-m", "toy", "toy", "--name", name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    assert done.returncode == code, done.stderr
    assert ("interrupted; the same command goes on" in done.stderr) == (name == "SIGINT")
    assert "Traceback" not in done.stderr


def test_a_process_that_ends_does_not_go_through_its_objects_once_more():
    # Registered before `main` registers its own, so called after it.
    code = (
        "import atexit, gc, sys; atexit.register(lambda: print(gc.get_freeze_count()));"
        "sys.argv = ['prm', '--version']; from prm.cli import main; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout.split()[-1]) > 1000


def test_a_termination_can_be_told_from_an_exit_of_the_users_code():
    with pytest.raises(Terminated) as caught:
        cli._terminate(15, None)
    assert isinstance(caught.value, SystemExit)
    assert caught.value.code == 143


def test_a_link_that_leads_nowhere_is_the_users_matter(tmp_path):
    link = tmp_path / "labels.jsonl"
    link.symlink_to(tmp_path / "gone" / "labels.jsonl")
    with pytest.raises(FileNotFoundError) as caught:
        link.open("a")
    assert (
        refusal(caught.value)
        == f"{link}: No such file or directory. Check the path, the rights and the space."
    )


def test_a_missing_file_of_the_toolkit_is_no_fault_of_the_user(tmp_path):
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", str(tmp_path / "starter"))
    assert refusal(missing) is None


def test_a_report_is_shown_where_only_ascii_is_printed(tmp_path):
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = label(tmp_path, "--output", "\u00fcber.jsonl", "--verifier", "arithmetic", env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert "- labels: \\xfcber.jsonl" in done.stdout


LIMITED = """
import resource, signal, sys
from prm.cli import main
# Beyond this many bytes a file takes no more, as on a full disk; the system would also end the process.
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv.pop(1)), resource.RLIM_INFINITY))
sys.exit(main(sys.argv[1:]))
"""


def train_prm(folder, base_folder, limit=None):
    """Run `prm train-prm` for four steps in a process whose files hold at most `limit` bytes."""
    rows = [
        {"id": f"r{k}", "prompt": f"{k}?", "completions": ["a.", "b."], "labels": [1, k % 2]}
        for k in range(12)
    ]
    (folder / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-c", LIMITED, str(limit)] if limit else [sys.executable, "-m", "prm.cli"]
    command += ["train-prm", "--model", str(base_folder), "--labels", "labels.jsonl", "--output", "prm"]
    command += ["--max_steps", "4", "--batch_size", "4", "--micro_batch_size", "4"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("written_by", ["safetensors", "torch"])
def test_training_on_a_full_disk_is_told_as_that(tmp_path, base_folder, written_by):
    n_bytes = (base_folder / "model.safetensors").stat().st_size
    # The optimiser's two moments make its file, which torch writes, twice as large as the weights.
    done = train_prm(tmp_path, base_folder, n_bytes // 2 if written_by == "safetensors" else n_bytes * 3 // 2)
    assert done.returncode == 2, done.stderr
    assert "The disk is full, or a quota or limit is reached. Make room" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "prm").exists()


def test_the_error_behind_a_torch_writers_is_found_and_a_torch_reader_is_no_full_disk():
    try:
        try:
            raise OSError(errno.EDQUOT, "Disk quota exceeded", "a.pt")
        except OSError:
            raise RuntimeError("[enforce fail at inline_container.cc:672]")  # noqa: B904  # as torch does
    except RuntimeError as error:
        told = refusal(error)
    assert told is not None
    assert told.startswith("a.pt: Disk quota exceeded. The disk is full")
    reader = "[enforce fail at inline_container.cc:1] PytorchStreamReader failed reading zip archive"
    assert refusal(RuntimeError(reader)) is None
    assert refusal(RuntimeError("shapes differ")) is None
