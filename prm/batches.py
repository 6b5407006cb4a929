"""Layouts -> padded batches -> step probabilities, in order."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import PreTrainedModel

from labeling.errors import ModelError
from labeling.records import UNKNOWN_LABEL
from prm.formats.layout import StepLayout
from prm.heads import at_positions, right_probability


def by_length(lengths: Sequence[int], batch_tokens: int) -> list[list[int]]:
    """Group indices into batches of similar length, longest first.

    Args:
        lengths: Ids of each item.
        batch_tokens: Most ids of a padded batch; an item longer than that is a batch of its own.

    Returns:
        Every index exactly once.
    """
    order = sorted(range(len(lengths)), key=lambda index: -lengths[index])
    batches: list[list[int]] = []
    for index in order:
        # Batches are filled from their longest item, so that one sets the padded width.
        if batches and lengths[batches[-1][0]] * (len(batches[-1]) + 1) <= batch_tokens:
            batches[-1].append(index)
        else:
            batches.append([index])
    return batches


def pad_right(rows: Sequence[Sequence[float]], fill: float, dtype: torch.dtype = torch.long) -> Tensor:
    """Return rows of different lengths as (B, T), filled up on the right."""
    width = max(len(row) for row in rows)
    return torch.tensor([[*row, *([fill] * (width - len(row)))] for row in rows], dtype=dtype)


class StepCollator:
    """Pads features (`input_ids`, `labels`) on the right, whatever side the tokenizer pads on.

    Labels become int64 when all are whole numbers, else float32; never bool.
    """

    def __init__(self, pad_id: int) -> None:
        self.pad_id = pad_id

    def __call__(self, features: Sequence[dict[str, Any]]) -> dict[str, Tensor]:
        """Return `input_ids`, `attention_mask` and `labels`, each (B, T)."""
        ids = [feature["input_ids"] for feature in features]
        labels = [feature["labels"] for feature in features]
        is_soft = any(isinstance(label, float) for row in labels for label in row)
        return {
            "input_ids": pad_right(ids, self.pad_id),
            "attention_mask": pad_right([[1] * len(row) for row in ids], 0),
            "labels": pad_right(labels, UNKNOWN_LABEL, torch.float32 if is_soft else torch.long),
        }


@torch.inference_mode()
def is_causal(model: PreTrainedModel) -> bool:
    """Measure whether a later token can change an earlier logit; then right padding needs no mask.

    Leaving the mask out lets attention use its fast causal kernel.
    """
    n_ids = min(model.config.get_text_config().vocab_size, 16)
    first = torch.arange(8, device=model.device).remainder(n_ids)[None]
    second = first.clone()
    second[0, -1] = (second[0, -1] + 1) % n_ids
    logits = [model(input_ids=ids).logits[:, :-1] for ids in (first, second)]
    return torch.equal(logits[0], logits[1])


@torch.inference_mode()
def step_probabilities(
    model: PreTrainedModel,
    layouts: Sequence[StepLayout],
    *,
    batch_tokens: int,
    needs_mask: bool = True,
) -> list[list[float]]:
    """Return for each layout one probability in [0, 1] a read position, in order.

    One forward pass a solution, batched by length, padded on the right.

    Raises:
        ModelError: The model gives a number that is not finite.
    """
    found: list[list[float]] = [[] for _ in layouts]
    readable = [index for index, layout in enumerate(layouts) if layout.read_positions]
    for batch in by_length([len(layouts[index].input_ids) for index in readable], batch_tokens):
        members = [readable[place] for place in batch]
        _score_batch(model, layouts, members, needs_mask, found)
    return found


def _score_batch(
    model: PreTrainedModel,
    layouts: Sequence[StepLayout],
    members: Sequence[int],
    needs_mask: bool,
    found: list[list[float]],
) -> None:
    rows_of_ids = [layouts[index].input_ids for index in members]
    # Padding is masked or lies behind every position that is read, so any valid id will do.
    inputs = {"input_ids": pad_right(rows_of_ids, 0)}
    if needs_mask:
        inputs["attention_mask"] = pad_right([[1] * len(ids) for ids in rows_of_ids], 0)
    logits = model(**{name: tensor.to(model.device) for name, tensor in inputs.items()}).logits
    counts = [len(layouts[index].read_positions) for index in members]
    positions = [position for index in members for position in layouts[index].read_positions]
    rows = torch.arange(len(members)).repeat_interleave(torch.tensor(counts))
    picked = at_positions(logits, rows.to(logits.device), torch.tensor(positions, device=logits.device))
    probabilities = right_probability(picked)
    if not bool(torch.isfinite(probabilities).all()):
        raise ModelError(
            "the model gives a score that is not a finite number.",
            remedy="Its weights are damaged or overflow in this precision; load it in float32.",
        )
    for index, own in zip(members, probabilities.cpu().split(counts), strict=True):
        found[index] = own.tolist()
