"""Which problems a calibrator and a threshold may see: never one that is measured."""

from labeling.randomness import derive_seed
from labeling.records import normalised_problem_text


def is_for_calibration(problem_text: str, *, seed: int, share: float = 0.5) -> bool:
    """Tell whether this problem falls into the calibration part.

    Only the normalised text and the seed decide, so all solutions of a problem fall on one side and
    other problems change nothing.

    Args:
        problem_text: The problem's text as read.
        seed: The run's root seed.
        share: Expected share of problems for calibration, in [0, 1].
    """
    drawn = derive_seed(seed, "calibration split", normalised_problem_text(problem_text))
    return drawn / 2**63 < share
