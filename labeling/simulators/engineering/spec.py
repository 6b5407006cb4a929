"""What the truth of one problem consists of: named steps, each one operation on two whole numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.errors import RecordError
from labeling.records import Problem

LARGEST_VALUE = 199
"""Every result lies in 0..199."""


def apply(left: int, operator: str, right: int) -> int | None:
    """Return `left operator right`; None when a division does not come out whole (or is by zero)."""
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    return left // right if right and left % right == 0 else None


@dataclass(frozen=True)
class TrueStep:
    """A step of the true solution: `name left operator right = result`."""

    name: str
    left: int
    operator: str
    right: int
    result: int

    def __str__(self) -> str:
        return f"{self.name} {self.left} {self.operator} {self.right} = {self.result}"


@dataclass(frozen=True)
class Spec:
    """The true solution of one problem, as kept in `Problem.meta`."""

    is_chain: bool
    """True when each step takes up the result of the one before it (deep families)."""
    steps: tuple[TrueStep, ...]

    @property
    def answer(self) -> int:
        """The last step's result."""
        return self.steps[-1].result


def steps_meta(steps: Sequence[TrueStep]) -> list[list[str | int]]:
    """Return steps as the JSON lists that `spec_of` reads."""
    return [[s.name, s.left, s.operator, s.right, s.result] for s in steps]


def spec_of(problem: Problem) -> Spec:
    """Read the true solution out of a problem's `meta`.

    Raises:
        RecordError: `meta` does not hold the steps of this world.
    """
    meta: Mapping[str, Any] = problem.meta
    try:
        steps = tuple(
            TrueStep(str(name), int(left), str(operator), int(right), int(result))
            for name, left, operator, right, result in meta["steps"]
        )
        is_chain = meta["part"] == "deep"
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(
            f"this problem's meta does not hold the steps of the engineering world ({error!r}).",
            remedy="Keep the meta column of the problems this world generated, or use another verifier.",
            record_id=problem.id,
        ) from error
    if not steps:
        raise RecordError("this problem has no steps.", remedy="Generate it again.", record_id=problem.id)
    return Spec(is_chain=is_chain, steps=steps)


def solution_steps(problem: Problem) -> list[str]:
    """Return the ideal solution of a problem of this world, one line a step, answer line last.

    Raises:
        RecordError: The problem is not of this world.
    """
    spec = spec_of(problem)
    return [*(str(step) for step in spec.steps), f"answer {spec.answer}"]
