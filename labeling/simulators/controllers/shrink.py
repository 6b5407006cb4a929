"""The shortest failing trace: a greedy search, bounded and deterministic.

Each round proposes simpler traces (cycles removed, inputs at rest, inputs held), runs them all in one
call, and goes on from the simplest that still fails. At the end no single cycle can be removed, unless
the bound on cycles run was met first; a shorter trace that is reached only through longer ones may exist.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise

from labeling.simulators.controllers.traces import Trace

MOST_CYCLES = 5_000
_BATCH = 40

Fails = Callable[[Sequence[Trace]], Sequence[int | None]]
"""Traces -> for each, the first cycle at which it fails, None when it does not."""


def shrink(trace: Trace, cycle: int, rest: tuple[int, ...], fails: Fails) -> tuple[Trace, int]:
    """Return a trace that fails as `trace` does, no longer than it, and the cycle at which it fails.

    Args:
        trace: A failing trace.
        cycle: Where it fails.
        rest: The inputs at rest, one value a column.
        fails: Runs the candidate; called with about MOST_CYCLES cycles in all, at most.
    """
    best, at = trace[: cycle + 1], cycle
    budget = MOST_CYCLES
    while budget > 0:
        known = _cost(best, rest)
        tried = [t for t in _simpler(best, rest) if _cost(t, rest) < known]
        found = None
        # The boldest first: most rounds end with the first batch, and the later ones are never run.
        for begin in range(0, len(tried), _BATCH):
            batch = tried[begin : begin + _BATCH]
            budget -= sum(len(trial) for trial in batch)
            if (found := _simplest_failing(batch, rest, fails)) or budget <= 0:
                break
        if found is None:
            break
        best, at = found
    return best, at


def _simplest_failing(
    batch: Sequence[Trace], rest: tuple[int, ...], fails: Fails
) -> tuple[Trace, int] | None:
    failing = [
        (trial[: where + 1], where)
        for trial, where in zip(batch, fails(batch), strict=True)
        if where is not None
    ]
    return min(failing, key=lambda found: (_cost(found[0], rest), found[0])) if failing else None


def _simpler(trace: Trace, rest: tuple[int, ...]) -> Iterator[Trace]:
    """Propose simpler traces, boldest first, each once."""
    seen: set[Trace] = set()
    for trial in _proposals(trace, rest):
        if trial and trial not in seen:
            seen.add(trial)
            yield trial


def _proposals(trace: Trace, rest: tuple[int, ...]) -> Iterator[Trace]:
    size = len(trace) // 2
    while size >= 1:
        for begin in range(0, len(trace) - size + 1, size):
            yield trace[:begin] + trace[begin + size :]
        size //= 2
    for column, value in enumerate(rest):
        yield tuple(_with(row, column, value) for row in trace)
    for column, value in enumerate(rest):
        for cycle, row in enumerate(trace):
            yield (*trace[:cycle], _with(row, column, value), *trace[cycle + 1 :])
    for column in range(len(rest)):
        for cycle in range(1, len(trace)):
            held = trace[cycle - 1][column]
            yield (*trace[:cycle], _with(trace[cycle], column, held), *trace[cycle + 1 :])


def _with(row: tuple[int, ...], column: int, value: int) -> tuple[int, ...]:
    return (*row[:column], value, *row[column + 1 :])


def _cost(trace: Trace, rest: tuple[int, ...]) -> tuple[int, int, int]:
    stirred = sum(value != still for row in trace for value, still in zip(row, rest, strict=True))
    changes = sum(a != b for row, after in pairwise(trace) for a, b in zip(row, after, strict=True))
    return len(trace), stirred, changes
