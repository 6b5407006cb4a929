"""JSON Lines in, records out: physical line numbers, one reason a rejected line, nothing repaired.

Accepted column names: `prompt`, `problem` or `question` for the problem's text; `completions` or
`steps` for the list of steps, or one raw text under `completion`, `solution` or `response`, which is
then segmented. `labels` (one a step) and `first_error` (index, -1, or null) are both optional.
"""

import gzip
import json
import math
import zlib
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from labeling.errors import ConfigError, InputError, RecordError
from labeling.label_values import check_first_error
from labeling.records import (
    RIGHT_LABEL,
    UNKNOWN_LABEL,
    WRONG_LABEL,
    LabelledSolution,
    Problem,
    labelled_from_row,
)
from labeling.steps import THINK_TAG, open_thinking, segment

T = TypeVar("T")

PROMPT_NAMES = ("prompt", "problem", "question")
STEPS_NAMES = ("completions", "steps")
TEXT_NAMES = ("completion", "solution", "response")

ON_ERROR = ("stop", "skip")

MAX_DEPTH = 100
"""Objects and lists inside one another in a row; Python's own limit is reached at some hundreds."""


@dataclass
class Reading(Generic[T]):
    """What came out of a file, and what did not."""

    items: list[T] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    """Physical line of each item, counted from 1."""
    rejected: dict[int, str] = field(default_factory=dict)
    """Line -> reason; empty unless errors are skipped."""
    blank: list[int] = field(default_factory=list)
    """Lines that hold only whitespace; ignored."""

    def counts(self) -> dict[str, int]:
        """Counts for a report, zeros included."""
        return {
            "records read": len(self.items),
            "lines rejected": len(self.rejected),
            "blank lines ignored": len(self.blank),
        }


def read(path: str | Path, parse: Callable[[dict[str, Any]], T], *, on_error: str = "stop") -> Reading[T]:
    """Read a JSON Lines file (or `.gz` of one) with a parser of single rows.

    Args:
        path: The file.
        parse: Row -> record; raises RecordError for a row it refuses.
        on_error: "stop" at the first malformed line, or "skip" and keep the reason.

    Raises:
        RecordError: A line is malformed and `on_error` is "stop"; names file, line and record.
        InputError: The file does not exist or is not readable text.
    """
    if on_error not in ON_ERROR:
        raise ConfigError(f"on_error is {on_error!r}.", remedy=f"Use one of {', '.join(ON_ERROR)}.")
    reading: Reading[T] = Reading()
    line_of_id: dict[str, int] = {}
    for number, line in _lines(Path(path)):
        if not line.strip():
            reading.blank.append(number)
            continue
        try:
            row = parse_row(line)
            item = parse(row)
            _claim_id(row, number, line_of_id)
        except RecordError as error:
            if on_error == "skip":
                reading.rejected[number] = error.reason
                continue
            raise RecordError(
                error.reason,
                remedy=error.remedy or "Mend the line, or pass --on-error skip to count and skip such lines.",
                file=path,
                line=number,
                record_id=error.record_id or None,
            ) from error
        reading.items.append(item)
        reading.lines.append(number)
    return reading


def parse_row(line: str | bytes) -> dict[str, Any]:
    """Parse one line into a mapping; RecordError when it is not JSON, not UTF-8 or not an object."""
    try:
        text = line.decode("utf-8") if isinstance(line, bytes) else line
        row = json.loads(text)
    except UnicodeDecodeError as error:
        raise RecordError(f"not UTF-8 (byte {error.start}).") from error
    except json.JSONDecodeError as error:
        # Not the parser's own line number, which counts within the one line that it was given.
        raise RecordError(f"not JSON ({error.msg} at character {error.pos + 1}).") from error
    except (RecursionError, ValueError) as error:
        raise RecordError(f"not JSON ({error}).") from error
    if not isinstance(row, dict):
        raise RecordError(f"not an object but {type(row).__name__}.")
    if _has_surrogate(row, depth=0):
        raise RecordError("text holds half a surrogate pair, which is not Unicode.", record_id=_id_of(row))
    return row


def read_rows(path: str | Path, on_error: str = "stop") -> Reading[dict[str, Any]]:
    """Read plain rows, unchecked but for JSON, objects and unique ids; see `read`."""
    return read(path, lambda row: row, on_error=on_error)


