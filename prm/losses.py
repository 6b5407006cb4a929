"""Losses over labelled steps, normalised over the whole optimiser step. Pure functions."""

import torch
from torch import Tensor
from torch.nn import functional

from labeling.records import UNKNOWN_LABEL


def step_cross_entropy(logits: Tensor, targets: Tensor) -> Tensor:
    """Binary cross entropy of each labelled step against a hard or soft target.

    -(p log q + (1 - p) log(1 - q)) with q the softmax probability of class 1 and p the target.

    Args:
        logits: (..., 2), class 1 is "right".
        targets: (...), p in [0, 1] at steps, -100 where there is nothing to learn.

    Returns:
        (N,) in float32, one loss a labelled step, in reading order; empty when there is none.
    """
    is_labelled = targets != UNKNOWN_LABEL
    log_q = functional.log_softmax(logits[is_labelled].float(), dim=-1)
    p = targets[is_labelled].float()
    return -(p * log_q[..., 1] + (1 - p) * log_q[..., 0])


def step_loss(logits: Tensor, targets: Tensor, n_labelled: Tensor | float | None = None) -> Tensor:
    """Sum the losses of a micro-batch over the number of labelled steps of the whole optimiser step.

    Summed over the micro-batches this is the mean over all labelled steps, however they were split. A
    micro-batch without labelled steps gives 0 with gradients of 0.

    Args:
        logits: (..., 2).
        targets: (...), see `step_cross_entropy`.
        n_labelled: Labelled steps of the whole optimiser step; None: of this micro-batch alone.
    """
    losses = step_cross_entropy(logits, targets)
    count = torch.as_tensor(losses.numel() if n_labelled is None else n_labelled, device=losses.device)
    # An empty selection keeps the graph, so its sum is 0 with a gradient of exactly 0.
    return losses.sum() / count.clamp(min=1)
