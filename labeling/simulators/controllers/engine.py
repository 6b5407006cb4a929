"""Where a candidate's code runs: the narrow part of a sandbox that this simulator needs.

Code of a candidate is untrusted. Nothing in this package runs it in this process: it goes as text to an
engine's session, and plain data comes back.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol

from labeling.verifiers import sandbox

LIMITS = sandbox.Limits(seconds=1.0, memory_bytes=256 * 2**20, processes=1, output_bytes=4 * 2**20)
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


class EngineFailedError(Exception):
    """The engine failed, not the candidate: nothing is known of the candidate."""


class SandboxedEngine:
    """The toolkit's sandbox as an engine.

    All of Python runs in it: an interpreter of a part of Python would call a program wrong for what itself
    cannot do.

    Raises:
        SandboxUnavailableError: No isolation is to be had on this machine; the message says what to install.
    """

    def __init__(self) -> None:
        self._engine = sandbox.open_engine("cpython")

    @contextmanager
    def session(self) -> Iterator[Session]:
        """Open a session.

        Raises:
            EngineFailedError: The sandbox could not be started.
        """
        try:
            session = self._engine.session(LIMITS)
        except sandbox.SandboxError as error:
            raise EngineFailedError(str(error)) from error
        with session:
            yield session
