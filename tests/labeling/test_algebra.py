import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from labeling.records import Problem, Solution
from labeling.verifiers.algebra import AlgebraVerifier
from labeling.verifiers.registry import load_panel
from labeling.verifiers.verdict import Outcome

VERIFIER = AlgebraVerifier()


def verdicts(*steps, problem=""):
    solution = Solution.from_steps(steps, id="s", problem=Problem(id="p", text=problem))
    return VERIFIER.verify(solution.problem, solution)


def last(*steps, problem=""):
    return verdicts(*steps, problem=problem)[-1].outcome


RIGHT = [
    ("solved in one step", ["Solving 2x + 7 = 43, so 2x = 36, so x = 18."], ""),
    ("solved over steps", ["2x + 7 = 43", "Subtracting 7 from both sides gives 2x = 36."], ""),
    ("a square expanded", [r"Expanding, \((x+1)^2 = x^2 + 2x + 1\)."], ""),
    ("like terms", ["3x + 2x = 5x"], ""),
    ("a product of letters", [r"\[ A = (a+b)c = ac + bc \]"], ""),
    ("an inequality turned round", ["-2x > 6, so x < -3."], ""),
    ("a system added up", [r"\(x + y = 10\) and \(x - y = 4\).", r"Adding the two gives \(2x = 14\)."], ""),
    ("a fraction cleared", [r"\(\frac{x}{3} = 4 \implies x = 12\)"], ""),
    ("a root of a number", [r"\[ \sqrt{12}x = 2\sqrt{3}x \]"], ""),
    ("a value of a function", ["Then f(3) = 3^2 + 1 = 10."], "Let f(x) = x^2 + 1."),
    ("a function of a function", ["f(f(2)) = 26"], "Let f(x) = x^2 + 1."),
    ("values put in", ["u = 3, a = 2 and t = 5.", "v = u + a t = 3 + 2 * 5 = 13"], ""),
    ("complex numbers", [r"The complex number is \(z = (1+i)(1-i) = 1 - i^2 = 2\)."], ""),
    ("pi is a constant", [r"\[ 2\pi r = 6\pi \Rightarrow r = 3 \]"], ""),
    ("a line that goes on", [r"We get \[ A = (t+2)(t-1) \]", r"\[ = t^2 + t - 2 \]"], ""),
    ("said to simplify", [r"\[ A = 2(x+3) + x \]", r"This simplifies to \(3x + 6\)."], ""),
    ("a function that the solution defines", ["Let f(x) = 3x - 5. f(4) = 7"], ""),
    ("a function of a step before", ["f(x) = x^2", "f(3) = 9"], ""),
    ("an equation factored", ["x^2 - 5x + 6 = 0", "Factoring, (x-2)(x-3) = 0."], ""),
    ("a chain with a number at its end", ["k + 2k + 3k = 6k = 60"], ""),
    ("an inequality with its bound turned round", ["-2x ≥ 6 ⇒ x ≤ -3"], ""),
    ("an arrow that holds a minus sign", ["2(x + 3) = 14 -> 2x + 6 = 14"], ""),
    ("an arrow that holds signs of order and equality", ["2(x + 3) = 14 <=> 2x + 6 = 14"], ""),
    ("e as an unknown", ["3e - 5 = 10, so 3e = 15"], ""),
    ("factors without powers", [r"\( x^2 - 2x + 1 = 0 \implies (x-1)^2 = 0 \)"], ""),
]