def read_problems(path: str | Path, on_error: str = "stop") -> Reading[Problem]:
    """Read problems: `id`, a prompt column, `answer`, `meta`; see `read`."""
    return read(path, parse_problem, on_error=on_error)


def read_labelled(
    path: str | Path, on_error: str = "stop", *, segment_mode: str = "auto"
) -> Reading[LabelledSolution]:
    """Read solutions with whatever labels they have; see `read` and the module's docstring."""
    return read(path, lambda row: parse_labelled(row, segment_mode=segment_mode), on_error=on_error)


def parse_problem(row: Mapping[str, Any]) -> Problem:
    """Turn a row into a problem.

    Raises:
        RecordError: No problem text, or a field of the wrong kind.
    """
    record_id = _id_of(row)
    text = _text(row, PROMPT_NAMES, record_id, what="the problem's text")
    answer = row.get("answer")
    if answer is not None and not isinstance(answer, str):
        is_number = isinstance(answer, (int, float)) and not isinstance(answer, bool)
        # Python's reader takes NaN and Infinity, which are not JSON, and no answer either.
        if not is_number or not abs(answer) < math.inf:
            raise RecordError(
                f"answer is {answer if is_number else type(answer).__name__}, not text.",
                remedy="Write the reference answer as text, or null.",
                record_id=record_id,
            )
        answer = str(answer)
    meta = row.get("meta") or {}
    if isinstance(meta, str):
        try:
            meta = json.loads(meta)
        except (ValueError, RecursionError) as error:
            raise RecordError(f"meta is text but not JSON ({error}).", record_id=record_id) from error
    if not isinstance(meta, Mapping):
        raise RecordError(f"meta is {type(meta).__name__}, not an object.", record_id=record_id)
    meta = {**meta, **_tests_of(row)}
    return Problem(id=_id_of(row, "problem_id") or record_id, text=text, answer=answer, meta=meta)


