"""Bias and variance of the estimators, by listing every trajectory of a toy.

The table: `python -m pytest tests/rl/test_enumeration.py -k table -s`.
"""

from functools import cache
from itertools import product

import numpy as np
import pytest
from step_toy import (
    STOP,
    Moments,
    last_action_toy,
    moments,
    over_one_peer,
    over_two_peers,
    progress_toy,
    with_peers,
)

from rl.baselines import counterfactual_suffix, index_loo, no_baseline, trajectory_loo
from rl.hazard import HazardCounts, hazard_advantages, risk_path
from rl.step_rewards import clipped_levels, potential, returns_to_go

SCORES = {"good": 0.9, "bad": 0.3, "pad": 0.8, STOP: np.nan}
PROGRESS = {"good": 0.97, "bad": 0.4, "pad": 1.0, STOP: 1.0}
TOY = last_action_toy()
PROBABILITIES = np.array([t.probability for t in TOY.trajectories])


def scores(t):
    return [SCORES[action] for action in t.actions]


@cache
def phi(t, form):
    if form == "progress":
        return np.cumprod([1.0, *[PROGRESS[action] for action in t.actions]])
    return potential(scores(t), name=form, ceiling=1.0)


@cache
def levels(t):
    return clipped_levels(scores(t), ceiling=1.0)


@cache
def returns(t, form):
    return returns_to_go(np.diff(phi(t, form)))


def of_returns(function, form):
    return lambda own, peers: function([returns(t, form) for t in (own, *peers)])[0]


def suffix(own, peers):
    group = (own, *peers)
    return counterfactual_suffix([phi(t, "running_min") for t in group], [levels(t) for t in group])[0]


def alive_conditional(form):
    """The alive baseline does not read the own returns, so it is enumerated once, on a stand-in of 0s."""
    baseline, second = over_two_peers(
        TOY,
        lambda own, peers: index_loo([np.zeros(4), *(returns(t, form) for t in peers)], is_alive_only=True)[
            0
        ],
        key=lambda t: t,
    )(TOY.trajectories[0])

    def conditional(own):
        k = len(own.actions)
        first = returns(own, form) + baseline[:k]
        spread = second[:k, :k] - np.outer(baseline[:k], baseline[:k])
        return first, np.outer(first, first) + spread

    return conditional


def group_mean_with_self(form):
    """Biased: the completion is part of its own baseline, so the baseline depends on the action."""
    padded, is_alive = np.zeros((121, 4)), np.zeros((121, 4))
    for row, t in enumerate(TOY.trajectories):
        padded[row, : len(t.actions)], is_alive[row, : len(t.actions)] = returns(t, form), 1
    chances = np.outer(PROBABILITIES, PROBABILITIES)
    n_members = 1 + is_alive[:, None] + is_alive[None]
    others = np.einsum("ab,abk->k", chances, (padded[:, None] + padded[None]) / n_members)
    own_share = np.einsum("ab,abk->k", chances, 1 / n_members)

    def conditional(own):
        k = len(own.actions)
        first = returns(own, form) * (1 - own_share[:k]) - others[:k]
        return first, np.full((k, k), np.nan)  # its variance is small because it is shrunk: not compared

    return conditional


def relative_position(form):
    """Biased: k/K_i knows how long the completion is going to be."""

    def estimator(own, peers):
        middles = (np.arange(len(own.actions)) + 0.5) / len(own.actions)
        return returns(own, form) - np.mean(
            [returns(t, form)[(middles * len(t.actions)).astype(int)] for t in peers], axis=0
        )

    return with_peers(over_one_peer(TOY, estimator), 2)


def per_step_centring(form):
    """Biased: a constant taken from every reward adds up to a charge per remaining step."""

    def estimator(own, peers):
        centre = np.mean([mean_reward(t, form) for t in peers])
        return returns_to_go(np.diff(phi(own, form)) - centre)

    return with_peers(over_one_peer(TOY, estimator), 2)


@cache
def mean_reward(t, form):
    n_written = sum(action != STOP for action in t.actions)
    return (phi(t, form)[-1] - phi(t, form)[0]) / max(n_written, 1)


