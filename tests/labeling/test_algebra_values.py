import random
from fractions import Fraction

import pytest
import sympy
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sympy.parsing.sympy_parser import (
    convert_xor,
    implicit_multiplication,
    parse_expr,
    split_symbols,
    standard_transformations,
)

from labeling.verifiers._algebra_relations import (
    Equation,
    LinearSystem,
    Relation,
    compare,
    relate,
    solution_of,
)
from labeling.verifiers._algebra_tokens import tokenize
from labeling.verifiers._algebra_trees import read, symbols_of
from labeling.verifiers._algebra_values import (
    PRIME,
    common_factor,
    divide,
    evaluate_exactly,
    evaluate_mod,
    multiply,
    random_residue,
    rational,
    without_powers,
)
from labeling.verifiers._reading import UnreadableError

SYMPY_READING = (*standard_transformations, convert_xor, split_symbols, implicit_multiplication)


def node(text):
    return read(tokenize(f"\\({text}\\)")).node


def equation(text):
    left, right = text.split("=")
    return Equation(node(left), node(right), text)


def test_the_prime_has_the_properties_that_roots_rest_on():
    assert sympy.isprime(PRIME)
    assert PRIME % 8 == 7
    assert PRIME.bit_length() == 61
    assert all(pow(q, (PRIME - 1) // 2, PRIME) == 1 for q in sympy.primerange(2, 48))


def test_a_tree_is_computed_by_hand():
    tree = node(r"3x^2 - \frac{x}{4} + 2(x + 1)(x - 1)")
    # At 2: 12 - 1/2 + 2 * 3 * 1.
    assert evaluate_exactly(tree, {"x": Fraction(2)}) == Fraction(35, 2)
    assert rational(evaluate_mod(tree, {"x": 2})) == Fraction(35, 2)
    assert symbols_of(tree) == {"x"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-2^2", -4),
        ("2^{-1}", Fraction(1, 2)),
        ("2^3^2", 512),
        (r"\frac12", Fraction(1, 2)),
        (r"\sqrt{49} + \sqrt[3]{27}", 10),
        ("1{,}000 + 1,000", 2000),
        ("2(3)(4)", 24),
        ("10 - 3 - 2", 5),
        ("12 / 3 / 2", 2),
        ("4^{1/2}", 2),
        (r"\left(1 + 2\right) \cdot 3", 9),
        ("5²", 25),
    ],
)
def test_the_usual_precedence_holds(text, value):
    assert evaluate_exactly(node(text), {}) == value


@pytest.mark.parametrize("text", ["1/2x", "3 4", "2 +", "(2", "x)", r"\sin x y z", "3\\frac{1}{2}", ""])
def test_what_is_no_clear_expression_is_not_read(text):
    try:
        reading = read(tokenize(f"\\({text}\\)"))
    except UnreadableError:
        return
    assert reading.is_ambiguous


@pytest.mark.parametrize(
    ("left", "right", "relation"),
    [
        ("(x+1)^2", "x^2+2x+1", Relation.SAME),
        ("(x+1)^2", "x^2+1", Relation.DIFFERENT),
        (r"\frac{x^2-1}{x-1}", "x+1", Relation.SAME),
        (r"\sqrt{8}", r"2\sqrt{2}", Relation.SAME),
        (r"\sqrt{8}x", r"3\sqrt{2}x", Relation.DIFFERENT),
        (r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}", Relation.SAME),
        (r"\sin^2 x + \cos^2 x", "1", Relation.UNKNOWN),
        (r"\sin x + \sin x", r"2\sin x", Relation.SAME),
        (r"\sqrt{x^2}", "x", Relation.UNKNOWN),
        (r"\sqrt{x^2y}", r"\sqrt{x^2y^2}", Relation.DIFFERENT),
        (r"2^x \cdot 2^x", "4^x", Relation.UNKNOWN),
        ("i^2", "-1", Relation.SAME),
        ("(1+2i)(1-2i)", "5", Relation.SAME),
        ("(1+2i)(1-2i)", "-3", Relation.DIFFERENT),
        (r"\pi r^2 \cdot 2", r"2\pi r^2", Relation.SAME),
        (r"\frac{1}{x-x}", "x", Relation.UNKNOWN),
    ],
)
def test_two_expressions_are_compared_as_by_hand(left, right, relation):
    assert compare(node(left), node(right)) is relation


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        ("2x + 7 = 43", "x = 18", Relation.SAME),
        ("2x + 7 = 43", "x = 17", Relation.DISJOINT),
        ("x^2 = 4", "x = 2", Relation.UNKNOWN),
        ("x = 2", "x^2 = 4", Relation.UNKNOWN),
        ("x^2 = 4", "x = 3", Relation.DISJOINT),
        ("x(x-1) = 0", "x(x-2) = 0", Relation.UNRELATED),
        ("(x-1)^2 = 0", "x = 1", Relation.SAME),
        (r"\frac{x(x-1)}{x} = 0", "x = 1", Relation.SAME),
        (r"\frac{1}{x} = 2", "2x = 1", Relation.SAME),
        ("x + y = 3", "2x + 2y = 6", Relation.SAME),
        ("x + y = 3", "x + y = 4", Relation.DISJOINT),
        ("x + y = 3", "x - y = 3", Relation.UNRELATED),
        ("xy = x", "y = 1", Relation.UNKNOWN),
        ("x + y = 3", "x = 3", Relation.UNKNOWN),
        ("3x = 10", "x = 3.33", Relation.UNKNOWN),
        ("3x = 10", "x = 4.33", Relation.DISJOINT),
        (r"\sqrt{x} = 3", "x = 9", Relation.UNKNOWN),
        ("2^x = 8", "x = 4", Relation.UNKNOWN),
    ],
)
def test_two_equations_are_related_as_by_hand(first, second, relation):
    assert relate(equation(first), equation(second)) is relation


