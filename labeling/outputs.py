"""Whether a stage will be able to write what it makes: asked before the work, not after it."""

import json
import os
import tempfile
from pathlib import Path

from labeling.errors import StoreError
from labeling.report import REPORT_FILE

_REMEDY = "Choose another output, or check the path and its rights."


def check_writable(folder: str | Path, *names: str) -> None:
    """Refuse a folder into which files of these names cannot be written; it need not be there yet.

    Nothing stays behind: in the nearest folder that exists an empty one is made and removed again.

    Raises:
        StoreError: A file stands where a folder must be, or the reverse, or the system forbids writing.
    """
    path = Path(folder)
    try:
        there = next(place for place in (path, *path.absolute().parents) if _is_there(place))
        if not there.is_dir():
            raise StoreError(
                "is not a folder, so nothing can be written into it.", remedy=_REMEDY, file=there
            )
        for target in (path / name for name in names):
            if _is_there(target) and not (target.is_file() and os.access(target, os.W_OK)):
                raise StoreError("is not a file that can be replaced.", remedy=_REMEDY, file=target)
        with tempfile.TemporaryDirectory(dir=there, prefix="."):
            pass
    except OSError as error:
        raise StoreError(f"cannot be written ({error.strerror}).", remedy=_REMEDY, file=path) from error


def check_new(path: str | Path) -> None:
    """Refuse an output that exists already, or that cannot be made where it should be.

    Raises:
        StoreError: See above.
    """
    if os.path.lexists(path):
        raise StoreError(
            "the output exists already.", remedy="Choose another --output, or remove it.", file=path
        )
    check_writable(Path(path).parent)


def check_report(folder: str | Path, stage: str) -> None:
    """Refuse a folder that holds another stage's report: it would be lost, and with it what that stage did.

    Raises:
        StoreError: See above, or `check_writable`.
    """
    check_writable(folder, REPORT_FILE)
    file = Path(folder) / REPORT_FILE
    if not file.is_file():
        return
    try:
        body = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        body = None
    owner = body.get("stage") if isinstance(body, dict) else None
    if owner != stage:
        whose = "something else" if owner is None else f"the stage {owner}"
        raise StoreError(
            f"this is the report of {whose}, and would be overwritten.",
            remedy="Choose another --output.",
            file=file,
        )


def _is_there(path: Path) -> bool:
    """Like `Path.exists`, but a dangling link is there, and what cannot be looked at raises."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True