WRONG = [
    ("a slip in solving", ["2x + 7 = 43, so 2x = 36, so x = 17."], "equation"),
    ("a slip over steps", ["2x + 7 = 43", "Subtracting 7 from both sides gives 2x = 34."], "equation"),
    ("a sign lost", [r"\[ a^2 + x^2 + 64 = 16 \] Rearranging terms, \[ a^2 + x^2 + 32 = 0 \]"], "equation"),
    ("a variable lost", ["6r^2 = 12r", "Divide both sides by 2r: 3r = 12."], "equation"),
    ("a bracket multiplied out", [r"\[ A = (t+2)(t-1) = t^2 + t + 2 \]"], "identity"),
    ("expanded wrongly", [r"Expanding, \((x+1)^2 = x^2 + x + 1\)."], "identity"),
    ("a line that goes on", [r"We get \[ A = (t+2)(t-1) \]", r"\[ = t^2 - t - 2 \]"], "identity"),
    ("an inequality not turned round", ["-2x > 6, so x > -3."], "equation"),
    ("a second value that is no root", ["x^2 - 5x + 6 = 0, so x = 2 or x = 4."], "root"),
    ("the same with and", [r"\(x^2 - 5x + 6 = 0 \implies x = 2\) and \(x = 4\)"], "root"),
    ("the same with a comma", ["x^2 - 5x + 6 = 0, so x = 2, x = 4"], "root"),
    (
        "a root of a number that is none",
        [r"\(x^2 = 12\), so \(x = 2\sqrt{3}\) or \(x = -3\sqrt{2}\)."],
        "root",
    ),
    ("a function that the solution defines", ["Let f(x) = 3x - 5. f(4) = 8"], "function"),
    ("a function of a step before", ["f(x) = x^2", "f(3) = 10"], "function"),
    ("factored wrongly", ["Factoring, x^2 + 5x + 6 = (x+1)(x+6)"], "identity"),
    ("a number factored out wrongly", ["Factor: 6x + 9 = 3(2x + 9)"], "identity"),
    ("like terms put together wrongly", ["Combining like terms: 4x + 3 - x + 2 = 3x + 6"], "identity"),
    ("simplified wrongly", [r"Simplifying, \(\frac{6x^2}{3x} = 3x\)"], "identity"),
    ("an equation factored wrongly", ["x^2 - 5x + 6 = 0", "Factoring, (x-1)(x-6) = 0."], "equation"),
    ("a chain with a number at its end", ["k + 2k + 3k = 5k = 60"], "identity"),
    ("a bracket in a chain with a number at its end", ["3(x + 2) = 3x + 2 = 14"], "identity"),
    ("an inequality with a bound not turned round", ["-2x ≥ 6 ⇒ x ≥ -3"], "equation"),
    ("the same in words", ["3 - x <= 5. Simplifying gives x <= -2."], "equation"),
    (
        "a system that contradicts itself",
        [r"\(8C - 3D = -23\), \(C + D = 4\).", r"Substituting this gives \(11C - 12 = 23\)."],
        "system",
    ),
    ("an arrow", ["2(x + 3) = 14 → 2x + 3 = 14"], "equation"),
    ("an arrow in LaTeX", [r"\( 2(x + 3) = 14 \to 2x + 3 = 14 \)"], "equation"),
    ("an arrow that holds a minus sign", ["2(x + 3) = 14 -> 2x + 3 = 14"], "equation"),
    ("an arrow that holds a sign of equality", ["2(x + 3) = 14 => 2x + 3 = 14"], "equation"),
    ("an arrow in both directions", ["2(x + 3) = 14 <=> 2x + 3 = 14"], "equation"),
    ("i squared", [r"The complex number is \(z = (1+i)(1-i) = 1 - i^2 = 1 - 1\)."], "identity"),
    ("said to simplify", [r"\[ A = 2(x+3) + x \]", r"This simplifies to \(3x + 3\)."], "rewriting"),
    (
        "another value for a name",
        ["u = 3, a = 2 and t = 5.", "v = u + a t = 3 + 2 * 6 = 15"],
        "value",
    ),
    ("parts lost", [r"\( b^2 - 4c = b^2 - 4bc + 4c^2 \). Rearranging gives \(4c^2 - 4bc = 0\)."], "equation"),
    ("a root taken twice", [r"\[ a^4 = 3 \implies a = 3^{1/2} \]"], "equation"),
]

