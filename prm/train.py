"""The stage behind `prm train-prm`: labelled steps -> a PRM folder."""

import json
import math
import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, TaskType
from transformers import PrinterCallback, TrainerCallback, TrainerState, set_seed

from labeling.errors import ConfigError
from labeling.files import only_writer
from labeling.outputs import check_new
from labeling.progress import Meter
from labeling.randomness import derive_seed, generator
from labeling.records import UNKNOWN_LABEL, LabelledSolution, normalised_problem_text
from labeling.report import Estimate, Report, cluster_bootstrap, plain
from labeling.rollouts.policies import policy_folder
from prm import checkpoint
from prm.calibration.metrics import step_auroc
from prm.files import write_jsonl
from prm.model import StepScorer
from prm.resume import (
    STATE_FILE,
    finished_before,
    hash_model,
    last_whole_checkpoint,
    nothing_half_written,
    read_report,
)
from prm.trainer import LABEL_KINDS, PRMConfig, PRMTrainer
from prm.training_rows import hash_files, read_solutions, steps_to_learn, training_rows

N_PROBES = 8
HELD_OUT_FILE = "held_out.jsonl"
_SETTINGS_FILE = "settings.json"


@dataclass(kw_only=True)
class TrainPRMConfig:
    """Settings of `prm train-prm`."""

    model: str
    """Folder of a language model or a PRM; "starter" ships with us."""
    labels: list[str]
    """Files of labelled rows (JSON Lines)."""
    output: str
    """Folder to write the PRM to; must not exist yet."""
    label_kind: str = "hard"
    """hard (0/1) or soft (fractions)."""
    separator: str = "\n"
    """Text behind every step."""
    max_tokens: int | None = None
    """Cut solutions at this many tokens; default: the model's context."""
    until_first_error: bool = False
    """Leave out what follows the first wrong step: whether it is right often cannot be said."""
    holdout_fraction: float = 0.1
    """Share of problems kept out of training, in [0, 1)."""
    epochs: float = 1.0
    """Passes over the rows."""
    max_steps: int = -1
    """Optimiser steps; -1: as many as the epochs need."""
    learning_rate: float = 1e-5
    """Peak learning rate."""
    batch_size: int = 16
    """Solutions an optimiser step."""
    micro_batch_size: int = 16
    """Solutions a forward pass; it divides batch_size."""
    lora_rank: int = 0
    """Rank of LoRA adapters; 0: train all weights."""
    lora_alpha: int = 32
    """Scale of the adapters."""
    lora_targets: list[str] = field(default_factory=lambda: ["q_proj", "k_proj", "v_proj", "o_proj"])
    """Modules that get an adapter."""
    on_error: str = "stop"
    """stop, or skip: count malformed lines."""
    seed: int = 0
    """Head, data order, dropout and split follow from it."""

    def __post_init__(self) -> None:
        if self.label_kind not in LABEL_KINDS:
            raise ConfigError(f"label_kind is {self.label_kind!r}.", remedy="Use hard or soft.")
        if not 0 <= self.holdout_fraction < 1:
            raise ConfigError(
                f"holdout_fraction is {self.holdout_fraction}.", remedy="Use a share in [0, 1)."
            )
        if self.micro_batch_size < 1 or self.batch_size % self.micro_batch_size:
            raise ConfigError(
                f"micro_batch_size {self.micro_batch_size} does not divide batch_size {self.batch_size}.",
                remedy="Choose a divisor.",
            )
        small = [
            f"{name} {value}"
            for name, value, is_fine in (
                ("epochs", self.epochs, self.epochs > 0),
                ("max_steps", self.max_steps, self.max_steps == -1 or self.max_steps > 0),
                ("learning_rate", self.learning_rate, self.learning_rate > 0),
                ("batch_size", self.batch_size, self.batch_size > 0),
                ("seed", self.seed, self.seed >= 0),
            )
            if not is_fine
        ]
        if small:
            raise ConfigError(f"out of range: {', '.join(small)}.", remedy="Use positive numbers.")
        if self.lora_rank < 0:
            raise ConfigError(f"lora_rank is {self.lora_rank}.", remedy="Use 0 or more.")


def run(config: TrainPRMConfig) -> Report:
    """Train, save, reload and compare; then score the held-out problems.

    An interrupted run goes on from its last checkpoint when it is started again with equal settings.

    Raises:
        InputError: The settings, the model folder or the rows cannot be used; nothing was written.
    """
    started = time.monotonic()
    output = Path(config.output)
    work = _work_path(config)
    if work.is_dir() and (report := _swept(config, work)) is not None:
        return report
    check_new(output)
    checkpoint.existing_folder(policy_folder(config.model))
    solutions, counts = read_solutions(config.labels, config.on_error)
    train, held_out = split_by_problem(solutions, config.holdout_fraction, config.seed)
    with only_writer(work), nothing_half_written(work, work / "checkpoints"):
        report = _run(config, train, held_out, counts)
        report.seconds = time.monotonic() - started
        report.write(work / "model")
        (work / "model").rename(output)
        # First what makes the checkpoints count: half of them must not be gone on from.
        (work / _SETTINGS_FILE).unlink()
        shutil.rmtree(work)
    return report


