"""Alarm with acknowledgement and horn."""

from collections.abc import Sequence

from labeling.simulators.controllers.families.common import CYCLES_MS
from labeling.simulators.controllers.properties import fell, held, never, responds, rose, since
from labeling.simulators.controllers.spec import (
    Family,
    History,
    Mutant,
    Parameters,
    Property,
    Scenario,
    Signal,
    Task,
)


def _is_new(h: History, t: int, p: Parameters) -> bool:
    """Tell whether the fault has just been there for long enough: a new alarm."""
    return held(h, t, lambda c: c.fault) == p.filter + 1


def _lit_since(h: History, t: int) -> int:
    off = since(h, t - 1, lambda c: not c.lamp)
    return 0 if off is None else off + 1


def _is_acknowledged(h: History, t: int) -> bool:
    return any(h[k].ack for k in range(_lit_since(h, t), t + 1))


def _rings_without_cause(h: History, t: int, p: Parameters) -> bool:
    causes = [k for k in range(max(0, t - p.react), t + 1) if _is_new(h, k, p)]
    return not any(all(not h[c].ack for c in range(k, t + 1)) for k in causes)


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    appear, away = (p.filter + p.react + 2, {"fault": 1}), (3, {"fault": 0})
    push = ((1, {"ack": 1}), (2, {"ack": 0}))
    rest = p.longest + 4
    return (
        (appear, *push, away, appear, *push, away),
        (appear, away, (rest, {}), *push, (2, {})),
        ((p.filter, {"fault": 1}), (2, {"fault": 0}), (p.filter, {"fault": 1}), away),
        (appear, (rest, {}), *push, away),
        (appear, away, appear, (rest, {}), away, *push),
        (appear, *push, (rest, {}), away, appear, *push),
        ((2, {"ack": 1}), appear, (2, {"ack": 0}), (rest, {}), away, *push),
        (appear, *push, (1, {"fault": 0}), appear, away, *push),
        (appear, (rest, {}), (1, {"fault": 0}), (p.filter + rest, {"fault": 1}), *push, away),
    )


