"""Whether two sides of a relation agree in value and in dimensions: one claim -> one finding."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from labeling.verifiers._reading import UnreadableError, order_holds
from labeling.verifiers._unit_benefit import (
    agreement,
    agrees_plainly,
    converts,
    excuse_of_dims,
    excuse_of_value,
    tolerance,
    uses_calendar,
)
from labeling.verifiers._unit_claims import Claim
from labeling.verifiers._unit_parser import parse
from labeling.verifiers._unit_table import Dims, Unit, physical, shown, unit_of
from labeling.verifiers._unit_trees import Reading, Side, Term, plain_quantity, walk, with_small_change
from labeling.verifiers._unit_values import ClashError, Notes, Size, measure
from labeling.verifiers.verdict import Outcome

MAX_READINGS = 12
VALUE = "value"
DIMENSION = "dimension"
DOUBTFUL = "doubtful"
UNREAD = "unread"


@dataclass(frozen=True)
class Finding:
    """What one claim came to."""

    outcome: Outcome
    kind: str
    reason: str = ""
    left: str = ""
    right: str = ""


def judge(claim: Claim, variables: set[str]) -> Finding:
    """Judge a claim in every reading that its signs allow; the kindest one counts.

    Args:
        claim: The claim.
        variables: Letters that the text uses as names.
    """
    best: Finding | None = None
    for left, right, is_loose in _readings(claim):
        finding = _compare(claim, left, right, variables)
        if is_loose and finding.outcome is Outcome.RIGHT:
            finding = Finding(Outcome.UNDECIDED, DOUBTFUL, "a power that may be of the whole quantity")
        if finding.outcome is Outcome.RIGHT:
            return finding
        if best is None or (best.outcome is Outcome.WRONG and finding.outcome is Outcome.UNDECIDED):
            best = finding
    return best or Finding(Outcome.UNDECIDED, UNREAD, "no reading")


def _readings(claim: Claim) -> Iterator[tuple[Side, Side, bool]]:
    """Yield the two sides as read, and whether the reading is one that excuses but never proves."""
    first = parse(claim.left), parse(claim.right)
    yield *first, False
    traits = sorted(first[0].traits | first[1].traits)
    choices = [chosen for size in range(1, len(traits) + 1) for chosen in combinations(traits, size)]
    for chosen in choices[:MAX_READINGS]:
        reading = Reading(**dict.fromkeys(chosen, True))
        try:
            sides = parse(claim.left, reading), parse(claim.right, reading)
        except UnreadableError:
            continue
        if reading.has_powers_of_quantities:
            # 1 m^2 by itself is an area and never (1 m)^2.
            sides = tuple(
                plain if plain.shown is not None else side for plain, side in zip(first, sides, strict=True)
            )
        yield sides[0], sides[1], reading.has_powers_of_quantities


def _compare(claim: Claim, left: Side, right: Side, variables: set[str]) -> Finding:
    if not _speaks_of_units(left) and not _speaks_of_units(right):
        return Finding(Outcome.UNDECIDED, UNREAD, "no known unit")
    if (heated := _kelvins_from_celsius(claim, left, right)) is not None:
        return heated
    left, right = with_small_change(left, right)
    notes = Notes()
    try:
        first, second = measure(left.term, notes), measure(right.term, notes)
    except ClashError as clash:
        return _judge_clash(claim, clash, notes, left, right, variables)
    except UnreadableError as error:
        return Finding(Outcome.UNDECIDED, UNREAD, str(error))
    is_stated = left.shown is not None and right.shown is not None
    if is_stated and _unit_names(left) == _unit_names(right):
        return Finding(Outcome.UNDECIDED, UNREAD, "nothing is computed or converted")
    if first.is_bare or (second.is_bare and not left.has_units):
        is_equality = claim.relation in ("=", "~")
        is_false = is_equality and not second.is_bare and not agrees_plainly(claim, left, right)
        reason = "numbers that differ, which arithmetic decides" if is_false else "no unit on the left"
        return Finding(Outcome.UNDECIDED, DOUBTFUL if is_false else UNREAD, reason)
    finding = _weigh(claim, left, right, first, second, notes)
    if finding.outcome is Outcome.WRONG or finding.outcome is Outcome.RIGHT:
        return _with_letters(finding, left, right, variables)
    return finding


def _speaks_of_units(side: Side) -> bool:
    """Whether a side holds a unit, or a rate of things (apples per person)."""
    if any(physical(unit.dims) or not unit.dims for unit in side.units):
        return True
    return any(power < 0 for term in walk(side.term) for _, power in term.units)


def _weigh(claim: Claim, left: Side, right: Side, first: Size, second: Size, notes: Notes) -> Finding:
    if second.is_bare:
        return _judge_bare(claim, left, right, first, second)
    if scale := _temperatures(claim, left, right, first, second):
        return scale
    if physical(first.dims) != physical(second.dims):
        return _judge_mismatch(claim, left, right, first, second, notes)
    if claim.relation not in ("=", "~"):
        return _judge_order(claim, left, right, first, second, notes)
    texts = (shown_size(first), shown_size(second))
    if how := agreement(claim.relation, left, right, first, second):
        if _things(first.dims) != _things(second.dims) and _things(first.dims) and _things(second.dims):
            return Finding(Outcome.UNDECIDED, DOUBTFUL, "the two sides count different things", *texts)
        return Finding(Outcome.RIGHT, how, "", *texts)
    if notes.has_bare_factor and converts(claim, left, right, first, second):
        return Finding(Outcome.RIGHT, "conversion", "", *texts)
    reason = f"{texts[0]} is not {texts[1]}"
    excuse = excuse_of_value(claim, left, right, first, second, notes)
    if not physical(first.dims) and _things(first.dims) + _things(second.dims):
        excuse = excuse or "numbers of things, which arithmetic decides"
    return _held_against(claim, excuse, VALUE, reason, texts, left, right)


def _held_against(
    claim: Claim, excuse: str, kind: str, reason: str, texts: tuple[str, str], left: Side, right: Side
) -> Finding:
    """Return WRONG, or UNDECIDED where something speaks for the claim."""
    doubts = (*claim.doubts, *left.doubts, *right.doubts)
    excuse = excuse or (doubts[0] if doubts else "")
    if excuse:
        return Finding(Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {excuse}", *texts)
    return Finding(Outcome.WRONG, kind, reason, *texts)


def _with_letters(finding: Finding, left: Side, right: Side, variables: set[str]) -> Finding:
    """Leave open what rests on letters that may be variables (5 m, 3 g)."""
    letters, glued = left.letters | right.letters, left.glued_letters | right.glued_letters
    units = left.units | right.units
    sure = {unit.dims for unit in units if not unit.is_letter}
    doubtful = {
        letter
        for letter in letters & (variables | glued)
        if (unit := unit_of(letter)) and unit.dims not in sure
    }
    if finding.kind == DIMENSION:
        doubtful = letters & (variables | glued)
        if left.has_letter_products or right.has_letter_products or _may_be_variables(left, right):
            doubtful |= letters
    elif left.has_rates or right.has_rates:
        return finding
    if not doubtful:
        return finding
    # Three units that fit together are units, and 2m + 3m = 5m is true whatever m stands for.
    if finding.outcome is Outcome.RIGHT and (len(units) != 2 or len(letters) == 1):
        return finding
    names = ", ".join(sorted(doubtful))
    return Finding(Outcome.UNDECIDED, DOUBTFUL, f"{names} may be a variable", finding.left, finding.right)


def _may_be_variables(left: Side, right: Side) -> bool:
    """Whether one side sums letters alone and the other has no unit: 24 = 3 J + 2 N, P = 2 L + 2 W."""
    sides = [side for side in (left, right) if side.has_units]
    if len(sides) != 1:
        return False
    names = {unit.name for letter in sides[0].letters if (unit := unit_of(letter)) is not None}
    return {unit.name for unit in sides[0].units} <= names


def _judge_bare(claim: Claim, left: Side, right: Side, first: Size, second: Size) -> Finding:
    """Judge a right side without a unit: it takes the unit of the left."""
    texts = (shown_size(first), str(second.value))
    is_equality = claim.relation in ("=", "~")
    if is_equality and not first.dims and agreement(claim.relation, left, right, first, second):
        return Finding(Outcome.RIGHT, "exact", "", *texts)
    if is_equality and len(_unit_names(left)) == 1 and agrees_plainly(claim, left, right):
        return Finding(Outcome.RIGHT, "plain", "", *texts)
    return Finding(Outcome.UNDECIDED, UNREAD, "a number without a unit takes any unit", *texts)


def _judge_order(claim: Claim, left: Side, right: Side, first: Size, second: Size, notes: Notes) -> Finding:
    difference = first.value - second.value
    texts = (shown_size(first), shown_size(second))
    if order_holds(claim.relation, difference):
        return Finding(Outcome.RIGHT, "inequality", "", *texts)
    excuse = "an inequality" if claim.relation == "!=" else ""
    if notes.has_bare_factor or uses_calendar(first, second) or tolerance(left.units | right.units):
        excuse = "units may be converted in it"
    reason = f"{texts[0]} {claim.relation} {texts[1]} does not hold"
    return _held_against(claim, excuse, VALUE, reason, texts, left, right)


def _judge_clash(
    claim: Claim, clash: ClashError, notes: Notes, left: Side, right: Side, variables: set[str]
) -> Finding:
    """Judge a sum of different dimensions."""
    dims = (physical(clash.left), physical(clash.right))
    excuse = excuse_of_dims(*dims, left, right, notes) or ("" if all(dims) else "a term without dimensions")
    reason = f"a sum of {shown(dims[0])} and {shown(dims[1])}"
    texts = (shown(dims[0]), shown(dims[1]))
    finding = _held_against(claim, excuse, DIMENSION, reason, texts, left, right)
    return _with_letters(finding, left, right, variables)


def _judge_mismatch(
    claim: Claim, left: Side, right: Side, first: Size, second: Size, notes: Notes
) -> Finding:
    """Judge sides of different dimensions."""
    dims = (physical(first.dims), physical(second.dims))
    texts = (shown(dims[0]), shown(dims[1]))
    if notes.has_bare_factor and claim.relation in ("=", "~"):
        how = agreement(claim.relation, left, right, first, second)
        if how and _is_coherent(left.units | right.units):
            # F = 9e9 * (2 C)(3 C)/(1 m)^2 = 5.4e10 N: the constant's unit is understood.
            return Finding(
                Outcome.UNDECIDED,
                DOUBTFUL,
                "a number stands without its unit",
                shown_size(first),
                shown_size(second),
            )
    excuse = excuse_of_dims(*dims, left, right, notes)
    if not excuse and left.shown is not None and right.shown is not None and not _is_identity(left, right):
        excuse = "one thing may stand for another"
    reason = f"the left side is {texts[0]}, the right side {texts[1]}"
    return _held_against(claim, excuse, DIMENSION, reason, texts, left, right)


def _is_coherent(units: set[Unit]) -> bool:
    return all(unit.factor == 1 for unit in units)


def _is_identity(left: Side, right: Side) -> bool:
    """Whether one unit is said to be another: 1 W = 1 N m / s."""
    sides = (left.shown, right.shown)
    return all(side is not None and side.value == 1 for side in sides) and any(
        side is not None and len(side.units) > 1 for side in sides
    )


def _temperatures(claim: Claim, left: Side, right: Side, first: Size, second: Size) -> Finding | None:
    """Judge what mixes scales of temperature; None when it does not."""
    names = {unit.name for unit in left.units | right.units} & {"°C", "°F", "kelvin"}
    if len(names) < 2:
        return None
    one, other = left.shown, right.shown
    texts = (shown_size(first), shown_size(second))
    if one is None or other is None or len(one.units) != 1 or len(other.units) != 1:
        if agreement(claim.relation, left, right, first, second):
            return Finding(Outcome.RIGHT, "exact", "", *texts)
        return Finding(Outcome.UNDECIDED, DOUBTFUL, "scales of temperature with different zeros", *texts)
    if one.units[0][1] != 1 or other.units[0][1] != 1 or claim.relation not in ("=", "~"):
        return None
    kelvins = [_kelvins(term) for term in (one, other)]
    texts = (f"{_approximate(kelvins[0]):.6g} K", f"{_approximate(kelvins[1]):.6g} K")
    gap = abs(kelvins[0] - kelvins[1])
    steps = [term.last_digit * term.units[0][0].factor for term in (one, other)]
    step = max(steps)
    if gap <= steps[1] / 2:
        return Finding(Outcome.RIGHT, "exact" if gap == 0 else "rounded", "", *texts)
    excuse = "a difference of temperatures" if first.value == second.value else ""
    if gap <= max(step, 1):
        excuse = "the zero of the scale may be rounded"
    reason = f"{texts[0]} is not {texts[1]}"
    return _held_against(claim, excuse, VALUE, reason, texts, left, right)


def _kelvins_from_celsius(claim: Claim, left: Side, right: Side) -> Finding | None:
    """Judge 25 °C + 273 = 298 K, which adds the zero of the scale; None for other claims."""
    term, shown_right = left.term, right.shown
    if term.kind != "+" or term.left is None or term.right is None or shown_right is None:
        return None
    heat, zero = plain_quantity(term.left), term.right
    is_celsius = heat is not None and [unit.name for unit, _ in heat.units] == ["°C"]
    is_kelvin = [unit.name for unit, _ in shown_right.units] == ["kelvin"]
    if not is_celsius or not is_kelvin or zero.kind != "number" or int(zero.value) != 273:
        return None
    assert heat is not None
    total = heat.value + zero.value
    texts = (f"{_approximate(total):.6g} K", f"{_approximate(shown_right.value):.6g} K")
    gap = abs(total - shown_right.value)
    if claim.relation in ("=", "~") and gap <= shown_right.last_digit / 2:
        return Finding(Outcome.RIGHT, "exact" if gap == 0 else "rounded", "", *texts)
    excuse = "" if claim.relation == "=" and gap >= 1 else "the zero of the scale may be rounded"
    return _held_against(claim, excuse, VALUE, f"{texts[0]} is not {texts[1]}", texts, left, right)


def _kelvins(term: Term) -> Fraction:
    name = term.units[0][0].name
    if name == "°C":
        return term.value + Fraction("273.15")
    return (term.value + Fraction("459.67")) * Fraction(5, 9) if name == "°F" else term.value


def _unit_names(side: Side) -> set[tuple[str, Fraction]]:
    term = side.shown
    if term is None:
        return {(unit.name, Fraction(1)) for unit in side.units if physical(unit.dims) or not unit.dims}
    return {(unit.name, power) for unit, power in term.units}


def _things(dims: Dims) -> list[tuple[str, Fraction]]:
    return [pair for pair in dims if pair not in physical(dims)]


def shown_size(size: Size) -> str:
    """Return a value in base units with its dimensions."""
    value = size.value
    number = str(value) if size.is_exact and len(str(value)) <= 24 else f"{_approximate(value):.10g}"
    return f"{number} in base units of {shown(size.dims)}"


def _approximate(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
