"""The end of a solution -> right or wrong: a factor of safety and a verdict, both against the model."""

import re

from labeling.simulators.structures.agreement import is_same
from labeling.simulators.structures.reading import Stated, names_of, statements
from labeling.simulators.structures.spec import Spec
from labeling.simulators.structures.verdict_words import sayings

MAX_LINE_CHARACTERS = 2000
_ANSWER = re.compile(r"\W{0,8}answer\b", re.IGNORECASE)


def grade_text(spec: Spec, text: str) -> bool | None:
    """Grade the first line that begins with "Answer"; text behind it makes it wrong.

    Returns:
        None when no such line states a factor of safety and a verdict.
    """
    lines = text.splitlines()
    for index, line in enumerate(lines):
        if len(line) > MAX_LINE_CHARACTERS or _ANSWER.match(line) is None:
            continue
        safety = [s for s in statements(line, names_of(spec.quantities)) if s.symbol == "n"]
        said = [s for s in sayings(line) if s.what == "whole"]
        if not safety or not said:
            continue
        is_last = not any(rest.strip() for rest in lines[index + 1 :])
        is_verdict = len(said) == 1 and said[0].is_kept == spec.is_safe
        return is_last and is_verdict and len(safety) == 1 and _is_right(spec, safety[0])
    return None


def _is_right(spec: Spec, safety: Stated) -> bool:
    return not safety.dims and is_same(safety.value, spec.values["n"], safety.digit)
