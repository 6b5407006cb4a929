"""One process that speaks JSON lines: a request goes in at standard input, a reply comes from its output."""

import contextlib
import json
import os
import select
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHUNK = 65_536
LONGEST_REPLY = 64 * 2**20
"""Bytes of one reply; a process that writes more without an end of line is stopped."""
KEPT_ERRORS = 2_000
"""Bytes of standard error that are kept for messages."""


class NoReplyError(Exception):
    """No reply came: the process ended, was too slow, or wrote something else. It is dead now."""

    def __init__(self, what: str, said: str = "") -> None:
        self.what = what
        """What happened, as the end of "the process ..."."""
        self.said = said
        """The end of what it wrote to standard error."""
        super().__init__(what)


class EndedError(NoReplyError):
    """The process ended, or could not be written to."""


class TooSlowError(NoReplyError):
    """The time was up."""


class NoJsonError(NoReplyError):
    """A line on its standard output is no reply."""


class LineProcess:
    """A process and the pipes that lead there.

    Args:
        command: Program and arguments.
        folder: Where it runs; None: here.

    Raises:
        OSError: The program cannot be started.
    """

    def __init__(self, command: Sequence[str], *, folder: Path | None = None) -> None:
        self._process = subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            start_new_session=True,  # Ctrl-C is for the parent; and all of its children end with it
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._requests, self._replies, self._errors = (pipe.fileno() for pipe in pipes if pipe is not None)
        for end in (self._requests, self._replies, self._errors):
            os.set_blocking(end, False)
        self._unread = bytearray()
        self._said = bytearray()

    def ask(self, request: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        """Send a request and return the reply; both are JSON objects on a line of their own.

        Raises:
            NoReplyError: There is none within the time; the process has been killed.
        """
        line = json.dumps(request).encode() + b"\n"
        try:
            reply = self._exchange(memoryview(line), time.monotonic() + seconds, seconds)
        except BaseException:
            # A reply may still be under way: it must never be read for the next request.
            self.kill()
            raise
        try:
            found = json.loads(reply)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict) or found.get("id") != request["id"]:
            self.kill()
            raise NoJsonError(f"wrote {_shortened(reply)} where the reply to its request belongs", self.said)
        return found

    @property
    def said(self) -> str:
        """The end of what it wrote to standard error."""
        return bytes(self._said[-KEPT_ERRORS:]).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End it and what it has started; does nothing the second time."""
        # The group is there as long as one of them is, also when the first has ended by itself.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):  # a request that was never read
                    pipe.close()

    def _exchange(self, unsent: memoryview, deadline: float, seconds: float) -> bytes:
        poller = select.poll()
        poller.register(self._replies, select.POLLIN)
        poller.register(self._errors, select.POLLIN)
        poller.register(self._requests, select.POLLOUT)
        searched = 0
        while (at := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if searched > LONGEST_REPLY:
                raise NoJsonError(f"wrote over {LONGEST_REPLY:,} bytes without an end of line", self.said)
            if (left := deadline - time.monotonic()) <= 0:
                raise TooSlowError(f"took over {seconds:g} s", self.said)
            for end, _ in poller.poll(1000 * left + 1):
                if end == self._requests:
                    unsent = self._send(unsent)
                    if not unsent:
                        poller.unregister(end)
                elif not self._read(end):
                    poller.unregister(end)
                    if end == self._replies:
                        raise EndedError(self._how_it_ended(), self.said)
        line = bytes(self._unread[:at])
        del self._unread[: at + 1]
        return line

    def _send(self, unsent: memoryview) -> memoryview:
        try:
            return unsent[os.write(self._requests, unsent[:CHUNK]) :]
        except BlockingIOError:
            return unsent
        except OSError:
            return unsent[:0]  # it closed its input: the end of its output will tell, or the time

    def _read(self, end: int) -> bool:
        """Read what is there; False at the end."""
        try:
            data = os.read(end, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if end == self._replies:
            self._unread += data
        else:
            self._said += data
            del self._said[:-KEPT_ERRORS]
        return bool(data)

    def _how_it_ended(self) -> str:
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            return "closed its output"
        while self._has_more_errors():
            pass
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"was killed by signal {-code}"

    def _has_more_errors(self) -> bool:
        before = len(self._said), bytes(self._said[-64:])
        return self._read(self._errors) and before != (len(self._said), bytes(self._said[-64:]))


def _shortened(line: bytes, most: int = 200) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= most else text[:most] + "…")
