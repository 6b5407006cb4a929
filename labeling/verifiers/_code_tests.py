"""Tests of code, read from a problem: calls with results, programs with input and output, assertions.

Read from `Problem.meta`: our own `tests`, and the columns of HumanEval (`test`, `entry_point`), MBPP
(`test_list`, `test_setup_code`) and APPS (`input_output`).
"""

import ast
import builtins
import json
import symtable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from labeling.errors import RecordError
from labeling.records import Problem
from labeling.verifiers._sandbox.plain import NotPlainError, encode_trusted

_FORMS = (
    'Each of `tests` is {"call": "f(2)", "expected": 4}, {"stdin": "2", "stdout": "4"} or {"assert": "..."}.'
)


@dataclass(frozen=True)
class CallTest:
    """An expression in the candidate's module and the value that it must have."""

    text: str
    expected: Any
    """JSON data of `encode`."""
    is_json: bool = False
    """The expectation was written in JSON: a tuple counts as a list."""
    tolerance: float = 0.0
    """Room for floats, relative and absolute."""
    is_direct: bool = True
    """A call of the candidate; of anything around one its own objects must not decide."""
    may_be_wrapped: bool = False
    """A list of one, with the value in it, is meant too (APPS)."""


@dataclass(frozen=True)
class ProgramTest:
    """A text on standard input and what the script must write."""

    stdin: str
    stdout: str

    @property
    def text(self) -> str:
        """What is told of it."""
        return f"stdin {self.stdin[:80]!r}"


@dataclass(frozen=True)
class ScriptTest:
    """Statements that raise when the candidate is wrong; they run apart from it."""

    text: str
    code: str
    names: tuple[str, ...]
    """Functions that they take from the candidate."""


Test = CallTest | ProgramTest | ScriptTest


def read_tests(problem: Problem) -> list[Test]:
    """Return the tests of a problem, [] when it has none.

    Raises:
        RecordError: They cannot be read; the message names the test.
    """
    meta = problem.meta
    try:
        found = [_own(item) for item in _list(meta.get("tests", []), "tests")]
        found += _unittest(meta["unittest"]) if meta.get("unittest") else []
        found += _mbpp(meta) if meta.get("test_list") else []
        found += _human_eval(meta, problem.text) if isinstance(meta.get("test"), str) else []
        found += _apps(meta["input_output"]) if meta.get("input_output") else []
    except (SyntaxError, TypeError, ValueError, RecursionError) as error:
        reason = getattr(error, "reason", str(error))
        raise RecordError(f"a test cannot be read ({reason})", remedy=_FORMS, record_id=problem.id) from error
    return found


BUILTINS = frozenset(dir(builtins))


def names_in(code: str, *, aside: frozenset[str] = BUILTINS) -> tuple[str, ...]:
    """Return the names that code takes from elsewhere, those in `aside` left out, in order of the alphabet.

    Raises:
        SyntaxError: It is no Python.
    """
    taken: set[str] = set()
    own: set[str] = set()
    tables = [symtable.symtable(code, "test", "exec")]
    while tables:
        table = tables.pop()
        tables += table.get_children()
        for symbol in table.get_symbols():
            is_global = table.get_type() == "module" or symbol.is_global()
            if is_global and (symbol.is_assigned() or symbol.is_imported()):
                own.add(symbol.get_name())
            elif is_global and symbol.is_referenced():
                taken.add(symbol.get_name())
    return tuple(sorted(taken - own - aside))


