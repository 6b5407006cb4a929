"""Simulators of a user, as Python callables and as a program without the toolkit."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


def sums(problem, steps):
    """Judge lines like "2 + 3 = 5"; a few words make it misbehave."""
    print("what is printed is no reply")
    return [_sum(step) for step in steps]


def _sum(step):
    if step in MISBEHAVIOUR:
        return MISBEHAVIOUR[step]()
    if step.startswith("meet"):
        return _meet(step)
    left, equals, right = step.partition("=")
    if not equals:
        return None
    return sum(map(int, left.split("+"))) == int(right)


def _meet(step):
    Path(step).touch()
    while len(list(Path().glob("meet *"))) < 3:
        time.sleep(0.01)
    return True


def _raise():
    raise RuntimeError("no such load")


def _leave_a_child():
    Path("child.pid").write_text(str(subprocess.Popen(["sleep", "300"]).pid))
    time.sleep(60)


def _end_and_leave_a_child():
    subprocess.Popen(["sleep", "30"])
    os._exit(7)


def _once():
    if not Path("once").exists():
        Path("once").touch()
        os._exit(5)
    return True


def _flood():
    os.write(2, b"e" * 3_000_000)
    return True


def _hang_busily():
    Path("busy").touch()
    while True:
        pass


MISBEHAVIOUR = {
    "hang busily": _hang_busily,
    "exit": lambda: os._exit(3),
    "sys.exit": lambda: sys.exit(4),
    "kill": lambda: os.kill(os.getpid(), signal.SIGSEGV),
    "hang": lambda: time.sleep(60),
    "raise": _raise,
    "leave a child": _leave_a_child,
    "end and leave a child": _end_and_leave_a_child,
    "cat": lambda: subprocess.run(["cat"], capture_output=True, timeout=4).stdout == b"",
    "once": _once,
    "number": lambda: 1,
    "flood": _flood,
}


class Sums:
    """The same as a class, with problems, a grade and a count of how often it was asked."""

    name = "sums"
    version = "1"

    def problems(self, count, split, seed):
        first = 100 * (split == "test") + seed
        return [
            {"id": f"{split}-{n}", "text": f"{first} + {n}?", "answer": str(first + n)} for n in range(count)
        ]

    def verify(self, problem, steps):
        with Path("asked").open("a") as file:
            file.write("x")
        return [
            {
                "verdict": _sum(step),
                "reason": "" if _sum(step) else "the sum is another",
                "is_needed": step != "filler",
                "is_quantity_right": _sum(step),
                "evidence": {"kind": "sum", "text": step, "end": len(step)},
            }
            for step in steps
        ]

    def grade(self, problem, text):
        if "answer" not in text:
            return "NO_ANSWER"
        if "unclear" in text:
            return "UNDECIDED"
        if "crash" in text:
            os._exit(1)
        return text.endswith(problem["answer"])


class Comma(Sums):
    name = "a,b"


class Users:
    """A verifier of a user's own, which runs in the toolkit's worker processes."""

    name = "users"

    def verify(self, problem, solution):
        from labeling.verifiers.verdict import Verdict

        return [Verdict.undecided("I do not know")] * len(solution.steps)


def ahead(problem, steps):
    # The pipe of the replies is the lowest one that is free.
    for number in range(20):
        os.write(4, b'{"id": %d, "result": [false]}\n' % number)
    return [True for _ in steps]


def noted(problem, steps):
    with Path("processes").open("a") as file:
        file.write(f"{os.getpid()}\n")
    return sums(problem, steps)


def backwards(problem, steps):
    return [{"verdict": True, "evidence": {"start": 2, "end": 1}} for _ in steps]


def ours(problem, steps):
    return [{"verdict": True, "evidence": {"kind": "failed"}} for _ in steps]


NOTHING = 3


def broken(problem, steps):
    return [True] * (len(steps) + 1)


def strange(problem, steps):
    return [{"verdict": True, "verdit": False} for _ in steps]


def unwritable(problem, steps):
    return [{"verdict": {1, 2}} for _ in steps]
