"""Label files -> what the trainer learns from."""

import hashlib
from collections.abc import Sequence

from datasets import Dataset

from labeling.errors import InputError, RecordError
from labeling.label_values import count_until_first_error
from labeling.records import LabelledSolution, StepLabel
from labeling.sources.jsonl import read_labelled
from labeling.store import hash_file


def read_solutions(paths: Sequence[str], on_error: str) -> tuple[list[LabelledSolution], dict[str, int]]:
    """Read all files; return the solutions and what was read and left out, zeros included.

    Two files may use one id for different solutions; the same solution twice would weigh twice.

    Args:
        paths: Files of labelled rows.
        on_error: "stop" at a malformed line or a solution that an earlier file holds, or "skip" and count.

    Raises:
        RecordError: A line is malformed, or its id, prompt and steps are those of a line of an earlier file.
        InputError: There is no solution, or the labels of the files mean different things.
    """
    solutions: list[LabelledSolution] = []
    counts: dict[str, int] = {}
    places: dict[tuple[str, ...], str] = {}
    n_repeated = 0
    for path in paths:
        reading = read_labelled(path, on_error=on_error)
        for name, count in reading.counts().items():
            counts[name] = counts.get(name, 0) + count
        for line, labelled in zip(reading.lines, reading.items, strict=True):
            solution = labelled.solution
            identity = (solution.id, solution.problem.text, *solution.step_texts)
            if identity not in places:
                places[identity] = f"{path}:{line}"
                solutions.append(labelled)
            elif on_error == "skip":
                n_repeated += 1
            else:
                raise RecordError(
                    f"this solution was already read from {places[identity]} (same id, prompt and steps).",
                    remedy="Give it once, or pass --on-error skip to count and skip repeats.",
                    file=path,
                    line=line,
                    record_id=solution.id,
                )
    counts["rows repeated from another file"] = n_repeated
    if not solutions:
        raise InputError(
            "there is no labelled solution in the input.",
            remedy="Give a file that `prm label` wrote.",
            file=", ".join(paths),
        )
    semantics = sorted({solution.semantics for solution in solutions})
    if len(semantics) > 1:
        raise InputError(
            f"the labels mean different things: {', '.join(semantics)}.",
            remedy="Train one PRM for each meaning.",
            file=", ".join(paths),
        )
    return solutions, counts


def training_rows(
    solutions: Sequence[LabelledSolution], label_kind: str, *, until_first_error: bool
) -> Dataset:
    """Return rows in trl's stepwise layout, with an id for messages.

    Args:
        solutions: At least one.
        label_kind: "hard" or "soft"; soft falls back on the hard label where there is no fraction.
        until_first_error: Leave out the steps behind the first wrong one.
    """

    def target(label: StepLabel) -> float:
        return float(label.value if label_kind == "hard" or label.soft is None else label.soft)

    n_steps = [steps_to_learn(s, until_first_error=until_first_error) for s in solutions]
    return Dataset.from_dict(
        {
            "id": [solution.solution.id for solution in solutions],
            "prompt": [solution.solution.problem.text for solution in solutions],
            "completions": [s.solution.step_texts[:n] for s, n in zip(solutions, n_steps, strict=True)],
            "labels": [[target(x) for x in s.labels[:n]] for s, n in zip(solutions, n_steps, strict=True)],
        }
    )


def steps_to_learn(solution: LabelledSolution, *, until_first_error: bool) -> int:
    """Count the steps to train on: all, or those up to and including the first error."""
    values = [label.value for label in solution.labels]
    return count_until_first_error(values, solution.first_error) if until_first_error else len(values)


def hash_files(paths: Sequence[str]) -> str:
    """One hash for all files: that of the file, or of the files' hashes in order."""
    hashes = [hash_file(path) for path in paths]
    return hashes[0] if len(hashes) == 1 else hashlib.sha256("".join(hashes).encode()).hexdigest()
