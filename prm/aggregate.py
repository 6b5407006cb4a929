"""Step scores -> one solution score. Pure functions."""

import math
from collections.abc import Sequence

from labeling.errors import ConfigError
from labeling.records import CORRECTNESS, VALUE

RULES = ("min", "last", "product", "mean")
_RULE_OF = {CORRECTNESS: "min", VALUE: "last"}


def default_rule(semantics: str) -> str:
    """Return the rule that follows from what the labels mean.

    "correctness" (is this step right?) -> min: one wrong step spoils the solution.
    "value" (can the prefix still reach the answer?) -> last: the last prefix is the whole solution.

    Raises:
        ConfigError: The semantics is neither.
    """
    if semantics not in _RULE_OF:
        raise ConfigError(f"label semantics is {semantics!r}.", remedy=f"Use one of {', '.join(_RULE_OF)}.")
    return _RULE_OF[semantics]


def aggregate(scores: Sequence[float], rule: str) -> float | None:
    """Return the solution score in [0, 1], or None when there is no step or a step has no score (NaN).

    Product and mean depend on the number of steps, product favours short solutions; min and last do not.

    Raises:
        ConfigError: There is no such rule.
    """
    if rule not in RULES:
        raise ConfigError(f"there is no aggregation {rule!r}.", remedy=f"Use one of {', '.join(RULES)}.")
    if not scores or any(math.isnan(score) for score in scores):
        return None
    if rule == "min":
        return min(scores)
    if rule == "last":
        return scores[-1]
    return math.prod(scores) if rule == "product" else math.fsum(scores) / len(scores)
