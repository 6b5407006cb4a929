"""The processes of one CPython sandbox and the pipes that lead there: started, asked, watched, killed."""

import contextlib
import json
import os
import secrets
import select
import signal
import subprocess
import time

import psutil

from labeling.verifiers._sandbox import bubblewrap
from labeling.verifiers._sandbox.protocol import Limits, Reply, SandboxError, Status

START_SECONDS = 20.0
WATCH_SECONDS = 0.1
"""Between two looks at the memory of all processes together."""
OPEN_FILES = 64
CHUNK = 65_536


class Inmate:
    """The processes of one sandbox, and the pipes that lead there."""

    def __init__(self, mode: bubblewrap.Mode, *, tmp_bytes: int = Limits.file_bytes) -> None:
        self._is_root = mode.is_root
        ends: list[int] = []
        try:
            request_in, self._requests = _pipe(ends)
            self._replies, reply_out = _pipe(ends)
            self._stdout, stdout = _pipe(ends)
            self._stderr, stderr = _pipe(ends)
            kept = [request_in, reply_out]
            if (seccomp := bubblewrap.filter_descriptor(can_fork=mode.can_fork)) is not None:
                ends.append(seccomp)
                kept.append(seccomp)
            line = bubblewrap.command(
                mode, tmp_bytes=tmp_bytes, seccomp=seccomp, arguments=[str(request_in), str(reply_out)]
            )
            self._process = subprocess.Popen(
                line,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                pass_fds=kept,
                start_new_session=True,  # Ctrl-C is for the parent
                env={},
            )
        except BaseException as error:
            for end in ends:
                os.close(end)
            if isinstance(error, OSError):
                raise SandboxError(f"the sandbox cannot be started: {error}") from error
            raise
        for end in (*kept, stdout, stderr):
            os.close(end)
        self._open = [self._requests, self._replies, self._stdout, self._stderr]
        for end in self._open:
            os.set_blocking(end, False)
        self._unread = b""
        self._unsent = memoryview(b"")
        self._look = time.monotonic() + WATCH_SECONDS
        self._output: dict[int, bytearray] = {self._stdout: bytearray(), self._stderr: bytearray()}

    def begin(self, limits: Limits, *, can_fork: bool) -> None:
        """Wait until it is ready and set the limits.

        Raises:
            SandboxError: It does not start.
        """
        wanted = {
            "memory": limits.memory_bytes,
            "file": limits.file_bytes,
            "files": OPEN_FILES,
            "cpu": max(1, int(-(-limits.seconds // 1))),
            "processes": limits.processes if can_fork else max(limits.processes, 1),
            # A user of its own for each sandbox, so that its processes are counted apart.
            "user": 0x60000000 + secrets.randbelow(2**28) if self._is_root else 0,
        }
        ready = self.exchange(b"", limits, seconds=START_SECONDS)
        if isinstance(ready, Reply) or b'"ready"' not in ready:
            said = self.take_output()[1].strip() or (ready.detail if isinstance(ready, Reply) else "")
            raise SandboxError(f"the sandbox does not start: {said[-500:]}")
        with contextlib.suppress(OSError):  # what is wrong shows at the first request
            os.write(self._requests, json.dumps(wanted).encode() + b"\n")

    def exchange(self, line: bytes, limits: Limits, *, seconds: float) -> bytes | Reply:
        """Send a line and wait for one; return it, or the reply that says why none came."""
        started = time.monotonic()
        deadline = started + seconds
        self._unsent = memoryview(line)
        poller = select.poll()
        for end in self._open if line else self._open[1:]:
            poller.register(end, select.POLLOUT if end == self._requests else select.POLLIN)
        while b"\n" not in self._unread:
            now = time.monotonic()
            if now >= deadline:
                return Reply(status=Status.TIME, detail=f"it took over {seconds:.3g} s of wall time")
            if now >= self._look:
                self._look = now + WATCH_SECONDS
                if self._memory() > limits.memory_bytes:
                    reason = f"its processes took over {limits.memory_bytes:,} bytes"
                    return Reply(status=Status.MEMORY, detail=reason)
            for end, _ in poller.poll(1000 * (min(deadline, self._look) - now) + 1):
                if not self._serve(end):
                    poller.unregister(end)
                    if end == self._replies:
                        return self._how_it_ended(limits, now - started)
            if excess := self._too_much(limits):
                return excess
        found, _, self._unread = self._unread.partition(b"\n")
        self._drain(limits)
        return self._too_much(limits) or found

    def take_output(self) -> tuple[str, str]:
        """Return what was written to standard output and error since the last time."""
        texts = tuple(bytes(held).decode("utf-8", "replace") for held in self._output.values())
        for held in self._output.values():
            held.clear()
        return texts[0], texts[1]

    def kill(self) -> None:
        """End every process of it; close the pipes. Does nothing the second time."""
        if not self._open:
            return
        # Its first process dies with it, and that one's namespace as a whole.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._await_end()
        for end in self._open:
            os.close(end)
        self._open = []

    def _await_end(self) -> None:
        """Wait until nobody holds the other end of its output, for a moment at most."""
        deadline = time.monotonic() + 1.0
        poller = select.poll()
        poller.register(self._stdout, select.POLLIN)
        while (left := deadline - time.monotonic()) > 0:
            if poller.poll(1000 * left) and not self._read(self._stdout, is_kept=False):
                return

    def _serve(self, end: int) -> bool:
        """Read from a pipe, or write to it; False when nothing more will come of it."""
        if end != self._requests:
            return self._read(end)
        try:
            self._unsent = self._unsent[os.write(end, self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:
            return False  # closed: the end of the replies will tell
        return bool(self._unsent)

    def _read(self, end: int, *, is_kept: bool = True) -> bool:
        """Read what is there; False at the end."""
        try:
            data = os.read(end, CHUNK)
        except BlockingIOError:
            return True
        except OSError:
            return False
        if end == self._replies:
            self._unread += data
        elif is_kept:
            self._output[end] += data
        return bool(data)

    def _drain(self, limits: Limits) -> None:
        """Read the output that was written before a reply."""
        for end in (self._stdout, self._stderr):
            before = -1
            while before != len(self._output[end]) and not self._too_much(limits):
                before = len(self._output[end])
                self._read(end)

    def _too_much(self, limits: Limits) -> Reply | None:
        written = sum(map(len, self._output.values()))
        if written <= limits.output_bytes and len(self._unread) <= limits.output_bytes:
            return None
        what = "wrote" if written > limits.output_bytes else "answered"
        for held in self._output.values():
            del held[limits.output_bytes :]
        self._unread = b""
        return Reply(status=Status.OUTPUT, detail=f"it {what} over {limits.output_bytes:,} bytes")

    def _how_it_ended(self, limits: Limits, seconds: float) -> Reply:
        self._drain(limits)
        try:
            code = self._process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            code = 0  # it only closed the pipe
        if code == 128 + signal.SIGXCPU or (code == 128 + signal.SIGKILL and seconds >= limits.seconds):
            return Reply(status=Status.TIME, detail=f"it took over {limits.seconds:g} s of processor time")
        how = f"by signal {code - 128}" if code > 128 else f"with exit code {code}"
        return Reply(status=Status.ENDED, detail=f"its process ended {how} before it had answered")

    def _memory(self) -> int:
        """Return the bytes of memory that its processes hold together."""
        total = 0
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self._process.pid).children(recursive=True):
                with contextlib.suppress(psutil.Error):
                    total += process.memory_info().rss
        return total


def _pipe(ends: list[int]) -> tuple[int, int]:
    pair = os.pipe()
    ends += pair
    return pair
