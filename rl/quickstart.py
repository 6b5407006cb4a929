"""The stage behind `prm quickstart`: the whole pipeline on the embedded world, then one page.

Every stage is the function behind a verb; its settings lie in the run folder as a recipe, and a stage
whose report stands is not run again.
"""

import itertools
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from labeling import label
from labeling.agreement import compare_labels
from labeling.errors import ConfigError, StoreError
from labeling.files import only_writer
from labeling.progress import say
from labeling.randomness import derive_seed, generator
from labeling.report import Report, plain, write_json
from labeling.rollouts.policies import STARTER, policy_folder
from labeling.sources.jsonl import read_labelled
from prm import evaluate as prm_evaluate
from prm import train as prm_train
from rl.quickstart_page import ARM_NAMES, EXACT, NAIVE, OUTCOME, PRM, summarise, write_page
from rl.side_by_side import Arm, run_side_by_side

WORLD = "engineering:deep:8-12"
MAX_TOKENS = 152
"""Room for a depth-12 solution (at most 124 tokens) and three filler lines more."""

SAMPLES = 4
"""Solutions of each problem that the PRM learns from."""

ARMS: dict[str, dict[str, Any]] = {
    NAIVE: {"reward": "prm", "method": "raw_sum"},
    PRM: {"reward": "prm", "method": "step_hazard"},
    EXACT: {"reward": "simulator", "method": "step_hazard"},
    # The simulator reward also counts filler lines; this method reads nothing of it but the outcome.
    OUTCOME: {"reward": "simulator", "method": "rloo"},
}
"""What differs between the training runs; the slowest first, so that no core idles at the end."""

LEARNING_RATE = 2e-4
"""For every run: at 4e-4 outcome only fell apart, while the step rewards still learned."""


@dataclass(kw_only=True)
class QuickstartConfig:
    """Settings of `prm quickstart`."""

    output: str = "runs/quickstart"
    """Folder of the run; an interrupted run goes on there."""
    seed: int = 0
    """Problems, sampling, training and splits follow from it."""
    label_problems: int = 320
    """Problems that the starter policy solves for the PRM's training."""
    rollout_solutions: int = 96
    """Solutions, each of another problem, that are labelled by rollouts as well."""
    rollouts: int = 4
    """Rollouts a step."""
    heldout_problems: int = 240
    """Problems of the test split on which the PRM and the policies are measured."""
    prm_epochs: float = 5.0
    """Passes of the PRM over its labelled solutions."""
    policy_steps: int = 40
    """Optimiser steps of each training run."""
    completions_per_step: int = 64
    """Completions an optimiser step."""
    workers: int = 0
    """Training runs side by side; 0: one a core, at most 4."""

    def check(self) -> None:
        """Refuse sizes that cannot work.

        Raises:
            ConfigError: A number is too small.
        """
        small = [
            name
            for name, least in (
                ("label_problems", 8),
                ("rollout_solutions", 2),
                ("rollouts", 1),
                ("heldout_problems", 16),
                ("policy_steps", 1),
                ("completions_per_step", 8),
            )
            if getattr(self, name) < least
        ]
        if small or self.prm_epochs <= 0 or self.workers < 0:
            raise ConfigError(
                f"too small: {', '.join(small) or 'prm_epochs or workers'}.", remedy="Use larger sizes."
            )


@dataclass(frozen=True)
class Run:
    """The run folder and its settings."""

    folder: Path
    config: QuickstartConfig

    def seed(self, purpose: str) -> int:
        """Return the seed of a stage, in [0, 2**31): libraries take no larger ones."""
        return derive_seed(self.config.seed, "quickstart", purpose) % 2**31

    def stage(self, name: str, settings: Any, work: Callable[[Any], Report]) -> dict[str, Any]:
        """Run a verb's stage unless its report stands; keep its recipe; return its report as data."""
        folder = self.folder / name
        report = folder / "report.json"
        if report.is_file():
            say(f"{name}: done already")
            return _read_json(report)
        say(f"{name} ...")
        (self.folder / "recipes").mkdir(parents=True, exist_ok=True)
        recipe = {k: v for k, v in plain(asdict(settings)).items() if v is not None}
        text = yaml.safe_dump(recipe, sort_keys=False)
        (self.folder / "recipes" / f"{name}.yaml").write_text(text, encoding="utf-8")
        work(settings)
        return _read_json(report)


def run(config: QuickstartConfig) -> Report:
    """Run what is missing, write `report.json` and `report.html`; see the module's docstring.

    Raises:
        StoreError: The folder holds a run with other settings, or another process works in it.
    """
    config.check()
    with only_writer(config.output):
        return _run(config)


def _run(config: QuickstartConfig) -> Report:
    this = Run(Path(config.output), config)
    _claim(this)
    finished = this.folder / "report.json"
    if finished.is_file():
        say(f"quickstart: done already, the page is {this.folder / 'report.html'}")
        return Report(**{k: v for k, v in _read_json(finished).items() if k != "provenance"})
    started = time.monotonic()
    clock = this.folder / "seconds.json"
    spent_before = _read_json(clock) if clock.is_file() else 0.0
    try:
        stages = _stages(this)
    finally:
        write_json(clock, spent_before + time.monotonic() - started)
    report = summarise(stages, asdict(config))
    report.seconds = _read_json(clock)
    page = write_page(this.folder, stages, report)
    report.outputs = {"page": str(page), "report": str(finished)}
    report.write(this.folder)
    say(f"quickstart: the page is {page}")
    return report


