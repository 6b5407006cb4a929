"""CPython inside bubblewrap: one process tree a candidate, started ahead of time, killed as a whole."""

import json
import os
import threading
import time
from collections import deque
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Self

from labeling.verifiers._sandbox import bubblewrap
from labeling.verifiers._sandbox.plain import NotPlainError, parse
from labeling.verifiers._sandbox.process import Inmate
from labeling.verifiers._sandbox.protocol import (
    Limits,
    Reply,
    SandboxError,
    SandboxUnavailableError,
    Status,
)

WALL_PER_CPU = 2.0
"""Wall time for each second of processor time: a loaded machine must not fail an honest candidate."""
_INSTALL = (
    "Install bubblewrap (Debian and Ubuntu: apt-get install bubblewrap; Fedora: dnf install bubblewrap); "
    "in a container, allow user namespaces. The engine monty needs neither: pip install pydantic-monty."
)
_FINAL = frozenset({Status.TIME, Status.MEMORY, Status.OUTPUT, Status.ENDED})


class CPythonEngine:
    """CPython in bubblewrap.

    Args:
        warm: Processes kept ready; each serves one candidate.

    Raises:
        SandboxUnavailableError: It does not work on this machine; the message says why.
    """

    name = "cpython"

    def __init__(self, *, warm: int = 1) -> None:
        self._mode = _working_mode()
        self._warm = warm
        self._ready: deque[Inmate] = deque()
        self._lock = threading.Lock()
        self._owner = os.getpid()
        # One thread for good: bubblewrap ends with the thread that started it.
        self._starter = ThreadPoolExecutor(1, thread_name_prefix="sandbox")

    def session(self, limits: Limits) -> "CPythonSession":
        """See `Engine.session`."""
        reason = SandboxError("the sandbox does not start")
        for _ in range(2):
            inmate = self._take()
            try:
                inmate.begin(limits, can_fork=self._mode.can_fork)
            except SandboxError as error:
                inmate.kill()
                reason = error
            except BaseException:
                inmate.kill()
                raise
            else:
                return CPythonSession(inmate, limits)
        raise reason

    def close(self) -> None:
        """See `Engine.close`."""
        if os.getpid() != self._owner:
            return
        self._starter.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            left, self._ready = list(self._ready), deque()
        for inmate in left:
            inmate.kill()

    def _take(self) -> "Inmate":
        if os.getpid() != self._owner:
            # After a fork the warm processes, and the thread that starts them, are the parent's.
            self._owner, self._ready, self._lock = os.getpid(), deque(), threading.Lock()
            self._starter = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
        with self._lock:
            inmate = self._ready.popleft() if self._ready else None
            n_missing = self._warm - len(self._ready)
        started = [self._starter.submit(self._start) for _ in range(n_missing + (inmate is None))]
        if inmate is not None:
            return inmate
        for future in started:
            future.result()
        with self._lock:
            if self._ready:
                return self._ready.popleft()
        return self._starter.submit(Inmate, self._mode).result()

    def _start(self) -> None:
        inmate = Inmate(self._mode)
        with self._lock:
            self._ready.append(inmate)


