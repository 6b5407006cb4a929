"""One run of `prm train-policy`, from the loaded policy to the written report."""

import json
import logging
import shutil
import time
import warnings
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

from transformers import PrinterCallback, TrainerCallback

from labeling.errors import InputError, StoreError
from labeling.files import only_writer, written_whole
from labeling.progress import say
from labeling.records import Problem
from labeling.report import REPORT_FILE, Report, plain, write_json
from labeling.rollouts.policies import policy_folder
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.simulators.base import Simulator
from labeling.simulators.load import checked_problems, load_grading
from labeling.sources.jsonl import read_problems
from labeling.verifiers.registry import ANSWERS, load_grader
from prm.resume import last_whole_checkpoint, nothing_half_written, step_of
from rl.evaluation import evaluate_policy
from rl.rewards import Judges, load_judges
from rl.train import NO_SIGNAL, TrainPolicyConfig, comparable, differing, finished, input_hashes
from rl.trainers.step_grpo import StepGRPOConfig, StepGRPOTrainer, problems_dataset

CHECKPOINTS = "checkpoints"
METRICS_FILE = "metrics.jsonl"
SETTINGS_FILE = "settings.json"
BEFORE_FILE = "before.json"
SECONDS_BETWEEN_LINES = 5.0


def train_policy(config: TrainPolicyConfig) -> Report:
    """Train, evaluate, save, report; see `rl.train.run`."""
    started = time.monotonic()
    output = Path(config.output)
    world = load_grading(config.simulator) if config.simulator else None
    train, test, counts = _problems(config, world)
    policy = TransformersSampler.from_pretrained(
        policy_folder(config.model), temperature=config.temperature, seed=config.seed
    )
    with ExitStack() as stack:
        grader = load_grader(config.grader)
        for judge in (grader, world):
            stack.callback(getattr(judge, "close", lambda: None))
        if world is None and config.grader != ANSWERS and hasattr(grader, "can_grade"):
            counts["training problems that cannot be graded"] = sum(not grader.can_grade(p) for p in train)
        judges = load_judges(
            config.reward,
            segment=config.segment,
            world=world,
            grader=grader,
            device=str(policy.model.device),
        )
        with only_writer(output), nothing_half_written(output, output / CHECKPOINTS):
            if (output / REPORT_FILE).is_file():
                # Another process finished it while this one was loading.
                return finished(output, config)
            hashes = _claim(output, config)
            report = _run(config, policy, judges, train, test)
            report.counts = counts | report.counts
            report.settings |= hashes
            report.seconds = time.monotonic() - started
            report.write(output)
            shutil.rmtree(output / CHECKPOINTS, ignore_errors=True)
            for name in (SETTINGS_FILE, BEFORE_FILE):
                (output / name).unlink(missing_ok=True)
    return report


def _run(
    config: TrainPolicyConfig,
    policy: TransformersSampler,
    judges: Judges,
    train: Sequence[Problem],
    test: Sequence[Problem],
) -> Report:
    """Evaluate, train from the last checkpoint on, evaluate again, save."""
    output = Path(config.output)
    before = _evaluate_once(output / BEFORE_FILE, policy, test, judges, config)
    trainer = _trainer(config, policy, judges, train, output)
    last = last_whole_checkpoint(output / CHECKPOINTS)
    _drop_rows_after(output / METRICS_FILE, step_of(last))
    trainer.train(resume_from_checkpoint=str(last) if last else None)
    after = _evaluate(policy, test, judges, config)
    trainer.accelerator.unwrap_model(trainer.model).save_pretrained(output)
    policy.tokenizer.save_pretrained(output)
    rows = _read_rows(output / METRICS_FILE)
    return Report(
        stage="train-policy",
        counts={
            "optimiser steps": config.steps,
            "completions": config.steps * config.completions_per_step,
            "completions not scored": int(sum(row.get("step/unscored_completions") or 0 for row in rows)),
            "steps undecided": int(sum(row.get("step/undecided_steps") or 0 for row in rows)),
        },
        numbers={"before": before, "after": after, **_training_numbers(rows)},
        outputs={"model": str(output), "metrics": str(output / METRICS_FILE)},
        notes=list(judges.notes),
        settings=asdict(config),
    )


def _problems(
    config: TrainPolicyConfig, world: Simulator | None
) -> tuple[list[Problem], list[Problem], dict[str, int]]:
    test: list[Problem] = []
    rejected = 0
    if world is not None:
        drawn = world.problems(config.simulator_problems, split="train", seed=config.seed)
        train = checked_problems(drawn, simulator=config.simulator)
        if config.test_count:
            held_out = world.problems(config.test_count, split="test", seed=config.seed)
            test = checked_problems(held_out, simulator=config.simulator)
    else:
        reading = read_problems(config.problems, config.on_error)
        train, rejected = reading.items, len(reading.rejected)
        if config.test_count:
            held_out = read_problems(config.test_problems, config.on_error)
            test, rejected = held_out.items[: config.test_count], rejected + len(held_out.rejected)
    per_step = config.completions_per_step // config.num_generations
    if len(train) < per_step:
        raise InputError(
            f"there are {len(train)} problems, and one optimiser step takes {per_step}.",
            remedy="Add problems, or lower completions_per_step.",
            file=config.problems or None,
        )
    counts = {"training problems": len(train), "lines rejected": rejected, "test problems": len(test)}
    if config.grader == ANSWERS:
        counts["training problems without an answer"] = sum(problem.answer is None for problem in train)
    return train, test, counts


