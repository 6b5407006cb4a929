"""What can be wrong with a Structured Text program."""


class StructuredTextError(Exception):
    """The text is no program: a syntax error, a type error, an unknown variable.

    Args:
        reason: What is wrong.
        line: Line in the program, from 1; None when no single line is to blame.
    """

    def __init__(self, reason: str, line: int | None = None) -> None:
        self.line = line
        super().__init__(reason if line is None else f"{reason} at line {line}")


class UnsupportedTextError(StructuredTextError):
    """The text may well be a program, but it uses what the documented subset leaves out."""
