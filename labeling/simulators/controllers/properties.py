"""Properties as functions of a history, made from a few combinators.

Times are in cycles: a time of N cycles that begins in cycle k ends in cycle k + N, and "within N cycles"
of cycle k means in one of the cycles k, ..., k + N.
"""

from collections.abc import Callable

from labeling.simulators.controllers.spec import Check, History, Parameters, Row

At = Callable[[History, int, Parameters], bool]
"""Something that is so or not at a cycle of a history; it may look at the cycles before, never ahead."""


def never(bad: At) -> Check:
    """Safety: `bad` holds at no cycle."""

    def check(history: History, parameters: Parameters) -> int | None:
        return next((t for t in range(len(history)) if bad(history, t, parameters)), None)

    return check


def responds(trigger: At, response: At, *, within: str | int, unless: At | None = None) -> Check:
    """Bounded liveness: `response` follows `trigger` within N cycles.

    The obligation lapses when `unless` holds at the trigger or before the response. An obligation whose
    time reaches beyond the end of the history is not judged.

    Args:
        trigger: What begins the obligation.
        response: What ends it.
        within: N, or the name of the parameter that is N.
        unless: What releases from it.
    """

    def check(history: History, parameters: Parameters) -> int | None:
        limit = getattr(parameters, within) if isinstance(within, str) else within
        for begin in range(len(history) - limit):
            if trigger(history, begin, parameters):
                cycles = range(begin, begin + limit + 1)
                if not any(
                    response(history, t, parameters)
                    or (unless is not None and unless(history, t, parameters))
                    for t in cycles
                ):
                    return begin + limit
        return None

    return check


def rose(history: History, cycle: int, role: str) -> bool:
    """Tell whether a signal went from off to on in this cycle; before the first cycle it is off."""
    return bool(getattr(history[cycle], role)) and not (cycle and getattr(history[cycle - 1], role))


def fell(history: History, cycle: int, role: str) -> bool:
    """Tell whether a signal went from on to off in this cycle."""
    return cycle > 0 and bool(getattr(history[cycle - 1], role)) and not getattr(history[cycle], role)


def held(history: History, cycle: int, condition: Callable[[Row], object]) -> int:
    """Count the cycles in a row, up to and with this one, in which the condition holds."""
    begin = cycle
    while begin >= 0 and condition(history[begin]):
        begin -= 1
    return cycle - begin


def since(history: History, cycle: int, condition: Callable[[Row], object]) -> int | None:
    """Return the last cycle, up to and with this one, in which the condition held; None when none did."""
    for t in range(cycle, -1, -1):
        if condition(history[t]):
            return t
    return None
