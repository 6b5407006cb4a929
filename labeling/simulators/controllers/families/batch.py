"""A batch: fill, mix, drain."""

from collections.abc import Sequence

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


def _is_idle(h: History, t: int) -> bool:
    return t < 0 or not (h[t].inlet or h[t].mixer or h[t].outlet)


def _is_quiet(h: History, t: int, p: Parameters) -> bool:
    """Tell whether no batch is under way: between two phases all outputs may be off for `react` cycles."""
    return all(_is_idle(h, k) for k in range(max(0, t - p.quiet), t))


def _self_starts(h: History, t: int, p: Parameters) -> bool:
    starts = [k for k in range(max(0, t - p.react), t + 1) if rose(h, k, "start")]
    return not _is_idle(h, t - 1) or not any(all(not h[c].abort for c in range(k, t + 1)) for k in starts)


def _was_on(h: History, t: int, role: str, p: Parameters) -> bool:
    """Tell whether an output was on shortly before: in the cycle before, or up to `react` cycles before it."""
    return any(getattr(h[k], role) for k in range(max(0, t - p.react - 1), t))


def _is_aborted(h: History, t: int) -> bool:
    begin = since(h, t, lambda c: c.inlet)
    return any(h[k].abort for k in range(0 if begin is None else begin, t + 1))


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    press = ((p.react + 1, {"start": 1}), (2, {"start": 0}))
    fill = ((1, {"empty": 0}), (2, {}), (p.mix + 2 * p.react + 3, {"full": 1}))
    drain = ((2, {"full": 0}), (3, {"empty": 1}))
    whole = ((1, {"empty": 1}), *press, *fill, *drain)
    return (
        (*whole, *press, *fill, *drain),
        (
            (1, {"empty": 1}),
            *press,
            (1, {"empty": 0}),
            (1, {"abort": 1}),
            (4, {"abort": 0}),
            *press,
            *fill,
            *drain,
        ),
        (
            (1, {"empty": 1}),
            *press,
            *fill[:2],
            (p.react + 2, {"full": 1}),
            (1, {"abort": 1}),
            (p.mix + 4, {"abort": 0}),
        ),
        ((1, {"empty": 1}), *press, *fill, (1, {"full": 0}), (1, {"abort": 1}), (4, {"abort": 0})),
        ((1, {"empty": 1}), (p.react + 1, {"start": 1}), *fill, *drain, (4, {}), (2, {"start": 0})),
        ((1, {"empty": 1}), *press, *fill[:2], (p.mix + 2 * p.react + 4, {"full": 1}), *press, *drain),
        ((2, {"full": 1}), *press, (3, {"full": 0}), *press, *fill, *drain),
        ((2, {"abort": 1}), (1, {"start": 1}), (4, {"abort": 0}), (2, {"start": 0})),
        ((1, {}), *press, (2, {"full": 1}), (p.mix + 2 * p.react + 3, {"full": 0}), (3, {"empty": 1})),
        (*whole[:6], (p.mix + 8, {"full": 0}), *press, *drain),
    )


