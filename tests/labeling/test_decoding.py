"""A draw from logits, against the same draw by another road."""

import numpy as np
import pytest
import torch

from labeling.rollouts.decoding import draw_tokens


def drawn_by_hand(logits, uniform, temperature, top_p):
    """The token by another road, in float64; None where rounding may decide."""
    scaled = logits / np.float32(temperature)
    p = np.exp(scaled - scaled.max(), dtype=np.float64)
    p /= p.sum()
    order = np.arange(len(p)) if top_p == 1 else np.argsort(-p)
    before = np.cumsum(p[order]) - p[order]
    kept = np.where((before < top_p) | (np.arange(len(p)) == 0) | (top_p == 1), p[order], 0.0)
    cumulative = np.cumsum(kept) / kept.sum()
    if np.abs(np.concatenate([cumulative - uniform, before - top_p])).min() < 1e-5:
        return None
    return order[np.searchsorted(cumulative, uniform, side="right")]


@pytest.mark.parametrize("is_nucleus", [False, True])
def test_a_draw_inverts_the_cumulative_distribution(is_nucleus):
    rng = np.random.default_rng(0)
    n_compared = 0
    for _ in range(500):
        logits = rng.normal(0, 2, rng.integers(2, 10)).astype(np.float32)
        uniform, temperature = rng.random(), rng.uniform(0.3, 3)
        top_p = rng.uniform(0.05, 1) if is_nucleus else 1.0
        expected = drawn_by_hand(logits, uniform, temperature, top_p)
        if expected is not None:
            n_compared += 1
            uniforms = torch.tensor([uniform], dtype=torch.float64)
            assert int(draw_tokens(torch.tensor(logits[None]), uniforms, temperature, top_p)) == expected
    assert n_compared > 450


def test_the_extremes_of_the_uniform_stay_inside_the_nucleus():
    logits = torch.tensor([[-1e4, 3.0, 2.0, -1e4]])
    lowest, highest = (torch.tensor([u], dtype=torch.float64) for u in (0.0, np.nextafter(1, 0)))
    for top_p in (1.0, 0.9, 0.5):
        assert int(draw_tokens(logits, lowest, 1.0, top_p)) == 1
    assert int(draw_tokens(logits, highest, 1.0, 0.5)) == 1
    assert int(draw_tokens(logits, highest, 1.0, 0.9)) == 2
    assert int(draw_tokens(logits, None, 0)) == 1
