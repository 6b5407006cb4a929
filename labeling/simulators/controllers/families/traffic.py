"""Traffic light with a pedestrian crossing."""

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


def _colour(h: History, t: int) -> str:
    return "".join(role for role in ("red", "yellow", "green") if getattr(h[t], role))


def _breaks_order(h: History, t: int) -> bool:
    if not t:
        return _colour(h, 0) != "green"
    before, now = _colour(h, t - 1), _colour(h, t)
    return before != now and (before, now) not in (("green", "yellow"), ("yellow", "red"), ("red", "green"))


def _leaves_without_request(h: History, t: int) -> bool:
    last = since(h, t - 1, lambda c: c.walk)
    begin = 0 if last is None else last - held(h, last, lambda c: c.walk) + 1
    return not any(h[k].request for k in range(begin, t + 1))


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    cycle = p.most + p.walk_cycles + p.clear + 3
    push, wait = (1, {"request": 1}), (cycle, {"request": 0})
    return (
        (push, wait, (p.green_cycles + 4, {}), push, wait),
        ((p.green_cycles + 2, {}), push, wait, (p.green_cycles + 8, {})),
        ((2 * cycle, {"request": 1}),),
        ((2, {"priority": 1}), push, (p.green_cycles + 5, {"request": 0}), (cycle, {"priority": 0})),
        (
            push,
            (p.green_cycles + p.yellow_cycles + p.clear, {"request": 0}),
            (p.walk_cycles, {"request": 1}),
            wait,
        ),
        (push, (p.green_cycles + p.yellow_cycles + p.clear + p.walk_cycles, {"request": 0}), push, wait),
        (push, (p.green_cycles, {"request": 0}), (4, {"priority": 1}), (cycle, {"priority": 0})),
        ((p.green_cycles + 12, {}),),
    )


