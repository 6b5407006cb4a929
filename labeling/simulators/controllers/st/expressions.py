"""Expressions of Structured Text -> typed Python."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from labeling.simulators.controllers.st.errors import StructuredTextError, UnsupportedTextError
from labeling.simulators.controllers.st.types import (
    ANY_INTEGER,
    BLOCKS,
    ELEMENTARY,
    REALS,
    integer_literal,
    is_integer,
    is_number,
    member_name,
    stored,
    time_literal,
)

MOST_OPERANDS = 50
"""Longer chains are not translated: Python reads at most 200 parentheses in one another."""


@dataclass(frozen=True)
class Typed:
    """A piece of Python and the type of its value."""

    type: str
    code: str


class Scope:
    """The variables of a program: their types, and how Python reaches them.

    Names are not case-sensitive. In Python a variable is `v["name"]`.
    """

    def __init__(self) -> None:
        self.types: dict[str, str] = {}
        self.constants: set[str] = set()

    def declare(self, name: str, type_name: str, line: int) -> None:
        """Add a variable.

        Raises:
            StructuredTextError: There is one of this name.
            UnsupportedTextError: The type is not of the subset.
        """
        if type_name not in ELEMENTARY and type_name not in BLOCKS:
            raise UnsupportedTextError(f"unsupported: type {type_name}", line)
        if name.lower() in self.types:
            raise StructuredTextError(f"{name} is declared twice", line)
        self.types[name.lower()] = type_name

    def variable(self, name: str, line: int) -> Typed:
        """Look a variable up.

        Raises:
            StructuredTextError: There is none.
        """
        if name.lower() not in self.types:
            raise StructuredTextError(f"{name} is not declared", line)
        return Typed(self.types[name.lower()], f"v[{name.lower()!r}]")

    def member(self, block: str, name: str, line: int) -> Typed:
        """Look up a member of a function block.

        Raises:
            StructuredTextError: The variable is no function block, or has no such member.
        """
        instance = self.variable(block, line)
        if instance.type not in BLOCKS:
            raise StructuredTextError(f"{block} is no function block and has no member {name}", line)
        member = member_name(instance.type, name)
        kind = BLOCKS[instance.type].members().get(member)
        if kind is None:
            raise StructuredTextError(f"a {instance.type} has no member {name}", line)
        return Typed(kind, f"{instance.code}.{member}")


def line_of(tree: Any) -> int:
    """Return the line of a piece of the tree."""
    return int(getattr(getattr(tree, "meta", tree), "line", 1))


def rule_of(tree: Any) -> str:
    """Return the name of a tree's rule without the mark of its import."""
    return str(tree.data).removeprefix("iec__")


def is_assignable(target: str, source: str) -> bool:
    """Tell whether a value may be stored: equal types, any integers, or an integer as REAL."""
    if target in REALS:
        return is_number(source)
    return target == source or (is_integer(target) and is_integer(source))


def expression(tree: Any, scope: Scope) -> Typed:
    """Translate an expression.

    Raises:
        StructuredTextError: Its types do not fit, or a name is unknown.
        UnsupportedTextError: It is outside the subset.
    """
    rule = rule_of(tree)
    if rule in _CHAINS:
        return _chain(tree, scope, rule)
    if rule == "unary_expression":
        return _unary(tree, scope)
    if rule in _LEAVES:
        return _LEAVES[rule](tree, scope)
    if rule in ("expression", "primary_expression", "parenthesized_expression"):
        return expression(tree.children[0], scope)
    raise UnsupportedTextError(f"unsupported: {rule.replace('_', ' ')}", line_of(tree))


def _chain(tree: Any, scope: Scope, rule: str) -> Typed:
    # The tree lists operands, with the operators between them: left to right.
    children = tree.children
    if len(children) > 2 * MOST_OPERANDS:
        raise UnsupportedTextError(f"unsupported: more than {MOST_OPERANDS} operands in a row", line_of(tree))
    result = expression(children[0], scope)
    for index in range(1, len(children), 2):
        operator = str(children[index]).upper()
        right = expression(children[index + 1], scope)
        result = _CHAINS[rule](result, operator, right, line_of(children[index]))
    return result


