import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError
from rl.penalties import PENALTIES, idle_steps, step_costs
from rl.step_text import read_step, shingles

unhurried = settings(deadline=None, max_examples=60)  # machines are shared

PROSE_PROMPT = "Mia has 3 boxes with 12 pencils each and gives 7 pencils away. How many are left?"
PROSE = [
    "Mia starts with 3 * 12 = 36 pencils in her boxes.",
    "She gives 7 away, so 36 - 7 = 29 pencils stay with her.",
    "The final answer is \\boxed{29}.",
]
TERSE_PROMPT = (
    "Column with 25 kN at the top. Going down: slab-b wall-c void-d. Find the load at the base in kN."
)
TERSE = ["slab-b 25 + 7 = 32", "wall-c 32 + 8 = 40", "void-d 40 - 5 = 35", "answer 35"]
CONTINUE = ["Let us continue.", "Now we proceed to the next step.", "Okay, let's keep going."]
EMPTY_CHECKS = ["Let me double-check. Yes.", "I will verify this: it is correct.", "Checking again, right."]

texts = st.sampled_from([*PROSE, *TERSE, *CONTINUE, *EMPTY_CHECKS, "", "**Clearly** \\boxed{4}", "✅ # head"])


def costs(prompt, steps, *names):
    return step_costs(prompt, steps, names or tuple(PENALTIES))


@pytest.mark.parametrize(("prompt", "steps"), [(PROSE_PROMPT, PROSE), (TERSE_PROMPT, TERSE)])
def test_an_honest_solution_costs_nothing(prompt, steps):
    assert costs(prompt, steps).total.tolist() == [0.0] * len(steps)


@pytest.mark.parametrize(("prompt", "steps"), [(PROSE_PROMPT, PROSE), (TERSE_PROMPT, TERSE)])
@pytest.mark.parametrize(("name", "pads"), [("padding", CONTINUE), ("empty_check", EMPTY_CHECKS)])
def test_filler_costs_two_hundredths_a_step_after_the_first(prompt, steps, name, pads):
    padded = [steps[0], *pads, *steps[1:]]
    found = costs(prompt, padded, "padding", "empty_check")
    assert found.by_name[name] == pytest.approx([0, 0, 0.02, 0.02, *[0] * (len(steps) - 1)])
    assert found.total == pytest.approx(found.by_name[name])


def test_a_check_that_repeats_a_number_is_empty_and_one_that_recomputes_is_not():
    steps = [TERSE[0], "check 32 = 32", "check 25 = 25", *TERSE[1:]]
    assert costs(TERSE_PROMPT, steps, "empty_check").total == pytest.approx([0, 0, 0.02, 0, 0, 0])
    recomputed = [TERSE[0], "check 32 - 7 = 25", "check 32 - 25 = 7", *TERSE[1:]]
    assert costs(TERSE_PROMPT, recomputed).total.tolist() == [0.0] * len(recomputed)


def test_idle_steps_are_marked_one_by_one_and_the_answer_never():
    steps = [TERSE[0], "check 32 = 32", TERSE[1], "Let us continue.", TERSE[2], "answer 35"]
    assert idle_steps(TERSE_PROMPT, steps).tolist() == [False, True, False, True, False, False]
    assert idle_steps(TERSE_PROMPT, []).shape == (0,)


@pytest.mark.parametrize(
    ("again", "is_idle"),
    [
        # Seven words that carry content, six pairs of neighbours: none, one (17 %) and two (33 %) are new.
        ("The steel beam carries the whole floor load evenly.", True),
        ("The steel beam carries the whole floor load always.", True),
        ("The steel beam carries the whole roof load evenly.", False),
    ],
)
def test_a_step_of_words_is_idle_when_less_than_three_tenths_of_its_pairs_are_new(again, is_idle):
    first = "The steel beam carries the whole floor load evenly."
    assert idle_steps("Which beam?", [first, again, "answer 3"]).tolist() == [False, is_idle, False]
    assert idle_steps(first, [again, "answer 3"]).tolist() == [is_idle, False]


