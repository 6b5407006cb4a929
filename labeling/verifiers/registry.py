"""Names of verifiers, as written on the command line -> verifiers; each is imported when it is asked for."""

import difflib
import importlib

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
}
"""Name -> "module:factory"; a factory takes no arguments and returns a verifier or simulator."""


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


def load_verifier(name: str) -> Verifier:
    """Load one verifier by its short name, or a user's own as "package.module:Factory".

    Raises:
        ConfigError: The name is unknown, the module or factory is not there, or what the factory
            makes is no verifier.
        PluginError: A user's module cannot be imported, or the factory raised.
    """
    if name in VERIFIERS:
        module_name, _, factory_name = VERIFIERS[name].partition(":")
        return getattr(importlib.import_module(module_name), factory_name)()
    near = difflib.get_close_matches(name, VERIFIERS, n=2, cutoff=0.5)
    hint = f"Did you mean {' or '.join(near)}? " if near and ":" not in name else ""
    return make_plugin(
        name,
        what=f"verifier {name!r}",
        members=("name", "verify"),
        remedy=hint + _offer(),
    )


def _offer() -> str:
    return f"Known are {', '.join(VERIFIERS)}, and your own as package.module:Factory."
