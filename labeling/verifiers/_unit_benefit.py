"""The benefit of the doubt for quantities: how two sides agree, and what excuses them when they do not."""

from fractions import Fraction

from labeling.verifiers._exact import Value, is_rounding, is_truncation
from labeling.verifiers._functions import PI
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._trees import Node
from labeling.verifiers._unit_claims import Claim
from labeling.verifiers._unit_table import CALENDAR, INFORMATION, MONEY, Dims, Unit, multiply, physical
from labeling.verifiers._unit_trees import Side, plain_quantity, walk
from labeling.verifiers._unit_values import ClashError, Notes, Size, measure, unit_size

_SAME = Fraction(1, 10**20)
_LENGTH, _TIME, _MASS = "[length]", "[time]", "[mass]"
_IMPERIAL = frozenset({
    "foot", "inch", "yard", "mile", "pound", "ounce", "acre", "psi", "Btu", "horsepower",
    "force_pound", "mile/hour", "foot/second", "°F", "kip", "knot",
})  # fmt: skip
_PER_TIME = ((_TIME, Fraction(-1)),)
_CONVERSIONS = frozenset(map(Fraction, (60, 100, 1000, 3600, 10**6, 10**9)))
# Degrees of an angle or heat, pounds of money or weight, ounces of weight or volume, turns or radians.
_BY_NAME = frozenset({"degree", "ounce", "pound", "revolution"})
_KITCHEN = frozenset({"gallon", "quart", "pint", "cup", "tablespoon", "teaspoon"})
_MEASURED = frozenset({
    "standard_atmosphere", "millimeter_Hg", "torr", "calorie", "kilocalorie",
    "unified_atomic_mass_unit", "light_year", "astronomical_unit", "electron_volt",
})  # fmt: skip


def agreement(relation: str, left: Side, right: Side, first: Size, second: Size) -> str:
    """Return how two values of one dimension agree, "exact" or "rounded"; "" when they do not."""
    gap = abs(first.value - second.value)
    is_exact = first.is_exact and second.is_exact
    if gap == 0 or (not is_exact and gap <= _SAME * max(abs(first.value), abs(second.value))):
        return "exact"
    if gap * 10**5 <= abs(second.value) and tolerance(left.units | right.units):
        # The definitions themselves differ in the seventh digit: 760 mmHg is not quite 1 atm.
        return "rounded"
    for value, other in ((first, right), (second, left)):
        number = _shown_number(other)
        if number is None or (other is left and right.shown is not None):
            # A number stated first is not the rounding of one stated after it: 1.5 GHz = 1510 MHz.
            continue
        # Of measured values, 377 rad/s for 376.99 is as honest as 0.377; of money and apples it is not.
        is_whole = number[0].value >= 100 and value is first and left.shown is None
        is_measured = is_whole and any(_is_measured(unit) for unit in other.units)
        is_approximate = relation == "~" or is_measured
        if is_rounding(Value(value.value / number[1]), number[0], is_approximate=is_approximate):
            return "rounded"
    return ""


def _shown_number(side: Side) -> tuple[Node, Fraction] | None:
    """Return a side's plain number and the size of its unit; None when it computes something."""
    term = side.shown
    if term is None:
        return None
    factor, _ = unit_size(term.units)
    return Node("number", value=term.value, last_digit=term.last_digit), factor


def excuse_of_value(claim: Claim, left: Side, right: Side, first: Size, second: Size, notes: Notes) -> str:
    """Return how two unequal values of one dimension may be meant as equal, "" when they may not."""
    return _excuse_by_units(claim, left, right, first, second, notes) or _excuse_by_digits(
        claim, left, right, first, second
    )


