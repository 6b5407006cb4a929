import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from labeling.errors import ConfigError
from prm.aggregate import RULES, aggregate, default_rule
from prm.heads import at_positions, right_probability
from prm.losses import step_cross_entropy, step_loss


def logits_with_loss(loss):
    """Logits whose loss against "right" is `loss`: log(1 + exp(-d)) = loss."""
    return [0.0, -math.log(math.expm1(loss))]


def micro_batch(losses, width=4):
    logits = torch.zeros(1, width, 2)
    targets = torch.full((1, width), -100)
    for place, loss in enumerate(losses):
        logits[0, place] = torch.tensor(logits_with_loss(loss))
        targets[0, place] = 1
    return logits.requires_grad_(), targets


def test_prm_05_a_step_weighs_the_same_in_every_micro_batch(golden):
    case = golden("prm.json")["prm-05"]
    batches = [micro_batch(batch["step_losses"]) for batch in case["input"]["micro_batches"]]
    n_labelled = sum((targets != -100).sum() for _, targets in batches)
    total = sum(step_loss(logits, targets, n_labelled) for logits, targets in batches)
    total.backward()
    assert total.item() == pytest.approx(case["expected"]["loss"], abs=1e-6)
    assert all(torch.isfinite(logits.grad).all() for logits, _ in batches)
    assert torch.equal(batches[2][0].grad, torch.zeros(1, 4, 2))
    together = step_loss(torch.cat([b[0] for b in batches]), torch.cat([b[1] for b in batches]))
    assert together.item() == pytest.approx(case["expected"]["loss"], abs=1e-6)


def test_nothing_labelled_at_all_gives_zero_and_zero_gradients():
    logits, targets = micro_batch([])
    loss = step_loss(logits, targets, torch.tensor(0))
    loss.backward()
    assert loss.item() == 0
    assert torch.equal(logits.grad, torch.zeros(1, 4, 2))


def test_a_soft_target_by_hand():
    # q = 3/4 right, target 0.6: -(0.6 log 0.75 + 0.4 log 0.25) = 0.172609 + 0.554518.
    logits = torch.tensor([[0.0, math.log(3)]])
    assert step_cross_entropy(logits, torch.tensor([0.6])).item() == pytest.approx(0.727127, abs=1e-6)


steps = st.lists(
    st.tuples(st.floats(-20, 20), st.floats(-20, 20), st.sampled_from([-100.0, 0.0, 0.3, 0.5, 1.0])),
    min_size=1,
    max_size=8,
)


@given(steps, st.integers(0, 8))
def test_the_loss_is_the_same_however_steps_are_split(rows, cut):
    logits = torch.tensor([[a, b] for a, b, _ in rows], dtype=torch.float64)
    targets = torch.tensor([t for _, _, t in rows], dtype=torch.float64)
    count = int((targets != -100).sum())
    whole = step_loss(logits, targets)
    parts = step_loss(logits[:cut], targets[:cut], count) + step_loss(logits[cut:], targets[cut:], count)
    assert parts.item() == pytest.approx(whole.item(), rel=1e-5, abs=1e-6)


@given(steps)
def test_the_loss_agrees_with_torch_on_the_difference_of_the_logits(rows):
    rows = [row for row in rows if row[2] != -100]
    if rows:
        logits = torch.tensor([[a, b] for a, b, _ in rows])
        targets = torch.tensor([t for _, _, t in rows])
        expected = functional.binary_cross_entropy_with_logits(logits[:, 1] - logits[:, 0], targets)
        assert step_loss(logits, targets).item() == pytest.approx(expected.item(), rel=1e-4, abs=1e-5)


def test_hard_targets_agree_with_cross_entropy_of_two_classes():
    torch.manual_seed(0)
    logits, targets = torch.randn(3, 5, 2), torch.tensor([[1, 0, -100, 1, 0]] * 3)
    expected = functional.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100)
    assert step_loss(logits, targets).item() == pytest.approx(expected.item(), abs=1e-6)


def test_the_probability_is_that_of_class_one_in_float32():
    logits = torch.tensor([[-1.0, 2.0]], dtype=torch.bfloat16)
    assert right_probability(logits).dtype == torch.float32
    assert right_probability(logits).item() == pytest.approx(0.952574, abs=1e-6)
    assert torch.softmax(logits.float(), -1)[0, 1].item() == pytest.approx(0.952574, abs=1e-6)


def test_logits_are_picked_at_row_and_position():
    logits = torch.arange(12.0).reshape(2, 3, 2)
    picked = at_positions(logits, torch.tensor([0, 1]), torch.tensor([2, 0]))
    assert picked.tolist() == [[4.0, 5.0], [6.0, 7.0]]


def test_solution_scores_by_hand():
    assert {rule: aggregate([0.5, 0.2, 0.8], rule) for rule in RULES} == pytest.approx(
        {"min": 0.2, "last": 0.8, "product": 0.08, "mean": 0.5}
    )


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_product_is_below_min_and_min_below_mean(scores):
    product, least, mean = (aggregate(scores, rule) for rule in ("product", "min", "mean"))
    assert product <= least <= mean + 1e-12


@pytest.mark.parametrize("scores", [[], [0.2, math.nan]])
def test_a_solution_with_an_unknown_step_has_no_score(scores):
    assert all(aggregate(scores, rule) is None for rule in RULES)


def test_the_rule_follows_from_what_labels_mean():
    assert (default_rule("correctness"), default_rule("value")) == ("min", "last")
    with pytest.raises(ConfigError, match="semantics is 'other'"):
        default_rule("other")
    with pytest.raises(ConfigError, match="no aggregation 'max'"):
        aggregate([0.5], "max")
