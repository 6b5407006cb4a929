"""Text files written in one piece or not at all, and folders with one writer at a time."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from labeling.errors import StoreError


@contextmanager
def written_whole(path: str | Path) -> Iterator[TextIO]:
    """Open a new file that takes the place of `path` when the block ends: readers never see half a file.

    Missing folders are made. When the block raises, `path` stays as it was.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Opened by name, not with mkstemp, whose files only their owner may read.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            yield file
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def only_writer(folder: str | Path) -> Iterator[None]:
    """Hold a folder for this process: two runs in it would write through each other.

    The folder is made when it is not there. The lock ends with the block or the process, and leaves no file.

    Raises:
        StoreError: Another process holds the folder.
    """
    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDONLY)
    try:
        _lock(handle, path)
        yield
    finally:
        os.close(handle)


def _lock(handle: int, path: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StoreError(
            "another run is writing this folder.", remedy="Wait for it, or use another output.", file=path
        ) from error
    except OSError:
        # Some network file systems lock no folders. There, nobody is kept out.
        return
