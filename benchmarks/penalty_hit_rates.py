"""How often the penalties hit honest steps, and how often inserted filler.

    python -m benchmarks.penalty_hit_rates FILE.jsonl ... [--world]

Each file holds one solution a line with `id`, `problem`, `steps` and `first_error` (-1: every step right).
Honest: the first 300 of at least two steps whose every step is right. Padded: the same with four filler
lines at random places (fixed seed).
"""

import argparse
import random
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from labeling.errors import InputError, RecordError
from labeling.label_values import ALL_RIGHT
from labeling.records import LabelledSolution
from labeling.simulators.engineering import EngineeringWorld
from labeling.sources.jsonl import parse_labelled, read
from rl.penalties import PENALTIES, step_costs

N_CHAINS = 300
N_PADS = 4
FILLERS = {
    "going on": ["Let us continue.", "Let's move on to the next step.", "Now we proceed.", "Okay, next."],
    "empty check": [
        "Let me double-check. Yes.",
        "I will verify this: it is correct.",
        "Checking, this is right.",
    ],
    "check x = x": None,
    "earlier step again": None,
}
FIELDS = ("id", "problem", "steps", "first_error")
Chain = tuple[str, list[str]]


def read_chains(path: Path) -> list[Chain]:
    solutions = [labelled.solution for labelled in read(path, parse).items if is_honest(labelled)]
    if not solutions:
        raise InputError(
            "no solution of at least two steps has first_error -1.",
            remedy="Give a file with solutions whose every step is right.",
            file=path,
        )
    return [(solution.problem.text, solution.step_texts) for solution in solutions[:N_CHAINS]]


def parse(row: dict[str, Any]) -> LabelledSolution:
    missing = [name for name in FIELDS if name not in row]
    if missing:
        raise RecordError(
            f"field {', '.join(missing)} is missing.",
            remedy=f"A row needs {', '.join(FIELDS)}.",
            record_id=str(row.get("id", "")),
        )
    return parse_labelled(row)


def is_honest(labelled: LabelledSolution) -> bool:
    return labelled.first_error == ALL_RIGHT and len(labelled.labels) > 1


def world_chains() -> list[Chain]:
    """Reference solutions of the shipped world, in its own terse notation."""
    problems = [
        problem
        for part in ("short", "deep")
        for problem in EngineeringWorld(part=part).problems(N_CHAINS // 2, split="test", seed=1)
    ]
    return [
        (
            p.text,
            [f"{n} {a} {sign} {b} = {c}" for n, a, sign, b, c in p.meta["steps"]] + [f"answer {p.answer}"],
        )
        for p in problems
    ]


def with_fillers(chain: Chain, kind: str, rng: random.Random) -> tuple[list[str], np.ndarray]:
    prompt, steps = chain
    padded, is_filler = list(steps), [False] * len(steps)
    for _ in range(N_PADS):
        at = rng.randint(1, len(padded) - 1)
        padded.insert(at, filler(prompt, padded[:at], kind, rng))
        is_filler.insert(at, True)
    return padded, np.array(is_filler)


def filler(prompt: str, before: list[str], kind: str, rng: random.Random) -> str:
    if kind == "earlier step again":
        return rng.choice(before)
    if kind == "check x = x":
        numbers = re.findall(r"\d+", " ".join([prompt, *before])) or ["1"]
        number = rng.choice(numbers)
        return f"check {number} = {number}"
    return rng.choice(FILLERS[kind])


def rows(name: str, chains: list[Chain]) -> Iterator[str]:
    costs = [step_costs(prompt, steps, tuple(PENALTIES)) for prompt, steps in chains]
    n_steps = sum(cost.total.size for cost in costs)
    shares = {p: sum((c.by_name[p] > 0).sum() for c in costs) / n_steps for p in PENALTIES}
    shares["any"] = sum((c.total > 0).sum() for c in costs) / n_steps
    yield f"{name}: {len(chains)} honest solutions, {n_steps} steps; share of steps charged: " + ", ".join(
        f"{p} {share:.3f}" for p, share in shares.items()
    )
    for kind in FILLERS:
        rng = random.Random(0)
        hits, paid = [], []
        for chain in chains:
            padded, is_filler = with_fillers(chain, kind, rng)
            total = step_costs(chain[0], padded, tuple(PENALTIES)).total[is_filler]
            hits.append((total > 0).mean())
            paid.append(total.sum())
        yield f"  {kind}: {np.mean(hits):.2f} of {N_PADS} fillers charged, {np.mean(paid):.3f} together"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--world", action="store_true", help="also the shipped world's reference solutions")
    arguments = parser.parse_args()
    try:
        chains = {path: read_chains(path) for path in arguments.files}
    except InputError as error:
        sys.exit(f"penalty_hit_rates: {error}")
    for path, honest in chains.items():
        print("\n".join(rows(path.stem, honest)))
    if arguments.world:
        print("\n".join(rows("world", world_chains())))


if __name__ == "__main__":
    main()
