"""One seed, and a generator for every (purpose, record, step): order and workers change nothing."""

import hashlib

import numpy as np

KeyPart = str | int


def derive_seed(seed: int, *key: KeyPart) -> int:
    """Derive a seed in [0, 2**63) from a root seed and a key.

    Equal arguments give equal seeds on every machine; neighbouring root seeds share no stream, which
    `seed + i` would.

    Args:
        seed: The run's root seed, any integer.
        key: What the randomness is for, outermost first, e.g. ("rollout", solution_id, step).
    """
    text = "\x1f".join([str(seed), *(f"{type(part).__name__}:{part}" for part in key)])
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def generator(seed: int, *key: KeyPart) -> np.random.Generator:
    """Return a numpy generator for this key; see `derive_seed`."""
    return np.random.default_rng(derive_seed(seed, *key))
