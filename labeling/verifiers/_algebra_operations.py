"""Operations on both sides that a sentence names: "subtract 7 from both sides", "divide by 2"."""

import re

from labeling.verifiers._algebra_relations import Equation, Relation, compare
from labeling.verifiers._algebra_tokens import tokenize
from labeling.verifiers._algebra_trees import Node, read
from labeling.verifiers._reading import UnreadableError

Operation = tuple[str, Node]
"""One of + - * / and what is added, subtracted, multiplied or divided by."""

_NAMED = re.compile(
    r"\b(add|subtract|divid|multipl)\w*\s+(?:both\s+sides\s+|each\s+side\s+|the\s+equation\s+|it\s+)?(?:by\s+)?"
    r"(?:\$|\\\()?\s{0,2}(-?\d{1,12}(?:\.\d{1,6})?[a-z]?)(?![\w.]?\d)",
    re.IGNORECASE,
)
_SIGNS = {"add": "+", "subtract": "-", "divid": "/", "multipl": "*"}


def operations_in(sentence: str) -> list[Operation]:
    """Return the operations with a number (and a letter) that a sentence names, in order."""
    found = []
    for match in _NAMED.finditer(sentence):
        try:
            operand = read(tokenize(match.group(2))).node
        except UnreadableError:
            continue
        found.append((_SIGNS[match.group(1).lower()], operand))
    return found


def are_done(operations: list[Operation], before: Equation, after: Equation) -> bool:
    """Whether operations on both sides of an equation give the next one, up to the writing of each side."""
    left, right = before.left, before.right
    for sign, operand in operations:
        left, right = Node(sign, (left, operand)), Node(sign, (right, operand))
    pairs = ((left, after.left), (right, after.right))
    return all(compare(one, two) is Relation.SAME for one, two in pairs)
