"""Dosing by weight with a coarse and a fine valve."""

from collections.abc import Sequence

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


def dosing_plant(
    memory: dict[str, list[int]], inputs: dict[str, int], outputs: dict[str, int], parameters: dict[str, int]
) -> dict[str, int]:
    """What a valve lets through reaches the scale `lag` cycles later; emptying takes away everything."""
    falling = memory.setdefault("falling", [])
    weight = memory.get("weight", [0])[0]
    coarse, fine = parameters["coarse_rate"], parameters["fine_rate"]
    falling.append(coarse * int(outputs["coarse"]) + fine * int(outputs["fine"]))
    if len(falling) >= parameters["lag"]:
        weight += falling.pop(0)
    if inputs["emptied"]:
        weight = 0
        falling.clear()
    memory["weight"] = [min(weight, 9999)]
    return {"weight": memory["weight"][0]}


def _is_near(h: History, t: int, p: Parameters) -> bool:
    return h[t].weight >= p.target - p.margin


def _is_enough(h: History, t: int, p: Parameters) -> bool:
    return h[t].weight >= p.target - p.tolerance


def _is_idle(h: History, t: int) -> bool:
    return t < 0 or not (h[t].coarse or h[t].fine)


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    press = ((p.react + 1, {"start": 1}), (1, {"start": 0}))
    whole = p.target // p.coarse_rate + p.margin // p.fine_rate + 2 * p.settle + 4
    empty = ((1, {"emptied": 1}), (3, {"emptied": 0}))
    return (
        (*press, (whole, {}), *empty, *press, (whole, {})),
        (*press, (p.target // p.coarse_rate // 2, {}), *empty, (3, {}), *press, (whole, {})),
        ((1, {"start": 1}), (whole, {"start": 0}), (3, {"start": 1}), (3, {"start": 0})),
        ((whole + 6, {"start": 1}), *empty, (3, {}), (2, {"start": 0})),
        (*press, (p.target // p.coarse_rate + p.settle + 1, {}), *empty, (4, {})),
        ((2, {"emptied": 1}), (2, {"start": 1}), (4, {"emptied": 0}), (2, {"start": 0}), *press, (whole, {})),
        ((5, {}), *press, (whole + 5, {}), *empty),
    )


DOSING = Family(
    name="dosing",
    opening="A container is filled by weight: fast through a coarse valve, then exactly through a fine one. A cycle with $coarse on lets $coarse_rate kg through and one with $fine on $fine_rate kg; what was let through in cycle k is on the scale from cycle k + $lag on. Emptying takes everything away, what is still falling included.",
    inputs=(
        Signal(
            role="start", names=("start", "dose_start", "s1_dose"), meaning="start button, on while pressed"
        ),
        Signal(
            role="emptied",
            names=("emptied", "container_out", "b4_empty"),
            meaning="on while the container is being emptied",
            change=0.03,
        ),
        Signal(
            role="weight",
            names=("weight", "scale", "w1_kg"),
            meaning="weight in the container in kg",
            kind="INT",
            high=9999,
            is_measured=True,
        ),
    ),
    outputs=(
        Signal(role="coarse", names=("coarse", "y1_coarse", "fast_valve"), meaning="coarse valve"),
        Signal(role="fine", names=("fine", "y2_fine", "slow_valve"), meaning="fine valve"),
        Signal(role="done", names=("done", "dose_ready", "h1_done"), meaning="lamp: the dose is complete"),
    ),
    parameters={
        "cycle_ms": (100, 200, 500),
        "react": (1, 2),
        "target": (60, 70, 80, 90, 100, 110, 120),
        "coarse_rate": (6, 8, 10),
        "fine_rate": (1, 2),
        "lag": (1, 2, 3),
    },
    derive=lambda p: {
        "tolerance": p.fine_rate * (p.lag + 1),
        "margin": p.coarse_rate * (p.lag + 1) + p.fine_rate * (p.lag + 4),
        "near": p.target - p.coarse_rate * (p.lag + 1) - p.fine_rate * (p.lag + 4),
        "enough": p.target - p.fine_rate * (p.lag + 1),
        "limit": p.target + p.fine_rate * (p.lag + 1),
        "settle": p.lag + 2,
    },
    cycles=70,
    tasks=(
        Task(
            title="coarse dosing",
            properties=(
                Property(
                    id="starts",
                    sentence="When $start goes from off to on, $weight is below $near and $coarse and $fine were off in the cycle before, $coarse is on within $react cycles, unless $emptied comes on (or is on) before.",
                    outputs=("coarse",),
                    check=responds(
                        lambda h, t, p: rose(h, t, "start") and _is_idle(h, t - 1) and not _is_near(h, t, p),
                        lambda h, t, p: h[t].coarse,
                        within="react",
                        unless=lambda h, t, p: h[t].emptied or _is_near(h, t, p),
                    ),
                ),
                Property(
                    id="coarse-ends",
                    sentence="In every cycle in which $weight is $near or more, $coarse is off.",
                    outputs=("coarse",),
                    check=never(lambda h, t, p: h[t].coarse and _is_near(h, t, p)),
                ),
                Property(
                    id="coarse-stays",
                    sentence="Once on, $coarse stays on until $weight is $near or more or $emptied is on.",
                    outputs=("coarse",),
                    check=never(
                        lambda h, t, p: fell(h, t, "coarse") and not _is_near(h, t, p) and not h[t].emptied
                    ),
                ),
                Property(
                    id="no-self-start",
                    sentence="$coarse goes from off to on only when $start went from off to on in this cycle or in one of the $react cycles before, with $emptied off from then to now.",
                    outputs=("coarse",),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "coarse")
                            and not any(
                                rose(h, k, "start") and not any(h[c].emptied for c in range(k, t + 1))
                                for k in range(max(0, t - p.react), t + 1)
                            )
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="fine dosing",
            properties=(
                Property(
                    id="fine-follows",
                    sentence="When $coarse goes off, $fine is on within $react cycles, unless $weight is $enough or more or $emptied comes on (or is on) before.",
                    outputs=("coarse", "fine"),
                    check=responds(
                        lambda h, t, p: fell(h, t, "coarse"),
                        lambda h, t, p: h[t].fine,
                        within="react",
                        unless=lambda h, t, p: h[t].emptied or _is_enough(h, t, p),
                    ),
                ),
                Property(
                    id="fine-stays",
                    sentence="Once on, $fine stays on until $weight is $enough or more or $emptied is on.",
                    outputs=("fine",),
                    check=never(
                        lambda h, t, p: fell(h, t, "fine") and not _is_enough(h, t, p) and not h[t].emptied
                    ),
                ),
                Property(
                    id="never-both",
                    sentence="$coarse and $fine are never on in the same cycle.",
                    outputs=("coarse", "fine"),
                    check=never(lambda h, t, p: h[t].coarse and h[t].fine),
                ),
                Property(
                    id="never-over",
                    sentence="$weight is never above $limit.",
                    outputs=("coarse", "fine"),
                    check=never(lambda h, t, p: h[t].weight > p.limit),
                ),
                Property(
                    id="shut-while-emptied",
                    sentence="In every cycle in which $emptied is on, $coarse and $fine are off.",
                    outputs=("coarse", "fine"),
                    check=never(lambda h, t, p: h[t].emptied and (h[t].coarse or h[t].fine)),
                ),
            ),
        ),
        Task(
            title="ready signal",
            properties=(
                Property(
                    id="done-comes",
                    sentence="When $fine goes off because $weight is $enough or more, $done is on within $settle cycles, unless $emptied comes on (or is on) before.",
                    outputs=("fine", "done"),
                    check=responds(
                        lambda h, t, p: fell(h, t, "fine") and _is_enough(h, t, p),
                        lambda h, t, p: h[t].done,
                        within="settle",
                        unless=lambda h, t, p: h[t].emptied,
                    ),
                ),
                Property(
                    id="done-late-enough",
                    sentence="$done goes from off to on only when $weight is at least $enough and at most $limit and both valves have been off for more than $lag cycles, this one included.",
                    outputs=("coarse", "fine", "done"),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "done")
                            and not (
                                p.enough <= h[t].weight <= p.limit
                                and held(h, t, lambda c: not c.coarse and not c.fine) > p.lag
                            )
                        )
                    ),
                ),
                Property(
                    id="done-kept",
                    sentence="Once on, $done stays on until $emptied is on; in every cycle in which $emptied is on, $done is off.",
                    outputs=("done",),
                    check=never(
                        lambda h, t, p: (
                            (fell(h, t, "done") and not h[t].emptied) or (h[t].emptied and h[t].done)
                        )
                    ),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    plant=dosing_plant,
    reference="""\
def step(inputs, state):
    pressed = inputs["$start"] and not state.get("start", False)
    state["start"] = inputs["$start"]
    weight, phase, age = inputs["$weight"], state.get("phase", "idle"), state.get("age", 0) + 1
    if inputs["$emptied"]:
        phase = "idle"
    elif phase == "idle" and pressed and weight < $near:
        phase = "coarse"
    elif phase == "coarse" and weight >= $near:
        phase = "fine"
    elif phase == "fine" and weight >= $enough:
        phase, age = "settle", 0
    elif phase == "settle" and age >= $lag:
        phase = "done"
    state.update(phase=phase, age=age)
    return {"$coarse": phase == "coarse", "$fine": phase == "fine", "$done": phase == "done"}
""",
    mutants=(
        Mutant("starts", "pressed and weight < $near", "pressed and weight < 0"),
        Mutant(
            "coarse-ends",
            'phase == "coarse" and weight >= $near',
            'phase == "coarse" and weight >= $near + $coarse_rate',
        ),
        Mutant(
            "coarse-stays",
            'phase == "coarse" and weight >= $near',
            'phase == "coarse" and weight >= $near // 2',
        ),
        Mutant("no-self-start", 'phase == "idle" and pressed', 'phase == "idle" and inputs["$start"]'),
        Mutant("fine-follows", 'phase = "fine"', 'phase, age = "settle", 0'),
        Mutant("fine-stays", "weight >= $enough", "weight >= $enough - $fine_rate * 2"),
        Mutant("never-both", '"$fine": phase == "fine"', '"$fine": phase in ("coarse", "fine")'),
        Mutant("never-over", "weight >= $enough", "weight > $limit"),
        Mutant(
            "shut-while-emptied", '    if inputs["$emptied"]:\n        phase = "idle"\n    elif', "    if"
        ),
        Mutant("done-comes", "age >= $lag", "age > $settle"),
        Mutant("done-late-enough", 'phase, age = "settle", 0', 'phase = "done"'),
        Mutant(
            "done-kept", 'if inputs["$emptied"]:', 'if inputs["$emptied"] or (phase == "done" and pressed):'
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    press : R_TRIG;
    phase, age : INT;
END_VAR
press(CLK := $start);
age := age + 1;
IF $emptied THEN
    phase := 0;
ELSIF phase = 0 AND press.Q AND $weight < $near THEN
    phase := 1;
ELSIF phase = 1 AND $weight >= $near THEN
    phase := 2;
ELSIF phase = 2 AND $weight >= $enough THEN
    phase := 3;
    age := 0;
ELSIF phase = 3 AND age >= $lag THEN
    phase := 4;
END_IF
$coarse := phase = 1;
$fine := phase = 2;
$done := phase = 4;
END_PROGRAM
""",
)
