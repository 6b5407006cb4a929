"""The stress-limits world: beams, trusses and frames whose truth is a finite-element model."""

from labeling.simulators.structures.mutants import Mutant, mutants
from labeling.simulators.structures.reference import solution_steps
from labeling.simulators.structures.world import StressLimits

__all__ = ["Mutant", "StressLimits", "mutants", "solution_steps"]