BATCH = Family(
    name="batch-sequence",
    opening="A batch is made in three phases: a vessel is filled, its content is mixed, and it is drained.",
    inputs=(
        Signal(
            role="start",
            names=("start", "batch_start", "s1_batch"),
            meaning="start button, on while pressed",
            change=0.25,
        ),
        Signal(
            role="full",
            names=("full", "level_high", "b1_full"),
            meaning="on while the vessel is full",
            change=0.2,
        ),
        Signal(
            role="empty",
            names=("empty", "level_low", "b2_empty"),
            meaning="on while the vessel is empty",
            change=0.2,
        ),
        Signal(
            role="abort",
            names=("abort", "cancel", "s0_abort"),
            meaning="abort button, on while pressed",
            change=0.03,
        ),
    ),
    outputs=(
        Signal(role="inlet", names=("inlet", "fill_valve", "y1_in"), meaning="inlet valve"),
        Signal(role="mixer", names=("mixer", "agitator", "m2_mix"), meaning="motor of the mixer"),
        Signal(role="outlet", names=("outlet", "drain_valve", "y2_out"), meaning="outlet valve"),
    ),
    parameters={"cycle_ms": (100, 200, 500, 1000), "react": (1, 2), "mix": (3, 4, 5, 6, 8)},
    derive=lambda p: {"quiet": p.react + 1},
    cycles=60,
    tasks=(
        Task(
            title="filling",
            properties=(
                Property(
                    id="starts",
                    sentence="When $start goes from off to on and $inlet, $mixer and $outlet were all off in the $quiet cycles before, $inlet is on within $react cycles, unless $full or $abort comes on (or is on) before.",
                    outputs=("inlet",),
                    check=responds(
                        lambda h, t, p: rose(h, t, "start") and _is_quiet(h, t, p),
                        lambda h, t, p: h[t].inlet,
                        within="react",
                        unless=lambda h, t, p: h[t].full or h[t].abort,
                    ),
                ),
                Property(
                    id="full-stops",
                    sentence="In every cycle in which $full is on, $inlet is off.",
                    outputs=("inlet",),
                    check=never(lambda h, t, p: h[t].inlet and h[t].full),
                ),
                Property(
                    id="fills-up",
                    sentence="Once on, $inlet stays on until $full or $abort is on.",
                    outputs=("inlet",),
                    check=never(lambda h, t, p: fell(h, t, "inlet") and not h[t].full and not h[t].abort),
                ),
                Property(
                    id="no-self-start",
                    sentence="$inlet goes from off to on only when $start went from off to on in this cycle or in one of the $react cycles before, with no $abort from then to now, and when all three outputs were off in the cycle before.",
                    outputs=("inlet",),
                    check=never(lambda h, t, p: rose(h, t, "inlet") and _self_starts(h, t, p)),
                ),
            ),
        ),
        Task(
            title="mixing",
            properties=(
                Property(
                    id="mixes",
                    sentence="When $inlet goes off, $mixer is on within $react cycles, unless $abort comes on (or is on) before.",
                    outputs=("inlet", "mixer"),
                    check=responds(
                        lambda h, t, p: fell(h, t, "inlet"),
                        lambda h, t, p: h[t].mixer,
                        within="react",
                        unless=lambda h, t, p: h[t].abort,
                    ),
                ),
                Property(
                    id="mix-time",
                    sentence="Each time, $mixer is on for exactly $mix cycles ($mix_ms ms), unless $abort ends it.",
                    outputs=("mixer",),
                    check=never(
                        lambda h, t, p: (
                            held(h, t, lambda c: c.mixer) > p.mix
                            or (
                                fell(h, t, "mixer")
                                and not h[t].abort
                                and held(h, t - 1, lambda c: c.mixer) < p.mix
                            )
                        )
                    ),
                ),
                Property(
                    id="mixes-only",
                    sentence="$mixer goes from off to on only when $inlet was on in the cycle before or in one of the $react cycles before that.",
                    outputs=("inlet", "mixer"),
                    check=never(lambda h, t, p: rose(h, t, "mixer") and not _was_on(h, t, "inlet", p)),
                ),
            ),
        ),
        Task(
            title="draining and abort",
            properties=(
                Property(
                    id="drains",
                    sentence="When $mixer goes off, $outlet is on within $react cycles, unless $empty or $abort comes on (or is on) before.",
                    outputs=("mixer", "outlet"),
                    check=responds(
                        lambda h, t, p: fell(h, t, "mixer"),
                        lambda h, t, p: h[t].outlet,
                        within="react",
                        unless=lambda h, t, p: h[t].abort or h[t].empty,
                    ),
                ),
                Property(
                    id="empty-stops",
                    sentence="In every cycle in which $empty is on, $outlet is off.",
                    outputs=("outlet",),
                    check=never(lambda h, t, p: h[t].outlet and h[t].empty),
                ),
                Property(
                    id="drains-out",
                    sentence="Once on, $outlet stays on until $empty or $abort is on.",
                    outputs=("outlet",),
                    check=never(lambda h, t, p: fell(h, t, "outlet") and not h[t].empty and not h[t].abort),
                ),
                Property(
                    id="drains-only",
                    sentence="$outlet goes from off to on only when $mixer was on in the cycle before or in one of the $react cycles before that.",
                    outputs=("mixer", "outlet"),
                    check=never(lambda h, t, p: rose(h, t, "outlet") and not _was_on(h, t, "mixer", p)),
                ),
                Property(
                    id="one-at-a-time",
                    sentence="At most one of $inlet, $mixer and $outlet is on in a cycle.",
                    outputs=("inlet", "mixer", "outlet"),
                    check=never(lambda h, t, p: h[t].inlet + h[t].mixer + h[t].outlet > 1),
                ),
                Property(
                    id="abort-stops",
                    sentence="In every cycle in which $abort is on, $inlet, $mixer and $outlet are off.",
                    outputs=("inlet", "mixer", "outlet"),
                    check=never(lambda h, t, p: h[t].abort and not _is_idle(h, t)),
                ),
                Property(
                    id="abort-ends",
                    sentence="$abort ends the batch: neither $mixer nor $outlet is on again before $inlet has been on again.",
                    outputs=("inlet", "mixer", "outlet"),
                    check=never(
                        lambda h, t, p: (h[t].mixer or h[t].outlet) and not h[t].abort and _is_aborted(h, t)
                    ),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    pressed = inputs["$start"] and not state.get("start", False)
    state["start"] = inputs["$start"]
    phase, age = state.get("phase", "idle"), state.get("age", 0) + 1
    if inputs["$abort"]:
        phase = "idle"
    elif phase == "idle":
        if pressed and not inputs["$full"]:
            phase = "fill"
    elif phase == "fill":
        if inputs["$full"]:
            phase, age = "mix", 0
    elif phase == "mix":
        if age >= $mix:
            phase = "idle" if inputs["$empty"] else "drain"
    elif inputs["$empty"]:
        phase = "idle"
    state.update(phase=phase, age=age)
    return {"$inlet": phase == "fill", "$mixer": phase == "mix", "$outlet": phase == "drain"}
""",
    mutants=(
        Mutant(
            "starts",
            'if pressed and not inputs["$full"]',
            'if pressed and inputs["$empty"] and inputs["$full"]',
        ),
        Mutant(
            "full-stops",
            '"$inlet": phase == "fill"',
            '"$inlet": phase == "fill" or (phase == "mix" and age == 0)',
        ),
        Mutant("fills-up", '"$inlet": phase == "fill"', '"$inlet": phase == "fill" and age < 4'),
        Mutant("no-self-start", "if pressed and not", 'if inputs["$start"] and not'),
        Mutant("mixes", 'phase, age = "mix", 0', 'phase, age = "drain", 0'),
        Mutant("mix-time", "if age >= $mix:", "if age >= $mix - 1:"),
        Mutant(
            "mixes-only",
            'elif inputs["$empty"]:\n        phase = "idle"',
            'elif inputs["$empty"]:\n        phase, age = "mix", 0',
        ),
        Mutant("drains", '"idle" if inputs["$empty"] else "drain"', '"idle"'),
        Mutant("empty-stops", '"idle" if inputs["$empty"] else "drain"', '"drain"'),
        Mutant("drains-out", 'elif inputs["$empty"]:', 'elif inputs["$empty"] or inputs["$start"]:'),
        Mutant(
            "drains-only",
            'if pressed and not inputs["$full"]:\n            phase = "fill"',
            'if pressed and not inputs["$full"]:\n            phase = "fill"\n        elif inputs["$full"] and not inputs["$empty"]:\n            phase = "drain"',
        ),
        Mutant("one-at-a-time", '"$mixer": phase == "mix"', '"$mixer": phase == "mix" or phase == "drain"'),
        Mutant("abort-stops", 'if inputs["$abort"]:', 'if inputs["$abort"] and phase != "drain":'),
        Mutant(
            "abort-ends",
            'if inputs["$abort"]:\n        phase = "idle"\n',
            'if inputs["$abort"]:\n        state["age"] = age\n        return {"$inlet": False, "$mixer": False, "$outlet": False}\n',
        ),
    ),
    structured_text="""\
PROGRAM control
VAR
    press : R_TRIG;
    phase : INT;
    mixing : TON;
END_VAR
press(CLK := $start);
mixing(IN := phase = 2, PT := T#${mix_ms}ms);
IF $abort THEN
    phase := 0;
ELSE
    CASE phase OF
        0: IF press.Q AND NOT $full THEN phase := 1; END_IF
        1: IF $full THEN phase := 2; mixing(IN := TRUE); END_IF
        2:
            IF mixing.Q THEN
                phase := 3;
                IF $empty THEN phase := 0; END_IF
            END_IF
        3: IF $empty THEN phase := 0; END_IF
    END_CASE
END_IF
$inlet := phase = 1;
$mixer := phase = 2;
$outlet := phase = 3;
END_PROGRAM
""",
)