ONE_BY_ONE = {
    "none": lambda form: of_returns(no_baseline, form),
    "LOO index, absorbing": lambda form: of_returns(index_loo, form),
    "counterfactual suffix": lambda form: suffix,
    "trajectory LOO": lambda form: of_returns(trajectory_loo, form),
}
OTHERS = {
    "LOO index, alive": alive_conditional,
    "group mean, self included": group_mean_with_self,
    "LOO at relative position": relative_position,
    "per-step centring": per_step_centring,
}
FORMS = ("raw_sum", "running_min", "progress")
UNBIASED = (*ONE_BY_ONE, "LOO index, alive")


def is_defined(name, form):
    return name != "counterfactual suffix" or form == "running_min"


@cache
def truth(form):
    return TOY.gradient(lambda t: phi(t, form)[-1] - phi(t, form)[0])


@cache
def enumerate_estimator(name: str, form: str, n_peers: int = 2) -> Moments:
    if name in OTHERS:
        return moments(TOY, OTHERS[name](form))
    return moments(TOY, with_peers(one_peer(name, form), n_peers))


@cache
def one_peer(name: str, form: str):
    first_alike = {}
    representative = {t: first_alike.setdefault(tuple(phi(t, form)), t) for t in TOY.trajectories}
    conditional = cache(over_one_peer(TOY, ONE_BY_ONE[name](form)))
    return lambda own: conditional(representative[own])


def test_the_toy_has_the_published_size_success_rate_and_length():
    assert len(TOY.trajectories) == 121
    assert TOY.expectation(lambda t: 1.0) == pytest.approx(1)
    is_success = lambda t: t.actions.count("good") >= 2 and "bad" not in t.actions  # noqa: E731
    assert TOY.expectation(is_success) == pytest.approx(0.104, abs=5e-4)
    assert TOY.expectation(lambda t: sum(a != STOP for a in t.actions)) == pytest.approx(2.41, abs=5e-3)


@pytest.mark.parametrize(("name", "form"), [pair for pair in product(UNBIASED, FORMS) if is_defined(*pair)])
def test_a_baseline_from_the_other_completions_is_unbiased(name, form):
    assert enumerate_estimator(name, form).bias(truth(form)) < 1e-13


@pytest.mark.parametrize(
    ("name", "variance"),
    [
        ("none", 0.256),
        ("LOO index, absorbing", 0.170),
        ("LOO index, alive", 0.183),
        ("counterfactual suffix", 0.154),
        ("trajectory LOO", 0.253),
        ("per-step centring", 0.403),
    ],
)
def test_variances_of_the_running_minimum_match_the_table(name, variance):
    assert enumerate_estimator(name, "running_min").variance == pytest.approx(variance, abs=5e-4)


@pytest.mark.parametrize(
    ("name", "form", "bias", "cosine"),
    [
        ("group mean, self included", "running_min", 0.045, 0.997),
        ("group mean, self included", "raw_sum", 0.172, 0.997),
        ("group mean, self included", "progress", 0.059, 0.996),
        ("LOO at relative position", "running_min", 0.040, 0.944),
        ("LOO at relative position", "raw_sum", 0.159, 0.967),
        ("LOO at relative position", "progress", 0.038, 0.970),
        ("per-step centring", "running_min", 0.071, 0.803),
        ("per-step centring", "raw_sum", 0.227, 0.897),
        ("per-step centring", "progress", 0.058, 0.925),
    ],
)
def test_the_forbidden_baselines_are_biased_by_the_published_amounts(name, form, bias, cosine):
    found = enumerate_estimator(name, form)
    assert found.bias(truth(form)) == pytest.approx(bias, abs=6e-4)
    assert found.cosine(truth(form)) == pytest.approx(cosine, abs=6e-4)


@pytest.mark.parametrize(
    ("name", "variances"),
    [
        ("trajectory LOO", (0.348, 0.221, 0.185, 0.171)),
        ("LOO index, absorbing", (0.228, 0.151, 0.129, 0.121)),
        ("counterfactual suffix", (0.207, 0.136, 0.116, 0.108)),
    ],
)
def test_variance_falls_with_group_size_as_published(name, variances):
    found = [enumerate_estimator(name, "running_min", n_peers=G - 1).variance for G in (2, 4, 8, 16)]
    assert found == pytest.approx(list(variances), abs=6e-4)


