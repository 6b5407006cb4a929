"""The nouns of the ground floor, and their rows.

A row is trl's stepwise supervision (`prompt`, `completions`, `labels`) with our own columns beside
it, so `datasets.load_dataset("json", ...)` and other trainers read it unchanged. Rows carry a schema
version; older versions stay readable.
"""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from labeling.errors import RecordError
from labeling.label_values import (
    ALL_RIGHT,
    RIGHT_LABEL,
    UNKNOWN_LABEL,
    WRONG_LABEL,
    check_first_error,
    check_label,
)
from labeling.verifiers.verdict import Evidence, Outcome, Verdict, check_verdicts

SCHEMA_VERSION = 1

LABEL_OF = {
    Outcome.RIGHT: RIGHT_LABEL,
    Outcome.WRONG: WRONG_LABEL,
    Outcome.UNDECIDED: UNKNOWN_LABEL,
}
OUTCOME_OF = {label: outcome for outcome, label in LABEL_OF.items()}

CORRECTNESS = "correctness"
VALUE = "value"
SEMANTICS = (CORRECTNESS, VALUE)
COUNTS = ("n", "k", "cut", "unparsable", "undecided")
"""Columns of a row that hold what the rollouts from each step came to."""


@dataclass(frozen=True, kw_only=True)
class Problem:
    """A problem with its reference answer; a simulator keeps what it needs in `meta`."""

    id: str
    text: str
    answer: str | None = None
    """Reference answer as text; None when there is none."""
    meta: Mapping[str, Any] = field(default_factory=dict)
    """What else the source says, JSON-serialisable."""


def meta_text(problem: Problem) -> str:
    """Return a problem's meta as JSON text.

    Raises:
        RecordError: It holds what JSON cannot, or text that is not Unicode.
    """
    try:
        text = json.dumps(dict(problem.meta), ensure_ascii=False)
        text.encode("utf-8")
    except (TypeError, ValueError, RecursionError) as error:
        raise RecordError(
            f"the meta of problem {problem.id} cannot be written as JSON ({error}).",
            remedy="A source or simulator puts text, numbers, lists and objects of these into meta.",
            record_id=problem.id,
        ) from error
    return text


def normalised_problem_text(text: str) -> str:
    """Return what decides whether two problems are the same: no case, no spacing, one Unicode form."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True)
class Step:
    """One step and where it stands: `solution.text[start:end] == text`, in code points."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, kw_only=True)
class Solution:
    """A solution cut into steps. Invariant: each step's span gives its text back."""

    id: str
    problem: Problem
    text: str
    steps: tuple[Step, ...]
    final_correct: bool | None = None
    """Whether the source says that the final answer is right; None when it does not say."""
    is_cut: bool = False
    """True when the token limit stopped its sampling."""
    segment_mode: str = ""
    """How its text was cut into steps (see `labeling.steps`); empty when the source gives the steps."""

    @classmethod
    def from_steps(
        cls,
        steps: Sequence[str],
        *,
        id: str,
        problem: Problem,
        separator: str = "\n",
        final_correct: bool | None = None,
    ) -> "Solution":
        """Build a solution whose text is the steps joined by `separator`."""
        placed: list[Step] = []
        offset = 0
        for step in steps:
            placed.append(Step(step, offset, offset + len(step)))
            offset += len(step) + len(separator)
        return cls(
            id=id,
            problem=problem,
            text=separator.join(steps),
            steps=tuple(placed),
            final_correct=final_correct,
        )

    @property
    def step_texts(self) -> list[str]:
        """The steps as plain strings."""
        return [step.text for step in self.steps]


