r"""Code of unknown origin, run where it can do no harm, its results brought back as plain data.

    engine = open_engine("auto")
    with engine.session(Limits(seconds=5)) as session:
        session.execute("def total(xs):\n    return sum(xs)")
        session.evaluate("total([4, 9])").value  # 13

Two engines: `monty` (a part of Python, a millisecond a run) and `cpython` (all of it and its standard
library, in bubblewrap). Where there is neither, code is refused: it never runs bare.
"""

from collections.abc import Callable

from labeling.errors import ConfigError, MissingExtraError
from labeling.verifiers._sandbox.cpython import WALL_PER_CPU, CPythonEngine, CPythonSession
from labeling.verifiers._sandbox.monty import MontyEngine
from labeling.verifiers._sandbox.plain import NotPlainError, encode_trusted, same
from labeling.verifiers._sandbox.protocol import (
    Engine,
    Limits,
    Reply,
    SandboxError,
    SandboxUnavailableError,
    Session,
    Status,
)

__all__ = [
    "ENGINES",
    "WALL_PER_CPU",
    "CPythonEngine",
    "CPythonSession",
    "Engine",
    "Limits",
    "MontyEngine",
    "NotPlainError",
    "Reply",
    "SandboxError",
    "SandboxUnavailableError",
    "Session",
    "Status",
    "encode_trusted",
    "open_engine",
    "open_engines",
    "same",
]

_MAKERS: dict[str, Callable[[], Engine]] = {"monty": MontyEngine, "cpython": CPythonEngine}
ENGINES = ("auto", *_MAKERS)


def open_engine(name: str) -> Engine:
    """Return one engine; `auto` gives CPython where it works, else Monty.

    Raises:
        ConfigError: There is no such engine.
        SandboxUnavailableError: It does not work on this machine.
    """
    return open_engines(name)[-1]


def open_engines(name: str) -> list[Engine]:
    """Return the engines to ask in turn: what one does not do, or does not pass, goes to the next.

    Raises:
        ConfigError: There is no such engine.
        SandboxUnavailableError: None of them works on this machine.
    """
    if name not in ENGINES:
        raise ConfigError(f"there is no sandbox engine {name!r}.", remedy=f"Use one of {', '.join(ENGINES)}.")
    if name != "auto":
        return [_MAKERS[name]()]
    found: list[Engine] = []
    reasons: list[str] = []
    for maker in _MAKERS.values():
        try:
            found.append(maker())
        except (MissingExtraError, SandboxUnavailableError) as error:
            reasons.append(error.reason)
    if not found:
        raise SandboxUnavailableError(
            f"code is not run without isolation, and none is to be had: {' '.join(reasons)}",
            remedy="Install bubblewrap (apt-get install bubblewrap), or pip install 'prm-toolkit[code]'.",
        )
    return found
