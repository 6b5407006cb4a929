"""Solutions that are known to be right, and the same with one fault each."""

from dataclasses import dataclass

from labeling.errors import ConfigError
from labeling.records import Problem
from labeling.simulators.controllers.blocks import Language
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import Specification, specification_of
from labeling.simulators.controllers.text import LETTERS

_FENCES: dict[Language, str] = {"python": "python", "st": "iecst"}


@dataclass(frozen=True)
class FaultyProgram:
    """A reference program with one fault."""

    breaks: str
    """Id of the property that it breaks; it may break others with it."""
    code: str


def reference_program(specification: Specification, language: Language = "python") -> str:
    """Return a program that satisfies every property of a specification.

    Raises:
        ConfigError: There is none in this language; see `Family.structured_text`.
    """
    family = specification.family
    template = family.reference if language == "python" else family.structured_text
    if not template:
        raise ConfigError(
            f"{family.name} has no reference program in Structured Text.", remedy="Take the one in Python."
        )
    return specification.fill(template)


def faulty_programs(specification: Specification) -> list[FaultyProgram]:
    """Return the mutants whose property belongs to the sub-tasks posed.

    Raises:
        ValueError: A mutant replaces a text that the reference does not hold.
    """
    posed = {prop.id for prop in specification.properties}
    reference = specification.family.reference
    found: list[FaultyProgram] = []
    for mutant in specification.family.mutants:
        if mutant.old not in reference:
            raise ValueError(f"{specification.family.name}: the reference holds no {mutant.old!r}")
        if mutant.breaks in posed:
            code = specification.fill(reference.replace(mutant.old, mutant.new, 1))
            found.append(FaultyProgram(mutant.breaks, code))
    return found


def solution_steps(problem: Problem, language: Language = "python") -> list[str]:
    """Return a right solution of a problem: a step of prose, then one with code for every sub-task.

    Raises:
        RecordError: The problem is not of this simulator.
        ConfigError: There is no reference program in this language.
    """
    specification = specification_of(problem, FAMILIES)
    letters = ", ".join(f"({LETTERS[index]})" for index in range(specification.n_tasks))
    code = reference_program(specification, language)
    return [
        f"The controller keeps in its state what it must remember from one cycle to the next: {letters}.",
        f"Sub-tasks {letters}:\n```{_FENCES[language]}\n{code}```",
    ]
