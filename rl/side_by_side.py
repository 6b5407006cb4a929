"""Several `prm train-policy` runs next to each other, one thread each, with their progress shown."""

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

import yaml
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from labeling.errors import InputError, ToolkitError
from labeling.progress import say

POLL_SECONDS = 0.5
LOG_SECONDS = 20.0
GRACE_SECONDS = 5.0
"""How long runs that are told to stop may take to unwind before they are killed."""


@dataclass(frozen=True, kw_only=True)
class Arm:
    """One run: a recipe of `prm train-policy` and its folder."""

    name: str
    folder: Path
    settings: Mapping[str, Any]
    """The recipe; `output` is the folder."""
    n_steps: int
    """Optimiser steps that it will make, for the progress bar."""
    recipe: Path
    """Where the recipe is written."""
    log: Path
    """Where its output goes."""

    @property
    def is_done(self) -> bool:
        """True once its report stands."""
        return (self.folder / "report.json").is_file()

    @property
    def n_steps_done(self) -> int:
        """Optimiser steps logged so far."""
        log = self.folder / "metrics.jsonl"
        return log.read_bytes().count(b"\n") if log.is_file() else 0

    @property
    def progress(self) -> str:
        """How far it is, in a word."""
        if self.is_done:
            return "done"
        return f"{self.n_steps_done}/{self.n_steps}" if self.log.is_file() else "waits"


class ArmError(ToolkitError):
    """A training run next to others ended badly; its own message is in its log, quoted here.

    Args:
        message: What is told.
        exit_code: How the run ended; its 2 (what the user gave, a full disk included) is ours, too.
    """

    def __init__(self, message: str, *, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = InputError.exit_code if exit_code == InputError.exit_code else ToolkitError.exit_code


def run_side_by_side(arms: Sequence[Arm], *, workers: int) -> None:
    """Run what is not done yet, `workers` at a time; a second call goes on where the first stopped.

    Raises:
        ArmError: A run failed; the others are stopped and can be resumed.
    """
    waiting = [arm for arm in arms if not arm.is_done]
    running: dict[str, tuple[Arm, subprocess.Popen[bytes], TextIO]] = {}
    with _Display(arms) as display:
        try:
            while waiting or running:
                while waiting and len(running) < workers:
                    arm = waiting.pop(0)
                    running[arm.name] = (arm, *_start(arm))
                for arm, process, log in list(running.values()):
                    if process.poll() is not None:
                        del running[arm.name]
                        _close(process, log)
                        _check(arm, process.returncode)
                display.show()
                time.sleep(POLL_SECONDS)
        finally:
            _stop([process for _, process, _ in running.values()])
            for _, process, log in running.values():
                _close(process, log)


def _stop(processes: Sequence[subprocess.Popen[bytes]]) -> None:
    """End all at once: they unwind side by side, and none longer than the grace time."""
    deadline = time.monotonic() + GRACE_SECONDS
    try:
        for process in processes:
            process.terminate()
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=max(0.0, deadline - time.monotonic()))
    finally:
        # Also when a second interrupt cuts the waiting short.
        for process in processes:
            process.kill()
            process.wait()


def _close(process: subprocess.Popen[bytes], log: TextIO) -> None:
    log.close()
    if process.stdin is not None:
        process.stdin.close()


def _start(arm: Arm) -> tuple[subprocess.Popen[bytes], TextIO]:
    for file in (arm.recipe, arm.log, arm.folder):
        file.parent.mkdir(parents=True, exist_ok=True)
    arm.recipe.write_text(yaml.safe_dump(dict(arm.settings), sort_keys=False), encoding="utf-8")
    log = arm.log.open("a", encoding="utf-8")
    # Threads that spin while they wait for work starve the run on the other core.
    threads = {"OMP_NUM_THREADS": "1", "KMP_BLOCKTIME": "0", "OMP_WAIT_POLICY": "PASSIVE"}
    process = subprocess.Popen(
        [sys.executable, "-m", "rl._arm", "train-policy", "--config", str(arm.recipe)],
        stdout=log,
        stderr=subprocess.STDOUT,
        # Never written to: the run ends when this end is closed, so at the latest with this process.
        stdin=subprocess.PIPE,
        env=os.environ | threads,
    )
    return process, log


def _check(arm: Arm, exit_code: int) -> None:
    if exit_code == 0 and arm.is_done:
        return
    tail = arm.log.read_text(encoding="utf-8", errors="replace").strip().splitlines()[-6:]
    message = "\n  ".join(tail)
    raise ArmError(
        f"the run {arm.name} ended with exit code {exit_code}. Its last lines:\n  {message}",
        exit_code=exit_code,
    )


class _Display:
    """Bars on a terminal; a line now and then elsewhere."""

    def __init__(self, arms: Sequence[Arm]) -> None:
        self._arms = arms
        self._progress: Progress | None = None
        self._tasks: dict[str, TaskID] = {}
        self._last = time.monotonic()

    def __enter__(self) -> "_Display":
        if sys.stderr.isatty():
            columns = (
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
            )
            self._progress = Progress(*columns, console=Console(stderr=True))
            self._progress.start()
            for arm in self._arms:
                self._tasks[arm.name] = self._progress.add_task(arm.name, total=arm.n_steps)
        return self

    def __exit__(self, *exc: object) -> None:
        if self._progress is not None:
            self.show()
            self._progress.stop()

    def show(self) -> None:
        if self._progress is not None:
            for arm in self._arms:
                self._progress.update(self._tasks[arm.name], completed=arm.n_steps_done)
        elif time.monotonic() - self._last >= LOG_SECONDS:
            say("train-policy: " + ", ".join(f"{arm.name} {arm.progress}" for arm in self._arms))
            self._last = time.monotonic()
