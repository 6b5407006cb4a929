"""Two pumps that take turns."""

from collections.abc import Sequence

from labeling.simulators.controllers.families.common import CYCLES_MS
from labeling.simulators.controllers.properties import fell, held, never, responds, rose, since
from labeling.simulators.controllers.spec import (
    Family,
    History,
    Mutant,
    Parameters,
    Property,
    Row,
    Scenario,
    Signal,
    Task,
)


def _is_healthy(c: Row) -> bool:
    return not c.fault1 and not c.fault2


def _last_run(h: History, t: int) -> int | None:
    """Return the last cycle before t in which a pump was on."""
    return since(h, t - 1, lambda c: c.pump1 or c.pump2)


def _takes_turn_wrongly(h: History, t: int) -> bool:
    """Tell whether a pump goes on at t out of turn, all pumps having been healthy since one last ran."""
    if not (rose(h, t, "pump1") or rose(h, t, "pump2")):
        return False
    last = _last_run(h, t)
    begin = 0 if last is None else last
    if not all(_is_healthy(h[k]) for k in range(begin, t + 1)):
        return False
    if last is None:
        return bool(h[t].pump2)
    if all(h[k].demand for k in range(last, t + 1)):
        return False
    return bool(h[t].pump1 and h[last].pump1) or bool(h[t].pump2 and h[last].pump2)


def _switches(h: History, t: int) -> bool:
    if not t:
        return False
    both = (h[t - 1], h[t])
    return all(c.demand and _is_healthy(c) for c in both) and any(fell(h, t, r) for r in ("pump1", "pump2"))


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    run, rest = (p.react + 2, {"demand": 1}), (2, {"demand": 0})
    return (
        (run, rest, run, rest, run, rest),
        (run, (1, {"demand": 0}), run, (1, {"demand": 0}), run),
        (run, (3, {"fault1": 1}), (3, {"fault1": 0}), rest, run, rest, run),
        (run, rest, run, (3, {"fault2": 1}), (3, {"fault2": 0}), rest, run, rest, run),
        (run, (4, {"fault1": 1, "fault2": 1}), (4, {"fault1": 0}), (3, {"fault2": 0}), rest, run),
        ((2, {"fault1": 1}), run, rest, (2, {"fault1": 0}), run),
        ((p.react + p.longest + 6, {"demand": 1}), rest, run),
        ((p.react + p.longest + 2, {"demand": 1, "fault2": 1}), rest, (3, {"demand": 1, "fault2": 0})),
        (run, rest, (p.react + p.longest + 6, {"demand": 1})),
        (run, rest, (p.react + p.longest, {"demand": 1}), (p.react + p.longest, {"fault2": 1})),
        (run, (1, {"demand": 0}), (p.longest + 2, {"demand": 1}), (p.longest + 2, {"fault2": 1})),
        ((1, {"demand": 1}), (1, {"demand": 0}), run, rest, (1, {"demand": 1}), (1, {"demand": 0}), run),
    )