def _swept(config: TrainPRMConfig, work: Path) -> Report | None:
    """Sweep up behind a run that was stopped when its output stood but its work folder was not yet gone.

    Returns:
        That run's report; None when the output is not there, or is not this run's.
    """
    body = read_report(Path(config.output))
    if body.get("stage") != "train-prm" or not all(Path(file).is_file() for file in config.labels):
        return None
    if body["settings"] != _identity(config) | {"output": config.output}:
        return None
    with only_writer(work):
        shutil.rmtree(work)
    return finished_before(body)


def _run(
    config: TrainPRMConfig,
    train: Sequence[LabelledSolution],
    held_out: Sequence[LabelledSolution],
    counts: dict[str, int],
) -> Report:
    """Train, save, reload and measure in the work folder; return what the report says."""
    work = _work_path(config)
    trainer = _trainer(config, train)
    identity = _identity(config)
    _claim_work_folder(identity, work)
    state = _train(trainer, work / "checkpoints")
    difference = checkpoint.save(
        trainer.accelerator.unwrap_model(trainer.model),
        trainer.layout,
        work / "model",
        trainer.info,
        probe=_probe(train),
    )
    scorer = StepScorer.from_pretrained(work / "model", device=trainer.args.device)
    counts |= {f"training {name}": count for name, count in trainer.counts.items()}
    counts |= {"held-out rows": len(held_out), "optimiser steps": state.global_step}
    numbers: dict[str, Any] = {
        "training loss at the end": [entry["loss"] for entry in state.log_history if "loss" in entry][-1],
        "largest score difference after reloading": difference,
    }
    if held_out:
        write_jsonl(work / "model" / HELD_OUT_FILE, [solution.to_row() for solution in held_out])
        auroc, n_steps, n_too_long = held_out_auroc(
            scorer, held_out, seed=config.seed, until_first_error=config.until_first_error
        )
        counts |= {"held-out steps labelled": n_steps, "held-out rows too long": n_too_long}
        numbers["held-out step AUROC (n: problems)"] = auroc
    return Report(
        stage="train-prm",
        counts=counts,
        numbers=numbers,
        outputs={"model": str(Path(config.output))},
        settings=identity | {"output": config.output},
    )


def split_by_problem(
    solutions: Sequence[LabelledSolution], fraction: float, seed: int
) -> tuple[list[LabelledSolution], list[LabelledSolution]]:
    """Split so that no problem text (white space and case aside) is on both sides.

    Args:
        solutions: Labelled solutions.
        fraction: Share of problems to hold out; rounded to whole problems, one problem at least stays.
        seed: Decides which; the order of the solutions does not.

    Returns:
        Training and held-out solutions, each in the order given.
    """
    problems = sorted(
        {problem_key(solution) for solution in solutions},
        key=lambda key: derive_seed(seed, "holdout", key),
    )
    held = set(problems[: min(round(fraction * len(problems)), len(problems) - 1)])
    train = [solution for solution in solutions if problem_key(solution) not in held]
    return train, [solution for solution in solutions if problem_key(solution) in held]


def problem_key(solution: LabelledSolution) -> str:
    """Return what makes two problems the same: the text without case and spacing."""
    return normalised_problem_text(solution.solution.problem.text)


def held_out_auroc(
    scorer: StepScorer,
    held_out: Sequence[LabelledSolution],
    *,
    seed: int,
    until_first_error: bool = False,
) -> tuple[Estimate | None, int, int]:
    """Measure how well scores order right above wrong steps, over the labelled steps of `steps_to_learn`.

    Returns:
        AUROC with its interval over problems (None when one class is absent), the labelled steps that
        were scored, and the solutions that were too long to score.
    """
    scored = scorer.score_or_reason(
        [solution.solution.problem.text for solution in held_out],
        [solution.solution.step_texts for solution in held_out],
    )
    clusters: dict[str, list[tuple[int, float]]] = {}
    for solution, scores in zip(held_out, scored, strict=True):
        if isinstance(scores, str):
            continue
        n_learnt = steps_to_learn(solution, until_first_error=until_first_error)
        pairs = [
            (label.value, score)
            for label, score in list(zip(solution.labels, scores, strict=True))[:n_learnt]
            if label.value != UNKNOWN_LABEL
        ]
        clusters.setdefault(problem_key(solution), []).extend(pairs)
    steps = [pair for own in clusters.values() for pair in own]
    n_too_long = sum(isinstance(scores, str) for scores in scored)
    if len({value for value, _ in steps}) < 2:
        return None, len(steps), n_too_long
    estimate = cluster_bootstrap(list(clusters.values()), _auroc, rng=generator(seed, "auroc"))
    return estimate, len(steps), n_too_long


