"""The handbook of the deep families: what each element adds to the running value.

The values stand nowhere in a problem's text: whoever solves the problems has to know them, as an
engineer knows a handbook. They are plausible single digits, chosen once, and never change: a problem
keeps its own copy of the values it used, and a policy that was trained on them would be wrong otherwise.
"""

import types
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DeepFamily:
    """A kind of chain: every element changes the running value by its catalogue value."""

    name: str
    unit: str
    opening: str
    """First sentence, with `{start}` for the value at the beginning of the chain."""
    lead: str
    """What introduces the list of elements."""
    question: str
    starts: tuple[int, int]
    """Smallest and largest value at the beginning, inclusive."""
    values: Mapping[str, int]
    """Element -> signed change of the running value in `unit`, magnitude 1 to 9."""


def _values(table: str) -> Mapping[str, int]:
    cells = table.split()
    return types.MappingProxyType(
        {name: int(value) for name, value in zip(cells[::2], cells[1::2], strict=True)}
    )


DEEP_FAMILIES = (
    DeepFamily(
        name="takedown",
        unit="kN",
        opening="Column with {start} kN at the top.",
        lead="Going down:",
        question="Find the load at the base in kN.",
        starts=(15, 60),
        # Slabs, walls, beams and columns add their share; voids are openings that are deducted.
        values=_values(
            "slab-a 4 slab-b 7 slab-c 9 slab-d 5 slab-e 8 wall-a 3 wall-b 6 wall-c 8 "
            "beam-a 1 beam-b 3 beam-c 5 roof-a 2 roof-b 4 stair-a 7 stair-b 9 "
            "void-a -3 void-b -6 void-c -2 void-d -5 void-e -8"
        ),
    ),
    DeepFamily(
        name="pipeline",
        unit="m",
        opening="Pipeline with {start} m of head.",
        lead="Flow passes:",
        question="Find the head at the end in m.",
        starts=(40, 85),
        # Fittings and pipe runs lose head; pumps give it.
        values=_values(
            "pipe-a -4 pipe-b -7 pipe-c -2 pipe-d -9 bend-a -1 bend-b -3 tee-a -4 tee-b -6 "
            "valve-a -5 valve-b -8 valve-c -3 filter-a -6 filter-b -9 meter-a -2 "
            "pump-a 8 pump-b 5 pump-c 9 pump-d 6 pump-e 3 pump-f 7"
        ),
    ),
    DeepFamily(
        name="signal",
        unit="dB",
        opening="Signal chain with {start} dB at the input.",
        lead="In order:",
        question="Find the level at the output in dB.",
        starts=(30, 80),
        # Amplifiers add gain; pads, cables, splitters and mixers attenuate.
        values=_values(
            "amp-a 9 amp-b 4 amp-c 7 amp-d 2 amp-e 6 amp-f 8 amp-g 3 amp-h 5 "
            "pad-a -3 pad-b -6 pad-c -9 pad-d -2 cable-a -1 cable-b -4 cable-c -7 "
            "split-a -3 split-b -7 split-c -8 mix-a -6 mix-b -8"
        ),
    ),
    DeepFamily(
        name="parts",
        unit="euro",
        opening="Machine frame for {start} euro.",
        lead="Parts list:",
        question="Find the total cost in euro.",
        starts=(10, 55),
        # Parts cost; rebates and returned parts are deducted.
        values=_values(
            "motor-a 9 motor-b 8 motor-c 6 gear-a 5 gear-b 7 gear-c 4 bolt-a 1 bolt-b 2 "
            "belt-a 4 belt-b 6 seal-a 2 fan-a 5 fan-b 8 lamp-a 1 "
            "rebate-a -2 rebate-b -5 rebate-c -9 rebate-d -4 scrap-a -3 scrap-b -7"
        ),
    ),
)
