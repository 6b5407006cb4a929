"""Input traces: the directed scenarios of a family, and seeded random ones."""

from random import Random

from labeling.randomness import derive_seed
from labeling.simulators.controllers.spec import Family, Parameters, Scenario, Signal

Trace = tuple[tuple[int, ...], ...]
"""One row a cycle: the stated (not measured) inputs in the order of the family."""
RANDOM_TRACES = 10


def stated_inputs(family: Family) -> tuple[Signal, ...]:
    """Return the inputs that a trace states: all but those a plant computes."""
    return tuple(signal for signal in family.inputs if not signal.is_measured)


def traces_of(family: Family, parameters: Parameters, *, seed: int) -> list[Trace]:
    """Return the directed traces, then RANDOM_TRACES random ones; equal arguments, equal traces."""
    signals = stated_inputs(family)
    directed = [_expanded(scenario, signals) for scenario in family.scenarios(parameters)]
    drawn = [
        _random_trace(signals, family.cycles, Random(derive_seed(seed, "controllers-trace", index)))
        for index in range(RANDOM_TRACES)
    ]
    return [*directed, *drawn]


def _expanded(scenario: Scenario, signals: tuple[Signal, ...]) -> Trace:
    current = {signal.role: signal.default for signal in signals}
    rows: list[tuple[int, ...]] = []
    for cycles, changes in scenario:
        unknown = set(changes) - set(current)
        if unknown:
            raise ValueError(f"a scenario sets {sorted(unknown)}, which no trace states")
        current.update(changes)
        rows.extend([tuple(current.values())] * cycles)
    return tuple(rows)


def _random_trace(signals: tuple[Signal, ...], cycles: int, rng: Random) -> Trace:
    # Half of the traces start at rest: a controller that is never left alone shows few of its faults.
    current = [s.default if rng.random() < 0.5 else rng.randint(s.low, s.high) for s in signals]
    pace = rng.choice((0.4, 1.0, 2.0))
    rows: list[tuple[int, ...]] = []
    for _ in range(cycles):
        for index, signal in enumerate(signals):
            if rng.random() < signal.change * pace:
                current[index] = _next_value(signal, current[index], rng)
        rows.append(tuple(current))
    return tuple(rows)


def _next_value(signal: Signal, value: int, rng: Random) -> int:
    if signal.kind == "BOOL":
        # Away from rest half of the time, back to rest always: rest is where most machines spend their day.
        return 1 - value if value != signal.default or rng.random() < 0.7 else value
    span = max(1, (signal.high - signal.low) // 6)
    if rng.random() < 0.2:
        return rng.randint(signal.low, signal.high)
    return min(signal.high, max(signal.low, value + rng.randint(-span, span)))
