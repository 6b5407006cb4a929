"""What a sampling loop works with: rows in flight, a key-value cache with room ahead, drawing a token."""

from typing import Any

import torch
from transformers.cache_utils import DynamicCache, DynamicLayer

_GROWTH_TOKENS = 64
"""Room that the cache adds at a time; one token at a time would copy the whole cache for each token."""


class RowsInFlight:
    """The rows in flight: their cache, which of its positions hold tokens, and their next positions."""

    def __init__(self, cache: DynamicCache, is_real: torch.Tensor) -> None:
        self.cache = cache
        self._is_real = is_real
        self._has_padding = not bool(is_real.all())
        self._next_positions: torch.Tensor | None = None

    def extend(self, n_tokens: int) -> tuple[torch.Tensor | None, torch.Tensor]:
        """Return the attention mask and the position ids of the next tokens: the prompts, then one a row."""
        if self._next_positions is None:
            positions = (self._is_real.cumsum(1) - 1).clamp(min=0)
            self._next_positions = positions[:, -1:] + 1
        else:
            positions = self._next_positions
            self._next_positions = positions + n_tokens
            if self._has_padding:
                self._is_real = torch.nn.functional.pad(self._is_real, (0, n_tokens), value=1)
        # Without padding a mask says nothing, and attention is quicker without one.
        return (self._is_real if self._has_padding else None), positions

    def keep(self, index: torch.Tensor) -> None:
        """Keep the rows of `index`, in that order; a row may be named more than once."""
        self.cache.batch_select_indices(index)
        self._is_real = self._is_real[index]
        if self._next_positions is not None:
            self._next_positions = self._next_positions[index]


class _GrowingLayer(DynamicLayer):
    """A cache layer with room ahead: `keys` and `values` are views of the part that is filled."""

    def __init__(self) -> None:
        super().__init__()
        self._rooms: list[torch.Tensor] = []

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Write the new states behind the others; return all of them, (rows, heads, tokens, size)."""
        if not self.is_initialized:
            self.lazy_initialization(key_states, value_states)
        start = self.get_seq_length()
        end = start + key_states.shape[-2]
        if not self._rooms or end > self._rooms[0].shape[-2]:
            self._rooms = [_roomier(old, end) for old in self._filled(start) or (key_states, value_states)]
        for room, states in zip(self._rooms, (key_states, value_states), strict=True):
            room[:, :, start:end] = states
        self.keys, self.values = self._filled(end)
        return self.keys, self.values

    def batch_select_indices(self, indices: torch.Tensor) -> None:
        """Keep these rows, with the room behind them."""
        n_tokens = self.get_seq_length()
        self._rooms = [room[indices] for room in self._rooms]
        if self._rooms:
            self.keys, self.values = self._filled(n_tokens)

    def _filled(self, n_tokens: int) -> list[torch.Tensor]:
        return [room[:, :, :n_tokens] for room in self._rooms]


def _roomier(states: torch.Tensor, n_tokens: int) -> torch.Tensor:
    rows, heads, n_old, size = states.shape
    room = states.new_empty(rows, heads, n_tokens + _GROWTH_TOKENS, size)
    room[:, :, :n_old] = states
    return room


def growing_cache(config: Any) -> DynamicCache:
    """Return an empty cache for a model's configuration whose plain layers grow with room ahead."""
    cache = DynamicCache(config=config)
    # Layers with a window or a recurrent state keep their own kind.
    cache.layers = [_GrowingLayer() if type(layer) is DynamicLayer else layer for layer in cache.layers]
    return cache


def draw_tokens(
    logits: torch.Tensor, uniforms: torch.Tensor | None, temperature: float, top_p: float = 1.0
) -> torch.Tensor:
    """Draw one token a row by inverting the cumulative distribution: the first i with C(i) > u.

    Args:
        logits: (row, vocabulary).
        uniforms: (row), in [0, 1), float64; not read when the temperature is 0.
        temperature: Divides the logits; 0 takes the likeliest token (the first of equals).
        top_p: Draw from the smallest set of likeliest tokens whose probability reaches this.

    Returns:
        Token ids, (row).
    """
    if temperature == 0 or uniforms is None:
        return logits.argmax(-1)
    probabilities = torch.softmax(logits / temperature, dim=-1)
    order = None
    if top_p < 1:
        probabilities, order = probabilities.sort(dim=-1, descending=True)
        mass_before = probabilities.cumsum(-1) - probabilities
        probabilities = probabilities.masked_fill(mass_before >= top_p, 0.0)
    cumulative = probabilities.cumsum(-1, dtype=torch.float64)
    total = cumulative[:, -1:]
    # At most 1 - 2^-53 of the total, which double precision tells from the total: a token is always found.
    threshold = uniforms.unsqueeze(1) * total
    drawn = torch.searchsorted(cumulative, threshold, right=True)
    return (drawn if order is None else order.gather(1, drawn)).squeeze(1)
