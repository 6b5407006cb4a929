"""A simulator of the user's own by name: a settings file, a Python callable, or a command."""

import dataclasses
import os
import re
import shlex
from pathlib import Path
from typing import Any

import yaml

from labeling.errors import ConfigError, InputError
from labeling.simulators.external.world import ExternalSettings, ExternalWorld, python_command

HELP = (
    "After external: stands a settings file (world.yaml), a Python callable (package.module:name), "
    "or a command that speaks JSON lines (./world --fast)."
)
_PYTHON = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
_KNOWN = ("python", *(field.name for field in dataclasses.fields(ExternalSettings)))


def load_external(target: str) -> ExternalWorld:
    """Return the simulator behind "external:...".

    Raises:
        InputError: The name or the settings cannot be read, or it does not start.
    """
    return ExternalWorld(settings_of(target))


def settings_of(target: str) -> ExternalSettings:
    """Return the settings that what stands behind "external:" means.

    Raises:
        InputError: It cannot be read.
    """
    if re.fullmatch(r"\S+\.ya?ml", target):
        return _of_file(Path(target))
    command = python_command(target) if _PYTHON.fullmatch(target) else _split(target)
    if not command:
        raise ConfigError("there is no simulator behind external:.", remedy=HELP)
    return ExternalSettings(command=command)


def _split(command: Any) -> tuple[str, ...]:
    if not isinstance(command, str):
        raise ConfigError(f"the command of a simulator is {command!r}.", remedy=HELP)
    try:
        return tuple(shlex.split(command))
    except ValueError as error:
        raise ConfigError(f"the command {command!r} cannot be read ({error}).", remedy=HELP) from error


def _of_file(file: Path) -> ExternalSettings:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"it cannot be read ({error.strerror}).", remedy=HELP, file=file) from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ConfigError(f"it is no YAML ({error}).", remedy="Mend it.", file=file) from error
    if not isinstance(data, dict):
        raise ConfigError("it holds no settings.", remedy=f"Known are {', '.join(_KNOWN)}.", file=file)
    if unknown := sorted(str(name) for name in data if name not in _KNOWN):
        raise ConfigError(
            f"{unknown[0]!r} is no setting of a simulator.",
            remedy=f"Known are {', '.join(_KNOWN)}.",
            file=file,
        )
    if ("python" in data) == ("command" in data):
        raise ConfigError("it must hold either command or python.", remedy="Name one of them.", file=file)
    try:
        return ExternalSettings(**_settings(data, file))
    except ConfigError as error:
        raise ConfigError(error.reason, remedy=error.remedy, file=file) from error


def _settings(data: dict[str, Any], file: Path) -> dict[str, Any]:
    settings = dict(data)
    for name in ("python", "folder", "cache_file"):
        if name in settings and not (isinstance(settings[name], str) and settings[name]):
            raise ConfigError(f"{name} is {settings[name]!r}, which is no text.", remedy="Mend it.")
    if "python" in settings:
        settings["command"] = python_command(settings.pop("python"))
    elif isinstance(settings["command"], list):
        settings["command"] = tuple(settings["command"])
    else:
        settings["command"] = _split(settings["command"])
    # As in any file of settings: what it names lies beside it.
    settings["folder"] = os.fspath(file.parent / settings.get("folder", ""))
    if "cache_file" in settings:
        settings["cache_file"] = os.fspath(file.parent / settings["cache_file"])
    return settings