class CPythonSession:
    """One candidate in one sandbox; see `Session`."""

    def __init__(self, inmate: "Inmate", limits: Limits) -> None:
        self._inmate = inmate
        self._limits = limits
        self._left = WALL_PER_CPU * limits.seconds
        self._end: Reply | None = None
        self.n_asked = 0
        """Requests so far."""

    def execute(self, code: str) -> Reply:
        """See `Session.execute`."""
        return self._ask({"do": "execute", "code": code})

    def evaluate(self, expression: str) -> Reply:
        """See `Session.evaluate`."""
        return self._ask({"do": "evaluate", "code": expression})

    def program(self, code: str, stdin: str) -> Reply:
        """See `Session.program`."""
        return self._ask({"do": "program", "code": code, "stdin": stdin})

    def call(self, name: str, data: Any) -> Reply:
        """Call a function of the candidate's module; `data` is [args, kwargs] as `encode` gives them."""
        return self._ask({"do": "call", "name": name, "data": data})

    def check(
        self, code: str, names: Sequence[str], candidate: "CPythonSession", *, value: str = ""
    ) -> Reply:
        """Run tests in this sandbox, with the functions `names` of a candidate in another one.

        Args:
            code: The tests, as a script; they fail by raising.
            names: Names that the tests take from the candidate.
            candidate: Where these functions live; what they return comes over as plain data.
            value: An expression behind the tests whose value is wanted; "" for none.
        """
        request = {"do": "check", "code": code, "names": list(names)} | ({"value": value} if value else {})
        reply = self._ask(request, is_check=True)
        while isinstance(reply.data, _Remote):
            answer = candidate.call(reply.data.name, reply.data.data)
            message = {"status": answer.status, "kind": answer.kind, "bases": answer.bases}
            reply = self._ask(message | {"detail": answer.detail, "data": answer.data}, is_check=True)
        return reply

    @property
    def end(self) -> Reply | None:
        """See `Session.end`."""
        return self._end

    def close(self) -> None:
        """See `Session.close`."""
        self._inmate.kill()
        self._end = self._end or Reply(status=Status.ENDED, detail="the session is closed")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _ask(self, request: dict[str, Any], *, is_check: bool = False) -> Reply:
        if self._end is not None:
            return replace(self._end, stdout="", stderr="")
        self.n_asked += 1
        started = time.monotonic()
        line = json.dumps(request).encode() + b"\n"
        exchange = self._inmate.exchange(line, self._limits, seconds=self._left)
        self._left -= time.monotonic() - started
        reply = exchange if isinstance(exchange, Reply) else _read_reply(exchange, is_check=is_check)
        if reply.status in _FINAL:
            self._inmate.kill()
            self._end = reply
        outputs = self._inmate.take_output()
        return replace(reply, stdout=outputs[0], stderr=outputs[1])


class _Remote:
    """A call that tests make of a candidate."""

    def __init__(self, name: str, data: Any) -> None:
        self.name, self.data = name, data


def _read_reply(line: bytes, *, is_check: bool) -> Reply:
    try:
        body = parse(line)
    except NotPlainError:
        body = None
    if isinstance(body, dict):
        # A candidate that asks back is none of ours.
        if is_check and isinstance(body.get("remote"), str):
            return Reply(status=Status.VALUE, data=_Remote(body["remote"], body.get("data")))
        status = body.get("status")
        if status in ("value", "raised", "not_plain"):
            line_number = body.get("line")
            return Reply(
                status=Status(status),
                data=body.get("data"),
                kind=_text(body.get("kind")),
                bases=tuple(map(_text, bases)) if isinstance(bases := body.get("bases"), list) else (),
                detail=_text(body.get("detail")),
                line=line_number if type(line_number) is int else 0,
            )
    # Whoever writes what `inmate.py` never does has replaced it; what it would say next is worth nothing.
    return Reply(status=Status.ENDED, detail="its answer is not of the protocol")


def _text(value: Any) -> str:
    # Half a surrogate pair could not be written into a label file.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _working_mode() -> bubblewrap.Mode:
    """Return the first way of isolation that works here; tried once a process."""
    global _mode
    with _mode_lock:
        if _mode is None:
            _mode = _try_modes()
        return _mode


_mode: bubblewrap.Mode | None = None
_mode_lock = threading.Lock()


def _try_modes() -> bubblewrap.Mode:
    if bubblewrap.program() is None:
        raise SandboxUnavailableError("bubblewrap (the command bwrap) is not installed.", remedy=_INSTALL)
    reasons = []
    for mode in bubblewrap.modes():
        limits = Limits()
        inmate = Inmate(mode)
        try:
            inmate.begin(limits, can_fork=mode.can_fork)
            with CPythonSession(inmate, limits) as session:
                reply = session.evaluate("6 * 7")
            if reply.data == 42:
                return mode
            reasons.append(f"{reply.status}: {reply.detail} {reply.stderr}".strip())
        except SandboxError as error:
            reasons.append(str(error))
        finally:
            inmate.kill()
    raise SandboxUnavailableError(f"bubblewrap does not work here: {'; '.join(reasons)}.", remedy=_INSTALL)
