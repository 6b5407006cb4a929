"""Start and stop of a motor with guard and overload relay."""

from collections.abc import Sequence

from labeling.simulators.controllers.families.common import CYCLES_MS
from labeling.simulators.controllers.properties import fell, never, responds, rose
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


def _tripped(h: History, t: int) -> bool:
    """Tell whether an overload up to and with cycle t still waits for its reset."""
    for k in range(t, -1, -1):
        if h[k].overload:
            return True
        if h[k].reset:
            return False
    return False


def _blocked(h: History, t: int) -> bool:
    return bool(h[t].stop or not h[t].guard or h[t].overload)


def _started_by(h: History, t: int, p: Parameters) -> list[int]:
    return [k for k in range(max(0, t - p.react), t + 1) if rose(h, k, "start")]


def _start_stop_scenarios(p: Parameters) -> Sequence[Scenario]:
    ready = (2, {"guard": 1})
    press, release = (p.react + 1, {"start": 1}), (3, {"start": 0})
    return (
        (ready, press, release, (2, {"stop": 1}), (4, {"stop": 0})),
        (ready, press, release, (2, {"guard": 0}), (4, {"guard": 1}), press, release),
        (ready, press, (1, {"guard": 0}), (5, {"guard": 1}), release),
        (
            ready,
            press,
            release,
            (1, {"overload": 1}),
            (3, {"overload": 0}),
            press,
            release,
            (1, {"reset": 1}),
        ),
        (ready, press, release, (2, {"overload": 1, "reset": 1}), (2, {"overload": 0}), press, release),
        (
            ready,
            (1, {"overload": 1}),
            (1, {"overload": 0}),
            (2, {"reset": 1}),
            (2, {"reset": 0}),
            press,
            release,
        ),
        (ready, (1, {"stop": 1}), (3, {"start": 1}), (4, {"stop": 0}), release, press, release),
        ((2, {"guard": 0}), (2, {"start": 1}), (5, {"guard": 1}), release),
        ((2, {"guard": 0}), (1, {"start": 1}), (4, {"guard": 1}), release),
        (ready, (2, {"stop": 1}), (1, {"start": 1}), (4, {"stop": 0}), release),
        (ready, (1, {"start": 1}), (6, {"start": 0}), (1, {"stop": 1}), (3, {"stop": 0})),
        (ready, press, (1, {"reset": 1}), (3, {"reset": 0}), (1, {"stop": 1})),
    )


