"""A reward by name -> the StepSource behind it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling.simulators.base import Simulator
from labeling.verifiers.registry import ANSWERS, load_panel
from rl.sources import OutcomeSource, PRMSource, VerifierSource
from rl.step_source import StepSource


@dataclass(frozen=True, kw_only=True)
class Judges:
    """Who rewards the policy in training, and who says afterwards how good it is."""

    reward: StepSource
    examiner: StepSource
    """Exact step verdicts: the simulator's, or the programs'; never a model's."""
    notes: tuple[str, ...] = ()


def load_judges(reward: str, *, segment: str, world: Simulator | None, grader: Any, device: str) -> Judges:
    """Load the reward that a recipe names, and the examiner that fits the problems.

    Args:
        reward: "outcome", "simulator", "verifiers:NAMES" or "prm:FOLDER".
        segment: How completions are cut into steps.
        world: The simulator that the problems come from, if any.
        grader: Verifier that grades final answers where there is no simulator; see `load_grader`.
        device: Where a process reward model runs.

    Raises:
        InputError: A verifier or a model folder cannot be used.
    """
    grade = world.grade if world is not None else grader.grade
    # What grades the answer judges the steps as well; beside answers stands the arithmetic of the steps.
    if world is not None:
        exact = world
    else:
        exact = load_panel("arithmetic,answers") if grader.name == ANSWERS else grader
    examiner = VerifierSource(exact, grade=grade, segment_mode=segment)
    kind, _, argument = reward.partition(":")
    if kind == "outcome":
        return Judges(reward=OutcomeSource(grade), examiner=examiner)
    if kind == "simulator":
        return Judges(reward=examiner, examiner=examiner)
    if kind == "verifiers":
        panel = VerifierSource(load_panel(argument), grade=grade, segment_mode=segment)
        return Judges(reward=panel, examiner=examiner)
    from prm.model import StepScorer

    scorer = StepScorer.from_pretrained(Path(argument), device=device)
    is_calibrated = scorer.calibrator is not None
    source = PRMSource(scorer, grade, segment_mode=segment, is_calibrated=is_calibrated)
    notes = () if is_calibrated else ("The PRM has no calibrator: its raw scores were the reward.",)
    return Judges(reward=source, examiner=examiner, notes=notes)