UNDECIDED = [
    ("no formula", ["Let x be the number of apples that she has."], ""),
    ("an equation set up", ["The sum is 2x + 7 = 43."], ""),
    ("one solution of two", ["x^2 = 4, so x = 2"], ""),
    (
        "squaring brings in solutions",
        [r"\(\sqrt{x} = x - 2\), squaring both sides gives \(x = x^2 - 4x + 4\)"],
        "",
    ),
    ("a factor that may be 0", [r"\(x(x - 3) = 2x\), dividing by x gives \(x - 3 = 2\)"], ""),
    ("branches", [r"\((x-9)(x+8) = 0\), so \(x - 9 = 0\), \(x + 8 = 0\)"], ""),
    ("branches derived", [r"\((x-9)(x+8) = 0\), so \(x - 9 = 0\), so \(x + 8 = 0\)"], ""),
    ("solutions listed", [r"The solutions are \(x = 9\), \(x = -8\)"], ""),
    ("a value tried", ["2x + 7 = 43. Let's try x = 5."], ""),
    ("cases", [r"If \(x = 1\), then \(y = 2\). If \(x = 3\), then \(y = 5\)."], ""),
    ("something rejected", ["2x = 36, so x = 17. But that is wrong."], ""),
    ("a modulus", [r"\(7x = 3\) and \(x = 5 \pmod 8\), so \(x = 5\)"], ""),
    ("trigonometry", [r"\[ A = \sin^2 x + \cos^2 x = \sin^2 x \]"], ""),
    ("an equation for another thing", ["x + y = 10 and x = 2y, so x^2 = 9."], ""),
    ("a known equation used", [r"\(ac = -1\).", r"\[ A = a^2 + 2ac + c^2 = a^2 + c^2 - 2 \]"], ""),
    ("both sides of an equation", [r"\[ 0 = -t^2 + 2t = t^2 - 2t \]"], ""),
    ("units change", ["So 3x = 1 hour, thus 3x = 60 minutes."], ""),
    ("a whole number of things", ["5x = 26, so rounded down to a whole number x = 5."], ""),
    (
        "a function by cases",
        [r"f(2) = 3"],
        r"\[f(x) = \begin{cases} 2x - 5 & x \ge 3 \\ 5 - x & x < 3 \end{cases}\]",
    ),
    ("a function given by a value", ["f(4) = 7"], "We know that f(x) = 3 for some x."),
    ("two curves", ["y = 4x + 6 and y = 4x + b. Substituting gives 10 = 20 + b."], ""),
    ("another condition", ["x + 2 = 7, so the second condition gives x - 3 = 4."], ""),
    ("an absolute value", ["Then |x - 3| = 5 gives x - 3 = 5, x - 3 = -5."], ""),
    ("a formula in words", ["The sum of x and 2 = 5, so twice x = 7."], ""),
    ("a formula broken off", ["x = 0.\\overline{57}, so 100x = 57."], ""),
    ("rounded decimals", ["3x = 10, so x = 3.33"], ""),
    ("another operation than named", ["2x + 7 = 43", "Subtracting 8 from both sides gives 2x = 36."], ""),
    ("a value that becomes another", ["2x + 6 = 14 → 2x + 6 = 16"], ""),
    ("a curve that is shifted", ["x + y = 4 → x + y + 2 = 4"], ""),
    ("the bound from two sides", ["x ≤ 3, so x ≥ 3"], ""),
    ("two conditions that meet", ["2x ≤ 6 and x ≥ 3"], ""),
    ("two conditions that meet in lines", ["2x ≤ 6\nx ≥ 3"], ""),
    ("two roots", ["x^2 - 5x + 6 = 0, so x = 2 or x = 3."], ""),
    ("two roots of a number", [r"\(x^2 = 12\), so \(x = 2\sqrt{3}\) or \(x = -2\sqrt{3}\)."], ""),
    ("a root for each factor", ["x - 2 = 0 and x - 3 = 0, so x = 2 and x = 3."], ""),
    ("a root for each factor with or", ["x - 2 = 0 or x - 3 = 0, so x = 2 or x = 3."], ""),
    ("two roots with decimals", ["x^2 = 2, so x = 1.41 or x = -1.41."], ""),
    ("two roots rounded", ["x^2 = 10, so x is about 3 and x = -3."], ""),
    ("a value that is ruled out behind", ["x^2 - 5x + 6 = 0, so x = 2, x = 4 is no root."], ""),
    ("another condition on the list", ["x^2 = 4 and y = 1, so from the second x = 2 or x = 5."], ""),
    ("a function defined twice", ["f(x) = x^2.", "Now f(x) = x^3.", "f(3) = 10"], ""),
    ("a function defined three times", ["f(x) = x^2. f(x) = x^3. f(x) = x^2.", "f(3) = 10"], ""),
    ("a function supposed", ["Suppose f(x) = x^2.", "f(3) = 10"], ""),
    ("a function tried", ["Let us try f(x) = x^2.", "f(3) = 10"], ""),
    ("a function defined in parts", ["f(x) = x^2, x > 5", "f(3) = 10"], ""),
    ("a function defined for some", ["f(x) = x^2 whenever x > 5", "f(3) = 10"], ""),
    ("a function of the problem", ["So f(x) = x^2.", "f(3) = 10"], "Let f be a function with f(1) = 2."),
    ("an equation that is to be solved", ["Simplifying gives 2x + 3 = x + 5"], ""),
    ("an equation without solution", ["Simplifying, 3x + 2 = 3x + 5"], ""),
    ("an equation that 0 solves", ["Simplifying, 3x + 2 = 5x + 2"], ""),
    ("an equation with like terms that 0 solves", ["Simplifying, 4x + 3 - x + 2 = 5x + 5"], ""),
    ("a side factored", ["Factoring, x^2 + 5x = 6(x + 1)"], ""),
    ("an equation of the problem", ["Factor: 6x + 9 = 3(2x + 9)"], "Solve 6x + 9 = 3(2x + 9)."),
    ("an equation with a number at its end", ["2x + 3 = x + 5 = 7"], ""),
    ("factors that are listed", ["x - 9 = 0 → x + 8 = 0"], ""),
    ("a limit", [r"2(x + 3) = 14, as \(x \to 2x + 3 = 14\)"], ""),
    ("a map", [r"2(x + 3) = 14. For f: A \to B we have 2x + 3 = 14"], ""),
    ("a number with an exponent", ["a = 4.0e-3/2.0 = 2.0e-3"], ""),
    ("a number with an exponent times another", ["E = 1.6e-19 × 2 = 3.2e-19"], ""),
    ("a whole number with an exponent", ["x = 1e-3*5 = 5e-3"], ""),
    ("a number with a capital exponent", ["x = 1.5E-3/3 = 5E-4"], ""),
    ("glued letters", ["πr^2(6) = 2πrh. Simplify the equation: 6r^2 = 12r."], ""),
    ("a line that is not finished", [r"\[ A = (a+b)(a+b) \\ = a(a+b) \\ + b(a+b) \]"], ""),
]


