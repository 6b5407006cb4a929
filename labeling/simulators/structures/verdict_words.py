"""What a step says of the limits and of the whole: kept, exceeded, safe, not safe."""

import re
from dataclasses import dataclass

_NO = r"(?:not (?:kept|met|satisfied|respected)|exceeded|violated|broken)"
_YES = r"(?:kept|met|satisfied|respected|not (?:exceeded|violated|broken))"
_LIMIT = re.compile(
    r"\b(?P<what>stress|deflection)(?: limit| criterion| check| requirement)? (?:is|are) "
    rf"(?:therefore |thus |hence |then |also )?(?:(?P<no>{_NO})|(?P<yes>{_YES}))\b",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\b(?:(?:answer|verdict)\b[^\n]{0,80}?|(?:beam|frame|truss|structure|design|cantilever) (?:is|are) "
    r"(?:therefore |thus |hence |then )?)(?:\b(?P<no>not safe|unsafe)|\b(?P<yes>safe))\b",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Said:
    """One such saying. Offsets are code points of the step's text."""

    what: str
    """"stress", "deflection" or "whole"."""
    is_kept: bool
    start: int
    end: int


def sayings(text: str) -> list[Said]:
    """Return what a step says of the limits, first to last."""
    found = [
        Said(match["what"].lower(), match["yes"] is not None, *match.span())
        for match in _LIMIT.finditer(text)
    ]
    found += [Said("whole", match["yes"] is not None, *match.span()) for match in _WHOLE.finditer(text)]
    return sorted(found, key=lambda said: said.start)