def _logic(left: Typed, operator: str, right: Typed, line: int) -> Typed:
    for side in (left, right):
        if is_integer(side.type):
            raise UnsupportedTextError(f"unsupported: {operator} of integers", line)
        if side.type != "BOOL":
            raise StructuredTextError(f"{operator} of a {side.type}", line)
    # Both sides are computed, as in the standard; AND_THEN and OR_ELSE stop early, which changes
    # nothing but a division by zero on the right.
    word = {"AND": "&", "OR": "|", "XOR": "^", "AND_THEN": "and", "OR_ELSE": "or"}[operator]
    return Typed("BOOL", f"({left.code} {word} {right.code})")


def _comparison(left: Typed, operator: str, right: Typed, line: int) -> Typed:
    fits = left.type == right.type or (is_number(left.type) and is_number(right.type))
    if not fits or left.type in BLOCKS:
        raise StructuredTextError(f"a {left.type} is compared with a {right.type}", line)
    word = {"=": "==", "<>": "!="}.get(operator, operator)
    return Typed("BOOL", f"({left.code} {word} {right.code})")


def _arithmetic(left: Typed, operator: str, right: Typed, line: int) -> Typed:
    if "TIME" in (left.type, right.type):
        return _time_arithmetic(left, operator, right, line)
    for side in (left, right):
        if not is_number(side.type):
            raise StructuredTextError(f"{operator} of a {side.type}", line)
    is_real = left.type in REALS or right.type in REALS
    kind = "LREAL" if is_real else (left.type if left.type == right.type else ANY_INTEGER)
    if operator == "MOD":
        if is_real:
            raise StructuredTextError("MOD of a REAL", line)
        return Typed(kind, f"modulo({left.code}, {right.code})")
    if operator == "/" and not is_real:
        return Typed(kind, f"divide({left.code}, {right.code})")
    return Typed(kind, f"({left.code} {operator} {right.code})")


def _time_arithmetic(left: Typed, operator: str, right: Typed, line: int) -> Typed:
    both = left.type == right.type == "TIME"
    if both and operator in ("+", "-"):
        return Typed("TIME", f"({left.code} {operator} {right.code})")
    if not both and operator == "*" and is_integer(left.type if right.type == "TIME" else right.type):
        return Typed("TIME", f"({left.code} * {right.code})")
    if left.type == "TIME" and operator == "/" and is_integer(right.type):
        return Typed("TIME", f"divide({left.code}, {right.code})")
    raise StructuredTextError(f"{left.type} {operator} {right.type}", line)


_CHAINS: dict[str, Callable[[Typed, str, Typed, int], Typed]] = {
    "assignment_expression": _logic,
    "or_else_expression": _logic,
    "and_then_expression": _logic,
    "xor_expression": _logic,
    "and_expression": _logic,
    "comparison_expression": _comparison,
    "equality_expression": _comparison,
    "add_expression": _arithmetic,
    "expression_term": _arithmetic,
}


def _unary(tree: Any, scope: Scope) -> Typed:
    operator, operand = tree.children
    value = expression(operand, scope)
    if operator is None:
        return value
    sign, line = str(operator).upper(), line_of(operator)
    if sign == "NOT":
        if is_integer(value.type):
            raise UnsupportedTextError("unsupported: NOT of an integer", line)
        if value.type != "BOOL":
            raise StructuredTextError(f"NOT of a {value.type}", line)
        return Typed("BOOL", f"(not {value.code})")
    if not is_number(value.type) and value.type != "TIME":
        raise StructuredTextError(f"{sign} of a {value.type}", line)
    return Typed(value.type, f"({sign}{value.code})")


def _constant(tree: Any, scope: Scope) -> Typed:
    token = tree.children[0]
    text, line = str(token), line_of(token)
    if token.type == "TIME_LITERAL":
        return Typed("TIME", str(time_literal(text, line)))
    if token.type == "REAL_LITERAL":
        return Typed("LREAL", repr(float(text.rpartition("#")[2].replace("_", ""))))
    if token.type == "BOOLEAN_LITERAL":
        return Typed("BOOL", str(text.rpartition("#")[2].upper() in ("TRUE", "1")))
    kind, value = integer_literal(text, line)
    return Typed(kind, str(value))


