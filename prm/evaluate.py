"""The stage behind `prm evaluate`: scores of a model, or verdicts of verifiers, against labels."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from labeling.errors import ConfigError, InputError
from labeling.outputs import check_report, check_writable
from labeling.progress import track
from labeling.records import LabelledSolution
from labeling.report import REPORT_FILE, Report
from labeling.sources.jsonl import ON_ERROR, read_labelled
from prm.benchmarks.first_error import choose_threshold
from prm.benchmarks.scored import (
    ScoredChain,
    count_chains,
    measure_calibration,
    measure_ranking,
    share_right,
    usable_steps,
)
from prm.benchmarks.verdicts import match_verdicts, measure_verdicts
from prm.calibration.calibrators import (
    CALIBRATOR_KINDS,
    TEMPERATURE_RANGE,
    Calibrator,
    TemperatureCalibrator,
    fit_calibrator,
)
from prm.calibration.metrics import ReliabilityBin, reliability_bins
from prm.calibration.split import is_for_calibration

NO_CALIBRATOR = "none"
DIAGRAM_SUFFIXES = ("svg", "png")

FEW_STEPS = 30
"""Right or wrong steps below which a reader is told not to rely on what was fitted to them."""

CHUNK = 64
"""Solutions handed to the model between two signs of progress; it forms its own batches."""


@dataclass(kw_only=True)
class EvaluateConfig:
    """Settings of `prm evaluate`."""

    labels: str
    """File with the truth, JSON Lines: labelled rows, or records with steps and first_error."""
    output: str
    """Folder for report.json and the reliability diagram."""
    model: str = ""
    """Folder of the process reward model whose scores are measured."""
    verdicts: str = ""
    """File of verdicts written by `prm label`, measured instead of a model; matched by id."""
    until_first_error: bool | None = None
    """Leave out what follows a chain's first wrong step; unset: as the model was trained."""
    calibrator: str = "temperature"
    """Fitted on the calibration problems and saved into the model: temperature, isotonic, platt or none."""
    calibration_share: float = 0.5
    """Share of problems to fit on; the others are measured."""
    threshold: float | None = None
    """A raw score strictly below it predicts a wrong step; unset: the best on the calibration problems."""
    n_bins: int = 10
    """Bins of equal width behind ECE, MCE and the diagram."""
    resamples: int = 500
    """Resamples of problems behind each interval."""
    on_error: str = "stop"
    """A malformed line, or a record without verdicts: "stop", or "skip" and count it."""
    seed: int = 0
    """The split by problem and the resamples follow from it."""

    def check(self) -> None:
        """Refuse contradictions, all at once.

        Raises:
            ConfigError: At least one setting is out of range or contradicts another.
        """
        problems = []
        if bool(self.model) == bool(self.verdicts):
            problems.append("give either model or verdicts")
        if self.calibrator not in (*CALIBRATOR_KINDS, NO_CALIBRATOR):
            problems.append(f"calibrator is one of {', '.join((*CALIBRATOR_KINDS, NO_CALIBRATOR))}")
        if not 0 < self.calibration_share < 1:
            problems.append("calibration_share lies between 0 and 1")
        if self.threshold is not None and not 0 <= self.threshold <= 1:
            problems.append("threshold lies in 0..1")
        if min(self.n_bins, self.resamples) < 1:
            problems.append("n_bins and resamples are at least 1")
        if self.on_error not in ON_ERROR:
            problems.append(f"on_error is one of {', '.join(ON_ERROR)}")
        if problems:
            raise ConfigError("; ".join(problems) + ".", remedy="Change the recipe or the flags.")


def run(config: EvaluateConfig) -> Report:
    """Evaluate; see the module's docstring.

    Reads the labels and the model or the verdicts; writes report.json and, for a model,
    reliability.svg and reliability.png into the output folder. With a calibrator it also writes that
    into the model's folder; nothing else there is touched.

    Raises:
        InputError: The labels, the model, the verdicts or the output cannot be used; nothing was written.
    """
    config.check()
    check_report(config.output, "evaluate")
    check_writable(config.output, *(f"reliability.{suffix}" for suffix in DIAGRAM_SUFFIXES))
    started = time.monotonic()
    report = Report(stage="evaluate", settings=asdict(config))
    labelled = _read(config.labels, config, report, name="labels")
    if config.verdicts:
        _evaluate_verdicts(labelled, config, report)
    else:
        _evaluate_model(labelled, config, report)
    report.seconds = time.monotonic() - started
    report.outputs["report"] = str(Path(config.output) / REPORT_FILE)
    report.write(config.output)
    return report


