"""The families of structures, by name."""

from labeling.simulators.structures.families.base import Family
from labeling.simulators.structures.families.beams import BEAMS
from labeling.simulators.structures.families.frames import FRAMES
from labeling.simulators.structures.families.indeterminate import INDETERMINATE
from labeling.simulators.structures.families.trusses import TRUSSES

FAMILIES: dict[str, Family] = {family.name: family for family in (*BEAMS, *INDETERMINATE, *TRUSSES, *FRAMES)}
"""Name -> family."""

__all__ = ["FAMILIES", "Family"]