@pytest.mark.parametrize(
    ("first", "second", "relation"),
    [
        ("-2x > 6", "x < -3", Relation.SAME),
        ("-2x > 6", "x > -3", Relation.DISJOINT),
        ("x > 3", "x >= 3", Relation.UNKNOWN),
        ("x > 3", "x > 2", Relation.UNKNOWN),
        ("x >= 3", "x <= 3", Relation.OPPOSITE),
        ("-2x >= 6", "x >= -3", Relation.OPPOSITE),
        ("-2x >= 6", "x <= -3", Relation.SAME),
        ("-2x >= 6", "x > -3", Relation.DISJOINT),
        ("x >= 3", "x <= 5", Relation.UNKNOWN),
        ("x > 3", "x < 3", Relation.DISJOINT),
        ("x > 3", "x < 5", Relation.UNKNOWN),
    ],
)
def test_two_inequalities_are_related_as_by_hand(first, second, relation):
    def inequality(text):
        left, sign, right = text.partition(
            "<=" if "<=" in text else ">=" if ">=" in text else text.split()[1]
        )
        return Equation(node(left), node(right), text, sign)

    assert relate(inequality(first), inequality(second)) is relation


def test_a_system_is_followed_by_hand():
    system = LinearSystem()
    assert system.add(equation("x + y = 10")) is Relation.DIFFERENT
    assert system.add(equation("x - y = 4")) is Relation.DIFFERENT
    assert system.add(equation("2x = 14")) is Relation.SAME
    assert system.add(equation("y = 3")) is Relation.SAME
    assert system.add(equation("y = 2")) is Relation.DISJOINT
    assert system.add(equation("xy = 21")) is Relation.UNKNOWN


coefficients = st.lists(st.integers(-9, 9), min_size=1, max_size=5)


def as_text(numbers):
    return " + ".join(f"({c})x^{{{power}}}" for power, c in enumerate(numbers))


