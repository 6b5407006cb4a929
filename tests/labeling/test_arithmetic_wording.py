"""What words say of a formula: each left-open case has a twin that the same words leave wrong."""

import pytest

from labeling.verifiers.arithmetic import ArithmeticVerifier
from labeling.verifiers.units import UnitsVerifier
from labeling.verifiers.verdict import Outcome

ARITHMETIC, UNITS = ArithmeticVerifier(), UnitsVerifier()


def outcome(text, following=""):
    return ARITHMETIC.judge(text, following=following).outcome


def outcome_of_units(text, following=""):
    return UNITS.judge(text, following=following).outcome


@pytest.mark.parametrize(
    "text",
    [
        "4 + 5 = 10 doesn't work",
        "4 + 5 = 10 doesn’t match the total",
        "4 + 5 = 10 won't work.",
        "4 + 5 = 10 isn’t true",
        "4 + 5 = 10 can’t be",
        "4 + 5 = 10 is absurd.",
        "4 + 5 = 10 is nonsense.",
        "4 + 5 = 10 fails.",
        "We reject 4 + 5 = 10.",
        "4 + 5 = 10 is not right.",
        "4 + 5 = 10 (no)",
        "4 + 5 = 10, no.",
        "4 + 5 = 10 → No",
        "4 + 5 = 10 → F",
        "4 + 5 = 10: ✗",
        "There are no such numbers: 4 + 5 = 10.",
        "So 4 + 5 = 10. The sum should be 9.",
    ],
)
def test_a_rejected_equation_is_left_open(text):
    assert outcome(text) == Outcome.UNDECIDED


@pytest.mark.parametrize(
    "text",
    [
        "That would require 4 + 5 = 10.",
        "For this we need 4 + 5 = 10.",
        "We can't have 4 + 5 = 10.",
        "If 4 + 5 = 10 then all is lost.",
        "Unless 4 + 5 = 10, this stands.",
        "Were 4 + 5 = 10, we would win.",
        "Had 4 + 5 = 10 then we stop.",
        "Tom wrote 4 + 5 = 10.",
        "Tom wrote $2 \\times 4 = 10$.",
        "The student computed 4 + 5 = 10.",
        "According to Ben, 4 + 5 = 10.",
        "Students often write 4 + 5 = 10.",
        "She misread it: 4 + 5 = 10.",
        "Don't write 4 + 5 = 10.",
        "The naive way gives 4 + 5 = 10.",
        "One may think 4 + 5 = 10.",
        "Option A: 4 + 5 = 10. Option B: 4 + 5 = 9.",
    ],
)
def test_a_wish_a_condition_and_a_saying_of_others_are_left_open(text):
    assert outcome(text) == Outcome.UNDECIDED


@pytest.mark.parametrize(
    "text",
    [
        "Then we need 4 + 5 = 10 eggs.",
        "She had 4 + 5 = 10 apples.",
        "If he has 3 boxes of 4, then 3 * 4 = 13.",
        "Tom wrote 3 * 2 = 7 pages.",
        "Option A costs 3 * 4 = 13 dollars.",
        "Option A: 3 * $4 = $13.",
        "Choice A: √(4/44) ≈ 0.316",
        "According to the rule, 4 + 5 = 10.",
        "One gets 4 + 5 = 10.",
        "The number of those who failed is 4 + 5 = 10.",
        "The angle is not right-angled, and 4 + 5 = 10.",
        "Actually, 4 + 5 = 10.",
        "小明有4+5=10个苹果。",
    ],
)
def test_the_same_words_about_something_else_excuse_nothing(text):
    assert outcome(text) == Outcome.WRONG


@pytest.mark.parametrize(
    "correction",
    [
        "Actually, that should be 144.",
        "Hold on, that is 144.",
        "No, it is 144.",
        "Sorry, 144.",
        "Correction: 144.",
        "That was a slip.",
        "Let me recompute.",
        "Let me double check.",
    ],
)
def test_a_correction_is_heard_in_the_step_and_in_the_next(correction):
    assert outcome("So 12 × 12 = 124.", correction) == Outcome.UNDECIDED
    assert outcome(f"So 12 × 12 = 124. {correction}") == Outcome.UNDECIDED
    assert outcome_of_units("So 5 km = 500 m.", correction) == Outcome.UNDECIDED
    assert outcome(f"{correction} So 12 × 12 = 144.") == Outcome.RIGHT


@pytest.mark.parametrize(
    "following", ["So we need two more.", "No one else came.", "Now he actually has 3 more."]
)
def test_a_next_step_that_goes_on_corrects_nothing(following):
    assert outcome("So 12 × 12 = 124.", following) == Outcome.WRONG


@pytest.mark.parametrize(
    "text",
    [
        "Das ist falsch: 3 + 4 = 8.",
        "C'est faux: 3 + 4 = 8.",
        "Está errado: 3 + 4 = 8.",
        "Pedro dice que 3 + 4 = 8.",
        "Es incorrecto que 3 + 4 = 8.",
        "Неверно, что 3 + 4 = 8",
        "小明算错了,他算出12×5=50。",
        "假设1+1=3",
        "如果1+1=3,那么我们赢了。",
        "Wenn 3 + 4 = 8, dann ist alles gut.",
        "Si 3 + 4 = 8, alors tout va bien.",
        "Если 3 + 4 = 8, то всё хорошо",
        "Angenommen 3 + 4 = 8.",
        "Suponga que 3 + 4 = 8.",
    ],
)
def test_rejections_and_conditions_are_heard_in_other_languages(text):
    assert outcome(text) == Outcome.UNDECIDED


