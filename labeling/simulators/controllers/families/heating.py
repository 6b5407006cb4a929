"""Heating with dead time."""

from collections.abc import Sequence

from labeling.simulators.controllers.properties import held, never, responds, rose
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

AMBIENT = 200
"""Tenths of a degree Celsius."""


def heating_plant(
    memory: dict[str, list[int]], inputs: dict[str, int], outputs: dict[str, int], parameters: dict[str, int]
) -> dict[str, int]:
    """A cycle of heating is felt `dead` cycles later; the losses end at ambient temperature."""
    coming = memory.setdefault("coming", [])
    temperature = memory.get("temperature", [200])[0]
    coming.append(parameters["gain"] * int(outputs["heater"]))
    temperature = max(200, temperature - parameters["loss"])
    if len(coming) >= parameters["dead"]:
        temperature += coming.pop(0)
    memory["temperature"] = [min(temperature, 9999)]
    return {"temperature": memory["temperature"][0]}


def _is_stopped(h: History, t: int) -> bool:
    """Tell whether a broken sensor, up to and with cycle t, still waits for its reset."""
    for k in range(t, -1, -1):
        if h[k].broken:
            return True
        if h[k].reset:
            return False
    return False


def _is_allowed(h: History, t: int) -> bool:
    return bool(h[t].enable) and not _is_stopped(h, t)


def _first_too_cold(h: History, p: Parameters) -> int | None:
    """Return the first cycle at which heating has been allowed for long and the bath is not warm."""
    allowed, is_stopped = 0, False
    for t, cycle in enumerate(h):
        is_stopped = bool(cycle.broken or (is_stopped and not cycle.reset))
        allowed = allowed + 1 if cycle.enable and not is_stopped else 0
        if allowed > p.warmup and cycle.temperature < p.warm:
            return t
    return None


