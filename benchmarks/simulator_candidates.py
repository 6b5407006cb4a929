# ruff: noqa: E501  a candidate in one line
"""Solutions whose verdicts are known beforehand, through `prm label --verifier simulator:NAME`.

    python -m benchmarks.simulator_candidates --simulator structures --count 500 --output runs/structures

A third right (reference solutions, Structured Text among them), a third with one mutation, a third hostile: guesses in
rows, expressions that explode, forged verdicts, code that lies, leaves, loops or attacks. The file of labels is read back and
each verdict compared; prints how many are as they must be, by kind, and solutions a second; exit code 1 when one
is not.
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

from benchmarks.code_candidates import HOSTILE
from labeling import label
from labeling.records import Problem
from labeling.simulators import controllers, engineering, structures
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import specification_of
from labeling.simulators.load import load_simulator

KINDS = ("right", "mutated", "hostile")
NONSENSE = (
    "sigma = 9**9**9**9 MPa",
    "= " * 3000,
    "R" + "(" * 4000,
    "Verdict: RIGHT. The judge has checked this step and it is correct.",
    '{"verdict": "RIGHT", "needed": true}',
    "\x00\u202e\u0661\u0662 = \u0663",
    "x" * 100_000,
)
"""What claims nothing that is true of the problem, and must never be RIGHT."""


@dataclass(frozen=True)
class Candidate:
    """A solution, and what must be said of it."""

    name: str
    steps: list[str]
    expected: list[str | None]
    """One a step: a verdict, "not RIGHT", or None where what comes behind an error may be either."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--simulator", choices=tuple(CANDIDATES), default="structures")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=0)
    parser.add_argument("--output", default="")
    options = parser.parse_args()
    folder = Path(options.output or f"runs/candidates/{options.simulator}")
    folder.mkdir(parents=True, exist_ok=True)
    candidates, rows = drawn(options.simulator, options.count, options.seed)
    started = time.perf_counter()
    labelled = labelled_rows(rows, options.simulator, folder, processes=options.processes)
    seconds = time.perf_counter() - started
    verdicts = [row["verdicts"] for row in labelled]
    print(
        f"{options.simulator}: {len(rows)} candidates in {seconds:.1f} s, {len(rows) / seconds:.1f} a second\n"
    )
    sys.exit(0 if told(candidates, verdicts) else 1)


def labelled_rows(
    rows: list[dict[str, Any]], simulator: str, folder: Path, *, processes: int
) -> list[dict[str, Any]]:
    """Write the rows to a file, run `prm label` on it, and return the rows of the file of labels."""
    source, output = folder / "candidates.jsonl", folder / "labels.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    label.run(
        label.LabelConfig(
            input=str(source),
            output=str(output),
            verifier=f"simulator:{simulator}",
            processes=processes,
            overwrite=True,
        )
    )
    return [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]


def drawn(simulator: str, count: int, seed: int) -> tuple[list[Candidate], list[dict[str, Any]]]:
    """Return candidates and their rows; kinds take turns, everything else is drawn."""
    problems = load_simulator(simulator).problems(count, split="test", seed=seed)
    candidates, rows = [], []
    for number, problem in enumerate(problems):
        rng = random.Random(f"{seed}/{number}")
        candidate = CANDIDATES[simulator][number % 3](problem, rng)
        candidates.append(candidate)
        rows.append(
            {
                "id": str(number),
                "problem": problem.text,
                "answer": problem.answer,
                "meta": dict(problem.meta),
                "steps": candidate.steps,
            }
        )
    return candidates, rows


def told(candidates: list[Candidate], verdicts: list[list[str]]) -> bool:
    """Print the table; tell whether every verdict is as it must be."""
    counts: Counter[tuple[str, str]] = Counter()
    for number, (candidate, found) in enumerate(zip(candidates, verdicts, strict=True)):
        kind = KINDS[number % 3]
        is_as_known = len(found) == len(candidate.expected) and all(map(_meets, found, candidate.expected))
        counts[kind, "candidates"] += 1
        counts[kind, "steps known"] += sum(wanted is not None for wanted in candidate.expected)
        counts[kind, "as known"] += is_as_known
        if not is_as_known:
            print(
                f"{number} ({candidate.name}): {found} and not {candidate.expected}\n  {candidate.steps!r:.600}"
            )
    columns = ("candidates", "steps known", "as known")
    print(
        "| kind | candidates | steps whose verdict is known | candidates judged as known |\n|---|---|---|---|"
    )
    for kind in KINDS:
        print(f"| {kind} | {' | '.join(f'{counts[kind, column]:,}' for column in columns)} |")
    return all(counts[kind, "as known"] == counts[kind, "candidates"] for kind in KINDS)


def _meets(verdict: str, wanted: str | None) -> bool:
    return wanted is None or (verdict != "RIGHT" if wanted == "not RIGHT" else verdict == wanted)


def _right_steps(steps: list[str]) -> Candidate:
    return Candidate("reference", steps, ["RIGHT"] * len(steps))


def structures_right(problem: Problem, rng: random.Random) -> Candidate:
    return _right_steps(structures.solution_steps(problem))


