"""What signs and numbers of an equation may mean besides the plainest reading."""

import pytest

from labeling.records import Problem, Solution
from labeling.verifiers._numbers_meant import operations_defined_in
from labeling.verifiers.arithmetic import ArithmeticVerifier

VERIFIER = ArithmeticVerifier()

FORMS = {
    "repeating decimals": [
        ("$\\frac13 = 0.\\overline{3}$", "RIGHT"),
        ("\\frac{4}{3} = 1.\\overline{3}", "RIGHT"),
        ("\\frac{7}{11} = 0.\\bar{63}", "RIGHT"),
        ("1/3 = 0.(3)", "RIGHT"),
        ("2/7 = 0.\\overline{3}", "WRONG"),
        ("1/6 = 0.1(6)", "UNDECIDED"),
        ("1/6 = 0.1(7)", "WRONG"),
        ("0.5(4) = 2", "RIGHT"),
        ("1.(3)/2 = 2/3", "RIGHT"),
    ],
    "vulgar fractions": [
        ("½ × 10 × 6 = 30", "RIGHT"),
        ("½ × 10 × 6 = 60", "WRONG"),
        ("2½ + 1 = 3.5", "RIGHT"),
        ("½ + 3½ = 5", "WRONG"),
    ],
    "roots in plain text": [
        ("sqrt(36 + 64) = sqrt(100) = 10", "RIGHT"),
        ("sqrt(25) = 6", "WRONG"),
    ],
    "scientific notation": [
        ("2.5e3 * 2 = 5e3", "RIGHT"),
        ("2.5e3 * 2 = 6e3", "WRONG"),
        ("2e + 3 = 7", "UNDECIDED"),
        ("10-3 = 0.001", "UNDECIDED"),
        ("10-3 = 0.1", "WRONG"),
    ],
    "division of fractions": [
        ("3/4 ÷ 1/2 = 3/2", "RIGHT"),
        ("3/4 ÷ 1/2 = 3/8", "UNDECIDED"),
        ("3/4 ÷ 1/2 = 3/5", "WRONG"),
        ("48 \\div 2 = 24", "RIGHT"),
    ],
    "degrees and radians": [
        ("30° = \\frac{\\pi}{6}", "UNDECIDED"),
        ("2π = 360°", "UNDECIDED"),
        ("90° + 30° = 130°", "WRONG"),
    ],
    "names and lists": [
        ("Day 1 - 5 + 3 = 8", "UNDECIDED"),
        ("Day 1 - 5 + 3 = 9", "WRONG"),
        ("9 - 5 + 3 = 8", "WRONG"),
        ("步骤 2 - 30 × 3 = 90", "UNDECIDED"),
        ("Let f(x) = x^2. Then f(7) = 3 + 4.", "UNDECIDED"),
    ],
    "bare numbers with a result in a unit": [
        ("P = 1000 × 9.8 × 10 = 98 kPa", "UNDECIDED"),
        ("T = 1/50 = 20 ms", "UNDECIDED"),
        ("4 × 25 = $1", "UNDECIDED"),
        ("3 × 40 = 2 hours", "UNDECIDED"),
        ("3 × 40 = 3 hours", "WRONG"),
        ("5 × 2000 = 10 apples", "WRONG"),
    ],
    "unknowns as words": [
        ("1/10 = 1/30 + 1/di", "UNDECIDED"),
        ("$50 = 2(20) + 2(width)$", "UNDECIDED"),
        ("50 = 20 + 5 price", "UNDECIDED"),
        ("50 = 20 + 5 apples", "WRONG"),
        ("50 = 20 + 5 hours", "UNDECIDED"),
        ("50 = 20 + 5 per day", "UNDECIDED"),
        ("50 = 20 + 5/day", "UNDECIDED"),
        ("18 = 3 m + 2 g", "UNDECIDED"),
        ("50 = 20 hours + 5 hours", "WRONG"),
        ("50 hours = 20 + 5 hours", "WRONG"),
        ("5 apples + 3 = 9", "WRONG"),
    ],
    "words that reach over the formula": [
        ("half the sum of 3 + 5 = 4", "UNDECIDED"),
        ("the sum of 3 and 4 × 2 = 11", "UNDECIDED"),
        ("the sum of 3 + 4 = 8", "WRONG"),
        ("25% of 40 + 60 = 25", "UNDECIDED"),
        ("25% of 40 + 60 = 70", "RIGHT"),
        ("25% of 40 + 60 = 50", "WRONG"),
    ],
    "sizes and counts": [
        ("The perimeter of a 3 x 4 rectangle = 14", "UNDECIDED"),
        ("surface area of a 2 x 3 x 4 box = 52", "UNDECIDED"),
        ("216 square feet x $34 = $7544", "WRONG"),
        ("π(10) = 4", "UNDECIDED"),
        ("π(10) = 31.4", "RIGHT"),
    ],
    "a colon that divides": [
        ("48 : 8 - 2 = 4", "UNDECIDED"),
        ("48 : 8 - 2 = 5", "WRONG"),
        ("Step 1: 8 - 2 = 4", "WRONG"),
    ],
    "roundings behind an equals sign": [
        ("1/8 = 0.13", "RIGHT"),
        ("1/8 = 0.12", "UNDECIDED"),
        ("-1/8 = -0.12", "UNDECIDED"),
        ("1/8 ≈ 0.12", "RIGHT"),
        ("$7.50 / 4 = $1.87", "UNDECIDED"),
        ("$3.49 + $2.99 = $6.5", "UNDECIDED"),
        ("$3.49 + $2.99 ≈ $6.5", "RIGHT"),
        ("$3.49 + $2.99 = $6.4", "UNDECIDED"),
        ("$3.49 + $2.99 = $6.6", "WRONG"),
    ],
    "decimals that may be rounded": [
        ("0.67 * 15 = 10", "UNDECIDED"),
        ("0.4 * 250 = 110 students", "WRONG"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("text", "expected"), [pair for pairs in FORMS.values() for pair in pairs], ids=lambda text: text
)
def test_a_form_has_its_verdict(text, expected):
    assert VERIFIER.judge(text).outcome == expected


def of_problem(text, step):
    problem = Problem(id="p", text=text)
    return VERIFIER.verify(problem, Solution.from_steps([step], id="s", problem=problem))[0].outcome


@pytest.mark.parametrize("definition", ["a * b = a^2 + b", "$a \\ast b$ is a^2 + b", "x × y means 2x + y"])
def test_a_sign_that_the_problem_defines_is_not_held_against_a_step(definition):
    assert of_problem(f"Let {definition} for all numbers.", "3 * 2 = 9 + 2 = 11") == "UNDECIDED"
    assert of_problem(f"Let {definition} for all numbers.", "9 + 2 = 12") == "WRONG"
    assert of_problem("Let a * b = 12.", "3 * 2 = 9 + 2 = 11") == "WRONG"


def test_only_a_formula_in_both_letters_defines_an_operation():
    assert operations_defined_in("l * w = 12 and l * w = area of it, x ^ y = y + x") == {"^"}
    assert operations_defined_in("a ÷ b = a - b, c \\cdot d = c + 2d") == {"/", "*"}
    assert operations_defined_in("a * a = a^2, where b = 3") == frozenset()
