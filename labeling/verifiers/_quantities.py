"""Questions about the units and percentages in the sides of a claim."""

from fractions import Fraction

from labeling.verifiers._exact import Value, is_rounding
from labeling.verifiers._trees import Node, Parse, plain_number, walk


def rounds_in_units(first: Fraction, right: Parse) -> bool:
    """Whether a value in base units is what the right side shows, rounded to its digits and unit."""
    node = right.node
    shown = plain_number(node)
    if node.kind != "unit" or node.unit is None or shown is None:
        return False
    return is_rounding(Value(first / node.unit.factor), shown, is_approximate=False)


def has_mixed_scales(left: Parse, right: Parse) -> bool:
    """Whether two sizes of unit of one dimension occur, on either side or across."""
    names: dict[str, set[Fraction]] = {}
    for unit in left.units | right.units:
        for dimension, _ in unit.dims or (("ratio", 1),):
            names.setdefault(dimension, set()).add(unit.factor)
    return any(len(factors) > 1 for factors in names.values()) or "compound" in left.traits | right.traits


def mixes_in_sum(left: Parse, right: Parse) -> bool:
    """Whether a side adds quantities in different units, so that its numbers alone say nothing."""
    return any(
        len({unit.factor for unit in side.units}) > 1 and is_sum_of_quantities(side) for side in (left, right)
    )


def is_sum_of_quantities(side: Parse) -> bool:
    """Whether a side only adds and subtracts quantities that each carry a unit."""
    nodes = [side.node]
    while nodes:
        node = nodes.pop()
        if node.kind == "unit":
            continue
        if node.kind not in ("+", "-", "negative") or node.left is None:
            return False
        nodes += [child for child in (node.left, node.right) if child is not None]
    return True


def is_symbolic(left: Parse, right: Parse) -> bool:
    """Whether a single letter was taken for a unit, and no longer unit in the claim confirms it."""
    if "symbol" not in left.traits | right.traits:
        return False
    return len({unit.name for unit in left.units | right.units}) < 2


def shows_shop_percent(side: Parse) -> bool:
    """Whether a percentage is added to something that is none: $80 - 25% means 25 % of the $80."""
    if "percent" not in side.traits:
        return False
    return any(
        node.kind in ("+", "-")
        and node.right is not None
        and node.right.kind == "percent"
        and not _is_all_percent(node.left)
        for node in walk(side.node)
    )


def _is_all_percent(node: Node | None) -> bool:
    if node is None:
        return True
    if node.kind in ("+", "-"):
        return _is_all_percent(node.left) and _is_all_percent(node.right)
    return node.kind == "percent" or (node.kind == "number" and node.value == 1)
