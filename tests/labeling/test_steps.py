import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.errors import ConfigError, InputError
from labeling.records import Step
from labeling.steps import MODES, join, open_thinking, segment
from labeling.verifiers.answers import extract_answer

CASES = json.loads((Path(__file__).parents[1] / "golden" / "segmentation.json").read_text("utf-8"))
LABELS = re.compile(r"step|[\d\W_]", re.IGNORECASE)
"""What labels of canonical steps are made of."""

# fmt: off
SIGNS = [
    "\n", "\n\n", " ", "$$", "\\[", "\\]", "```", "<think>", "</think>", "Step 2:", "1. ",
    "2. ", "３）", "|--|", "| a", "\n  - ", "- ", "\\begin{a}", "\\end{a}", "(", ") ", '"', "$",
    "`", "。", ". B", "3.5", "…",
]
COSTLY = [
    "\n", " \n", "\\[", "$$", "```\n", "<think>$$", "\\begin{a}", "1. \n", "Step 1:\n", "\n \t",
    "**#", "|-", "|--|\n", "|-|", "| a |\n|---|\n", "- a\n  - b\n", "\n  ", "\n  - ", "(", "()",
    "((a))", '"', '" "', "`", "` ``", "$x", ". ", ".", "...", ". A", "! ", "。", "…", ".)",
    ".) ", "A. ", "Dr. ", "e.g. ", "a,\n", "\\(", "a ", "第一步", "一、\n", "①\n", "=\n", "so a\n",
    "Step\n", "\\begin{a}\n\\end{a}\n\n", "$$a$$ ", "<think>\n", "</think>a\n", "```a```\n",
]
# fmt: on
pieces = st.lists(st.sampled_from(SIGNS) | st.text(max_size=5), max_size=30).map("".join)


def spans(steps):
    return [[step.start, step.end] for step in steps]


def cut(text, mode, **options):
    return segment(text, mode, marker="ки" if mode == "marker" else None, **options)


def test_seg_01_a_list_number_is_told_from_a_decimal():
    for item, expected in zip(
        CASES["seg-01"]["input"]["items"], CASES["seg-01"]["expected"]["items"], strict=True
    ):
        found = segment(item["text"], item["mode"])
        assert [step.text for step in found.steps] == expected["steps"]
        assert spans(found.steps) == expected["spans"]


def test_seg_02_a_blank_line_inside_displayed_math_does_not_cut():
    case = CASES["seg-02"]
    found = segment(case["input"]["text"], case["input"]["mode"])
    assert [step.text for step in found.steps] == case["expected"]["steps"]
    assert spans(found.steps) == case["expected"]["spans"]


def test_seg_03_thinking_is_told_from_the_answer():
    for item, expected in zip(
        CASES["seg-03"]["input"]["items"], CASES["seg-03"]["expected"]["items"], strict=True
    ):
        is_open = item["prompt_ends_with"].rstrip().endswith("<think>")
        found = segment(item["text"], item["mode"], think_is_open=is_open)
        assert [step.text for step in found.steps[: found.n_think_steps]] == expected["think_steps"]
        assert [step.text for step in found.answer_steps] == expected["answer_steps"]
        assert spans(found.steps) == expected["spans"]
        assert found.is_think_closed == (expected["final_answer"] is not None)


def test_an_unmatched_closing_tag_makes_everything_before_it_thinking():
    found = segment("a\n\nb</think>c")
    assert (found.n_think_steps, [step.text for step in found.steps]) == (2, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("opening", "closing"),
    [("<thinking>", "</thinking>"), ("<Think>", "</THINK>"), ("<think >", "</think >")],
)
def test_every_spelling_of_a_thinking_tag_is_outside_the_steps_and_hides_its_boxes(opening, closing):
    text = f"{opening}\na\n\nmaybe \\boxed{{7}}\n{closing}\n\n\\boxed{{5}}"
    found = segment(text)
    assert [step.text for step in found.steps] == ["a", "maybe \\boxed{7}", "\\boxed{5}"]
    assert (found.n_think_steps, found.is_think_closed) == (2, True)
    assert extract_answer(text) == "5"
    cut = segment(text.partition("</")[0])
    assert (cut.n_think_steps, cut.is_think_closed) == (2, False)
    assert extract_answer(text.partition("</")[0]) is None


