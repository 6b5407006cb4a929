"""Progress that a person can watch: a bar on a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

T = TypeVar("T")

SECONDS_BETWEEN_LOG_LINES = 10.0


def track(items: Iterable[T], *, total: int, description: str) -> Iterator[T]:
    """Yield the items while showing how far it is, on standard error.

    Args:
        items: What to go through.
        total: How many there will be.
        description: What is being done, in a few words.
    """
    with Meter(description, total=total) as meter:
        for count, item in enumerate(items, 1):
            yield item
            meter.show(count)


def say(text: str) -> None:
    """Write one line for a person to standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Meter:
    """Progress of work that reports its own count: a bar on a terminal, a line now and then in a log."""

    def __init__(self, description: str, *, total: int) -> None:
        self.description = description
        self.total = total
        self._started = self._last_line = time.monotonic()
        self._progress: Progress | None = None
        if sys.stderr.isatty():
            self._progress = Progress(*_columns(), console=Console(stderr=True))
            self._progress.start()
            self._task = self._progress.add_task(description, total=total)

    def show(self, count: int, note: str = "") -> None:
        """Say that `count` of the total are done, with a few words more."""
        if self._progress is not None:
            self._progress.update(self._task, completed=count, description=f"{self.description} {note}")
            return
        now = time.monotonic()
        if count >= self.total or now - self._last_line >= SECONDS_BETWEEN_LOG_LINES:
            say(f"{self.description}: {count}/{self.total} after {now - self._started:.1f} s {note}".rstrip())
            self._last_line = now

    def close(self) -> None:
        """Leave the terminal as it was."""
        if self._progress is not None:
            self._progress.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _columns() -> tuple[ProgressColumn, ...]:
    return (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
