"""A few processes of one simulator: started when needed, replaced when they end, asked from any thread."""

import logging
import os
import queue
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.errors import PluginError, ToolkitError
from labeling.simulators.external.messages import (
    HELLO,
    PROTOCOL,
    Introduction,
    UnreadableError,
    read_introduction,
)
from labeling.simulators.external.process import (
    EndedError,
    LineProcess,
    NoJsonError,
    NoReplyError,
    TooSlowError,
)

START_SECONDS = 60.0
"""For the first reply of a process, which may have much to import."""
MOST_FAILURES_IN_A_ROW = 8
"""So many requests without a reply, one behind the other, are the simulator's fault and not its input's."""
_logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Answer:
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
        seconds: Wall time of one request.
        retries: How often a request is sent again to a fresh process when its process ended.
    """

    def __init__(
        self, start: Callable[[], LineProcess], *, what: str, processes: int, seconds: float, retries: int
    ) -> None:
        self._start = start
        self._what = what
        self._seconds = seconds
        self._retries = retries
        self._owner = os.getpid()
        self._lock = threading.Lock()
        self._n_failures = 0
        self._introduction: Introduction | None = None
        self.counts: Counter[str] = Counter(requests=0, processes=0, crashes=0, retries=0, timeouts=0)
        """What has happened so far."""
        self._running: list[LineProcess] = []
        self._free: queue.LifoQueue[LineProcess | None] = queue.LifoQueue()
        for _ in range(processes):
            self._free.put(None)
        self._finalizer = weakref.finalize(self, _kill_all, self._running)

    @property
    def introduction(self) -> Introduction:
        """What the simulator says of itself; a process is started for it when none has been yet.

        Raises:
            PluginError: It does not start, or says something else.
        """
        if self._introduction is None:
            process = self._taken()
            self._free.put(process)
        assert self._introduction is not None
        return self._introduction

    def ask(self, method: str, params: Mapping[str, Any], *, record_id: str | None = None) -> Answer:
        """Send a request; a process that ends is replaced, and the request is sent again, `retries` times.

        Raises:
            PluginError: The simulator says that it failed, writes what is no reply, does not start, or has
                left MOST_FAILURES_IN_A_ROW requests without a reply.
            ToolkitError: The pool is closed, or was inherited over a fork.
        """
        number = self._count("requests")
        attempts, failure, said = 0, "", ""
        while attempts <= self._retries:
            attempts += 1
            if attempts > 1:
                self._count("retries")
            process = self._taken()
            kept: LineProcess | None = None
            try:
                request = {"id": number, "method": method, "params": dict(params)}
                reply = process.ask(request, seconds=self._seconds)
                kept = process
            except EndedError as error:
                self._count("crashes")
                failure, said = f"the simulator's process {error.what}", error.said
                _logger.warning("%s: %s%s", self._what, failure, _quoted(said))
                continue
            except TooSlowError as error:
                self._count("timeouts")
                failure, said = f"the simulator {error.what}", error.said
                break
            except NoJsonError as error:
                raise self._error(error.what, record_id, error.said) from error
            finally:
                self._give_back(process, kept)
            self._n_failures = 0
            if "error" in reply:
                raise self._error(f"failed: {_message(reply['error'])}", record_id, process.said)
            if "result" not in reply:
                raise self._error("sent a reply without a result", record_id, process.said)
            return Answer(reply["result"], attempts=attempts)
        self._failed(failure, record_id, said)
        times = f" ({attempts} times)" if attempts > 1 else ""
        return Answer(failure=failure + times, attempts=attempts)

    def close(self) -> None:
        """End the processes; asking again is an error."""
        self._finalizer()

    def unreadable(self, error: UnreadableError, method: str, record_id: str | None) -> PluginError:
        """Return the error for a result of another form."""
        return self._error(f"returned {error} from {method}", record_id, "")

    def _taken(self) -> LineProcess:
        if os.getpid() != self._owner:
            raise ToolkitError("a simulator's processes cannot be shared over a fork. Make one a process.")
        if not self._finalizer.alive:
            raise ToolkitError(f"{self._what} is closed. Make a new one, or close it later.")
        process = self._free.get()
        if process is not None:
            return process
        try:
            return self._started()
        except BaseException:
            self._free.put(None)
            raise

    def _started(self) -> LineProcess:
        try:
            process = self._start()
        except OSError as error:
            raise PluginError(
                f"{self._what} cannot be started: {error}.", remedy="Name a program that can be run."
            ) from error
        self._count("processes")
        try:
            reply = process.ask(
                {"id": 0, "method": HELLO, "params": {"protocol": PROTOCOL}}, seconds=START_SECONDS
            )
            if "result" not in reply:
                raise self._error(f"does not start: {_message(reply.get('error'))}", None, process.said)
            introduction = read_introduction(reply["result"])
        except NoReplyError as error:
            raise self._error(f"does not start: its process {error.what}", None, error.said) from error
        except UnreadableError as error:
            process.kill()
            raise self.unreadable(error, HELLO, None) from error
        except BaseException:
            process.kill()
            raise
        if self._introduction not in (None, introduction):
            process.kill()
            raise self._error("says something else of itself than before; was it changed meanwhile", None, "")
        self._introduction = introduction
        with self._lock:
            self._running.append(process)
        return process

    def _give_back(self, process: LineProcess, kept: LineProcess | None) -> None:
        if kept is None:
            process.kill()
            with self._lock:
                if process in self._running:
                    self._running.remove(process)
        self._free.put(kept)

    def _failed(self, failure: str, record_id: str | None, said: str) -> None:
        with self._lock:
            self._n_failures += 1
            is_hopeless = self._n_failures >= MOST_FAILURES_IN_A_ROW
        if is_hopeless:
            raise PluginError(
                f"{self._what} has left {MOST_FAILURES_IN_A_ROW} requests in a row without a reply; "
                f"the last time {failure}{_quoted(said)}.",
                remedy="Mend it, or give it more seconds, and run the same command again.",
                record_id=record_id,
            )

    def _count(self, what: str) -> int:
        with self._lock:
            self.counts[what] += 1
            return self.counts[what]

    def _error(self, what: str, record_id: str | None, said: str) -> PluginError:
        return PluginError(
            f"{self._what} {what}{_quoted(said)}.",
            remedy="Mend it and run the same command again; what is no reply goes to standard error.",
            record_id=record_id,
        )


def _quoted(said: str) -> str:
    return f" (standard error ends: {said.splitlines()[-1][-300:]!r})" if said else ""


def _message(error: Any) -> str:
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) and message else "it gives no message"


def _kill_all(running: list[LineProcess]) -> None:
    while running:
        running.pop().kill()
