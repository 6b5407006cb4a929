"""A conveyor whose heavy items are pushed off."""

from collections.abc import Sequence

from labeling.simulators.controllers.families.common import CYCLES_MS
from labeling.simulators.controllers.properties import never, responds, rose, since
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


def _is_moving(h: History, t: int) -> bool:
    return bool(h[t].run and not h[t].jam)


def _is_heavy_item(h: History, t: int, p: Parameters) -> bool:
    return rose(h, t, "sensor") and h[t].weight >= p.limit and _is_moving(h, t)


def _is_push_due(h: History, t: int, p: Parameters) -> bool:
    """Tell whether some heavy item is in front of the pusher, the belt not having stopped since it was seen."""
    seen = range(max(0, t - p.travel - p.push + 1), t - p.travel + 1)
    return any(_is_heavy_item(h, k, p) and all(_is_moving(h, c) for c in range(k, t + 1)) for k in seen)


def _number_pushed(h: History, t: int, p: Parameters) -> int:
    reset = since(h, t, lambda c: c.reset)
    begin = 0 if reset is None else reset + 1
    return sum(_is_heavy_item(h, k, p) for k in range(begin, t + 1))


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    run, wait = (2, {"run": 1}), (p.travel + p.push + 2, {"sensor": 0})
    heavy, light = {"sensor": 1, "weight": p.limit}, {"sensor": 1, "weight": p.limit - 1}
    return (
        (run, (2, heavy), wait, (1, light), wait),
        (run, (1, heavy), (1, {"sensor": 0}), (1, heavy), wait),
        (run, (1, heavy), (1, {"sensor": 0}), (1, light), (1, {"sensor": 0}), (1, heavy), wait),
        (run, (1, heavy), (1, {"sensor": 0}), (2, {"jam": 1}), (1, {"jam": 0}), wait),
        (run, (1, heavy), (p.travel, {"sensor": 0}), (1, {"run": 0}), (p.push + 2, {"run": 1})),
        (
            (2, heavy),
            (2, {"run": 1}),
            wait,
            (1, heavy),
            (2, {"sensor": 0}),
            (1, {"reset": 1}),
            (3, {"reset": 0}),
        ),
        (run, (1, {"sensor": 1, "weight": 0}), (4, {"weight": 50}), wait),
        (run, (2, {"jam": 1}), (1, heavy), (1, {"sensor": 0, "jam": 0}), wait),
        (run, (1, {**heavy, "reset": 1}), (4, {"reset": 0, "sensor": 0}), (1, heavy), wait),
        (run, (2, heavy), wait, (2, heavy), wait, (1, {"reset": 1}), (2, {"reset": 0})),
    )