START_STOP = Family(
    name="start-stop",
    opening="A machine is started and stopped by push buttons; a guard and an overload relay protect it.",
    inputs=(
        Signal(
            role="start", names=("start", "run_button", "s1_start"), meaning="start button, on while pressed"
        ),
        Signal(
            role="stop", names=("stop", "halt_button", "s0_stop"), meaning="stop button, on while pressed"
        ),
        Signal(
            role="guard",
            names=("guard_closed", "gate_shut", "cover_ok"),
            meaning="on while the guard is closed",
            change=0.15,
        ),
        Signal(
            role="overload",
            names=("overload", "thermal_trip", "f1_trip"),
            meaning="on while the overload relay has tripped",
            change=0.05,
        ),
        Signal(
            role="reset",
            names=("reset", "reset_button", "s3_reset"),
            meaning="reset button, on while pressed",
        ),
    ),
    outputs=(
        Signal(role="motor", names=("motor", "k1_motor", "drive_on"), meaning="contactor of the motor"),
        Signal(
            role="lamp",
            names=("trip_lamp", "h1_trip", "fault_lamp"),
            meaning="lamp: an overload waits for its reset",
        ),
    ),
    parameters={"cycle_ms": CYCLES_MS, "react": (1, 2, 3)},
    tasks=(
        Task(
            title="start and hold",
            properties=(
                Property(
                    id="starts",
                    sentence="When $start goes from off to on while $stop is off, $guard is on, $overload is off and no overload waits for its reset, $motor is on within $react cycles, unless $stop or $overload comes on or $guard goes off before.",
                    outputs=("motor",),
                    check=responds(
                        lambda h, t, p: rose(h, t, "start") and not _tripped(h, t),
                        lambda h, t, p: h[t].motor,
                        within="react",
                        unless=lambda h, t, p: _blocked(h, t),
                    ),
                ),
                Property(
                    id="holds",
                    sentence="Once on, $motor stays on as long as $stop is off, $guard is on and $overload is off.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: fell(h, t, "motor") and not _blocked(h, t)),
                ),
                Property(
                    id="no-self-start",
                    sentence="$motor goes from off to on only in a cycle in which $start goes from off to on, or in one of the $react cycles after it.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: rose(h, t, "motor") and not _started_by(h, t, p)),
                ),
            ),
        ),
        Task(
            title="stop and guard",
            properties=(
                Property(
                    id="stop-wins",
                    sentence="In every cycle in which $stop is on, $motor is off, whatever $start says.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: h[t].motor and h[t].stop),
                ),
                Property(
                    id="guard-stops",
                    sentence="In every cycle in which $guard is off, $motor is off.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: h[t].motor and not h[t].guard),
                ),
                Property(
                    id="no-stored-start",
                    sentence="A press of $start that begins while $stop is on or $guard is off, or that is followed by one of these before $motor is on, is forgotten: it never switches $motor on.",
                    outputs=("motor",),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "motor")
                            and bool(_started_by(h, t, p))
                            and not any(
                                all(not h[c].stop and h[c].guard for c in range(k, t + 1))
                                for k in _started_by(h, t, p)
                            )
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="overload",
            properties=(
                Property(
                    id="overload-stops",
                    sentence="In every cycle in which $overload is on, $motor is off.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: h[t].motor and h[t].overload),
                ),
                Property(
                    id="trip-kept",
                    sentence="From the first cycle with $overload on, $lamp is on until the first cycle in which $reset is on while $overload is off; in that cycle it is off, and it stays off until $overload comes on again.",
                    outputs=("lamp",),
                    check=never(lambda h, t, p: h[t].lamp != _tripped(h, t)),
                ),
                Property(
                    id="trip-blocks",
                    sentence="While an overload waits for its reset, $motor is off.",
                    outputs=("motor",),
                    check=never(lambda h, t, p: h[t].motor and _tripped(h, t)),
                ),
            ),
        ),
    ),
    scenarios=_start_stop_scenarios,
    reference="""\
def step(inputs, state):
    pressed = inputs["$start"] and not state.get("start", False)
    state["start"] = inputs["$start"]
    if inputs["$overload"]:
        state["tripped"] = True
    elif inputs["$reset"]:
        state["tripped"] = False
    tripped = state.get("tripped", False)
    blocked = inputs["$stop"] or not inputs["$guard"] or tripped
    motor = (pressed or state.get("motor", False)) and not blocked
    state["motor"] = motor
    return {"$motor": motor, "$lamp": tripped}
""",
    mutants=(
        Mutant("stop-wins", 'inputs["$stop"] or not', "not"),
        Mutant("guard-stops", 'or not inputs["$guard"] ', ""),
        Mutant("holds", '(pressed or state.get("motor", False))', 'inputs["$start"]'),
        Mutant("starts", "motor = (pressed or", 'motor = (pressed and state["start"] is None or'),
        Mutant("no-self-start", 'inputs["$start"] and not state.get("start", False)', 'inputs["$start"]'),
        Mutant("trip-blocks", "or tripped", 'or inputs["$overload"]'),
        Mutant("trip-kept", 'elif inputs["$reset"]', 'if inputs["$reset"]'),
        Mutant("overload-stops", 'or not inputs["$guard"] or tripped', 'or not inputs["$guard"]'),
        Mutant("no-stored-start", 'state["motor"] = motor\n', 'state["motor"] = pressed or motor\n'),
    ),
    structured_text="""\
PROGRAM control
VAR
    press : R_TRIG;
    trip : SR;
    tripped : BOOL;
END_VAR
press(CLK := $start);
trip(S1 := $overload, RESET := $reset);
tripped := trip.Q1;
$motor := (press.Q OR $motor) AND NOT $stop AND $guard AND NOT tripped;
$lamp := tripped;
END_PROGRAM
""",
)
