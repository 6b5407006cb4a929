"""Worker processes that can be killed: a comparison that exceeds its limits takes nothing down with it.

Each worker is a fresh interpreter that runs `_algebra_worker.py` and speaks JSON lines over pipes:
no fork of a process that may hold threads or a GPU, no second run of the user's main module, no
pickles. A limit inside the process would not do: an alarm cannot interrupt one long C call, and works
in the main thread only.
"""

import json
import os
import queue
import selectors
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from labeling.errors import ToolkitError

_PROGRAM = Path(__file__).with_name("_algebra_worker.py")
_START_SECONDS = 120.0
_WALL_PER_CPU = 2.0
"""Wall time that a request may take for each second of processor time that it is granted."""
_OVERTIME = getattr(signal, "SIGPROF", 0)
"""The signal by which the kernel ends a worker that has used up its processor time."""


class WorkerDiedError(ToolkitError):
    """The worker ended without a reply: it ran past its time, or out of memory."""


class _Worker:
    """One process. After WorkerDiedError it is dead and stays so."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_PROGRAM)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C is for the parent, which ends its workers itself
            # One thread each: linear algebra libraries would start one a core and take their memory.
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"},
        )
        self._is_ready = False
        self._unread = b""

    def ask(self, request: Mapping[str, object], *, seconds: float) -> dict[str, str]:
        if not self._is_ready:
            self._await_start()
        line = json.dumps({**request, "seconds": seconds}) + "\n"
        try:
            self._stdin.write(line.encode())
            self._stdin.flush()
        except OSError as error:
            self.kill()
            raise WorkerDiedError("the worker process is gone") from error
        return self._reply(_WALL_PER_CPU * seconds, seconds)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # a request that the dead process never read
                    continue

    def _await_start(self) -> None:
        try:
            self._reply(_START_SECONDS, _START_SECONDS)
        except WorkerDiedError as error:
            raise ToolkitError(
                "the process that compares answers does not start. "
                f"Run `{sys.executable} -P {_PROGRAM}` to see why; math-verify must be installed."
            ) from error
        self._is_ready = True

    def _reply(self, wall_seconds: float, cpu_seconds: float) -> dict[str, str]:
        deadline = time.monotonic() + wall_seconds
        with selectors.DefaultSelector() as selector:
            selector.register(self._stdout, selectors.EVENT_READ)
            while b"\n" not in self._unread:
                left = deadline - time.monotonic()
                if left <= 0 or not selector.select(left):
                    self.kill()
                    raise WorkerDiedError(f"stopped after {wall_seconds:g} s of waiting")
                chunk = os.read(self._stdout.fileno(), 65536)
                if not chunk:
                    is_overtime = self._process.wait() == -_OVERTIME
                    self.kill()
                    limit = f"after {cpu_seconds:g} s" if is_overtime else "at its memory limit"
                    raise WorkerDiedError(f"stopped {limit}")
                self._unread += chunk
        line, _, self._unread = self._unread.partition(b"\n")
        return json.loads(line)

    @property
    def _stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout


class WorkerPool:
    """A few killable workers, started when first needed, replaced when killed, closed at exit.

    Any thread may ask; as many requests run at once as there are processes.

    Args:
        processes: Number of worker processes, at least 1.
    """

    def __init__(self, processes: int = 1) -> None:
        if processes < 1:
            raise ValueError(f"a pool needs at least one process, not {processes}")
        self._owner = os.getpid()
        self._workers: list[_Worker] = []
        self._free: queue.LifoQueue[_Worker | None] = queue.LifoQueue()
        for _ in range(processes):
            self._free.put(None)
        self._finalizer = weakref.finalize(self, _kill_all, self._workers)

    def ask(self, request: Mapping[str, object], *, seconds: float) -> dict[str, str]:
        """Return a worker's reply; the time that a process takes to start is not counted.

        Raises:
            WorkerDiedError: It took more than `seconds` of processor time, twice that of wall time,
                or more memory than allowed.
            ToolkitError: No worker can be started, the pool is closed, or it was inherited over a fork.
        """
        if os.getpid() != self._owner:
            raise ToolkitError(
                "a verifier's worker processes cannot be shared over a fork. Make one verifier a process."
            )
        if not self._finalizer.alive:
            raise ToolkitError("this verifier is closed. Make a new one, or close it later.")
        worker = self._free.get()
        try:
            if worker is None:
                worker = self._started()
            return worker.ask(request, seconds=seconds)
        except BaseException:
            # A reply may still be under way after any interruption: never read it for the next request.
            if worker is not None and worker in self._workers:
                worker.kill()
                self._workers.remove(worker)
            # The next one starts meanwhile, so that the next request does not wait for it.
            worker = self._started() if self._finalizer.alive else None
            raise
        finally:
            self._free.put(worker)

    def close(self) -> None:
        """End the processes; asking again is an error."""
        self._finalizer()

    def _started(self) -> _Worker:
        worker = _Worker()
        self._workers.append(worker)
        return worker


def _kill_all(workers: list[_Worker]) -> None:
    while workers:
        workers.pop().kill()
