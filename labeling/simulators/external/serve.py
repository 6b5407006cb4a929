"""A Python callable as a program that speaks the lines.

    python -m labeling.simulators.external.serve TARGET

TARGET is "package.module:name". Is `name` a class, or an object with `verify`, then its methods are asked:
`verify(problem, steps)`, and where it has them `grade(problem, text)` and `problems(count, split, seed)`.
Any other callable is `verify` itself. Its `name` and `version` are used where it has them.

A problem is a dict with id, text, answer and meta; what comes back is what `messages` reads.
"""

import importlib
import inspect
import json
import os
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from labeling.simulators.external.messages import HELLO, METHODS, VERIFY


def serve(target: str) -> int:
    """Answer the lines of standard input until it ends; return the exit code."""
    replies = _only_replies()
    try:
        methods, introduction = _methods(_found(target), target)
    except Exception as error:  # noqa: BLE001 - the border of a user's code: told to who asks first
        methods, introduction = {}, error
    for line in sys.stdin.buffer:
        request = json.loads(line)
        reply = _reply(request, methods, introduction)
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()
    return 0


def _only_replies() -> BinaryIO:
    """Return standard output for replies alone; what else is printed there goes to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    sys.stdout.flush()
    os.dup2(2, 1)
    return replies


def _reply(
    request: dict[str, Any], methods: dict[str, Callable[..., Any]], introduction: dict[str, Any] | Exception
) -> dict[str, Any]:
    try:
        if isinstance(introduction, Exception):
            raise introduction
        if request["method"] == HELLO:
            return {"id": request["id"], "result": introduction}
        result = methods[request["method"]](**_arguments(request))
        json.dumps(result)
    except Exception as error:  # noqa: BLE001 - the border of a user's code: any exception is theirs
        return {"id": request["id"], "error": {"message": _described(error)}}
    return {"id": request["id"], "result": result}


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    if request["method"] == VERIFY:
        return {"problem": params["problem"], "steps": params["steps"]}
    return params


def _found(target: str) -> Any:
    module_name, _, name = target.partition(":")
    # As `python program.py` does; the modules of the user's own lie there.
    if "" not in sys.path:
        sys.path.insert(0, "")
    found: Any = importlib.import_module(module_name)
    for part in name.split("."):
        found = getattr(found, part)
    return found() if inspect.isclass(found) else found


def _methods(world: Any, target: str) -> tuple[dict[str, Callable[..., Any]], dict[str, Any]]:
    if hasattr(world, VERIFY):
        methods = {name: getattr(world, name) for name in METHODS if hasattr(world, name)}
    elif callable(world):
        methods = {VERIFY: world}
    else:
        raise TypeError(f"{target} is a {type(world).__name__}, which can neither be called nor has verify")
    name = getattr(world, "name", None) or target.partition(":")[2]
    version = getattr(world, "version", "")
    return methods, {"name": name, "version": version, "methods": sorted(methods)}


def _described(error: Exception) -> str:
    text = "; ".join(str(error).splitlines())
    said = f"{type(error).__name__}: {text}" if text else type(error).__name__
    frames = traceback.extract_tb(error.__traceback__)
    if isinstance(error, SyntaxError) or not frames:
        return said
    return f"{said} ({Path(frames[-1].filename).name}, line {frames[-1].lineno})"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m labeling.simulators.external.serve package.module:name")
    sys.exit(serve(sys.argv[1]))
