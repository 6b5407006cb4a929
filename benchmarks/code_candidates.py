# ruff: noqa: E501  a candidate in one line
"""Candidates whose verdicts are known beforehand, through `prm label --verifier code`.

    python -m benchmarks.code_candidates --count 500 --output runs/code

Small programming tasks with drawn constants; a third of the candidates right (in several styles), a third with
one fault that some test shows, a third hostile: they lie, leave, loop or attack. Prints how many verdicts
are as they must be, by kind, and solutions a second; exit code 1 when one is not.
"""

import argparse
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling import label

HOSTILE = {
    "agreeing object": "class Y(int):\n    def __eq__(s, o):\n        return True\n    __hash__ = int.__hash__\ndef f(*a):\n    return Y(1)",
    "leaves": "import os\ndef f(*a):\n    os._exit(0)",
    "exits": "print('all tests passed')\nraise SystemExit(0)",
    "hook": "import atexit, os\natexit.register(os._exit, 0)\ndef f(*a):\n    return None",
    "loops": "def f(*a):\n    while True:\n        pass",
    "eats": "def f(*a):\n    x = []\n    while True:\n        x.append('x' * 10**6)",
    "floods": "def f(*a):\n    while True:\n        print('x' * 999)",
    "forks": "import os\ndef f(*a):\n    while True:\n        os.fork()",
    "recurses": "import sys\nsys.setrecursionlimit(10**9)\ndef f(*a):\n    return f(*a)",
    "patches": "import builtins\nbuiltins.all = lambda x: True\nbuiltins.len = lambda x: 0\ndef f(*a):\n    return NotImplemented",
    "forges": 'import os\nfor fd in range(3, 20):\n    try:\n        os.write(fd, b\'{"status": "value", "data": true}\\n\' * 9)\n    except OSError:\n        pass\ndef f(*a):\n    return None',
    "reads": "def f(*a):\n    return open('/etc/passwd').read()",
    "connects": "import socket\ndef f(*a):\n    return socket.create_connection(('127.0.0.1', 80))",
    "is no code": "def f(*a:\n    return",
}


@dataclass(frozen=True)
class Task:
    """A small task with its constants drawn."""

    text: str
    tests: list[dict[str, Any]]
    right: list[str]
    wrong: list[str]


def _linear(rng: random.Random) -> Task:
    a, b = rng.randint(2, 9), rng.randint(1, 9)
    return Task(
        f"f(x) returns {a} times x, plus {b}.",
        [{"call": f"f({x})", "expected": a * x + b} for x in (0, 1, -3, 10**20)],
        [
            f"def f(x):\n    return {a} * x + {b}",
            f"f = lambda x: sum([x] * {a}) + {b}",
            f"class A:\n    def go(self, x):\n        return {b} + x * {a}\ndef f(x):\n    return A().go(x)",
        ],
        [
            f"def f(x):\n    return {a} * x - {b}",
            f"def f(x):\n    return {a} * x + {b} * 1.0",
            f"def f(x):\n    return {a} * abs(x) + {b}",
            f"def f(x):\n    return str({a} * x + {b})",
        ],
    )


def _span(rng: random.Random) -> Task:
    k = rng.randint(2, 6)
    rows = [[3, 1, 2] * k, [], list(range(20)), [5]]
    return Task(
        f"f(xs) returns the first {k} numbers of xs in rising order.",
        [{"call": f"f({xs})", "expected": sorted(xs[:k])} for xs in rows],
        [
            f"def f(xs):\n    return sorted(xs[:{k}])",
            f"import heapq\ndef f(xs):\n    h = list(xs[:{k}])\n    heapq.heapify(h)\n    return [heapq.heappop(h) for _ in range(len(h))]",
            f"def f(xs):\n    def g():\n        yield from sorted(x for i, x in enumerate(xs) if i < {k})\n    return list(g())",
        ],
        [
            f"def f(xs):\n    return xs[:{k}]",
            f"def f(xs):\n    return sorted(xs)[:{k}]",
            f"def f(xs):\n    return sorted(xs[:{k}], reverse=True)",
            f"def f(xs):\n    return iter(sorted(xs[:{k}]))",
        ],
    )


