"""Units in plain words, with exact factors to one base unit a dimension.

Only what cannot be mistaken is here: no calendar months, no US/UK gallons. Factors are exact by
definition (international yard and pound, 1959).
"""

from fractions import Fraction
from typing import NamedTuple


class Unit(NamedTuple):
    """A unit: its name in the table's first spelling, its size in base units, and its dimensions."""

    name: str
    factor: Fraction
    dims: tuple[tuple[str, int], ...]
    """Pairs (dimension, exponent), sorted, no zero exponents."""


_TABLE = {
    "length": {
        "mm millimeter millimetre": "1/1000",
        "cm centimeter centimetre": "1/100",
        "m meter metre": "1",
        "km kilometer kilometre": "1000",
        "inch inches": "127/5000",
        "ft foot feet": "381/1250",
        "yd yard": "1143/1250",
        "mile mi": "201168/125",
    },
    "time": {
        "s sec second": "1",
        "min minute": "60",
        "h hr hour": "3600",
        "day": "86400",
        "week wk": "604800",
    },
    "mass": {
        "mg milligram": "1/1000000",
        "g gram": "1/1000",
        "kg kilogram": "1",
        "oz ounce": "45359237/1600000000",
        "lb pound": "45359237/100000000",
    },
    "volume": {"ml milliliter millilitre": "1/1000", "l liter litre": "1"},
    "money": {"dollar": "1", "cent ¢": "1/100"},
}

_BY_WORD = {
    word: Unit(words.split()[0], Fraction(factor), ((dimension, 1),))
    for dimension, units in _TABLE.items()
    for words, factor in units.items()
    for word in words.split()
}
DOLLAR = _BY_WORD["dollar"]


def unit_of(word: str) -> Unit | None:
    """Return the unit that a word names, plural forms included; None when it is no known unit."""
    unit = _BY_WORD.get(word)
    if unit is None and word.endswith("s") and len(word) > 2:
        unit = _BY_WORD.get(word[:-1])
    return unit


def multiply_dims(
    left: tuple[tuple[str, int], ...], right: tuple[tuple[str, int], ...], sign: int
) -> tuple[tuple[str, int], ...]:
    """Return the dimensions of a product (sign 1) or a quotient (sign -1)."""
    total = dict(left)
    for dimension, exponent in right:
        total[dimension] = total.get(dimension, 0) + sign * exponent
    return tuple(sorted((d, e) for d, e in total.items() if e))
