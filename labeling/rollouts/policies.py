"""A policy by name: the shipped starter, or a folder."""

from importlib import resources
from pathlib import Path

STARTER = "starter"


def policy_folder(name_or_path: str) -> Path:
    """Return the folder of a policy; "starter" is the small one that ships with the toolkit."""
    if name_or_path == STARTER:
        return starter_folder()
    return Path(name_or_path)


def starter_folder() -> Path:
    """Return the folder of the shipped starter policy (a plain transformers checkpoint)."""
    return Path(str(resources.files("labeling.simulators.engineering") / "starter"))
