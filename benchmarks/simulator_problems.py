"""A small set of problems of a simulator, each with its reference solution where the simulator has one.

    python -m benchmarks.simulator_problems --simulator structures --count 50 --output problems.jsonl

Rows are those that `prm label --input FILE --samples N` reads; `steps` holds the reference solution. Prints
what the card of the set states: problems a family, share of each answer, steps.
"""

import argparse
import importlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from labeling.errors import ToolkitError
from labeling.records import Problem
from labeling.simulators.load import checked_problems, load_simulator


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--simulator", default="structures", help="as in `prm label --simulator`")
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--split", choices=("train", "test"), default="train")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, required=True, help="JSON Lines file to write")
    arguments = parser.parse_args()
    try:
        simulator = load_simulator(arguments.simulator)
        problems = checked_problems(
            simulator.problems(arguments.count, split=arguments.split, seed=arguments.seed),
            simulator=arguments.simulator,
        )
    except ToolkitError as error:
        parser.error(str(error))
    reference = reference_of(arguments.simulator)
    rows = [row(problem, reference) for problem in problems]
    text = "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in rows)
    arguments.output.write_text(text, encoding="utf-8")
    print("\n".join(summary(problems, rows)))


def reference_of(name: str) -> Callable[[Problem], list[str]] | None:
    """Return what writes reference solutions of a shipped simulator, None for a user's own."""
    head = name.split(":")[0]
    if head not in ("engineering", "structures", "controllers"):
        return None
    return importlib.import_module(f"labeling.simulators.{head}").solution_steps


def row(problem: Problem, reference: Callable[[Problem], list[str]] | None) -> dict[str, object]:
    """Return a problem as a row of a file of problems or solutions."""
    fields: dict[str, object] = {
        "id": problem.id,
        "problem": problem.text,
        "answer": problem.answer,
        "meta": dict(problem.meta),
    }
    return fields if reference is None else fields | {"steps": reference(problem)}


def summary(problems: list[Problem], rows: list[dict[str, object]]) -> list[str]:
    """Return the numbers of a set, one line each."""
    families = Counter(str(problem.meta.get("family", "")) for problem in problems)
    lines = [f"{len(problems)} problems"]
    lines += [f"{count:5d} {family}" for family, count in sorted(families.items())]
    verdicts = Counter((problem.answer or "").rpartition(", ")[2] for problem in problems)
    if set(verdicts) == {"safe", "not safe"}:
        lines.append(f"safe {verdicts['safe']}, not safe {verdicts['not safe']}")
    steps = [len(each["steps"]) for each in rows if isinstance(each.get("steps"), list)]
    if steps:
        lines.append(
            f"steps of a reference {min(steps)} to {max(steps)}, {sum(steps) / len(steps):.1f} on average"
        )
    return lines


if __name__ == "__main__":
    main()
