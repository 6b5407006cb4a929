"""Values that are listed as the solutions of an equation: x^2 - 5x + 6 = 0, so x = 2 or x = 4."""

import re
from collections.abc import Sequence

from labeling.verifiers._algebra_chains import Chain
from labeling.verifiers._algebra_claims import equation_of, is_solved
from labeling.verifiers._algebra_functions import with_values
from labeling.verifiers._algebra_relations import Equation, Relation, compare, has_decimals

_DELIMITERS = re.compile(r"\\text|\\quad|\\[()\[\],;]|[\s${}]")
_JOINS = re.compile(r",(?:or|and)?|or|and")
_ENDS = re.compile(r"(?:[^\S\n]|[$}]|\\[)\]])*(?:\Z|[.;\n](?!\d))")


def list_at(text: str, chains: Sequence[Chain], at: int) -> list[Equation]:
    """Return the values of one name that are listed from a chain on; [] when fewer than two are.

    Words behind the last may say more of it than that it is listed; then there is no list either.
    """
    found: list[Equation] = []
    for chain in chains[at:]:
        equation = equation_of(chain)
        joins = not found or _JOINS.fullmatch(_DELIMITERS.sub("", chain.before)) is not None
        if equation is None or not is_listed(equation, chain) or not joins:
            break
        if found and equation.name != found[0].name:
            return []
        found.append(equation)
    is_ended = _ENDS.match(text, chains[at + len(found) - 1].end) is not None
    return found if len(found) > 1 and is_ended else []


def is_listed(equation: Equation, chain: Chain) -> bool:
    """Whether a chain states one exact value of a name: x = 2."""
    is_plain = len(chain.members) == 2 and not chain.goes_on and not equation.unit
    return is_plain and is_solved(equation) and not has_decimals(equation)


def is_exact(equation: Equation) -> bool:
    """Whether an equation in one unknown is still to be solved, for exact values."""
    is_one = equation.relation == "=" and len(equation.symbols) == 1
    return is_one and not is_solved(equation) and not has_decimals(equation)


def solves(value: Equation, equation: Equation) -> bool:
    """Whether a value may solve an equation in its name; False when it certainly does not."""
    if value.symbols != equation.symbols:
        return False
    values = {value.name: value.right}
    left, right = (with_values(side, values) for side in (equation.left, equation.right))
    return compare(left, right) is not Relation.DIFFERENT