@dataclass(frozen=True, kw_only=True)
class RolloutCounts:
    """What the rollouts from one prefix came to. Invariant: k + unparsable <= n - cut - undecided.

    A rollout that ended by itself without an answer is wrong (it counts in `n`, not in `k`); one that
    hit the token limit is unknown (it counts in `cut` and is left out of the fraction), and so is one that
    could not be graded (`undecided`).
    """

    n: int
    """Rollouts made."""
    k: int
    """Of these, how many ended in the right answer."""
    cut: int = 0
    """How many were stopped by the token limit."""
    unparsable: int = 0
    """How many ended by themselves without a readable answer."""
    undecided: int = 0
    """How many have an answer that nobody could grade."""

    def __post_init__(self) -> None:
        # A rollout is right, cut, unparsable or undecided, or none of these, but never two of them.
        if min(self.n, self.k, self.cut, self.unparsable, self.undecided) < 0:
            raise ValueError(f"{self} counts less than nothing")
        if self.k + self.cut + self.unparsable + self.undecided > self.n:
            raise ValueError(f"{self} has more right, cut, unparsable and undecided rollouts than rollouts")

    @property
    def soft(self) -> float | None:
        """Share of graded rollouts that came out right, in [0, 1]; None when none was."""
        return self.k / self.graded if self.graded else None

    @property
    def graded(self) -> int:
        """Rollouts that finished, and whose answer, or lack of one, could be graded."""
        return self.n - self.cut - self.undecided


@dataclass(frozen=True, kw_only=True)
class StepLabel:
    """A step's recorded truth, with its origin."""

    value: int
    """1 right, 0 wrong, -100 unknown."""
    verdict: Verdict
    soft: float | None = None
    """A probability label in [0, 1], where the origin gives one."""
    counts: RolloutCounts | None = None


@dataclass(frozen=True, kw_only=True)
class LabelledSolution:
    """A solution with one label a step."""

    solution: Solution
    labels: tuple[StepLabel, ...]
    origin: str
    """Who says so: the verifiers' names, "monte_carlo", or a source's name."""
    semantics: str = CORRECTNESS
    """CORRECTNESS (is this step right?) or VALUE (can the prefix still reach the answer?)."""
    first_error: int | None = None
    """Index of the first wrong step, -1 when all are right, None when that is not known."""

    def to_row(self) -> dict[str, Any]:
        """Return the row of the label file; see the module's docstring.

        Raises:
            RecordError: The problem's meta is not JSON data.
        """
        row: dict[str, Any] = {
            "schema": SCHEMA_VERSION,
            "id": self.solution.id,
            "problem_id": self.solution.problem.id,
            "prompt": self.solution.problem.text,
            "completions": self.solution.step_texts,
            "labels": [label.value for label in self.labels],
            "verdicts": [str(label.verdict.outcome) for label in self.labels],
            "reasons": [label.verdict.reason for label in self.labels],
            "evidence": [[asdict(e) for e in label.verdict.evidence] for label in self.labels],
            "first_error": self.first_error,
            "answer": self.solution.problem.answer,
            "final_correct": self.solution.final_correct,
            "origin": self.origin,
            "semantics": self.semantics,
        }
        if self.solution.problem.meta:
            # As text: columns of other tools cannot hold objects whose fields differ from row to row.
            row["meta"] = meta_text(self.solution.problem)
        if any(label.soft is not None for label in self.labels):
            row["soft"] = [label.soft for label in self.labels]
        if any(label.counts is not None for label in self.labels):
            counts = [label.counts or RolloutCounts(n=0, k=0) for label in self.labels]
            for name in COUNTS:
                row[name] = [getattr(count, name) for count in counts]
        return row


def first_error_of(outcomes: Sequence[Outcome]) -> int | None:
    """Index of the first WRONG step; -1 when all are RIGHT; None when an UNDECIDED step hides it.

    A WRONG step behind an UNDECIDED one is not provably the *first* error, so the answer is None.
    """
    for index, outcome in enumerate(outcomes):
        if outcome is Outcome.WRONG:
            return index
        if outcome is Outcome.UNDECIDED:
            return None
    return ALL_RIGHT


def known_first_error(labelled: LabelledSolution) -> int | None:
    """The first error as the source gives it, else as the labels prove it, else None."""
    if labelled.first_error is not None or not labelled.labels:
        # A solution without steps is not "all right": nothing is known of it.
        return labelled.first_error
    return first_error_of([OUTCOME_OF[label.value] for label in labelled.labels])


def labelled_from_verdicts(
    solution: Solution, verdicts: Sequence[Verdict], *, origin: str
) -> LabelledSolution:
    """Turn one verdict a step into a labelled solution.

    Raises:
        RecordError: There is not exactly one verdict a step.
    """
    verdicts = check_verdicts(verdicts, name=origin, n_steps=len(solution.steps), record_id=solution.id)
    labels = tuple(StepLabel(value=LABEL_OF[v.outcome], verdict=v) for v in verdicts)
    return LabelledSolution(
        solution=solution,
        labels=labels,
        origin=origin,
        first_error=first_error_of([v.outcome for v in verdicts]),
    )


