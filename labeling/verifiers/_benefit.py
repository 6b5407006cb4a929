"""The benefit of the doubt: readings under which an equation that is false as written is meant as true."""

from fractions import Fraction

from labeling.verifiers._claims import Claim
from labeling.verifiers._exact import Value, are_near, evaluate, is_rounding, is_same, is_truncation
from labeling.verifiers._expressions import parse
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers._trees import Parse, Reading, shown_number, walk
from labeling.verifiers._wording import Wording

_CURRENCIES = frozenset({"$", "€", "£", "¥", "₹"})
_ROUNDED_CONSTANTS = frozenset(
    Fraction(text) for text in ("3.14", "3.142", "3.1416", "2.718", "1.41", "1.414", "1.73", "1.732", "2.236")
)
"""Behind these stand irrational numbers, with which people compute on."""
_SUMMING = frozenset({"+", "-", "negative", "unit", "number"})
_VOWELS = frozenset("aeiouy")
_OTHER_READINGS = (
    ("slash", Reading(has_tight_fractions=True)),
    ("implicit", Reading(has_tight_products=True)),
    ("negative_power", Reading(has_negative_bases=True)),
    ("percent", Reading(has_percent_as_unit=True)),
    ("mixed", Reading(has_mixed_as_product=True)),
    ("bang", Reading(has_plain_bangs=True)),
    ("scale", Reading(has_scale_as_unit=True)),
    ("point", Reading(has_decimal_points=True)),
    ("log", Reading(has_natural_logs=True)),
    ("angle", Reading(has_other_angles=True)),
    ("mod", Reading(has_loose_mod=True)),
    ("root", Reading(has_long_roots=True)),
    ("scientific", Reading(has_tight_powers_of_ten=True)),
    ("raised", Reading(has_raised_quantities=True)),
    ("digits", Reading(has_lost_carets=True)),
    ("of", Reading(has_wide_of=True)),
    ("period", Reading(has_periods=True)),
    ("obelus", Reading(has_narrow_obelus=True)),
    ("pi", Reading(pi_as=Fraction(314, 100))),
    ("pi", Reading(pi_as=Fraction(22, 7))),
    ("pi", Reading(pi_as=Fraction(3))),
)


def agreement(relation: str, left: Parse, right: Parse, first: Value, second: Value) -> str:
    """Return how two values agree, "exact" or "rounded"; "" when they do not."""
    if is_same(first, second):
        return "exact"
    for value, computed, other in ((first, left, right), (second, right, left)):
        shown = shown_number(other.node)
        if shown is None or not is_rounding(value, shown, is_approximate=relation == "~"):
            continue
        if relation == "~" or not _is_rounded_sum(value, computed):
            return "rounded"
    return ""


def _is_rounded_sum(value: Value, computed: Parse) -> bool:
    """Whether a sum, which has no more digits than its terms, is set equal to fewer."""
    return value.is_exact and computed.has_operation and all(n.kind in _SUMMING for n in walk(computed.node))


def excuses(claim: Claim, left: Parse, right: Parse, first: Value, second: Value, wording: Wording) -> str:
    """Return how a false equation may be meant as true, "" when nothing speaks for it.

    Args:
        claim: The claim; `left` and `right` are its sides as read.
        left: Left side.
        right: Right side.
        first: Value of the left side.
        second: Value of the right side.
        wording: What the words of the step say.
    """
    return (
        _excuse_by_annotation(claim, first, second, wording)
        or _excuse_by_digits(claim, left, right, first, second)
        or _excuse_by_words(left, right, first, second, wording)
        or _excuse_by_labels(claim, left, right)
    )


def _excuse_by_annotation(claim: Claim, first: Value, second: Value, wording: Wording) -> str:
    annotated = wording.annotated_value(claim)
    if annotated is None:
        return ""
    if abs(annotated - first.number) * 10**9 > max(abs(first.number), abs(second.number)):
        return "the annotation inside it says what was computed"
    if abs(first.number - second.number) < 1 or first.number == -second.number:
        return "the text gives the whole part or the size of the annotated result"
    return ""


def _excuse_by_digits(claim: Claim, left: Parse, right: Parse, first: Value, second: Value) -> str:
    if _holds_in_another_reading(claim, left, right):
        return "another reading of the signs makes it true"
    gap = abs(first.number - second.number)
    size = max(abs(first.number), abs(second.number))
    shown = [(value, shown_number(side.node)) for value, side in ((first, right), (second, left))]
    if any(node is not None and is_truncation(value, node) for value, node in shown):
        return "the digits are cut off rather than rounded"
    if any(node is not None and is_rounding(value, node, is_approximate=False) for value, node in shown):
        return "rounded where nothing has to be"
    if (
        not _adds_money(left)
        and not _shows_all_digits(first, left, right)
        and gap * 20 <= size
        and are_near(left.node, right.node)
    ):
        return "the decimals in it may be rounded"
    has_long_tail = any(node is not None and node.last_digit * 10**9 <= 1 for _, node in shown)
    if has_long_tail and gap * 10**9 <= size:
        return "the gap is as small as a floating-point error"
    if _rounds_to_whole(left, right, first, second):
        return "a quotient or root rounded to a whole number"
    is_loose = claim.relation == "~" or not (first.is_exact and second.is_exact)
    if not is_loose or _gives_a_whole_number_decimals(left, right, first):
        return ""
    return "an approximation" if gap * 50 <= size else ""