def test_an_expression_written_again_is_no_progress():
    steps = ["x + y = 7 and y = 3.", "So $y = 3$.", "Thus x + y = 7.", "x + 3 = 7.", "x = 4"]
    found = costs("x + y = 7, y = 3", steps, "padding")
    assert found.total == pytest.approx([0, 0.02, 0.02, 0, 0])


def test_repetition_is_charged_by_the_share_of_runs_of_four_tokens_seen_in_one_earlier_step():
    steps = ["a b c d e f g", "a b c d e f g", "a b c d e f x", "a b c x y z w", "end"]
    # Step 2 shares 3 of its 4 runs with step 0: 0.05 * (0.75 - 0.6) / 0.4; step 3 shares none of its 4.
    assert costs("", steps, "repetition").total == pytest.approx([0, 0.05, 0.01875, 0, 0])


def test_a_second_boxed_value_and_a_long_tail_are_charged_up_to_their_cap():
    assert costs("", ["\\boxed{4}", "\\boxed{ 4 }"], "extra_answer").total.tolist() == [0, 0]
    assert costs("", ["\\boxed{4}", "\\boxed{5}"], "extra_answer").total == pytest.approx([0, 0.3])
    assert costs("", ["\\boxed{4} or \\boxed{\\frac{1}{2}}"], "extra_answer").total == pytest.approx([0.3])
    tail = ["answer 4", "w " * 30, "w " * 12, "w " * 5000]
    assert costs("", tail[:3], "extra_answer").total == pytest.approx([0, 0, 0.02])
    assert costs("", tail, "extra_answer").total.sum() == pytest.approx(0.3)


def test_style_is_charged_beyond_six_marks_per_hundred_tokens_on_the_steps_that_bear_them():
    words = "w " * 20
    steps = [f"# Plan\n{words}", f"**one** **two** clearly obviously ✅ {words}", f"- a\n- b\n{words}"]
    found = costs("", steps, "style").total
    assert sum(len(read_step(step).tokens) for step in steps) < 100
    assert found.sum() == pytest.approx(0.05 * (8 - 6))
    assert found == pytest.approx(found.sum() * np.array([1, 5, 2]) / 8)
    assert costs("", steps[:1], "style").total.sum() == 0


@unhurried
@given(prompt=texts, steps=st.lists(texts, max_size=15))
def test_costs_are_non_negative_add_up_and_stay_within_one(prompt, steps):
    found = costs(prompt, steps)
    assert found.total.shape == (len(steps),)
    assert (found.total >= 0).all()
    assert found.total.sum() <= 1 + 1e-9
    assert sum(found.by_name.values()) == pytest.approx(found.total)


@unhurried
@given(steps=st.lists(texts, min_size=1, max_size=8), pad=st.sampled_from(CONTINUE), at=st.integers(0, 7))
def test_more_filler_never_costs_less(steps, pad, at):
    at = min(at, len(steps) - 1)
    names = ("padding", "empty_check")
    more = costs("", [*steps[:at], pad, *steps[at:]], *names).total.sum()
    assert more >= costs("", steps, *names).total.sum() - 1e-12


def test_many_copies_reach_the_cap_of_one():
    assert costs("", ["a b c d e f"] * 200).total.sum() == pytest.approx(1.0)


def test_numbers_and_expressions_are_read_alike_in_prose_and_latex():
    step = read_step("So $1,200 \\div 4.50 = x$, i.e. 30 = 30.")
    assert step.numbers == {"1200", "4.5", "30"}
    assert step.expressions == {"1200\\div4.5=x"}
    assert read_step("1200 \\div 4.5 = x").expressions == step.expressions


def test_a_text_shorter_than_a_shingle_is_one_shingle():
    assert shingles(["a", "b"], 4) == {("a", "b")}
    assert shingles([], 4) == frozenset()


def test_an_unknown_penalty_is_refused():
    with pytest.raises(ConfigError, match="padding"):
        step_costs("", ["a"], ["paddings"])
