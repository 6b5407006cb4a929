"""Elevator with three floors."""

from collections.abc import Sequence

from labeling.simulators.controllers.properties import fell, held, never, rose, since
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

FLOORS = 3


def elevator_plant(
    memory: dict[str, int], inputs: dict[str, int], outputs: dict[str, int], parameters: dict[str, int]
) -> dict[str, int]:
    """The car moves by one position a cycle; it begins at the lowest floor and cannot leave the shaft."""
    position = memory.get("position", 0) + int(outputs["up"]) - int(outputs["down"])
    memory["position"] = min(max(position, 0), parameters["top"])
    return {"position": memory["position"]}


def _called(row: Row, floor: int) -> bool:
    return bool(getattr(row, f"call{floor}"))


def _is_served(h: History, t: int, floor: int, p: Parameters) -> bool:
    return bool(h[t].door and h[t].position == floor * p.travel)


def _is_pending(h: History, t: int, floor: int, p: Parameters) -> bool:
    """Tell whether a call for the floor, up to and with cycle t, has not been served before t."""
    last = since(h, t, lambda c: _called(c, floor))
    return last is not None and not any(_is_served(h, k, floor, p) for k in range(last, t))


def _moves_for_nothing(h: History, t: int, p: Parameters) -> bool:
    return bool(h[t].up or h[t].down) and not any(_is_pending(h, t, floor, p) for floor in range(FLOORS))


def _opens_for_nothing(h: History, t: int, p: Parameters) -> bool:
    floor, rest = divmod(h[t].position, p.travel)
    return rose(h, t, "door") and not rest and not _is_pending(h, t, floor, p)


def _first_unserved(h: History, p: Parameters) -> int | None:
    for begin in range(len(h) - p.most):
        cycles = range(begin, begin + p.most + 1)
        if any(_called(h[k], floor) for k in cycles[1:] for floor in range(FLOORS)):
            continue
        for floor in range(FLOORS):
            if _called(h[begin], floor) and not any(_is_served(h, k, floor, p) for k in cycles):
                return begin + p.most
    return None


def _scenarios(p: Parameters) -> Sequence[Scenario]:
    none = {"call0": 0, "call1": 0, "call2": 0}
    quiet = (p.most + 1, none)
    across = p.travel + p.door_cycles + 4
    return (
        ((1, {"call2": 1}), quiet, (1, {"call0": 1}), quiet),
        ((1, {"call0": 1, "call1": 1, "call2": 1}), quiet),
        ((1, {"call1": 1}), quiet, (1, {"call0": 1, "call2": 1}), quiet),
        ((1, {"call2": 1}), (p.travel + 1, none), (1, {"call1": 1}), quiet),
        ((1, {"call1": 1}), (across, none), (1, {"call2": 1}), (1, none), (1, {"call0": 1}), quiet),
        ((across, {"call0": 1}), quiet),
        (
            (1, {"call2": 1}),
            (2 * p.travel + p.door_cycles, none),
            (1, {"call2": 1}),
            (1, {"call2": 0, "call1": 1}),
            quiet,
        ),
        ((3, {}), (1, {"call0": 1}), (p.door_cycles + 4, none)),
    )


