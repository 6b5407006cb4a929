"""Right controllers that are written another way than the references are right too.

Each uses the freedom that the text leaves (how soon to react, in which order to serve), or a data structure
of its own; a property that asks for more than its sentence says would call it wrong.
"""

from random import Random

import pytest
from controllers_engine import ToyEngine

from labeling.simulators.controllers.check import check
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import draw

LATE_START = """
class Latch:
    def __init__(self):
        self.on = self.last = self.trip = False
        self.wait = None

    def scan(self, i):
        rising = i["$start"] and not self.last
        self.last = i["$start"]
        self.trip = i["$overload"] or (self.trip and not i["$reset"])
        if i["$stop"] or not i["$guard"] or self.trip:
            self.on, self.wait = False, None
        elif rising and not self.on:
            self.wait = $react
        if self.wait is not None:
            if self.wait == 0:
                self.on, self.wait = True, None
            else:
                self.wait -= 1
        return {"$motor": 1 if self.on else 0, "$lamp": self.trip}

def step(inputs, state):
    return state.setdefault("latch", Latch()).scan(inputs)
"""

LATE_PUMPS = """
def step(inputs, state):
    s = state
    s.setdefault("queue", [1, 2]); s.setdefault("on", 0); s.setdefault("late", 0); s.setdefault("run", 0)
    bad = [None, inputs["$fault1"], inputs["$fault2"]]
    if s["on"] and (not inputs["$demand"] or bad[s["on"]]):
        s["on"] = 0
    if not inputs["$demand"]:
        s["late"] = 0
    elif not s["on"]:
        free = [p for p in s["queue"] if not bad[p]]
        if free and s["late"] >= $react:
            s["on"], s["late"] = free[0], 0
            s["queue"] = [3 - free[0], free[0]]
        elif free:
            s["late"] += 1
        else:
            s["late"] = 0
    s["run"] = s["run"] + 1 if s["on"] and s["on"] == s.get("before") else int(bool(s["on"]))
    s["before"] = s["on"]
    return {"$pump1": s["on"] == 1, "$pump2": s["on"] == 2, "$long": s["run"] > $longest}
"""

NEAREST_FIRST = """
def step(inputs, state):
    waiting = state.setdefault("waiting", [])
    for floor, pressed in enumerate([inputs["$call0"], inputs["$call1"], inputs["$call2"]]):
        if pressed and floor not in waiting:
            waiting.append(floor)
    position, out = inputs["$position"], {"$up": False, "$down": False, "$door": False}
    here = [f for f in waiting if f * $travel == position]
    left = state.get("left", 0)
    if left > 0:
        state["left"] = left - 1
        for f in here:
            waiting.remove(f)
        out["$door"] = True
        return out
    if state.pop("closing", False):
        return out
    if here and not state.get("moved_from") == position:
        for f in here:
            waiting.remove(f)
        state["left"], out["$door"], state["closing"] = $longest - 1, True, True
    elif waiting:
        target = waiting[0] * $travel
        out["$up"], out["$down"] = target > position, target < position
    return out
"""

FIRST_PHASES = """
def step(inputs, state):
    rules = {
        "idle": lambda: "fill" if state["edge"] and not inputs["$full"] else "idle",
        "fill": lambda: "rest" if inputs["$full"] else "fill",
        "rest": lambda: "mix",
        "mix": lambda: "mix" if state["left"] > 0 else ("idle" if inputs["$empty"] else "drain"),
        "drain": lambda: "idle" if inputs["$empty"] else "drain",
    }
    state["edge"] = inputs["$start"] and not state.get("was")
    state["was"] = inputs["$start"]
    state["left"] = state.get("left", 0) - 1
    old = state.get("phase", "idle")
    new = "idle" if inputs["$abort"] else rules[old]()
    if new == "mix" and old == "rest":
        state["left"] = $mix
    state["phase"] = new
    return {"$inlet": new == "fill", "$mixer": new == "mix", "$outlet": new == "drain"}
"""