@pytest.mark.parametrize("name", ["LOO index, absorbing", "counterfactual suffix", "trajectory LOO"])
def test_a_group_of_three_is_the_mean_of_its_pairs(name):
    # The shortcut that the enumeration takes for these estimators, checked on the library itself.
    estimator = ONE_BY_ONE[name]("running_min")
    rng = np.random.default_rng(0)
    for _ in range(200):
        own, a, b = (TOY.trajectories[i] for i in rng.integers(121, size=3))
        pairs = (estimator(own, [a]) + estimator(own, [b])) / 2
        assert estimator(own, [a, b]) == pytest.approx(pairs, abs=1e-12)


def test_the_alive_baseline_does_not_read_the_own_returns():
    # The shortcut of its enumeration, checked on the library itself.
    rng = np.random.default_rng(1)
    for _ in range(200):
        own, a, b = (returns(TOY.trajectories[i], "raw_sum") for i in rng.integers(121, size=3))
        stand_in = index_loo([np.zeros(4), a, b], is_alive_only=True)[0]
        assert index_loo([own, a, b], is_alive_only=True)[0] == pytest.approx(
            own + stand_in[: own.size], abs=1e-12
        )


def test_the_table_is_printed_and_stands_so_in_the_documentation(repository):
    lines = ["baseline | raw sum: bias, cos | running-min: bias, cos, var | progress: bias, cos"]
    for name in (*ONE_BY_ONE, *OTHERS):
        cells = [name]
        for form in FORMS:
            if not is_defined(name, form):
                cells.append("-")
                continue
            found = enumerate_estimator(name, form)
            is_compared = form == "running_min" and np.isfinite(found.variance)
            variance = f" {found.variance:.3f}" if is_compared else ""
            cells.append(f"{found.bias(truth(form)):.3f} {found.cosine(truth(form)):.3f}{variance}")
        lines.append(" | ".join(cells))
    print("\n" + "\n".join(lines))
    # The page sets biased baselines in italics, and says of one what it is for.
    page = (repository / "docs" / "step-rewards.md").read_text(encoding="utf-8")
    page = page.replace("*", "").replace("per-step centring, then accumulating", "per-step centring")
    assert [line for line in lines[1:] if f"| {line} |" not in page] == []


# The hazard form. Verdicts of the progress toy: "wrong" is wrong, "filler" is filler.


def path(t):
    is_filler = [action in ("filler", "pad", STOP) for action in t.actions]
    return risk_path(np.array([float(action not in ("wrong", "bad")) for action in t.actions]), is_filler)


def true_rates(toy):
    """Per state m: expected number of steps at risk, and the probability that such a step is wrong."""
    at_risk, wrong = np.zeros(toy.max_steps + 1), np.zeros(toy.max_steps + 1)
    for t in toy.trajectories:
        own = path(t)
        np.add.at(at_risk, own.state[own.is_at_risk], t.probability)
        np.add.at(wrong, own.state[own.is_first_wrong], t.probability)
    return at_risk, wrong / np.where(at_risk > 0, at_risk, 1)


def hazard_with_known_rates(toy):
    """The library's estimator with a batch so large that H(m) is the true rate."""
    n_batch = 1e12
    _, rates = true_rates(toy)
    batch = HazardCounts(n_at_risk=np.full(rates.size, n_batch), n_wrong=rates * n_batch)
    peer = path(max(toy.trajectories, key=lambda t: t.probability))
    mean = 0.0
    for t in toy.trajectories:
        advantage = hazard_advantages([path(t), peer], batch=batch, prior_weight=n_batch)[0]
        mean = mean + t.probability * (advantage @ t.score_functions)
    return mean


def rate_gradient(toy, state, rate):
    """Gradient of p_wrong / (p_wrong + p_right) in the logits of one state."""
    sign = {"wrong": 1.0, "right": -1.0}
    return np.array([(s == state) * sign.get(a, 0.0) * rate * (1 - rate) for s, a in toy.parameters])


