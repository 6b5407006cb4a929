"""The order of the rows in each epoch as a function of (seed, epoch), so that a resumed run repeats it.

The samplers of transformers (`LengthGroupedSampler`) and trl (`RepeatSampler`) draw every epoch's order from
one stream of random numbers. A run that is resumed in its second epoch starts that stream again: it skips
along the first epoch's order, so some rows come twice and others never.
"""

from collections.abc import Iterator
from typing import Any

import torch
from torch.utils.data import Sampler

from labeling.randomness import derive_seed


class EpochOrder(Sampler[int]):
    """A sampler whose random numbers start afresh with every epoch.

    The Trainer tells the epoch by `set_epoch`. The first one has the seed itself, as it would without
    this wrapper.

    Args:
        sampler: Draws its order from its attribute `generator`.
        seed: Of the run.
    """

    def __init__(self, sampler: Any, seed: int) -> None:
        self._sampler = sampler
        self._seed = seed
        self._epoch = 0

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch comes next, from 0."""
        self._epoch = int(epoch)

    def __iter__(self) -> Iterator[int]:
        seed = self._seed if self._epoch == 0 else derive_seed(self._seed, "epoch", self._epoch) % 2**63
        self._sampler.generator = torch.Generator().manual_seed(seed)
        return iter(self._sampler)

    def __len__(self) -> int:
        return len(self._sampler)