@pytest.mark.parametrize(("steps", "problem"), [case[1:] for case in RIGHT], ids=[case[0] for case in RIGHT])
def test_a_step_that_follows_is_right(steps, problem):
    assert last(*steps, problem=problem) is Outcome.RIGHT


@pytest.mark.parametrize(("steps", "kind"), [case[1:] for case in WRONG], ids=[case[0] for case in WRONG])
def test_a_step_that_provably_does_not_follow_is_wrong(steps, kind):
    verdict = verdicts(*steps)[-1]
    assert verdict.outcome is Outcome.WRONG
    found = [item for item in verdict.evidence if item.outcome == "WRONG"]
    assert found[0].kind == kind
    assert found[0].left
    assert found[0].right
    assert found[0].reason


@pytest.mark.parametrize(
    ("steps", "problem"), [case[1:] for case in UNDECIDED], ids=[case[0] for case in UNDECIDED]
)
def test_what_cannot_be_told_is_undecided(steps, problem):
    assert last(*steps, problem=problem) is Outcome.UNDECIDED


def test_evidence_stands_where_the_claim_stands():
    text = "We have 2x + 7 = 43, so 2x = 34."
    verdict = verdicts(text)[0]
    (item,) = verdict.evidence
    assert (item.verifier, item.kind, text[item.start : item.end]) == ("algebra", "equation", "2x = 34")
    assert (item.left, item.right) == ("2x + 7 = 43", "2x = 34")
    assert verdict.reason == "2x = 34 and 2x + 7 = 43 have no common solution"


