"""Controllers of industrial machines: code that is run on traces and judged by its properties."""

from labeling.simulators.controllers.references import faulty_programs, reference_program, solution_steps
from labeling.simulators.controllers.world import ControllersWorld

__all__ = ["ControllersWorld", "faulty_programs", "reference_program", "solution_steps"]