def _trainer(
    config: TrainPolicyConfig,
    policy: TransformersSampler,
    judges: Judges,
    train: Sequence[Problem],
    output: Path,
) -> StepGRPOTrainer:
    micro = config.micro_batch_size or config.completions_per_step
    args = StepGRPOConfig(
        output_dir=str(output / CHECKPOINTS),
        method=config.method,
        process_weight=config.process_weight,
        ceiling=config.ceiling,
        penalties=config.penalties,
        max_steps=config.steps,
        learning_rate=config.learning_rate,
        lr_scheduler_type="constant_with_warmup",
        warmup_steps=config.warmup_steps,
        # Adam's usual 0.999 remembers a thousand steps; a run has tens, and its gradients grow a lot.
        adam_beta2=0.99,
        num_generations=config.num_generations,
        per_device_train_batch_size=micro,
        gradient_accumulation_steps=config.completions_per_step // micro,
        max_completion_length=config.max_completion_tokens,
        temperature=config.temperature,
        seed=config.seed,
        save_strategy="steps",
        save_steps=config.save_every,
        save_total_limit=2,
        logging_steps=1,
        report_to="none",
        disable_tqdm=True,
    )
    # trl describes one completion of every batch with an unscored one; the report counts them.
    logging.getLogger("trl").setLevel(logging.ERROR)
    # transformers warns that trl reads a setting under its older name.
    warnings.filterwarnings("ignore", message=".*is_gradient_checkpointing.*", category=FutureWarning)
    trainer = StepGRPOTrainer(
        policy.model,
        judges.reward,
        args,
        problems_dataset(train),
        processing_class=policy.tokenizer,
        sampler=policy,
        callbacks=[_Rows(output / METRICS_FILE, config.steps)],
    )
    trainer.remove_callback(PrinterCallback)
    return trainer


class _Rows(TrainerCallback):
    """Writes one row of metrics an optimiser step, and now and then a line for a person."""

    def __init__(self, path: Path, steps: int) -> None:
        self._path = path
        self._steps = steps
        self._last_line = 0.0

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **others: Any) -> None:
        if not logs or "loss" not in logs:
            return
        row = plain({"step": state.global_step, **logs})
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        now = time.monotonic()
        if state.global_step in (1, self._steps) or now - self._last_line > SECONDS_BETWEEN_LINES:
            self._last_line = now
            outcome = row.get("step/outcome")
            says = "nothing could be scored" if outcome is None else f"outcome {outcome:.3f}"
            say(
                f"train-policy: step {state.global_step}/{self._steps}, {says},"
                f" {row['completions/mean_length']:.0f} tokens, {row['step_time']:.1f} s a step"
            )


def _evaluate_once(
    path: Path, policy: TransformersSampler, test: Sequence[Problem], judges: Judges, config: Any
) -> Any:
    """Evaluate before training; a resumed run reads what the first one measured."""
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    numbers = _evaluate(policy, test, judges, config)
    write_json(path, numbers)
    return numbers


def _evaluate(
    policy: TransformersSampler, test: Sequence[Problem], judges: Judges, config: TrainPolicyConfig
) -> dict[str, Any]:
    """Evaluate greedily and at the training temperature; nothing when there are no test problems."""
    if not test:
        return {}
    greedy = TransformersSampler(policy.model, policy.tokenizer, temperature=0)
    return {
        name: evaluate_policy(
            sampler, test, judges.examiner, max_tokens=config.max_completion_tokens, seed=config.seed
        ).to_dict()
        for name, sampler in (("greedy", greedy), ("sampled", policy))
    }


def _claim(output: Path, config: TrainPolicyConfig) -> dict[str, str | None]:
    """Take the output folder for this run, or find that it is this run's already; return the inputs' hashes.

    Raises:
        StoreError: The folder holds something else.
    """
    hashes = input_hashes(config)
    identity = plain(comparable(config) | hashes)
    settings = output / SETTINGS_FILE
    if settings.is_file():
        if names := differing(json.loads(settings.read_text(encoding="utf-8")), identity):
            raise StoreError(
                f"the output holds an unfinished run with other settings or inputs: {names}.",
                remedy="Choose another --output, or remove it.",
                file=output,
            )
        return hashes
    if output.exists() and any(output.iterdir()):
        raise StoreError(
            "the output exists and is not a run of train-policy.",
            remedy="Choose another --output.",
            file=output,
        )
    write_json(settings, identity)
    return hashes


def _read_rows(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            rows.append(json.loads(line))
        except json.JSONDecodeError:
            break  # torn by an interruption; what follows is written again
    return rows


def _drop_rows_after(path: Path, step: int) -> None:
    """Keep the metrics up to the checkpoint; later steps are made again."""
    rows = [row for row in _read_rows(path) if row["step"] <= step]
    with written_whole(path) as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _training_numbers(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what the first and the last tenth of the steps came to, and means over all of them."""
    tenth = max(1, len(rows) // 10)
    numbers: dict[str, Any] = {
        "seconds a step": _mean(rows, "step_time"),
        NO_SIGNAL: _mean(rows, "step/degenerate_outcome"),
    }
    for label, part in (("first", rows[:tenth]), ("last", rows[-tenth:])):
        numbers[f"{NO_SIGNAL}, {label} {tenth} steps"] = _mean(part, "step/degenerate_outcome")
        for name in ("outcome", "steps", "filler"):
            numbers[f"{name}, {label} {tenth} steps"] = _mean(part, f"step/{name}")
    return numbers


def _mean(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    values = [row[name] for row in rows if row.get(name) is not None]
    return sum(values) / len(values) if values else None
