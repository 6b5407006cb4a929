"""Splits of generated problems: disjoint by text, whatever the seed."""

import hashlib

SPLITS = ("train", "test")

_TEST_SHARE = 5
"""One text in five belongs to the test split."""


def split_of(text: str) -> str:
    """Return the split that a problem text belongs to, by its hash: one in five is "test"."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"split").digest()
    return "test" if int.from_bytes(digest, "big") % _TEST_SHARE == 0 else "train"
