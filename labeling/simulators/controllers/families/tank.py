"""Level of a tank with hysteresis, overflow drain and alarm."""

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


def _is_high(h: History, t: int, p: Parameters) -> int:
    return held(h, t, lambda c: c.level >= p.limit)


def _is_acknowledged(h: History, t: int, p: Parameters) -> bool:
    """Tell whether an acknowledgement with the level below the limit came since the alarm went on."""
    off = since(h, t - 1, lambda c: not c.alarm)
    begin = 0 if off is None else off + 1
    return any(h[k].ack and h[k].level < p.limit for k in range(begin, t + 1))


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    def level(value: int, cycles: int = 2) -> tuple[int, dict[str, int]]:
        return (cycles, {"level": value})

    on = (1, {"enable": 1, "level": p.low - 1})
    middle = (p.low + p.high) // 2
    over, long = p.limit, p.hold + 3
    return (
        (on, level(p.low), level(p.high - 1), level(p.high), level(middle), level(p.low), level(p.low - 1)),
        (on, level(middle), (2, {"enable": 0}), (3, {"enable": 1}), level(p.low - 1)),
        ((2, {"level": 5}), (2, {"enable": 1}), (2, {"enable": 0}), (1, {"enable": 1, "level": middle})),
        (on, level(over - 1, 3), level(over, 3), level(over - 1), level(middle), level(p.low - 1)),
        (level(over, long), level(over - 1, 3), (1, {"ack": 1}), (3, {"ack": 0}), level(over, long)),
        (level(over, p.hold), level(over - 1, 1), level(over, p.hold), level(0, 4)),
        (level(over, long), (2, {"ack": 1}), (2, {"ack": 0}), level(0, 3), (2, {"ack": 1}), (2, {"ack": 0})),
        (level(over, long), (3, {"ack": 1}), level(0, 4), (2, {"ack": 0})),
        (
            (1, {"enable": 1, "level": p.high - 1}),
            level(p.low - 1, 1),
            level(p.high - 1),
            level(100),
            level(p.low),
        ),
        ((1, {"ack": 1}), level(over, long), level(over - 1, 3)),
    )


