"""What grading a piece of code costs, engine by engine, beside a plain Python process; and a soak.

    python -m benchmarks.sandbox --runs 300
    python -m benchmarks.sandbox --soak 10000

The first prints quantiles of the time for one answer (the snippet defined, three calls compared) with warm
engines, answers a second with one and two threads, and whether every repeat gave the same grades. "bare
python" is a process started for each answer without any isolation: for scale, never used. The second runs
honest and hostile candidates mixed and prints memory and descriptors before and after.
"""

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil

from labeling.records import Problem
from labeling.verifiers.code import CodeVerifier
from labeling.verifiers.sandbox import Limits

SNIPPETS = {
    "sum": ("def f(xs):\n    return sum(xs)", [("f([4, 9])", 13), ("f([])", 0), ("f([1] * 50)", 50)]),
    "primes": (
        "def f(n):\n    found = []\n    for k in range(2, n):\n        if all(k % p for p in found):\n"
        "            found.append(k)\n    return found",
        [("f(12)", [2, 3, 5, 7, 11]), ("f(2)", []), ("len(f(600))", 109)],
    ),
    "words": (
        "def f(text):\n    counts = {}\n    for word in text.lower().split():\n"
        "        counts[word] = counts.get(word, 0) + 1\n"
        "    return counts",
        [("f('a b A')", {"a": 2, "b": 1}), ("f('')", {}), ("f('x ' * 30)", {"x": 30})],
    ),
    "wrong": ("def f(xs):\n    return sum(xs) + 1", [("f([4, 9])", 13), ("f([])", 0), ("f([1])", 1)]),
}
HOSTILE = (
    "import os\ndef f(x):\n    os._exit(0)",
    "def f(x):\n    return 'x' * 10**9",
    "raise SystemExit(0)",
    "class Y:\n    def __eq__(self, o):\n        return True\ndef f(x):\n    return Y()",
    "print('x' * 10**7)\ndef f(x):\n    return x",
    "import os\nos.fork()\ndef f(x):\n    return 1",
    "import sys\nsys.setrecursionlimit(10**9)\ndef f(x):\n    return f(x)",
    "def f(:",
)
_BARE = """
import json, sys
code, calls = json.loads(sys.argv[1])
space = {}
exec(code, space)
print(json.dumps([eval(call, space) for call in calls]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=300, help="answers a snippet and engine")
    parser.add_argument("--soak", type=int, default=0, help="candidates of the soak, instead")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    if arguments.soak:
        sys.exit(0 if soak(arguments.soak, seed=arguments.seed) else 1)
    compare(arguments.runs)


def compare(n_runs: int) -> None:
    """Print the table of all engines."""
    print("| engine | snippet | p50 ms | p95 ms | p99 ms | answers/s, 1 thread | 2 threads | same grades |")
    print("|---|---|---|---|---|---|---|---|")
    for name in ("monty", "cpython", "auto"):
        verifier = CodeVerifier(name, limits=Limits(seconds=5))
        for snippet, (code, calls) in SNIPPETS.items():
            problem = problem_of(calls)
            row(name, snippet, n_runs, lambda v=verifier, p=problem, c=code: v.grade_tests(p, c))
        verifier.close()
    for snippet, (code, calls) in SNIPPETS.items():
        row("bare python", snippet, max(20, n_runs // 10), lambda c=code, k=calls: bare(c, [x for x, _ in k]))


def row(engine: str, snippet: str, n_runs: int, grade: Callable[[], object]) -> None:
    """Print the line of one engine and snippet."""
    for _ in range(3):
        grade()
    milliseconds, grades = [], set()
    started = time.perf_counter()
    for _ in range(n_runs):
        begun = time.perf_counter()
        grades.add(str(grade()))
        milliseconds.append(1000 * (time.perf_counter() - begun))
    single = n_runs / (time.perf_counter() - started)
    started = time.perf_counter()
    with ThreadPoolExecutor(2) as pool:
        grades |= set(map(str, pool.map(lambda _: grade(), range(n_runs))))
    double = n_runs / (time.perf_counter() - started)
    p50, p95, p99 = np.percentile(milliseconds, [50, 95, 99])
    print(
        f"| {engine} | {snippet} | {p50:.2f} | {p95:.2f} | {p99:.2f} | {single:.0f} | {double:.0f} "
        f"| {'yes' if len(grades) == 1 else len(grades)} (n = {2 * n_runs}) |",
        flush=True,
    )


def soak(n_runs: int, *, seed: int, hostile_share: float = 0.1) -> bool:
    """Grade candidates, some of them hostile; tell whether memory, descriptors and grades stayed."""
    verifier = CodeVerifier("auto", limits=Limits(seconds=1, memory_bytes=128 * 2**20, output_bytes=2**18))
    random_numbers, own = random.Random(seed), psutil.Process()
    problem = problem_of(SNIPPETS["sum"][1])
    before, wrong, started = (0, 0), 0, time.perf_counter()
    for number in range(n_runs):
        if number == n_runs // 10:
            time.sleep(1)  # the next sandbox is started ahead of time
            before = (own.memory_info().rss, own.num_fds())
        is_hostile = random_numbers.random() < hostile_share
        code = random_numbers.choice(HOSTILE) if is_hostile else SNIPPETS["sum"][0]
        wrong += verifier.grade(problem, f"```python\n{code}\n```") is not (not is_hostile)
    time.sleep(1)
    after = (own.memory_info().rss, own.num_fds())
    seconds = time.perf_counter() - started
    verifier.close()
    print(
        f"{n_runs:,} candidates (seed {seed}), {hostile_share:.0%} hostile, in {seconds:.0f} s: "
        f"{wrong} wrong grades; memory {before[0] / 2**20:.1f} -> {after[0] / 2**20:.1f} MiB, "
        f"descriptors {before[1]} -> {after[1]}"
    )
    return wrong == 0 and after[0] - before[0] < 20 * 2**20 and after[1] <= before[1] + 1


def problem_of(calls: Sequence[tuple[str, object]]) -> Problem:
    """Return a problem with these calls as tests."""
    return Problem(id="p", text="p", meta={"tests": [{"call": c, "expected": e} for c, e in calls]})


def bare(code: str, calls: Sequence[str]) -> str:
    """Run code in a process of its own without isolation; our own snippets only."""
    line = [sys.executable, "-S", "-c", _BARE, json.dumps([code, list(calls)])]
    return subprocess.run(line, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    main()