ELEVATOR = Family(
    name="elevator",
    opening="An elevator serves three floors, numbered 0, 1 and 2. $position is the position of the car: it begins at 0, each cycle with $up on raises it by 1 in the next cycle, and each with $down on lowers it by 1; floor number n is at position n times $travel. A call for a floor is served when $door is on while the car is at that floor, in the cycle of the call or later.",
    inputs=(
        Signal(
            role="call0",
            names=("call0", "button_ground", "s10_call"),
            meaning="call button of floor 0, on while pressed",
            change=0.04,
        ),
        Signal(
            role="call1",
            names=("call1", "button_first", "s11_call"),
            meaning="call button of floor 1, on while pressed",
            change=0.04,
        ),
        Signal(
            role="call2",
            names=("call2", "button_second", "s12_call"),
            meaning="call button of floor 2, on while pressed",
            change=0.04,
        ),
        Signal(
            role="position",
            names=("position", "car_position", "b7_pos"),
            meaning="position of the car",
            kind="INT",
            high=6,
            is_measured=True,
        ),
    ),
    outputs=(
        Signal(role="up", names=("up", "m_up", "k1_up"), meaning="motor upwards"),
        Signal(role="down", names=("down", "m_down", "k2_down"), meaning="motor downwards"),
        Signal(role="door", names=("door", "door_open", "y3_door"), meaning="door open"),
    ),
    parameters={"cycle_ms": (200, 500, 1000), "travel": (2, 3), "door_cycles": (2, 3, 4, 5)},
    derive=lambda p: {
        "top": (FLOORS - 1) * p.travel,
        "longest": p.door_cycles + 2,
        "most": 4 * p.travel + 3 * (p.door_cycles + 5) + 4,
    },
    cycles=60,
    tasks=(
        Task(
            title="moving",
            properties=(
                Property(
                    id="never-both",
                    sentence="$up and $down are never on in the same cycle.",
                    outputs=("up", "down"),
                    check=never(lambda h, t, p: h[t].up and h[t].down),
                ),
                Property(
                    id="ends",
                    sentence="$up is off in every cycle in which $position is $top, and $down in every cycle in which it is 0.",
                    outputs=("up", "down"),
                    check=never(
                        lambda h, t, p: (
                            (h[t].up and h[t].position == p.top) or (h[t].down and h[t].position == 0)
                        )
                    ),
                ),
                Property(
                    id="moves-for-calls",
                    sentence="The car moves ($up or $down on) only while a call is pending: a floor's button is or was on and the call has not been served since.",
                    outputs=("up", "down"),
                    check=never(lambda h, t, p: _moves_for_nothing(h, t, p)),
                ),
            ),
        ),
        Task(
            title="door",
            properties=(
                Property(
                    id="door-at-floor",
                    sentence="$door is on only while the car is exactly at a floor.",
                    outputs=("door",),
                    check=never(lambda h, t, p: h[t].door and h[t].position % p.travel != 0),
                ),
                Property(
                    id="door-and-motor",
                    sentence="Neither $up nor $down is on in a cycle in which $door is on.",
                    outputs=("up", "down", "door"),
                    check=never(lambda h, t, p: h[t].door and (h[t].up or h[t].down)),
                ),
                Property(
                    id="door-time",
                    sentence="Each time, $door is on for at least $door_cycles and at most $longest cycles in a row.",
                    outputs=("door",),
                    check=never(
                        lambda h, t, p: (
                            held(h, t, lambda c: c.door) > p.longest
                            or (fell(h, t, "door") and held(h, t - 1, lambda c: c.door) < p.door_cycles)
                        )
                    ),
                ),
                Property(
                    id="opens-for-calls",
                    sentence="$door goes from off to on only at a floor for which a call is pending.",
                    outputs=("door",),
                    check=never(lambda h, t, p: _opens_for_nothing(h, t, p)),
                ),
            ),
        ),
        Task(
            title="serving the calls",
            properties=(
                Property(
                    id="serves",
                    sentence="A call is served within $most cycles of a cycle in which its button is on, provided that no button is on in the $most cycles after that one.",
                    outputs=("up", "down", "door"),
                    check=_first_unserved,
                ),
            ),
        ),
    ),
    scenarios=_scenarios,
    plant=elevator_plant,
    reference="""\
def step(inputs, state):
    calls = state.setdefault("calls", set())
    for floor, name in enumerate(("$call0", "$call1", "$call2")):
        if inputs[name]:
            calls.add(floor)
    position = inputs["$position"]
    floor = position // $travel if position % $travel == 0 else None
    still = {"$up": False, "$down": False, "$door": False}
    opened = state.get("opened", 0)
    if opened:
        state["opened"] = opened - 1
        if opened > 1:
            calls.discard(floor)
            still["$door"] = True
        return still
    if floor in calls:
        calls.discard(floor)
        state["opened"] = $door_cycles
        still["$door"] = True
        return still
    above = any(call * $travel > position for call in calls)
    below = any(call * $travel < position for call in calls)
    upwards = above if state.get("upwards", True) else not below
    state["upwards"] = upwards
    return {"$up": above and upwards, "$down": below and not upwards, "$door": False}
""",
    mutants=(
        Mutant("never-both", '"$down": below and not upwards', '"$down": below'),
        Mutant("ends", '"$down": below and not upwards', '"$down": not below and not upwards'),
        Mutant(
            "moves-for-calls",
            '"$down": below and not upwards',
            '"$down": (below or not above) and position > 0 and not (above and upwards)',
        ),
        Mutant(
            "door-at-floor",
            "position // $travel if position % $travel == 0 else None",
            "(position + $travel - 1) // $travel",
        ),
        Mutant(
            "door-and-motor",
            'state["opened"] = $door_cycles\n        still["$door"] = True',
            'state["opened"] = $door_cycles\n        still["$door"] = still["$up"] = True',
        ),
        Mutant("door-time", 'state["opened"] = $door_cycles', 'state["opened"] = $door_cycles - 1'),
        Mutant(
            "opens-for-calls",
            "    if floor in calls:",
            "    if floor in calls or (floor == 1 and calls and position != state.get('at')):\n        state['at'] = position",
        ),
        Mutant(
            "serves",
            "            calls.add(floor)",
            "            calls.clear()\n            calls.add(floor)",
        ),
        Mutant("serves", 'upwards = above if state.get("upwards", True) else not below', "upwards = True"),
    ),
)