def evaluate_chains(
    chains: Sequence[ScoredChain], config: EvaluateConfig, report: Report
) -> Calibrator | None:
    """Split by problem, fit on one part, measure on the other; fill the report and draw the diagram.

    Args:
        chains: Raw scores with labels, all parts together.
        config: The settings; its model and labels are not read.
        report: Gets counts, numbers, notes and outputs.

    Returns:
        The fitted calibrator; None without one.

    Raises:
        InputError: A part is too small to fit on or to measure.
    """
    fitting, held_out = _split(chains, config)
    for name, part in (("calibration", fitting), ("test", held_out)):
        report.counts |= {f"{name} {what}": n for what, n in count_chains(part).items()}
    calibrator = None
    if config.calibrator != NO_CALIBRATOR:
        calibrator = fit_calibrator(config.calibrator, *usable_steps(fitting))
        report.numbers["calibrator"] = calibrator.to_dict()
        report.notes += [*_scarcity_notes(fitting), *_limit_notes(calibrator)]
    threshold = config.threshold
    if threshold is None:
        threshold = _best_threshold(fitting)
    score, is_right = usable_steps(held_out)
    if not len(score):
        raise InputError(
            "no held-out step has both a score and a known label.",
            remedy="Give more problems, or a smaller calibration_share.",
            file=config.labels,
        )
    shared: dict[str, int] = {"seed": config.seed, "resamples": config.resamples}
    report.numbers["threshold_on_raw_score"] = threshold
    report.numbers |= measure_ranking(held_out, threshold=threshold, **shared)
    report.numbers["share_of_steps_right"] = share_right(held_out, **shared)
    report.numbers["before_calibration"] = measure_calibration(held_out, None, n_bins=config.n_bins, **shared)
    before, after = reliability_bins(score, is_right, config.n_bins), None
    if calibrator is not None:
        report.numbers["after_calibration"] = measure_calibration(
            held_out, calibrator, n_bins=config.n_bins, **shared
        )
        after = reliability_bins(calibrator(score), is_right, config.n_bins)
    report.numbers["reliability_before"] = [asdict(b) for b in before]
    report.numbers["reliability_after"] = None if after is None else [asdict(b) for b in after]
    _draw(before, after, config, report)
    return calibrator


def _evaluate_model(labelled: list[LabelledSolution], config: EvaluateConfig, report: Report) -> None:
    if not any(label.value >= 0 for one in labelled for label in one.labels):
        raise InputError("no step has a known label.", remedy="Label the file first.", file=config.labels)
    from prm.checkpoint import INFO_FILE, read_info, update_calibration

    is_cut = _is_cut_at_first_error(
        config.until_first_error, read_info(config.model).until_first_error, report
    )
    if config.calibrator != NO_CALIBRATOR:
        check_writable(config.model, INFO_FILE)
    chains = [
        ScoredChain.of(one, scores)
        for one, scores in zip(labelled, _raw_scores(labelled, config, report), strict=True)
    ]
    if is_cut:
        whole = sum(int(chain.is_usable.sum()) for chain in chains)
        chains = [chain.until_first_error() for chain in chains]
        left = sum(int(chain.is_usable.sum()) for chain in chains)
        report.counts["steps behind a first error, left out"] = whole - left
    calibrator = evaluate_chains(chains, config, report)
    if calibrator is not None:
        update_calibration(config.model, calibrator.to_dict())
        report.outputs["calibrator"] = config.model
    origins = sorted({f"{one.origin} ({one.semantics})" for one in labelled})
    report.notes.append(f"The truth is the labels of {', '.join(origins)}.")


def _is_cut_at_first_error(asked: bool | None, trained: bool | None, report: Report) -> bool:
    """Decide whether steps behind a first wrong one are left out, and note what a reader must know of it."""
    behind = "steps behind a chain's first wrong step"
    if asked is None:
        if trained:
            report.notes.append(f"Left out: {behind}, as in the model's training.")
        return bool(trained)
    if trained is not None and asked != trained:
        report.notes.append(
            f"The model was trained {'without' if trained else 'with'} {behind}, and is measured "
            f"{'without' if asked else 'with'} them: until_first_error differs."
        )
    return asked


