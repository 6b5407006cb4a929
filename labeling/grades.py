"""Whether a whole solution is right, as graders say it."""

from collections.abc import Callable
from typing import Any

import numpy as np

from labeling.errors import PluginError
from labeling.records import Problem

Grade = Callable[[Problem, str], bool | None]
"""Whether a whole solution text ends in the right answer; None when it holds no answer. It raises
`NotGradedError` for an answer that it cannot judge."""


def graded(grade: Callable[[Problem, str], Any], problem: Problem, text: str) -> bool | None:
    """Call a grader and return what it says, when it is True, False or None.

    Raises:
        PluginError: It is something else: 0.5, NaN or "WRONG" would each count as something.
        NotGradedError: The grader cannot tell.
    """
    value = grade(problem, text)
    if value is None or isinstance(value, (bool, np.bool_)):
        return None if value is None else bool(value)
    raise PluginError(
        f"a grade is {repr(value)[:100]}, which is none of True, False and None.",
        remedy="None says that there is no answer; a grader raises NotGradedError where it cannot tell.",
        record_id=problem.id,
    )
