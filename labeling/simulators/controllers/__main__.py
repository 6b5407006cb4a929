"""Write control problems to a file, for `prm label --input` and for people.

python -m labeling.simulators.controllers --count 24 --split test --output problems.jsonl
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from labeling.errors import InputError
from labeling.records import Problem
from labeling.simulators.controllers.references import solution_steps
from labeling.simulators.load import load_simulator
from labeling.simulators.splits import SPLITS


def main(arguments: list[str] | None = None) -> int:
    """Write the problems, one JSON object a line; exit codes as everywhere: 0, or 2 for the user's input."""
    options = _parser().parse_args(arguments)
    try:
        problems = load_simulator(options.simulator).problems(
            options.count, split=options.split, seed=options.seed
        )
    except InputError as error:
        sys.stderr.write(f"{error}\n")
        return error.exit_code
    lines = [json.dumps(_row(p, with_solution=options.solutions), ensure_ascii=False) for p in problems]
    options.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    sys.stdout.write(f"{len(problems)} problems written to {options.output}\n")
    return 0


def _row(problem: Problem, *, with_solution: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"id": problem.id, "prompt": problem.text, "meta": dict(problem.meta)}
    if with_solution:
        row["completions"] = solution_steps(problem)
    return row


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m labeling.simulators.controllers", description=__doc__)
    parser.add_argument("--simulator", default="controllers", help="controllers or controllers:SPEC[:TASKS]")
    parser.add_argument("--count", type=int, default=24, help="number of problems")
    parser.add_argument("--split", choices=SPLITS, default="test")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solutions", action="store_true", help="add the reference solution as completions")
    parser.add_argument("--output", type=Path, required=True, help="file to write, JSON Lines")
    return parser


if __name__ == "__main__":
    sys.exit(main())
