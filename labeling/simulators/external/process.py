"""One process that speaks JSON lines: a request goes in at standard input, a reply comes from its output."""

import contextlib
import json
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHUNK = 65_536
LONGEST_REPLY = 64 * 2**20
"""Bytes of one reply; a process that writes more without an end of line is stopped."""
LOOK_SECONDS = 1.0
"""Between two looks at whether a process that writes nothing is still there."""
KEPT_CHUNKS = 64
KEPT_ERRORS = 2_000
"""Bytes of standard error that are kept for messages."""


class NoReplyError(Exception):
    """No reply came: the process ended, was too slow, or wrote something else. It is dead now."""

    def __init__(self, what: str, last_errors: str = "") -> None:
        self.what = what
        """What happened, as the end of "the process ..."."""
        self.last_errors = last_errors
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
        self._errors_kept = bytearray()
        self._is_gone = False
        self._signalling = threading.Lock()
        self._asking = threading.RLock()

    def ask(self, request: dict[str, Any], *, seconds: float) -> dict[str, Any]:
        """Send a request and return the reply; both are JSON objects on a line of their own.

        Raises:
            NoReplyError: There is none within the time; the process has been killed.
        """
        line = json.dumps(request).encode() + b"\n"
        with self._asking:
            if self._is_gone:
                raise EndedError("was ended")
            self._refuse_unasked()
            self._errors_kept.clear()
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
        if not isinstance(found, dict) or type(found.get("id")) is not int or found["id"] != request["id"]:
            self.kill()
            raise NoJsonError(
                f"wrote {_shortened(reply)} where the reply to its request belongs", self.last_errors
            )
        return found

    @property
    def pid(self) -> int:
        """Its number, and that of its process group."""
        return self._process.pid

    @property
    def last_errors(self) -> str:
        """The end of what it wrote to standard error since the last request."""
        return bytes(self._errors_kept).decode("utf-8", "replace").strip()

    def kill(self) -> None:
        """End it and what it has started in its process group; does nothing the second time.

        A request that another thread has under way ends with EndedError.
        """
        with self._signalling:
            if self._is_gone:
                return
            # It has not been waited for yet: its number is still its own, also when it has ended by itself.
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        # Not while another thread reads: its descriptors would be somebody else's.
        with self._asking, self._signalling:
            if self._is_gone:
                return
            self._is_gone = True
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
                if pipe is not None:
                    with contextlib.suppress(OSError):  # a request that was never read
                        pipe.close()

    def _refuse_unasked(self) -> None:
        """Raise NoJsonError when something was written since the last reply: it is no reply to what comes."""
        while select.select([self._replies], [], [], 0)[0] and not self._unread:
            if not self._read(self._replies):
                return
        if self._unread:
            line = bytes(self._unread[:CHUNK])
            self.kill()
            raise NoJsonError(f"wrote {_shortened(line)} without being asked", self.last_errors)

    def _exchange(self, unsent: memoryview, deadline: float, seconds: float) -> bytes:
        poller = select.poll()
        poller.register(self._replies, select.POLLIN)
        poller.register(self._errors, select.POLLIN)
        poller.register(self._requests, select.POLLOUT)
        searched = 0
        while (at := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            if searched > LONGEST_REPLY:
                raise NoJsonError(
                    f"wrote over {LONGEST_REPLY:,} bytes without an end of line", self.last_errors
                )
            if (left := deadline - time.monotonic()) <= 0:
                raise TooSlowError(f"took over {seconds:g} s", self.last_errors)
            ready = poller.poll(1000 * min(left, LOOK_SECONDS) + 1)
            if not ready and (code := self._exit_code()) is not None:
                # What it has started may hold its output open.
                raise EndedError(_ending(code), self.last_errors)
            for end, _ in ready:
                if end == self._requests:
                    unsent = self._send(unsent)
                    if not unsent:
                        poller.unregister(end)
                elif not self._read(end):
                    poller.unregister(end)
                    if end == self._replies:
                        raise EndedError(self._how_it_ended(), self.last_errors)
        if unsent:
            raise NoJsonError("replied before it had read its request", self.last_errors)
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
            self._errors_kept += data
            del self._errors_kept[:-KEPT_ERRORS]
        return bool(data)

    def _how_it_ended(self) -> str:
        deadline = time.monotonic() + 1.0
        while (code := self._exit_code()) is None and time.monotonic() < deadline:
            time.sleep(0.005)
        # What it wrote at last tells why; its standard error may be held open by what it has started.
        for _ in range(KEPT_CHUNKS):
            if not select.select([self._errors], [], [], 0)[0] or not self._read(self._errors):
                break
        return "closed its output" if code is None else _ending(code)

    def _exit_code(self) -> int | None:
        """Return the exit code, or the signal's number below 0; None while it runs. It is not reaped."""
        found = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        if found is None:
            return None
        return found.si_status if found.si_code == os.CLD_EXITED else -found.si_status


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was killed by {signal.Signals(-code).name}"
    except ValueError:
        return f"was killed by signal {-code}"


def _shortened(line: bytes, most: int = 200) -> str:
    text = line.decode("utf-8", "replace")
    return repr(text if len(text) <= most else text[:most] + "…")