def _off_before(h: History, t: int) -> int:
    """Count the cycles in a row before t in which the heater was off; as many as one likes before the first."""
    off = held(h, t - 1, lambda c: not c.heater) if t else 0
    return off if off < t else 10_000


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    long = p.warmup + 25
    return (
        ((1, {"enable": 1}), (1, {"enable": 0}), (p.rest + 3, {"enable": 1})),
        ((long, {"enable": 1}),),
        (
            (p.react + 1, {"enable": 1}),
            (3, {"broken": 1}),
            (3, {"broken": 0}),
            (1, {"reset": 1}),
            (9, {"reset": 0}),
        ),
        ((3, {}), (p.warmup // 2, {"enable": 1}), (4, {"enable": 0}), (long, {"enable": 1})),
        (
            (p.warmup // 2, {"enable": 1}),
            (1, {"broken": 1}),
            (4, {"broken": 0}),
            (1, {"reset": 1}),
            (p.warmup, {"reset": 0}),
        ),
        ((p.warmup + 5, {"enable": 1}), (2, {"enable": 0}), (p.warmup, {"enable": 1})),
        (
            (2, {"broken": 1, "reset": 1}),
            (3, {"broken": 0, "enable": 1, "reset": 0}),
            (1, {"reset": 1}),
            (9, {"reset": 0}),
        ),
        (
            (p.react + 1, {"enable": 1}),
            (1, {"enable": 0}),
            (p.rest + p.react + 2, {"enable": 1}),
            (1, {"enable": 0}),
            (1, {"enable": 1}),
        ),
        ((long, {"enable": 1}), (3 * p.dead + 8, {"enable": 0}), (long, {"enable": 1})),
    )


HEATING = Family(
    name="heating",
    opening="A bath is heated to its working temperature, measured in tenths of a degree (200 is 20.0 degrees Celsius, the ambient temperature). A cycle with $heater on adds $gain tenths, but only $dead cycles later (what was heated in cycle k is felt from cycle k + $dead on), and each cycle $loss tenths are lost, down to ambient temperature.",
    inputs=(
        Signal(
            role="enable",
            names=("enable", "heat_on", "s1_heat"),
            meaning="on while heating is wanted",
            change=0.05,
        ),
        Signal(
            role="broken",
            names=("sensor_broken", "wire_break", "b1_fault"),
            meaning="on while the sensor is broken",
            change=0.02,
        ),
        Signal(
            role="reset",
            names=("reset", "reset_pb", "s2_reset"),
            meaning="reset button, on while pressed",
            change=0.1,
        ),
        Signal(
            role="temperature",
            names=("temperature", "bath_temp", "t1_temp"),
            meaning="temperature in tenths of a degree",
            kind="INT",
            high=9999,
            is_measured=True,
        ),
    ),
    outputs=(
        Signal(role="heater", names=("heater", "k1_heat", "heating"), meaning="heater"),
        Signal(role="ready", names=("ready", "warm_lamp", "h2_warm"), meaning="lamp: the bath is warm"),
        Signal(
            role="alarm",
            names=("alarm", "sensor_alarm", "h1_alarm"),
            meaning="lamp: a broken sensor waits for its reset",
        ),
    ),
    parameters={
        "cycle_ms": (500, 1000, 2000),
        "react": (1, 2),
        "target": (290, 300, 310, 320, 330, 340),
        "gain": (6, 7, 8, 9),
        "loss": (1, 2),
        "dead": (2, 3, 4),
        "rest": (2, 3, 4),
    },
    derive=lambda p: {
        "cold": p.target - p.gain * (p.dead + 1),
        "limit": p.target + p.gain,
        "warm": p.target - p.gain * (p.dead + 1) - p.loss * (p.dead + p.rest + p.react + 2),
        "warmup": (p.target - AMBIENT) // (p.gain - p.loss) + p.dead + p.rest + p.react + 3,
    },
    cycles=60,
    tasks=(
        Task(
            title="heating",
            properties=(
                Property(
                    id="heats",
                    sentence="When $temperature is below $cold with $enable on, no broken sensor waiting for its reset, and $heater off for the last $rest cycles before (or never on), $heater is on within $react cycles, unless $enable goes off, $broken comes on or $temperature reaches $cold before.",
                    outputs=("heater",),
                    check=responds(
                        lambda h, t, p: _off_before(h, t) >= p.rest,
                        lambda h, t, p: h[t].heater,
                        within="react",
                        unless=lambda h, t, p: not _is_allowed(h, t) or h[t].temperature >= p.cold,
                    ),
                ),
                Property(
                    id="disabled",
                    sentence="In every cycle in which $enable is off, $heater is off.",
                    outputs=("heater",),
                    check=never(lambda h, t, p: h[t].heater and not h[t].enable),
                ),
                Property(
                    id="rests",
                    sentence="Each time $heater goes off, it is off for at least $rest cycles.",
                    outputs=("heater",),
                    check=never(lambda h, t, p: rose(h, t, "heater") and _off_before(h, t) < p.rest),
                ),
            ),
        ),
        Task(
            title="temperature",
            properties=(
                Property(
                    id="never-hot",
                    sentence="$temperature is never above $limit.",
                    outputs=("heater",),
                    check=never(lambda h, t, p: h[t].temperature > p.limit),
                ),
                Property(
                    id="stays-warm",
                    sentence="When $enable has been on and no broken sensor has waited for its reset for more than $warmup cycles in a row, $temperature is $warm or more.",
                    outputs=("heater",),
                    check=_first_too_cold,
                ),
                Property(
                    id="ready",
                    sentence="$ready is on in exactly those cycles in which $enable is on and $temperature is $warm or more.",
                    outputs=("ready",),
                    check=never(lambda h, t, p: h[t].ready != (h[t].enable and h[t].temperature >= p.warm)),
                ),
            ),
        ),
        Task(
            title="broken sensor",
            properties=(
                Property(
                    id="broken-stops",
                    sentence="In every cycle in which $broken is on, $heater is off.",
                    outputs=("heater",),
                    check=never(lambda h, t, p: h[t].heater and h[t].broken),
                ),
                Property(
                    id="alarm",
                    sentence="From the first cycle with $broken on, $alarm is on until the first cycle in which $reset is on while $broken is off; in that cycle it is off, and it stays off until $broken comes on again.",
                    outputs=("alarm",),
                    check=never(lambda h, t, p: h[t].alarm != _is_stopped(h, t)),
                ),
                Property(
                    id="alarm-blocks",
                    sentence="While a broken sensor waits for its reset, $heater is off.",
                    outputs=("heater",),
                    check=never(lambda h, t, p: h[t].heater and _is_stopped(h, t)),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    plant=heating_plant,
    reference="""\
def step(inputs, state):
    if inputs["$broken"]:
        state["alarm"] = True
    elif inputs["$reset"]:
        state["alarm"] = False
    alarm, temperature = state.get("alarm", False), inputs["$temperature"]
    off = state.get("off", $rest)
    heater = inputs["$enable"] and not alarm and temperature < $cold and (off == 0 or off >= $rest)
    state["off"] = 0 if heater else off + 1
    return {
        "$heater": heater,
        "$ready": inputs["$enable"] and temperature >= $warm,
        "$alarm": alarm,
    }
""",
    mutants=(
        Mutant("heats", "off >= $rest)", "off >= $rest + $react + 1)"),
        Mutant("disabled", 'heater = inputs["$enable"] and not alarm', "heater = not alarm"),
        Mutant("rests", "(off == 0 or off >= $rest)", "(off == 0 or off >= $rest - 1)"),
        Mutant("never-hot", "temperature < $cold", "temperature < $limit"),
        Mutant("stays-warm", "temperature < $cold", "temperature < $warm - $gain * 2"),
        Mutant("ready", "temperature >= $warm", "temperature >= $limit"),
        Mutant("broken-stops", 'if inputs["$broken"]:', 'if inputs["$broken"] and state.get("off", 1):'),
        Mutant("alarm", 'elif inputs["$reset"]:', 'if inputs["$reset"]:'),
        Mutant("alarm-blocks", "and not alarm and", 'and not inputs["$broken"] and'),
    ),
    structured_text="""\
PROGRAM control
VAR
    off : INT := $rest;
END_VAR
IF $broken THEN
    $alarm := TRUE;
ELSIF $reset THEN
    $alarm := FALSE;
END_IF
$heater := $enable AND NOT $alarm AND $temperature < $cold AND (off = 0 OR off >= $rest);
IF $heater THEN
    off := 0;
ELSE
    off := off + 1;
END_IF
$ready := $enable AND $temperature >= $warm;
END_PROGRAM
""",
)
