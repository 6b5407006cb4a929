"""Claims of arithmetic that a step makes in words, of forms that have one reading."""

import re
from collections.abc import Iterator
from itertools import islice

from labeling.verifiers._clock import find_times
from labeling.verifiers._phrases import Spoken
from labeling.verifiers._spoken_facts import FACTS, ROUNDINGS
from labeling.verifiers._spoken_formulas import FORMULAS

MAX_SENTENCES = 60
_BACKWARD = 200
_UNASSERTED = re.compile(
    r"\b(?:if|whether|when|unless|suppose|assume|let|should|must|need|needs|want|not|would|could|can|such|where|"
    r"whose|which|any|every|each|find|check|determine|see|or|either|until|for|only|without)\b|n't",
    re.IGNORECASE,
)
_SENTENCE_START = re.compile(r"[.!?]\s|\n")


def find_spoken(text: str) -> Iterator[Spoken]:
    """Yield the claims in words of a step, `MAX_SENTENCES` at most, form by form."""
    yield from islice(_all_forms(text), MAX_SENTENCES)


def _all_forms(text: str) -> Iterator[Spoken]:
    yield from find_times(text)
    for forms, is_conditional in ((FORMULAS, True), (FACTS, True), (ROUNDINGS, False)):
        for cue, pattern, read in forms:
            if not any(word in text for word in cue):
                continue
            for match in pattern.finditer(text):
                if is_conditional and _is_unasserted(text, match.start()):
                    continue
                if (spoken := read(match)) is not None:
                    yield spoken


def _is_unasserted(text: str, start: int) -> bool:
    """Whether the words before a phrase, in its sentence, make a condition or a wish of it."""
    window = text[max(0, start - _BACKWARD) : start + 1]
    opening = max((match.end() for match in _SENTENCE_START.finditer(window)), default=0)
    return _UNASSERTED.search(window, opening) is not None