def defined_in(code: str) -> set[str]:
    """Return the names that code defines at its top level; none when it is no Python."""
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    names: set[str] = set()
    for node in body:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {
                name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return names


def _own(item: Any) -> Test:
    if isinstance(item, str):
        return _assertion(item, setup="")
    if not isinstance(item, Mapping):
        raise ValueError(f"{json.dumps(item)[:80]} is no object")
    if isinstance(item.get("assert"), str):
        return _assertion(item["assert"], setup=str(item.get("setup", "")))
    if isinstance(item.get("stdin"), str) and isinstance(item.get("stdout"), str):
        return ProgramTest(item["stdin"], item["stdout"])
    if isinstance(item.get("call"), str) and "expected" in item:
        expression = ast.parse(item["call"].strip(), mode="eval").body
        tolerance = item.get("tolerance", 0.0)
        if isinstance(tolerance, bool) or not isinstance(tolerance, (int, float)) or tolerance < 0:
            raise ValueError(f"the tolerance {tolerance!r} is no number of at least 0")
        return CallTest(
            item["call"],
            _encoded(item["expected"]),
            is_json=True,
            tolerance=float(tolerance),
            is_direct=_is_direct(expression),
        )
    raise ValueError(f"{json.dumps(item)[:80]} is none of the forms")


def _assertion(code: str, *, setup: str) -> Test:
    """Take `assert f(1) == 2` apart into a call and its value; run anything else as it stands."""
    tree = ast.parse(code.strip())
    found = _call_and_value(tree.body[0]) if len(tree.body) == 1 and not setup.strip() else None
    if found is not None:
        return CallTest(ast.unparse(found[0]), _encoded(found[1]))
    whole = f"{setup}\n{code}"
    return ScriptTest(code.strip(), whole, names_in(whole))


def _call_and_value(statement: ast.stmt) -> tuple[ast.Call, Any] | None:
    if not isinstance(statement, ast.Assert) or not isinstance(statement.test, ast.Compare):
        return None
    compared = statement.test
    if len(compared.ops) != 1 or not isinstance(compared.ops[0], ast.Eq):
        return None
    call = compared.left
    if not (isinstance(call, ast.Call) and _is_direct(call)):
        return None
    try:
        return call, ast.literal_eval(compared.comparators[0])
    except (ValueError, TypeError, SyntaxError):
        return None


def _is_direct(expression: ast.expr) -> bool:
    """Tell whether it is a call of the candidate, or of a method of what such a call returned.

    Of anything around the call, such as `len(f(1))`, the candidate's own objects would decide; a function
    with the name of a builtin must be seen to be the candidate's.
    """
    if isinstance(expression, ast.Name):
        return expression.id not in BUILTINS
    if isinstance(expression, ast.Attribute):
        return isinstance(expression.value, ast.Call) and _is_direct(expression.value)
    # Arguments may be anything: who spoils what it is given does not come to the right value by that.
    return (
        isinstance(expression, ast.Call)
        and isinstance(expression.func, (ast.Name, ast.Attribute))
        and _is_direct(expression.func)
    )


def _unittest(code: Any) -> list[Test]:
    if not isinstance(code, str):
        raise TypeError("unittest is no text")
    tests: list[Test] = []
    names = names_in(code)
    for node in ast.parse(code).body:
        if not isinstance(node, ast.ClassDef):
            continue
        for item in node.body:
            is_function = isinstance(item, (ast.FunctionDef, ast.AsyncFunctionDef))
            if is_function and item.name.startswith("test"):
                run = _UNITTEST_RUN.format(case=node.name, method=item.name)
                tests.append(ScriptTest(f"{node.name}.{item.name}", code + run, names))
    if not tests:
        raise ValueError("unittest holds no method test... of a class")
    return tests


_UNITTEST_RUN = """
import unittest as _unittest
_result = _unittest.TestResult()
_unittest.TestSuite([{case}({method!r})]).run(_result)
for _, _text in [*_result.failures, *_result.errors]:
    raise AssertionError(_text[-400:])
if _result.unexpectedSuccesses:
    raise AssertionError("it was expected to fail, and passed")
"""
"""A suite, since that also sets the class up; what is skipped asks nothing."""


def _mbpp(meta: Mapping[str, Any]) -> list[Test]:
    setup = meta.get("test_setup_code") or ""
    return [
        _assertion(_string(item, "test_list"), setup=setup) for item in _list(meta["test_list"], "test_list")
    ]


def _human_eval(meta: Mapping[str, Any], beginning: str) -> list[Test]:
    """Take a `check(candidate)` of plain assertions apart; keep any other whole."""
    code, entry = meta["test"], meta.get("entry_point")
    if not isinstance(entry, str) or not entry.isidentifier():
        raise ValueError("test needs entry_point, the name of the function")
    tree = ast.parse(code)
    checks = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "check"]
    if len(checks) != 1 or len(checks[0].args.args) != 1:
        raise ValueError("test holds no function check(candidate)")
    check = checks[0]
    parameter = check.args.args[0].arg
    helpers = _helpers(beginning, but=entry, called_in=code)
    if helpers or not all(isinstance(node, ast.Assert) or _is_constant(node) for node in check.body):
        whole = f"{helpers}\n{code}\ncheck({entry})\n"
        return [ScriptTest(f"check({entry})", whole, names_in(whole))]
    setup = "\n".join(ast.unparse(node) for node in tree.body if node is not check)
    return [
        _assertion(ast.unparse(_Renamed(parameter, entry).visit(node)), setup=_needed(setup))
        for node in check.body
        if isinstance(node, ast.Assert)
    ]