def _tests_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the columns of tests, which data sets of code keep beside the problem; a verifier reads meta."""
    kinds = {
        "tests": list,
        "test_list": list,
        "test_setup_code": str,
        "unittest": str,
        "input_output": (str, dict),
    }
    found = {name: row[name] for name, kind in kinds.items() if isinstance(row.get(name), kind)}
    if isinstance(row.get("test"), str) and isinstance(row.get("entry_point"), str):
        found |= {"test": row["test"], "entry_point": row["entry_point"]}
    return found


def parse_labelled(row: Mapping[str, Any], *, segment_mode: str = "auto") -> LabelledSolution:
    """Turn a row into a labelled solution; steps nobody labelled are unknown.

    Raises:
        RecordError: A field is missing, empty or of the wrong kind, numbers do not match, or labels and
            first_error contradict each other (see `check_first_error`).
    """
    record_id = _id_of(row)
    problem = parse_problem(row)
    raw = _raw_text(row, problem, record_id)
    found = None if raw is None else segment(raw, segment_mode)
    steps = _steps(row, record_id) if found is None else [step.text for step in found.steps]
    labels = row.get("labels")
    first_error = row.get("first_error")
    check_first_error(first_error, [None] * len(steps), record_id=record_id)
    if labels is None:
        labels = labels_from_first_error(first_error, len(steps))
    if not isinstance(labels, list):
        raise RecordError(f"labels is {type(labels).__name__}, not a list.", record_id=record_id)
    if len(labels) != len(steps):
        noun = "label" if len(labels) == 1 else "labels"
        raise RecordError(f"{len(steps)} steps but {len(labels)} {noun}", record_id=record_id)
    shaped = dict(row)
    shaped |= {
        "id": record_id,
        "problem_id": problem.id,
        "prompt": problem.text,
        "completions": steps,
        "labels": labels,
        "first_error": first_error,
        "answer": problem.answer,
        "origin": row.get("origin") or row.get("source") or "source",
    }
    labelled = labelled_from_row(shaped)
    # `labelled_from_row` rebuilds the problem from columns; a simulator also needs its meta.
    solution = replace(labelled.solution, problem=problem)
    if raw is not None and found is not None:
        # What stands between the steps counts: a thinking tag decides whether there is an answer at all.
        solution = replace(solution, text=raw, steps=found.steps, segment_mode=found.mode)
    return replace(labelled, solution=solution)


def labels_from_first_error(first_error: int | None, n_steps: int) -> list[int]:
    """Labels that follow from the first error alone: 1 before it, 0 at it, unknown after it."""
    if first_error is None:
        return [UNKNOWN_LABEL] * n_steps
    if first_error == -1:
        return [RIGHT_LABEL] * n_steps
    return [
        RIGHT_LABEL if k < first_error else WRONG_LABEL if k == first_error else UNKNOWN_LABEL
        for k in range(n_steps)
    ]


def _raw_text(row: Mapping[str, Any], problem: Problem, record_id: str) -> str | None:
    """Return the solution of a row that is not cut yet, led by the thinking tag that its prompt ends in."""
    if any(n in row for n in STEPS_NAMES) or not any(isinstance(row.get(n), str) for n in TEXT_NAMES):
        return None
    text = _text(row, TEXT_NAMES, record_id, what="the solution")
    opening = open_thinking(problem.text)
    return text if THINK_TAG.match(text.lstrip()) else opening + text


def _steps(row: Mapping[str, Any], record_id: str) -> list[str]:
    name = next((n for n in STEPS_NAMES if n in row), None)
    if name is None:
        raise RecordError(
            "field steps is missing.",
            remedy="Give steps (a list) or completion (one text); --on-error skip counts such lines.",
            record_id=record_id,
        )
    steps = row[name]
    if not isinstance(steps, list):
        raise RecordError(f"{name} is {type(steps).__name__}, not a list of steps.", record_id=record_id)
    if not steps:
        raise RecordError("no steps.", record_id=record_id)
    for index, step in enumerate(steps):
        if not isinstance(step, str):
            raise RecordError(f"step {index} is {type(step).__name__}, not text.", record_id=record_id)
        if not step.strip():
            raise RecordError(f"empty step (index {index}).", record_id=record_id)
    return steps


def _text(row: Mapping[str, Any], names: tuple[str, ...], record_id: str, *, what: str) -> str:
    name = next((n for n in names if row.get(n) is not None), None)
    if name is None:
        raise RecordError(f"field {names[0]} is missing ({what}).", record_id=record_id)
    value = row[name]
    if not isinstance(value, str):
        raise RecordError(f"{name} is {type(value).__name__}, not text.", record_id=record_id)
    if not value.strip():
        raise RecordError(f"{name} is empty.", record_id=record_id)
    return value


def _id_of(row: Mapping[str, Any], name: str = "id") -> str:
    """Return an id as text, "" when there is none: 1 and "1" are the same id."""
    value = row.get(name)
    if value is None:
        return ""
    # True is an int, and 1.0 is written otherwise by every second program: neither names a record.
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        raise RecordError(
            f"{name} is {json.dumps(value, ensure_ascii=False)[:40]}, not text or a whole number.",
            remedy="Give every record an id of text or a whole number.",
        )
    return str(value)


def _claim_id(row: Mapping[str, Any], number: int, line_of_id: dict[str, int]) -> None:
    record_id = _id_of(row)
    if not record_id:
        raise RecordError(
            "field id is missing.", remedy="Every record needs an id that is unique in its file."
        )
    if record_id in line_of_id:
        raise RecordError(
            f"id {record_id} was already used on line {line_of_id[record_id]}.", record_id=record_id
        )
    line_of_id[record_id] = number


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if not path.is_file():
        what = "is a folder, not a file." if path.is_dir() else "there is no such file."
        raise InputError(what, remedy="Give the path of a JSON Lines file.", file=path)
    try:
        with gzip.open(path, "rb") if path.suffix == ".gz" else path.open("rb") as file:
            for number, line in enumerate(file, 1):
                # Windows programs begin a text file with a mark that is none of its text.
                yield number, line.removeprefix(BOM_UTF8) if number == 1 else line
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise InputError(f"cannot be unpacked ({error}).", remedy="Fetch it again.", file=path) from error
    except OSError as error:
        raise InputError(f"cannot be read ({error}).", remedy="Check its permissions.", file=path) from error


def _has_surrogate(value: Any, *, depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise RecordError(f"nested more than {MAX_DEPTH} deep.")
    if isinstance(value, str):
        return any("\ud800" <= c <= "\udfff" for c in value) if not value.isascii() else False
    if isinstance(value, dict):
        return any(
            _has_surrogate(k, depth=depth) or _has_surrogate(v, depth=depth + 1) for k, v in value.items()
        )
    if isinstance(value, list):
        return any(_has_surrogate(v, depth=depth + 1) for v in value)
    return False
