"""Numbered steps: labels in every script, told from decimals, other lists and nested ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling._numbering import _cjk_value, step_labels
from labeling.steps import segment


def steps(text, mode="numbered"):
    return [step.text for step in segment(text, mode).steps]


@pytest.mark.parametrize(
    "parts",
    [
        ["1. a", "2. b", "3. c"],
        ["1.\nThe first", "2.\nThe second"],
        ["3.", "4.", "5."],
        ["1) a", "2) b"],
        ["(1) a", "(2) b"],
        ["1: a", "2: b"],
        ["１．甲", "２．乙", "３．丙"],
        ["１）甲", "２）乙"],
        ["（１）甲", "（２）乙"],
        ["1.计算", "2.相加"],
        ["١. أ", "٢. ب"],
        ["第一步：甲", "第二步：乙", "第十二步 丙"],
        ["第1步，甲", "第２步，乙"],
        ["步骤三：甲", "步骤四：乙"],
        ["步骤1\n甲", "步骤2\n乙"],
        ["一、甲", "二、乙", "三、丙"],
        ["（一）甲", "（二）乙"],
        ["九、甲", "十、乙", "十一、丙"],
        ["①甲", "②乙"],
        ["Step 3: a", "Step 4: b"],
        ["Step 1 - a", "Step 2 — b"],
        ["STEP ONE: a", "Step two. b"],
        ["### Step 1\na", "### Step 2\nb"],
        ["**Step 1:** a", "**Step 2**: b"],
        ["## 1. a", "## 2. b"],
        ["**1. a**", "**2. b**"],
        ["7. a", "8. b"],
        ["1. a\n1. again", "2. b"],
        ["1. a\n(1) x\n(2) y", "2. b"],
        ["### 1. a\n1. x\n2. y", "### 2. b"],
        ["一、甲\n1. x\n2. y", "二、乙"],
        ["1. a\n\n   1. deep\n\n   2. deep", "2. b"],
        ["1. a\n   - deep\n   2. deep", "2. b"],
        ["1. a\n```\n2. code\n```", "2. b"],
        ["1. a\n\\[\n2. x\n\\]", "2. b"],
        ["1. The sum is\n2.5 kg", "2. b"],
        ["1. a\nand\n    2. deep", "2. b"],
        ["1. It costs\n2, or more", "2. b"],
    ],
)
def test_each_numbered_part_is_a_step(parts):
    assert steps("\n".join(parts)) == parts
    assert segment("\n".join(parts), "auto").mode == "numbered"


@pytest.mark.parametrize(
    "text",
    [
        "The mean is =\n3.5. Doubling it gives 7.",
        "It is =\n3. Then 4",
        "It is\n2:30 o'clock",
        "the\n第三名 is he",
        "as in\n2.5, 3.5",
        "Step by step",
        "Step 2 of the plan is easy",
        "³. a\n⁴. b",
    ],
)
def test_a_number_that_opens_a_line_is_no_label_by_itself(text):
    assert steps(text) == [text]


def test_what_stands_before_the_first_number_is_a_step():
    assert steps("We plan.\n1. a\n2. b") == ["We plan.", "1. a", "2. b"]


def test_one_word_label_does_not_hide_a_list_of_numbers():
    assert steps("Step 1: plan\n1. a\n2. b") == ["Step 1: plan", "1. a", "2. b"]


def test_labels_end_where_the_step_says_something():
    text = "Step 1: a\n**Step 2:** b\n第三步：c"
    found = [text[start:end] for start, end in step_labels(text, (0, len(text)), [])]
    assert found == ["Step 1:", "**Step 2:**", "第三步："]


@pytest.mark.parametrize(
    ("numeral", "value"),
    [("三", 3), ("十", 10), ("十二", 12), ("二十", 20), ("二十一", 21), ("一百零五", 105), ("一〇", 10)],
)
def test_chinese_numerals_are_read(numeral, value):
    assert _cjk_value(numeral) == value


digits = st.sampled_from(["0123456789", "０１２３４５６７８９", "٠١٢٣٤٥٦٧٨٩", "०१२३४५६७८९"])


@given(digits, st.integers(2, 12), st.integers(1, 3))
def test_every_script_of_digits_counts_alike(script, count, first):
    lines = [f"{first + k}. x".translate(str.maketrans("0123456789", script)) for k in range(count)]
    assert steps("\n".join(lines)) == lines
