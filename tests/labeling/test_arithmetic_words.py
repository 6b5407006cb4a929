import re

import pytest

from labeling.verifiers.arithmetic import ArithmeticVerifier
from labeling.verifiers.verdict import Outcome

VERIFIER = ArithmeticVerifier()


def outcome(text):
    return VERIFIER.judge(text).outcome


SPOKEN_RIGHT = [
    "The sum of 3, 4 and 5 is 12.",
    "the product of 2, 3 and $4$ is $24$",
    "The difference between 3 and 7 is 4. The quotient of 9 and 2 is 4.5.",
    "The average of 2, 4 and 9 is 5.",
    "Half of 30 is 15. Two-thirds of 60 = 40.",
    "20% of 50 is 10.",
    "So 5 times 4 is 20.",
    "12 is 20% of 60. 12 is half of 24. 12 is 3 more than 9.",
    "The square root of 144 is 12. The cube of 2 is 8.",
    "It doubles from 4 to 8.",
    "91 is not prime. 97 is prime. 144 is a perfect square.",
    "51 is divisible by 3. 17 is a divisor of 51.",
    "50 is not divisible by 3.",
    "7/8 is greater than 3/4.",
    "There are 4 choices for the exponent of 3 (0, 2, 4, 6).",
    "3.14159 rounded to the nearest hundredth is 3.14.",
    "10:45 + 30 min = 11:15",
    "10:45 AM + 1 hour 30 minutes = 12:15 PM",
    "2:38 - 2:15 = 23 minutes",
    "From 10:00 p.m. to 6:00 a.m. is 8 hours.",
    "10:00 a.m. + 12 hours = 10:00 p.m.",
]


@pytest.mark.parametrize("text", SPOKEN_RIGHT)
def test_right_claims_in_words_are_right(text):
    assert outcome(text) == Outcome.RIGHT


FORMULAS = [text for text in SPOKEN_RIGHT if not re.search("prime|than 3/4|choices|rounded|not div", text)]
"""Those that every changed number makes false."""


@pytest.mark.parametrize("text", FORMULAS)
def test_a_changed_number_in_words_is_never_right(text):
    for match in re.finditer(r"\d+", text):
        for shift in (1, 10, 100):
            changed = f"{text[: match.start()]}{int(match.group()) + shift}{text[match.end() :]}"
            assert outcome(changed) != Outcome.RIGHT, changed


@pytest.mark.parametrize(
    ("text", "is_wrong"),
    [
        ("The sum of 3, 4 and 5 is 13.", True),
        ("Half of 30 is 12.", True),
        ("20% of 50 is 12.", True),
        ("20% of 90 is 20.", True),
        ("10:00 a.m. + 12 hours = 10:00 a.m.", True),
        ("So 5 times 4 is 25.", True),
        ("12 is 20% of 50.", True),
        ("91 is prime.", True),
        ("88 is divisible by 3.", True),
        ("0.9 is less than 0.8.", True),
        ("There are 7 choices for the exponent of 3 (0, 2, 4, 6).", True),
        ("The result is 161.7. Rounding to the nearest whole number, the time is 161 minutes.", True),
        ("10:45 + 30 min = 11:20", True),
        ("From 2:15 to 2:38 am is 15 minutes.", True),
        ("Twice the sum of 3 and 4 is 15.", False),
        ("If 91 is prime, we stop.", False),
        ("Let us check, since 91 is prime, what follows.", False),
        ("We can find that it is 161.7. Rounding to the nearest whole number, the time is 161.", True),
        ("51 is not divisible by 3.", True),
        ("We need the sum of 3 and 4 is 8.", False),
        ("3 + 4 is 2 more than 5", False),
        ("The sine at pi/2 is 3", False),
        ("half of 20 + 4 is 15", False),
        ("The sum of 3 and 4 is 9 less than 20.", False),
        ("There are 2 choices from the numbers (1, 2, 3).", False),
        ("At 3:40 + 5 min = 3:50 the bus leaves.", True),
        ("Half of 30 is 15 and two thirds.", False),
        ("The sum of 3 and 4 is 9. That is wrong.", False),
    ],
)
def test_words_are_held_against_a_step_only_in_forms_with_one_reading(text, is_wrong):
    assert outcome(text) == (Outcome.WRONG if is_wrong else Outcome.UNDECIDED)
