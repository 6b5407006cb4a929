"""Text files written in one piece or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


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
