"""Checking a candidate: every property on every trace, and the shortest trace that shows a violation."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

from labeling.randomness import derive_seed
from labeling.simulators.controllers.engine import Engine, EngineFailedError
from labeling.simulators.controllers.harness import CandidateStoppedError, Run, Runner
from labeling.simulators.controllers.shrink import shrink
from labeling.simulators.controllers.spec import Family, Property, Specification
from labeling.simulators.controllers.traces import Trace, stated_inputs, traces_of

CONTRACT = Property(
    id="contract",
    sentence="step returns a dict with every output in its type and range, in every cycle, and never raises.",
    outputs=(),
    check=lambda history, parameters: None,
)
"""What every problem demands beside its own properties."""

_TRACE_SEED = 0
"""Traces are part of the problem: one candidate gets one verdict, whenever it is asked for."""


@dataclass(frozen=True)
class Violation:
    """A property that a candidate breaks, and the trace that shows it."""

    property: Property
    run: Run
    """Up to the cycle of the violation, and no further."""
    cycle: int
    """Index of that cycle, from 0."""
    original_cycles: int
    """Length of the trace it was found on."""


@dataclass(frozen=True)
class Findings:
    """What checking one candidate came to."""

    checked: tuple[Property, ...]
    violations: tuple[Violation, ...] = ()
    """In the order of the properties; only the first has its shortest trace."""
    stopped: CandidateStoppedError | None = None
    """Why there are no outputs to check, when the candidate's process gave none."""


def check(
    engine: Engine,
    specification: Specification,
    code: str,
    properties: Sequence[Property],
    *,
    is_complete: bool,
    is_shrunk: bool = True,
) -> Findings:
    """Run a candidate on the problem's traces and check the properties.

    Args:
        engine: Where it runs.
        specification: The problem.
        code: The candidate's Python module.
        properties: What to check, beside CONTRACT.
        is_complete: Whether every output must be there; otherwise a missing one is at rest.
        is_shrunk: Whether the first violation's trace is made as short as possible.
    """
    checked = (CONTRACT, *properties)
    try:
        with engine.session() as session:
            runner = Runner(session, specification, code, is_complete=is_complete)
            runs = runner.run(_traces(specification))
            violations = _violations(specification, checked, runs)
            if is_shrunk and violations:
                violations[0] = _shortened(runner, specification, violations[0])
    except CandidateStoppedError as error:
        return Findings(checked, (), error)
    except EngineFailedError as error:
        return Findings(checked, (), CandidateStoppedError("engine", str(error)))
    return Findings(checked, tuple(violations))


def violated_at(specification: Specification, prop: Property, run: Run) -> int | None:
    """Return the cycle at which a run breaks a property, None when it does not.

    The contract is broken at the cycle after the last completed one.
    """
    if prop is CONTRACT:
        return len(run.history) if run.fault else None
    return prop.check(run.history, specification.parameters)


def _traces(specification: Specification) -> tuple[Trace, ...]:
    drawn = tuple(sorted(vars(specification.parameters).items()))
    return _traces_of_drawn(specification.family, drawn)


@functools.lru_cache(maxsize=256)
def _traces_of_drawn(family: Family, drawn: tuple[tuple[str, int], ...]) -> tuple[Trace, ...]:
    # Kept: many solutions of one problem are graded one after another.
    seed = derive_seed(_TRACE_SEED, family.name, *(f"{name}={value}" for name, value in drawn))
    return tuple(traces_of(family, SimpleNamespace(**dict(drawn)), seed=seed))


def _violations(
    specification: Specification, properties: Sequence[Property], runs: Sequence[Run]
) -> list[Violation]:
    found: list[Violation] = []
    for prop in properties:
        at = [(cycle, run) for run in runs if (cycle := violated_at(specification, prop, run)) is not None]
        if at:
            cycle, run = min(at, key=lambda pair: pair[0])
            found.append(Violation(prop, _cut(run, cycle), cycle, len(run.trace)))
    return found


def _cut(run: Run, cycle: int) -> Run:
    fault = run.fault if cycle >= len(run.history) else ""
    return Run(run.trace[: cycle + 1], run.history[: cycle + 1], fault)


def _shortened(runner: Runner, specification: Specification, violation: Violation) -> Violation:
    rest = tuple(signal.default for signal in stated_inputs(specification.family))
    seen: dict[Trace, Run] = {}

    def fails(traces: Sequence[Trace]) -> list[int | None]:
        places: list[int | None] = []
        for run in runner.run(traces):
            cycle = violated_at(specification, violation.property, run)
            places.append(cycle)
            if cycle is not None:
                seen[run.trace[: cycle + 1]] = _cut(run, cycle)
        return places

    try:
        trace, cycle = shrink(violation.run.trace, violation.cycle, rest, fails)
    except CandidateStoppedError:
        # It ran before and does not now: the trace that was found first still stands.
        return violation
    run = seen.get(trace, violation.run)
    return Violation(violation.property, run, cycle, violation.original_cycles)


def trace_text(specification: Specification, run: Run, cycle: int) -> str:
    """Write a failing trace for people: one line for each stretch of cycles in which nothing changes."""
    signals = (*specification.family.inputs, *specification.family.outputs)
    inputs = len(specification.family.inputs)
    rows = [tuple(int(getattr(row, s.role)) for s in signals) for row in run.history[: cycle + 1]]
    names = [specification.names[s.role] for s in signals]
    lines: list[str] = []
    begin = 0
    for at in range(1, len(rows) + 1):
        if at < len(rows) and rows[at] == rows[begin]:
            continue
        cells = [f"{name}={value}" for name, value in zip(names, rows[begin], strict=True)]
        where = f"cycle {begin}" if at - begin == 1 else f"cycles {begin}..{at - 1}"
        lines.append(f"{where}: {' '.join(cells[:inputs])} -> {' '.join(cells[inputs:])}")
        begin = at
    if run.fault:
        stated = zip(stated_inputs(specification.family), run.trace[len(rows)], strict=True)
        given = " ".join(f"{specification.names[s.role]}={value}" for s, value in stated)
        lines.append(f"cycle {len(rows)}: {given} -> {run.fault}")
    return "\n".join(lines)
