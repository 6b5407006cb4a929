"""Which estimator a run uses: names and numbers, checked to fit together."""

from dataclasses import dataclass

from labeling.errors import ConfigError
from rl.step_rewards import POTENTIALS

OUTCOME_BASELINES = ("loo", "group", "group_std")
BASELINES = ("counterfactual_suffix", "index_loo", "index_loo_alive", "trajectory_loo", "none", "hazard")
CREDITS = ("return_to_go", "immediate")
EQUAL_TOLERANCE = 1e-6
"""Spread below which outcomes, potentials or costs count as equal; above float32 rounding of 0..1."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """Which estimator: names and numbers only. Invariant: the names exist and fit together.

    Raises:
        ConfigError: An unknown name, or names that do not fit together.
    """

    outcome_baseline: str = "loo"
    """One of `OUTCOME_BASELINES`."""
    process_weight: float = 0.3
    """alpha, in units of outcome reward; 0 leaves the step scores unread."""
    potential: str = "running_min"
    """One of `rl.step_rewards.POTENTIALS`; `hazard` reads verdicts instead."""
    ceiling: float = 0.8
    """Score from which a step counts as fully right (`running_min`)."""
    baseline: str = "counterfactual_suffix"
    """One of `BASELINES`."""
    credit: str = "return_to_go"
    """One of `CREDITS`: a step answers for all that follows, or for its own reward alone."""
    process_clip: float | None = 1.0
    """Bound on |A^proc|; None leaves it unbounded."""
    process_tolerance: float = 0.02
    """Process advantages are exactly 0 where all of the group's lie within this."""
    degenerate_weight_all_wrong: float = 1.0
    """Factor on alpha where all outcomes are equal and below 0.5. Only 1 is exact: the factor depends on the
    completion itself."""
    degenerate_weight_all_right: float = 1.0
    """The same where all outcomes are equal and at least 0.5."""
    wrong_below: float = 0.5
    """Score below which a step is wrong (`hazard`)."""
    prior_weight: float = 4.0
    """How many peers the batch rate counts for (`hazard`)."""

    def __post_init__(self) -> None:
        check_name("outcome_baseline", self.outcome_baseline, OUTCOME_BASELINES)
        check_name("potential", self.potential, POTENTIALS)
        check_name("baseline", self.baseline, BASELINES)
        check_name("credit", self.credit, CREDITS)
        if self.baseline == "counterfactual_suffix" and self.potential != "running_min":
            raise ConfigError(
                f"the baseline counterfactual_suffix asks how a running minimum falls, not {self.potential}.",
                remedy="Use potential running_min or baseline index_loo.",
            )
        if self.baseline == "hazard" and self.credit != "immediate":
            raise ConfigError(
                "the baseline hazard has immediate credit only.", remedy="Set credit immediate."
            )
        if self.baseline == "trajectory_loo" and self.credit != "return_to_go":
            raise ConfigError(
                "the baseline trajectory_loo compares whole returns.", remedy="Set credit return_to_go."
            )


def check_name(field: str, value: str, known: tuple[str, ...]) -> None:
    """Raise ConfigError, naming the field and the choices, when the value is none of them."""
    if value not in known:
        raise ConfigError(
            f"{field} is {value!r}, which is unknown.", remedy=f"Choose one of {', '.join(known)}."
        )


METHODS: dict[str, Method] = {
    "grpo": Method(outcome_baseline="group_std", process_weight=0.0),
    "dr_grpo": Method(outcome_baseline="group", process_weight=0.0),
    "rloo": Method(process_weight=0.0),
    "step_grpo": Method(),
    "step_hazard": Method(baseline="hazard", credit="immediate", process_weight=1.0),
    "raw_sum": Method(
        potential="raw_sum",
        baseline="trajectory_loo",
        process_weight=1.0,
        process_clip=None,
        process_tolerance=EQUAL_TOLERANCE,
    ),
}
"""`step_grpo` is the default; `step_hazard` is for exact step verdicts; `raw_sum` (the sum of step scores as
a reward, each completion against the mean of the others) is what people write first, and pays for padding."""
