"""What a chain claims as a whole, what excuses it, and its evidence."""

import re
from collections.abc import Sequence

from labeling.verifiers._algebra_chains import Chain, Member, is_zero
from labeling.verifiers._algebra_relations import Equation, Relation, compare, is_linear, relate, solution_of
from labeling.verifiers._algebra_trees import Node, walk
from labeling.verifiers._algebra_words import is_plain_arrow
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

NAME = "algebra"
DOUBTFUL = "doubtful"
EXCUSED_BY = ", but: "
UNIT_LETTERS = frozenset("MNJWVAKLCgs")
"""Symbols that, alone, are as likely units as unknowns; their formulas are never held against a step."""

Finding = tuple[Outcome, str, str, str]
"""Outcome, kind, reason, and the text of what a claim was held against."""


def excused(reason: str, excuse: str, source: str) -> Finding:
    """Return a finding that counts against a step only so far as that it is not right."""
    return Outcome.UNDECIDED, DOUBTFUL, f"{reason}{EXCUSED_BY}{excuse}", source


def is_quantity(left: Member, right: Member) -> bool:
    """Whether the only unknown of two members may be a unit: 12 M, 3 s + 4 s."""
    return left.symbols == right.symbols and len(left.symbols) == 1 and left.symbols <= UNIT_LETTERS


def is_sum(member: Member) -> bool:
    """Whether a member is a sum in unknowns, an expression that it takes work to rewrite."""
    return member.node is not None and member.node.kind in "+-" and bool(member.symbols)


def is_solved(equation: Equation) -> bool:
    """Whether an equation is a name with its value: x = 18."""
    return bool(equation.name) and equation.symbols == {equation.name} and equation.relation == "="


def is_bound(inequality: Equation) -> bool:
    """Whether an inequality is a name with its bound: x <= 18, 18 >= x."""
    kinds = {inequality.left.kind, inequality.right.kind}
    return "symbol" in kinds and len(inequality.symbols) == 1 and inequality.relation != "="


def leads_on(previous: Equation | None, equation: Equation, before: str) -> bool:
    """Whether a thin arrow says that an equation comes out of the one before.

    Between values of one expression, or equations of curves, it may say that one becomes the other;
    between factors that are 0 it may list them.
    """
    if previous is None or len(equation.symbols) > 1 or not is_plain_arrow(before):
        return False
    are_factors = all(is_zero(each.right) and is_linear(each) for each in (previous, equation))
    return not are_factors and compare(previous.left, equation.left) is not Relation.SAME


def may_be_rounded(previous: Equation, equation: Equation) -> bool:
    """Whether x = 5 may be the solution 5.2 of the equation before, as a whole number of things."""
    if not is_solved(equation):
        return False
    exact, shown = (solution_of(each, equation.name) for each in (previous, equation))
    if exact is None or shown is None or shown.denominator != 1 or exact.denominator == 1:
        return False
    return abs(exact - shown) < 1


def are_alternatives(first: Equation, second: Equation) -> bool:
    """Whether two equations look like branches: x - 9 = 0, x + 8 = 0, or |x - 3| = 5 as 5 and -5."""
    pairs = ((first.right, second.right), (first.left, second.left))
    return any(compare(one, two) is Relation.SAME for one, two in pairs)


def may_come_from(known: Equation, equation: Equation) -> bool:
    """Whether an equation seen earlier can explain a later one."""
    if known.symbols != equation.symbols:
        return False
    relation = relate(known, equation)
    if len(equation.symbols) == 1:
        return relation not in (Relation.DISJOINT, Relation.OPPOSITE) and not is_solved(known)
    return relation is Relation.SAME


def has_product_of_sums(member: Member) -> bool:
    return member.node is not None and holds_product_of_sums(member.node)


def holds_product_of_sums(tree: Node) -> bool:
    return any(
        node.kind in ("*", "^") and any(child.kind in "+-" for child in node.children) for node in walk(tree)
    )


def bare(text: str) -> str:
    return re.sub(r"\s|\\(?:left|right|cdot|times)|[*{}]", "", text)


def equation_of(chain: Chain) -> Equation | None:
    """Return what a chain says as a whole: its first and last member are equal, or one inequality."""
    nodes = [member.node for member in chain.members]
    first, last = nodes[0], nodes[-1]
    is_one = set(chain.relations) == {"="} or (
        len(chain.relations) == 1 and chain.relations[0] in ("<", ">", "<=", ">=")
    )
    if first is None or last is None or None in nodes or not is_one:
        return None
    sign = chain.relations[0]
    text = f"{chain.members[0].text} {sign} {chain.members[-1].text}"
    equation = Equation(first, last, text, sign, chain.unit)
    return equation if equation.symbols else None


def evidence_of(chain: Chain, finding: Finding, right: str, doubt: str) -> Evidence:
    outcome, kind, reason, left = finding
    if outcome is Outcome.WRONG and doubt:
        outcome, kind, reason = Outcome.UNDECIDED, DOUBTFUL, f"{reason}{EXCUSED_BY}{doubt}"
    return Evidence(
        verifier=NAME,
        outcome=str(outcome),
        kind=kind,
        text=" = ".join(member.text for member in chain.members[chain.goes_on :]),
        start=chain.start,
        end=chain.end,
        left=left,
        right=right,
        reason=reason,
    )


def conclude(evidence: Sequence[Evidence]) -> Verdict:
    for item in evidence:
        if item.outcome == Outcome.WRONG:
            return Verdict.wrong(item.reason, evidence)
    for item in evidence:
        if item.kind == DOUBTFUL:
            return Verdict.undecided(f"{DOUBTFUL}: {item.reason.rpartition(EXCUSED_BY)[2]}", evidence)
    if evidence:
        return Verdict.right("every checked claim is true", evidence)
    return Verdict.undecided("nothing that could be checked")
