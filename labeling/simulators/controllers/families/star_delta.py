"""Star-delta start of a large motor."""

from collections.abc import Sequence

from labeling.simulators.controllers.families.common import CYCLES_MS
from labeling.simulators.controllers.properties import fell, held, never, responds, rose
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


def _star_delta_blocked(h: History, t: int) -> bool:
    return bool(h[t].stop or h[t].thermal)


def _star_delta_scenarios(p: Parameters) -> Sequence[Scenario]:
    press, release = (2, {"start": 1}), (1, {"start": 0})
    whole = p.star_time + p.pause + p.react + 8
    return (
        (press, (whole, {"start": 0}), (2, {"stop": 1}), (3, {"stop": 0}), press, (whole, {"start": 0})),
        (
            press,
            (p.star_time // 2, {"start": 0}),
            (1, {"stop": 1}),
            (whole, {"stop": 0}),
            press,
            (whole, {"start": 0}),
        ),
        (press, (p.react + p.star_time, {"start": 0}), (1, {"thermal": 1}), (6, {"thermal": 0})),
        (press, (whole, {"start": 0}), (3, {"thermal": 1}), (4, {"thermal": 0}), press, release),
        ((3, {"stop": 1}), (3, {"start": 1}), (4, {"stop": 0}), release),
        ((whole, {"start": 1}), (1, {"stop": 1}), (5, {"stop": 0}), (2, {"start": 0}), press),
        (press, release, press, (whole, {"start": 0}), press, (3, {"start": 0})),
        (
            press,
            (p.star_time + p.react + 1, {"start": 0}),
            (1, {"stop": 1}),
            (1, {"stop": 0}),
            (3, {"start": 1}),
            (whole, {"start": 0}),
        ),
    )


STAR_DELTA = Family(
    name="star-delta",
    opening="A large motor is started in star connection and then changed over to delta.",
    inputs=(
        Signal(role="start", names=("start", "start_pb", "s2_on"), meaning="start button, on while pressed"),
        Signal(
            role="stop",
            names=("stop", "stop_pb", "s1_off"),
            meaning="stop button, on while pressed",
            change=0.05,
        ),
        Signal(
            role="thermal",
            names=("thermal", "overheat", "f3_hot"),
            meaning="on while the winding is too hot",
            change=0.03,
        ),
    ),
    outputs=(
        Signal(role="main", names=("main", "k1_main", "line_contactor"), meaning="line contactor"),
        Signal(role="star", names=("star", "k2_star", "wye"), meaning="star contactor"),
        Signal(role="delta", names=("delta", "k3_delta", "delta_contactor"), meaning="delta contactor"),
    ),
    parameters={
        "cycle_ms": CYCLES_MS,
        "react": (1, 2),
        "star_time": (4, 5, 6, 7, 8, 9, 10),
        "pause": (1, 2, 3),
    },
    derive=lambda p: {"latest": p.star_time + p.pause + 2},
    cycles=50,
    tasks=(
        Task(
            title="start and stop",
            properties=(
                Property(
                    id="starts",
                    sentence="When $start goes from off to on while $main is off in the cycle before, $main and $star are both on within $react cycles, unless $stop or $thermal comes on (or is on) before.",
                    outputs=("main", "star"),
                    check=responds(
                        lambda h, t, p: rose(h, t, "start") and not (t and h[t - 1].main),
                        lambda h, t, p: h[t].main and h[t].star,
                        within="react",
                        unless=lambda h, t, p: _star_delta_blocked(h, t),
                    ),
                ),
                Property(
                    id="stops",
                    sentence="In every cycle in which $stop or $thermal is on, $main, $star and $delta are off.",
                    outputs=("main", "star", "delta"),
                    check=never(
                        lambda h, t, p: _star_delta_blocked(h, t) and (h[t].main or h[t].star or h[t].delta)
                    ),
                ),
                Property(
                    id="no-self-start",
                    sentence="$main goes from off to on only when $start went from off to on in this cycle or in one of the $react cycles before, with neither $stop nor $thermal on from then to now.",
                    outputs=("main",),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "main")
                            and not any(
                                rose(h, k, "start")
                                and not any(_star_delta_blocked(h, c) for c in range(k, t + 1))
                                for k in range(max(0, t - p.react), t + 1)
                            )
                        )
                    ),
                ),
                Property(
                    id="main-holds",
                    sentence="Once on, $main stays on as long as $stop and $thermal are off.",
                    outputs=("main",),
                    check=never(lambda h, t, p: fell(h, t, "main") and not _star_delta_blocked(h, t)),
                ),
            ),
        ),
        Task(
            title="interlock of star and delta",
            properties=(
                Property(
                    id="never-both",
                    sentence="$star and $delta are never on in the same cycle.",
                    outputs=("star", "delta"),
                    check=never(lambda h, t, p: h[t].star and h[t].delta),
                ),
                Property(
                    id="pause",
                    sentence="After the last cycle with $star on there are at least $pause cycles with both off before $delta is on.",
                    outputs=("star", "delta"),
                    check=never(
                        lambda h, t, p: h[t].delta and any(h[k].star for k in range(max(0, t - p.pause), t))
                    ),
                ),
                Property(
                    id="line-first",
                    sentence="Neither $star nor $delta is on in a cycle in which $main is off.",
                    outputs=("main", "star", "delta"),
                    check=never(lambda h, t, p: (h[t].star or h[t].delta) and not h[t].main),
                ),
            ),
        ),
        Task(
            title="change over",
            properties=(
                Property(
                    id="star-long-enough",
                    sentence="In each start, $star is on for exactly $star_time cycles ($star_time_ms ms), counted from its first, unless $stop or $thermal ends it.",
                    outputs=("star",),
                    check=never(
                        lambda h, t, p: (
                            held(h, t, lambda c: c.star) > p.star_time
                            or (
                                fell(h, t, "star")
                                and not _star_delta_blocked(h, t)
                                and held(h, t - 1, lambda c: c.star) < p.star_time
                            )
                        )
                    ),
                ),
                Property(
                    id="delta-comes",
                    sentence="When $main goes on, $delta is on within $latest cycles, unless $stop or $thermal comes on before.",
                    outputs=("main", "delta"),
                    check=responds(
                        lambda h, t, p: rose(h, t, "main"),
                        lambda h, t, p: h[t].delta,
                        within="latest",
                        unless=lambda h, t, p: _star_delta_blocked(h, t),
                    ),
                ),
                Property(
                    id="delta-holds",
                    sentence="Once on, $delta stays on as long as $stop and $thermal are off.",
                    outputs=("delta",),
                    check=never(lambda h, t, p: fell(h, t, "delta") and not _star_delta_blocked(h, t)),
                ),
            ),
        ),
    ),
    scenarios=_star_delta_scenarios,
    reference="""\
def step(inputs, state):
    pressed = inputs["$start"] and not state.get("start", False)
    state["start"] = inputs["$start"]
    running = state.get("running", False)
    if inputs["$stop"] or inputs["$thermal"]:
        running = False
    elif pressed and not running:
        running = True
        state["age"] = 0
    elif running:
        state["age"] += 1
    state["running"] = running
    age = state.get("age", 0)
    star = running and age < $star_time
    delta = running and age >= $star_time + $pause
    return {"$main": running, "$star": star, "$delta": delta}
""",
    mutants=(
        Mutant("stops", 'inputs["$stop"] or inputs["$thermal"]', 'inputs["$stop"]'),
        Mutant("starts", "elif pressed and not running:", "elif pressed and running is None:"),
        Mutant("no-self-start", "elif pressed and not running:", 'elif inputs["$start"] and not running:'),
        Mutant("main-holds", "elif running:", "elif pressed:\n        running = False\n    elif running:"),
        Mutant("never-both", "age >= $star_time + $pause", "age >= $star_time - 1"),
        Mutant("pause", "age >= $star_time + $pause", "age >= $star_time + $pause - 1"),
        Mutant("line-first", '"$main": running', '"$main": star'),
        Mutant("star-long-enough", "age < $star_time", "age < $star_time - 1"),
        Mutant("delta-comes", "$star_time + $pause", "$star_time + $pause + 4"),
        Mutant(
            "delta-holds",
            "age >= $star_time + $pause",
            "$star_time + $pause <= age < $star_time + $pause + 3",
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    press : R_TRIG;
    star_timer, change_timer : TON;
END_VAR
press(CLK := $start);
IF $stop OR $thermal THEN
    $main := FALSE;
ELSIF press.Q THEN
    $main := TRUE;
END_IF
star_timer(IN := $main, PT := T#${star_time_ms}ms);
change_timer(IN := star_timer.Q, PT := T#${pause_ms}ms);
$star := $main AND NOT star_timer.Q;
$delta := change_timer.Q AND $main;
END_PROGRAM
""",
)