PUMPS = Family(
    name="two-pumps",
    opening="Two pumps of equal size serve one demand; only one of them runs at a time, and they take turns.",
    inputs=(
        Signal(
            role="demand",
            names=("demand", "run_request", "pressure_low"),
            meaning="on while a pump is needed",
            change=0.3,
        ),
        Signal(
            role="fault1",
            names=("fault1", "p1_fault", "trip_a"),
            meaning="on while pump 1 has a fault",
            change=0.08,
        ),
        Signal(
            role="fault2",
            names=("fault2", "p2_fault", "trip_b"),
            meaning="on while pump 2 has a fault",
            change=0.08,
        ),
    ),
    outputs=(
        Signal(role="pump1", names=("pump1", "k1_pump", "pump_a"), meaning="pump 1"),
        Signal(role="pump2", names=("pump2", "k2_pump", "pump_b"), meaning="pump 2"),
        Signal(
            role="long",
            names=("service_lamp", "long_run", "h3_long"),
            meaning="lamp: a pump has run for long",
        ),
    ),
    parameters={"cycle_ms": CYCLES_MS, "react": (1, 2, 3), "longest": (5, 6, 8, 10, 12)},
    cycles=50,
    tasks=(
        Task(
            title="one pump on demand",
            properties=(
                Property(
                    id="runs",
                    sentence="When $demand is on and not both pumps have a fault, $pump1 or $pump2 is on within $react cycles, unless $demand goes off or both have a fault before.",
                    outputs=("pump1", "pump2"),
                    check=responds(
                        lambda h, t, p: h[t].demand,
                        lambda h, t, p: h[t].pump1 or h[t].pump2,
                        within="react",
                        unless=lambda h, t, p: not h[t].demand or (h[t].fault1 and h[t].fault2),
                    ),
                ),
                Property(
                    id="rests",
                    sentence="In every cycle in which $demand is off, both pumps are off.",
                    outputs=("pump1", "pump2"),
                    check=never(lambda h, t, p: not h[t].demand and (h[t].pump1 or h[t].pump2)),
                ),
                Property(
                    id="never-both",
                    sentence="$pump1 and $pump2 are never on in the same cycle.",
                    outputs=("pump1", "pump2"),
                    check=never(lambda h, t, p: h[t].pump1 and h[t].pump2),
                ),
            ),
        ),
        Task(
            title="taking turns",
            properties=(
                Property(
                    id="alternates",
                    sentence="When a pump goes on after $demand was off, it is the other one than the pump that ran last, and $pump1 when none has run yet, provided that neither pump has had a fault since that last run (or, when none has run yet, since the first cycle).",
                    outputs=("pump1", "pump2"),
                    check=never(lambda h, t, p: _takes_turn_wrongly(h, t)),
                ),
                Property(
                    id="keeps-running",
                    sentence="While $demand stays on and neither pump has a fault, the pump that runs goes on running.",
                    outputs=("pump1", "pump2"),
                    check=never(lambda h, t, p: _switches(h, t)),
                ),
            ),
        ),
        Task(
            title="faults and service",
            properties=(
                Property(
                    id="fault1-stops",
                    sentence="In every cycle in which $fault1 is on, $pump1 is off.",
                    outputs=("pump1",),
                    check=never(lambda h, t, p: h[t].pump1 and h[t].fault1),
                ),
                Property(
                    id="fault2-stops",
                    sentence="In every cycle in which $fault2 is on, $pump2 is off.",
                    outputs=("pump2",),
                    check=never(lambda h, t, p: h[t].pump2 and h[t].fault2),
                ),
                Property(
                    id="lamp",
                    sentence="$long is on in exactly those cycles in which one of the pumps has been on for more than $longest cycles without a break, this cycle included.",
                    outputs=("long",),
                    check=never(
                        lambda h, t, p: (
                            h[t].long
                            != (max(held(h, t, lambda c: c.pump1), held(h, t, lambda c: c.pump2)) > p.longest)
                        )
                    ),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    faults = {1: inputs["$fault1"], 2: inputs["$fault2"]}
    running = state.get("running", 0)
    if not inputs["$demand"]:
        running = 0
    else:
        if running and faults[running]:
            running = 0
        if not running:
            first = 2 if state.get("last") == 1 else 1
            if not faults[first]:
                running = first
            elif not faults[3 - first]:
                running = 3 - first
    if running != state.get("running", 0) or not running:
        state["cycles"] = 0
    if running:
        state["last"] = running
        state["cycles"] += 1
    state["running"] = running
    return {"$pump1": running == 1, "$pump2": running == 2, "$long": state["cycles"] > $longest}
""",
    mutants=(
        Mutant("runs", "            elif not faults[3 - first]:\n                running = 3 - first\n", ""),
        Mutant(
            "rests", 'if not inputs["$demand"]:', 'if not inputs["$demand"] and state.get("cycles", 0) > 2:'
        ),
        Mutant("never-both", '"$pump1": running == 1', '"$pump1": running > 0 and not faults[1]'),
        Mutant("alternates", 'first = 2 if state.get("last") == 1 else 1', "first = 1"),
        Mutant("alternates", 'if state.get("last") == 1 else 1', 'if state.get("last") != 2 else 1'),
        Mutant(
            "keeps-running",
            "if running and faults[running]:",
            'if running and (faults[running] or state["cycles"] >= $longest):',
        ),
        Mutant("fault1-stops", 'faults = {1: inputs["$fault1"],', "faults = {1: False,"),
        Mutant("fault2-stops", '2: inputs["$fault2"]}', "2: False}"),
        Mutant("lamp", 'state["cycles"] > $longest', 'state["cycles"] >= $longest'),
        Mutant(
            "lamp", 'if running != state.get("running", 0) or not running:', 'if not state.get("running", 0):'
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    last, running, before, cycles, first : INT;
    free1, free2 : BOOL;
END_VAR
before := running;
free1 := NOT $fault1;
free2 := NOT $fault2;
IF NOT $demand OR (running = 1 AND $fault1) OR (running = 2 AND $fault2) THEN
    running := 0;
END_IF
IF $demand AND running = 0 THEN
    IF last = 1 THEN
        first := 2;
    ELSE
        first := 1;
    END_IF
    CASE first OF
        1:
            IF free1 THEN running := 1; ELSIF free2 THEN running := 2; END_IF
        2:
            IF free2 THEN running := 2; ELSIF free1 THEN running := 1; END_IF
    END_CASE
END_IF
IF running <> before OR running = 0 THEN
    cycles := 0;
END_IF
IF running <> 0 THEN
    last := running;
    cycles := cycles + 1;
END_IF
$pump1 := running = 1;
$pump2 := running = 2;
$long := cycles > $longest;
END_PROGRAM
""",
)
