"""Names of verifiers, as written on the command line -> verifiers; each is imported when it is asked for."""

import difflib
import importlib
from types import ModuleType

from labeling.errors import ConfigError
from labeling.verifiers.panel import Panel
from labeling.verifiers.verdict import Verifier

VERIFIERS = {
    "arithmetic": "labeling.verifiers.arithmetic:ArithmeticVerifier",
    "answers": "labeling.verifiers.answers:AnswersVerifier",
    "engineering": "labeling.simulators.engineering:EngineeringWorld",
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
    """
    target = VERIFIERS.get(name, name)
    module_name, colon, factory_name = target.partition(":")
    if not (module_name and colon and factory_name):
        near = difflib.get_close_matches(name, VERIFIERS, n=2, cutoff=0.5)
        hint = f"Did you mean {' or '.join(near)}? " if near else ""
        raise ConfigError(f"there is no verifier {name!r}.", remedy=hint + _offer())
    factory = getattr(_module(module_name, name), factory_name, None)
    if factory is None:
        raise ConfigError(
            f"verifier {name!r}: module {module_name} has no {factory_name}.",
            remedy="Name a class or function that takes no arguments and returns a verifier.",
        )
    verifier = factory()
    if not (isinstance(getattr(verifier, "name", None), str) and callable(getattr(verifier, "verify", None))):
        raise ConfigError(
            f"verifier {name!r}: {factory_name} makes a {type(verifier).__name__}, which is no verifier.",
            remedy="A verifier has a name and verify(problem, solution); see labeling.verifiers.verdict.",
        )
    return verifier


def _module(module_name: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A module that exists but misses a dependency of its own is another mistake: let it be seen.
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ConfigError(
            f"verifier {name!r}: there is no module {error.name}.",
            remedy="Give the module's full dotted name; it must be importable from here.",
        ) from error


def _offer() -> str:
    return f"Known are {', '.join(VERIFIERS)}, and your own as package.module:Factory."
