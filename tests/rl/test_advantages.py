from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError
from rl.advantages import (
    METHODS,
    HazardCounts,
    Method,
    group_advantages,
    hazard_counts,
    outcome_advantages,
)
from rl.baselines import counterfactual_suffix, index_loo, trajectory_loo
from rl.hazard import hazard_advantages, risk_path
from rl.step_rewards import clipped_levels, potential

unhurried = settings(deadline=None, max_examples=60)  # machines are shared

NAN = float("nan")
ALL_METHODS = {
    **METHODS,
    "value_immediate": Method(potential="value", baseline="index_loo", credit="immediate"),
    "value_alive": Method(potential="value", baseline="index_loo_alive"),
    "grounded": Method(potential="grounded", baseline="none"),
    "log_survival": Method(potential="log_survival", baseline="index_loo"),
    "suffix_immediate": Method(credit="immediate"),
}
methods = st.sampled_from(sorted(ALL_METHODS)).map(ALL_METHODS.__getitem__)
step_scores = st.lists(st.floats(0, 1) | st.just(NAN), max_size=6)


@st.composite
def groups(draw, max_size=5):
    scores = draw(st.lists(step_scores, min_size=1, max_size=max_size))
    size = len(scores)
    outcome = st.sampled_from([0.0, 1.0, 0.25]) | st.just(NAN)
    return scores, draw(st.lists(outcome, min_size=size, max_size=size))


# Outcomes


def test_grpo_01_equal_rewards_give_exact_zeros_and_spread_is_taken_within_the_group(golden):
    case = golden("grpo.json")["grpo-01"]
    rewards = np.array(case["input"]["groups"], dtype=case["input"]["dtype"])
    found = [outcome_advantages(group, baseline="group_std") for group in rewards]
    assert (found[0] == 0.0).all()
    assert np.array(found) == pytest.approx(np.array(case["expected"]["advantages"]), abs=1e-5)
    degenerate = [
        group_advantages([[]] * 4, group, settings=METHODS["grpo"]).is_outcome_degenerate for group in rewards
    ]
    assert np.mean(degenerate) == case["expected"]["fraction_of_groups_without_spread"]


def test_grpo_02_an_unscored_completion_leaves_mean_and_spread_and_gets_zero(golden):
    case = golden("grpo.json")["grpo-02"]
    found = outcome_advantages(case["input"]["group"], baseline="group_std")
    assert found == pytest.approx(case["expected"]["advantages"], abs=1e-5)
    assert found[1] == 0.0
    nobody = outcome_advantages([None] * 4, baseline="group_std")
    assert nobody.tolist() == case["expected"]["all_none_group"]


def test_grpo_03_a_line_break_more_changes_no_advantage_by_default(golden):
    case = golden("grpo.json")["grpo-03"]
    scores = [member["step_scores"] for member in case["input"]["group"]]
    minima = [potential(s, ceiling=1.0)[-1] for s in scores]
    assert minima == pytest.approx(case["expected"]["sequence_rewards"]["min"])
    found = group_advantages(scores, [NAN, NAN], settings=METHODS["step_grpo"])
    assert [a.tolist() for a in found.advantages] == [[0.0, 0.0], [0.0]]
    naive = group_advantages(scores, [NAN, NAN], settings=METHODS["raw_sum"])
    assert naive.advantages[0] == pytest.approx([0.8, 0.8])


def test_leave_one_out_outcomes_worked_by_hand():
    assert outcome_advantages([1, 0, 0, 1]) == pytest.approx([2 / 3, -2 / 3, -2 / 3, 2 / 3])
    assert outcome_advantages([1, 0, 0, 1], baseline="group") == pytest.approx([0.5, -0.5, -0.5, 0.5])


