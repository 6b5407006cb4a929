"""What the operating system refused, whoever passed it on: a path, a right, or room on the disk."""

import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_REFUSALS = (
    *_FULL,
    errno.EACCES,
    errno.EPERM,
    errno.EROFS,
    errno.EEXIST,
    errno.EISDIR,
    errno.ENOTDIR,
    errno.ENAMETOOLONG,
    errno.ELOOP,
)
"""What the system answers when a path of the user's cannot be written or read."""

_RUST_ERROR = re.compile(r"\(os error (\d+)\)")
_TORCH_WRITER = "inline_container.cc"
_TORCH_READER = "PytorchStreamReader"


def refusal(error: BaseException) -> str | None:
    """Return what the system refused and what to do, None when the error is of another kind.

    safetensors and torch tell a full disk by errors of their own; torch's do not even hold its number.
    """
    for each in _chain(error):
        found = _as_os_error(each)
        if found is not None and _is_of_user(found):
            return _message(found)
    if isinstance(error, RuntimeError) and _TORCH_WRITER in str(error) and _TORCH_READER not in str(error):
        return _message(OSError(errno.ENOSPC, "a file could not be written to its end"))
    return None


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error; of a torch writer's also what it was raised over, where the system's may be."""
    yield error
    over = error.__context__ if _TORCH_WRITER in str(error) else None
    while over is not None:
        yield over
        over = over.__context__


def _as_os_error(error: BaseException) -> OSError | None:
    if isinstance(error, OSError):
        return error
    # By name: the class lies in a library that most verbs need not load.
    if type(error).__name__ != "SafetensorError" or not (found := _RUST_ERROR.search(str(error))):
        return None
    return OSError(int(found[1]), os.strerror(int(found[1])))


def _is_of_user(error: OSError) -> bool:
    if error.errno == errno.ENOENT and isinstance(error.filename, str):
        # A link that leads nowhere is the user's, since we make none; a missing file of ours is not.
        return Path(error.filename).is_symlink()
    return error.errno in _REFUSALS


def _message(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    if error.errno in _FULL:
        return (
            f"{place}{error.strerror}. The disk is full, or a quota or limit is reached."
            " Make room and run the same command again; checkpoints written before are kept."
        )
    return f"{place}{error.strerror}. Check the path, the rights and the space."
