import itertools
import random
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.answer_pairs import KINDS, pairs
from benchmarks.fuzz_answers import inputs, without_algebra
from labeling.verifiers._answer_compare import Comparer
from labeling.verifiers._answer_findings import State
from labeling.verifiers._answer_layouts import merged
from labeling.verifiers._answer_shapes import Interval
from labeling.verifiers._extract import find_answer, without_thinking
from labeling.verifiers._plain import PlainNumber, read_number, same_number
from labeling.verifiers.answers import compare_answers

PAIRS = list(pairs(6 * len(KINDS), seed=7))


@pytest.mark.parametrize("kind", KINDS)
def test_answers_that_are_equal_or_different_by_construction_are_told_apart_in_both_orders(kind):
    for pair in PAIRS:
        if pair.kind == kind:
            orders = ((pair.reference, pair.candidate), (pair.candidate, pair.reference))
            found = [compare_answers(*order, seconds=20.0).equal for order in orders]
            assert found == [pair.is_equal] * 2, pair


@pytest.mark.parametrize("kind", KINDS)
def test_every_spelling_is_equal_to_itself(kind):
    pair = next(pair for pair in PAIRS if pair.kind == kind)
    assert compare_answers(pair.reference, pair.reference, seconds=20.0).equal is True


NUMBERS = st.integers(1, 10**12)
SPELLINGS = (
    "{}",
    "{:,}",
    "{}.0",
    "\\${:,}",
    "{} apples",
    "x = {}",
    "\\frac{{{}}}{{7}}",
    "{}\\%",
    "{}.25",
    "-{}",
    "{} km",
)


@given(NUMBERS, st.data())
def test_a_number_with_one_digit_changed_is_never_equal_in_any_spelling(number, data):
    digits = str(number)
    place = data.draw(st.integers(0, len(digits) - 1))
    digit = data.draw(st.sampled_from([d for d in "0123456789" if d != digits[place]]))
    other = int(digits[:place] + digit + digits[place + 1 :])
    comparer = Comparer(without_algebra)
    for spelling in SPELLINGS:
        assert comparer.compare(spelling.format(number), spelling.format(number)).is_equal
        assert comparer.compare(spelling.format(number), spelling.format(other)).state is State.DIFFERENT


@given(st.fractions(min_value=-1000, max_value=1000, max_denominator=10**4), st.integers(6, 12))
def test_a_fraction_is_its_rounded_decimals_and_no_neighbour_of_them(value, places):
    scaled = round(value * 10**places)
    fraction = read_number(f"{value.numerator}/{value.denominator}")
    for change in (-3, 0, 2):
        written = Fraction(scaled + change, 10**places)
        decimal = PlainNumber(written, places, False)
        is_significant = abs(written) >= Fraction(10**5, 10**places)
        assert same_number(fraction, decimal) is (written == value or (change == 0 and is_significant))


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        ("0.3333333", "1/3", True),
        ("0.333333", "0.33333333", True),
        ("0.333334", "1/3", False),
        ("0.3333333", "0.3333334", False),
        ("20", "20.000000000000004", True),
        ("0.30000000000000004", "0.3", True),
        ("6", "6.0000001", False),
        ("0.000001", "0.0000019", False),
        ("33.333333%", "1/3", True),
    ],
)
def test_rounding_is_forgiven_from_six_places_on_and_never_hides_a_digit(left, right, is_same):
    assert same_number(read_number(left), read_number(right)) is is_same
    assert same_number(read_number(right), read_number(left)) is is_same


ENDS = st.lists(st.integers(-6, 6), min_size=2, max_size=8, unique=True).map(sorted)


@given(ENDS, st.lists(st.booleans(), min_size=8, max_size=8), st.randoms(use_true_random=False))
def test_joined_intervals_hold_the_same_points_as_the_pieces(ends, opens, shuffler):
    pieces = [
        Interval(str(low), opens[i], str(high), opens[-1 - i])
        for i, (low, high) in enumerate(itertools.pairwise(ends))
    ]
    shuffler.shuffle(pieces)

    def holds(region, point):
        return any(
            (point > int(p.low) or (point == int(p.low) and not p.is_low_open))
            and (point < int(p.high) or (point == int(p.high) and not p.is_high_open))
            for p in region
        )

    joined = merged(tuple(pieces))
    points = [Fraction(n, 2) for n in range(-14, 15)]
    assert [holds(joined, point) for point in points] == [holds(pieces, point) for point in points]
    assert all(int(a.high) <= int(b.low) for a, b in itertools.pairwise(joined))


def test_mutated_answers_raise_nothing_and_both_orders_agree():
    comparer = Comparer(without_algebra)
    opposite = {State.EQUAL, State.DIFFERENT}
    for left, right, text in inputs(0, 400, seed=3):
        found = find_answer(text)
        assert found is None or without_thinking(text)[found.start : found.end] == found.text
        assert {comparer.compare(left, right).state, comparer.compare(right, left).state} != opposite
        assert comparer.compare(left, left).state is not State.DIFFERENT


@settings(max_examples=60)
@given(st.integers(0, 10**6))
def test_the_order_of_a_list_does_not_matter_and_that_of_a_tuple_does(seed):
    rng = random.Random(seed)
    values = rng.sample(range(-50, 50), 3)
    turned = values[1:] + values[:1]
    comparer = Comparer(without_algebra)
    bare, other = (", ".join(map(str, each)) for each in (values, turned))
    assert comparer.compare(bare, other).is_equal
    assert comparer.compare(f"({bare})", f"({other})").state is State.DIFFERENT
    assert comparer.compare(bare, f"({bare})").state is State.UNSURE