@unhurried
@given(
    outcomes=st.lists(st.sampled_from([0.0, 0.5, 1.0, NAN]), min_size=1, max_size=8),
    constant=st.integers(-4, 4),
    baseline=st.sampled_from(["loo", "group", "group_std"]),
)
def test_adding_a_constant_to_all_outcomes_changes_nothing(outcomes, constant, baseline):
    moved = outcome_advantages(np.array(outcomes) + constant, baseline=baseline)
    assert moved == pytest.approx(outcome_advantages(outcomes, baseline=baseline), abs=1e-9)


@unhurried
@given(outcomes=st.lists(st.floats(0, 1), min_size=2, max_size=8))
def test_leave_one_out_equals_its_definition(outcomes):
    if np.ptp(outcomes) > 1e-6:
        found = outcome_advantages(outcomes)
        others = [np.mean(outcomes[:i] + outcomes[i + 1 :]) for i in range(len(outcomes))]
        assert found == pytest.approx(np.array(outcomes) - others, abs=1e-12)


# Baselines of steps


def test_index_baselines_worked_by_hand():
    returns = [np.array([3.0, 2.0]), np.array([1.0]), np.array([5.0, 4.0, 6.0])]
    absorbing = index_loo(returns)
    assert [a.tolist() for a in absorbing] == [[0.0, 0.0], [-3.0], [3.0, 3.0, 6.0]]
    alive = index_loo(returns, is_alive_only=True)
    assert [a.tolist() for a in alive] == [[0.0, -2.0], [-3.0], [3.0, 2.0, 6.0]]


def test_trajectory_baseline_spreads_one_number_over_the_steps():
    returns = [np.array([3.0, 2.0]), np.array([1.0]), np.array([5.0, 4.0, 6.0])]
    assert [a.tolist() for a in trajectory_loo(returns)] == [[0, 0], [-3], [3, 3, 3]]


def test_counterfactual_suffix_worked_by_hand():
    scores = [[0.9, 0.4, 0.9], [0.8, 0.8, 0.6, 0.8]]
    phi = [potential(s, ceiling=1.0) for s in scores]
    levels = [clipped_levels(s, ceiling=1.0) for s in scores]
    first, second = counterfactual_suffix(phi, levels)
    # Peer's rest: .6 .6 .6; own minimum before each step: 1 .9 .4.
    assert first == pytest.approx([-0.6 + 0.4, -0.5 + 0.3, 0.0])
    # Peer's rest: .4 .4 .9 and, after its end, its last step .9; own minimum: 1 .8 .8 .6.
    assert second == pytest.approx([-0.4 + 0.6, -0.2 + 0.4, -0.2, 0.0])


@unhurried
@given(group=groups())
def test_counterfactual_suffix_gives_nothing_after_the_own_minimum_fell_below_the_peers_rest(group):
    scores, _ = group
    phi = [potential(s) for s in scores]
    levels = [clipped_levels(s) for s in scores]
    for i, advantage in enumerate(counterfactual_suffix(phi, levels)):
        lowest = min((level.min() for j, level in enumerate(levels) if j != i and level.size), default=1.0)
        is_below = phi[i][:-1] <= lowest
        assert (advantage[is_below] <= 1e-12).all()
        assert (np.abs(advantage) <= 1).all()


# The hazard form


def test_hazard_form_worked_by_hand():
    group = [
        risk_path(
            np.array([1.0, 1, 1, 0, 1]), [False, True, False, False, False]
        ),  # right filler right wrong -
        risk_path(np.array([1.0, 0])),
        risk_path(np.array([1.0, NAN, 1])),
    ]
    # Without batch counts the shrinkage is towards the peers' own rate: H(0) = 0, H(1) of the first = 1/2.
    first, second, third = hazard_advantages(group)
    # m=0 at step 0; m=1 at step 2 (peers: one wrong, one right); m=2 at step 3: nobody else, overall 1 of 4.
    assert first == pytest.approx([0, 0, 0.5, -1 + 0.25, 0])
    assert second == pytest.approx([0, -1 + 0])
    assert third == pytest.approx([0, 0, 0.5])


