"""What a user names as "package.module:Factory" -> the object that the factory makes."""

import importlib
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from labeling.errors import ConfigError


def make_plugin(target: str, *, what: str, members: Sequence[str], remedy: str) -> Any:
    """Import a factory, call it without arguments, and see that what it makes has the members.

    Args:
        target: "package.module:Factory".
        what: What is loaded, for messages: "verifier 'my.module:Mine'".
        members: Attributes that the object must have.
        remedy: What to write instead.

    Raises:
        ConfigError: The target has another form, the module or the factory is not there, or the object
            lacks a member.
    """
    module_name, colon, factory_name = target.partition(":")
    if not (module_name and colon and factory_name):
        raise ConfigError(f"there is no {what}.", remedy=remedy)
    factory = getattr(_module(module_name, what), factory_name, None)
    if not callable(factory):
        raise ConfigError(f"{what}: module {module_name} has no {factory_name} to call.", remedy=remedy)
    made = factory()
    missing = [name for name in members if not hasattr(made, name)]
    if missing:
        raise ConfigError(
            f"{what}: {factory_name} makes a {type(made).__name__}, which has no {', '.join(missing)}.",
            remedy=remedy,
        )
    return made


def _module(module_name: str, what: str) -> ModuleType:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        # A module that exists but misses a dependency of its own is another mistake: let it be seen.
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise ConfigError(
            f"{what}: there is no module {error.name}.",
            remedy="Give the module's full dotted name; it must be importable from here.",
        ) from error