DELAYED_ALARM = """
def step(inputs, state):
    history = state.setdefault("history", [])
    history.append((inputs["$level"], inputs["$ack"]))
    run = 0
    for level, _ in reversed(history):
        if level < $limit:
            break
        run += 1
    if run >= $hold + 1 + $react:
        state["alarm"] = True
    if inputs["$ack"] and inputs["$level"] < $limit:
        state["alarm"] = False
    fill = state.get("fill", False)
    fill = inputs["$enable"] and (inputs["$level"] < $low or (fill and inputs["$level"] < $high))
    drain = inputs["$level"] >= $limit or (state.get("drain", False) and inputs["$level"] >= $high)
    state["fill"], state["drain"] = fill, drain
    return {"$fill": fill, "$drain": drain, "$alarm": state.get("alarm", False)}
"""

LATE_STAR = """
def step(inputs, state):
    t = state["t"] = state.get("t", -1) + 1
    if inputs["$stop"] or inputs["$thermal"]:
        state["begin"] = None
    elif inputs["$start"] and not state.get("was") and state.get("begin") is None:
        state["begin"] = t + $react
    state["was"] = inputs["$start"]
    begin = state.get("begin")
    age = -1 if begin is None else t - begin
    change = $star_time + $pause + 1
    return {"$main": age >= 0, "$star": 0 <= age < $star_time, "$delta": age >= change}
"""

LATE_ALARM = """
def step(inputs, state):
    t = state["t"] = state.get("t", -1) + 1
    faults = state.setdefault("faults", [])
    faults.append(inputs["$fault"])
    new = len(faults) > $filter and all(faults[-$filter - 1:])
    new = new and (len(faults) == $filter + 1 or not faults[-$filter - 2])
    if new and not state.get("sounding"):
        state["due"] = t + $react
    if inputs["$ack"] or not inputs["$fault"]:
        state["due"] = None
    if inputs["$ack"]:
        state["sounding"] = 0
        state["seen"] = True
    elif state.get("due") == t:
        state["sounding"] = $longest
        if not state.get("lamp"):
            state["lamp"], state["seen"] = True, False
    elif state.get("sounding"):
        state["sounding"] -= 1
    if state.get("lamp") and state.get("seen") and not inputs["$fault"]:
        state["lamp"] = False
    return {"$lamp": state.get("lamp", False), "$horn": state.get("sounding", 0) > 0}
"""

LATE_DOSE = """
def step(inputs, state):
    w, mode, wait = inputs["$weight"], state.get("mode", 0), state.get("wait", 0)
    rising = inputs["$start"] and not state.get("was")
    state["was"] = inputs["$start"]
    if inputs["$emptied"]:
        mode = 0
    elif mode == 0 and rising and w < $near:
        mode, wait = 1, $react
    elif mode == 1 and wait == 0 and w >= $near:
        mode, wait = 2, $react
    elif mode == 2 and wait == 0 and w >= $enough:
        mode, wait = 3, $settle
    elif wait:
        wait -= 1
    state["mode"], state["wait"] = mode, wait
    return {
        "$coarse": mode == 1 and wait == 0 and w < $near,
        "$fine": mode == 2 and wait == 0,
        "$done": mode == 3 and wait == 0,
    }
"""

LATE_HEAT = """
def step(inputs, state):
    alarm = inputs["$broken"] or (state.get("alarm", False) and not inputs["$reset"])
    state["alarm"] = alarm
    allowed = inputs["$enable"] and not alarm
    coming = state.setdefault("coming", [0] * $dead)
    expected = inputs["$temperature"] + sum(coming)
    cold = inputs["$temperature"] < $cold
    heater = False
    if not allowed:
        pass
    elif state.get("heater"):
        heater = expected < $target
    elif cold and state.get("off", 99) >= $rest:
        state["late"] = state.get("late", 0) + 1
        heater = state["late"] > $react
    if heater or not cold or not allowed:
        state["late"] = 0
    state["off"] = 0 if heater else state.get("off", 99) + 1
    state["heater"] = heater
    coming.append($gain if heater else 0)
    del coming[0]
    return {
        "$heater": heater,
        "$ready": inputs["$enable"] and inputs["$temperature"] >= $warm,
        "$alarm": alarm,
    }
"""

