"""What a comparison of two answers finds, how findings are put together, and what the rules share."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol


class State(Enum):
    """What is known of two answers."""

    EQUAL = "equal"
    DIFFERENT = "different"
    UNSURE = "unsure"
    LEFT_UNREADABLE = "left unreadable"
    RIGHT_UNREADABLE = "right unreadable"


@dataclass(frozen=True)
class Finding:
    """A state and its reason, one phrase."""

    state: State
    reason: str

    @property
    def is_equal(self) -> bool:
        """Tell whether the answers were found equal."""
        return self.state is State.EQUAL


class Algebra(Protocol):
    """Compares two cleaned answers by algebra, numbers up to `tolerance`.

    Without a second answer, EQUAL tells that the first can be read.
    """

    def __call__(self, left: str, right: str | None, tolerance: Fraction) -> Finding:
        """Compare, or read one."""
        ...


class Rules(Protocol):
    """What one rule asks of all: to compare the parts of an answer, and whether a part can be read."""

    def answers(self, left: str, right: str) -> Finding:
        """Compare two cleaned answers of any kind."""
        ...

    def values(self, left: str, right: str) -> Finding:
        """Compare two cleaned answers that are neither named nor listed without brackets."""
        ...

    def algebra_of(self, left: str, right: str) -> Finding:
        """Compare two cleaned answers as expressions."""
        ...

    def is_readable(self, clean: str) -> bool:
        """Tell whether a cleaned answer can be read."""
        ...


def equal(reason: str) -> Finding:
    """EQUAL, and why."""
    return Finding(State.EQUAL, reason)


def different(reason: str) -> Finding:
    """DIFFERENT, and why."""
    return Finding(State.DIFFERENT, reason)


def unsure(reason: str) -> Finding:
    """UNSURE, and why."""
    return Finding(State.UNSURE, reason)


LEFT_UNREADABLE = Finding(State.LEFT_UNREADABLE, "cannot be read")
RIGHT_UNREADABLE = Finding(State.RIGHT_UNREADABLE, "cannot be read")


def unreadable(*, is_left: bool) -> Finding:
    """Say which of the two answers cannot be read."""
    return LEFT_UNREADABLE if is_left else RIGHT_UNREADABLE


def unless_equal(finding: Finding, reason: str) -> Finding:
    """Turn EQUAL into UNSURE: the values agree, and something about them does not."""
    return unsure(reason) if finding.is_equal else finding


def best_of(tried: Sequence[Finding]) -> Finding:
    """Return what a value has among its candidates: a match, else a doubt, else no match."""
    return min(tried, key=lambda each: _RANKS[each.state], default=different("values differ"))


_RANKS = {
    State.EQUAL: 0,
    State.UNSURE: 1,
    State.LEFT_UNREADABLE: 2,
    State.RIGHT_UNREADABLE: 3,
    State.DIFFERENT: 4,
}


def all_of(results: Sequence[Finding], reason: str) -> Finding:
    """Put together what was found of the parts: equal for `reason` when all are."""
    for state in (State.LEFT_UNREADABLE, State.DIFFERENT, State.RIGHT_UNREADABLE, State.UNSURE):
        found = next((each for each in results if each.state is state), None)
        if found:
            return found
    return equal(reason)
