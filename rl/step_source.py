"""What the trainers ask of a reward: for each completion its steps, a score a step, an outcome."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from labeling.records import Problem


@dataclass(frozen=True, kw_only=True)
class JudgedCompletion:
    """One completion cut into steps and scored. Invariant: as many scores as spans."""

    spans: tuple[tuple[int, int], ...]
    """[start, end) of each step in the completion's text, in code points, ascending, disjoint."""
    scores: tuple[float, ...]
    """Probability in [0, 1] that the step is right; NaN where nobody could tell."""
    outcome: float | None = None
    """1.0 right, 0.0 wrong or no answer; None when it could not be checked."""
    is_answered: bool = True
    """False when no final answer can be read in the completion."""
    is_filler: tuple[bool, ...] | None = None
    """True for a step that is not needed, where the source can tell."""
    pays_separators: bool = True
    """Whether what separates two steps shares in the advantage of a step; where not, it gets the outcome's
    part alone, so that no way to separate steps earns more than another."""

    def __post_init__(self) -> None:
        if len(self.spans) != len(self.scores):
            raise ValueError(f"{len(self.scores)} scores for {len(self.spans)} steps")
        bad = [s for s in self.scores if not (math.isnan(s) or 0 <= s <= 1)]
        if bad:
            raise ValueError(f"step score {bad[0]} is outside 0..1")


def without_opening(judged: JudgedCompletion, n_characters: int) -> JudgedCompletion:
    """Return the record of a completion that was judged behind `n_characters` of its prompt: spans move."""
    spans = tuple((max(0, start - n_characters), max(0, end - n_characters)) for start, end in judged.spans)
    return replace(judged, spans=spans)


class StepSource(Protocol):
    """A verifier, simulator or PRM behind one call; see `rl.sources` for ours."""

    @property
    def name(self) -> str:
        """Short name, for logs."""
        ...

    def judge(self, problems: Sequence[Problem], completions: Sequence[str]) -> list[JudgedCompletion]:
        """Judge completions (text without prompt and end-of-text token), one record each, in order.

        A completion that begins inside thinking, which its prompt has opened, is led by the opening tag.
        """
        ...