PATIENT_LIGHT = """
PLAN = [("red", $clear + 1), ("walk", $walk_cycles), ("red", $clear + 1)]

def step(inputs, state):
    plan = state.setdefault("plan", [])
    state["asked"] = state.get("asked", False) or inputs["$request"]
    state["green_for"] = state.get("green_for", 0)
    if not plan and state["asked"] and state["green_for"] >= $green_cycles and not inputs["$priority"]:
        for colour, cycles in [("yellow", $yellow_cycles), *PLAN]:
            plan += [colour] * cycles
        state["green_for"] = 0
    colour = plan.pop(0) if plan else "green"
    if colour == "walk":
        state["asked"] = False
    if colour == "green":
        state["green_for"] += 1
    return {
        "$red": colour in ("red", "walk"),
        "$yellow": colour == "yellow",
        "$green": colour == "green",
        "$walk": colour == "walk",
    }
"""

COUNTING_SORTER = """
def step(inputs, state):
    go = bool(inputs["$run"] and not inputs["$jam"])
    line = state.setdefault("line", [0] * ($travel + $push))
    new = inputs["$sensor"] and not state.get("was")
    state["was"] = inputs["$sensor"]
    heavy = int(bool(go and new and inputs["$weight"] >= $limit))
    line.insert(0, heavy)
    line.pop()
    if not go:
        state["line"] = line = [0] * ($travel + $push)
    state["late"] = state.get("late", 0) + 1 if go else 0
    state["n"] = 0 if inputs["$reset"] else state.get("n", 0) + heavy
    return {"$belt": state["late"] > $react, "$pusher": any(line[$travel:]), "$count": state["n"]}
"""

LATE_PRESS = """
def step(inputs, state):
    hands = (inputs["$left"], inputs["$right"])
    if not any(hands):
        state["grip"] = []
        return {"$press": 0}
    grip = state.setdefault("grip", [])
    grip.append((hands, inputs["$clear"]))
    firsts = [next((k for k, (h, _) in enumerate(grip) if h[side]), None) for side in (0, 1)]
    ok = None not in firsts and abs(firsts[0] - firsts[1]) <= $sync
    ok = ok and all(clear for _, clear in grip)
    ok = ok and all(h[side] for side in (0, 1) for h, _ in grip[firsts[side] :])
    begin = max(firsts) + $react if ok else 0
    return {"$press": int(bool(ok and begin <= len(grip) - 1 < begin + $stroke))}
"""

OTHERS = {
    "star-delta": LATE_STAR,
    "alarm-acknowledge": LATE_ALARM,
    "dosing": LATE_DOSE,
    "heating": LATE_HEAT,
    "traffic-light": PATIENT_LIGHT,
    "conveyor-sorter": COUNTING_SORTER,
    "two-hand-press": LATE_PRESS,
    "start-stop": LATE_START,
    "two-pumps": LATE_PUMPS,
    "elevator": NEAREST_FIRST,
    "batch-sequence": FIRST_PHASES,
    "tank-level": DELAYED_ALARM,
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_right_controller_is_right(name):
    for seed in range(15):
        specification = draw(FAMILIES[name], Random(seed), n_tasks=3)
        code = specification.fill(OTHERS[name])
        findings = check(ToyEngine(), specification, code, specification.properties, is_complete=True)
        assert findings.stopped is None
        assert [(v.property.id, v.run.fault) for v in findings.violations] == [], vars(
            specification.parameters
        )