def test_hazard_form_lowers_each_rate_with_the_visits_held_fixed():
    toy = progress_toy((0.3, 0.2, 0.45), filler_logit=-0.4, max_steps=6)
    visits, rates = true_rates(toy)
    expected = -sum(visits[m] * rate_gradient(toy, s, rates[m]) for m, s in enumerate(toy.logits))
    found = hazard_with_known_rates(toy)
    assert found == pytest.approx(expected, abs=1e-9)
    assert np.abs(found).max() > 0.02


def test_hazard_form_pushes_filler_neither_up_nor_down_when_the_risk_depends_on_progress_alone():
    toy = progress_toy((0.3, 0.2, 0.45), filler_logit=-0.4, max_steps=6)
    found = hazard_with_known_rates(toy)
    is_filler = np.array([action == "filler" for _, action in toy.parameters])
    assert np.abs(found[is_filler]).max() < 1e-9


def test_hazard_form_is_the_survival_gradient_without_the_survival_of_the_rest():
    risks = np.array([0.3, 0.2, 0.45])
    toy = progress_toy(risks, max_steps=3)
    survival_gradient = toy.gradient(lambda t: float("wrong" not in t.actions))
    found = hazard_with_known_rates(toy)
    for m, state in enumerate(toy.logits):
        mine = np.array([s == state for s, _ in toy.parameters])
        assert found[mine] * np.prod(1 - risks[m + 1 :]) == pytest.approx(survival_gradient[mine], abs=1e-9)


def test_hazard_form_is_the_gradient_of_no_function():
    # Of a gradient field the derivatives would be symmetric: dF(late)/d early = dF(early)/d late.
    def field(early, late):
        found = hazard_with_known_rates(progress_toy((early, late), max_steps=2))
        return found[1], found[3]  # components of the two "wrong" logits

    logit = lambda p: np.log(p / (1 - p))  # noqa: E731
    risk = lambda x: 1 / (1 + np.exp(-x))  # noqa: E731
    eps = 1e-4
    d_late = field(risk(logit(0.3) + eps), 0.4)[1] - field(risk(logit(0.3) - eps), 0.4)[1]
    d_early = field(0.3, risk(logit(0.4) + eps))[0] - field(0.3, risk(logit(0.4) - eps))[0]
    assert d_early / (2 * eps) == pytest.approx(0, abs=1e-6)
    assert d_late / (2 * eps) == pytest.approx(0.3 * 0.7 * 0.4 * 0.6, rel=1e-3)


def test_hazard_form_with_three_completions_stays_close_to_the_field_it_estimates():
    toy = progress_toy((0.3, 0.2, 0.45), filler_logit=-0.4, max_steps=4)
    estimator = lambda own, peers: hazard_advantages([path(t) for t in (own, *peers)])[0]  # noqa: E731
    counts_of = lambda t: (tuple(path(t).counts().n_at_risk), tuple(path(t).counts().n_wrong))  # noqa: E731
    found = moments(toy, over_two_peers(toy, estimator, counts_of))
    target = hazard_with_known_rates(toy)
    # Not exact: where no other completion reached m, H(m) is the rate over all states.
    assert 0.001 < found.bias(target) < 0.04
    assert found.cosine(target) > 0.99


def test_hazard_form_moves_filler_a_little_where_the_risk_depends_on_more_than_progress():
    found = hazard_with_known_rates(TOY)
    survival = TOY.gradient(lambda t: float("bad" not in t.actions))
    push = {pair: (f, s) for pair, f, s in zip(TOY.parameters, found, survival, strict=True)}
    # Plain "no wrong step" pays for stalling and stopping; the hazard form hardly does.
    assert push["start", "pad"] == pytest.approx((-0.0018, 0.0304), abs=1e-4)
    assert push["pad", "pad"] == pytest.approx((0.0027, 0.0158), abs=1e-4)
    assert push["start", STOP] == pytest.approx((-0.0006, 0.0513), abs=1e-4)
    assert push["start", "bad"] == pytest.approx((-0.1579, -0.1349), abs=1e-4)
