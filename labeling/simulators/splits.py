"""Splits of generated problems: disjoint by text, whatever the seed."""

import hashlib
from collections.abc import Callable
from random import Random

from labeling.errors import ConfigError
from labeling.randomness import derive_seed
from labeling.records import Problem

SPLITS = ("train", "test")

_TEST_SHARE = 5
"""One text in five belongs to the test split."""


def split_of(text: str) -> str:
    """Return the split that a problem text belongs to, by its hash: one in five is "test"."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"split").digest()
    return "test" if int.from_bytes(digest, "big") % _TEST_SHARE == 0 else "train"


def distinct_problems(
    draw: Callable[[Random], Problem], count: int, *, world: str, split: str, seed: int, remedy: str
) -> list[Problem]:
    """Draw `count` problems of a split with distinct texts; a longer list begins with the shorter one.

    Args:
        draw: Makes one problem.
        count: How many.
        world: Name that the randomness is keyed by.
        split: One of SPLITS.
        seed: The problems follow from it.
        remedy: What to do when there are too few.

    Raises:
        ConfigError: The split does not exist, or `draw` makes too few problems.
    """
    if split not in SPLITS:
        raise ConfigError(f"there is no split {split!r}.", remedy=f"Use one of {', '.join(SPLITS)}.")
    found: dict[str, Problem] = {}
    most_attempts = 200 + 100 * count
    for attempt in range(most_attempts):
        if len(found) >= count:
            break
        problem = draw(Random(derive_seed(seed, world, split, attempt)))
        if split_of(problem.text) == split:
            found.setdefault(problem.text, problem)
    if len(found) < count:
        raise ConfigError(
            f"only {len(found)} of {count} distinct problems found in {most_attempts} attempts.",
            remedy=remedy,
        )
    return list(found.values())
