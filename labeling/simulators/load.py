"""A simulator by name: the shipped world, or a user's own class."""

from typing import Any

from labeling.errors import ConfigError
from labeling.plugins import make_plugin
from labeling.simulators.base import Simulator

SIMULATOR_HELP = (
    "World that gives problems and grades them: engineering, engineering:short, engineering:deep, "
    "engineering:deep:8-12 (depths), or package.module:Factory."
)


def load_simulator(name: str) -> Simulator:
    """Return the simulator that `name` stands for; see SIMULATOR_HELP.

    Raises:
        ConfigError: The name, the part or the depths cannot be read, or the factory makes no simulator.
    """
    head, *rest = name.split(":")
    if head == "engineering":
        return _engineering(name, rest)
    return make_plugin(
        name,
        what=f"simulator {name!r}",
        members=("name", "problems", "verify", "truth", "grade"),
        remedy=SIMULATOR_HELP,
    )


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
    return EngineeringWorld(**settings)
