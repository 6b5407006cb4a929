"""Plain data on the parent's side: what a sandbox sent is read, checked, and compared without its objects."""

import hashlib
import json
import math
from collections.abc import Callable
from operator import itemgetter
from typing import Any

from labeling.verifiers._sandbox.encode import MAX_DEPTH, encode

MAX_HASHED = 4_096
"""Elements of sets and keys of dicts, texts aside, in one value: their hashes can be made to collide."""


class NotPlainError(ValueError):
    """What a sandbox sent is no plain data."""


def decode(data: Any) -> Any:
    """Turn JSON data of `encode` into the value.

    Raises:
        NotPlainError: It is something else, or nested too deeply.
    """
    return _Reader().read(data, 0)


def canonical(data: Any, *, is_json: bool = False, depth: int = 0) -> Any:
    """Return JSON data in which equal values, as Python compares them, look the same.

    True is 1 is 1.0; sets and dicts lose their order. Nothing is hashed by value that a sandbox sent, so that
    it cannot choose values whose hashes collide; elements of sets and keys become digests, so that the time
    is that of the data's size however they are nested. NaN equals NaN here: else no answer could ever be it.

    Args:
        data: What `encode` gives.
        is_json: Tuples are lists, as in expectations that were written in JSON.
        depth: Of this value in the whole.

    Raises:
        NotPlainError: It is something else, or nested too deeply.
    """
    if depth > MAX_DEPTH:
        raise NotPlainError("nested too deeply")
    if data is None or type(data) is str:
        return data
    if type(data) in (bool, int):
        return _canonical_number(int(data))

    def inner(item: Any) -> Any:
        return canonical(item, is_json=is_json, depth=depth + 1)

    if type(data) is list:
        return ["list", *map(inner, data)]
    name, body = _tagged(data)
    if name in ("list", "tuple"):
        return ["list" if is_json else name, *map(inner, body)]
    if name in ("set", "frozenset"):
        return ["set", *sorted({_digest(inner(item)) for item in body})]
    if name == "dict":
        pairs = [(_digest(inner(key)), inner(item)) for key, item in map(_pair, body)]
        return [name, *(part for pair in sorted(pairs, key=itemgetter(0)) for part in pair)]
    number = _SCALARS[name](body)
    return [name, body] if name == "bytes" else _canonical_number(number)


def same(left: Any, right: Any, *, is_json: bool = False, tolerance: float = 0.0) -> bool:
    """Tell whether two pieces of JSON data of `encode` are equal values.

    Args:
        left: What the sandbox sent.
        right: What is expected.
        is_json: See `canonical`.
        tolerance: Relative and absolute room for floats, >= 0; within sets and keys there is none.

    Raises:
        NotPlainError: `left` is no such data.
    """
    try:
        found, expected = canonical(left, is_json=is_json), canonical(right, is_json=is_json)
        return found == expected or (tolerance > 0 and _is_close(found, expected, tolerance))
    except RecursionError as error:
        raise NotPlainError("nested too deeply") from error


