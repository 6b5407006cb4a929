"""The values that a label may take, and what they say of the first error."""

import math
from collections.abc import Sequence
from typing import Any

from labeling.errors import RecordError

RIGHT_LABEL = 1
WRONG_LABEL = 0
UNKNOWN_LABEL = -100
"""The value that losses ignore: nobody could tell."""

ALL_RIGHT = -1
"""The index of the first error of a solution that has none."""


def check_label(label: Any, *, record_id: str, step: int) -> tuple[int, float | None]:
    """Return a label as (hard value, soft value or None).

    Booleans and 0/1 are hard; a fraction strictly inside (0, 1) is a soft label whose hard value
    is 1 from 0.5 upwards; None and -100 are unknown.

    Raises:
        RecordError: The label is not a finite number, or lies outside [0, 1].
    """
    if hasattr(label, "item"):  # a number of numpy or torch
        label = label.item()
    if label is None or label == UNKNOWN_LABEL:
        return UNKNOWN_LABEL, None
    if not isinstance(label, (bool, int, float)) or not abs(label) < math.inf:
        raise RecordError(
            f"label is not a finite number ({label!r}, step {step}).",
            remedy="Use 1, 0, a probability between them, or -100 for unknown.",
            record_id=record_id,
        )
    if not 0 <= label <= 1:
        raise RecordError(
            f"label is outside 0..1 ({label}, step {step}).",
            remedy="Use 1, 0, a probability between them, or -100 for unknown.",
            record_id=record_id,
        )
    soft = float(label) if 0 < label < 1 else None
    return int(label >= 0.5), soft


def check_first_error(first_error: Any, labels: Sequence[Any], *, record_id: str) -> None:
    """Refuse a first error that is no index of a step, or that labels of 1 and 0 rule out.

    A fraction or an unknown label rules nothing out, and a label behind the first error may be anything:
    a step can be sound in itself.

    Args:
        first_error: 0-based index, -1 when all steps are right, None when not known.
        labels: One a step, as `check_label` takes them; of whether the step is right, not of its value.
        record_id: For the message.

    Raises:
        RecordError: See above.
    """
    if first_error is None:
        return
    if (
        isinstance(first_error, bool)
        or not isinstance(first_error, int)
        or not ALL_RIGHT <= first_error < len(labels)
    ):
        raise RecordError(
            f"first_error is {first_error!r} for {len(labels)} steps.",
            remedy="Use the 0-based index of the first wrong step, -1 when all are right, or null.",
            record_id=record_id,
        )
    checked = [check_label(label, record_id=record_id, step=step) for step, label in enumerate(labels)]
    stated = [value if soft is None else UNKNOWN_LABEL for value, soft in checked]
    before = stated if first_error == ALL_RIGHT else stated[:first_error]
    if WRONG_LABEL in before:
        step, label = before.index(WRONG_LABEL), WRONG_LABEL
    elif first_error >= 0 and stated[first_error] == RIGHT_LABEL:
        step, label = first_error, RIGHT_LABEL
    else:
        return
    meaning = (
        "every step is right" if first_error == ALL_RIGHT else f"step {first_error} is the first wrong one"
    )
    raise RecordError(
        f"first_error is {first_error} ({meaning}), but labels has {label} at step {step}.",
        remedy="Mend whichever is wrong, or leave out first_error: the labels then decide.",
        record_id=record_id,
    )


def count_until_first_error(labels: Sequence[int], first_error: int | None) -> int:
    """Count the steps up to and including the first error; all steps when there is none.

    Args:
        labels: 1, 0 or -100, one a step. An unknown label stops nothing.
        first_error: What the source says; None: the first label of 0 is the first error.
    """
    if first_error is None:
        first_error = labels.index(WRONG_LABEL) if WRONG_LABEL in labels else ALL_RIGHT
    return len(labels) if first_error == ALL_RIGHT else first_error + 1
