"""Simulators of the user's own: a Python callable, or a program that speaks JSON lines, in a pool."""

from labeling.simulators.external.naming import load_external
from labeling.simulators.external.world import ExternalSettings, ExternalWorld, python_command

__all__ = ["ExternalSettings", "ExternalWorld", "load_external", "python_command"]