def parse(text: str | bytes) -> Any:
    """Read the JSON of a sandbox.

    Raises:
        NotPlainError: It is none, nested without end, or holds a number that `encode` never writes.
    """
    try:
        return json.loads(text, parse_float=_refuse, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise NotPlainError("no JSON of the sandbox") from error


def encode_trusted(value: Any) -> Any:
    """Encode a value of ours, such as an expectation.

    Raises:
        NotPlainError: It is no plain data.
    """
    try:
        return encode(value)
    except (TypeError, ValueError) as error:
        raise NotPlainError(str(error)) from error


class _Reader:
    def __init__(self) -> None:
        self._n_hashed = 0

    def read(self, data: Any, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise NotPlainError("nested too deeply")
        if data is None or type(data) in (bool, int, str):
            return data
        if type(data) is list:
            return [self.read(item, depth + 1) for item in data]
        name, body = _tagged(data)
        if name in _COLLECTIONS:
            items = [self.read(item, depth + 1) for item in body]
            return _COLLECTIONS[name](items if name == "tuple" else self._hashable(items))
        if name == "dict":
            pairs = [_pair(item) for item in body]
            keys = self._hashable([self.read(key, depth + 1) for key, _ in pairs])
            return dict(zip(keys, (self.read(item, depth + 1) for _, item in pairs), strict=True))
        return _SCALARS[name](body)

    def _hashable(self, items: list[Any]) -> list[Any]:
        self._n_hashed += sum(type(item) is not str for item in items)
        if self._n_hashed > MAX_HASHED:
            raise NotPlainError("too many elements of sets and keys")
        try:
            for item in items:
                hash(item)
        except TypeError as error:
            raise NotPlainError("an element of a set, or a key, that has no hash") from error
        return items


def _tagged(data: Any) -> tuple[str, Any]:
    if type(data) is not dict or len(data) != 1:
        raise NotPlainError("an object that is no tagged value")
    ((name, body),) = data.items()
    if name == "dict" or name in _COLLECTIONS:
        if type(body) is not list:
            raise NotPlainError(f"a {name} without a list")
    elif name not in _SCALARS:
        raise NotPlainError(f"the unknown tag {name[:40]}")
    return name, body


def _pair(item: Any) -> list[Any]:
    if type(item) is not list or len(item) != 2:
        raise NotPlainError("an entry of a dict that is no pair")
    return item


def _float(body: Any) -> float:
    if type(body) is not str or len(body) > 40:
        raise NotPlainError("a float that is no text")
    try:
        return float(body)
    except ValueError as error:
        raise NotPlainError("a float that cannot be read") from error


def _int(body: Any) -> int:
    if type(body) is not str:
        raise NotPlainError("an int that is no text")
    try:
        return int(body, 16)
    except ValueError as error:
        raise NotPlainError("an int that cannot be read") from error


def _complex(body: Any) -> complex:
    return complex(*map(_float, _pair(body)))


def _bytes(body: Any) -> bytes:
    if type(body) is not str:
        raise NotPlainError("bytes that are no text")
    try:
        return bytes.fromhex(body)
    except ValueError as error:
        raise NotPlainError("bytes that cannot be read") from error


_COLLECTIONS = {"tuple": tuple, "set": set, "frozenset": frozenset}
_SCALARS: dict[str, Callable[[Any], Any]] = {
    "int": _int,
    "float": _float,
    "complex": _complex,
    "bytes": _bytes,
}


def _canonical_number(number: complex) -> Any:
    if isinstance(number, complex):
        if number.imag == 0:
            return _canonical_number(number.real)
        return ["complex", _canonical_number(number.real), _canonical_number(number.imag)]
    if isinstance(number, float) and not number.is_integer():
        return ["float", repr(number)]
    # Hexadecimal: linear in the digits, and no limit to their number.
    return ["int", hex(int(number))]


def _digest(item: Any) -> str:
    return hashlib.sha256(json.dumps(item).encode()).hexdigest()


def _is_close(left: Any, right: Any, tolerance: float) -> bool:
    if type(left) is not list or type(right) is not list or not left or not right:
        return left == right
    if left[0] in ("int", "float") and right[0] in ("int", "float"):
        return math.isclose(_value(left), _value(right), rel_tol=tolerance, abs_tol=tolerance)
    return (
        len(left) == len(right)
        and left[0] == right[0]
        and all(_is_close(a, b, tolerance) for a, b in zip(left[1:], right[1:], strict=True))
    )


def _value(number: list[Any]) -> float:
    try:
        return float(int(number[1], 16)) if number[0] == "int" else float(number[1])
    except OverflowError:
        return math.inf if not number[1].startswith("-") else -math.inf


def _refuse(text: str) -> Any:
    raise NotPlainError(f"the bare number {text[:40]}")
