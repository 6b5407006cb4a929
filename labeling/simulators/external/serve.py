"""A Python callable as a program that speaks the lines.

    python -m labeling.simulators.external.serve TARGET

TARGET is "package.module:name". If `name` is a class, or an object with `verify`, its methods are asked:
`verify(problem, steps)`, and where it has them `grade(problem, text)` and `problems(count, split, seed)`.
Any other callable is `verify` itself. Its `name` and `version` are used where it has them.

A problem is a dict with id, text, answer and meta; what comes back is what `messages` reads.
"""

import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable
from typing import Any, BinaryIO

from labeling.plugins import described
from labeling.simulators.external.messages import HELLO, METHODS, VERIFY


def serve(target: str) -> int:
    """Answer the lines of standard input until it ends; return the exit code."""
    requests, replies = _own_pipes()
    try:
        methods, introduction = _methods(_found(target), target)
    except Exception as error:  # noqa: BLE001 - the border of a user's code: told to who asks first
        methods, introduction = {}, error
    for line in requests:
        replies.write(_reply(json.loads(line), methods, introduction) + b"\n")
        replies.flush()
    return 0


def _own_pipes() -> tuple[BinaryIO, BinaryIO]:
    """Return standard input and output for requests and replies alone.

    The user's code, and what it starts, reads nothing and prints to standard error.
    """
    requests, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    sys.stdout.flush()
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return requests, replies


def _reply(
    request: dict[str, Any], methods: dict[str, Callable[..., Any]], introduction: dict[str, Any] | Exception
) -> bytes:
    try:
        if isinstance(introduction, Exception):
            raise introduction
        is_hello = request["method"] == HELLO
        result = introduction if is_hello else methods[request["method"]](**_arguments(request))
        return json.dumps({"id": request["id"], "result": result}).encode()
    except Exception as error:  # noqa: BLE001 - the border of a user's code: any exception is theirs
        return json.dumps({"id": request["id"], "error": {"message": described(error)}}).encode()


def _arguments(request: dict[str, Any]) -> dict[str, Any]:
    params = request["params"]
    if request["method"] == VERIFY:
        return {"problem": params["problem"], "steps": params["steps"]}
    return params


def _found(target: str) -> Any:
    module_name, _, name = target.partition(":")
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


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python -m labeling.simulators.external.serve package.module:name")
    sys.exit(serve(sys.argv[1]))
