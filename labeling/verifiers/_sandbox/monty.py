"""Monty, an interpreter of a part of Python without access to the machine: a run takes about a millisecond.

Nothing but text comes over from it: a value that it converted could be a set whose hashes collide, and would
keep this process busy for good.

Source: pydantic-monty, https://github.com/pydantic/monty
"""

import importlib
import os
import re
import secrets
import threading
import time
from pathlib import Path
from typing import Any, Self

from labeling.errors import MissingExtraError
from labeling.verifiers._sandbox.plain import NotPlainError, parse
from labeling.verifiers._sandbox.protocol import Limits, Reply, SandboxError, Status

_PREFIX = "toolkit_"
_ENCODER = re.sub(
    r"\b(encode|MAX_DEPTH)\b",
    rf"{_PREFIX}\1",
    Path(__file__).with_name("encode.py").read_text(encoding="utf-8"),
)
_PRELUDE = f"{_ENCODER}\nimport json as {_PREFIX}json\n"
_OWN_FAULTS = frozenset(
    {
        "AssertionError",
        "IndexError",
        "KeyError",
        "OverflowError",
        "RecursionError",
        "StopIteration",
        "UnboundLocalError",
        "ValueError",
        "ZeroDivisionError",
    }
)
"""Errors that do not come of what this interpreter lacks."""
_RECYCLED_AFTER = 1_000
"""Candidates that one worker process serves."""


class MontyEngine:
    """Monty in worker processes.

    Args:
        processes: Worker processes, >= 1; further sessions wait for one.

    Raises:
        MissingExtraError: pydantic-monty is not installed.
    """

    name = "monty"

    def __init__(self, *, processes: int = 2) -> None:
        try:
            self._library: Any = importlib.import_module("pydantic_monty")
        except ImportError as error:
            raise MissingExtraError(
                "the package pydantic-monty is not installed.", remedy="pip install 'prm-toolkit[code]'"
            ) from error
        self._processes = processes
        self._pool: Any = None
        self._lock = threading.Lock()
        self._owner = os.getpid()

    def session(self, limits: Limits) -> "MontySession":
        """See `Engine.session`."""
        if os.getpid() != self._owner:
            # After a fork the worker processes are the parent's; ending them is its business, too.
            self._owner, self._pool, self._lock = os.getpid(), None, threading.Lock()
        with self._lock:
            if self._pool is None:
                self._pool = self._library.Monty(
                    min_processes=1,
                    max_processes=self._processes,
                    max_checkouts_per_worker=_RECYCLED_AFTER,
                )
                self._pool.__enter__()
        return MontySession(self._library, self._pool, limits)

    def close(self) -> None:
        """See `Engine.close`."""
        with self._lock:
            if self._pool is not None and os.getpid() == self._owner:
                self._pool.__exit__(None, None, None)
                self._pool = None


class MontySession:
    """One candidate in one interpreter; see `Session`."""

    def __init__(self, library: Any, pool: Any, limits: Limits) -> None:
        self._library = library
        self._limits = limits
        self._mark = secrets.token_hex(8)
        self._end: Reply | None = None
        self._left = limits.seconds
        self._context = pool.checkout(
            limits={
                "max_feed_duration_secs": limits.seconds,
                "max_total_sleep_secs": limits.seconds,
                "max_memory": limits.memory_bytes,
            },
            # The same run twice must give the same values.
            os_policy={"random_start": {"seed": 0}},
        )
        self._session = self._context.__enter__()
        ready = self._feed(_PRELUDE)
        if ready.status is not Status.VALUE:
            self.close()
            raise SandboxError(f"Monty does not start: {ready.detail}")

    def execute(self, code: str) -> Reply:
        """See `Session.execute`."""
        return self._feed(code)

    def evaluate(self, expression: str) -> Reply:
        """See `Session.evaluate`."""
        sent = f"{_PREFIX}json.dumps({_PREFIX}encode((\n{expression}\n)))"
        reply = self._feed(f"print({self._mark!r} + {sent})")
        if reply.status is not Status.VALUE:
            return reply
        before, found, answer = reply.stdout.rpartition(self._mark)
        try:
            return Reply(status=Status.VALUE, data=parse(answer if found else ""), stdout=before)
        except NotPlainError:
            return Reply(status=Status.NOT_PLAIN, detail="its answer is not of the protocol", stdout=before)

    def program(self, code: str, stdin: str) -> Reply:
        """See `Session.program`."""
        return Reply(status=Status.UNSUPPORTED, detail="Monty has no standard input")

    @property
    def end(self) -> Reply | None:
        """See `Session.end`."""
        return self._end

    def close(self) -> None:
        """See `Session.close`."""
        if self._session is not None:
            self._session = None
            self._context.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _feed(self, code: str) -> Reply:
        if self._end is not None:
            return self._end
        if self._session is None:
            return Reply(status=Status.ENDED, detail="the session is closed")
        if self._left <= 0:
            self._end = Reply(status=Status.TIME, detail=f"it took over {self._limits.seconds:g} s")
            return self._end
        started = time.monotonic()
        output = self._library.CollectStreams(self._limits.output_bytes)
        try:
            # The last line makes the value None: no object of the candidate comes over.
            self._session.feed_run(f"{code}\nNone", print_callback=output)
            reply = Reply(status=Status.VALUE)
        except self._library.MontyCrashedError as error:
            status = Status.TIME if error.timed_out else Status.ENDED
            reply = self._end = Reply(status=status, detail=_text(error))
        except self._library.MontyError as error:
            reply = self._failure(error)
        except UnicodeEncodeError as error:
            reply = Reply(status=Status.UNSUPPORTED, detail=str(error))
        self._left -= time.monotonic() - started
        out, err = ("".join(text for name, text in output.output if name == n) for n in ("stdout", "stderr"))
        return Reply(
            status=reply.status, kind=reply.kind, detail=reply.detail, stdout=_plain(out), stderr=_plain(err)
        )

    def _failure(self, error: Any) -> Reply:
        kind, text = type(error.exception()).__name__, _text(error)
        if kind == "TimeoutError" and "time limit exceeded" in text:
            # What it leaves behind is in no certain state.
            self._end = Reply(status=Status.TIME, detail=f"it took over {self._limits.seconds:g} s")
            return self._end
        if kind == "MemoryError" and "memory limit exceeded" in text:
            # Output is counted apart from the heap.
            is_output = f"> {self._limits.output_bytes} bytes" in text
            self._end = Reply(status=Status.OUTPUT if is_output else Status.MEMORY, detail=text)
            return self._end
        is_own = kind in _OWN_FAULTS and isinstance(error, self._library.MontyRuntimeError)
        return Reply(status=Status.RAISED if is_own else Status.UNSUPPORTED, kind=kind, detail=text)


def _text(error: Any) -> str:
    return _plain(str(error))[:500]


def _plain(text: str) -> str:
    return text.encode("utf-8", "replace").decode()
