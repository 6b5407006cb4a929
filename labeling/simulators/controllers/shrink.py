"""The shortest failing trace: a greedy search, bounded and deterministic.

Each pass proposes many small edits of one kind (cycles taken out, inputs put to rest, inputs held), runs
every edited trace in one call, and then merges as many of the edits that still fail as it can. At the end no
single cycle can be taken out, unless the bound on cycles run was met first; a shorter trace that is reached
only through longer ones may exist.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from labeling.simulators.controllers.traces import Trace

MOST_CYCLES = 3_000
_BATCH = 40

Fails = Callable[[Sequence[Trace]], Sequence[int | None]]
"""Traces -> for each, the first cycle at which it fails, None when it does not."""


@dataclass(frozen=True)
class _Edit:
    """Cycles to take out, and inputs to change: (cycle, column) -> value."""

    removed: frozenset[int] = frozenset()
    cells: Mapping[tuple[int, int], int] = field(default_factory=dict)

    def applied(self, trace: Trace) -> Trace:
        """Return the edited trace."""
        rows = [list(row) for row in trace]
        for (cycle, column), value in self.cells.items():
            rows[cycle][column] = value
        return tuple(tuple(row) for cycle, row in enumerate(rows) if cycle not in self.removed)


@dataclass
class _Search:
    """The simplest failing trace so far, and the cycles that may still be run."""

    best: Trace
    cycle: int
    rest: tuple[int, ...]
    fails: Fails
    budget: int = MOST_CYCLES

    def step(self, edits: Sequence[_Edit]) -> bool:
        """Try the edits of one pass; tell whether the trace became simpler."""
        known = _cost(self.best, self.rest)
        tried = [edit for edit in edits if edit.applied(self.best) != ()]
        tried = [edit for edit in tried if _cost(edit.applied(self.best), self.rest) < known]
        good: list[_Edit] = []
        for begin in range(0, len(tried), _BATCH):
            batch = tried[begin : begin + _BATCH]
            places = self._run([edit.applied(self.best) for edit in batch])
            good += [edit for edit, place in zip(batch, places, strict=True) if place is not None]
        size = len(good)
        while size:
            trial = _merged(good[:size]).applied(self.best)
            place = self._run([trial])[0] if trial else None
            if place is not None:
                self.best, self.cycle = trial[: place + 1], place
                return True
            size //= 2
        return False

    def _run(self, traces: list[Trace]) -> Sequence[int | None]:
        self.budget -= sum(len(trace) for trace in traces)
        return self.fails(traces) if self.budget > 0 else [None] * len(traces)


def shrink(trace: Trace, cycle: int, rest: tuple[int, ...], fails: Fails) -> tuple[Trace, int]:
    """Return a trace that fails as `trace` does, no longer than it, and the cycle at which it fails.

    Args:
        trace: A failing trace.
        cycle: Where it fails.
        rest: The inputs at rest, one value a column.
        fails: Runs the candidate; called with at most MOST_CYCLES cycles in all.
    """
    search = _Search(trace[: cycle + 1], cycle, rest, fails)
    is_simpler = True
    while is_simpler and search.budget > 0:
        is_simpler = False
        for edits in _passes(search):
            is_simpler |= search.step(edits)
    return search.best, search.cycle


def _passes(search: _Search) -> Iterator[list[_Edit]]:
    """Yield the edits of each pass, boldest first, for what the trace has become by then."""
    size = len(search.best) // 2
    while size >= 1:
        n = len(search.best)
        yield [_Edit(removed=frozenset(range(i, min(i + size, n)))) for i in range(0, n, size)]
        size //= 2
    columns = range(len(search.rest))
    n = len(search.best)
    yield [_Edit(cells={(i, c): search.rest[c] for i in range(n)}) for c in columns]
    n = len(search.best)
    yield [_Edit(cells={(i, c): search.rest[c]}) for c in columns for i in range(n)]
    held = search.best
    yield [_Edit(cells={(i, c): held[i - 1][c]}) for c in columns for i in range(1, len(held))]


def _merged(edits: Sequence[_Edit]) -> _Edit:
    cells: dict[tuple[int, int], int] = {}
    for edit in edits:
        cells.update(edit.cells)
    return _Edit(frozenset().union(*(edit.removed for edit in edits)), cells)


def _cost(trace: Trace, rest: tuple[int, ...]) -> tuple[int, int, int]:
    stirred = sum(value != still for row in trace for value, still in zip(row, rest, strict=True))
    changes = sum(a != b for row, after in pairwise(trace) for a, b in zip(row, after, strict=True))
    return len(trace), stirred, changes