@given(text=pieces, mode=st.sampled_from(MODES), is_open=st.booleans())
@settings(max_examples=150, deadline=None)
def test_spans_give_the_text_back_and_only_separators_lie_outside(text, mode, is_open):
    found = cut(text, mode, think_is_open=is_open)
    assert join(text, found.steps) == text
    offset = 0
    gaps = []
    for step in found.steps:
        assert text[step.start : step.end] == step.text == step.text.strip() != ""
        assert "<think>" not in step.text
        assert "</think>" not in step.text
        gaps.append(text[offset : step.start])
        offset = step.end
    gaps.append(text[offset:])
    left_over = "".join(gaps).replace("<think>", "").replace("</think>", "")
    if mode == "marker":
        left_over = left_over.replace("ки", "")
    if mode == "canonical":
        left_over = LABELS.sub("", left_over)
    assert left_over.strip() == ""
    assert 0 <= found.n_think_steps <= len(found.steps)


@given(text=st.text(max_size=200), mode=st.sampled_from(MODES))
def test_any_unicode_text_can_be_cut_and_joined(text, mode):
    assert join(text, cut(text, mode).steps) == text


@pytest.mark.parametrize(
    ("text", "mode", "steps"),
    [
        ("a\nb\n\nc", "line", ["a", "b", "c"]),
        ("intro\nStep 1: x\n1. sub\n2. sub\nStep 2: y", "numbered", None),
        ("1) a\n2) b\n2) c\n3) d", "numbered", ["1) a", "2) b\n2) c", "3) d"]),
        ("1. a\n   1. deep\n   2. deep\n2. b", "numbered", ["1. a\n   1. deep\n   2. deep", "2. b"]),
        ("**Step 4:** goes on\n### Step 5: ends", "numbered", ["**Step 4:** goes on", "### Step 5: ends"]),
        ("a ки bки\nc", "marker", ["a", "b", "c"]),
        ("```\nx = 1\n\ny = 2\n```\n\nend", "blank_line", ["```\nx = 1\n\ny = 2\n```", "end"]),
        ("see \\\\[2pt]\n\nb", "blank_line", ["see \\\\[2pt]", "b"]),
        ("\\[ open\n\nb", "blank_line", ["\\[ open", "b"]),
    ],
)
def test_each_mode_cuts_where_it_says(text, mode, steps):
    steps = steps or ["intro", "Step 1: x\n1. sub\n2. sub", "Step 2: y"]
    assert [step.text for step in cut(text, mode).steps] == steps


@pytest.mark.parametrize(
    ("text", "picked"),
    [
        ("1. a\n2. b", "numbered"),
        ("1. a\nb\n\nc", "blank_line"),
        ("a\n\nb", "blank_line"),
        ("a\nb", "line"),
        ("It is 5. So we go.", "sentence"),
        ("a", "blank_line"),
        ("", "blank_line"),
        ("<think>1. a\n2. b</think>a\nb", "line"),
        ("<think>1. a\n2. b", "numbered"),
    ],
)
def test_auto_says_which_mode_it_picked(text, picked):
    assert segment(text, "auto").mode == picked


@pytest.mark.timeout(60)
@pytest.mark.parametrize("piece", COSTLY)
def test_costly_texts_are_cut_in_no_time_that_grows_with_their_square(piece):
    # Linear: a tenth of a second a mode. Quadratic: minutes, and the test's limit ends it.
    text = piece * (100_000 // len(piece))
    for mode in MODES:
        assert join(text, cut(text, mode).steps) == text


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        ("Q: 1?\nA: <think>", "<think>"),
        ("<|user|>hi<|assistant|><think>\n", "<think>\n"),
        ("<think>\n\n</think>\n\n", ""),
        ("Use <think> tags.", ""),
        ("a <Thinking >\n\n", "<Thinking >\n\n"),
        ("<think", ""),
        ("a < b", ""),
        ("", ""),
    ],
)
def test_a_prompt_tells_whether_it_has_opened_the_thinking(text, tag):
    assert open_thinking(text) == tag


def test_a_wrong_mode_or_marker_is_refused_with_a_remedy():
    with pytest.raises(ConfigError, match="blank_line"):
        segment("a", "paragraph")
    with pytest.raises(ConfigError, match="needs a marker"):
        segment("a", "marker")
    with pytest.raises(ConfigError, match="does not use"):
        segment("a", "line", marker="#")


def test_joining_edited_steps_keeps_what_lies_between_and_refuses_overlaps():
    steps = segment("a\n\nb").steps
    assert join("a\n\nb", [Step("xyz", 0, 1), steps[1]]) == "xyz\n\nb"
    with pytest.raises(InputError, match="step 1"):
        join("a\n\nb", [steps[1], steps[0]])
