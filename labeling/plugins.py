"""What a user names as "package.module:Factory" -> the object that the factory makes.

What such code raises, when it is imported, made or called, is the user's to mend: it becomes a
`PluginError` that says where, never a fault of the toolkit.
"""

import importlib
import traceback
from collections.abc import Sequence
from pathlib import Path
from types import MethodType
from typing import Any

from labeling.errors import ConfigError, PluginError, Terminated, ToolkitError


def make_plugin(target: str, *, what: str, members: Sequence[str], remedy: str) -> Any:
    """Import a factory, call it without arguments, and see that what it makes has the members.

    Args:
        target: "package.module:Factory".
        what: What is loaded, for messages: "verifier 'my.module:Mine'".
        members: Attributes that the object must have, `name` among them.
        remedy: What to write instead.

    Returns:
        The object, in a wrapper that turns what its methods and properties raise into `PluginError`.
            Its name is asked for once, so it cannot change on the way.

    Raises:
        ConfigError: The target has another form, the module or the factory is not there, or the object
            lacks a member, or its name is no text.
        PluginError: The module cannot be imported, or the factory raised.
    """
    module_name, colon, factory_name = target.partition(":")
    if not (module_name and colon and factory_name):
        raise ConfigError(f"there is no {what}.", remedy=remedy)
    factory = getattr(_module(module_name, what), factory_name, None)
    if not callable(factory):
        raise ConfigError(f"{what}: module {module_name} has no {factory_name} to call.", remedy=remedy)
    made = _call(factory, (), {}, what)
    guarded = _Guarded(made, what)
    missing = [name for name in members if not hasattr(guarded, name)]
    if missing:
        raise ConfigError(
            f"{what}: {factory_name} makes a {type(made).__name__}, which has no {', '.join(missing)}.",
            remedy=remedy,
        )
    guarded.name = _checked_name(guarded.name, what)
    return guarded


class _Guarded:
    """Has the members of another object; what raises in it names the plugin, the record and the line."""

    name: str

    def __init__(self, plugin: Any, what: str) -> None:
        self._plugin = plugin
        self._what = what

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            # Copying and pickling ask for these before `_plugin` is there.
            raise AttributeError(name)
        try:
            member = getattr(self._plugin, name)
        except (AttributeError, *_PASSING):
            raise
        except BaseException as error:  # a property of the user's is their code, too
            raise PluginError(
                f"{self._what}: its {name} raised {described(error)}.", remedy=_REMEDY
            ) from error
        if not callable(member):
            return member
        # Bound to the wrapper, as a method is to its object: whoever holds only the method finds the rest.
        return MethodType(lambda guard, *given, **named: _call(member, given, named, guard._what), self)


def _checked_name(name: Any, what: str) -> str:
    """Return the name, which goes into every row as who says so."""
    # Half a surrogate pair cannot be written.
    if isinstance(name, str) and name.strip() and not any("\ud800" <= c <= "\udfff" for c in name):
        return name
    raise ConfigError(f"{what}: its name is {name!r}, which is no text.", remedy="Give it a short name.")


def _call(function: Any, given: Sequence[Any], named: dict[str, Any], what: str) -> Any:
    try:
        return function(*given, **named)
    except _PASSING:
        raise
    except BaseException as error:  # the border of a user's code: any exception is theirs, sys.exit too
        # The last argument that has an id is the most specific one: of a problem and a solution, the latter.
        ids = [value.id for value in (*given, *named.values()) if isinstance(getattr(value, "id", None), str)]
        raise PluginError(
            f"{what} raised {described(error)}.", remedy=_REMEDY, record_id=ids[-1] if ids else None
        ) from error


_REMEDY = "Mend it and run the same command again."
_PASSING = (KeyboardInterrupt, Terminated, ToolkitError)
"""What goes through a user's code as it is: the order to end, and what the toolkit itself says."""


def _module(module_name: str, what: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except _PASSING:
        raise
    except BaseException as error:  # importing runs a user's code
        # A module that exists but misses a dependency of its own is another mistake.
        if (
            isinstance(error, ModuleNotFoundError)
            and error.name is not None
            and f"{module_name}.".startswith(f"{error.name}.")
        ):
            raise ConfigError(
                f"{what}: there is no module {error.name}.",
                remedy="Give the module's full dotted name; it must be importable from here.",
            ) from error
        raise PluginError(
            f"{what}: module {module_name} cannot be imported: {described(error)}.", remedy=_REMEDY
        ) from error


def described(error: BaseException) -> str:
    """Return kind, message and innermost place of an exception, in one line."""
    text = "; ".join(str(error).splitlines())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    # A SyntaxError carries its place in its message.
    if isinstance(error, SyntaxError) or not (frames := traceback.extract_tb(error.__traceback__)):
        return said
    return f"{said} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"
