"""How long a simulator takes for one answer, what that grows with, and how many mistakes it finds.

    python -m benchmarks.simulators --simulator structures --problems 200
    python -m benchmarks.simulators --members
    python -m benchmarks.simulators --mutants --problems 200

The first prints p50, p95 and p99 of the seconds for generating a problem, for judging and for grading one
answer: cold (the problem is new to the process) and warm (as in a group of answers to one problem). The
second solves Pratt-like trusses and beams of 2 to 64 members. The third judges references and mutants of the
structures world and counts how many are caught at the right step for the right cause.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from benchmarks.simulator_problems import reference_of
from labeling.records import Problem, Solution
from labeling.simulators.base import Simulator
from labeling.simulators.load import load_simulator
from labeling.verifiers.verdict import Outcome

MEMBERS = (2, 4, 8, 16, 32, 64)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulator", default="structures")
    parser.add_argument("--problems", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--members", action="store_true", help="cost against the number of members")
    parser.add_argument("--mutants", action="store_true", help="mutants caught, of the structures world")
    arguments = parser.parse_args()
    if arguments.members:
        print("\n".join(members()))
    elif arguments.mutants:
        print("\n".join(mutants(arguments.problems, arguments.seed)))
    else:
        print("\n".join(latencies(arguments.simulator, arguments.problems, arguments.seed)))


def latencies(name: str, count: int, seed: int) -> list[str]:
    """Return a table of latencies in milliseconds."""
    simulator = load_simulator(name)
    reference = reference_of(name)
    if reference is None:
        raise SystemExit(f"{name} has no reference solutions to judge; name a shipped simulator.")
    # Libraries load and unit tables fill with the first answer of a process.
    warm_up(simulator, reference, seed)
    started = time.perf_counter()
    problems = simulator.problems(count, split="train", seed=seed)
    each = (time.perf_counter() - started) / count
    right = [(problem, reference(problem)) for problem in problems]
    wrong = [(problem, wronged(problem, steps)) for problem, steps in right]
    lines = [f"{name}: {count} problems, {1e3 * each:.1f} ms to generate one\n"]
    lines += ["| milliseconds for one answer | n | p50 | p95 | p99 | most |", "|---|---|---|---|---|---|"]
    simulator = load_simulator(name)
    forget()
    for what, answers in (("reference", right), ("wrong throughout", wrong)):
        for state in ("cold", "warm"):
            lines.append(row(f"verify, {what}, {state}", seconds(answers, verifying(simulator))))
    forget()
    for state in ("cold", "warm"):
        lines.append(row(f"grade, {state}", seconds(right, grading(simulator))))
    return lines


def warm_up(simulator: Simulator, reference: Callable[[Problem], list[str]], seed: int) -> None:
    for problem in simulator.problems(8, split="train", seed=seed + 1):
        verifying(simulator)(problem, wronged(problem, reference(problem)))


def wronged(problem: Problem, steps: Sequence[str]) -> list[str]:
    """Return steps whose values are all wrong by an odd factor, so that every mistake is tried on each."""
    if problem.meta.get("world") != "structures":
        return [step + "9" for step in steps]
    names = [(step.rpartition(": ")[2].split(" = ")[0], step.rpartition(" = ")[2]) for step in steps]
    return [f"{name} = 3{value}" if " = " in step and value[:1].isdigit() else step
            for (name, value), step in zip(names, steps, strict=True)]  # fmt: skip


def forget() -> None:
    """Forget the solutions of the structures world, as a new process would."""
    from labeling.simulators.structures import model, spec

    model.solve.cache_clear()
    spec._read.cache_clear()


def verifying(simulator: Simulator) -> Callable[[Problem, Sequence[str]], object]:
    return lambda problem, steps: simulator.verify(
        problem, Solution.from_steps(list(steps), id="s", problem=problem)
    )


def grading(simulator: Simulator) -> Callable[[Problem, Sequence[str]], object]:
    return lambda problem, steps: simulator.grade(problem, "\n".join(steps))


def seconds(
    answers: Sequence[tuple[Problem, Sequence[str]]], judge: Callable[[Problem, Sequence[str]], object]
) -> list[float]:
    found = []
    for problem, steps in answers:
        started = time.perf_counter()
        judge(problem, steps)
        found.append(time.perf_counter() - started)
    return found


def row(what: str, durations: Sequence[float]) -> str:
    p50, p95, p99 = np.percentile(durations, (50, 95, 99)) * 1e3
    return f"| {what} | {len(durations)} | {p50:.1f} | {p95:.1f} | {p99:.1f} | {1e3 * max(durations):.1f} |"


def members() -> list[str]:
    """Return a table of the seconds of one solution against the number of members."""
    from labeling.simulators.structures.families.base import Line, down
    from labeling.simulators.structures.model import solve

    lines = ["| members of a beam | milliseconds to solve, median of 9 | a member |", "|---|---|---|"]
    for count in MEMBERS:
        points = {f"N{i}": float(i) for i in range(count + 1)}
        structure = Line(points, {"N0": "pin", f"N{count}": "roller"}, [down("N1", 10.0)]).build()
        durations = []
        for repeat in range(9):
            started = time.perf_counter()
            solve(structure, 210_000.0 + repeat, 5000.0, 2e7)
            durations.append(1e3 * (time.perf_counter() - started))
        median = float(np.median(durations))
        lines.append(f"| {count} | {median:.1f} | {median / count:.2f} |")
    return lines


def mutants(count: int, seed: int) -> list[str]:
    """Return how many references pass and how many mutants are caught, by cause."""
    from labeling.simulators import structures

    world = structures.StressLimits()
    caught: Counter[str] = Counter()
    total: Counter[str] = Counter()
    steps: Counter[Outcome] = Counter()
    alone = graded = 0
    for problem in world.problems(count, split="train", seed=seed):
        reference = structures.solution_steps(problem)
        solution = Solution.from_steps(reference, id="s", problem=problem)
        steps.update(verdict.outcome for verdict in world.verify(problem, solution))
        graded += world.grade(problem, "\n".join(reference)) is True
        for mutant in structures.mutants(problem):
            found = first_causes(world, problem, mutant.steps)
            total[mutant.cause] += 1
            caught[mutant.cause] += (
                found is not None and found[0] == mutant.first_wrong and mutant.cause in found[1]
            )
            alone += found is not None and len(found[1]) == 1
    said = ", ".join(f"{steps[outcome]} {outcome}" for outcome in Outcome)
    lines = [f"{count} references, {graded} graded right; their steps: {said}\n"]
    lines += ["| cause | mutants | at the right step, cause named |", "|---|---|---|"]
    lines += [f"| {cause} | {total[cause]} | {caught[cause]} |" for cause in sorted(total)]
    lines.append(f"| all | {total.total()} | {caught.total()} |")
    lines.append(f"\nOne cause alone is named in {alone} of {total.total()}.")
    return lines


def first_causes(world: Simulator, problem: Problem, steps: Sequence[str]) -> tuple[int, set[str]] | None:
    """Return the first wrong step and the causes that its evidence names."""
    verdicts = world.verify(problem, Solution.from_steps(list(steps), id="s", problem=problem))
    for index, verdict in enumerate(verdicts):
        if verdict.outcome is Outcome.WRONG:
            kinds = [item.kind for item in verdict.evidence if item.outcome == Outcome.WRONG]
            return index, {cause for kind in kinds for cause in kind.partition(": ")[2].split("|")}
    return None


if __name__ == "__main__":
    main()