SORTER = Family(
    name="conveyor-sorter",
    opening="Items on a conveyor pass a photo eye with a scale; heavy items are pushed off further down. An item is seen in the cycle in which $sensor goes from off to on while $run is on and $jam is off; it is heavy when $weight is $limit or more in that cycle.",
    inputs=(
        Signal(
            role="run", names=("run", "line_on", "enable"), meaning="on while the line is to run", change=0.08
        ),
        Signal(
            role="sensor",
            names=("item_seen", "photo_eye", "b1_item"),
            meaning="photo eye, on while an item is in front of it",
            change=0.45,
        ),
        Signal(
            role="weight",
            names=("weight", "scale_kg", "mass"),
            meaning="reading of the scale in kg",
            kind="INT",
            high=60,
            change=0.5,
        ),
        Signal(
            role="jam", names=("jam", "blocked", "b9_jam"), meaning="on while the line is jammed", change=0.04
        ),
        Signal(
            role="reset",
            names=("reset_count", "clear_count", "s5_zero"),
            meaning="sets the count to zero",
            change=0.05,
        ),
    ),
    outputs=(
        Signal(role="belt", names=("belt", "m1_belt", "conveyor"), meaning="motor of the belt"),
        Signal(role="pusher", names=("pusher", "y1_push", "ejector"), meaning="valve of the pusher"),
        Signal(
            role="count",
            names=("count", "n_heavy", "heavy_items"),
            meaning="heavy items since the last reset",
            kind="INT",
            high=32767,
        ),
    ),
    parameters={
        "cycle_ms": CYCLES_MS,
        "limit": (20, 25, 30, 35, 40),
        "travel": (2, 3, 4, 5, 6),
        "push": (1, 2, 3),
        "react": (1, 2, 3),
    },
    cycles=50,
    tasks=(
        Task(
            title="belt",
            properties=(
                Property(
                    id="belt-runs",
                    sentence="When $run is on and $jam is off, $belt is on within $react cycles, unless $run goes off or $jam comes on before.",
                    outputs=("belt",),
                    check=responds(
                        lambda h, t, p: True,
                        lambda h, t, p: h[t].belt,
                        within="react",
                        unless=lambda h, t, p: not _is_moving(h, t),
                    ),
                ),
                Property(
                    id="belt-stops",
                    sentence="In every cycle in which $run is off, $belt is off.",
                    outputs=("belt",),
                    check=never(lambda h, t, p: h[t].belt and not h[t].run),
                ),
                Property(
                    id="jam-stops",
                    sentence="In every cycle in which $jam is on, $belt and $pusher are off.",
                    outputs=("belt", "pusher"),
                    check=never(lambda h, t, p: h[t].jam and (h[t].belt or h[t].pusher)),
                ),
            ),
        ),
        Task(
            title="pushing",
            properties=(
                Property(
                    id="pushes",
                    sentence="For every heavy item seen in a cycle k, $pusher is on in the $push cycles that begin with k + $travel, as long as $run has been on and $jam off in every cycle from k to then.",
                    outputs=("pusher",),
                    check=never(lambda h, t, p: _is_push_due(h, t, p) and not h[t].pusher),
                ),
                Property(
                    id="pushes-only",
                    sentence="In all other cycles $pusher is off: light items pass, and an item that was on the belt when $run went off or $jam came on is not pushed.",
                    outputs=("pusher",),
                    check=never(lambda h, t, p: h[t].pusher and not _is_push_due(h, t, p)),
                ),
            ),
        ),
        Task(
            title="counting",
            properties=(
                Property(
                    id="counts",
                    sentence="$count is the number of heavy items seen after the last cycle with $reset on (or from the beginning), up to and with this cycle.",
                    outputs=("count",),
                    check=never(lambda h, t, p: h[t].count != _number_pushed(h, t, p)),
                ),
                Property(
                    id="reset-zero",
                    sentence="In every cycle in which $reset is on, $count is 0.",
                    outputs=("count",),
                    check=never(lambda h, t, p: h[t].reset and h[t].count != 0),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    moving = inputs["$run"] and not inputs["$jam"]
    seen = inputs["$sensor"] and not state.get("sensor", False)
    state["sensor"] = inputs["$sensor"]
    heavy = seen and moving and inputs["$weight"] >= $limit
    ages = [age + 1 for age in state.get("ages", [])] if moving else []
    if heavy:
        ages.append(0)
    state["ages"] = [age for age in ages if age < $travel + $push]
    pusher = any($travel <= age < $travel + $push for age in ages)
    count = 0 if inputs["$reset"] else state.get("count", 0) + (1 if heavy else 0)
    state["count"] = count
    return {"$belt": moving, "$pusher": pusher, "$count": count}
""",
    mutants=(
        Mutant("belt-runs", '"$belt": moving', '"$belt": moving and pusher'),
        Mutant("belt-stops", 'moving = inputs["$run"] and not', "moving = not"),
        Mutant("jam-stops", 'inputs["$run"] and not inputs["$jam"]', 'inputs["$run"]'),
        Mutant("pushes", "ages.append(0)", "ages = [0]"),
        Mutant("pushes", "any($travel <= age", "any($travel < age"),
        Mutant("pushes-only", " if moving else []", ""),
        Mutant("pushes-only", ">= $limit", ">= $limit - 1"),
        Mutant(
            "counts",
            'seen = inputs["$sensor"] and not state.get("sensor", False)',
            'seen = inputs["$sensor"]',
        ),
        Mutant("reset-zero", '0 if inputs["$reset"] else ', '0 if inputs["$reset"] and not heavy else '),
    ),
)
