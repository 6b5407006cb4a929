"""The metrics as Hugging Face `evaluate` modules, loaded from this folder and never from the network.

import evaluate
from prm.metrics import path_of

evaluate.load(path_of("first_error_f1")).compute(predictions=[2, -1], references=[2, -1])
"""

from pathlib import Path

from labeling.errors import InputError

NAMES = ("first_error_f1", "step_auroc", "step_calibration")


def path_of(name: str) -> str:
    """Return the folder that `evaluate.load` takes.

    Raises:
        InputError: There is no such metric.
    """
    if name not in NAMES:
        raise InputError(f"there is no metric {name!r}.", remedy=f"Use one of {', '.join(NAMES)}.")
    return str(Path(__file__).parent / name)
