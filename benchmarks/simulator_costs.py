# ruff: noqa: E501  rows of tables
"""What grading one answer costs, simulator by simulator, and what it grows with.

    python -m benchmarks.simulator_costs --count 300
    python -m benchmarks.simulator_costs --growth

The first grades and verifies answers of right and of mutated solutions, one of each problem, after ten others have
warmed the process: quantiles of the time for one answer, answers a second in one and in two processes, and whether
grades and verdicts are the same in a second pass and in either number of processes. "external" is a user's function
behind the pool, "bare python" a process started for each answer without isolation: for scale, never used.
The second prints milliseconds against the members of a beam and against the cycles of a controller's traces.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

import numpy as np

from benchmarks.simulator_candidates import drawn
from benchmarks.simulators import members
from labeling.records import Problem, Solution
from labeling.simulators.base import Simulator
from labeling.simulators.controllers import reference_program
from labeling.simulators.controllers.check import _traces, violated_at
from labeling.simulators.controllers.engine import SandboxedEngine
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.harness import Runner
from labeling.simulators.controllers.spec import specification_of
from labeling.simulators.load import load_simulator
from labeling.simulators.splits import SPLITS

WARMING = 10
EXTERNAL = "external:benchmarks.simulator_costs:Lengths"
Answer = tuple[Problem, list[str]]


class Lengths:
    """A user's world that does next to nothing: what it costs is the pool's."""

    name, version = "lengths", "1"

    def problems(self, count: int, split: str, seed: int) -> list[dict[str, str]]:
        return [{"id": f"{split}{n}", "text": f"How long is {seed + n}?"} for n in range(count)]

    def verify(self, problem: dict[str, Any], steps: Sequence[str]) -> list[bool]:
        return [len(step) % 2 == 0 for step in steps]

    def grade(self, problem: dict[str, Any], text: str) -> bool:
        return len(text) % 2 == 0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=300, help="answers of a simulator")
    parser.add_argument("--growth", action="store_true", help="cost against size instead")
    options = parser.parse_args()
    if options.growth:
        print("\n".join([*members(), "", *cycles()]))
        return
    print(
        "| simulator | what | n | p50 ms | p95 ms | p99 ms | most | answers/s, 1 process | 2 processes | same |"
    )
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in ("engineering", "structures", "controllers", EXTERNAL):
        answers = answers_of(name, options.count + WARMING)
        for what in ("grade", "verify"):
            print(row(name, what, answers), flush=True)
    print(bare_row(max(20, options.count // 10)))


def answers_of(name: str, count: int) -> list[Answer]:
    """Return right and mutated solutions in turn, each of a problem of its own."""
    if name == EXTERNAL:
        problems = load_simulator(name).problems(count, split=SPLITS[0], seed=0)
        return [(problem, ["a" * n, "b" * 40]) for n, problem in enumerate(problems)]
    candidates, rows = drawn(name, (3 * count) // 2 + 3, seed=0)
    problems = [
        Problem(id=row["id"], text=row["problem"], answer=row["answer"], meta=row["meta"]) for row in rows
    ]
    pairs = [
        (problem, c.steps)
        for n, (problem, c) in enumerate(zip(problems, candidates, strict=True))
        if n % 3 < 2
    ]
    return pairs[:count]


def row(name: str, what: str, answers: Sequence[Answer]) -> str:
    """Return the line of one simulator and one way to ask it."""
    judge = judging(load_simulator(name), what)
    for answer in answers[:WARMING]:
        judge(answer)
    rest = answers[WARMING:]
    durations, first = [], []
    for answer in rest:
        begun = time.perf_counter()
        first.append(judge(answer))
        durations.append(1e3 * (time.perf_counter() - begun))
    found = [first, [judge(answer) for answer in rest]]
    rates = []
    for processes in (1, 2):
        seconds, said = in_processes(name, what, answers, processes)
        found.append(said)
        rates.append(len(rest) / seconds)
    p50, p95, p99 = np.percentile(durations, (50, 95, 99))
    same = "yes" if all(each == first for each in found) else "NO"
    shown = name.split(":")[0]
    return (
        f"| {shown} | {what} | {len(rest)} | {p50:.1f} | {p95:.1f} | {p99:.1f} | {max(durations):.1f} "
        f"| {rates[0]:.0f} | {rates[1]:.0f} | {same} |"
    )


def judging(simulator: Simulator, what: str) -> Callable[[Answer], str]:
    """Return what asks the simulator and returns all that it says, as text."""

    def judge(answer: Answer) -> str:
        problem, steps = answer
        if what == "grade":
            return str(simulator.grade(problem, "\n".join(steps)))
        return str(simulator.verify(problem, Solution.from_steps(steps, id="s", problem=problem)))

    return judge


def in_processes(name: str, what: str, answers: Sequence[Answer], processes: int) -> tuple[float, list[str]]:
    """Return the seconds that processes take together, each warm, and what they say, in order."""
    with ProcessPoolExecutor(
        processes, get_context("spawn"), _start, (name, what, answers[:WARMING])
    ) as pool:
        list(pool.map(_judge_there, answers[:processes]))
        begun = time.perf_counter()
        said = list(pool.map(_judge_there, answers[WARMING:], chunksize=4))
        return time.perf_counter() - begun, said


_there: list[Callable[[Answer], str]] = []


def _start(name: str, what: str, warming: Sequence[Answer]) -> None:
    _there[:] = [judging(load_simulator(name), what)]
    for answer in warming:
        _judge_there(answer)


def _judge_there(answer: Answer) -> str:
    return _there[0](answer)


def bare_row(count: int) -> str:
    """Return the line of a Python process started for each answer."""
    program = "import json, sys\nprint(json.dumps(len(sys.stdin.read()) % 2 == 0))"
    durations = []
    for _ in range(count):
        begun = time.perf_counter()
        json.loads(subprocess.check_output([sys.executable, "-c", program], input=b"xx"))
        durations.append(1e3 * (time.perf_counter() - begun))
    p50, p95, p99 = np.percentile(durations, (50, 95, 99))
    rate = 1e3 * count / sum(durations)
    return f"| bare python | - | {count} | {p50:.1f} | {p95:.1f} | {p99:.1f} | {max(durations):.1f} | {rate:.0f} | - | - |"


def cycles() -> list[str]:
    """Return a table of the cost of one program against the length of the traces it is run on."""
    engine = SandboxedEngine()
    world = load_simulator("controllers")
    specifications = [specification_of(p, FAMILIES) for p in world.problems(12, split="test", seed=0)]
    lines = ["| each trace repeated | cycles of a problem, mean | milliseconds to run and check, median of 12 problems | a thousand cycles |", "|---|---|---|---|"]  # fmt: skip
    for times in (1, 2, 4, 8, 16):
        durations, lengths = [], []
        for specification in specifications:
            traces = [trace * times for trace in _traces(specification)]
            with engine.session() as session:
                runner = Runner(session, specification, reference_program(specification), is_complete=True)
                begun = time.perf_counter()
                runs = runner.run(traces)
                for prop in specification.properties:
                    for run in runs:
                        violated_at(specification, prop, run)
                durations.append(1e3 * (time.perf_counter() - begun))
            lengths.append(sum(map(len, traces)))
        mean, median = float(np.mean(lengths)), float(np.median(durations))
        lines.append(f"| {times} | {mean:,.0f} | {median:.1f} | {1e3 * median / mean:.1f} |")
    return lines


if __name__ == "__main__":
    main()
