"""Structured Text of IEC 61131-3: a documented subset, compiled to Python."""

from labeling.simulators.controllers.st.compile import compile_program
from labeling.simulators.controllers.st.errors import StructuredTextError, UnsupportedTextError

__all__ = ["StructuredTextError", "UnsupportedTextError", "compile_program"]
