"""Names of verifiers, as written on the command line -> verifiers; each is imported when it is asked for."""

import difflib
import importlib
from typing import Any

from labeling.errors import ConfigError
from labeling.plugins import make_plugin
from labeling.verifiers.panel import Panel
from labeling.verifiers.verdict import Verifier

VERIFIERS = {
    "arithmetic": "labeling.verifiers.arithmetic:ArithmeticVerifier",
    "algebra": "labeling.verifiers.algebra:AlgebraVerifier",
    "answers": "labeling.verifiers.answers:AnswersVerifier",
    "code": "labeling.verifiers.code:CodeVerifier",
    "units": "labeling.verifiers.units:UnitsVerifier",
    "engineering": "labeling.simulators.engineering:EngineeringWorld",
    "controllers": "labeling.simulators.controllers:ControllersWorld",
    "structures": "labeling.simulators.structures:StressLimits",
}
"""Name -> "module:factory"; a factory takes no arguments and returns a verifier or simulator."""
ANSWERS = "answers"
"""The grader unless another one is named."""
SIMULATOR = "simulator:"
"""What stands before the name of a simulator that verifies: "simulator:structures:easy"."""


def load_panel(names: str) -> Panel | Verifier:
    """Load "arithmetic,answers" as a panel, and a single name as that verifier.

    Raises:
        ConfigError: No name is given, one is given twice, or one cannot be loaded.
    """
    listed = [name.strip() for name in names.split(",") if name.strip()]
    if not listed:
        raise ConfigError("no verifier is named.", remedy=_offer())
    repeated = sorted({name for name in listed if listed.count(name) > 1})
    if repeated:
        raise ConfigError(f"verifier {repeated[0]} is named twice.", remedy="Name each verifier once.")
    verifiers = [load_verifier(name) for name in listed]
    return verifiers[0] if len(verifiers) == 1 else Panel(verifiers)


def is_of_a_user(names: str) -> bool:
    """Whether one of the verifiers that are named is code of the user's own, which may end its process."""
    return any(":" in name and not _is_shipped_simulator(name) for name in map(str.strip, names.split(",")))


def _is_shipped_simulator(name: str) -> bool:
    simulators = importlib.import_module("labeling.simulators.load")
    return name.startswith(SIMULATOR) and name.removeprefix(SIMULATOR).split(":")[0] in simulators.SHIPPED


def load_verifier(name: str) -> Verifier:
    """Load one verifier: by its short name, as "simulator:NAME", or a user's own "package.module:Factory".

    Raises:
        ConfigError: The name is unknown, the module or factory is not there, or what the factory
            makes is no verifier.
        PluginError: A user's module cannot be imported, or the factory raised.
    """
    if name in VERIFIERS:
        module_name, _, factory_name = VERIFIERS[name].partition(":")
        return getattr(importlib.import_module(module_name), factory_name)()
    if name.startswith(SIMULATOR):
        # Simulators know of verdicts, so their loader is met only here.
        simulators = importlib.import_module("labeling.simulators.load")
        return simulators.load_simulator(name.removeprefix(SIMULATOR))
    near = difflib.get_close_matches(name, VERIFIERS, n=2, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}? " if near and ":" not in name else ""
    return make_plugin(
        name,
        what=f"verifier {name!r}",
        members=("name", "verify"),
        remedy=hint + _offer(),
    )


def load_grader(name: str) -> Any:
    """Load a verifier that grades whole solutions: it has `grade(problem, text) -> bool | None`.

    It says None for a text without an answer, and raises `NotGradedError` for what it cannot judge. One that
    also has `can_grade(problem) -> bool` spares the rollouts of problems that nobody could grade.

    Raises:
        ConfigError: There is no such verifier, or it does not grade.
        PluginError: See `load_verifier`.
    """
    verifier = load_verifier(name)
    if not hasattr(verifier, "grade"):
        raise ConfigError(
            f"verifier {name!r} judges steps and grades no answers.",
            remedy="Known graders are answers, code, and your own with a `grade(problem, text)`.",
        )
    return verifier


def _offer() -> str:
    known = ", ".join(VERIFIERS)
    return f"Known are {known}, simulator:NAME, and your own as package.module:Factory."