def labelled_from_row(row: Mapping[str, Any]) -> LabelledSolution:
    """Read a row written by `LabelledSolution.to_row`, or a bare trl stepwise-supervision row.

    Raises:
        RecordError: A field is missing or malformed, labels and steps differ in number, or fields
            contradict one another; see `check_first_error`.
    """
    record_id = str(row.get("id", ""))
    for name in ("prompt", "completions", "labels"):
        if name not in row:
            raise RecordError(
                f"field {name} is missing.",
                remedy="A labelled row needs prompt, completions and labels.",
                record_id=record_id,
            )
    steps = list(row["completions"])
    problem = Problem(
        id=str(row.get("problem_id") or record_id), text=row["prompt"], answer=row.get("answer")
    )
    solution = Solution.from_steps(
        steps, id=record_id, problem=problem, final_correct=row.get("final_correct")
    )
    labels = _labels_of(row, n_steps=len(steps), record_id=record_id)
    semantics = CORRECTNESS if row.get("semantics") is None else row["semantics"]
    if semantics not in SEMANTICS:
        raise RecordError(
            f"semantics is {semantics!r}.",
            remedy=f"Write {' or '.join(SEMANTICS)}, or leave it out for {CORRECTNESS}.",
            record_id=record_id,
        )
    # Labels of value do not speak of the step itself, so they rule no first error out.
    stated = row["labels"] if semantics == CORRECTNESS else [UNKNOWN_LABEL] * len(steps)
    check_first_error(row.get("first_error"), stated, record_id=record_id)
    return LabelledSolution(
        solution=solution,
        labels=labels,
        origin=str(row.get("origin", "source")),
        semantics=semantics,
        first_error=row.get("first_error"),
    )


def _labels_of(row: Mapping[str, Any], *, n_steps: int, record_id: str) -> tuple[StepLabel, ...]:
    columns = {name: row.get(name) for name in ("labels", "verdicts", "reasons", "evidence", "soft", *COUNTS)}
    for name, column in columns.items():
        if column is not None and not isinstance(column, (list, tuple)):
            raise RecordError(
                f"{name} is {type(column).__name__}, not a list.",
                remedy="Write one entry a step.",
                record_id=record_id,
            )
        if column is not None and len(column) != n_steps:
            raise RecordError(
                f"{n_steps} steps but {len(column)} entries in {name}.",
                remedy=f"Every step needs one; write {UNKNOWN_LABEL} for a step nobody graded.",
                record_id=record_id,
            )
    return tuple(_label_of(columns, index, record_id) for index in range(n_steps))


def _label_of(columns: Mapping[str, Any], index: int, record_id: str) -> StepLabel:
    def cell(name: str, default: Any = None) -> Any:
        column = columns[name]
        return default if column is None or column[index] is None else column[index]

    value, soft = check_label(columns["labels"][index], record_id=record_id, step=index)
    if (given := cell("soft")) is not None:
        known, _ = check_label(given, record_id=record_id, step=index)
        soft = None if known == UNKNOWN_LABEL else float(given)
    try:
        outcome = Outcome(cell("verdicts", OUTCOME_OF[value]))
        evidence = tuple(Evidence(**item) for item in cell("evidence", ()))
        counts = None
        if columns["n"] is not None:
            counts = RolloutCounts(**{name: _whole(cell(name, 0)) for name in COUNTS})
    except (TypeError, ValueError) as error:
        raise RecordError(
            f"a verdict, its evidence or its rollouts cannot be read ({error}, step {index}).",
            remedy="Keep these columns as `prm label` wrote them, or leave them out.",
            record_id=record_id,
        ) from error
    return StepLabel(
        value=value,
        verdict=Verdict(outcome, str(cell("reasons", "")), evidence),
        soft=soft,
        counts=counts,
    )


def _whole(count: Any) -> int:
    # A column with gaps comes back from other tools as fractions: 3.0 is 3, but 3.5 is no count.
    if isinstance(count, float) and count.is_integer():
        return int(count)
    if isinstance(count, bool) or not isinstance(count, int):
        raise ValueError(f"{count!r} is not a whole number")
    return count
