"""Types of the subset: elementary ones, function blocks, and literals."""

import re
from dataclasses import dataclass

from labeling.simulators.controllers.st.errors import StructuredTextError

INTEGERS = {
    "SINT": (-(2**7), 2**7 - 1),
    "INT": (-(2**15), 2**15 - 1),
    "DINT": (-(2**31), 2**31 - 1),
    "LINT": (-(2**63), 2**63 - 1),
    "USINT": (0, 2**8 - 1),
    "UINT": (0, 2**16 - 1),
    "UDINT": (0, 2**32 - 1),
    "ULINT": (0, 2**64 - 1),
}
REALS = frozenset({"REAL", "LREAL"})
ELEMENTARY = frozenset({"BOOL", "TIME", *INTEGERS, *REALS})
ANY_INTEGER = "integer"
"""Type of an untyped literal and of what is computed from different integer types."""


@dataclass(frozen=True)
class BlockType:
    """A standard function block: its inputs and outputs with their types."""

    inputs: dict[str, str]
    outputs: dict[str, str]

    def members(self) -> dict[str, str]:
        """Return all its members."""
        return {**self.inputs, **self.outputs}


_TIMER = BlockType({"IN": "BOOL", "PT": "TIME"}, {"Q": "BOOL", "ET": "TIME"})
_EDGE = BlockType({"CLK": "BOOL"}, {"Q": "BOOL"})
BLOCKS = {
    "TON": _TIMER,
    "TOF": _TIMER,
    "TP": _TIMER,
    "CTU": BlockType({"CU": "BOOL", "R": "BOOL", "PV": "INT"}, {"Q": "BOOL", "CV": "INT"}),
    "CTD": BlockType({"CD": "BOOL", "LD": "BOOL", "PV": "INT"}, {"Q": "BOOL", "CV": "INT"}),
    "CTUD": BlockType(
        {"CU": "BOOL", "CD": "BOOL", "R": "BOOL", "LD": "BOOL", "PV": "INT"},
        {"QU": "BOOL", "QD": "BOOL", "CV": "INT"},
    ),
    "R_TRIG": _EDGE,
    "F_TRIG": _EDGE,
    "SR": BlockType({"S1": "BOOL", "RESET": "BOOL"}, {"Q1": "BOOL"}),
    "RS": BlockType({"SET": "BOOL", "R1": "BOOL"}, {"Q1": "BOOL"}),
}
_MEMBER_NAMES = {"SR": {"R": "RESET"}, "RS": {"S": "SET"}, "CTU": {"RESET": "R"}, "CTD": {"LOAD": "LD"}}
"""Names that vendors and editions use for the same input."""

_MILLISECONDS = {"D": 86_400_000, "H": 3_600_000, "M": 60_000, "S": 1000, "MS": 1}


def member_name(block: str, name: str) -> str:
    """Return the standard's name of a function block's member."""
    upper = name.upper()
    return _MEMBER_NAMES.get(block, {}).get(upper, upper)


def is_integer(name: str) -> bool:
    """Tell whether a type is an integer type."""
    return name in INTEGERS or name == ANY_INTEGER


def is_number(name: str) -> bool:
    """Tell whether a type is an integer or a REAL type."""
    return is_integer(name) or name in REALS


def default_of(name: str) -> str:
    """Return the initial value of a variable of this type, as Python."""
    return {"BOOL": "False"}.get(name, "0.0" if name in REALS else "0")


def stored(name: str, code: str) -> str:
    """Return the Python that brings a value into the range of the variable it is stored in."""
    if name in INTEGERS:
        low, high = INTEGERS[name]
        return f"wrap({code}, {low}, {high})"
    return code


def time_literal(text: str, line: int) -> int:
    """Read `T#1m_30s500ms` as milliseconds.

    Raises:
        StructuredTextError: The parts are not in order from days to milliseconds.
    """
    body = text.partition("#")[2].upper().replace("_", "")
    sign = -1 if body.startswith("-") else 1
    parts = re.findall(r"(\d+(?:\.\d+)?)(MS|D|H|M|S)", body.lstrip("-"))
    sizes = [_MILLISECONDS[unit] for _, unit in parts]
    if "".join(a + b for a, b in parts) != body.lstrip("-") or sizes != sorted(set(sizes), reverse=True):
        raise StructuredTextError(f"{text} is no duration", line)
    return sign * round(sum(float(n) * size for (n, _), size in zip(parts, sizes, strict=True)))


def integer_literal(text: str, line: int) -> tuple[str, int]:
    """Read `16#FF`, `INT#-5`, `1_000`: the type ("integer" when none is named) and the value.

    Raises:
        StructuredTextError: The value is outside the range of the named type.
    """
    head, _, body = text.replace("_", "").upper().rpartition("#")
    name, base = ANY_INTEGER, 10
    for part in head.split("#") if head else ():
        if part.isdigit():
            base = int(part)
        else:
            name = part
    value = int(body, base)
    if name in INTEGERS and not INTEGERS[name][0] <= value <= INTEGERS[name][1]:
        raise StructuredTextError(f"{text} is outside the range of {name}", line)
    return name, value
