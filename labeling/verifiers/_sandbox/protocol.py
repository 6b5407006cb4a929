"""What every engine promises: limits, replies, sessions."""

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol, Self

from labeling.errors import ConfigError, InputError, ToolkitError
from labeling.verifiers._sandbox.plain import decode


class Status(StrEnum):
    """How a request to a sandbox ended."""

    VALUE = "value"
    """It returned; the value is plain data."""
    RAISED = "raised"
    """The candidate's code raised, `sys.exit` included."""
    NOT_PLAIN = "not_plain"
    """It returned something else than plain data."""
    TIME = "time"
    """It took longer than the limit and was killed."""
    MEMORY = "memory"
    """It took more memory than the limit and was killed."""
    OUTPUT = "output"
    """It wrote more than the limit and was killed."""
    ENDED = "ended"
    """Its process ended before it had answered."""
    UNSUPPORTED = "unsupported"
    """This engine does not do what was asked."""


@dataclass(frozen=True, kw_only=True)
class Limits:
    """What one candidate may use, all its tests together."""

    seconds: float = 5.0
    """Processor time of a process, > 0, counted in whole seconds; wall time may be twice as long."""
    memory_bytes: int = 512 * 2**20
    """Address space of each process, and memory of all of them together."""
    processes: int = 16
    """Processes and threads at a time; 1: none but its own."""
    output_bytes: int = 2**20
    """Bytes on standard output and error together, and of one answer."""
    file_bytes: int = 16 * 2**20
    """Size of a file, and of its /tmp."""

    def __post_init__(self) -> None:
        """Refuse what is no limit.

        Raises:
            ConfigError: A number is too small, or not finite.
        """
        if not 0 < self.seconds < math.inf:
            raise ConfigError(f"a time limit of {self.seconds} s.", remedy="Give a finite number above 0.")
        sizes = (self.memory_bytes, self.processes, self.output_bytes, self.file_bytes)
        if min(sizes) < 1:
            raise ConfigError(f"a limit of {min(sizes)}.", remedy="Every limit is at least 1.")


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What came back for one request."""

    status: Status
    data: Any = None
    """The value as JSON data of `encode` (only for VALUE)."""
    kind: str = ""
    """Name of the exception's class (only for RAISED)."""
    bases: tuple[str, ...] = ()
    """Names of the classes that it is made from, the nearest first."""
    detail: str = ""
    """What is told of a failure."""
    line: int = 0
    """Line of the candidate's code in which it raised, counted from 1; 0 when it is not known."""
    stdout: str = ""
    """What was written to standard output during the request."""
    stderr: str = ""
    """What was written to standard error during the request."""

    @property
    def value(self) -> Any:
        """The value as Python data of exact builtin types.

        Raises:
            NotPlainError: It holds too many elements whose hashes could be made to collide.
        """
        return decode(self.data)


class Session(Protocol):
    """One candidate; used once and closed. After TIME, MEMORY, OUTPUT or ENDED every reply is the same."""

    def execute(self, code: str) -> Reply:
        """Define the candidate's module; a VALUE of None when it went through."""
        ...

    def evaluate(self, expression: str) -> Reply:
        """Evaluate an expression in the candidate's module."""
        ...

    def program(self, code: str, stdin: str) -> Reply:
        """Run code as a script with a text on its standard input; its output is the reply's `stdout`."""
        ...

    @property
    def end(self) -> Reply | None:
        """The reply that ended the session; None while it goes on."""
        ...

    def close(self) -> None:
        """End everything that the candidate started."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


class Engine(Protocol):
    """A way to run Python that can do no harm. Safe to use from several threads."""

    @property
    def name(self) -> str:
        """Short name, as in the settings and in evidence."""
        ...

    def session(self, limits: Limits) -> Session:
        """Begin with one candidate.

        Raises:
            SandboxError: The sandbox could not be started.
        """
        ...

    def close(self) -> None:
        """End what is kept warm."""
        ...


class SandboxError(ToolkitError):
    """The sandbox failed, not the candidate: nothing is known of the candidate."""


class SandboxUnavailableError(InputError):
    """No isolation is to be had on this machine. Install what the message names."""
