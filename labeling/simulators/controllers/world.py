"""The simulator: control problems, step verdicts, and a grade for the last program of a solution."""

import difflib
import hashlib
from functools import cached_property
from random import Random

from labeling.errors import ConfigError, NotGradedError
from labeling.records import Problem, Solution
from labeling.simulators.base import StepTruth
from labeling.simulators.controllers.blocks import Program, blocks_of, program_of
from labeling.simulators.controllers.check import check
from labeling.simulators.controllers.engine import Engine, SandboxedEngine
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.judge import Judge, ProgramError, UnsupportedError
from labeling.simulators.controllers.spec import (
    Specification,
    draw,
    specification_meta,
    specification_of,
)
from labeling.simulators.controllers.st import (
    StructuredTextError,
    UnsupportedTextError,
    compile_program,
)
from labeling.simulators.controllers.text import problem_text
from labeling.simulators.splits import distinct_problems
from labeling.verifiers.verdict import Outcome, Verdict

MOST_TASKS = 3


class ControllersWorld:
    """Problem source, step verifier and grader in one; implements `labeling.simulators.base.Simulator`.

    Args:
        families: Names to keep; None keeps all.
        n_tasks: How many sub-tasks a problem has, 1 to MOST_TASKS; fewer is easier. None draws it.
        engine: Where candidate code runs; None takes the toolkit's sandbox when it is first needed.

    Raises:
        ConfigError: A family does not exist, or `n_tasks` is out of range.
    """

    def __init__(
        self,
        *,
        families: tuple[str, ...] | None = None,
        n_tasks: int | None = MOST_TASKS,
        engine: Engine | None = None,
    ) -> None:
        if n_tasks is not None and not 1 <= n_tasks <= MOST_TASKS:
            raise ConfigError(
                f"a problem of {n_tasks} sub-tasks does not exist.", remedy=f"Give 1 to {MOST_TASKS}."
            )
        self.families = _chosen(families)
        self.n_tasks = n_tasks
        self._given_engine = engine

    @property
    def name(self) -> str:
        """Short name, as written in evidence."""
        return "controllers"

    @cached_property
    def _engine(self) -> Engine:
        return SandboxedEngine() if self._given_engine is None else self._given_engine

    def problems(self, count: int, *, split: str, seed: int) -> list[Problem]:
        """Generate `count` problems with distinct texts; a longer list begins with the shorter one.

        A text belongs to exactly one split, by a hash of the text, whatever the seed.

        Raises:
            ConfigError: The split does not exist, or the chosen families hold too few problems.
        """
        return distinct_problems(
            self._draw,
            count,
            world="controllers",
            split=split,
            seed=seed,
            remedy="Ask for fewer problems, or for more families.",
        )

    def _draw(self, rng: Random) -> Problem:
        family = FAMILIES[rng.choice(self.families)]
        n_tasks = rng.randint(1, MOST_TASKS) if self.n_tasks is None else self.n_tasks
        specification = draw(family, rng, n_tasks=n_tasks)
        text = problem_text(specification)
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        return Problem(
            id=f"controllers-{family.name}-{digest}", text=text, meta=specification_meta(specification)
        )

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step; see `Judge`.

        Raises:
            RecordError: The problem is not of this world.
            SandboxUnavailableError: There is no sandbox to run code in.
        """
        judge = Judge(self.name, specification_of(problem, FAMILIES), self._engine, compiled)
        return [judge.step(step.text) for step in solution.steps]

    def truth(self, problem: Problem, solution: Solution) -> list[StepTruth]:
        """Return what is known of each step; a step is needed when it brings code not written before.

        Raises:
            RecordError: The problem is not of this world.
            SandboxUnavailableError: There is no sandbox to run code in.
        """
        verdicts = self.verify(problem, solution)
        written: set[str] = set()
        truths: list[StepTruth] = []
        for step, verdict in zip(solution.steps, verdicts, strict=True):
            codes = {" ".join(block.code.split()) for block in blocks_of(step.text)}
            known = {Outcome.RIGHT: True, Outcome.WRONG: False}.get(verdict.outcome)
            truths.append(
                StepTruth(is_equation_right=None, is_quantity_right=known, is_needed=bool(codes - written))
            )
            written |= codes
        return truths

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether the program that a solution ends with satisfies every property.

        Returns:
            True or False; None when the text holds no code.

        Raises:
            NotGradedError: The code is outside the documented subset of Structured Text, or the sandbox could
                not run it.
            RecordError: The problem is not of this world.
            SandboxUnavailableError: There is no sandbox to run code in.
        """
        specification = specification_of(problem, FAMILIES)
        blocks = blocks_of(text)
        if not blocks:
            return None
        program = program_of(blocks)
        if program is None:
            return False
        try:
            code = compiled(program, specification)
        except UnsupportedError as error:
            raise NotGradedError(str(error)) from error
        except ProgramError:
            return False
        properties = specification.properties
        findings = check(self._engine, specification, code, properties, is_complete=True, is_shrunk=False)
        if findings.stopped is not None:
            if not findings.stopped.is_candidate_fault:
                raise NotGradedError(str(findings.stopped))
            return False
        return not findings.violations


def compiled(program: Program, specification: Specification) -> str:
    """Return a program as a Python module that defines `step`.

    Raises:
        UnsupportedError: It is outside the documented subset.
        ProgramError: It is not a program of its language.
    """
    if program.language == "python":
        return program.code
    family, names = specification.family, specification.names
    try:
        return compile_program(
            program.code,
            inputs={names[signal.role]: signal.kind for signal in family.inputs},
            outputs={names[signal.role]: signal.kind for signal in family.outputs},
            cycle_ms=specification.parameters.cycle_ms,
        )
    except UnsupportedTextError as error:
        raise UnsupportedError(f"Structured Text, {error}.") from error
    except StructuredTextError as error:
        raise ProgramError(f"Structured Text, {error}.") from error


def _chosen(families: tuple[str, ...] | None) -> tuple[str, ...]:
    if families is None:
        return tuple(FAMILIES)
    for family in families:
        if family not in FAMILIES:
            near = difflib.get_close_matches(family, FAMILIES, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"the controllers have no specification {family!r}.{hint}",
                remedy=f"They have {', '.join(FAMILIES)}.",
            )
    if not families:
        raise ConfigError("no specification was chosen.", remedy="Leave `families` out to keep all.")
    return tuple(families)
