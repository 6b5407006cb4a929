"""The protocol of a sampler: prefixes in, continuations out."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class Prefix:
    """A problem and the solution text so far (ending in its step separator, or empty)."""

    problem: str
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class Rollout:
    """One continuation of a prefix."""

    text: str
    """What was sampled, without the prefix and without end-of-text tokens.

    Behind an empty prefix it is led by the thinking tag that the prompt ends in, where it does: a grader
    must see that the text begins with thinking."""
    tokens: int
    """Tokens sampled, the end-of-text token included."""
    is_cut: bool
    """True when the token limit stopped it: it did not end by itself."""


class Sampler(Protocol):
    """Continues prefixes. Equal keys give equal texts, whatever the order or the batch."""

    def extend(
        self, prefixes: Sequence[Prefix], n: int, *, max_tokens: int, keys: Sequence[str]
    ) -> list[list[Rollout]]:
        """Return `n` continuations of each prefix, in order.

        Args:
            prefixes: What to continue.
            n: Continuations a prefix, at least 1.
            max_tokens: Limit of new tokens for each continuation.
            keys: One a prefix; with the sampler's seed it determines the randomness.
        """
        ...
