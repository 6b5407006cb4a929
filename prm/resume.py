"""Where an interrupted training run goes on, and how it is told that it is the same run."""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from labeling.errors import InputError
from labeling.report import REPORT_FILE, Report
from labeling.store import hash_file

STATE_FILE = "trainer_state.json"
_MODEL_FILES = ("*.safetensors", "*.bin", "*.json", "*.model", "*.txt")
"""Weights, and what says how they are used: configuration, tokenizer, calibrator."""


def last_whole_checkpoint(folder: Path) -> Path | None:
    """Return the latest whole checkpoint of a transformers Trainer in `folder`, None when there is none.

    The Trainer writes its state last, so a checkpoint whose state is missing or torn was interrupted.
    """
    whole = [path.parent for path in folder.glob(f"checkpoint-*/{STATE_FILE}") if _is_whole(path)]
    return max(whole, key=step_of, default=None)


def step_of(checkpoint: Path | None) -> int:
    """Return the optimiser step that a checkpoint was written at; 0 for None."""
    return 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])


def hash_model(folder: Path) -> str | None:
    """Return one SHA-256 over the names and contents of a model folder's files, None when there are none.

    The report beside the weights is left out: it says when the model was made, not what it is.
    """
    files = sorted({file for pattern in _MODEL_FILES for file in folder.glob(pattern)})
    hashes = [f"{file.name} {hash_file(file)}" for file in files if file.name != REPORT_FILE]
    return hashlib.sha256("\n".join(hashes).encode()).hexdigest() if hashes else None


def read_report(folder: Path) -> dict[str, Any]:
    """Return the report in a folder as data; empty when there is none that can be read."""
    try:
        body = json.loads((folder / REPORT_FILE).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def finished_before(body: dict[str, Any], note: str = "") -> Report:
    """Return a report that was read again, with a note that nothing was done."""
    fields = ("stage", "counts", "numbers", "outputs", "notes", "settings", "seconds")
    report = Report(**{name: body[name] for name in fields})
    report.notes.append(f"This run had finished before; nothing was done again. {note}".rstrip())
    return report


@contextmanager
def nothing_half_written(folder: Path, checkpoints: Path) -> Iterator[None]:
    """When the input turns out to be unusable before the first whole checkpoint, remove what the run made.

    Args:
        folder: The run's folder; one that held something before is left alone.
        checkpoints: Where the run keeps its checkpoints, in `folder`.
    """
    was_empty = not any(folder.iterdir())
    try:
        yield
    except InputError:
        if was_empty and last_whole_checkpoint(checkpoints) is None:
            shutil.rmtree(folder)
        raise


def _is_whole(state: Path) -> bool:
    try:
        json.loads(state.read_text(encoding="utf-8"))
    except json.JSONDecodeError:
        return False
    return True
