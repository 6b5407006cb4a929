"""One root error and its branches.

Every message says what went wrong, where (file, line, record id), why, and what to do. A new branch
is added when a caller must be able to tell it apart; each also inherits the standard exception that
it replaces, so code that knows nothing of this toolkit can still catch it.
"""

from pathlib import Path


class ToolkitError(Exception):
    """Root of everything this toolkit raises on purpose. Exit code 1: our fault."""

    exit_code = 1


class InputError(ToolkitError, ValueError):
    """The user's input cannot be used; nothing was written. Exit code 2.

    Args:
        reason: What is wrong and why, in one sentence.
        remedy: What to do about it.
        file: File the input came from.
        line: Physical line in that file, counted from 1, blank lines included.
        record_id: Id of the offending record.
    """

    exit_code = 2

    def __init__(
        self,
        reason: str,
        *,
        remedy: str = "",
        file: str | Path | None = None,
        line: int | None = None,
        record_id: str | None = None,
    ) -> None:
        self.reason = reason
        self.remedy = remedy
        self.file = None if file is None else str(file)
        self.line = line
        self.record_id = record_id
        super().__init__(self._message())

    def _message(self) -> str:
        place = self.file or ""
        if self.line is not None:
            place = f"{place}:{self.line}" if place else f"line {self.line}"
        if self.record_id is not None:
            place = f"{place} (record {self.record_id})" if place else f"record {self.record_id}"
        head = f"{place}: {self.reason}" if place else self.reason
        return f"{head} {self.remedy}".rstrip()


class RecordError(InputError):
    """A line of a data file is malformed. Mend the line, or skip and count it with --on-error skip."""


class ConfigError(InputError):
    """A setting is unknown, out of range, or contradicts another. Change the recipe or the flag."""


class ModelError(InputError):
    """A model folder, tokenizer or head cannot be used. Name a folder in the transformers layout."""


class StoreError(InputError):
    """An output cannot be written, or holds what is not of this run. Use another output or remove it."""


class PluginError(InputError):
    """Code that the user named (a verifier, a simulator) raised. Mend that code; its error is the cause."""


class NotGradedError(ToolkitError):
    """A grader could not tell whether an answer is right: it crashed, ran out of time, or cannot read it.

    Not the same as None, which says that there is no answer: what was not graded has no outcome, and must
    never count as wrong.
    """


class MissingExtraError(InputError, ImportError):
    """An optional dependency is not installed; the message carries the command that installs it."""


class Terminated(SystemExit):
    """The process was told to end (SIGTERM): it unwinds as for Ctrl-C and exits with 128 + the signal.

    A class of its own, so that the border of a user's code can tell it from that code's own `sys.exit`,
    which is a `PluginError`; this one passes every border, as `KeyboardInterrupt` does.
    """