@settings(max_examples=60)
@given(coefficients, coefficients, st.integers(0, 8), st.integers(1, 5))
def test_a_product_is_its_expansion_and_no_other_polynomial(one, two, place, by):
    expanded = [0] * (len(one) + len(two) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(two):
            expanded[i + j] += a * b
    product = node(f"({as_text(one)})({as_text(two)})")
    assert compare(product, node(as_text(expanded))) is Relation.SAME
    expanded[place % len(expanded)] += by
    assert compare(product, node(as_text(expanded))) is Relation.DIFFERENT


@settings(max_examples=60)
@given(coefficients, coefficients)
def test_common_solutions_are_those_that_sympy_finds(one, two):
    assume(any(one[1:]))
    assume(any(two[1:]))
    x = sympy.Symbol("x")
    first, second = (sympy.Poly(numbers[::-1], x) for numbers in (one, two))
    first_simple, second_simple = (each.sqf_part().monic() for each in (first, second))
    common = sympy.gcd(first_simple, second_simple).degree()
    if first_simple == second_simple:
        expected = Relation.SAME
    elif common == 0:
        expected = Relation.DISJOINT
    elif common < min(first_simple.degree(), second_simple.degree()):
        expected = Relation.UNRELATED
    else:
        expected = Relation.UNKNOWN
    assert relate(equation(f"{as_text(one)} = 0"), equation(f"{as_text(two)} = 0")) is expected


@settings(max_examples=60)
@given(st.integers(-9, 9).filter(bool), st.integers(-9, 9), st.integers(-9, 9), st.integers(-9, 9))
def test_a_linear_equation_has_the_solution_that_sympy_finds(a, b, c, d):
    found = solution_of(equation(f"({a})x + ({b}) = ({c})x + ({d})"), "x")
    expected = sympy.solve(a * sympy.Symbol("x") + b - c * sympy.Symbol("x") - d)
    assert found == (Fraction(int(expected[0].p), int(expected[0].q)) if expected else None)


def random_text(generator, depth):
    if depth == 0:
        return generator.choice(["x", "y", "2", "3", "7"])
    left, right = random_text(generator, depth - 1), random_text(generator, depth - 1)
    return generator.choice(
        [f"({left} + {right})", f"({left} - {right})", f"({left})({right})", f"({left})^2", f"-({left})"]
    )


@pytest.mark.parametrize("seed", range(25))
def test_a_random_expression_has_the_value_that_sympy_gives(seed):
    generator = random.Random(seed)
    text = random_text(generator, 4)
    point = {"x": Fraction(generator.randint(-9, 9), 7), "y": Fraction(generator.randint(-9, 9), 5)}
    expected = parse_expr(text, transformations=SYMPY_READING).subs(
        {name: sympy.Rational(value.numerator, value.denominator) for name, value in point.items()}
    )
    found = evaluate_exactly(node(text), point)
    assert found == Fraction(int(expected.p), int(expected.q))
    residues = {
        name: value.numerator * pow(value.denominator, -1, PRIME) % PRIME for name, value in point.items()
    }
    assert evaluate_mod(node(text), residues) == found.numerator * pow(found.denominator, -1, PRIME) % PRIME


polynomials = st.lists(st.integers(0, 12), min_size=1, max_size=6).map(
    lambda numbers: [*numbers, 1 + sum(numbers)]
)


@settings(max_examples=60)
@given(polynomials, polynomials)
def test_division_gives_back_what_was_divided(over, under):
    quotient, rest = divide(over, under)
    product = multiply(quotient, under)
    size = max(len(product), len(rest), len(over))
    total = [
        ((product + [0] * size)[i] + (rest + [0] * size)[i] - (over + [0] * size)[i]) % PRIME
        for i in range(size)
    ]
    assert total == [0] * size
    assert len(rest) < len(under)


@settings(max_examples=60)
@given(polynomials, polynomials)
def test_a_common_factor_divides_both(one, two):
    common = common_factor(one, two)
    assert divide(one, common)[1] == []
    assert divide(two, common)[1] == []
    assert without_powers(multiply(one, one)) == without_powers(one)


@given(st.fractions(max_denominator=10_000), st.text(max_size=3))
def test_a_small_rational_comes_back_from_its_residue(value, key):
    assume(abs(value) < 100_000)
    assert rational(value.numerator * pow(value.denominator, -1, PRIME) % PRIME) == value
    assert 0 < random_residue(key) < PRIME
