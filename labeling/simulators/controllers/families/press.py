"""Two-hand control of a press."""

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


def _both(h: History, t: int) -> bool:
    return bool(h[t].left and h[t].right)


def _session(h: History, t: int) -> int:
    """Return the first cycle after the last one, up to and with t, in which both buttons were off."""
    released = since(h, t, lambda c: not c.left and not c.right)
    return 0 if released is None else released + 1


def _is_in_time(h: History, t: int, p: Parameters) -> bool:
    """Tell whether, in the session of cycle t, both buttons came on close enough and have not been let go."""
    first = {}
    for role in ("left", "right"):
        ons = [k for k in range(_session(h, t), t + 1) if getattr(h[k], role)]
        if not ons or ons != list(range(ons[0], t + 1)):
            return False
        first[role] = ons[0]
    return abs(first["left"] - first["right"]) <= p.sync


def _is_clear(h: History, t: int) -> bool:
    """Tell whether the curtain has been clear in every cycle of this session."""
    return all(h[k].clear for k in range(_session(h, t), t + 1))


def _strokes_before(h: History, t: int) -> bool:
    return any(fell(h, k, "press") for k in range(_session(h, t) + 1, t + 1))


def _press_scenarios(p: Parameters) -> Sequence[Scenario]:
    ready: tuple[int, dict[str, int]] = (1, {"clear": 1})
    both, none = {"left": 1, "right": 1}, {"left": 0, "right": 0}
    stroke = p.stroke + p.react + 4
    return (
        (ready, (stroke, both), (2, none), (stroke, both)),
        (ready, (p.sync, {"left": 1}), (stroke, {"right": 1}), (2, none)),
        (ready, (p.sync + 1, {"left": 1}), (stroke, {"right": 1}), (2, none), (4, both)),
        (ready, (p.sync + 1, {"right": 1}), (stroke, {"left": 1}), (2, none), (4, both)),
        (ready, (2, both), (2, {"left": 0}), (stroke, {"left": 1}), (2, none), (4, both)),
        (ready, (2, both), (2, {"right": 0}), (stroke, {"right": 1}), (2, none), (4, both)),
        (ready, (p.react + 2, both), (1, {"clear": 0}), (stroke, {"clear": 1}), (1, none), (4, both)),
        ((2, {"clear": 0}), (2, both), (stroke, {"clear": 1}), (1, none), (4, both)),
        (ready, (p.react + 2, both), (2, none), (p.react + 2, both), (1, {"right": 0})),
    )


