"""The embedded world: multi-step engineering problems whose truth is computed."""

from labeling.simulators.engineering.spec import solution_steps
from labeling.simulators.engineering.world import EngineeringWorld

__all__ = ["EngineeringWorld", "solution_steps"]
