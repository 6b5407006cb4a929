"""Statements of Structured Text -> lines of Python."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from labeling.simulators.controllers.st.errors import StructuredTextError, UnsupportedTextError
from labeling.simulators.controllers.st.expressions import (
    Scope,
    Typed,
    expression,
    is_assignable,
    line_of,
    member_of,
    name_of,
    rule_of,
)
from labeling.simulators.controllers.st.types import BLOCKS, is_integer, member_name, stored

MOST_NESTING = 15
"""Deeper programs are not compiled: Python itself takes twenty loops in one another at most."""


def statements(tree: Any, scope: Scope, depth: int = 0) -> list[str]:
    """Translate a statement list; an empty one becomes `pass`.

    Raises:
        StructuredTextError: A type does not fit, or a name is unknown.
        UnsupportedTextError: It uses what the subset leaves out.
    """
    if depth > MOST_NESTING:
        raise UnsupportedTextError(f"unsupported: more than {MOST_NESTING} levels of nesting", line_of(tree))
    lines: list[str] = []
    for child in tree.children if tree is not None else ():
        if child is not None:
            lines += _statement(child, scope, depth)
    return lines or ["pass"]


def _statement(tree: Any, scope: Scope, depth: int) -> list[str]:
    rule = rule_of(tree)
    if rule not in _STATEMENTS:
        raise UnsupportedTextError(f"unsupported: {rule.replace('_', ' ')}", line_of(tree))
    return _STATEMENTS[rule](tree, scope, depth)


def _indented(lines: list[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _boolean(tree: Any, scope: Scope, what: str) -> str:
    value = expression(tree, scope)
    if value.type != "BOOL":
        raise StructuredTextError(f"the condition of {what} is {value.type}, not BOOL", line_of(tree))
    return value.code


def target(tree: Any, scope: Scope) -> Typed:
    """Translate what stands on the left of an assignment.

    Raises:
        StructuredTextError: It is a constant, a function block, or an output of one.
    """
    if rule_of(tree) == "variable_name":
        name, line = name_of(tree), line_of(tree)
        found = scope.variable(name, line)
        if found.type in BLOCKS:
            raise StructuredTextError(f"{name} is a function block and gets no value", line)
        if name.lower() in scope.constants:
            raise StructuredTextError(f"{name} is a constant or an input and gets no value", line)
        return found
    found = member_of(tree, scope)
    block, member = (name_of(child) for child in tree.children)
    kind = scope.variable(block, line_of(tree)).type
    if member_name(kind, member) not in BLOCKS[kind].inputs:
        raise StructuredTextError(f"{block}.{member} is an output and gets no value", line_of(tree))
    return found


def assigned(to: Typed, value: Typed, line: int) -> str:
    """Write an assignment; integers wrap around at the range of the variable.

    Raises:
        StructuredTextError: The types do not fit.
    """
    if not is_assignable(to.type, value.type):
        raise StructuredTextError(f"a {value.type} is assigned to a {to.type}", line)
    code = f"float({value.code})" if to.type in ("REAL", "LREAL") else stored(to.type, value.code)
    return f"{to.code} = {code}"


def _assignment(tree: Any, scope: Scope, depth: int) -> list[str]:
    left, right = tree.children[0], tree.children[-1]
    return [assigned(target(left, scope), expression(right, scope), line_of(tree))]


def _call(tree: Any, scope: Scope, depth: int) -> list[str]:
    call = tree.children[0]
    name, line = name_of(call.children[0]), line_of(call)
    if name.lower() not in scope.types:
        raise UnsupportedTextError(f"unsupported: a call of {name}", line)
    instance = scope.variable(name, line)
    if instance.type not in BLOCKS:
        raise StructuredTextError(f"{name} is called and is no function block", line)
    before, after = [], []
    for argument in call.children[1:]:
        if argument is None:
            continue
        rule = rule_of(argument)
        if rule == "param_assignment":
            raise UnsupportedTextError("unsupported: a function block's inputs without names", line)
        member = name_of(argument.children[0])
        found = scope.member(name, member, line)
        is_input = member_name(instance.type, member) in BLOCKS[instance.type].inputs
        if is_input != (rule == "input_parameter_assignment"):
            raise StructuredTextError(f"{member} of a {instance.type} is on the wrong side", line)
        if is_input:
            before.append(assigned(found, expression(argument.children[-1], scope), line))
        else:
            after.append(assigned(target(argument.children[-1], scope), found, line))
    return [*before, f"{instance.code}.call()", *after]


def _if(tree: Any, scope: Scope, depth: int) -> list[str]:
    condition, body, *clauses = tree.children
    lines = [f"if {_boolean(condition, scope, 'IF')}:", *_indented(statements(body, scope, depth + 1))]
    for clause in clauses:
        if clause is None:
            continue
        if rule_of(clause) == "else_if_clause":
            head = f"elif {_boolean(clause.children[0], scope, 'ELSIF')}:"
        else:
            head = "else:"
        lines += [head, *_indented(statements(clause.children[-1], scope, depth + 1))]
    return lines


def _case(tree: Any, scope: Scope, depth: int) -> list[str]:
    selector, elements, otherwise = tree.children
    value = expression(selector, scope)
    if not is_integer(value.type):
        raise UnsupportedTextError(f"unsupported: CASE of a {value.type}", line_of(tree))
    chosen = f"chosen_{depth}"
    lines = [f"{chosen} = {value.code}"]
    for index, element in enumerate(elements.children):
        labels, body = element.children
        tests = " or ".join(f"{low} <= {chosen} <= {high}" for low, high in _labels(labels))
        lines += [f"{'elif' if index else 'if'} {tests}:", *_indented(statements(body, scope, depth + 1))]
    if otherwise is not None:
        lines += ["else:", *_indented(statements(otherwise.children[0], scope, depth + 1))]
    return lines


def _labels(tree: Any) -> Iterator[tuple[int, int]]:
    for element in tree.children:
        low, high = (int(str(c).replace("_", "")) if c is not None else None for c in element.children)
        yield low or 0, (low or 0) if high is None else high


def _for(tree: Any, scope: Scope, depth: int) -> list[str]:
    variable, *bounds, body = tree.children
    control, line = target(variable, scope), line_of(tree)
    if not is_integer(control.type):
        raise StructuredTextError(f"FOR counts with a {control.type}", line)
    start, stop, *step = (expression(bound, scope) for bound in bounds if bound is not None)
    by = step[0] if step else Typed("integer", "1")
    if not all(is_integer(bound.type) for bound in (start, stop, by)):
        raise StructuredTextError("the bounds of FOR are not integers", line)
    value = f"value_{depth}"
    inside = [f"{control.code} = {stored(control.type, value)}", *statements(body, scope, depth + 1)]
    counted = f"counting({start.code}, {stop.code}, {by.code})"
    return [f"for {value} in {counted}:", "    clock.turn()", *_indented(inside)]


def _while(tree: Any, scope: Scope, depth: int) -> list[str]:
    condition, body = tree.children
    head = f"while {_boolean(condition, scope, 'WHILE')} and clock.turn():"
    return [head, *_indented(statements(body, scope, depth + 1))]


def _repeat(tree: Any, scope: Scope, depth: int) -> list[str]:
    body, condition = tree.children
    # CONTINUE goes on to the condition, which therefore stands at the beginning of the next round.
    again = f"again_{depth}"
    test = f"if not {again} and {_boolean(condition, scope, 'UNTIL')}:"
    return [
        f"{again} = True",
        "while clock.turn():",
        f"    {test}",
        "        break",
        f"    {again} = False",
        *_indented(statements(body, scope, depth + 1)),
    ]


_STATEMENTS: Mapping[str, Callable[[Any, Scope, int], list[str]]] = {
    "assignment_statement": _assignment,
    "function_call_statement": _call,
    "if_statement": _if,
    "case_statement": _case,
    "for_statement": _for,
    "while_statement": _while,
    "repeat_statement": _repeat,
    "exit_statement": lambda tree, scope, depth: ["break"],
    "continue_statement": lambda tree, scope, depth: ["continue"],
    "return_statement": lambda tree, scope, depth: ["return"],
}
