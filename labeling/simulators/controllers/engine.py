"""Where a candidate's code runs: the narrow part of a sandbox that this simulator needs.

Code of a candidate is untrusted. Nothing in this package runs it in this process: it goes as text to an
engine's session, and plain data comes back.
"""

import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from labeling.errors import ConfigError

ENGINE_MODULE = "labeling.verifiers.sandbox"
ENGINE = "cpython"
"""All of Python: an interpreter of a part of it would call a program wrong for what itself cannot do."""
LIMITS = {"seconds": 1.0, "memory_bytes": 256 * 2**20, "processes": 1, "output_bytes": 4 * 2**20}
"""What one candidate may use; the reference solutions take a hundredth of the time."""
VALUE = "value"
CANDIDATE_FAULTS = frozenset({"raised", "not_plain", "time", "memory", "output", "ended"})
"""Reply statuses that are the candidate's doing; any other says that the engine could not run it."""


class Reply(Protocol):
    """What a session answers."""

    @property
    def status(self) -> str:
        """VALUE, one of CANDIDATE_FAULTS, or why the engine could not run it."""
        ...

    @property
    def value(self) -> Any:
        """The value, as plain data, when the status is VALUE."""
        ...

    @property
    def detail(self) -> str:
        """The error's text, when there is one."""
        ...


class Session(Protocol):
    """One candidate in a process of its own; single use."""

    def execute(self, code: str) -> Reply:
        """Run the text of a module; its names stay."""
        ...

    def evaluate(self, expression: str) -> Reply:
        """Evaluate an expression among those names and return its value as plain data."""
        ...


class Engine(Protocol):
    """Gives sessions."""

    def session(self) -> AbstractContextManager[Session]:
        """Open a session for one candidate."""
        ...


def load_engine() -> Engine:
    """Return the toolkit's sandbox.

    Raises:
        ConfigError: This installation has none; candidate code is never run without it.
    """
    try:
        module = importlib.import_module(ENGINE_MODULE)
    except ModuleNotFoundError as error:
        if error.name != ENGINE_MODULE:
            raise
        raise ConfigError(
            f"the controllers simulator runs candidate code in {ENGINE_MODULE}, which is not installed.",
            remedy="Install a version of the toolkit that has the sandbox, or pass an engine of your own.",
        ) from error
    return SandboxedEngine(module, ENGINE)


class EngineFailedError(Exception):
    """The engine failed, not the candidate: nothing is known of the candidate."""


class SandboxedEngine:
    """The toolkit's sandbox as an engine.

    Args:
        module: `labeling.verifiers.sandbox`.
        name: One of its engines.

    Raises:
        InputError: No isolation is to be had on this machine; the message says what to install.
    """

    def __init__(self, module: Any, name: str) -> None:
        self._module = module
        self._engine = module.open_engine(name)
        self._limits = module.Limits(**LIMITS)

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session.

        Raises:
            EngineFailedError: The sandbox could not be started.
        """
        try:
            session = self._engine.session(self._limits)
        except self._module.SandboxError as error:
            raise EngineFailedError(str(error)) from error
        with session:
            yield session
