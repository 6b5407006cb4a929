"""A recipe and a command line -> one config dataclass; unknown keys are answered with the nearest."""

import argparse
import ast
import dataclasses
import difflib
import inspect
import itertools
import math
import reprlib
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml
from transformers import HfArgumentParser
from transformers.hf_argparser import string_to_bool

from labeling.errors import ConfigError

Config = TypeVar("Config")


def read_recipe(path: str | Path) -> dict[str, Any]:
    """Read a YAML recipe into a flat mapping.

    Raises:
        ConfigError: The file does not exist, is not YAML, or is not a mapping.
    """
    file = Path(path)
    if not file.is_file():
        raise ConfigError("there is no such recipe.", remedy="Give the path of a YAML file.", file=file)
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        # PyYAML lets through what its own conversions raise, e.g. for the date 2001-99-99.
        raise ConfigError(f"this is not YAML: {error}.", remedy="Mend the recipe.", file=file) from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise ConfigError(
            f"a recipe is a mapping of settings, this is a {type(data).__name__}.",
            remedy="Write one `name: value` a line.",
            file=file,
        )
    return {str(key).replace("-", "_"): value for key, value in data.items()}


def check_keys(config_class: type, settings: dict[str, Any], *, file: str | Path | None = None) -> None:
    """Refuse settings that the config does not have, all at once, with the nearest valid names.

    Raises:
        ConfigError: At least one key is unknown.
    """
    known = [f.name for f in dataclasses.fields(config_class) if f.init]
    unknown = [key for key in settings if key not in known]
    if not unknown:
        return
    hints = []
    for key in unknown:
        near = difflib.get_close_matches(key, known, n=1)
        hints.append(f"{key} (did you mean {near[0]}?)" if near else key)
    raise ConfigError(
        f"{config_class.__name__} has no setting {', '.join(hints)}.",
        remedy=f"`--help` of the verb lists all {len(known)}.",
        file=file,
    )


def check_shapes(
    parser: argparse.ArgumentParser, settings: dict[str, Any], *, file: str | Path | None = None
) -> None:
    """Refuse a list where one value stands, and one value where a list stands.

    argparse converts and checks texts alone, so a recipe's other values are brought into its terms: a
    number becomes the text that a flag would give.

    Raises:
        ConfigError: A setting has the other shape.
    """
    for action in parser._actions:
        value = settings.get(action.dest)
        if value is None:
            if action.dest in settings and (action.required or action.default is not None):
                raise ConfigError(
                    f"{action.dest} is empty.", remedy="Give a value, or leave the line out.", file=file
                )
            continue
        is_list = action.nargs in ("*", "+")
        if is_list != isinstance(value, list) or isinstance(value, dict):
            raise ConfigError(
                f"{action.dest} is {reprlib.repr(value)}, {'no list' if is_list else 'not one value'}.",
                remedy=f"Write `{action.dest}: [a, b]`." if is_list else f"Write `{action.dest}: value`.",
                file=file,
            )
        if not is_list:
            settings[action.dest] = str(value)
        elif not all(isinstance(item, str) for item in value):
            raise ConfigError(
                f"{action.dest} holds something else than texts: {reprlib.repr(value)}.",
                remedy="Write the texts between quotes.",
                file=file,
            )


def field_docs(config_class: type) -> dict[str, str]:
    """Return the text under each field of our own config classes, for `--help`."""
    docs: dict[str, str] = {}
    for owner in reversed(config_class.__mro__):
        if owner.__module__.split(".")[0] not in ("labeling", "prm", "rl"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(owner))).body[0]
        assert isinstance(body, ast.ClassDef)
        for field, text in itertools.pairwise(body.body):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(text, ast.Expr)
                and isinstance(text.value, ast.Constant)
            ):
                # argparse reads % in help texts as a format.
                docs[field.target.id] = " ".join(str(text.value.value).split()).replace("%", "%%")
    return docs


class _HelpFormatter(argparse.ArgumentDefaultsHelpFormatter):
    """Show defaults where there is one to show."""

    def _get_help_string(self, action: argparse.Action) -> str | None:
        if action.required or action.default in (None, "", []):
            return action.help
        if isinstance(action.default, str) and action.default.isspace():
            return f"{action.help} (default: {action.default!r})"
        return super()._get_help_string(action)


def parse_config(config_class: type[Config], argv: Sequence[str], *, prog: str, description: str) -> Config:
    """Build a config from `--config recipe.yaml` and flags; flags win over the recipe.

    Raises:
        ConfigError: A recipe or a value cannot be used.
        SystemExit: argparse's own: code 0 for --help, 2 for a flag that it cannot read.
    """
    finder = argparse.ArgumentParser(prog=prog, add_help=False, allow_abbrev=False)
    finder.add_argument("--config")
    found, rest = finder.parse_known_args(list(argv))
    parser = HfArgumentParser(
        config_class,  # pyright: ignore[reportArgumentType]  # any dataclass is accepted
        prog=prog,
        description=description,
        allow_abbrev=False,
        formatter_class=_HelpFormatter,
    )
    for action in parser._actions:
        if action.type is string_to_bool and action.nargs is None:
            # A switch that may stay unset: its bare flag means true, as for every other switch.
            action.nargs, action.const = "?", True
    parser.add_argument("--config", metavar="RECIPE", help="YAML recipe; flags win over it.")
    if found.config is not None:
        settings = read_recipe(found.config)
        check_keys(config_class, settings, file=found.config)
        check_shapes(parser, settings, file=found.config)
        parser.set_defaults(**settings)
        for action in parser._actions:
            action.required = action.required and action.dest not in settings
    documented = field_docs(config_class)
    for action in parser._actions:
        action.help = action.help or documented.get(action.dest)
    values = vars(parser.parse_args(rest))
    values.pop("config", None)
    endless = [name for name, v in values.items() if isinstance(v, float) and not math.isfinite(v)]
    if endless:
        raise ConfigError(
            f"{', '.join(endless)}: not a finite number.", remedy="Change the recipe or the flag."
        )
    try:
        return config_class(**values)
    except ConfigError:
        raise
    except (TypeError, ValueError) as error:
        raise ConfigError(str(error), remedy="Change the recipe or the flag.", file=found.config) from error