def _evaluate_verdicts(labelled: list[LabelledSolution], config: EvaluateConfig, report: Report) -> None:
    judged = _read(config.verdicts, config, report, name="verdicts")
    found = match_verdicts(judged, labelled, on_error=config.on_error, file=config.verdicts)
    report.counts |= found.counts()
    if not found.chains:
        raise InputError(
            "no labelled record with a known first error has verdicts.",
            remedy="Label the same file with `prm label`, so that ids agree.",
            file=config.verdicts,
        )
    report.numbers |= measure_verdicts(found.chains, seed=config.seed, resamples=config.resamples)


def _read(path: str, config: EvaluateConfig, report: Report, *, name: str) -> list[LabelledSolution]:
    reading = read_labelled(path, config.on_error)
    report.counts |= {f"{name}: {what}": n for what, n in reading.counts().items()}
    report.notes += [f"{path}:{line} was skipped: {why}" for line, why in reading.rejected.items()]
    if not reading.items:
        raise InputError("there is no record in it.", remedy="Give a file with records.", file=path)
    return reading.items


def _raw_scores(
    labelled: Sequence[LabelledSolution], config: EvaluateConfig, report: Report
) -> list[Sequence[float | None]]:
    import torch

    from prm.model import StepScorer

    device = torch.accelerator.current_accelerator() if torch.accelerator.is_available() else None
    scorer = StepScorer.from_pretrained(config.model, device or "cpu")
    scores: list[Sequence[float | None]] = []
    reasons: list[str] = []
    starts = range(0, len(labelled), CHUNK)
    for start in track(starts, total=len(starts), description=f"score, {CHUNK} solutions at a time"):
        chunk = labelled[start : start + CHUNK]
        prompts, steps = (
            [one.solution.problem.text for one in chunk],
            [one.solution.step_texts for one in chunk],
        )
        for one, scored in zip(chunk, scorer.score_or_reason(prompts, steps), strict=True):
            if isinstance(scored, str):
                reasons.append(f"{one.solution.id} was not scored: {scored}")
            scores.append([None] * len(one.labels) if isinstance(scored, str) else scored)
    report.counts["solutions too long to score"] = len(reasons)
    report.notes += reasons
    return scores


def _split(
    chains: Sequence[ScoredChain], config: EvaluateConfig
) -> tuple[list[ScoredChain], list[ScoredChain]]:
    if config.calibrator == NO_CALIBRATOR and config.threshold is not None:
        return [], list(chains)  # nothing is fitted, so every problem is held out
    parts: tuple[list[ScoredChain], list[ScoredChain]] = ([], [])
    for chain in chains:
        is_fitting = is_for_calibration(chain.problem, seed=config.seed, share=config.calibration_share)
        parts[0 if is_fitting else 1].append(chain)
    return parts


def _best_threshold(chains: Sequence[ScoredChain]) -> float:
    complete = [(c.scores, c.first_error) for c in chains if c.has_prediction and c.first_error is not None]
    return choose_threshold([scores for scores, _ in complete], [gold for _, gold in complete]).threshold


def _scarcity_notes(fitting: Sequence[ScoredChain]) -> list[str]:
    _, is_right = usable_steps(fitting)
    n_right, n_wrong = int(is_right.sum()), int((1 - is_right).sum())
    if min(n_right, n_wrong) >= FEW_STEPS:
        return []
    return [
        f"The calibrator and the threshold stand on {n_right} right and {n_wrong} wrong steps, fewer than "
        f"{FEW_STEPS} of a kind: do not rely on them. Label more problems, or hold out more of them "
        "(holdout_fraction of `prm train-prm`)."
    ]


def _limit_notes(calibrator: Calibrator) -> list[str]:
    if not isinstance(calibrator, TemperatureCalibrator):
        return []
    low, high = TEMPERATURE_RANGE
    if low * 1.001 < calibrator.temperature < high / 1.001:
        return []
    return [
        f"The temperature ran to the end of its range ({calibrator.temperature:.3g}): the scores "
        "separate the calibration steps perfectly, or say nothing about them."
    ]


def _draw(
    before: Sequence[ReliabilityBin],
    after: Sequence[ReliabilityBin] | None,
    config: EvaluateConfig,
    report: Report,
) -> None:
    from prm.calibration.reliability import plot_reliability

    for suffix in DIAGRAM_SUFFIXES:
        path = plot_reliability(before, after, Path(config.output) / f"reliability.{suffix}")
        report.outputs[f"reliability {suffix}"] = str(path)
