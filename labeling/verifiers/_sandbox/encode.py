"""A value as JSON data in which only exact builtin types live; runs inside the sandbox, imports nothing.

The candidate shares the process with this code and may replace it: what comes out is the candidate's claim
and is checked by `plain.py` in the parent. Written in the part of Python that every engine knows.
"""

MAX_DEPTH = 100


def encode(value, depth=0):
    """Return JSON data for a value; raise TypeError or ValueError when it is no plain data."""
    if depth > MAX_DEPTH:
        raise ValueError("it is nested too deeply, or holds itself")
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        # A parser of JSON reads no int of more than 4,300 digits.
        return value if -(2**53) < value < 2**53 else {"int": hex(value)}
    if kind is float:
        return {"float": repr(value)}
    if kind is list:
        return [encode(item, depth + 1) for item in value]
    if kind is tuple:
        return {"tuple": [encode(item, depth + 1) for item in value]}
    if kind is set or kind is frozenset:
        return {kind.__name__: [encode(item, depth + 1) for item in value]}
    if kind is dict:
        pairs = value.items()
    elif kind.__name__ in ("Counter", "OrderedDict", "defaultdict") and isinstance(value, dict):
        # A class that only says so is read by dict's own method all the same.
        pairs = dict.items(value)
    elif kind is complex:
        return {"complex": [repr(value.real), repr(value.imag)]}
    elif kind is bytes:
        return {"bytes": value.hex()}
    else:
        raise TypeError("a value of the type " + kind.__name__ + " is in it")
    return {"dict": [[encode(key, depth + 1), encode(item, depth + 1)] for key, item in pairs]}