@pytest.mark.parametrize(
    "text", ["Das sind 3 + 4 = 8.", "Son 3 + 4 = 8.", "Si hay 3 cajas, son 3 + 4 = 8.", "如果有3个，3+4=8。"]
)
def test_plain_assertions_in_other_languages_stay_wrong(text):
    assert outcome(text) == Outcome.WRONG


@pytest.mark.parametrize(
    "text",
    [
        "A common error: 5 km = 500 m.",
        "One may think 1 m² = 100 cm², but 1 m² = 10000 cm².",
        "5 km = 500 m doesn't work",
        "If 5 km = 500 m, then all is lost.",
    ],
)
def test_units_hear_the_same_words(text):
    assert outcome_of_units(text) == Outcome.UNDECIDED
    assert outcome_of_units("We need 5 km = 500 m of rope.") == Outcome.WRONG


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("From 9:00 to 10:30 is 13 hours 30 minutes.", "WRONG"),
        ("From 9:00 a.m. to 10:30 a.m. is 25 hours 30 minutes.", "WRONG"),
        ("14:00 - 9:00 = 17 hours", "WRONG"),
        ("23:00 + 2 hours = 13:00", "WRONG"),
        ("74:00 - 9:00 = 5 hours", "UNDECIDED"),
        ("71:50 PM + 20 minutes = 12:10 AM", "UNDECIDED"),
        ("14:00 - 9:00 = 19 hours", "UNDECIDED"),
        ("9:00 AM - 5:00 PM = 8 hours", "RIGHT"),
        ("He works 9:00-17:00 = 8 hours", "RIGHT"),
        ("Monday 8:30 – 12:00 = 3.5 hours", "RIGHT"),
    ],
)
def test_spans_of_time_stay_below_the_period_of_the_clock_and_a_dash_may_be_a_range(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("9:00 AM - 5:00 PM = 9 hours", "WRONG"),
        ("14:00 - 9:00 = 5 hours", "RIGHT"),
        ("11:00 + 2 hours = 13:00", "RIGHT"),
        ("11:00 + 2 hours = 1:00", "RIGHT"),
        ("From 22:00 to 6:00 is 8 hours.", "RIGHT"),
        ("From 9:00 to 9:00 is 12 hours.", "RIGHT"),
    ],
)
def test_other_times_of_day_keep_their_verdicts(text, expected):
    assert outcome(text) == expected


@pytest.mark.parametrize(
    "text", ["10 + 5 = 3 pm", "9 + 5 = 2 o'clock", "10 + 4 = 2 on a 12-hour clock", "22 + 4 = 2 am"]
)
def test_hours_on_a_clock_go_round(text):
    assert outcome(text) == Outcome.UNDECIDED
    assert outcome(text.replace(" = ", " = 1")) == Outcome.WRONG


@pytest.mark.parametrize(
    "words", ["余", "余数是", "あまり", " 나머지 ", " reste ", " mit Rest ", " rem ", " остаток "]
)
def test_a_remainder_is_read_in_other_words(words):
    assert outcome(f"29÷4 = 7{words}1") == Outcome.RIGHT
    assert outcome(f"29÷4 = 7{words}2") == Outcome.WRONG


@pytest.mark.parametrize(
    "text",
    [
        "29/4 = 7 and 1 left",
        "100/8 = 12 full boxes",
        "29/4 = 7 complete groups",
        "17/5 = 3 and 2/5",
        "50 / 12 = 4 years and 2 months",
    ],
)
def test_a_quotient_that_leaves_something_over_is_left_open(text):
    assert outcome(text) == Outcome.UNDECIDED


@pytest.mark.parametrize(
    "text", ["29/4 = 7 boxes.", "29/4 = 9 full boxes.", "10/2 = 6 and 3*5 = 15", "3 * 4 = 13 and 2 more"]
)
def test_other_quotients_stay_wrong(text):
    assert outcome(text) == Outcome.WRONG


@pytest.mark.parametrize(
    "text",
    [
        "5 ^ 3 = 6 (XOR)",
        "1 + 1 = 0 in Z_2",
        "1 + 1 = 0 in $\\mathbb{Z}/2\\mathbb{Z}$",
        "1 + 1 = 1 (Boolean OR)",
        "1 + 1 = 0 in GF(2)",
    ],
)
def test_other_arithmetics_are_left_open(text):
    assert outcome(text) == Outcome.UNDECIDED
    assert outcome("1 + 1 = 3 in Z_2") == Outcome.WRONG


@pytest.mark.parametrize("text", ["€5 + 50 cents = €5.50", "£1.20 + 80 pence = £2", "50 cents + €5 = €5.50"])
def test_cents_of_other_currencies_are_left_to_units(text):
    assert outcome(text) == Outcome.UNDECIDED
    assert outcome_of_units(text) == Outcome.RIGHT
    assert outcome("It costs £3. So 4 + 5 = 10 cents.") == Outcome.WRONG
