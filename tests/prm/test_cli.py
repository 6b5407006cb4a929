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

SIGNALLED = """
from labeling.verifiers.verdict import Verdict

class Signals:
    name = "signals"

    def verify(self, problem, solution):
        exec("import os, signal, time; os.kill(os.getpid(), signal.{name}); time.sleep(5)")
        return [Verdict.right() for _ in solution.steps]
"""


def label(folder, *flags, **more):
    """Run `prm label` on one row, with the verifier `own_checks:Signals` of that folder."""
    row = {"id": "r", "problem": "What is it?", "steps": ["six"], "answer": "2"}
    (folder / "rows.jsonl").write_text(json.dumps(row) + "\n")
    command = [sys.executable, "-m", "prm.cli", "label", "--input", "rows.jsonl", "--processes", "1", *flags]
    return subprocess.run(
        command,
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **more,
    )


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_a_signal_while_a_text_is_executed_ends_with_its_exit_code(tmp_path, name, code):
    (tmp_path / "own_checks.py").write_text(SIGNALLED.format(name=name))
    done = label(tmp_path, "--output", "labels.jsonl", "--verifier", "own_checks:Signals")
    assert done.returncode == code, done.stderr
    assert ("interrupted; the same command goes on" in done.stderr) == (name == "SIGINT")
    assert "Traceback" not in done.stderr


def test_a_termination_can_be_told_from_an_exit_of_the_users_code():
    with pytest.raises(Terminated) as caught:
        cli._terminate(15, None)
    assert isinstance(caught.value, SystemExit)
    assert caught.value.code == 143


def test_a_link_that_leads_nowhere_is_refused_as_an_output(tmp_path):
    (tmp_path / "labels.jsonl").symlink_to(tmp_path / "gone" / "labels.jsonl")
    done = label(tmp_path, "--output", "labels.jsonl", "--verifier", "arithmetic")
    assert done.returncode == 2, done.stderr
    assert "labels.jsonl: No such file or directory. Check the path" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_missing_file_of_the_toolkit_is_no_fault_of_the_user(tmp_path):
    missing = FileNotFoundError(errno.ENOENT, "No such file or directory", str(tmp_path / "starter"))
    assert not cli._is_refusal(missing)


def test_a_report_is_shown_where_only_ascii_is_printed(tmp_path):
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = label(tmp_path, "--output", "\u00fcber.jsonl", "--verifier", "arithmetic", env=ascii_only)
    assert done.returncode == 0, done.stderr
    assert "- labels: \\xfcber.jsonl" in done.stdout
