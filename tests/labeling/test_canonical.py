"""Canonical steps do not depend on what separates them, and have 8 to 200 tokens."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling._canonical import MAX_TOKENS, MIN_TOKENS, canonical_text, count_tokens
from labeling.steps import join, segment


def canonical(text, **options):
    return [step.text for step in segment(text, "canonical", **options).steps]


def texts(text):
    return [canonical_text(step) for step in canonical(text)]


FARM = [
    "The farm sells 9 eggs a day at $2 each.",
    "It earns 9 * 2 = 18 dollars a day.",
    "So the answer is 18.",
]


def test_a_sentence_is_a_step_and_a_short_one_goes_with_its_neighbour():
    assert [count_tokens(part) for part in FARM] == [12, 11, 6]
    assert canonical(" ".join(FARM)) == [FARM[0], f"{FARM[1]} {FARM[2]}"]
    assert canonical(f"Yes. {FARM[0]}") == [f"Yes. {FARM[0]}"]


@pytest.mark.parametrize(
    "between",
    [
        lambda k: "\n" * (k > 0),
        lambda k: "\n\n" * (k > 0),
        lambda k: "\n \n\n" * (k > 0),
        lambda k: f"{chr(10) * (k > 0)}Step {k + 1}: ",
        lambda k: f"{chr(10) * 2 * (k > 0)}**Step {k + 1}:** ",
        lambda k: f"{chr(10) * (k > 0)}### Step {k + 1}\n",
        lambda k: f"{chr(10) * (k > 0)}第{k + 1}步：",
        lambda k: f"{chr(10) * (k > 0)}{k + 1}. ",
        lambda k: f"{chr(10) * (k > 0)}({k + 1}) ",
        lambda k: " " * (k > 0),
    ],
)
def test_any_delimiter_gives_the_same_steps(between):
    text = "".join(between(k) + part for k, part in enumerate(FARM))
    assert texts(text) == texts("\n\n".join(FARM)) == [FARM[0], f"{FARM[1]} {FARM[2]}"]


words = st.lists(
    st.sampled_from(
        [
            "eggs",
            "so",
            "Then",
            "x",
            "=",
            "+",
            "12",
            "3.5",
            "(a",
            "b)",
            "each,",
            "cost:",
            "Dr.",
            "$y$",
            "是",
            "end.",
        ]
    ),
    min_size=1,
    max_size=60,
).map(" ".join)


@given(st.lists(words, min_size=2, max_size=6))
@settings(max_examples=200, deadline=None)
def test_lines_blank_lines_and_labels_give_the_same_steps(parts):
    by_line = texts("\n".join(parts))
    assert texts("\n\n".join(parts)) == by_line
    assert texts("\n".join(f"Step {k}: {part}" for k, part in enumerate(parts, 1))) == by_line
    assert texts("\n\n".join(f"**Step {k}:** {part}" for k, part in enumerate(parts, 1))) == by_line


@given(st.lists(words, min_size=1, max_size=30))
@settings(max_examples=100, deadline=None)
def test_steps_have_8_to_200_tokens_and_hold_every_word(parts):
    text = "\n".join(parts)
    steps = canonical(text)
    sizes = [count_tokens(step) for step in steps]
    assert max(sizes) <= MAX_TOKENS
    assert min(sizes) >= min(MIN_TOKENS, count_tokens(text))
    assert "".join("".join(steps).split()) == "".join(text.split())


def test_a_long_sentence_is_divided_where_a_clause_ends():
    clause = "and then it takes one more of the boxes away from there"
    text = ", ".join([clause] * 30) + "."
    steps = canonical(text)
    assert [count_tokens(step) for step in steps] == [130, 130, 130]
    assert all(step.endswith((",", ".")) for step in steps)
    assert join(text, segment(text, "canonical").steps) == text


def test_201_tokens_are_divided_and_200_are_not():
    assert len(canonical("a " * 200)) == 1
    assert len(canonical("a " * 201)) == 2
    assert [count_tokens(step) for step in canonical("." * 450)] == [150, 150, 150]


def test_a_long_block_is_divided_between_its_lines():
    code = "```\n" + "\n".join(f"value_{k} = {k} + 1" for k in range(60)) + "\n```"
    steps = canonical(code)
    assert len(steps) > 1
    assert all(step.endswith(("1", "```")) for step in steps)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("We have that x is now equal to\n\\[\na = 1. B\n\nc = 2\n\\]\nand that is all of it here", 1),
        ("The first of the values is 5 =\n\n3 + 2 which is what we wanted", 1),
        ("The first of the values is 5 here\n\n3 + 2 is what we wanted to have", 2),
    ],
)
def test_lines_that_go_on_are_one_step(text, expected):
    assert len(canonical(text)) == expected


def test_thinking_and_answer_are_cut_apart():
    text = "Yes.\n</think>\nNo."
    found = segment(text, "canonical", think_is_open=True)
    assert ([step.text for step in found.steps], found.n_think_steps) == (["Yes.", "No."], 1)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("a big dog", 3),
        ("internationally", 2),
        ("1234 + 5 = 1239", 7),
        ("他买了三个", 5),
        ("\\frac{1}{2}", 8),
    ],
)
def test_tokens_are_counted_without_a_tokenizer(text, count):
    assert count_tokens(text) == count


@given(st.text(max_size=80))
def test_white_space_counts_for_nothing(text):
    assert count_tokens("\n\n".join(text.split())) == count_tokens(" ".join(text.split()))
