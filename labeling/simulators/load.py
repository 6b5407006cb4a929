"""A simulator by name: the shipped world, or a user's own class."""

import importlib
from typing import Any

from labeling.errors import ConfigError
from labeling.simulators.base import Simulator

SIMULATOR_HELP = (
    "World that gives problems and grades them: engineering, engineering:short, engineering:deep, "
    "engineering:deep:8-12 (depths), or package.module:Factory."
)

PARTS = ("all", "short", "deep")


def load_simulator(name: str) -> Simulator:
    """Return the simulator that `name` stands for; see SIMULATOR_HELP.

    Raises:
        ConfigError: The name, the part or the depths cannot be read, or the class cannot be imported.
    """
    head, *rest = name.split(":")
    if head == "engineering":
        return _engineering(name, rest)
    if len(rest) != 1:
        raise ConfigError(f"there is no simulator {name!r}.", remedy=SIMULATOR_HELP)
    try:
        factory = getattr(importlib.import_module(head), rest[0])
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"simulator {name!r} cannot be imported: {error}.", remedy=SIMULATOR_HELP
        ) from error
    return factory()


def _engineering(name: str, rest: list[str]) -> Simulator:
    from labeling.simulators.engineering import EngineeringWorld

    part = rest[0] if rest else "all"
    settings: dict[str, Any] = {"part": part}
    try:
        if len(rest) == 2:
            low, _, high = rest[1].partition("-")
            settings["depths"] = (int(low), int(high or low))
        elif len(rest) > 2:
            raise ValueError("too many parts")
    except ValueError as error:
        raise ConfigError(f"simulator {name!r} cannot be read: {error}.", remedy=SIMULATOR_HELP) from error
    if part not in PARTS:
        raise ConfigError(f"the world has no part {part!r}.", remedy=SIMULATOR_HELP)
    return EngineeringWorld(**settings)