ALARM = Family(
    name="alarm-acknowledge",
    opening="A fault is reported by a lamp and a horn until it is acknowledged. A new alarm arises in the cycle in which $fault has been on for $filter cycles ($filter_ms ms; the time begins in the first cycle with $fault on), and again after $fault was off in between.",
    inputs=(
        Signal(
            role="fault",
            names=("fault", "pressure_fault", "b2_fault"),
            meaning="on while the fault is there",
            change=0.2,
        ),
        Signal(
            role="ack",
            names=("ack", "ack_button", "s9_ack"),
            meaning="acknowledge button, on while pressed",
            change=0.08,
        ),
    ),
    outputs=(
        Signal(role="lamp", names=("lamp", "alarm_lamp", "h5_alarm"), meaning="alarm lamp"),
        Signal(role="horn", names=("horn", "siren", "p1_horn"), meaning="horn"),
    ),
    parameters={
        "cycle_ms": CYCLES_MS,
        "react": (1, 2),
        "filter": (1, 2, 3, 4),
        "longest": (4, 5, 6, 8, 10),
    },
    cycles=50,
    tasks=(
        Task(
            title="raising the alarm",
            properties=(
                Property(
                    id="raises",
                    sentence="When a new alarm arises, $horn having been off in the cycle before, $lamp and $horn are both on within $react cycles, unless $ack comes on (or is on) or $fault goes off before.",
                    outputs=("lamp", "horn"),
                    check=responds(
                        lambda h, t, p: _is_new(h, t, p) and not h[t - 1].horn,
                        lambda h, t, p: h[t].lamp and h[t].horn,
                        within="react",
                        unless=lambda h, t, p: h[t].ack or not h[t].fault,
                    ),
                ),
                Property(
                    id="no-false-alarm",
                    sentence="$lamp goes from off to on only in a cycle in which $fault has been on for $filter cycles, or in one of the $react cycles after it.",
                    outputs=("lamp",),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "lamp")
                            and not any(
                                held(h, k, lambda c: c.fault) > p.filter
                                for k in range(max(0, t - p.react), t + 1)
                            )
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="acknowledging",
            properties=(
                Property(
                    id="silences",
                    sentence="In every cycle in which $ack is on, $horn is off.",
                    outputs=("horn",),
                    check=never(lambda h, t, p: h[t].ack and h[t].horn),
                ),
                Property(
                    id="lamp-kept",
                    sentence="Once on, $lamp stays on until $fault is off and $ack has been on in a cycle since $lamp came on.",
                    outputs=("lamp",),
                    check=never(
                        lambda h, t, p: fell(h, t, "lamp") and (h[t].fault or not _is_acknowledged(h, t))
                    ),
                ),
                Property(
                    id="lamp-goes",
                    sentence="When $fault is off and $ack has been on in a cycle since $lamp came on, $lamp is off within $react cycles, unless $fault comes on before.",
                    outputs=("lamp",),
                    check=responds(
                        lambda h, t, p: h[t].lamp and _is_acknowledged(h, t),
                        lambda h, t, p: not h[t].lamp,
                        within="react",
                        unless=lambda h, t, p: h[t].fault,
                    ),
                ),
            ),
        ),
        Task(
            title="horn",
            properties=(
                Property(
                    id="horn-ends",
                    sentence="$horn is never on for more than $longest cycles in a row ($longest_ms ms).",
                    outputs=("horn",),
                    check=never(lambda h, t, p: held(h, t, lambda c: c.horn) > p.longest),
                ),
                Property(
                    id="horn-lasts",
                    sentence="Once on, $horn stays on for $longest cycles, unless $ack is on.",
                    outputs=("horn",),
                    check=never(
                        lambda h, t, p: (
                            fell(h, t, "horn")
                            and not h[t].ack
                            and held(h, t - 1, lambda c: c.horn) < p.longest
                        )
                    ),
                ),
                Property(
                    id="horn-cause",
                    sentence="$horn goes from off to on only in a cycle in which a new alarm arises, or in one of the $react cycles after it, with no $ack from then to now.",
                    outputs=("horn",),
                    check=never(lambda h, t, p: rose(h, t, "horn") and _rings_without_cause(h, t, p)),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    fault, ack = inputs["$fault"], inputs["$ack"]
    state["cycles"] = state.get("cycles", -1) + 1 if fault else -1
    is_new = state["cycles"] == $filter
    lamp, acked = state.get("lamp", False), state.get("acked", False)
    if is_new and not lamp:
        lamp, acked = True, False
    if lamp and ack:
        acked = True
    if lamp and acked and not fault:
        lamp = False
    age = state.get("age", $longest) + 1
    if is_new and age > $longest:
        age = 0
    if ack:
        age = $longest
    state.update(lamp=lamp, acked=acked, age=age)
    return {"$lamp": lamp, "$horn": age < $longest}
""",
    mutants=(
        Mutant("raises", "    if is_new and not lamp:\n", "    if is_new and not lamp and acked:\n"),
        Mutant("no-false-alarm", "    if is_new and not lamp:\n", "    if fault and not lamp:\n"),
        Mutant("silences", "    if ack:\n        age = $longest\n", ""),
        Mutant("lamp-kept", "if lamp and acked and not fault", "if lamp and not fault"),
        Mutant("lamp-kept", "if lamp and acked and not fault", "if lamp and acked"),
        Mutant("lamp-goes", "if lamp and acked and not fault", "if lamp and acked and ack and not fault"),
        Mutant("horn-ends", '"$horn": age < $longest', '"$horn": age <= $longest and not ack'),
        Mutant("horn-lasts", "if ack:\n        age", "if ack or not fault:\n        age"),
        Mutant(
            "horn-cause",
            "if is_new and age > $longest",
            'if fault and state["cycles"] >= $filter and age > $longest',
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    present : TON;
    appear : R_TRIG;
    acked : BOOL;
    age : INT := $longest;
END_VAR
present(IN := $fault, PT := T#${filter_ms}ms);
appear(CLK := present.Q);
IF appear.Q AND NOT $lamp THEN
    $lamp := TRUE;
    acked := FALSE;
END_IF
acked := acked OR $ack;
IF $lamp AND acked AND NOT $fault THEN
    $lamp := FALSE;
END_IF
IF age < $longest THEN
    age := age + 1;
END_IF
IF appear.Q AND NOT $horn THEN
    age := 0;
END_IF
IF $ack THEN
    age := $longest;
END_IF
$horn := age < $longest;
END_PROGRAM
""",
)
