"""The three values, their evidence, and the protocol every verifier meets."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Protocol

from labeling.errors import RecordError

if TYPE_CHECKING:
    from labeling.records import Problem, Solution


class Outcome(StrEnum):
    """What a verifier can say of a step. UNDECIDED is not WRONG."""

    RIGHT = "RIGHT"
    WRONG = "WRONG"
    UNDECIDED = "UNDECIDED"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One claim that was looked at, machine-readable, so that a person can see why.

    All fields are text or whole numbers: rows of different verifiers then share one column type.
    """

    verifier: str
    """Name of the verifier that looked."""
    outcome: str
    """RIGHT, WRONG or UNDECIDED for this claim alone."""
    kind: str = ""
    """Class of the finding, e.g. "equation", "running_equals", "final_answer"."""
    text: str = ""
    """The claim as written in the step."""
    start: int = 0
    """Offset of the claim in the step's text, in Unicode code points."""
    end: int = 0
    """End of the claim, exclusive."""
    left: str = ""
    """Recomputed or extracted left value, as text ("" when there is none)."""
    right: str = ""
    """Right value or reference, as text."""
    reason: str = ""
    """Why, in one sentence."""


@dataclass(frozen=True)
class Verdict:
    """What one verifier says of one step."""

    outcome: Outcome
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()

    @classmethod
    def right(cls, reason: str = "", evidence: Sequence[Evidence] = ()) -> "Verdict":
        """Return a RIGHT verdict."""
        return cls(Outcome.RIGHT, reason, tuple(evidence))

    @classmethod
    def wrong(cls, reason: str, evidence: Sequence[Evidence] = ()) -> "Verdict":
        """Return a WRONG verdict; the reason is obligatory."""
        return cls(Outcome.WRONG, reason, tuple(evidence))

    @classmethod
    def undecided(cls, reason: str, evidence: Sequence[Evidence] = ()) -> "Verdict":
        """Return an UNDECIDED verdict; the reason is obligatory."""
        return cls(Outcome.UNDECIDED, reason, tuple(evidence))


class Verifier(Protocol):
    """Anything that can judge the steps of a solution.

    `verify` returns exactly one verdict a step, in order; it raises only for a fault of its own.
    """

    @property
    def name(self) -> str:
        """Short name, as written on the command line and in evidence."""
        ...

    def verify(self, problem: "Problem", solution: "Solution") -> list[Verdict]:
        """Judge each step of `solution`."""
        ...


def check_verdicts(verdicts: Any, *, name: str, n_steps: int, record_id: str) -> list[Verdict]:
    """Return what a verifier gave back, when it is one verdict a step, of the declared types throughout.

    Raises:
        RecordError: It is not: a missing verdict must never move the others to another step, and the
            text "WRONG" in place of an `Outcome` would be taken for something else.
    """
    remedy = "A verifier returns exactly one Verdict a step, in order; UNDECIDED where it cannot tell."
    if not isinstance(verdicts, Sequence):
        what = f"a {type(verdicts).__name__} and no list of verdicts"
    elif len(verdicts) != n_steps:
        what = f"{len(verdicts)} verdicts for {n_steps} steps"
    else:
        listed = list(verdicts)
        for step, verdict in enumerate(listed):
            if fault := _fault_of_verdict(verdict):
                what, remedy = f"{fault} (step {step})", _TYPES_REMEDY
                break
        else:
            return listed
    raise RecordError(f"{name} returned {what}.", remedy=remedy, record_id=record_id)


_TYPES_REMEDY = (
    "A Verdict has an Outcome, a text as reason and a tuple of Evidence; an Evidence has texts, and whole "
    "numbers as start and end."
)
_OUTCOMES = frozenset(Outcome)
_text_fields = attrgetter(*(field.name for field in fields(Evidence) if field.type is str))


def _fault_of_verdict(verdict: Any) -> str:
    """Say what is wrong with the types of one verdict, "" when nothing is; a few microseconds."""
    if type(verdict) is not Verdict:
        return f"a {type(verdict).__name__} where a Verdict belongs"
    if type(verdict.outcome) is not Outcome:
        return f"a verdict whose outcome is {verdict.outcome!r} and no Outcome"
    if fault := _fault_of_texts((verdict.reason,)):
        return f"a verdict whose reason {fault}"
    if not isinstance(verdict.evidence, (tuple, list)):
        return f"a verdict whose evidence is {type(verdict.evidence).__name__} and no tuple"
    for item in verdict.evidence:
        if type(item) is not Evidence:
            return f"a {type(item).__name__} where an Evidence belongs"
        if fault := _fault_of_texts(_text_fields(item)):
            return f"an evidence of which a text {fault}"
        if item.outcome not in _OUTCOMES:
            return f"an evidence whose outcome is {item.outcome!r}"
        # True is an int, and would become another type of column.
        if type(item.start) is not int or type(item.end) is not int:
            return f"an evidence from {item.start!r} to {item.end!r}, which are not whole numbers"
    return ""


def _fault_of_texts(texts: tuple[Any, ...]) -> str:
    try:
        "".join(texts).encode("utf-8")
    except TypeError:
        return f"is {next(type(text).__name__ for text in texts if not isinstance(text, str))}, not text"
    except UnicodeEncodeError:
        return "holds half a surrogate pair, which is not Unicode"
    return ""