def test_hazard_rates_are_shrunk_towards_the_batch_with_the_weight_of_four_peers():
    group = [risk_path(np.array([1.0])), risk_path(np.array([0.0]))]
    batch = HazardCounts(n_at_risk=np.array([12.0]), n_wrong=np.array([4.0]))
    right, wrong = hazard_advantages(group, batch=batch)
    assert right == pytest.approx([(1 + 4 * 4 / 11) / 5])
    assert wrong == pytest.approx([-1 + (0 + 4 * 3 / 11) / 5])


def test_batch_counts_without_the_group_are_refused():
    group = [risk_path(np.array([1.0])), risk_path(np.array([0.0]))]
    with pytest.raises(ValueError, match="do not contain"):
        hazard_advantages(group, batch=HazardCounts(n_at_risk=np.array([1.0]), n_wrong=np.array([0.0])))


def test_counts_of_groups_add_up_whatever_their_depth():
    settings = METHODS["step_hazard"]
    total = hazard_counts([[1.0, 1.0, 0.0]], settings=settings) + hazard_counts([[0.0]], settings=settings)
    assert total.n_at_risk.tolist() == [2, 1, 1]
    assert total.n_wrong.tolist() == [1, 0, 1]


@unhurried
@given(group=groups(), filler_scores=st.lists(st.floats(0.5, 1), min_size=1, max_size=6))
def test_filler_gets_exactly_nothing_and_changes_nobody_in_the_hazard_form(group, filler_scores):
    scores, _ = group
    outcomes = [NAN] * len(scores)
    settings = METHODS["step_hazard"]
    if np.isnan(scores[0]).all():
        return
    plain = group_advantages(scores, outcomes, settings=settings)
    padded_scores = [[*filler_scores, *scores[0]], *scores[1:]]
    marks = [[True] * len(filler_scores) + [False] * len(scores[0]), *[None] * (len(scores) - 1)]
    padded = group_advantages(padded_scores, outcomes, settings=settings, is_filler=marks)
    if plain.is_process_degenerate:
        return  # identical completions: padding one of them makes them differ in the filler alone
    n = len(filler_scores)
    assert (padded.process[0][:n] == 0).all()
    assert padded.process[0][n:] == pytest.approx(plain.process[0])
    for a, b in zip(padded.process[1:], plain.process[1:], strict=True):
        assert a == pytest.approx(b)


# The whole


def test_outcome_process_and_costs_add_up_as_documented():
    scores, outcomes = [[1.0, 0.0], [1.0, 1.0]], [0.0, 1.0]
    costs = [[0.0, 0.2], [0.0, 0.0]]
    found = group_advantages(scores, outcomes, settings=Method(process_weight=0.5), costs=costs)
    # outcome -1, +1; running minimum: -1 against a peer that would have kept 1, and the other way round.
    assert found.outcome.tolist() == [-1, 1]
    assert [p.tolist() for p in found.process] == [[-1, -1], [1, 1]]
    assert [c.tolist() for c in found.cost] == [[0.2, 0.2], [-0.2, -0.2]]
    assert found.advantages[0] == pytest.approx([-1 - 0.5 - 0.2, -1 - 0.5 - 0.2])
    assert found.advantages[1] == pytest.approx([1 + 0.5 + 0.2, 1 + 0.5 + 0.2])


@pytest.mark.parametrize("method", ALL_METHODS.values(), ids=ALL_METHODS.keys())
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_identical_completions_get_exact_zeros(method, dtype):
    scores = [np.array([0.7, 0.1, 0.33, 0.9], dtype=dtype)] * 7
    batch = None
    if method.baseline == "hazard":
        other = hazard_counts([[1.0, 0.0], [1.0, 1.0]], settings=method)
        batch = hazard_counts(scores, settings=method) + other
    found = group_advantages(
        scores,
        np.full(7, 0.7, dtype=dtype),
        settings=method,
        costs=[[0.1, 0.3, 0, 0.05]] * 7,
        batch_counts=batch,
    )
    assert all((a == 0.0).all() for a in found.advantages)
    assert found.is_outcome_degenerate
    assert found.is_process_degenerate