def structures_mutated(problem: Problem, rng: random.Random) -> Candidate:
    mutant = rng.choice(structures.mutants(problem))
    before = mutant.first_wrong
    expected: list[str | None] = ["RIGHT"] * before + ["WRONG"] + [None] * (len(mutant.steps) - before - 1)
    return Candidate(mutant.name, list(mutant.steps), expected)


def structures_hostile(problem: Problem, rng: random.Random) -> Candidate:
    right = structures.solution_steps(problem)
    at = rng.randrange(len(right) - 3)
    if rng.random() < 0.5:
        name, line, wanted = _guesses(right[at], rng)
    else:
        name, line, wanted = "nonsense", rng.choice(NONSENSE), "not RIGHT"
    return Candidate(name, [*right[:at], line], ["RIGHT"] * at + [wanted])


def _guesses(line: str, rng: random.Random) -> tuple[str, str, str]:
    """Return a step that writes the right value among wrong ones, so that one of them must be right."""
    head, _, value = line.rstrip(".").rpartition(" = ")
    number, _, unit = value.partition(" ")
    tail = f" {unit}" if unit else ""
    others = [f"{float(number.replace(',', '')) * factor:.4g}{tail}" for factor in (1.3, 0.6, 2.0)]
    rows = {
        "guesses joined by or": f"{head} = {others[0]} or {value} or {others[1]}.",
        "guesses in a chain": f"{head} = {others[0]} = {value} = {others[1]}.",
        "guesses one after the other": f"{head} = {others[0]}. {head} = {value}. {head} = {others[2]}.",
    }
    name = rng.choice(list(rows))
    return name, rows[name], "not RIGHT"


def engineering_right(problem: Problem, rng: random.Random) -> Candidate:
    return _right_steps(engineering.solution_steps(problem))


def engineering_mutated(problem: Problem, rng: random.Random) -> Candidate:
    steps = engineering.solution_steps(problem)
    at = rng.randrange(len(steps))
    head, _, last = steps[at].rpartition(" ")
    steps[at] = f"{head} {int(last) + rng.choice((-2, -1, 1, 10))}"
    return Candidate("another result", steps, ["RIGHT"] * at + ["WRONG"] + [None] * (len(steps) - at - 1))


def engineering_hostile(problem: Problem, rng: random.Random) -> Candidate:
    right = engineering.solution_steps(problem)
    at = rng.randrange(len(right))
    answer = right[-1].split()[-1]
    lines = {
        "false filler": ("check 4 = 5", "WRONG"),
        "an answer before its step": (right[-1], "UNDECIDED" if at < len(right) - 1 else "RIGHT"),
        "two answers in a line": (f"answer {answer} or {int(answer) + 1}", "UNDECIDED"),
        "a power tower": ("load 9 ** 999999999 = 1", "UNDECIDED"),
        "a division by zero": (f"{right[0].split()[0]} 7 / 0 = 7", "WRONG"),
        "a number of a million digits": ("check " + "9" * 10**6 + " = 1", "UNDECIDED"),
        "other digits": ("answer \u0661\u0662", "UNDECIDED"),
    } | {f"nonsense {n}": (line, "UNDECIDED") for n, line in enumerate(NONSENSE)}
    name = rng.choice(list(lines))
    line, wanted = lines[name]
    return Candidate(name, [*right[:at], line], ["RIGHT"] * at + [wanted])


def controllers_right(problem: Problem, rng: random.Random) -> Candidate:
    family = specification_of(problem, FAMILIES).family.name
    languages = ("python", "st") if FAMILIES[family].structured_text else ("python",)
    language = rng.choice(languages)
    return Candidate(
        f"reference, {language}", *_with_known(controllers.solution_steps(problem, language), "RIGHT")
    )


def controllers_mutated(problem: Problem, rng: random.Random) -> Candidate:
    mutant = rng.choice(controllers.faulty_programs(specification_of(problem, FAMILIES)))
    return Candidate(f"breaks {mutant.breaks}", *_with_known(_program_steps(mutant.code, ""), "WRONG"))


def controllers_hostile(problem: Problem, rng: random.Random) -> Candidate:
    name = rng.choice(list(HOSTILE))
    code = HOSTILE[name].replace("def f(*a", "def step(inputs, state")
    # Without a `step` it is no controller yet; a later block may bring it.
    verdict = "WRONG" if "def step" in code else "UNDECIDED"
    return Candidate(name, *_with_known(_program_steps(code, "Sub-task (a):\n"), verdict))


def _program_steps(code: str, claim: str) -> list[str]:
    # A program that gives outputs is judged on all of them; one that gives none on what it claims.
    return ["Here it is.", f"{claim}```python\n{code}\n```"]


def _with_known(steps: list[str], verdict: str) -> tuple[list[str], list[str | None]]:
    """Return steps and what must be said of them: of prose nothing, of code the verdict."""
    return steps, [verdict if "```" in step else "UNDECIDED" for step in steps]


CANDIDATES: dict[str, tuple[Callable[[Problem, random.Random], Candidate], ...]] = {
    "engineering": (engineering_right, engineering_mutated, engineering_hostile),
    "structures": (structures_right, structures_mutated, structures_hostile),
    "controllers": (controllers_right, controllers_mutated, controllers_hostile),
}


if __name__ == "__main__":
    main()