def _shows_all_digits(first: Value, left: Parse, right: Parse) -> bool:
    """Whether a side shows as many decimals as the exact value of the other has: nothing was rounded then."""
    shown = shown_number(right.node)
    if shown is None or shown.last_digit >= 1 or not first.is_exact:
        return False
    has_constant = any(node.kind == "number" and node.value in _ROUNDED_CONSTANTS for node in walk(left.node))
    return not has_constant and (first.number / shown.last_digit).denominator == 1


def _gives_a_whole_number_decimals(left: Parse, right: Parse, first: Value) -> bool:
    """Whether whole numbers make a whole one that is said to be about one with decimals: 729/9 ~ 80.83."""
    shown = shown_number(right.node)
    if shown is None or shown.last_digit >= 1 or not first.is_exact or first.number.denominator != 1:
        return False
    return all(node.last_digit >= 1 for node in walk(left.node) if node.kind == "number")


def _rounds_to_whole(left: Parse, right: Parse, first: Value, second: Value) -> bool:
    """Whether a whole number of three digits is the nearest to a quotient or root: 41 / 0.14 = 293."""
    is_bare = shown_number(right.node) is not None and second.number.denominator == 1
    if not is_bare or abs(second.number) < 100 or abs(first.number - second.number) > Fraction(1, 2):
        return False
    return any(node.kind in ("/", "sqrt", "root", "^", "log") for node in walk(left.node))


def _excuse_by_words(left: Parse, right: Parse, first: Value, second: Value, wording: Wording) -> str:
    gap = abs(first.number - second.number)
    if wording.speaks_of_rounding:
        shown = [shown_number(side.node) for side in (left, right)]
        is_whole = any(node is not None and node.last_digit >= 1 for node in shown)
        if (is_whole and gap < 1) or gap * 50 <= max(abs(first.number), abs(second.number)):
            return "the text speaks of rounding"
    ratios = (first.number == 100 * second.number, second.number == 100 * first.number)
    if wording.speaks_of_percent and any(ratios):
        return "a percentage and its fraction"
    terms = (left.node.left, left.node.right)
    if left.node.kind in ("+", "-") and all(term is not None and term.kind == "percent" for term in terms):
        return "a percentage of a percentage"
    return ""


def _excuse_by_labels(claim: Claim, left: Parse, right: Parse) -> str:
    if _are_quantities_apart(claim, left, right):
        return "the two sides measure different things"
    if _units_clash(left, right):
        return "units that are not known here"
    return "the two sides count different things" if _labels_clash(left, right) else ""


def _are_quantities_apart(claim: Claim, left: Parse, right: Parse) -> bool:
    """Whether the sides are labelled apart: 42 daps = 63 baps, 1 knick = (2 knacks) / 7."""
    ends = [member.tokens[-1].kind in ("WORD", "LABEL") for member in (claim.left, claim.right)]
    is_exchange = all(ends) or (ends[0] and not left.has_operation)
    return is_exchange and bool(left.labels) and bool(right.labels) and not left.labels & right.labels


def _adds_money(side: Parse) -> bool:
    """Whether a side only adds and subtracts amounts of money, which are exact as written."""
    return bool(side.labels & _CURRENCIES) and all(node.kind in _SUMMING for node in walk(side.node))


def _holds_in_another_reading(claim: Claim, left: Parse, right: Parse) -> bool:
    for trait, reading in _OTHER_READINGS:
        if trait not in left.traits | right.traits or (trait == "digits" and _raises(claim)):
            continue
        try:
            sides = [parse(member.tokens, reading) for member in (claim.left, claim.right)]
            values = [evaluate(side.node) for side in sides]
        except UnreadableError:
            continue
        if (sides[0].n_tokens, sides[1].n_tokens) != (left.n_tokens, right.n_tokens):
            continue
        relation = "~" if trait == "percent" else claim.relation
        if agreement(relation, sides[0], sides[1], values[0], values[1]):
            return True
    return False


def _raises(claim: Claim) -> bool:
    """Whether anything but products of numbers is written, so that no exponent was lost in print."""
    tokens = (*claim.left.tokens, *claim.right.tokens)
    return any(token.kind != "NUM" and (token.kind != "OP" or token.text not in "*/") for token in tokens)


def _labels_clash(left: Parse, right: Parse) -> bool:
    """Whether a sum adds different things, or a sum of things is set equal to a computation."""
    nouns = left.labels - _CURRENCIES
    is_sum = left.node.kind in ("+", "-")
    return is_sum and bool(nouns) and (len(nouns) > 1 or right.has_operation)


def _units_clash(left: Parse, right: Parse) -> bool:
    """Whether both sides carry labels and one that looks like a unit (nm, mJ, kWh) is on one side only."""
    if not left.labels or not right.labels:
        return False
    return any(
        len(label) <= 2 or not _VOWELS & set(label) for label in (left.labels ^ right.labels) - _CURRENCIES
    )
