"""PRMConfig and PRMTrainer: a transformers Trainer that learns step labels with a two-class head."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from datasets import Dataset, Features, Sequence, Value
from peft import PeftConfig, PeftModel, TaskType, get_peft_model
from transformers import EvalPrediction, PreTrainedModel, Trainer, TrainingArguments
from transformers.trainer_pt_utils import LengthGroupedSampler

from labeling.errors import ConfigError, InputError
from labeling.records import CORRECTNESS, UNKNOWN_LABEL, VALUE, check_label
from prm import checkpoint
from prm.batches import StepCollator
from prm.epoch_order import EpochOrder
from prm.formats.class_head import ClassHeadFormat
from prm.heads import ID2LABEL, N_CLASSES, right_probability
from prm.losses import step_cross_entropy, step_loss

LABEL_KINDS = ("hard", "soft")
COUNTED = ("steps", "steps labelled", "steps unknown", "steps cut")
DEFAULT_MAX_TOKENS = 1024
"""Used when neither the settings nor the model's config give a limit."""


@dataclass
class PRMConfig(TrainingArguments):
    """TrainingArguments and how labels and layouts are made."""

    learning_rate: float = field(default=1e-5, metadata={"help": "Peak learning rate."})
    label_kind: str = field(
        default="hard",
        metadata={"help": "hard: 0/1 (fractions count as 1 from 0.5); soft: fractions are the target."},
    )
    label_semantics: str = field(
        default=CORRECTNESS, metadata={"help": "What the labels mean: correctness or value."}
    )
    until_first_error: bool | None = field(
        default=None,
        metadata={
            "help": "Whether the rows end with their first wrong step; kept in prm.json, cuts nothing itself."
        },
    )
    separator: str = field(default="\n", metadata={"help": "Text behind every step."})
    max_tokens: int | None = field(
        default=None, metadata={"help": "Cut layouts at this many tokens; default: the model's context."}
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.label_kind not in LABEL_KINDS:
            raise ConfigError(f"label_kind is {self.label_kind!r}.", remedy="Use hard or soft.")
        if self.label_semantics not in (CORRECTNESS, VALUE):
            raise ConfigError(
                f"label_semantics is {self.label_semantics!r}.", remedy=f"Use {CORRECTNESS} or {VALUE}."
            )


class PRMTrainer(Trainer):
    """Trains a token-classification model on rows of `prompt`, `completions`, `labels`.

    The loss is the mean over all labelled steps of an optimiser step, however they are split into
    micro-batches and devices. Rows without a labelled step inside the limit are left out and counted.

    Args:
        model: A two-class token-classification model (see `prm.checkpoint.load_classifier`).
        args: Settings.
        train_dataset: Rows in trl's stepwise-supervision layout.
        processing_class: The model's tokenizer.
        eval_dataset: Rows of the same layout.
        peft_config: Adapter settings; the head is trained and saved in full.
        labels_sha256: Hash of the label files, kept in `prm.json`.
        **kwargs: Handed to `transformers.Trainer`.

    Attributes:
        counts: What became of the training rows and their steps.

    Raises:
        ConfigError: No head would be saved, or `max_tokens` exceeds the context.
        ModelError: The tokenizer cannot write the separator.
        InputError: No row has a labelled step.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        args: PRMConfig,
        train_dataset: Dataset,
        processing_class: Any,
        *,
        eval_dataset: Dataset | None = None,
        peft_config: PeftConfig | None = None,
        labels_sha256: str | None = None,
        **kwargs: Any,
    ) -> None:
        check_two_classes(model)
        max_tokens = layout_limit(args.max_tokens, checkpoint.context_tokens(model))
        self.layout = ClassHeadFormat(processing_class, separator=args.separator, max_tokens=max_tokens)
        self.labels_sha256 = labels_sha256
        train, self.counts = prepare(train_dataset, self.layout, args.label_kind)
        held_out = None
        if eval_dataset is not None:
            held_out, _ = prepare(eval_dataset, self.layout, args.label_kind)
        pad_id = processing_class.pad_token_id
        super().__init__(
            model=model if peft_config is None else with_adapter(model, peft_config),
            args=args,
            train_dataset=train,
            eval_dataset=held_out,
            processing_class=processing_class,
            data_collator=StepCollator(0 if pad_id is None else pad_id),
            compute_loss_func=_loss,
            compute_metrics=step_metrics,
            preprocess_logits_for_metrics=_right_logit,
            **kwargs,
        )

    def _get_train_sampler(self, train_dataset: Any = None) -> Any:
        sampler = super()._get_train_sampler(train_dataset)
        # accelerate orders a RandomSampler by epoch itself; the one that groups by length it leaves alone.
        return EpochOrder(sampler, self.args.seed) if isinstance(sampler, LengthGroupedSampler) else sampler

    @property
    def info(self) -> checkpoint.PRMInfo:
        """What `prm.json` says of the model in training."""
        args: PRMConfig = self.args  # pyright: ignore[reportAssignmentType]
        return checkpoint.PRMInfo(
            separator=args.separator,
            max_tokens=self.layout.max_tokens,
            label_kind=args.label_kind,
            semantics=args.label_semantics,
            labels_sha256=self.labels_sha256,
            until_first_error=args.until_first_error,
        )

    def _save(self, output_dir: str | None = None, state_dict: dict | None = None) -> None:
        # Every checkpoint of the Trainer is then a PRM that StepScorer loads.
        super()._save(output_dir, state_dict)
        if self.args.should_save:
            folder = Path(output_dir or self.args.output_dir or ".")
            checkpoint.write_info(folder, self.info)
            if isinstance(self.accelerator.unwrap_model(self.model), PeftModel):
                checkpoint.check_adapter_head(folder)


def prepare(rows: Dataset, layout: ClassHeadFormat, label_kind: str) -> tuple[Dataset, dict[str, int]]:
    """Lay rows out as `input_ids` and `labels`, and count.

    Returns:
        The data set without rows that have no labelled step inside the limit, and the counts: rows,
        rows without a labelled step, steps, steps labelled, steps unknown, steps cut.

    Raises:
        InputError: A column is missing, or nothing is left.
        RecordError: A label cannot be used, or labels and steps differ in number.
    """
    missing = [name for name in ("prompt", "completions", "labels") if name not in rows.column_names]
    if missing:
        raise InputError(
            f"the data set has no column {', '.join(missing)}.",
            remedy="Rows hold prompt, completions and labels.",
        )
    kind = Value("float32") if label_kind == "soft" else Value("int64")
    laid_out = rows.map(
        lambda batch: _lay_out_rows(batch, layout, label_kind),
        batched=True,
        remove_columns=rows.column_names,
        features=Features(
            {
                "input_ids": Sequence(Value("int32")),
                "labels": Sequence(kind),
                **{name: Value("int64") for name in COUNTED},
            }
        ),
        desc="Laying out steps",
    )
    usable = [index for index, count in enumerate(laid_out["steps labelled"]) if count > 0]
    counts = {
        "rows": len(laid_out),
        "rows without a labelled step": len(laid_out) - len(usable),
        **{name: sum(laid_out[name]) for name in COUNTED},
    }
    if not usable:
        raise InputError(
            f"none of {len(laid_out)} rows has a labelled step within {layout.max_tokens} tokens.",
            remedy="Give rows with labels of 1 or 0, or raise max_tokens.",
        )
    return laid_out.select(usable).remove_columns(list(COUNTED)), counts


def _lay_out_rows(batch: dict[str, list], layout: ClassHeadFormat, label_kind: str) -> dict[str, list]:
    columns: dict[str, list] = {name: [] for name in ("input_ids", "labels", *COUNTED)}
    layouts = layout.lay_out_all(batch["prompt"], batch["completions"])
    ids = batch.get("id") or [""] * len(layouts)
    for laid_out, labels, record_id in zip(layouts, batch["labels"], ids, strict=True):
        targets = training_targets(labels, label_kind, record_id=str(record_id))
        placed = laid_out.label_ids(targets)
        n_kept = len(laid_out.read_positions)
        n_labelled = sum(target != UNKNOWN_LABEL for target in targets[:n_kept])
        columns["input_ids"].append(laid_out.input_ids)
        columns["labels"].append(placed)
        columns["steps"].append(laid_out.n_steps)
        columns["steps labelled"].append(n_labelled)
        columns["steps unknown"].append(n_kept - n_labelled)
        columns["steps cut"].append(laid_out.n_steps_cut)
    return columns


def training_targets(labels: list[Any], label_kind: str, *, record_id: str = "") -> list[float]:
    """Turn the labels of a row into targets.

    Returns:
        "hard": integers 1, 0 or -100, fractions being 1 from 0.5 upwards. "soft": the fractions
        themselves, as floats, and -100.0.

    Raises:
        RecordError: A label is not finite or lies outside [0, 1].
    """
    pairs = [check_label(label, record_id=record_id, step=step) for step, label in enumerate(labels)]
    if label_kind == "hard":
        return [value for value, _ in pairs]
    return [float(value if soft is None else soft) for value, soft in pairs]


def layout_limit(max_tokens: int | None, context: int | None) -> int:
    """Return how many ids a layout may have.

    Raises:
        ConfigError: The setting exceeds the model's context.
    """
    if max_tokens is not None and context is not None and max_tokens > context:
        raise ConfigError(
            f"max_tokens is {max_tokens} but the model's context holds {context} tokens.",
            remedy="Lower max_tokens, or leave it out to use the whole context.",
        )
    return max_tokens or context or DEFAULT_MAX_TOKENS


def check_two_classes(model: PreTrainedModel) -> None:
    """Refuse a model whose classes are not wrong and right, in this order.

    Raises:
        ConfigError: It has another number of classes or other names for them.
    """
    if model.config.num_labels != N_CLASSES or dict(model.config.id2label or {}) != ID2LABEL:
        raise ConfigError(
            f"the model's classes are {model.config.id2label}, not {ID2LABEL}.",
            remedy="Load it with prm.checkpoint.load_classifier.",
        )


def with_adapter(model: PreTrainedModel, peft_config: PeftConfig) -> PeftModel:
    """Wrap a model in an adapter whose head is trained and saved in full.

    Raises:
        ConfigError: No head would be saved with these settings, or the model lacks a target module.
    """
    head = next((name for name in checkpoint.HEAD_NAMES if hasattr(model, name)), None)
    if head is not None and _is_targeted(head, peft_config):
        raise ConfigError(
            f"the head {head!r} is among target_modules, so it would be adapted and not saved in full.",
            remedy=f"Write modules_to_save=[{head!r}], and exclude_modules=[{head!r}] beside 'all-linear'; "
            "list.append returns None and changes the list itself.",
        )
    saved = getattr(peft_config, "modules_to_save", None) or []
    # peft saves the head by itself for this task type alone.
    if peft_config.task_type != TaskType.TOKEN_CLS and head not in saved:
        raise ConfigError(
            f"modules_to_save is {saved or None}, so the trained head {head!r} would not be saved.",
            remedy=f"Set task_type=TaskType.TOKEN_CLS or modules_to_save=[{head!r}].",
        )
    try:
        return get_peft_model(model, peft_config)  # pyright: ignore[reportReturnType]
    except ValueError as error:
        raise ConfigError(
            f"the adapter does not fit the model ({error}).", remedy="Name modules that the model has."
        ) from error


def _is_targeted(head: str, peft_config: PeftConfig) -> bool:
    targets = getattr(peft_config, "target_modules", None) or []
    excluded = getattr(peft_config, "exclude_modules", None) or []
    if head in excluded or (isinstance(excluded, str) and re.fullmatch(excluded, head)):
        return False
    if isinstance(targets, str):  # "all-linear", or a pattern of whole module names
        return targets == "all-linear" or re.fullmatch(targets, head) is not None
    return head in targets


def step_metrics(prediction: EvalPrediction) -> dict[str, float]:
    """Return loss and accuracy over all labelled steps pooled, so batches of any size weigh alike.

    Args:
        prediction: Logit differences right - wrong (N, T) and labels (N, T).
    """
    difference = torch.as_tensor(np.asarray(prediction.predictions))
    labels = torch.as_tensor(np.asarray(prediction.label_ids))
    is_labelled = labels != UNKNOWN_LABEL
    losses = step_cross_entropy(torch.stack([torch.zeros_like(difference), difference], dim=-1), labels)
    is_right = right_probability(torch.stack([torch.zeros_like(difference), difference], dim=-1)) >= 0.5
    agrees = is_right[is_labelled] == (labels[is_labelled] >= 0.5)
    return {"step_loss": float(losses.mean()), "step_accuracy": float(agrees.float().mean())}


def _right_logit(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    return logits[..., 1] - logits[..., 0]


def _loss(outputs: Any, labels: torch.Tensor, num_items_in_batch: Any = None) -> torch.Tensor:
    return step_loss(outputs.logits, labels, num_items_in_batch)
