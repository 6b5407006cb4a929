"""Where an interrupted training run goes on: the last checkpoint that was written to its end."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from labeling.errors import InputError

STATE_FILE = "trainer_state.json"


def last_whole_checkpoint(folder: Path) -> Path | None:
    """Return the latest whole checkpoint of a transformers Trainer in `folder`, None when there is none.

    The Trainer writes its state last, so a checkpoint whose state is missing or torn was interrupted.
    """
    whole = [path.parent for path in folder.glob(f"checkpoint-*/{STATE_FILE}") if _is_whole(path)]
    return max(whole, key=step_of, default=None)


def step_of(checkpoint: Path | None) -> int:
    """Return the optimiser step that a checkpoint was written at; 0 for None."""
    return 0 if checkpoint is None else int(checkpoint.name.rpartition("-")[2])


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
