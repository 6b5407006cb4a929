"""How close a written value must come to the true one."""

from labeling.verifiers.verdict import Outcome

RELATIVE = 0.01
"""Share of the true value that a chain of rounded values may be off."""
COARSEST = 0.05
"""Share of the true value up to which half a unit of the last digit excuses a rounded one."""
_NOISE = 1e-9


def compare(value: float, true: float, digit: float) -> Outcome:
    """Compare a written value with the true one.

    RIGHT within 1 % of the true value, or within half a unit of the last digit where that is at most 5 %.
    UNDECIDED when only a coarser rounding explains it (0 m for 3 mm): it is then not wrong, and shows
    nothing either. Else WRONG.

    Args:
        value: As written, in SI base units.
        true: Of the model.
        digit: Worth of the last digit written, at least 0.
    """
    # A decimal fraction has no exact float: half a digit at a tie is still half a digit.
    gap, half = abs(value - true), digit / 2 * (1 + _NOISE)
    if gap <= max(RELATIVE * abs(true), min(half, COARSEST * abs(true))):
        return Outcome.RIGHT
    return Outcome.UNDECIDED if gap <= half else Outcome.WRONG


def is_same(value: float, other: float, digit: float) -> bool:
    """Whether a written value is that other one, in the sense of `compare`."""
    return compare(value, other, digit) is Outcome.RIGHT
