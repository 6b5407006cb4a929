"""A simulator by name: the shipped world, or a user's own class."""

import types
from collections.abc import Callable, Mapping
from typing import Any

from labeling.errors import ConfigError, PluginError
from labeling.plugins import make_plugin
from labeling.records import Problem, meta_text
from labeling.simulators.base import Simulator

SIMULATOR_HELP = (
    "World that gives problems and grades them: engineering, engineering:short, engineering:deep, "
    "engineering:deep:8-12 (depths), structures, structures:easy (or medium, hard), structures:FAMILY, "
    "controllers, controllers:tank-level (one specification), controllers:tank-level:2 (of two sub-tasks), "
    "external:world.yaml, external:package.module:name or external:COMMAND (your own, in processes), "
    "or package.module:Factory."
)


def load_simulator(name: str) -> Simulator:
    """Return the simulator that `name` stands for; see SIMULATOR_HELP.

    Raises:
        ConfigError: The name, the part or the depths cannot be read, or the factory makes no simulator.
    """
    head, *rest = name.split(":")
    if head in SHIPPED:
        return SHIPPED[head](name, rest)
    return make_plugin(
        name,
        what=f"simulator {name!r}",
        members=("name", "problems", "verify", "truth", "grade"),
        remedy=SIMULATOR_HELP,
    )


def load_grading(name: str) -> Simulator:
    """Load a simulator whose `grade` is needed; one of a user's own may have none.

    Raises:
        ConfigError: See `load_simulator`; or it grades no answers.
    """
    simulator = load_simulator(name)
    getattr(simulator, "check_grades", lambda: None)()
    return simulator


def settings_behind(names: str) -> list[dict[str, Any]]:
    """Return what the settings of a user's own simulators say, which may change under the same name.

    Args:
        names: Names of verifiers or of a simulator, joined by commas.

    Raises:
        InputError: A file of settings cannot be read.
    """
    found = []
    for name in names.split(","):
        head, _, target = name.strip().removeprefix("simulator:").partition(":")
        if head == "external":
            from labeling.simulators.external.naming import settings_of

            settings = settings_of(target)
            found.append(
                {"command": list(settings.command), "seconds": settings.seconds, "retries": settings.retries}
            )
    return found


def checked_problems(problems: Any, *, simulator: str) -> list[Problem]:
    """Return what a simulator gave as problems, when they can be written and read back.

    Raises:
        PluginError: It is no list of problems with ids of their own, text, and JSON data as meta.
    """
    if not isinstance(problems, (list, tuple)):
        raise _no_problems(simulator, f"a {type(problems).__name__} and no list of problems")
    seen: set[str] = set()
    for index, problem in enumerate(problems):
        if not isinstance(problem, Problem):
            raise _no_problems(
                simulator, f"a {type(problem).__name__} where a Problem belongs (index {index})"
            )
        for name in ("id", "text", "answer"):
            value = getattr(problem, name)
            if not (isinstance(value, str) and value.strip()) and not (name == "answer" and value is None):
                raise _no_problems(simulator, f"a problem whose {name} is {value!r} (index {index})")
            if value is not None and any("\ud800" <= character <= "\udfff" for character in value):
                raise _no_problems(simulator, f"a problem whose {name} is no Unicode (index {index})")
        if problem.id in seen:
            raise _no_problems(simulator, f"two problems with the id {problem.id}")
        seen.add(problem.id)
        meta_text(problem)
    return list(problems)


def _no_problems(simulator: str, what: str) -> PluginError:
    return PluginError(f"simulator {simulator!r} returned {what}.", remedy="Mend its `problems`.")


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


def _controllers(name: str, rest: list[str]) -> Simulator:
    from labeling.simulators.controllers import ControllersWorld

    settings: dict[str, Any] = {}
    if rest and rest[0] != "all":
        settings["families"] = (rest[0],)
    try:
        if len(rest) == 2:
            settings["n_tasks"] = None if rest[1] == "any" else int(rest[1])
        elif len(rest) > 2:
            raise ValueError("too many parts")
    except ValueError as error:
        raise ConfigError(f"simulator {name!r} cannot be read: {error}.", remedy=SIMULATOR_HELP) from error
    return ControllersWorld(**settings)


def _structures(name: str, rest: list[str]) -> Simulator:
    from labeling.simulators.structures import StressLimits
    from labeling.simulators.structures.families.base import LEVELS

    if len(rest) > 1:
        raise ConfigError(f"simulator {name!r} cannot be read: too many parts.", remedy=SIMULATOR_HELP)
    if not rest:
        return StressLimits()
    return StressLimits(level=rest[0]) if rest[0] in LEVELS else StressLimits(families=(rest[0],))


def _external(name: str, rest: list[str]) -> Simulator:
    from labeling.simulators.external import load_external

    return load_external(":".join(rest))


SHIPPED: Mapping[str, Callable[[str, list[str]], Simulator]] = types.MappingProxyType(
    {
        "engineering": _engineering,
        "structures": _structures,
        "controllers": _controllers,
        "external": _external,
    }
)
"""Name -> what makes the simulator, from the whole name and the parts behind the first colon."""