@unhurried
@given(group=groups(), method=methods, order=st.randoms(use_true_random=False))
def test_the_order_of_completions_does_not_matter(group, method, order):
    scores, outcomes = group
    shuffled = list(range(len(scores)))
    order.shuffle(shuffled)
    straight = group_advantages(scores, outcomes, settings=method).advantages
    turned = group_advantages(
        [scores[i] for i in shuffled], [outcomes[i] for i in shuffled], settings=method
    ).advantages
    for place, i in enumerate(shuffled):
        assert turned[place] == pytest.approx(straight[i], abs=1e-9)


@unhurried
@given(group=groups(), method=methods)
def test_advantages_are_finite_and_fit_the_steps(group, method):
    scores, outcomes = group
    found = group_advantages(scores, outcomes, settings=method)
    assert [a.shape for a in found.advantages] == [(len(s),) for s in scores]
    assert all(np.isfinite(a).all() for a in found.advantages)
    if method.process_clip is not None:
        assert all((np.abs(p) <= method.process_clip).all() for p in found.process)
    assert found.n_unscored_steps == sum(np.isnan(s).sum() for s in scores)


@unhurried
@given(group=groups(), method=methods, constant=st.sampled_from([-2.0, 1.0]))
def test_a_constant_on_all_outcomes_leaves_the_advantages(group, method, constant):
    if method.potential == "grounded":
        return  # its process part holds the outcome itself
    scores, outcomes = group
    moved = group_advantages(scores, np.array(outcomes) + constant, settings=method).advantages
    for a, b in zip(moved, group_advantages(scores, outcomes, settings=method).advantages, strict=True):
        assert a == pytest.approx(b, abs=1e-9)


@unhurried
@given(group=groups(), pad=st.lists(st.floats(0, 1), min_size=1, max_size=10), at=st.integers(0, 6))
def test_padding_never_raises_the_first_step_under_the_default(group, pad, at):
    scores, outcomes = group
    settings = replace(METHODS["step_grpo"], process_tolerance=0.0)
    if not scores[0] or np.isnan(scores[0]).all():
        return
    padded_scores = [scores[0][:at] + pad + scores[0][at:], *scores[1:]]
    plain = group_advantages(scores, outcomes, settings=settings).process[0][0]
    assert group_advantages(padded_scores, outcomes, settings=settings).process[0][0] <= plain + 1e-6


def test_padding_turns_the_naive_sum_in_favour_of_a_wrong_completion():
    wrong, peers = [0.9, 0.7, 0.6, 0.5], [[0.9, 0.9, 0.9], [0.9, 0.8, 0.9], [0.6, 0.9]]
    found = {}
    for name in ("raw_sum", "step_grpo"):
        for m in (0, 20):
            padded = [*wrong[:-1], *[0.9] * m, wrong[-1]]
            group = group_advantages([padded, *peers], [0, 1, 1, 0], settings=METHODS[name])
            found[name, m] = group.advantages[0][0]
    assert found["raw_sum", 20] - found["raw_sum", 0] == pytest.approx(20 * 0.9)
    assert found["raw_sum", 20] > 0
    assert found["step_grpo", 20] == pytest.approx(found["step_grpo", 0])
    assert found["step_grpo", 0] < 0


def test_a_missing_answer_ends_at_the_minimum():
    scores, outcomes = [[0.9, 0.9], [0.9, 0.9]], [NAN, NAN]
    for name in ("step_grpo", "step_hazard"):
        gated = group_advantages(scores, outcomes, settings=METHODS[name], is_answered=[False, True])
        assert gated.process[0][-1] == -1
        assert gated.process[1][-1] > 0 or name == "step_hazard"