def _excuse_by_units(claim: Claim, left: Side, right: Side, first: Size, second: Size, notes: Notes) -> str:
    units = left.units | right.units
    if abs(first.value - second.value) <= max(abs(first.value), abs(second.value)) * tolerance(units):
        return "the units' ratio may be rounded"
    if _is_of_data(units, first, second):
        return "bits or bytes, thousands or 1024"
    if uses_calendar(first, second):
        return "months and years differ in length"
    if _is_turn(first.value, second.value) and any(unit.dims in ((), _PER_TIME) for unit in units):
        return "turns or radians"
    if notes.has_bare_factor and agrees_plainly(claim, left, right):
        return "a number without a unit may convert"
    if _is_cooking(units):
        return "ounces of weight and of volume"
    if claim.is_in_words and {"day", "week"} <= {unit.name for unit in units}:
        return "days may be working days"
    return ""


def _excuse_by_digits(claim: Claim, left: Side, right: Side, first: Size, second: Size) -> str:
    gap, size = abs(first.value - second.value), max(abs(first.value), abs(second.value))
    if first.value * second.value < 0 and abs(first.value + second.value) * 20 <= size:
        return "only the sign differs, which may be a direction"
    is_computed = left.shown is None or right.shown is None
    if is_computed and first.low <= second.high and second.low <= first.high:
        return "the decimals in it may be rounded"
    numbers = [(first, _shown_number(right)), (second, _shown_number(left))]
    shown = [(value.value / number[1], number[0]) for value, number in numbers if number is not None]
    if any(_may_be_rounded(value, number) for value, number in shown):
        return "the digits may be rounded or cut off"
    is_measured = any(_is_measured(unit) for unit in left.units | right.units)
    if is_computed and is_measured and gap * 200 <= size:
        return "measured values to their last digit"
    is_rough = not shown or any(_is_roughly(value, number) for value, number in shown)
    return "an approximation" if claim.relation == "~" and gap * 20 <= size and is_rough else ""


def _is_measured(unit: Unit) -> bool:
    """Whether a unit is one of measurement, rather than of money, things or everyday counting."""
    return not unit.is_word and bool({name for name, _ in physical(unit.dims)} - MONEY)


def _is_turn(first: Fraction, second: Fraction) -> bool:
    """Whether two values differ by the radians of a turn."""
    over, under = max(abs(first), abs(second)), min(abs(first), abs(second))
    return under > 0 and abs(over / under - 2 * PI) * 500 <= 2 * PI


def _is_of_data(units: set[Unit], first: Size, second: Size) -> bool:
    """Whether values differ just as a thousand from 1024 does, amounts of data also as bits from bytes."""
    if not any(name == INFORMATION for unit in units for name, _ in unit.dims):
        return False
    if first.value == 0 or second.value == 0:
        return False
    is_amount = any(name == INFORMATION for name, _ in first.dims)
    prefix, bits = Fraction(1024, 1000), (Fraction(1, 8), 1, 8) if is_amount else (1,)
    known = [number * prefix**power for number in bits for power in range(-4, 5)]
    return any(abs(first.value / second.value - each) * 200 <= each for each in known)


def _may_be_rounded(value: Fraction, number: Node) -> bool:
    """Whether a number shown is a value to the last of its digits that is not zero, or cut off there."""
    if is_truncation(Value(value), number):
        return True
    last = number.last_digit
    while number.value != 0 and (number.value / (last * 10)).denominator == 1:
        last *= 10
    gap = abs(value - number.value)
    return gap < last and gap * 20 <= abs(value)


def _is_roughly(value: Fraction, number: Node) -> bool:
    """Whether an approximation is right but for its last digit: 7.67 for 7.70, not for 7.99."""
    return abs(value - number.value) <= 10 * number.last_digit


def agrees_plainly(claim: Claim, left: Side, right: Side) -> bool:
    """Whether the numbers agree when no unit is looked at."""
    try:
        first, second = (measure(side.term, Notes(), has_units=False) for side in (left, right))
    except (ClashError, UnreadableError):
        return False
    plain = [_without_units(side) for side in (left, right)]
    if agreement(claim.relation, plain[0], plain[1], first, second):
        return True
    return first.low <= second.high and second.low <= first.high