PRESS = Family(
    name="two-hand-press",
    opening="A press closes only while both hands of the operator are on their buttons and the light curtain is clear. A grip begins in the first cycle in which a button is on and ends in the next cycle in which both are off.",
    inputs=(
        Signal(
            role="left",
            names=("left", "hand_left", "s1_left"),
            meaning="left button, on while pressed",
            change=0.2,
        ),
        Signal(
            role="right",
            names=("right", "hand_right", "s2_right"),
            meaning="right button, on while pressed",
            change=0.2,
        ),
        Signal(
            role="clear",
            names=("curtain_clear", "light_ok", "field_free"),
            meaning="on while the light curtain is clear",
        ),
    ),
    outputs=(
        Signal(
            role="press", names=("press", "close_valve", "y1_close"), meaning="valve that closes the press"
        ),
    ),
    parameters={"cycle_ms": CYCLES_MS, "react": (1, 2), "sync": (2, 3, 4, 5), "stroke": (4, 5, 6, 8)},
    tasks=(
        Task(
            title="both hands",
            properties=(
                Property(
                    id="only-both",
                    sentence="In every cycle in which $left or $right is off, $press is off.",
                    outputs=("press",),
                    check=never(lambda h, t, p: h[t].press and not _both(h, t)),
                ),
                Property(
                    id="closes",
                    sentence="When in a grip the second button comes on at most $sync cycles after the first, none having been let go and $clear having been on in every cycle of the grip, $press is on within $react cycles, unless a button or $clear goes off before.",
                    outputs=("press",),
                    check=responds(
                        lambda h, t, p: (
                            _is_in_time(h, t, p)
                            and _is_clear(h, t)
                            and not (t and _both(h, t - 1) and _session(h, t) < t)
                        ),
                        lambda h, t, p: h[t].press,
                        within="react",
                        unless=lambda h, t, p: not _both(h, t) or not h[t].clear,
                    ),
                ),
                Property(
                    id="keeps",
                    sentence="Once on, $press stays on for $stroke cycles, unless a button or $clear goes off before.",
                    outputs=("press",),
                    check=never(
                        lambda h, t, p: (
                            fell(h, t, "press")
                            and _both(h, t)
                            and h[t].clear
                            and held(h, t - 1, lambda c: c.press) < p.stroke
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="synchronous grip",
            properties=(
                Property(
                    id="in-time",
                    sentence="In a grip whose second button comes on more than $sync cycles after the first, $press stays off.",
                    outputs=("press",),
                    check=never(lambda h, t, p: h[t].press and _both(h, t) and _late(h, t, p)),
                ),
                Property(
                    id="grip-again",
                    sentence="After a button has been let go in a grip, or after a stroke of it has ended, $press stays off until a new grip: both buttons have to be off in one cycle at least.",
                    outputs=("press",),
                    check=never(
                        lambda h, t, p: (
                            rose(h, t, "press")
                            and _both(h, t)
                            and (_was_let_go(h, t) or _strokes_before(h, t))
                        )
                    ),
                ),
            ),
        ),
        Task(
            title="light curtain and stroke",
            properties=(
                Property(
                    id="curtain-stops",
                    sentence="In every cycle in which $clear is off, $press is off.",
                    outputs=("press",),
                    check=never(lambda h, t, p: h[t].press and not h[t].clear),
                ),
                Property(
                    id="curtain-ends-grip",
                    sentence="In a grip in which $clear was off in any cycle, $press stays off from then on.",
                    outputs=("press",),
                    check=never(lambda h, t, p: h[t].press and _both(h, t) and not _is_clear(h, t)),
                ),
                Property(
                    id="stroke-ends",
                    sentence="$press is never on for more than $stroke cycles in a row ($stroke_ms ms).",
                    outputs=("press",),
                    check=never(lambda h, t, p: held(h, t, lambda c: c.press) > p.stroke),
                ),
            ),
        ),
    ),
    scenarios=_press_scenarios,
    reference="""\
def step(inputs, state):
    left, right, clear = inputs["$left"], inputs["$right"], inputs["$clear"]
    if not left and not right:
        state.clear()
        return {"$press": False}
    state["age"] = state.get("age", -1) + 1
    if (state.get("left") and not left) or (state.get("right") and not right):
        state["spent"] = True
    state["left"], state["right"] = left, right
    if not clear:
        state["spent"] = True
    if left and right:
        state.setdefault("second", state["age"])
    late = state.get("second", 0) > $sync
    press = bool(left and right and not late and not state.get("spent"))
    if press:
        state["stroke"] = state.get("stroke", 0) + 1
        if state["stroke"] > $stroke:
            state["spent"] = True
            press = False
    return {"$press": press}
""",
    mutants=(
        Mutant("only-both", "press = bool(left and right and", "press = bool((left or right) and"),
        Mutant("closes", 'late = state.get("second", 0) > $sync', 'late = state.get("second", 0) >= $sync'),
        Mutant("keeps", "> $stroke:", "> $stroke - 1:"),
        Mutant("in-time", " and not late", ""),
        Mutant("grip-again", 'if (state.get("left") and not left) or', "if"),
        Mutant("curtain-stops", '    if not clear:\n        state["spent"] = True\n', ""),
        Mutant(
            "curtain-ends-grip",
            '    if not clear:\n        state["spent"] = True\n',
            "    right = right and clear\n",
        ),
        Mutant("stroke-ends", "> $stroke:", "> $stroke + 1:"),
    ),
    structured_text="""\
PROGRAM control
VAR
    age, stroke : INT;
    second : INT := -1;
    was_left, was_right, spent : BOOL;
END_VAR
IF NOT $left AND NOT $right THEN
    age := 0;
    stroke := 0;
    second := -1;
    spent := FALSE;
    $press := FALSE;
ELSE
    spent := spent OR NOT $clear OR (was_left AND NOT $left) OR (was_right AND NOT $right);
    IF $left AND $right AND second < 0 THEN
        second := age;
    END_IF
    $press := $left AND $right AND second <= $sync AND NOT spent;
    IF $press THEN
        stroke := stroke + 1;
        IF stroke > $stroke THEN
            spent := TRUE;
            $press := FALSE;
        END_IF
    END_IF
    age := age + 1;
END_IF
was_left := $left;
was_right := $right;
END_PROGRAM
""",
)


def _late(h: History, t: int, p: Parameters) -> bool:
    """Tell whether the second button of this grip came on too late after the first."""
    begin = _session(h, t)
    second = next(k for k in range(begin, t + 1) if _second_seen(h, begin, k))
    return second - begin > p.sync


def _second_seen(h: History, begin: int, t: int) -> bool:
    return any(h[k].left for k in range(begin, t + 1)) and any(h[k].right for k in range(begin, t + 1))


def _was_let_go(h: History, t: int) -> bool:
    begin = _session(h, t)
    return any(fell(h, k, role) for k in range(begin + 1, t + 1) for role in ("left", "right"))
