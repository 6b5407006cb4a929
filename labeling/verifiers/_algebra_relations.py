"""What two expressions, or two equations, have to do with each other; decided exactly or not at all."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache

from labeling.verifiers._algebra_trees import PI, Node, symbols_of, walk
from labeling.verifiers._algebra_values import (
    PRIME,
    as_quotient,
    common_factor,
    divide,
    evaluate_exactly,
    evaluate_mod,
    has_opaque_parts,
    random_residue,
    without_powers,
)
from labeling.verifiers._reading import UnreadableError

N_POINTS = 3
MAX_SYMBOLS = 12
IMAGINARY = "i"
_PI = Fraction("3.14159265358979323846")
ROUNDING_SHARE = Fraction(1, 20)
"""Solutions of equations with decimals count as different when they are further apart than this share."""


class Relation(StrEnum):
    """How a second expression or equation stands to a first."""

    SAME = "same"
    """Identical as expressions; the same solutions as equations."""
    DIFFERENT = "different"
    """Different expressions."""
    DISJOINT = "disjoint"
    """No common solution: not both can hold."""
    OPPOSITE = "opposite"
    """Inequalities that only their common bound meets: x <= 3 and x >= 3."""
    UNRELATED = "unrelated"
    """Each has solutions that the other has not: neither follows from the other alone."""
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Equation:
    """An equation or inequality between two expressions, with how it is written."""

    left: Node
    right: Node
    text: str
    relation: str = "="
    unit: str = ""
    """The unit or thing that its right side counts, as written; "" when it shows none."""

    @property
    def symbols(self) -> frozenset[str]:
        return symbols_of(self.left) | symbols_of(self.right)

    @property
    def difference(self) -> Node:
        return Node("-", (self.left, self.right))

    @property
    def name(self) -> str:
        """The single symbol that stands on its left, "" when something else does."""
        return self.left.name if self.left.kind == "symbol" else ""


def compare(left: Node, right: Node) -> Relation:
    """Tell whether two expressions are the same for all values of their unknowns."""
    difference = Node("-", (left, right))
    if left.kind == right.kind == "root" and left.value == right.value:
        # Roots are equal where what stands under them is.
        return compare(left.children[0], right.children[0])
    n_equal = 0
    for point in _points(difference, N_POINTS + 3):
        try:
            value = evaluate_mod(difference, point)
        except UnreadableError:
            continue
        if value:
            # One point is a proof, unless a part was compared by its looks alone.
            return Relation.UNKNOWN if has_opaque_parts(difference) else _compare_complex(difference, point)
        n_equal += 1
        if n_equal == N_POINTS:
            return Relation.SAME
    return Relation.UNKNOWN


def _compare_complex(difference: Node, point: dict[str, int]) -> Relation:
    """Give a difference that is not 0 another chance, with i as the imaginary unit."""
    if IMAGINARY not in point:
        return Relation.DIFFERENT
    try:
        over, _ = as_quotient(difference, IMAGINARY, point)
    except UnreadableError:
        return Relation.UNKNOWN
    # Modulo i^2 + 1, which has no root modulo the prime.
    real, imaginary = (sum(over[k::4]) - sum(over[k + 2 :: 4]) for k in (0, 1))
    is_zero = real % PRIME == 0 and imaginary % PRIME == 0
    return Relation.SAME if is_zero else Relation.DIFFERENT


def relate(first: Equation, second: Equation) -> Relation:
    """Tell how the solutions of two equations in the same unknowns stand to each other."""
    symbols = sorted(first.symbols)
    if not symbols or len(symbols) > MAX_SYMBOLS or first.symbols != second.symbols or IMAGINARY in symbols:
        return Relation.UNKNOWN
    try:
        if first.relation != "=" or second.relation != "=":
            return _relate_inequalities(first, second, symbols)
        if len(symbols) == 1 and has_decimals(first, second):
            return _relate_roughly(first, second, symbols[0])
        if len(symbols) == 1:
            return _relate_in_one(first, second, symbols[0])
        return _relate_in_several(first, second, symbols)
    except UnreadableError:
        return Relation.UNKNOWN


def has_decimals(*equations: Equation) -> bool:
    """Whether a number with decimals is written in one of them, which may be rounded."""
    return any(n.n_decimals for equation in equations for n in walk(equation.difference))


def solution_of(equation: Equation, unknown: str) -> Fraction | None:
    """Return the solution of an equation that is linear in one unknown, exact but for pi; else None."""
    try:
        at = [evaluate_exactly(equation.difference, {unknown: Fraction(x), PI: _PI}) for x in (0, 1, 2, 5)]
    except UnreadableError:
        return None
    slope = at[1] - at[0]
    is_linear = at[2] == at[0] + 2 * slope and at[3] == at[0] + 5 * slope
    return -at[0] / slope if slope and is_linear else None


def is_linear(equation: Equation) -> bool:
    """Whether an equation holds one unknown and has one solution, found without a root."""
    return len(equation.symbols) == 1 and solution_of(equation, *equation.symbols) is not None


def _relate_inequalities(first: Equation, second: Equation, symbols: Sequence[str]) -> Relation:
    """Compare two linear inequalities in one unknown by their bound and direction."""
    rays = [_ray(equation, symbols[0]) for equation in (first, second)]
    if len(symbols) > 1 or rays[0] is None or rays[1] is None:
        return Relation.UNKNOWN
    (bound, is_upward, is_open), (bound_2, is_upward_2, is_open_2) = rays[0], rays[1]
    if (bound, is_upward) == (bound_2, is_upward_2):
        return Relation.SAME if is_open == is_open_2 else Relation.UNKNOWN
    if has_decimals(first, second) or is_upward == is_upward_2:
        return Relation.UNKNOWN
    low, high = (bound, bound_2) if is_upward else (bound_2, bound)
    if low == high and not is_open and not is_open_2:
        return Relation.OPPOSITE
    is_apart = low >= high
    return Relation.DISJOINT if is_apart else Relation.UNKNOWN


def _ray(inequality: Equation, unknown: str) -> tuple[Fraction, bool, bool] | None:
    """Return (bound, whether the solutions lie above it, whether it is left out); None for other shapes."""
    if inequality.relation not in ("<", ">", "<=", ">="):
        return None
    bound = solution_of(inequality, unknown)
    if bound is None:
        return None
    beyond = evaluate_exactly(inequality.difference, {unknown: bound + 1, PI: _PI})
    is_upward = (beyond > 0) == (inequality.relation[0] == ">")
    return bound, is_upward, len(inequality.relation) == 1


def _relate_roughly(first: Equation, second: Equation, unknown: str) -> Relation:
    one, two = solution_of(first, unknown), solution_of(second, unknown)
    if one is None or two is None:
        return Relation.UNKNOWN
    if one == two:
        return Relation.SAME
    is_far = abs(one - two) > ROUNDING_SHARE * max(abs(one), abs(two))
    return Relation.DISJOINT if is_far else Relation.UNKNOWN


def _relate_in_one(first: Equation, second: Equation, unknown: str) -> Relation:
    point = {PI: random_residue("point", PI, 0)}
    (over, under), (over_2, under_2) = (
        as_quotient(equation.difference, unknown, point) for equation in (first, second)
    )
    if len(over) < 2 or len(over_2) < 2:
        return Relation.UNKNOWN
    # A solution is no root of the denominator.
    over, over_2 = (
        without_powers(divide(f, common_factor(f, g))[0]) for f, g in ((over, under), (over_2, under_2))
    )
    if over == over_2:
        return Relation.SAME
    if any(has_opaque_parts(e.difference) for e in (first, second)):
        return Relation.UNKNOWN
    common = common_factor(over, over_2)
    if len(common) == 1 and len(over) > 1 and len(over_2) > 1:
        return Relation.DISJOINT
    return Relation.UNRELATED if len(common) < min(len(over), len(over_2)) else Relation.UNKNOWN


def _relate_in_several(first: Equation, second: Equation, symbols: Sequence[str]) -> Relation:
    is_opaque = any(has_opaque_parts(e.difference) for e in (first, second))
    if not is_opaque and _differ_by_constant(first, second):
        return Relation.UNKNOWN if has_decimals(first, second) else Relation.DISJOINT
    found: set[str] = set()
    for unknown in symbols:
        point = {name: random_residue("point", name, 0) for name in (*symbols, PI)}
        parts = []
        for equation in (first, second):
            over, under = as_quotient(equation.difference, unknown, point)
            parts.append(without_powers(divide(over, common_factor(over, under))[0]) if over else [])
        if not parts[0] or not parts[1]:
            return Relation.UNKNOWN
        if parts[0] == parts[1]:
            found.add("same")
        else:
            n_common = len(common_factor(*parts))
            found.add("apart" if n_common < min(len(part) for part in parts) else "overlapping")
    if found == {"same"}:
        return Relation.SAME
    # Each has solutions, for almost all values of the other unknowns, that the other has not.
    is_told = not is_opaque and not has_decimals(first, second)
    return Relation.UNRELATED if "apart" in found and is_told else Relation.UNKNOWN


def _differ_by_constant(first: Equation, second: Equation) -> bool:
    """Whether the sides differ, in one, by a multiple of what they do in the other plus a constant, not 0."""
    points = _points(Node("-", (first.difference, second.difference)), 4)
    rows = [[evaluate_mod(each.difference, point) for each in (first, second)] for point in points]
    (a, b), (a_2, b_2), *others = rows
    if (b - b_2) % PRIME == 0 or (a - a_2) % PRIME == 0:
        return False
    factor = (a - a_2) * pow(b - b_2, -1, PRIME) % PRIME
    constant = (a - factor * b) % PRIME
    return constant != 0 and all((a - factor * b - constant) % PRIME == 0 for a, b in others)


def _points(node: Node, count: int) -> Iterator[dict[str, int]]:
    names = [*sorted(symbols_of(node)), PI]
    for number in range(count):
        yield {name: _coordinate(name, number) for name in names}


@lru_cache(maxsize=4096)
def _coordinate(name: str, number: int) -> int:
    return random_residue("point", name, number)


class LinearSystem:
    """Linear equations modulo the prime, in echelon form; tells whether one more follows or contradicts."""

    def __init__(self) -> None:
        self._rows: list[dict[str, int]] = []

    def add(self, equation: Equation) -> Relation:
        """Take an equation in and say how it stands to those before.

        Returns:
            SAME when it follows from them, DISJOINT when it contradicts them (it is then left out),
            DIFFERENT when it says something new, UNKNOWN when it is not linear (left out).
        """
        row = _linear_row(equation)
        if row is None or not any(row):
            return Relation.UNKNOWN
        for known in self._rows:
            lead = next(iter(known))
            factor = row.get(lead, 0)
            if factor:
                row = _minus(row, known, factor)
        names = [name for name in row if name]
        if not names:
            return Relation.DISJOINT if row else Relation.SAME
        lead = names[0]
        inverse = pow(row[lead], -1, PRIME)
        row = {lead: 1} | {name: c * inverse % PRIME for name, c in row.items() if name != lead}
        self._rows = [_minus(known, row, known.get(lead, 0)) for known in self._rows] + [row]
        return Relation.DIFFERENT


def _minus(row: dict[str, int], other: dict[str, int], factor: int) -> dict[str, int]:
    """Return row - factor * other; the first key stays first."""
    result = dict(row)
    for name, c in other.items():
        result[name] = (result.get(name, 0) - factor * c) % PRIME
    return {name: c for name, c in result.items() if c}


def _linear_row(equation: Equation) -> dict[str, int] | None:
    """Return symbol -> coefficient, "" -> constant, of a linear equation; None for others."""
    node, names = equation.difference, sorted(equation.symbols)
    if not names or len(names) > MAX_SYMBOLS or IMAGINARY in names or has_opaque_parts(node):
        return None
    origin = dict.fromkeys(names, 0) | {PI: random_residue("point", PI, 0)}
    try:
        constant = evaluate_mod(node, origin)
        row = {name: (evaluate_mod(node, {**origin, name: 1}) - constant) % PRIME for name in names}
        point = next(_points(node, 1)) | {PI: origin[PI]}
        there = (constant + sum(row[name] * point[name] for name in names)) % PRIME
        if evaluate_mod(node, point) != there:
            return None
    except UnreadableError:
        return None
    row[""] = constant
    return {name: c for name, c in row.items() if c}
