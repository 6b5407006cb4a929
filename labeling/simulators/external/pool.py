"""A few processes of one simulator: started when needed, replaced when they end, asked from any thread."""

import contextlib
import logging
import os
import queue
import secrets
import subprocess
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling.errors import PluginError, ToolkitError
from labeling.simulators.external.messages import (
    HELLO,
    MOST_CHARACTERS,
    PROTOCOL,
    Introduction,
    UnreadableError,
    read_introduction,
)
from labeling.simulators.external.process import (
    LineProcess,
    NoJsonError,
    NoReplyError,
    TooSlowError,
)

START_SECONDS = 60.0
"""For the first reply of a process, which may have much to import."""
MOST_FAILURES_AT_FIRST = 8
"""So many requests a process without a reply, and none with one, are not their input's fault."""
_REAPER = Path(__file__).with_name("reaper.py")
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Reply:
    """What a request came to."""

    result: Any = None
    failure: str = ""
    """Why there is no result; "" when there is one."""
    attempts: int = 1


class Pool:
    """Processes that answer requests.

    Args:
        start: Starts one.
        what: The simulator, for messages.
        processes: How many at most, at least 1.
        retries: How often a request is sent again to a fresh process when its process ended.
    """

    def __init__(self, start: Callable[[], LineProcess], *, what: str, processes: int, retries: int) -> None:
        self._start = start
        self._what = what
        self._retries = retries
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._n_failures = 0
        self._has_replied = False
        self._introduction: Introduction | None = None
        self.counts: Counter[str] = Counter(requests=0, processes=0, crashes=0, retries=0, timeouts=0)
        """What has happened so far."""
        self._running: list[LineProcess] = []
        self._free: queue.LifoQueue[LineProcess | None] = queue.LifoQueue()
        for _ in range(processes):
            self._free.put(None)
        self._n_hopeless = MOST_FAILURES_AT_FIRST * processes
        self._reaper = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_REAPER)], stdin=subprocess.PIPE, start_new_session=True
        )
        self._finalizer = weakref.finalize(
            self, _kill_all, self._running, self._lock, self._reaper, self._owner
        )

    @property
    def introduction(self) -> Introduction:
        """What the simulator says of itself; a process is started for it when none has been yet.

        Raises:
            PluginError: It does not start, or says something else.
        """
        if self._introduction is None:
            self._free.put(self._taken())
        assert self._introduction is not None
        return self._introduction

    def ask(
        self, method: str, params: Mapping[str, Any], *, seconds: float, record_id: str | None = None
    ) -> Reply:
        """Send a request; a process that ends is replaced, and the request is sent again, `retries` times.

        Args:
            method: What is asked.
            params: JSON data.
            seconds: Wall time of one attempt.
            record_id: For messages.

        Raises:
            PluginError: The simulator says that it failed, writes what is no reply, does not start, or has
                left many requests without a reply and never gave one.
            ToolkitError: The pool is closed, or was inherited over a fork.
        """
        self._count("requests")
        failure, last_errors, attempts = "", "", 0
        while attempts <= self._retries:
            attempts += 1
            if attempts > 1:
                self._count("retries")
            process = self._taken()
            kept: LineProcess | None = None
            try:
                reply = process.ask(_request(method, params), seconds=seconds)
                kept = process
            except NoReplyError as error:
                if not self._finalizer.alive:
                    raise self._closed() from error
                if isinstance(error, NoJsonError):
                    raise self._error(error.what, record_id, error.last_errors) from error
                failure, last_errors = f"the simulator's process {error.what}", error.last_errors
                if isinstance(error, TooSlowError):
                    self._count("timeouts")
                    break
                self._count("crashes")
                _logger.warning("%s: %s%s", self._what, failure, _quoted(last_errors))
                continue
            finally:
                self._give_back(process, kept)
            self._has_replied = True
            if reply.get("error") is not None:
                raise self._error(f"failed: {_message(reply['error'])}", record_id, process.last_errors)
            if "result" not in reply:
                raise self._error("sent a reply without a result", record_id, process.last_errors)
            return Reply(reply["result"], attempts=attempts)
        self._failed(failure, record_id, last_errors)
        return Reply(
            failure=failure if attempts == 1 else f"{failure} at attempt {attempts}", attempts=attempts
        )

    def close(self) -> None:
        """End the processes; asking again is an error, also for who waits.

        Raises:
            ToolkitError: The pool was inherited over a fork.
        """
        self._check_owner()
        self._finalizer()

    def check_open(self) -> None:
        """Raise ToolkitError when the pool is closed, or was inherited over a fork."""
        self._check_owner()
        if not self._finalizer.alive:
            raise self._closed()

    def _check_owner(self) -> None:
        if os.getpid() != self._owner:
            raise ToolkitError("a simulator's processes cannot be shared over a fork. Make one a process.")

    def unreadable(self, error: UnreadableError, method: str, record_id: str | None) -> PluginError:
        """Return the error for a result of another form."""
        return self._error(f"returned {error} from {method}", record_id, "")

    def _closed(self) -> ToolkitError:
        return ToolkitError(f"{self._what} is closed. Make a new one, or close it later.")

    def _taken(self) -> LineProcess:
        self.check_open()
        process = self._free.get()
        try:
            self.check_open()
            return process or self._started()
        except BaseException:
            self._free.put(None)
            raise

    def _started(self) -> LineProcess:
        try:
            with self._lock:
                # Registered in one go with its start: whoever closes the pool finds it.
                process = self._start()
                self._running.append(process)
                self._tell_reaper(f"+{process.pid}\n")
        except OSError as error:
            raise PluginError(
                f"{self._what} cannot be started: {error}.", remedy="Name a program that can be run."
            ) from error
        self._count("processes")
        try:
            # Closed meanwhile, it would be found by nobody.
            self.check_open()
            introduction = self._introduced(process)
            if self._introduction not in (None, introduction):
                raise self._error("introduces itself differently than before", None, "")
        except BaseException:
            self._end(process)
            raise
        self._introduction = introduction
        return process

    def _introduced(self, process: LineProcess) -> Introduction:
        try:
            reply = process.ask(_request(HELLO, {"protocol": PROTOCOL}) | {"id": 0}, seconds=START_SECONDS)
        except NoReplyError as error:
            self.check_open()
            raise self._error(f"does not start: its process {error.what}", None, error.last_errors) from error
        if "result" not in reply:
            raise self._error(f"does not start: {_message(reply.get('error'))}", None, process.last_errors)
        try:
            return read_introduction(reply["result"])
        except UnreadableError as error:
            raise self.unreadable(error, HELLO, None) from error

    def _give_back(self, process: LineProcess, kept: LineProcess | None) -> None:
        try:
            if kept is None:
                self._end(process)
        finally:
            self._free.put(kept)

    def _end(self, process: LineProcess) -> None:
        process.kill()
        with self._lock:
            if process in self._running:
                self._running.remove(process)
                self._tell_reaper(f"-{process.pid}\n")

    def _tell_reaper(self, line: str) -> None:
        # Without it nothing is lost but the end of what hangs when this program is killed.
        if self._reaper.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self._reaper.stdin.write(line.encode())
                self._reaper.stdin.flush()

    def _failed(self, failure: str, record_id: str | None, last_errors: str) -> None:
        with self._lock:
            self._n_failures += 1
            # Once it has replied, a policy that writes what makes it hang must not end the run.
            is_hopeless = not self._has_replied and self._n_failures >= self._n_hopeless
        if is_hopeless:
            raise PluginError(
                f"{self._what} has left {self._n_hopeless} requests without a reply and never gave one; "
                f"the last time {failure}{_quoted(last_errors)}.",
                remedy="Mend it, or give it more seconds, and run the same command again.",
                record_id=record_id,
            )

    def _count(self, what: str) -> None:
        with self._lock:
            self.counts[what] += 1

    def _error(self, what: str, record_id: str | None, last_errors: str) -> PluginError:
        return PluginError(
            f"{self._what} {what}{_quoted(last_errors)}.",
            remedy="Mend it and run the same command again. What is no reply goes to its standard error.",
            record_id=record_id,
        )


def _quoted(last_errors: str) -> str:
    return f" (standard error ends: {last_errors.splitlines()[-1][-300:]!r})" if last_errors else ""


def _request(method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    # Nobody can write the reply to it beforehand.
    return {"jsonrpc": "2.0", "id": secrets.randbelow(2**53), "method": method, "params": dict(params)}


def _message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message[:MOST_CHARACTERS] if isinstance(message, str) and message else "it gives no message"


def _kill_all(
    running: list[LineProcess], lock: threading.Lock, reaper: "subprocess.Popen[bytes]", owner: int
) -> None:
    if os.getpid() != owner:
        return  # a child that was forked ends: they are its parent's
    with lock:
        found = list(running)
        running.clear()
    for process in found:
        process.kill()
    reaper.kill()
    reaper.wait()
    if reaper.stdin is not None:
        with contextlib.suppress(OSError):
            reaper.stdin.close()