def _claim(this: Run) -> None:
    settings = {k: v for k, v in asdict(this.config).items() if k not in ("output", "workers")}
    path = this.folder / "settings.json"
    if path.is_file() and _read_json(path) != settings:
        raise StoreError(
            "this folder holds a quickstart with other settings.",
            remedy="Use another --output, or remove it.",
            file=this.folder,
        )
    write_json(path, settings)


def _stages(this: Run) -> dict[str, dict[str, Any]]:
    """Run every stage that is missing; return stage name -> report."""
    stages = {"label": this.stage("label", _label_settings(this), label.run)}
    _copy_first_solutions(this)
    stages["rollouts"] = this.stage("rollouts", _rollout_settings(this), label.run)
    stages["agreement"] = _agreement(this)
    stages["heldout"] = this.stage("heldout", _heldout_settings(this), label.run)
    stages["prm"] = this.stage("prm", _prm_settings(this), prm_train.run)
    stages["evaluate"] = this.stage("evaluate", _evaluate_settings(this), prm_evaluate.run)
    arms = [_arm(this, name) for name in ARMS]
    say("train-policy: " + "; ".join(ARM_NAMES[name] for name in ARMS))
    run_side_by_side(arms, workers=this.config.workers or min(4, os.cpu_count() or 1))
    return stages | {arm.name: _read_json(arm.folder / "report.json") for arm in arms}


def _label_settings(this: Run) -> label.LabelConfig:
    return label.LabelConfig(
        output=str(this.folder / "label" / "labels.jsonl"),
        simulator=WORLD,
        simulator_problems=this.config.label_problems,
        policy=STARTER,
        samples=SAMPLES,
        segment="line",
        max_tokens=MAX_TOKENS,
        verifier="engineering",
        seed=this.seed("label"),
    )


def _copy_first_solutions(this: Run) -> None:
    """Hand one labelled solution a problem to the rollouts: the same ones, so that labels can be compared."""
    target = this.folder / "rollouts" / "solutions.jsonl"
    if not target.is_file():
        with (this.folder / "label" / "labels.jsonl").open("rb") as file:
            chosen = itertools.islice(file, 0, SAMPLES * this.config.rollout_solutions, SAMPLES)
            lines = b"".join(chosen)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(lines)


def _rollout_settings(this: Run) -> label.LabelConfig:
    return label.LabelConfig(
        output=str(this.folder / "rollouts" / "labels.jsonl"),
        input=str(this.folder / "rollouts" / "solutions.jsonl"),
        simulator=WORLD,
        policy=STARTER,
        rollouts=this.config.rollouts,
        max_tokens=MAX_TOKENS,
        seed=this.seed("rollouts"),
    )


def _agreement(this: Run) -> dict[str, Any]:
    rollouts = read_labelled(this.folder / "rollouts" / "labels.jsonl").items
    ids = {item.solution.id for item in rollouts}
    exact = [i for i in read_labelled(this.folder / "label" / "labels.jsonl").items if i.solution.id in ids]
    agreement = compare_labels(exact, rollouts, generator(this.config.seed, "quickstart", "agreement"))
    return plain(asdict(agreement))


def _heldout_settings(this: Run) -> label.LabelConfig:
    return label.LabelConfig(
        output=str(this.folder / "heldout" / "labels.jsonl"),
        simulator=WORLD,
        simulator_problems=this.config.heldout_problems,
        split="test",
        policy=STARTER,
        samples=2,
        segment="line",
        max_tokens=MAX_TOKENS,
        verifier="engineering",
        seed=this.seed("heldout"),
    )


def _prm_settings(this: Run) -> prm_train.TrainPRMConfig:
    return prm_train.TrainPRMConfig(
        model=str(policy_folder(STARTER)),
        labels=[str(this.folder / "label" / "labels.jsonl")],
        output=str(this.folder / "prm"),
        holdout_fraction=0.0,
        # The simulator calls every step behind an error wrong, which teaches nothing about the step.
        until_first_error=True,
        epochs=this.config.prm_epochs,
        learning_rate=1e-3,
        batch_size=32,
        micro_batch_size=32,
        seed=this.seed("prm"),
    )


def _evaluate_settings(this: Run) -> prm_evaluate.EvaluateConfig:
    return prm_evaluate.EvaluateConfig(
        labels=str(this.folder / "heldout" / "labels.jsonl"),
        model=str(this.folder / "prm"),
        output=str(this.folder / "evaluate"),
        until_first_error=True,
        calibrator="isotonic",
        seed=this.seed("evaluate"),
    )


def _arm(this: Run, name: str) -> Arm:
    settings: dict[str, Any] = {
        "model": STARTER,
        "output": str(this.folder / "policy" / name),
        "simulator": WORLD,
        "test_count": this.config.heldout_problems,
        **ARMS[name],
        "steps": this.config.policy_steps,
        "completions_per_step": this.config.completions_per_step,
        "learning_rate": LEARNING_RATE,
        "warmup_steps": 5,
        "save_every": 5,
        "max_completion_tokens": MAX_TOKENS,
        # One seed for all: the same problems in the same order.
        "seed": this.seed("policy"),
    }
    if settings["reward"] == "prm":
        settings["reward"] = f"prm:{this.folder / 'prm'}"
    return Arm(
        name=name,
        folder=this.folder / "policy" / name,
        settings=settings,
        n_steps=this.config.policy_steps,
        recipe=this.folder / "recipes" / f"policy-{name}.yaml",
        log=this.folder / "logs" / f"policy-{name}.txt",
    )


def _read_json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))