def test_there_is_one_verdict_a_step_and_every_reason_is_told():
    found = verdicts("x = 3", "", "Nothing here.", "so 2x = 6", "x" * 20_001)
    assert len(found) == 5
    assert all(verdict.reason for verdict in found)
    assert "longer than" in found[-1].reason


def test_it_is_loaded_by_name_beside_arithmetic():
    panel = load_panel("arithmetic,algebra")
    solution = Solution.from_steps(
        ["2x + 7 = 43, so 2x = 36", "3 * 4 = 13"], id="s", problem=Problem(id="p", text="")
    )
    outcomes = [verdict.outcome for verdict in panel.verify(solution.problem, solution)]
    assert outcomes == [Outcome.RIGHT, Outcome.WRONG]


whole = st.integers(-30, 30)
factor = whole.filter(lambda n: n not in (0, 1, -1))


def derivation(a, b, x, *, plain=True):
    """A right derivation of x from a x + b = c, with its numbers as a list, so that one can be changed."""
    c = a * x + b
    sign = "+" if b >= 0 else "-"
    words = ["", f"x {sign} ", " = ", ", so ", "x = ", ", so x = ", "."]
    return words, [a, abs(b), c, a, c - b, x]


def written(words, numbers):
    return "".join(piece for pair in zip(words, [*map(str, numbers), ""], strict=True) for piece in pair)


@settings(max_examples=60)
@given(factor, whole.filter(bool), whole)
def test_a_right_derivation_is_right(a, b, x):
    words, numbers = derivation(a, b, x)
    assert last(written(words, numbers)) is Outcome.RIGHT


@settings(max_examples=60)
@given(factor, whole.filter(bool), whole.filter(bool), st.integers(0, 5), whole)
def test_a_right_derivation_with_one_number_changed_is_never_right(a, b, x, place, by):
    assume(by != 0)
    words, numbers = derivation(a, b, x)
    numbers[place] += by
    assume(numbers[place] not in (0, derivation(a, b, x)[1][place]))
    if place == 1:
        assume(numbers[1] > 0)
    assert last(written(words, numbers)) is not Outcome.RIGHT


@settings(max_examples=60)
@given(factor, factor, whole.filter(bool), whole.filter(bool), st.integers(0, 2), whole.filter(bool))
def test_an_expansion_with_one_number_changed_is_never_right(a, c, b, d, place, by):
    def text(terms):
        return (
            f"Expanding, \\(({a}x + ({b}))({c}x + ({d})) = ({terms[0]})x^2 + ({terms[1]})x + ({terms[2]})\\)"
        )

    terms = [a * c, a * d + b * c, b * d]
    assert last(text(terms)) is Outcome.RIGHT
    terms[place] += by
    assert last(text(terms)) is Outcome.WRONG


@settings(max_examples=60)
@given(whole, whole, whole, whole.filter(bool))
def test_a_value_of_a_function_with_one_number_changed_is_never_right(a, b, x, by):
    problem = f"Let f(x) = ({a})x^2 + ({b})x + 1."
    value = a * x * x + b * x + 1
    assume(a or b)
    assert last(f"Then f({x}) = {value}.", problem=problem) is Outcome.RIGHT
    assert last(f"Then f({x}) = {value + by}.", problem=problem) is not Outcome.RIGHT


@settings(max_examples=60)
@given(whole, whole, whole.filter(bool))
def test_an_operation_that_is_not_the_one_named_is_never_right(x, b, by):
    assume(b > 0)
    assume(b + by > 0)
    steps = [f"3x + {b} = {3 * x + b}", f"Subtracting {b} from both sides gives 3x = {3 * x}."]
    assert last(*steps) is Outcome.RIGHT
    steps[1] = f"Subtracting {b + by} from both sides gives 3x = {3 * x}."
    assert last(*steps) is not Outcome.RIGHT


@settings(max_examples=60)
@given(st.lists(st.sampled_from([case[1][-1] for case in (*RIGHT, *WRONG, *UNDECIDED)]), max_size=6))
def test_judging_twice_gives_the_same(steps):
    assert verdicts(*steps) == verdicts(*steps)