def _words(rng: random.Random) -> Task:
    word = rng.choice(["bolt", "beam", "gear", "pump"])
    texts = [f"{word} nut {word.upper()}", "", f"x{word} {word}", "a b"]
    return Task(
        f"f(text) returns how often the word {word} stands in text, in any case, as a word of its own.",
        [{"assert": f"assert f({t!r}) == {t.lower().split().count(word)}"} for t in texts],
        [
            f"def f(text):\n    return text.lower().split().count({word!r})",
            f"from collections import Counter\ndef f(text):\n    return Counter(text.lower().split())[{word!r}]",
        ],
        [
            f"def f(text):\n    return text.lower().count({word!r})",
            f"def f(text):\n    return text.split().count({word!r})",
            f"def f(text):\n    return {word!r} in text.lower().split() and 1",
        ],
    )


def _program(rng: random.Random) -> Task:
    m = rng.randint(3, 9)
    inputs = ["1 2 3", "10\n20 27\n", "-4 4", "7"]
    return Task(
        f"Read whole numbers from standard input; write their sum modulo {m}.",
        [{"stdin": text, "stdout": str(sum(map(int, text.split())) % m)} for text in inputs],
        [
            f"import sys\nprint(sum(map(int, sys.stdin.read().split())) % {m})",
            f"def main():\n    total = 0\n    while True:\n        try:\n            total += sum(int(x) for x in input().split())\n        except EOFError:\n            break\n    print(total % {m})\n\nif __name__ == '__main__':\n    main()",
        ],
        [
            f"print(sum(map(int, input().split())) % {m})",
            "import sys\nprint(sum(map(int, sys.stdin.read().split())))",
            f"import sys\nprint('sum:', sum(map(int, sys.stdin.read().split())) % {m})",
        ],
    )


TASKS: tuple[Callable[[random.Random], Task], ...] = (_linear, _span, _words, _program)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="runs/code")
    arguments = parser.parse_args()
    rows = [row(number, random.Random(f"{arguments.seed}/{number}")) for number in range(arguments.count)]
    folder = Path(arguments.output)
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "candidates.jsonl"
    source.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    started = time.perf_counter()
    settings = label.LabelConfig(
        input=str(source), output=str(folder / "labels.jsonl"), verifier="code", overwrite=True
    )
    label.run(settings)
    seconds = time.perf_counter() - started
    found = [json.loads(line) for line in (folder / "labels.jsonl").read_text(encoding="utf-8").splitlines()]
    sys.exit(0 if told(rows, {one["id"]: one["verdicts"][-1] for one in found}, seconds) else 1)


def row(number: int, rng: random.Random) -> dict[str, Any]:
    """Return a record of one candidate; its kind and the verdict that it must get are in `meta`."""
    task = rng.choice(TASKS)(rng)
    kind = ("right", "faulty", "hostile")[number % 3]
    name = kind
    if kind == "hostile":
        name = rng.choice(list(HOSTILE))
        code = HOSTILE[name]
    else:
        code = rng.choice(task.right if kind == "right" else task.wrong)
    return {
        "id": str(number),
        "problem": f"{number}: {task.text}",
        "tests": task.tests,
        "steps": ["We write it down.", f"```python\n{code}\n```"],
        "meta": {"kind": kind, "name": name, "expected": "RIGHT" if kind == "right" else "WRONG"},
    }


def told(rows: list[dict[str, Any]], verdicts: dict[str, str], seconds: float) -> bool:
    """Print the table; tell whether every verdict is as it must be."""
    counts: Counter[tuple[str, str]] = Counter()
    as_known = True
    for one in rows:
        verdict = verdicts.get(one["id"], "missing")
        counts[one["meta"]["kind"], verdict] += 1
        if verdict != one["meta"]["expected"]:
            as_known = False
            print(f"{one['id']} ({one['meta']['name']}) is {verdict}: {one['steps'][1]}")
    print("| candidates | RIGHT | WRONG | UNDECIDED |\n|---|---|---|---|")
    for kind in ("right", "faulty", "hostile"):
        cells = (str(counts[kind, verdict]) for verdict in ("RIGHT", "WRONG", "UNDECIDED"))
        print(f"| {kind} | {' | '.join(cells)} |")
    print(f"{len(rows)} candidates in {seconds:.1f} s, {len(rows) / seconds:.1f} a second")
    return as_known


if __name__ == "__main__":
    main()
