"""Logits -> the probability that a step is right. Pure functions."""

import torch
from torch import Tensor

WRONG_INDEX = 0
RIGHT_INDEX = 1
ID2LABEL = {WRONG_INDEX: "wrong", RIGHT_INDEX: "right"}
LABEL2ID = {name: index for index, name in ID2LABEL.items()}
N_CLASSES = len(ID2LABEL)


def right_probability(logits: Tensor) -> Tensor:
    """Return the probability of class 1, "right", in float32 whatever the logits' type.

    Args:
        logits: (..., 2), class 0 wrong, class 1 right.

    Returns:
        (...) in [0, 1]: softmax over the two, which is sigmoid(right - wrong).
    """
    two = logits.float()
    return torch.sigmoid(two[..., RIGHT_INDEX] - two[..., WRONG_INDEX])


def at_positions(logits: Tensor, rows: Tensor, positions: Tensor) -> Tensor:
    """Pick the logits of steps: (B, T, C), (N,), (N,) -> (N, C)."""
    return logits[rows, positions]
