"""Links that words or their own form show to be a rewriting, not an equation that is to be solved."""

import re

from labeling.verifiers._algebra_chains import Chain, Member, is_constant
from labeling.verifiers._algebra_claims import has_product_of_sums
from labeling.verifiers._algebra_relations import Equation, is_linear, solution_of
from labeling.verifiers._algebra_trees import Node, walk
from labeling.verifiers._algebra_values import as_quotient, common_factor, divide, evaluate_exactly
from labeling.verifiers._algebra_words import says_expanded
from labeling.verifiers._reading import UnreadableError

_FACTORING = re.compile(r"(?:\W|next|now|step|\d)*factor(?:ing|ize|ise|izing|ising)?\W*", re.IGNORECASE)
_SIMPLIFYING = re.compile(
    r"(?:\W|next|now|step|\d)*(?:simplify(?:ing)?|combin(?:e|ing) (?:the )?like terms)(?: (?:this|it))?\W*",
    re.IGNORECASE,
)


def opens_with_factoring(sentence: str) -> bool:
    """Whether nothing but "Factoring" stands before a formula."""
    return _FACTORING.fullmatch(sentence) is not None


def is_rewritten(sentence: str, left: Member, right: Member) -> bool:
    """Whether words and form make the right side the left one, multiplied out, factored or simplified."""
    is_product = has_product_of_sums(right)
    if says_expanded(sentence) and has_product_of_sums(left) and not is_product:
        return True
    if left.node is None or right.node is None or not _is_no_equation(left.node, right.node, left.symbols):
        return False
    if opens_with_factoring(sentence):
        return is_product and right.node.kind in ("*", "^") and not has_product_of_sums(left)
    if left.node.kind in ("+", "-") and is_linear(Equation(left.node, right.node, "")):
        # A sum may be one side of an equation that 0 solves.
        return False
    is_simplified = not is_product and not _has_work_left(right.node) and _has_work_left(left.node)
    return is_simplified and _SIMPLIFYING.fullmatch(sentence) is not None


def _has_work_left(node: Node) -> bool:
    """Whether like terms stand apart in a tree, or the unknown stands below a fraction line."""
    terms, parts = _terms(node), list(walk(node))
    powers = [tuple(part for part in walk(term) if part.kind in ("symbol", "^")) for term in terms]
    return len(set(powers)) < len(powers) or any(
        part.kind == "/" and any(below.kind == "symbol" for below in walk(part.children[1])) for part in parts
    )


def _terms(node: Node) -> list[Node]:
    if node.kind in ("+", "-"):
        return [term for child in node.children for term in _terms(child)]
    return [node]


def _is_no_equation(left: Node, right: Node, symbols: frozenset[str]) -> bool:
    """Whether two sides in one unknown are equal nowhere, or at 0 alone: hardly an equation to be solved."""
    if len(symbols) != 1 or any(part.n_decimals for side in (left, right) for part in walk(side)):
        return False
    (unknown,) = symbols
    try:
        over, under = as_quotient(Node("-", (left, right)), unknown, {})
        over = divide(over, common_factor(over, under))[0]
    except UnreadableError:
        return False
    return bool(over) and not any(over[:-1])


def contradicts_end(chain: Chain, left: Member, right: Member) -> bool:
    """Whether a chain that begins with two sides in one unknown and ends in a number can nowhere be true.

    As in 3(x + 2) = 3x + 2 = 14, where the sides are equal nowhere, or k + 2k = 4k = 60, where they are at 0.
    """
    end = chain.members[-1]
    if left.node is None or right.node is None or end.node is None or not is_constant(end):
        return False
    if set(chain.relations) != {"="} or not _is_no_equation(left.node, right.node, left.symbols):
        return False
    (unknown,) = left.symbols
    zero = Node("number")
    if any(solution_of(Equation(side, zero, ""), unknown) is None for side in (left.node, right.node)):
        return False
    try:
        return solution_of(Equation(left.node, right.node, ""), unknown) is None or (
            evaluate_exactly(left.node, {unknown: zero.value}) != evaluate_exactly(end.node, {})
        )
    except UnreadableError:
        return False