TANK = Family(
    name="tank-level",
    opening="A tank is filled through an inlet valve; its level is measured in percent. An overflow is drained and reported.",
    inputs=(
        Signal(
            role="level",
            names=("level", "level_pct", "l1_level"),
            meaning="level of the tank in percent",
            kind="INT",
            high=100,
            change=0.5,
        ),
        Signal(
            role="enable",
            names=("enable", "auto_on", "fill_enable"),
            meaning="on while automatic filling is allowed",
            change=0.1,
        ),
        Signal(
            role="ack", names=("ack", "alarm_ack", "s4_ack"), meaning="acknowledge button, on while pressed"
        ),
    ),
    outputs=(
        Signal(role="fill", names=("fill", "inlet_valve", "y1_inlet"), meaning="inlet valve"),
        Signal(role="drain", names=("drain", "drain_valve", "y2_drain"), meaning="drain valve"),
        Signal(role="alarm", names=("alarm", "overflow_alarm", "h1_alarm"), meaning="overflow alarm"),
    ),
    parameters={
        "cycle_ms": CYCLES_MS,
        "low": (15, 20, 25, 30, 35, 40),
        "high": (60, 65, 70, 75, 80),
        "limit": (85, 90, 95),
        "hold": (2, 3, 4, 5, 6),
        "react": (1, 2),
    },
    tasks=(
        Task(
            title="filling with hysteresis",
            properties=(
                Property(
                    id="fills",
                    sentence="In every cycle in which $enable is on and $level is below $low, $fill is on.",
                    outputs=("fill",),
                    check=never(lambda h, t, p: h[t].enable and h[t].level < p.low and not h[t].fill),
                ),
                Property(
                    id="closes",
                    sentence="In every cycle in which $level is $high or more, $fill is off.",
                    outputs=("fill",),
                    check=never(lambda h, t, p: h[t].level >= p.high and h[t].fill),
                ),
                Property(
                    id="hysteresis",
                    sentence="While $enable is on and $level is at least $low and below $high, $fill stays as it was in the cycle before; before the first cycle it was off.",
                    outputs=("fill",),
                    check=never(
                        lambda h, t, p: (
                            h[t].enable
                            and p.low <= h[t].level < p.high
                            and h[t].fill != (t > 0 and h[t - 1].fill)
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="release and drain",
            properties=(
                Property(
                    id="disabled",
                    sentence="In every cycle in which $enable is off, $fill is off.",
                    outputs=("fill",),
                    check=never(lambda h, t, p: h[t].fill and not h[t].enable),
                ),
                Property(
                    id="drains",
                    sentence="$drain is on in every cycle in which $level is $limit or more, whether $enable is on or off, and stays on until the first cycle in which $level is below $high; in that cycle it is off.",
                    outputs=("drain",),
                    check=never(
                        lambda h, t, p: (
                            (h[t].level >= p.limit and not h[t].drain)
                            or (fell(h, t, "drain") and h[t].level >= p.high)
                            or (h[t].level < p.high and h[t].drain)
                        )
                    ),
                ),
                Property(
                    id="drains-only",
                    sentence="$drain goes from off to on only in a cycle in which $level is $limit or more.",
                    outputs=("drain",),
                    check=never(lambda h, t, p: rose(h, t, "drain") and h[t].level < p.limit),
                ),
                Property(
                    id="never-both",
                    sentence="$fill and $drain are never on in the same cycle.",
                    outputs=("fill", "drain"),
                    check=never(lambda h, t, p: h[t].fill and h[t].drain),
                ),
            ),
        ),
        Task(
            title="alarm",
            properties=(
                Property(
                    id="alarm-comes",
                    sentence="When $level has been $limit or more for $hold cycles ($hold_ms ms; the time begins in the first such cycle), $alarm is on within $react further cycles, unless $level falls below $limit before.",
                    outputs=("alarm",),
                    check=responds(
                        lambda h, t, p: _is_high(h, t, p) > p.hold,
                        lambda h, t, p: h[t].alarm,
                        within="react",
                        unless=lambda h, t, p: h[t].level < p.limit,
                    ),
                ),
                Property(
                    id="no-false-alarm",
                    sentence="$alarm goes from off to on only when $level has been $limit or more for $hold cycles and still is.",
                    outputs=("alarm",),
                    check=never(lambda h, t, p: rose(h, t, "alarm") and _is_high(h, t, p) <= p.hold),
                ),
                Property(
                    id="alarm-kept",
                    sentence="Once on, $alarm stays on until a cycle in which $ack is on while $level is below $limit.",
                    outputs=("alarm",),
                    check=never(lambda h, t, p: fell(h, t, "alarm") and not _is_acknowledged(h, t, p)),
                ),
                Property(
                    id="alarm-goes",
                    sentence="When $ack is on while $level is below $limit, $alarm is off within $react cycles.",
                    outputs=("alarm",),
                    check=responds(
                        lambda h, t, p: h[t].ack and h[t].level < p.limit,
                        lambda h, t, p: not h[t].alarm,
                        within="react",
                    ),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    level = inputs["$level"]
    fill = state.get("fill", False)
    if level < $low:
        fill = True
    if level >= $high or not inputs["$enable"]:
        fill = False
    drain = state.get("drain", False)
    if level >= $limit:
        drain = True
    elif level < $high:
        drain = False
    alarm = state.get("alarm", False)
    if level >= $limit:
        state["cycles"] = state.get("cycles", -1) + 1
        if state["cycles"] >= $hold:
            alarm = True
    else:
        state["cycles"] = -1
        if inputs["$ack"]:
            alarm = False
    state.update(fill=fill, drain=drain, alarm=alarm)
    return {"$fill": fill, "$drain": drain, "$alarm": alarm}
""",
    mutants=(
        Mutant("fills", "if level < $low:", "if level < $low - 5:"),
        Mutant("closes", "if level >= $high or", "if level > $high or"),
        Mutant("hysteresis", "if level < $low:", "if level < $high:"),
        Mutant("disabled", ' or not inputs["$enable"]', ""),
        Mutant("drains", "if level >= $limit:\n        drain", "if level >= $limit and fill:\n        drain"),
        Mutant("drains-only", "if level >= $limit:\n        drain", "if level >= $high:\n        drain"),
        Mutant("never-both", "if level >= $limit:\n        drain", "if level < $low:\n        drain"),
        Mutant("alarm-comes", 'state["cycles"] >= $hold', 'state["cycles"] > $hold + $react'),
        Mutant("no-false-alarm", 'state["cycles"] >= $hold', 'state["cycles"] >= $hold - 1'),
        Mutant(
            "alarm-kept", '        if inputs["$ack"]:\n            alarm = False\n', "        alarm = False\n"
        ),
        Mutant(
            "alarm-goes", '        if inputs["$ack"]:\n', '        if inputs["$ack"] and level < $low - 10:\n'
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    timer : TON;
END_VAR
IF $level < $low THEN
    $fill := TRUE;
END_IF
IF $level >= $high OR NOT $enable THEN
    $fill := FALSE;
END_IF
IF $level >= $limit THEN
    $drain := TRUE;
ELSIF $level < $high THEN
    $drain := FALSE;
END_IF
timer(IN := $level >= $limit, PT := T#${hold_ms}ms);
IF timer.Q THEN
    $alarm := TRUE;
ELSIF $ack AND $level < $limit THEN
    $alarm := FALSE;
END_IF
END_PROGRAM
""",
)
