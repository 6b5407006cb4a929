import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labeling.records import Problem, Solution
from labeling.verifiers.algebra import AlgebraVerifier

VERIFIER = AlgebraVerifier()
MAX_SECONDS = 1.0


def sum_of(term, count, by):
    return "+".join(term.format(k=k, j=k + by) for k in range(count))


HOSTILE = {
    "power tower": ["x = 9^9^9^9^9, so x = 9^{9^{9^{9}}} = y, x^{99999999} = 1, so x^{9^9} = 1"],
    "deep brackets": ["x = " + "(" * 5000 + "x" + ")" * 5000],
    "deep roots": ["x = " + "\\sqrt{" * 3000],
    "deep powers": ["x = " + "x^" * 5000 + "2"],
    "long sum": ["x = " + "+".join(["x"] * 9000)],
    "many equals": ["x" + "=x" * 9000],
    "many equations": ["so ".join(["x = y "] * 2500)],
    "many minuses": ["x = " + "-" * 15_000 + "1"],
    "many colons": ["x = 1 " + ":" * 19_000 + " $x + 1$"],
    "many backslashes": ["x = 1 " + "\\" * 19_000],
    "many blanks": ["x = 1" + " " * 19_000 + "so x = 2"],
    "many dollars": ["$x = 1" * 3000],
    "open text": ["x = \\text{" * 1800],
    "many fractions": ["x = " + "\\frac" * 3500],
    "commas": ["x = 1" + ",111" * 4500 + "1"],
    "huge numbers": ["x = " + "9" * 15_000 + " y"],
    "high degrees": [
        "so ".join(f"$(x+{i})^24(x+3)^24 + \\frac{{x^20}}{{(x+1)^20}} = {i}x^24$ " for i in range(60))
    ],
    "many denominators": ["so ".join(f"${sum_of('(x+{k})/(x+{j})', 15, i)} = {i}$ " for i in range(60))],
    "many unknowns": ["so ".join(f"${sum_of('(x+{k}y)/(z+{j}a)', 9, i)} = {i}b$ " for i in range(60))],
    "nested functions": ["f(x) = x + x + x^2", "so " + "f(" * 20 + "2" + ")" * 20 + " = 3"],
    "long chains": ["$" + " = ".join(f"(x+y+z)^24+{i}" for i in range(24)) + "$"],
}


def seconds_for(steps, problem=""):
    solution = Solution.from_steps(steps, id="s", problem=Problem(id="p", text=problem))
    started = time.process_time()
    found = VERIFIER.verify(solution.problem, solution)
    assert len(found) == len(steps)
    for verdict, step in zip(found, steps, strict=True):
        assert all(0 <= item.start <= item.end <= len(step) for item in verdict.evidence)
    return time.process_time() - started


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_text_is_judged_within_a_second(name):
    assert seconds_for(HOSTILE[name]) < MAX_SECONDS
    assert seconds_for(["x = 1"], problem=HOSTILE[name][-1]) < MAX_SECONDS


SHORT = ("x=", "so ", "\\(", "\\[ = ", "\\\\", "2^", "f(", "{", "\\frac{x}", "&=", "$$", "1.", "\n")


@pytest.mark.parametrize("piece", SHORT)
def test_time_grows_with_the_length_not_with_its_square(piece):
    seconds_for([piece * 50])
    assert seconds_for([(piece * 20_000)[:19_999]]) < MAX_SECONDS


SIGNS = "xyabi0123789+-*/^=<>(){}[]$&,.;:|!_ \n²≤⇒é中\u2028"
DELIMITERS = (r"\(", r"\)", r"\[", r"\]", "$$", r"\\", r"\begin{align*}", r"\end{align*}", r"\begin{cases}")
COMMANDS = (r"\frac{", r"\sqrt{", r"\sqrt[3]{", r"\sin ", r"\pi ", r"\cdot ", r"\implies ", r"\le ", r"\pm ")
PARTS = (r"\overline{", r"\text{cm}", "x_1", "x_{n+1}", "f(3)", "(x+1)^2", "i^2", "0.5", "1,000", "9^9^9")
WORDS = ("so", "if", "and", "Expanding,", "This simplifies to", "Substituting gives", "both sides", "f(x) =")
FORMULAS = ("2x + 7 = 43", "x = 18", r"\angle ABC")
PIECES = st.sampled_from(
    [*SIGNS, *DELIMITERS, *COMMANDS, *PARTS, *(f" {word} " for word in (*WORDS, *FORMULAS))]
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.lists(PIECES, max_size=40).map("".join), min_size=1, max_size=4),
    st.lists(PIECES, max_size=15),
)
def test_pieces_of_formulas_never_crash_it(steps, problem):
    assert seconds_for(steps, problem="".join(problem)) < MAX_SECONDS


@settings(max_examples=80, deadline=None)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_any_text_never_crashes_it(steps):
    assert seconds_for([f"x = 1 {step}" for step in steps]) < MAX_SECONDS
