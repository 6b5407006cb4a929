"""Functions that a text defines by a formula, f(x) = x^2 + 1, and their values put in."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from labeling.verifiers._algebra_trees import Node, symbols_of, walk
from labeling.verifiers._algebra_values import evaluate_exactly
from labeling.verifiers._reading import UnreadableError

MAX_NODES = 2000
MIN_NAMES = 3
"""Names that a formula must hold before one value that differs counts against a step."""
VALUE_SHARE = Fraction(1, 50)
"""Values of which one is written with decimals count as different when further apart than this share."""

_FUNCTION = re.compile(
    r"(?<![A-Za-z\\])([A-Za-z])\s?(?:\^\{-1\})?\(\s?[a-z]\s?\)\s?\\?\)?\s?(?:=|\\le|\\ge|<|>|\$|is\b)"
)
_ALWAYS_FUNCTIONS = frozenset("fgPQ")


def functions_in(*texts: str) -> frozenset[str]:
    """Return the letters that serve as functions in some texts."""
    return _ALWAYS_FUNCTIONS | {match.group(1) for text in texts for match in _FUNCTION.finditer(text)}


@dataclass(frozen=True)
class Definition:
    """What a function gives for a named argument."""

    argument: str
    body: Node


def definition_in(left: Node, right: Node) -> tuple[str, Definition] | None:
    """Return (name, definition) when two sides say f(x) = a formula in x; None for f(3) = 10."""
    if left.kind != "function" or len(left.name) > 1 or left.children[0].kind != "symbol":
        return None
    argument = left.children[0].name
    is_recursive = any(node.kind == "function" and node.name == left.name for node in walk(right))
    # f(x) = 4 may be an equation for x.
    return (
        None
        if is_recursive or argument not in symbols_of(right)
        else (left.name, Definition(argument, right))
    )


def applied(node: Node, definitions: Mapping[str, Definition]) -> Node:
    """Return a tree with the definitions put in, innermost first.

    Raises:
        UnreadableError: The result would be too large.
    """
    result = _applied(node, definitions)
    if sum(1 for _ in walk(result)) > MAX_NODES:
        raise UnreadableError("expression too long")
    return result


def _applied(node: Node, definitions: Mapping[str, Definition]) -> Node:
    children = tuple(_applied(child, definitions) for child in node.children)
    if node.kind == "function" and node.name in definitions:
        definition = definitions[node.name]
        argument = children[0]
        n_uses = sum(n.kind == "symbol" and n.name == definition.argument for n in walk(definition.body))
        if n_uses * sum(1 for _ in walk(argument)) > MAX_NODES:
            raise UnreadableError("expression too long")
        return with_values(definition.body, {definition.argument: argument})
    return node._replace(children=children)


def with_values(node: Node, values: Mapping[str, Node]) -> Node:
    """Return a tree with trees put in for symbols."""
    if node.kind == "symbol":
        return values.get(node.name, node)
    return node._replace(children=tuple(with_values(child, values) for child in node.children))


def values_differ(left: Node, right: Node) -> bool:
    """Whether two trees without unknowns have clearly different values; False where that cannot be told."""
    try:
        one, two = evaluate_exactly(left, {}), evaluate_exactly(right, {})
    except UnreadableError:
        return False
    if any(n.n_decimals for tree in (left, right) for n in walk(tree)):
        return abs(one - two) > VALUE_SHARE * max(abs(one), abs(two))
    return one != two


def misused_name(formula: Node, numbers: Node, values: Mapping[str, Node]) -> str:
    """Return the one name for which a formula has another number put in than its value; "" when not told.

    The other names, which have their values, show that the formula is meant with them.
    """
    used = values_put_in(formula, numbers)
    if used is None or len(used) < MIN_NAMES:
        return ""
    wrong = [name for name, value in used.items() if values_differ(values[name], Node("number", value=value))]
    return wrong[0] if len(wrong) == 1 else ""


def values_put_in(formula: Node, numbers: Node) -> dict[str, Fraction] | None:
    """Return the numbers that stand where a formula has its symbols: u + a t and 3 + 2 * 5.

    None when the two are not built alike, or one symbol stands for two numbers.
    """
    if formula.kind == "symbol":
        try:
            return {formula.name: evaluate_exactly(numbers, {})}
        except UnreadableError:
            return None
    if formula._replace(children=()) != numbers._replace(children=()):
        return None
    if len(formula.children) != len(numbers.children):
        return None
    found: dict[str, Fraction] = {}
    for one, other in zip(formula.children, numbers.children, strict=True):
        inner = values_put_in(one, other)
        if inner is None or any(found.get(name, value) != value for name, value in inner.items()):
            return None
        found |= inner
    return found