def test_unscored_completions_get_no_process_advantage_and_give_no_baseline():
    pair = group_advantages([[0.9, 0.1], [0.9, 0.9]], [0, 1], settings=METHODS["step_grpo"])
    more = group_advantages(
        [[0.9, 0.1], [0.9, 0.9], [NAN, NAN], []], [0, 1, 1, 0], settings=METHODS["step_grpo"]
    )
    assert (more.process[2] == 0).all()
    assert more.process[3].shape == (0,)
    for a, b in zip(more.process, pair.process, strict=False):
        assert a == pytest.approx(b)


@pytest.mark.parametrize("method", ALL_METHODS.values(), ids=ALL_METHODS.keys())
def test_a_single_completion_has_nobody_to_be_compared_with(method):
    found = group_advantages([[0.9, 0.2]], [1.0], settings=method)
    assert found.advantages[0].tolist() == [0.0, 0.0]


def test_noise_within_the_tolerance_is_not_learnt():
    found = group_advantages([[0.79], [0.80], [0.78]], [1, 1, 1], settings=METHODS["step_grpo"])
    assert found.is_process_degenerate
    wide = group_advantages([[0.79], [0.80], [0.4]], [1, 1, 1], settings=METHODS["step_grpo"])
    assert not wide.is_process_degenerate


def test_the_weight_of_groups_without_outcome_spread_can_be_set_apart():
    method = Method(process_weight=1.0, degenerate_weight_all_wrong=0.5, degenerate_weight_all_right=0.25)
    scores = [[1.0, 0.0], [1.0, 1.0]]
    for outcomes, factor in (([0, 0], 0.5), ([1, 1], 0.25), ([0, 1], 1.0), ([NAN, NAN], 1.0)):
        found = group_advantages(scores, outcomes, settings=method)
        assert found.advantages[0] - found.outcome[0] == pytest.approx(factor * found.process[0])


def test_outcome_only_methods_do_not_read_the_scores():
    for name in ("grpo", "dr_grpo", "rloo"):
        found = group_advantages([[0.9, 0.1], [0.2]], [1, 0], settings=METHODS[name])
        assert np.ptp(found.advantages[0]) == 0
        assert found.is_process_degenerate


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"potential": "raw_sums"}, "potential is 'raw_sums', which is unknown"),
        ({"baseline": "index"}, "baseline is 'index', which is unknown"),
        ({"baseline": "counterfactual_suffix", "potential": "value"}, "a running minimum falls, not value"),
        ({"baseline": "hazard", "credit": "return_to_go"}, "hazard has immediate credit only"),
        ({"baseline": "trajectory_loo", "credit": "immediate"}, "trajectory_loo compares whole returns"),
        ({"outcome_baseline": "mean"}, "outcome_baseline is 'mean', which is unknown"),
        ({"credit": "gae"}, "credit is 'gae', which is unknown"),
    ],
)
def test_methods_that_do_not_fit_together_are_refused(wrong, message):
    with pytest.raises(ConfigError, match=message):
        Method(**wrong)


def test_sizes_that_differ_are_refused():
    with pytest.raises(ValueError, match="an outcome is infinite"):
        outcome_advantages([1.0, float("inf"), 0.0])
    with pytest.raises(ValueError, match="2 outcomes for 1 completions"):
        group_advantages([[0.5]], [1, 0], settings=METHODS["grpo"])
    with pytest.raises(ValueError, match="costs"):
        group_advantages([[0.5]], [1], settings=METHODS["grpo"], costs=[[0.1, 0.1]])
    with pytest.raises(ValueError, match="negative"):
        group_advantages([[0.5]], [1], settings=METHODS["grpo"], costs=[[-0.1]])
    with pytest.raises(ValueError, match="filler marks"):
        group_advantages(
            [[0.5], [0.5]], [1, 0], settings=METHODS["step_hazard"], is_filler=[[True, False], None]
        )
