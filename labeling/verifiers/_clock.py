"""Times of day and durations: 10:45 + 30 min = 11:15, "from 2:15 to 2:38 is 23 minutes"."""

import re
from collections.abc import Iterator

from labeling.verifiers._phrases import Spoken

HALF_DAY, DAY = 720, 1440
_TIME = r"(\d{1,2}):([0-5]\d)(?!:|\d|%)(?:\s?([ap])\.?m\b\.?)?"
_LENGTH = (
    r"(?:(\d{1,3}(?:\.\d{1,4})?)\s?(?:hours?|hrs?|h)\b)?(?:\s?(?:and|,)?\s?)"
    r"(?:(\d{1,4}(?:\.\d{1,4})?)\s?(?:minutes?|mins?)\b)?"
)
_EQUALS = r"\s?(?:=|equals|is)\s?"
_SHIFT = re.compile(rf"(?<![\d:.]){_TIME}\s?([-+−–])\s?{_LENGTH}{_EQUALS}{_TIME}", re.IGNORECASE)
_SPAN = re.compile(
    rf"(?<![\d:.]){_TIME}\s?[-−–]\s?{_TIME}\s?(?:=|equals)\s?{_LENGTH}(?!\.?\d|:)", re.IGNORECASE
)
"""A difference (the later time first) or a range (the earlier one first)."""
_FROM_TO = re.compile(
    rf"\bfrom\s{_TIME}\s?(?:to|until)\s{_TIME},?\s(?:is|that is|which is|so that is)\s"
    r"(?:exactly\s|a total of\s)?"
    rf"{_LENGTH}(?!\.?\d|:)",
    re.IGNORECASE,
)


def find_times(text: str) -> Iterator[Spoken]:
    """Yield the sums and differences of times of day that a step states."""
    if ":" not in text:
        return
    for match in _SHIFT.finditer(text):
        found = match.groups()
        length = _length(found[4], found[5])
        if length is not None:
            shift = length if found[3] == "+" else -length
            if (spoken := _judged(match, found[:3], found[6:9], shift)) is not None:
                yield spoken
    for pattern, is_range in ((_SPAN, False), (_FROM_TO, True)):
        for match in pattern.finditer(text):
            first, second = match.groups()[:3], match.groups()[3:6]
            length = _length(*match.groups()[6:8])
            if length is None:
                continue
            spoken = _span(match, first, second, length, is_range=is_range)
            if spoken is not None:
                yield spoken


def _span(
    match: re.Match[str],
    first: tuple[str | None, ...],
    second: tuple[str | None, ...],
    length: float,
    *,
    is_range: bool,
) -> Spoken | None:
    """Judge a span; with a mere dash it is wrong only when it is neither a range nor a difference.

    A range over night proves nothing there: 14:00 - 9:00 is rather 5 hours than 19.
    """
    span = _judged(match, first, second, length, is_span=True)
    difference = None if is_range else _judged(match, second, first, length, is_span=True)
    if span is None or difference is None or difference.truth or not span.truth:
        return difference or span
    return span if _minutes(first) < _minutes(second) else None


def _length(hours: str | None, minutes: str | None) -> float | None:
    """Return minutes, None when no duration is written."""
    if hours is None and minutes is None:
        return None
    return float(hours or 0) * 60 + float(minutes or 0)


def _judged(
    match: re.Match[str],
    earlier: tuple[str | None, ...],
    later: tuple[str | None, ...],
    length: float,
    *,
    is_span: bool = False,
) -> Spoken | None:
    """Judge that `length` minutes lie between two times; None where one is no time of day.

    Without a.m. and p.m. any half-day will do, unless an hour beyond 12 tells a clock of 24 hours. What a
    shift adds may be days; a span is shorter than that, but for one of half a day or a whole one.
    """
    if not (_is_time(earlier) and _is_time(later)):
        return None
    is_of_24 = any(int(time[0] or 0) > 12 for time in (earlier, later))
    is_whole = is_of_24 or (earlier[2] is not None and later[2] is not None)
    period = DAY if is_whole else HALF_DAY
    gap = (_minutes(later) - _minutes(earlier) - length) % period
    is_so = min(gap, period - gap) < 1e-6 and not (is_span and length > period)
    end = _clock(_minutes(earlier) + length)
    reason = f"{_shown(earlier)} and {length:g} minutes make {end}, not {_shown(later)}"
    return Spoken(match.start(), match.end(), truth=is_so, reason=reason)


def _is_time(time: tuple[str | None, ...]) -> bool:
    """Whether the hour is one of the clock that is written: 0 to 24, with a.m. and p.m. 1 to 12."""
    hour = int(time[0] or 0)
    return 1 <= hour <= 12 if time[2] else hour <= 24


def _minutes(time: tuple[str | None, ...]) -> int:
    hours = int(time[0] or 0)
    if time[2]:
        hours = hours % 12 + (12 if time[2].lower() == "p" else 0)
    return hours * 60 + int(time[1] or 0)


def _clock(minutes: float) -> str:
    hour, rest = divmod(minutes % DAY, 60)
    return f"{int(hour)}:{rest:04.1f}" if rest % 1 else f"{int(hour)}:{int(rest):02d}"


def _shown(time: tuple[str | None, ...]) -> str:
    return f"{time[0]}:{time[1]}" + (f" {time[2]}.m." if time[2] else "")
