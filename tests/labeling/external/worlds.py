"""Simulators of a user, as Python callables and as a program without the toolkit."""

import os
import signal
import subprocess
import time
from pathlib import Path


def sums(problem, steps):
    """Judge lines like "2 + 3 = 5"; a few words make it misbehave."""
    print("what is printed is no reply")
    return [_sum(step) for step in steps]


def _sum(step):
    if step == "exit":
        os._exit(3)
    if step == "sys.exit":
        raise SystemExit(4)
    if step == "kill":
        os.kill(os.getpid(), signal.SIGSEGV)
    if step == "hang":
        time.sleep(60)
    if step == "raise":
        raise RuntimeError("no such load")
    if step == "leave a child":
        Path("child.pid").write_text(str(subprocess.Popen(["sleep", "300"]).pid))
        time.sleep(60)
    if step == "once":
        if not Path("once").exists():
            Path("once").touch()
            os._exit(5)
        return True
    if step == "number":
        return 1
    if step == "flood":
        os.write(2, b"e" * 3_000_000)
        return True
    left, equals, right = step.partition("=")
    if not equals:
        return None
    return sum(map(int, left.split("+"))) == int(right)


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
                "needed": step != "filler",
                "quantities": _sum(step),
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


NOTHING = 3


def broken(problem, steps):
    return [True] * (len(steps) + 1)


def strange(problem, steps):
    return [{"verdict": True, "verdit": False} for _ in steps]


def unwritable(problem, steps):
    return [{"verdict": {1, 2}} for _ in steps]