def name_of(tree: Any) -> str:
    """Return the name in a `variable_name`."""
    return str(tree.children[0])


def _variable(tree: Any, scope: Scope) -> Typed:
    found = scope.variable(name_of(tree), line_of(tree))
    if found.type in BLOCKS:
        raise StructuredTextError(f"{name_of(tree)} is a function block, not a value", line_of(tree))
    return found


def member_of(tree: Any, scope: Scope) -> Typed:
    """Translate `block.member`."""
    block, member = tree.children
    return scope.member(name_of(block), name_of(member), line_of(tree))


def _call(tree: Any, scope: Scope) -> Typed:
    name, line = name_of(tree.children[0]).upper(), line_of(tree)
    if name.lower() in scope.types:
        raise StructuredTextError(f"{name} has no value as a function", line)
    arguments = [_argument(child, scope) for child in tree.children[1:] if child is not None]
    source, _, target = name.partition("_TO_")
    if source in ELEMENTARY and target in ELEMENTARY:
        return _converted(source, target, arguments, line)
    if name not in _FUNCTIONS:
        raise UnsupportedTextError(f"unsupported: function {name}", line)
    return _FUNCTIONS[name](name, arguments, line)


def _argument(tree: Any, scope: Scope) -> Typed:
    if rule_of(tree) != "param_assignment":
        raise UnsupportedTextError("unsupported: a function's arguments by name", line_of(tree))
    return expression(tree.children[0], scope)


def _converted(source: str, target: str, arguments: list[Typed], line: int) -> Typed:
    if len(arguments) != 1 or not is_assignable(source, arguments[0].type):
        raise StructuredTextError(f"{source}_TO_{target} takes one {source}", line)
    code = arguments[0].code
    if target == "BOOL":
        return Typed("BOOL", f"({code} != 0)")
    if target in REALS:
        return Typed(target, f"float({code})")
    whole = f"rounded({code})" if source in REALS else f"int({code})"
    return Typed(target, stored(target, whole))


def _numbers(name: str, arguments: list[Typed], line: int, count: tuple[int, int]) -> str:
    """Return the common type of numeric arguments (or of TIMEs)."""
    if not count[0] <= len(arguments) <= count[1]:
        raise StructuredTextError(f"{name} has {len(arguments)} arguments", line)
    kinds = {argument.type for argument in arguments}
    if kinds == {"TIME"}:
        return "TIME"
    if not all(is_number(kind) for kind in kinds):
        raise StructuredTextError(f"{name} of {', '.join(sorted(kinds))}", line)
    if kinds & REALS:
        return "LREAL"
    return kinds.pop() if len(kinds) == 1 else ANY_INTEGER


def _extreme(name: str, arguments: list[Typed], line: int) -> Typed:
    kind = _numbers(name, arguments, line, (2, 16))
    return Typed(kind, f"{name.lower()}({', '.join(a.code for a in arguments)})")


def _absolute(name: str, arguments: list[Typed], line: int) -> Typed:
    return Typed(_numbers(name, arguments, line, (1, 1)), f"abs({arguments[0].code})")


def _limit(name: str, arguments: list[Typed], line: int) -> Typed:
    kind = _numbers(name, arguments, line, (3, 3))
    low, value, high = (argument.code for argument in arguments)
    return Typed(kind, f"min(max({value}, {low}), {high})")


def _select(name: str, arguments: list[Typed], line: int) -> Typed:
    if len(arguments) != 3 or arguments[0].type != "BOOL":
        raise StructuredTextError("SEL takes a BOOL and two values", line)
    off, on = arguments[1:]
    kind = off.type if off.type == on.type else _numbers(name, [off, on], line, (2, 2))
    return Typed(kind, f"({on.code} if {arguments[0].code} else {off.code})")


_FUNCTIONS: Mapping[str, Callable[[str, list[Typed], int], Typed]] = {
    "MIN": _extreme,
    "MAX": _extreme,
    "ABS": _absolute,
    "LIMIT": _limit,
    "SEL": _select,
}

_LEAVES: Mapping[str, Callable[[Any, Scope], Typed]] = {
    "constant": _constant,
    "variable_name": _variable,
    "multi_element_variable": member_of,
    "function_call": _call,
}
