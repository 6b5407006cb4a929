"""A Structured Text program -> the text of a Python module with `step(inputs, state)`."""

import functools
import inspect
from collections.abc import Mapping
from typing import Any

from labeling.simulators.controllers.st import runtime
from labeling.simulators.controllers.st.errors import StructuredTextError, UnsupportedTextError
from labeling.simulators.controllers.st.expressions import Scope, expression, line_of, name_of, rule_of
from labeling.simulators.controllers.st.grammar import parse
from labeling.simulators.controllers.st.statements import assigned, statements
from labeling.simulators.controllers.st.types import BLOCKS, default_of

_SECTIONS = ("input_declarations", "output_declarations", "var_declarations")


def compile_program(
    text: str, *, inputs: Mapping[str, str], outputs: Mapping[str, str], cycle_ms: int
) -> str:
    """Compile a program of the documented subset.

    Inputs and outputs need not be declared; where they are, it may be in any section, with the type given
    here or another integer type.

    Args:
        text: The program.
        inputs: Name -> type of what the controller reads.
        outputs: Name -> type of what it sets. They keep their value from cycle to cycle.
        cycle_ms: Length of a cycle; the clock of the timers advances by it before every cycle but the first.

    Returns:
        The text of a Python module without imports.

    Raises:
        StructuredTextError: The text is no program: syntax, types or names are wrong.
        UnsupportedTextError: It uses what the subset leaves out.
        MissingExtraError: The grammar is not installed.
    """
    tree = parse(text)
    scope = Scope()
    initial: list[str] = []
    _declare(tree, scope, initial)
    for name, kind in (*inputs.items(), *outputs.items()):
        _tie(scope, initial, name, kind)
    scope.constants |= {name.lower() for name in inputs}
    body = next((child for child in tree.children if _is_body(child)), None)
    lines = statements(body, scope)
    return _module(initial, lines, inputs, outputs, cycle_ms)


def _is_body(tree: Any) -> bool:
    return hasattr(tree, "data") and rule_of(tree) == "statement_list"


def _declare(tree: Any, scope: Scope, initial: list[str]) -> None:
    for section in _sections(tree):
        is_constant = False
        for item in _items(section):
            if rule_of(item) == "variable_attributes":
                is_constant = any(str(token).upper() == "CONSTANT" for token in item.children)
                continue
            names = [child.children[0] for child in item.children if rule_of(child) == "var1"]
            _declare_names(names, item.children[-1], scope, initial, is_constant=is_constant)


def _sections(tree: Any) -> list[Any]:
    return [section for section in tree.iter_subtrees_topdown() if rule_of(section) in _SECTIONS]


def _items(section: Any) -> list[Any]:
    items: list[Any] = []
    for child in section.children:
        if child is not None and rule_of(child) in ("var_body", "var_init_decl", "variable_attributes"):
            items += child.children if rule_of(child) == "var_body" else [child]
    return items


def _declare_names(
    names: list[Any], spec: Any, scope: Scope, initial: list[str], *, is_constant: bool
) -> None:
    kind, value = str(spec.children[0]).upper(), spec.children[1]
    line = line_of(spec)
    for tree in names:
        name = name_of(tree)
        scope.declare(name, kind, line)
        variable = scope.variable(name, line)
        if kind in BLOCKS:
            if value is not None:
                raise UnsupportedTextError("unsupported: initial values of a function block", line)
            initial.append(f"{variable.code} = {kind}(clock)")
        elif value is None:
            initial.append(f"{variable.code} = {default_of(kind)}")
        else:
            initial.append(assigned(variable, expression(value, scope), line))
        if is_constant:
            scope.constants.add(name.lower())


def _tie(scope: Scope, initial: list[str], name: str, kind: str) -> None:
    declared = scope.types.get(name.lower())
    if declared is None:
        scope.declare(name, kind, 1)
        initial.append(f"v[{name.lower()!r}] = {default_of(kind)}")
    elif (
        (declared == "BOOL") != (kind == "BOOL")
        or declared in BLOCKS
        or declared in ("TIME", "REAL", "LREAL")
    ):
        raise StructuredTextError(f"{name} is declared as {declared}; the problem says {kind}")


def _module(
    initial: list[str],
    lines: list[str],
    inputs: Mapping[str, str],
    outputs: Mapping[str, str],
    cycle_ms: int,
) -> str:
    read = [f"v[{name.lower()!r}] = inputs[{name!r}]" for name in inputs]
    returned = ", ".join(f"{name!r}: v[{name.lower()!r}]" for name in outputs)
    parts = [
        _runtime_text(),
        "def _begin(v, clock):",
        *(f"    {line}" for line in initial or ["pass"]),
        "def _scan(v, clock):",
        *(f"    {line}" for line in lines),
        "def step(inputs, state):",
        "    if not state:",
        "        state['v'], state['clock'] = {}, Clock()",
        "        _begin(state['v'], state['clock'])",
        "    else:",
        f"        state['clock'].now += {cycle_ms}",
        "    v, clock = state['v'], state['clock']",
        "    clock.iterations = 0",
        *(f"    {line}" for line in read),
        "    _scan(v, clock)",
        f"    return {{{returned}}}",
        "",
    ]
    return "\n".join(parts)


@functools.cache
def _runtime_text() -> str:
    return inspect.getsource(runtime)