def _is_constant(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _helpers(beginning: str, *, but: str, called_in: str) -> str:
    """Return what the problem's own code defines for its tests: it must not come from the candidate."""
    try:
        body = ast.parse(beginning).body
    except (SyntaxError, ValueError):
        return ""
    kept = [n for n in body if not (isinstance(n, ast.FunctionDef) and n.name == but)]
    own = {n.name for n in kept if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    return "\n".join(map(ast.unparse, kept)) if own & set(names_in(called_in)) else ""


def _needed(setup: str) -> str:
    """Drop assignments such as METADATA, which no assertion reads when they are all there is."""
    body = ast.parse(setup).body
    return (
        ""
        if all(isinstance(n, ast.Assign) and ast.unparse(n.targets[0]) == "METADATA" for n in body)
        else setup
    )


class _Renamed(ast.NodeTransformer):
    def __init__(self, old: str, new: str) -> None:
        self._old, self._new = old, new

    def visit_Name(self, node: ast.Name) -> ast.Name:
        return ast.copy_location(ast.Name(self._new if node.id == self._old else node.id, node.ctx), node)


def _apps(value: Any) -> list[Test]:
    body = json.loads(value) if isinstance(value, str) else value
    if not isinstance(body, Mapping):
        raise TypeError("input_output is no object")
    inputs, outputs = _list(body.get("inputs"), "inputs"), _list(body.get("outputs"), "outputs")
    if len(inputs) != len(outputs):
        raise ValueError(f"{len(inputs)} inputs but {len(outputs)} outputs")
    name = body.get("fn_name")
    if name is None:
        return [
            ProgramTest(_lines(given), _lines(wanted)) for given, wanted in zip(inputs, outputs, strict=True)
        ]
    if not isinstance(name, str) or not name.isidentifier():
        raise ValueError(f"fn_name {name!r} is no name")
    return [
        CallTest(
            f"{name}({', '.join(map(repr, _list(args, 'inputs')))})",
            _encoded(_single(wanted)),
            is_json=True,
            may_be_wrapped=_single(wanted) is not wanted,
        )
        for args, wanted in zip(inputs, outputs, strict=True)
    ]


def _lines(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else _string(value, "input_output")


def _single(wanted: Any) -> Any:
    """Return the value of a function's output, which APPS wraps in a list of one."""
    return wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted


def _list(value: Any, name: str) -> Sequence[Any]:
    if not isinstance(value, list):
        raise TypeError(f"{name} is {type(value).__name__}, not a list")
    return value


def _string(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} holds {type(value).__name__} where text belongs")
    return value


def _encoded(value: Any) -> Any:
    try:
        return encode_trusted(value)
    except NotPlainError as error:
        raise ValueError(f"an expected value is no plain data: {error}") from error