def converts(claim: Claim, left: Side, right: Side, first: Size, second: Size) -> bool:
    """Whether a bare number is just what the change of units takes: 3 h * 60 = 180 min."""
    if second.value == 0 or first.value == 0 or not agrees_plainly(claim, left, right):
        return False
    ratio = first.value / second.value
    numbers = {term.value for side in (left, right) for term in walk(side.term) if term.kind == "number"}
    return ratio != 1 and bool({ratio, 1 / ratio} & numbers)


def _without_units(side: Side) -> Side:
    term = side.shown
    return side if term is None else Side(term._replace(units=()), side.n_tokens)


def tolerance(units: set[Unit]) -> Fraction:
    """Return how far two values may lie apart because ratios between systems of units are quoted rounded."""
    names = {_base_name(unit.name) for unit in units if physical(unit.dims)}
    if names & _KITCHEN and names - _KITCHEN:
        return Fraction(1, 4)
    families = [names & _IMPERIAL, names & _MEASURED, names - _IMPERIAL - _MEASURED]
    is_mixed = sum(bool(family) for family in families) > 1 or len(names & _MEASURED) > 1
    return Fraction(1, 16) if is_mixed else Fraction(0)


def _base_name(name: str) -> str:
    return next((known for known in _MEASURED if name.endswith(known)), name)


def uses_calendar(first: Size, second: Size) -> bool:
    """Whether months or years occur beside other times; among themselves their ratios are exact."""
    names = {name for name, _ in (*first.dims, *second.dims)}
    return CALENDAR in names and bool(names & {_TIME})


def _is_cooking(units: set[Unit]) -> bool:
    return any(unit.name == "ounce" for unit in units) and any(unit.name in _KITCHEN for unit in units)


def excuse_of_dims(first: Dims, second: Dims, left: Side, right: Side, notes: Notes) -> str:
    """Return why sides of different dimensions may still be meant as equal."""
    ratio = dict(multiply(first, second, Fraction(-1)))
    if notes.has_bare_factor:
        return "a number without a unit takes any unit"
    if _leaves_out_a_unit(ratio, left, right):
        return "a unit that may be left out"
    if not set(dict(first)) - {_LENGTH} and not set(dict(second)) - {_LENGTH}:
        return "lengths, areas and volumes in one unit"
    if "[substance]" in ratio:
        return "per mole may be left out"
    if _MASS not in dict((*first, *second)):
        return ""
    known = (
        ({_MASS: 1, _LENGTH: -3}, "a volume of water for its mass"),
        ({_LENGTH: 1, _TIME: -2}, "a mass for its weight"),
        ({_LENGTH: 2, _TIME: -2}, "a mass for its energy"),
    )
    for dims, what in known:
        if ratio in (dims, {name: -power for name, power in dims.items()}):
            return what
    return ""


def _leaves_out_a_unit(ratio: dict[str, Fraction], left: Side, right: Side) -> bool:
    """Whether everyday language or a shortened conversion would leave out just what is missing.

    8 hours * 60 miles = 480 miles leaves out "per hour"; 26.3 mL / 1000 mL leaves out "per litre".
    """
    inverse = {name: -power for name, power in ratio.items()}
    units = left.units | right.units
    is_everyday = any(unit.is_word for unit in units) or bool(set(ratio) & MONEY)
    for side in (left, right):
        for term in walk(side.term):
            if term.kind != "unit":
                continue
            number = plain_quantity(term)
            is_factor = number is not None and number.value in _CONVERSIONS
            whole = dict(physical(unit_size(term.units)[1]))
            parts = [dict(physical(multiply((), unit.dims, power))) for unit, power in term.units]
            for missing in (whole, *(parts if is_everyday else ())):
                if missing and missing in (ratio, inverse) and (is_everyday or is_factor):
                    return True
    return CALENDAR in ratio or _BY_NAME & {unit.name for unit in units} != set()
