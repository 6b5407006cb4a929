"""An engine without walls for code that this repository itself wrote: references and their mutants.

Never give it a candidate's code. It has the interface of the sandbox and none of its protection.
"""

from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class ToyReply:
    status: str = "value"
    value: Any = None
    detail: str = ""


class ToySession:
    def __init__(self):
        self.names = {}

    def execute(self, code):
        return self._reply(lambda: exec(compile(code, "candidate", "exec"), self.names))

    def evaluate(self, expression):
        return self._reply(lambda: eval(expression, self.names))

    def _reply(self, action):
        try:
            return ToyReply(value=action())
        except Exception as error:  # noqa: BLE001 - whatever the code raises is a reply
            return ToyReply("raised", detail=f"{type(error).__name__}: {error}")


class ToyEngine:
    """Counts its sessions, so that a test can see that an engine was asked at all."""

    def __init__(self):
        self.n_sessions = 0

    @contextmanager
    def session(self):
        self.n_sessions += 1
        yield ToySession()
