import math
import random
import time
from fractions import Fraction

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from benchmarks.fuzz_verifiers import make_text
from labeling.records import Problem, Solution
from labeling.verifiers._functions import Value, root
from labeling.verifiers.arithmetic import ArithmeticVerifier
from labeling.verifiers.verdict import Outcome

VERIFIER = ArithmeticVerifier()

small = st.integers(2, 12)


def root_form(base, degree):
    return f"\\sqrt[{degree}]{{{base**degree}}} = @", base


def power_form(base, degree):
    return f"{base**degree}^(1/{degree}) = @", base


def modulus_form(base, modulus):
    return f"{base}^{{77}} \\bmod {modulus} = @", pow(base, 77, modulus)


def logarithm_form(base, power):
    return f"\\log_{{{base}}} {base**power} = @", power


def binomial_form(n, k):
    return f"C({n}, {k}) = @", math.comb(n, k)


def gcd_form(n, k):
    return f"\\gcd({6 * n}, {6 * k}) = @", math.gcd(6 * n, 6 * k)


def absolute_form(n, k):
    return f"|{n} - {k}| = @", abs(n - k)


def floor_form(n, k):
    return f"\\lfloor {n}/{k} \\rfloor = @", n // k


def fraction_form(n, k):
    return f"\\frac{{{n * k}}}{k % 9 + 1} * {k % 9 + 1} = @", n * k


def sum_form(n, k):
    return f"The sum of {n}, {k} and 5 is @.", n + k + 5


def percent_form(n, k):
    return f"{10 * n}% of {10 * k} is @.", n * k


def more_form(n, k):
    return f"@ is {n} more than {k}.", n + k


def minutes_form(n, k):
    return f"10:{10 + n} + {k} min = 10:@", 10 + n + k


FORMS = [
    root_form, power_form, modulus_form, logarithm_form, binomial_form, gcd_form, absolute_form, floor_form,
    fraction_form, sum_form, percent_form, more_form, minutes_form,
]  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@given(first=small, second=small, shift=st.integers(-9, 9))
@settings(deadline=None, max_examples=25)
def test_a_form_is_right_for_its_value_alone(form, first, second, shift):
    text, value = form(first, second)
    shown = value + shift
    assume(shown >= 0 and (form is not minutes_form or 10 <= shown < 60))
    # Behind "mod", a number that leaves the same remainder may be meant as congruent.
    assume(form is not modulus_form or not shift or shift % second)
    assert VERIFIER.judge(text.replace("@", str(shown))).outcome == (
        Outcome.WRONG if shift else Outcome.RIGHT
    )


@pytest.mark.parametrize("degree", [2, 3, 5, 12])
def test_a_root_of_a_whole_number_is_exact_or_between_its_neighbours(degree):
    for number in range(1, 700):
        found = root(Value(Fraction(number)), degree)
        nearest = round(number ** (1 / degree))
        assert found.is_exact == (nearest**degree == number)
        assert abs(found.number - Fraction(number ** (1 / degree))) < Fraction(1, 10**9)
        gap = Fraction(1, 10**40)
        assert found.number**degree <= number < (found.number + gap) ** degree


@given(value=st.fractions(0, 30, max_denominator=9), base=small)
@settings(deadline=None, max_examples=40)
def test_a_power_and_its_logarithm_agree_with_floating_point(value, base):
    shown = f"{float(base) ** float(value):.6f}"
    assume(0 < float(shown) < 1e6)
    text = f"{base}^({value.numerator}/{value.denominator}) = {shown}"
    assert VERIFIER.judge(text).outcome == Outcome.RIGHT
    wrong = str(Fraction(shown) * 2)
    assert (
        VERIFIER.judge(f"{base}^({value.numerator}/{value.denominator}) = {wrong}").outcome != Outcome.RIGHT
    )


@given(degrees=st.integers(-720, 720))
@settings(deadline=None, max_examples=40)
def test_a_sine_agrees_with_floating_point(degrees):
    value = math.sin(math.radians(degrees))
    assert VERIFIER.judge(f"\\sin({degrees}^\\circ) \\approx {value:.5f}").outcome == Outcome.RIGHT
    assume(abs(value) > 0.01)
    assert VERIFIER.judge(f"\\sin({degrees}^\\circ) \\approx {-value:.5f}").outcome != Outcome.RIGHT


def test_generated_and_mutated_texts_neither_crash_nor_take_a_second():
    random_numbers = random.Random(0)
    for _ in range(1500):
        text = make_text(random_numbers)
        started = time.process_time()
        for item in VERIFIER.judge(text).evidence:
            assert text[item.start : item.end] == item.text
        assert time.process_time() - started < 1, text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("3 x 10^23 / 6 x 10^23 = 0.5", "UNDECIDED"),
        ("2 * 10³ / 4 * 10² = 5", "UNDECIDED"),
        ("2 * 10^3 / 4 * 10^2 = 50000", "RIGHT"),
        ("2 * 10^3 / 4 * 10^2 = 6", "WRONG"),
        ("3.14 * 2 cm^2 = 12.56 cm^2", "UNDECIDED"),
        ("4 * 3 cm² = 36 cm²", "UNDECIDED"),
        ("4 * 3 cm² = 12 cm²", "RIGHT"),
        ("4 * 3 cm² = 30 cm²", "WRONG"),
        ("2 cm^3 * 4 = 32 cm^3", "WRONG"),
    ],
)
def test_a_power_may_belong_to_the_number_or_quantity_beside_it(text, expected):
    assert VERIFIER.judge(text).outcome == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So 11 # 5 = 65 + 5 + 1 = 71", "RIGHT"),
        ("65 + 5 + 1 = 11 # 5", "UNDECIDED"),
        ("We can see that 288 = 2^5 * 3^2 * 2", "WRONG"),
        ("On day 3 = 4 + 5 apples", "UNDECIDED"),
        ("so 25 = 23 * 22", "UNDECIDED"),
        ("so 25 = 23 + 3", "WRONG"),
        ("15 * 10 = 15", "WRONG"),
    ],
)
def test_names_operations_of_the_text_and_exponents_that_lost_their_place(text, expected):
    assert VERIFIER.judge(text).outcome == expected


def of_steps(*steps):
    problem = Problem(id="p", text="")
    return [v.outcome for v in VERIFIER.verify(problem, Solution.from_steps(steps, id="s", problem=problem))]


def test_a_value_stated_for_the_computation_that_the_step_before_ends_with_is_held_against_it():
    first = "Step 1: Total cost = 20 + 23"
    assert of_steps(first, "Step 2: So, Total cost = 43 dollars.") == ["UNDECIDED", "RIGHT"]
    assert of_steps(first, "Total cost = 45") == ["UNDECIDED", "WRONG"]
    assert of_steps(first, "We add tax. Total cost = 45") == ["UNDECIDED", "UNDECIDED"]
    assert of_steps(first + ". Tax is added.", "Total cost = 45") == ["UNDECIDED", "UNDECIDED"]
    assert of_steps(first, "Tax is 2.", "Total cost = 45") == ["UNDECIDED"] * 3
    assert of_steps(first, "Other cost = 45") == ["UNDECIDED"] * 2
    assert of_steps("Total cost = 20 + 23 = 43", "Total cost = 50") == ["RIGHT", "UNDECIDED"]
