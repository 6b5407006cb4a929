"""The protocol of a world whose truth is computed: problems, step truth, grader."""

from dataclasses import dataclass
from typing import Protocol

from labeling.records import Problem, Solution
from labeling.verifiers.verdict import Verdict

RETRIED = "retried"
"""Kind of the evidence that says that a simulator's process ended, and that it was asked again."""
FAILED = "failed"
"""Kind of the evidence that says that a simulator gave no reply."""


@dataclass(frozen=True, kw_only=True)
class StepTruth:
    """What a simulator knows of one step. None: the simulator cannot tell."""

    is_equation_right: bool | None
    """The equation as written is arithmetically true."""
    is_quantity_right: bool | None
    """It uses the quantities (and catalogue values) that the problem calls for."""
    is_needed: bool
    """Leaving it out would leave the solution incomplete; filler and repetition are not needed."""


class Simulator(Protocol):
    """A user's own world implements these members; `labeling.simulators.engineering` is the example.

    A simulator is also a `Verifier` (it has `name` and `verify`), so `prm label --verifier
    package.module:Factory` takes one.
    """

    @property
    def name(self) -> str:
        """Short name."""
        ...

    def problems(self, count: int, *, split: str, seed: int) -> list[Problem]:
        """Generate `count` distinct problems; splits ("train", "test") share no problem text."""
        ...

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step exactly: one verdict a step."""
        ...

    def truth(self, problem: Problem, solution: Solution) -> list[StepTruth]:
        """Return what is known of each step, one record a step."""
        ...

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether the text ends in the right answer; None when it holds no answer.

        Raises:
            NotGradedError: There is an answer, and it cannot be judged: a crash never becomes a number.
        """
        ...
