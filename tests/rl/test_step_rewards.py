import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError
from rl.step_rewards import (
    POTENTIALS,
    clipped_levels,
    gate_final,
    n_unscored,
    potential,
    returns_to_go,
    step_rewards,
)

unhurried = settings(deadline=None, max_examples=60)  # machines are shared


score = st.floats(0, 1) | st.just(float("nan"))
score_lists = st.lists(score, max_size=12)


def form(scores, name):
    return potential(scores, name=name, outcome=1.0)


def test_running_minimum_worked_by_hand():
    assert potential([0.9, 0.4, 0.8, 0.2]) == pytest.approx([1, 1, 0.5, 0.5, 0.25])
    assert step_rewards([0.9, 0.4, 0.8, 0.2]) == pytest.approx([0, -0.5, 0, -0.25])
    assert returns_to_go([0, -0.5, 0, -0.25]) == pytest.approx([-0.75, -0.75, -0.25, -0.25])


def test_log_survival_worked_by_hand():
    assert potential([1.0, 0.1, 0.1, 0.5], name="log_survival") == pytest.approx([0, 0, -0.5, -1, -1])


def test_value_and_grounded_worked_by_hand():
    assert potential([0.2, 0.7], name="value") == pytest.approx([0.5, 0.2, 0.7])
    assert potential([0.2, 0.7], name="grounded", outcome=1.0) == pytest.approx([0.5, 0.2, 1.0])


def test_raw_sum_pays_each_step_its_score():
    assert step_rewards([0.9, 0.3, 0.8], name="raw_sum") == pytest.approx([0.9, 0.3, 0.8])


def test_a_score_above_the_ceiling_counts_as_fully_right():
    assert clipped_levels([0.95, 0.8, 0.4], ceiling=0.8) == pytest.approx([1, 1, 0.5])


@unhurried
@given(scores=score_lists, name=st.sampled_from(POTENTIALS))
def test_rewards_telescope_to_the_ends_of_the_potential(scores, name):
    phi = form(scores, name)
    rewards = step_rewards(scores, name=name, outcome=1.0)
    assert phi.shape == (len(scores) + 1,)
    assert rewards.sum() == pytest.approx(phi[-1] - phi[0])
    assert returns_to_go(rewards) == pytest.approx(phi[-1] - phi[:-1])


@unhurried
@given(scores=st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_the_running_minimum_pays_exactly_the_smallest_clipped_score(scores):
    assert step_rewards(scores).sum() == pytest.approx(min(1.0, min(scores) / 0.8) - 1)


@unhurried
@given(scores=score_lists, name=st.sampled_from(["running_min", "log_survival", "value"]))
def test_bounded_potentials_never_pay_more_than_one_in_total(scores, name):
    assert abs(step_rewards(scores, name=name).sum()) <= 1 + 1e-12


@unhurried
@given(scores=score_lists, pad=st.lists(score, min_size=1, max_size=20), at=st.integers(0, 12))
def test_inserted_steps_never_raise_the_return_of_insertion_safe_potentials(scores, pad, at):
    padded = scores[:at] + pad + scores[at:]
    for name in ("running_min", "log_survival"):
        assert form(padded, name)[-1] <= form(scores, name)[-1] + 1e-12


@unhurried
@given(scores=score_lists, name=st.sampled_from(["running_min", "log_survival", "value", "raw_sum"]))
def test_an_unscored_step_earns_nothing_and_is_counted(scores, name):
    rewards = step_rewards(scores, name=name)
    is_unscored = np.isnan(scores)
    assert (rewards[is_unscored] == 0).all()
    assert n_unscored(scores) == is_unscored.sum()
    scored = [s for s in scores if not np.isnan(s)]
    assert rewards[~is_unscored] == pytest.approx(step_rewards(scored, name=name))


@pytest.mark.parametrize("name", POTENTIALS)
def test_a_completion_without_steps_gives_empty_rewards(name):
    assert form([], name).shape == (1,)
    assert step_rewards([], name=name, outcome=1.0).shape == (0,)
    assert returns_to_go([]).shape == (0,)


def test_the_padding_table_of_a_wrong_completion_with_steps_inserted_before_its_last():
    # 0.9 .7 .6 .5: the raw sum pays 0.9 a filler step, the minimum pays nothing, however many.
    def padded(m):
        return [0.9, 0.7, 0.6, *[0.9] * m, 0.5]

    sums = [returns_to_go(step_rewards(padded(m), name="raw_sum"))[0] for m in (0, 1, 5, 20)]
    assert sums == pytest.approx([2.7, 3.6, 7.2, 20.7])
    minima = [returns_to_go(step_rewards(padded(m), ceiling=1.0))[0] for m in (0, 1, 5, 20)]
    assert minima == pytest.approx([-0.5] * 4)


def test_a_missing_answer_sets_the_end_to_the_minimum_and_nothing_else():
    assert gate_final([1, 0.9, 0.8], is_answered=False) == pytest.approx([1, 0.9, 0])
    assert gate_final([1, 0.9, 0.8], is_answered=True) == pytest.approx([1, 0.9, 0.8])
    assert gate_final([0, -0.2], is_answered=False, minimum=-1.0) == pytest.approx([0, -1])
    assert gate_final([1], is_answered=False) == pytest.approx([1])


def test_float32_and_list_inputs_give_float64():
    assert potential(np.float32([0.5, 0.25])).dtype == np.float64
    assert potential(np.float32([0.5, 0.25])) == pytest.approx(potential([0.5, 0.25]))


@pytest.mark.parametrize("scores", [[1.2], [-0.1], [[0.5]]])
def test_impossible_scores_are_refused(scores):
    with pytest.raises(ValueError, match=r"outside 0\.\.1|one-dimensional"):
        potential(scores)


def test_settings_that_make_no_sense_are_refused_with_a_remedy():
    with pytest.raises(ConfigError, match="running_min"):
        potential([0.5], name="running_max")
    with pytest.raises(ConfigError, match="ceiling"):
        potential([0.5], ceiling=0.0)
    with pytest.raises(ValueError, match="outcome"):
        potential([0.5], name="grounded")