def _auroc(clusters: Sequence[Sequence[tuple[int, float]]]) -> float:
    steps = [pair for own in clusters for pair in own]
    if not steps:
        return math.nan
    return step_auroc([score for _, score in steps], [value for value, _ in steps])


def _trainer(config: TrainPRMConfig, train: Sequence[LabelledSolution]) -> PRMTrainer:
    arguments = PRMConfig(
        output_dir=str(_work_path(config) / "checkpoints"),
        label_kind=config.label_kind,
        label_semantics=train[0].semantics,
        until_first_error=config.until_first_error,
        separator=config.separator,
        max_tokens=config.max_tokens,
        num_train_epochs=config.epochs,
        max_steps=config.max_steps,
        learning_rate=config.learning_rate,
        per_device_train_batch_size=config.micro_batch_size,
        gradient_accumulation_steps=config.batch_size // config.micro_batch_size,
        warmup_steps=0.05,
        train_sampling_strategy="group_by_length",
        logging_steps=0.05,
        save_steps=0.1,
        save_total_limit=1,
        report_to="none",
        disable_tqdm=True,
        dataloader_pin_memory=torch.cuda.is_available(),
        seed=config.seed,
    )
    set_seed(config.seed)
    adapter = None
    if config.lora_rank:
        adapter = LoraConfig(
            task_type=TaskType.TOKEN_CLS,
            r=config.lora_rank,
            lora_alpha=config.lora_alpha,
            target_modules=list(config.lora_targets),
        )
    folder = policy_folder(config.model)
    return PRMTrainer(
        checkpoint.load_classifier(folder, is_head_trained=False).float(),
        arguments,
        training_rows(train, config.label_kind, until_first_error=config.until_first_error),
        checkpoint.load_tokenizer(folder),
        peft_config=adapter,
        labels_sha256=hash_files(config.labels),
    )


def _train(trainer: PRMTrainer, checkpoints: Path) -> TrainerState:
    """Train from the last whole checkpoint on, if there is one."""
    last = last_whole_checkpoint(checkpoints)
    if last is not None:
        state = TrainerState.load_from_json(str(last / STATE_FILE))
        if state.global_step >= state.max_steps:
            # The run was interrupted behind its last step, and `train` would take one step more.
            trainer._load_from_checkpoint(str(last))
            return state
    trainer.add_callback(_ShowProgress())
    trainer.remove_callback(PrinterCallback)
    trainer.train(resume_from_checkpoint=None if last is None else str(last))
    return trainer.state


class _ShowProgress(TrainerCallback):
    """Shows the optimiser steps and the latest loss."""

    def __init__(self) -> None:
        self._meter: Meter | None = None
        self._note = ""

    def on_train_begin(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        self._meter = Meter("train-prm", total=state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
        if logs and "loss" in logs:
            self._note = f"loss {float(logs['loss']):.3f}"

    def on_step_end(self, args: Any, state: TrainerState, control: Any, **others: Any) -> None:
        if self._meter is not None:
            self._meter.show(state.global_step, self._note)

    def on_train_end(self, args: Any, state: Any, control: Any, **others: Any) -> None:
        if self._meter is not None:
            self._meter.close()


def _work_path(config: TrainPRMConfig) -> Path:
    output = Path(config.output)
    return output.parent / f".{output.name}.partial"


def _identity(config: TrainPRMConfig) -> dict[str, Any]:
    """Return what decides the model: the settings, and the hashes of the files that they name."""
    hashes = {
        "labels_sha256": hash_files(config.labels),
        "model_sha256": hash_model(policy_folder(config.model)),
    }
    return plain(asdict(replace(config, output="")) | hashes)


def _claim_work_folder(identity: dict[str, Any], work: Path) -> None:
    """Keep the checkpoints of an interrupted run with equal settings and inputs, clear those of any other."""
    text = json.dumps(identity, indent=2, sort_keys=True)
    file = work / _SETTINGS_FILE
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        # The folder itself stays: it is this run's lock.
        shutil.rmtree(work / "checkpoints", ignore_errors=True)
        (work / "checkpoints").mkdir(parents=True)
        file.write_text(text, encoding="utf-8")
    shutil.rmtree(work / "model", ignore_errors=True)


def _probe(solutions: Sequence[LabelledSolution]) -> tuple[list[str], list[list[str]]]:
    some = solutions[:N_PROBES]
    return [s.solution.problem.text for s in some], [s.solution.step_texts for s in some]