TRAFFIC = Family(
    name="traffic-light",
    opening="A traffic light stops the cars when a pedestrian asks to cross. It begins with green for the cars.",
    inputs=(
        Signal(
            role="request",
            names=("request", "ped_button", "s1_cross"),
            meaning="button of the pedestrians, on while pressed",
        ),
        Signal(
            role="priority",
            names=("priority", "bus_near", "tram_ahead"),
            meaning="on while a bus is to find green",
            change=0.04,
        ),
    ),
    outputs=(
        Signal(role="red", names=("red", "car_red", "h1_red"), meaning="red for the cars"),
        Signal(role="yellow", names=("yellow", "car_yellow", "h2_yellow"), meaning="yellow for the cars"),
        Signal(role="green", names=("green", "car_green", "h3_green"), meaning="green for the cars"),
        Signal(role="walk", names=("walk", "ped_green", "h4_walk"), meaning="green for the pedestrians"),
    ),
    parameters={
        "cycle_ms": (100, 200, 500, 1000),
        "green_cycles": (3, 4, 5, 6, 7),
        "yellow_cycles": (2, 3),
        "clear": (2, 3, 4),
        "walk_cycles": (2, 3, 4, 5),
    },
    derive=lambda p: {"most": 2 * p.clear + p.green_cycles + p.yellow_cycles + 4},
    cycles=60,
    tasks=(
        Task(
            title="lamps of the cars",
            properties=(
                Property(
                    id="one-lamp",
                    sentence="In every cycle exactly one of $red, $yellow and $green is on.",
                    outputs=("red", "yellow", "green"),
                    check=never(lambda h, t, p: h[t].red + h[t].yellow + h[t].green != 1),
                ),
                Property(
                    id="order",
                    sentence="In the first cycle $green is on; after it the lamps only change from $green to $yellow, from $yellow to $red, and from $red to $green.",
                    outputs=("red", "yellow", "green"),
                    check=never(lambda h, t, p: _breaks_order(h, t)),
                ),
                Property(
                    id="yellow-time",
                    sentence="Each time, $yellow is on for exactly $yellow_cycles cycles ($yellow_cycles_ms ms).",
                    outputs=("yellow",),
                    check=never(
                        lambda h, t, p: (
                            held(h, t, lambda c: c.yellow) > p.yellow_cycles
                            or (fell(h, t, "yellow") and held(h, t - 1, lambda c: c.yellow) < p.yellow_cycles)
                        )
                    ),
                ),
                Property(
                    id="green-time",
                    sentence="Each time, $green is on for at least $green_cycles cycles ($green_cycles_ms ms).",
                    outputs=("green",),
                    check=never(
                        lambda h, t, p: (
                            fell(h, t, "green") and held(h, t - 1, lambda c: c.green) < p.green_cycles
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="crossing",
            properties=(
                Property(
                    id="walk-on-red",
                    sentence="$walk is on only in cycles in which $red is on.",
                    outputs=("walk", "red"),
                    check=never(lambda h, t, p: h[t].walk and not h[t].red),
                ),
                Property(
                    id="clear-before",
                    sentence="When $walk comes on, $red has already been on for at least $clear cycles before.",
                    outputs=("walk", "red"),
                    check=never(
                        lambda h, t, p: rose(h, t, "walk") and held(h, t, lambda c: c.red) <= p.clear
                    ),
                ),
                Property(
                    id="clear-after",
                    sentence="When $red goes off, $walk has been off for at least $clear cycles before.",
                    outputs=("walk", "red"),
                    check=never(
                        lambda h, t, p: (
                            fell(h, t, "red") and any(h[k].walk for k in range(max(0, t - p.clear), t))
                        )
                    ),
                ),
                Property(
                    id="walk-time",
                    sentence="Each time, $walk is on for exactly $walk_cycles cycles ($walk_cycles_ms ms).",
                    outputs=("walk",),
                    check=never(
                        lambda h, t, p: (
                            held(h, t, lambda c: c.walk) > p.walk_cycles
                            or (fell(h, t, "walk") and held(h, t - 1, lambda c: c.walk) < p.walk_cycles)
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="requests",
            properties=(
                Property(
                    id="served",
                    sentence="When $request is on in a cycle in which $walk is off, $walk is on within $most cycles, unless $priority is on in one of them.",
                    outputs=("walk",),
                    check=responds(
                        lambda h, t, p: h[t].request and not h[t].walk,
                        lambda h, t, p: h[t].walk,
                        within="most",
                        unless=lambda h, t, p: h[t].priority,
                    ),
                ),
                Property(
                    id="green-kept",
                    sentence="$green goes off only when $request has been on in this cycle or in one since $walk last came on (or, when it never did, since the first cycle).",
                    outputs=("green",),
                    check=never(lambda h, t, p: fell(h, t, "green") and _leaves_without_request(h, t)),
                ),
                Property(
                    id="priority",
                    sentence="$green never goes off in a cycle in which $priority is on.",
                    outputs=("green",),
                    check=never(lambda h, t, p: fell(h, t, "green") and h[t].priority),
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    reference="""\
def step(inputs, state):
    phase, age = state.get("phase", "green"), state.get("age", -1) + 1
    wanted = state.get("wanted", False) or inputs["$request"]
    limits = {"yellow": $yellow_cycles, "before": $clear, "walk": $walk_cycles, "after": $clear}
    follows = {"yellow": "before", "before": "walk", "walk": "after", "after": "green"}
    if phase == "green":
        if wanted and age >= $green_cycles and not inputs["$priority"]:
            phase, age = "yellow", 0
    elif age >= limits[phase]:
        phase, age = follows[phase], 0
        if phase == "walk":
            wanted = False
    state.update(phase=phase, age=age, wanted=wanted)
    return {
        "$red": phase in ("before", "walk", "after"),
        "$yellow": phase == "yellow",
        "$green": phase == "green",
        "$walk": phase == "walk",
    }
""",
    mutants=(
        Mutant("one-lamp", '("before", "walk", "after")', '("before", "walk")'),
        Mutant("order", 'phase, age = "yellow", 0', 'phase, age = "before", 0'),
        Mutant("yellow-time", '"yellow": $yellow_cycles,', '"yellow": $yellow_cycles - 1,'),
        Mutant("green-time", "age >= $green_cycles", "age >= $green_cycles - 1"),
        Mutant(
            "walk-on-red",
            '"$walk": phase == "walk"',
            '"$walk": phase == "walk" or (phase == "yellow" and age == 0)',
        ),
        Mutant("clear-before", '"before": $clear,', '"before": $clear - 1,'),
        Mutant("clear-after", '"after": $clear}', '"after": $clear - 1}'),
        Mutant("walk-time", '"walk": $walk_cycles,', '"walk": $walk_cycles + 1,'),
        Mutant("served", 'state.get("wanted", False) or inputs["$request"]', 'inputs["$request"]'),
        Mutant("green-kept", "if wanted and age", "if age"),
        Mutant("priority", ' and not inputs["$priority"]', ""),
    ),
)
