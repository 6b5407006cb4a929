"""The controllers simulator measured: references, mutants, and the time of a grade and of a verdict.

    python -m benchmarks.controllers --problems 10

Prints one Markdown table a measurement: for each specification the references that pass, the mutants whose
named property is found violated, the length of failing traces before and after shortening; and the time of
`grade` and `verify` in the sandbox, with the compilation of Structured Text.
"""

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from labeling.records import Problem, Solution
from labeling.report import wilson
from labeling.simulators.controllers import ControllersWorld, faulty_programs, reference_program
from labeling.simulators.controllers.check import check
from labeling.simulators.controllers.engine import SandboxedEngine
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import specification_of

BROKEN = "x := := 1;\nEND_PROGRAM"


@dataclass
class Tally:
    """What one specification came to."""

    references: list[bool] = field(default_factory=list)
    texts: list[bool] = field(default_factory=list)
    mutants: list[bool] = field(default_factory=list)
    found: list[int] = field(default_factory=list)
    shortest: list[int] = field(default_factory=list)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.controllers", description=__doc__)
    parser.add_argument("--problems", type=int, default=10, help="problems of each specification")
    options = parser.parse_args()
    engine = SandboxedEngine()
    times: dict[str, list[float]] = {}
    tallies: dict[str, Tally] = {}
    _first_structured_text(ControllersWorld(families=("tank-level",), engine=engine), times)
    for name in FAMILIES:
        world = ControllersWorld(families=(name,), engine=engine)
        tallies[name] = Tally()
        for problem in world.problems(options.problems, split="test", seed=0):
            _measure(world, problem, tallies[name], times)
    _print_tallies(tallies)
    _print_times(times)


def _first_structured_text(world: ControllersWorld, times: dict[str, list[float]]) -> None:
    """The first program of a process loads the grammar, the first syntax error the whole of it."""
    problem = world.problems(1, split="train", seed=0)[0]
    text = _fenced("iecst", reference_program(specification_of(problem, FAMILIES), "st"))
    _timed(times, "grade, first Structured Text of a process", lambda: world.grade(problem, text))
    broken = text.replace("END_PROGRAM", BROKEN)
    _timed(times, "grade, first syntax error of a process", lambda: world.grade(problem, broken))


def _measure(world: ControllersWorld, problem: Problem, tally: Tally, times: dict[str, list[float]]) -> None:
    specification = specification_of(problem, FAMILIES)
    right = _fenced("python", reference_program(specification))
    tally.references.append(_timed(times, "grade, right", lambda: world.grade(problem, right)) is True)
    _timed(times, "verify, right", lambda: world.verify(problem, _one_step(problem, right)))
    if FAMILIES[specification.family.name].structured_text:
        text = _fenced("iecst", reference_program(specification, "st"))
        graded = _timed(times, "grade, Structured Text", lambda: world.grade(problem, text))
        tally.texts.append(graded is True)
        broken = text.replace("END_PROGRAM", BROKEN)
        _timed(times, "grade, syntax error", lambda: world.grade(problem, broken))
    for faulty in faulty_programs(specification):
        wrong = _fenced("python", faulty.code)
        _timed(times, "grade, wrong", lambda wrong=wrong: world.grade(problem, wrong))
        _timed(times, "verify, wrong", lambda wrong=wrong: world.verify(problem, _one_step(problem, wrong)))
        findings = check(
            world._engine, specification, faulty.code, specification.properties, is_complete=True
        )
        tally.mutants.append(faulty.breaks in {v.property.id for v in findings.violations})
        if findings.violations:
            tally.found.append(findings.violations[0].original_cycles)
            tally.shortest.append(findings.violations[0].cycle + 1)


def _fenced(language: str, code: str) -> str:
    return f"```{language}\n{code}\n```"


def _one_step(problem: Problem, text: str) -> Solution:
    return Solution.from_steps([text], id="s", problem=problem)


def _timed(times: dict[str, list[float]], what: str, action: Callable[[], Any]) -> Any:
    begun = time.perf_counter()
    result = action()
    times.setdefault(what, []).append(time.perf_counter() - begun)
    return result


def _print_tallies(tallies: dict[str, Tally]) -> None:
    print(
        "| specification | properties | references right | in Structured Text | mutants caught "
        "| trace: median found, shortest |"
    )
    print("|---|---|---|---|---|---|")
    for name, tally in tallies.items():
        n = sum(len(task.properties) for task in FAMILIES[name].tasks)
        lengths = f"{statistics.median(tally.found):.0f}, {statistics.median(tally.shortest):.0f}"
        cells = [_share(c) if c else "-" for c in (tally.references, tally.texts, tally.mutants)]
        print(f"| {name} | {n} | {' | '.join(cells)} | {lengths} |")
    pooled = [
        [hit for t in tallies.values() for hit in getattr(t, c)] for c in ("references", "texts", "mutants")
    ]
    print(f"| all | | {' | '.join(_share(cells) for cells in pooled)} | |")


def _share(hits: list[bool]) -> str:
    return f"{sum(hits)} of {len(hits)} (at least {wilson(sum(hits), len(hits)).low:.3f})"


def _print_times(times: dict[str, list[float]]) -> None:
    print("\n| ms | n | median | p99 | most |\n|---|---|---|---|---|")
    for what, seconds in times.items():
        ordered = sorted(1000 * s for s in seconds)
        p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
        print(
            f"| {what} | {len(ordered)} | {statistics.median(ordered):.0f} | {p99:.0f} | {ordered[-1]:.0f} |"
        )
    sys.stdout.flush()


if __name__ == "__main__":
    main()
