"""What a family of control problems is, and one problem drawn from it.

A family is written in *roles* ("motor", "guard"): its properties, scenarios and reference solutions name
roles only. A drawn specification gives every role a name of its own and every parameter a value, so that
one family makes thousands of problems. `$role` and `$parameter` in a text stand for the drawn ones;
`$parameter_ms` is the parameter, a number of cycles, in milliseconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from string import Template
from types import SimpleNamespace
from typing import Any, Literal

from labeling.errors import RecordError
from labeling.records import Problem

Row = SimpleNamespace
"""One cycle: the values of all inputs and outputs as attributes named by role."""
History = Sequence[Row]
Parameters = SimpleNamespace
Check = Callable[[History, Parameters], int | None]
"""A property as a function: the first cycle (from 0) at which a history violates it, else None."""
Segment = tuple[int, Mapping[str, int]]
"""A number of cycles, and the inputs (by role) that change at its beginning; the others stay."""
Scenario = Sequence[Segment]
Plant = Callable[[dict[str, Any], dict[str, Any], dict[str, Any], dict[str, int]], dict[str, Any]]
"""(memory, inputs of this cycle, outputs of the cycle before, parameters) -> what the sensors read now."""


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One input or output of a controller."""

    role: str
    names: tuple[str, ...]
    """What it may be called in a problem."""
    meaning: str
    kind: Literal["BOOL", "INT"] = "BOOL"
    low: int = 0
    high: int = 1
    """Inclusive range."""
    default: int = 0
    """What it is at rest; a failing trace is simplified towards it."""
    change: float = 0.12
    """Chance that a random trace gives it a new value in a cycle, in [0, 1]."""
    is_measured: bool = False
    """An input that the plant computes from the outputs; no trace states it."""


@dataclass(frozen=True, kw_only=True)
class Property:
    """One sentence that must hold on every trace."""

    id: str
    sentence: str
    """As the problem states it."""
    outputs: tuple[str, ...]
    """Roles of the outputs it speaks of: code that gives none of them cannot be judged by it."""
    check: Check


@dataclass(frozen=True, kw_only=True)
class Task:
    """A sub-task of a problem, (a), (b), ... in order: it adds properties to the ones before it."""

    title: str
    properties: tuple[Property, ...]


@dataclass(frozen=True)
class Mutant:
    """A reference solution with one fault: the property it breaks, the text replaced, the replacement."""

    breaks: str
    old: str
    new: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Family:
    """A kind of controller; each is equal to itself alone."""

    name: str
    opening: str
    inputs: tuple[Signal, ...]
    outputs: tuple[Signal, ...]
    parameters: Mapping[str, tuple[int, ...]]
    """Parameter -> the values it may have."""
    tasks: tuple[Task, ...]
    scenarios: Callable[[Parameters], Sequence[Scenario]]
    """Directed traces: each property has one that exercises it."""
    reference: str
    """A Python solution that satisfies every property."""
    mutants: tuple[Mutant, ...]
    structured_text: str = ""
    """The same in Structured Text; empty when there is none."""
    derive: Callable[[Parameters], Mapping[str, int]] | None = None
    """Further parameters computed from the drawn ones."""
    plant: Plant | None = None
    cycles: int = 40
    """Length of a random trace."""


@dataclass(frozen=True, kw_only=True)
class Specification:
    """One drawn problem."""

    family: Family
    names: Mapping[str, str]
    """Role -> name."""
    parameters: Parameters
    n_tasks: int
    """How many sub-tasks the problem has: the first of the family's."""

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The sub-tasks posed."""
        return self.family.tasks[: self.n_tasks]

    @property
    def properties(self) -> tuple[Property, ...]:
        """The properties of all sub-tasks posed."""
        return tuple(p for task in self.tasks for p in task.properties)

    def fill(self, text: str) -> str:
        """Put the drawn names and parameters into a text.

        Raises:
            KeyError: The text names a role or parameter that the family does not have.
        """
        values: dict[str, Any] = dict(vars(self.parameters))
        cycle = self.parameters.cycle_ms
        values.update({f"{name}_ms": value * cycle for name, value in vars(self.parameters).items()})
        return Template(text).substitute({**values, **self.names})


def draw(family: Family, rng: Random, *, n_tasks: int) -> Specification:
    """Draw names and parameters; no two signals get one name."""
    names: dict[str, str] = {}
    for signal in (*family.inputs, *family.outputs):
        names[signal.role] = rng.choice([name for name in signal.names if name not in names.values()])
    drawn = {name: rng.choice(values) for name, values in family.parameters.items()}
    return _specification(family, names, drawn, n_tasks)


def specification_meta(specification: Specification) -> dict[str, Any]:
    """Return what a problem keeps in its `meta`, to be read again with `specification_of`."""
    drawn = {name: getattr(specification.parameters, name) for name in specification.family.parameters}
    return {
        "family": specification.family.name,
        "names": dict(specification.names),
        "parameters": drawn,
        "tasks": specification.n_tasks,
        "properties": len(specification.properties),
    }


def specification_of(problem: Problem, families: Mapping[str, Family]) -> Specification:
    """Read the specification back from a problem's `meta`.

    Raises:
        RecordError: `meta` does not hold a specification of these families.
    """
    meta = problem.meta
    try:
        family = families[meta["family"]]
        roles = [signal.role for signal in (*family.inputs, *family.outputs)]
        names = {role: str(meta["names"][role]) for role in roles}
        drawn = {name: int(meta["parameters"][name]) for name in family.parameters}
        n_tasks = int(meta["tasks"])
        if not 1 <= n_tasks <= len(family.tasks):
            raise ValueError(f"{n_tasks} sub-tasks")
    except (KeyError, TypeError, ValueError) as error:
        raise RecordError(
            f"this problem's meta does not hold a specification of the controllers ({error!r}).",
            remedy="Keep the meta column of the problems this simulator generated, or use another verifier.",
            record_id=problem.id,
        ) from error
    return _specification(family, names, drawn, n_tasks)


def _specification(
    family: Family, names: Mapping[str, str], drawn: Mapping[str, int], n_tasks: int
) -> Specification:
    parameters = SimpleNamespace(**drawn)
    if family.derive is not None:
        vars(parameters).update(family.derive(parameters))
    return Specification(family=family, names=names, parameters=parameters, n_tasks=n_tasks)
