"""Progress that a person can watch: a bar on a terminal, a line now and then in a log."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
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
    if sys.stderr.isatty():
        yield from _bar(items, total, description)
    else:
        yield from _log(items, total, description)


def say(text: str) -> None:
    """Write one line for a person to standard error."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


def _bar(items: Iterable[T], total: int, description: str) -> Iterator[T]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(description, total=total)
        for item in items:
            yield item
            progress.advance(task)


def _log(items: Iterable[T], total: int, description: str) -> Iterator[T]:
    start = last = time.monotonic()
    count = 0
    for item in items:
        yield item
        count += 1
        now = time.monotonic()
        if now - last >= SECONDS_BETWEEN_LOG_LINES:
            say(f"{description}: {count}/{total} after {now - start:.0f} s")
            last = now
    say(f"{description}: {count}/{total} in {time.monotonic() - start:.1f} s")
