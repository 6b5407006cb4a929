"""Controllers of industrial machines: code that is run on traces and judged by its properties."""

from labeling.simulators.controllers.world import ControllersWorld, compiled

__all__ = ["ControllersWorld", "compiled"]
