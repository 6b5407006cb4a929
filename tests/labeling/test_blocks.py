"""Formulas, code, tables and nested lists stay whole in every mode."""

import pytest

from labeling.steps import segment


def steps(text, mode, **options):
    return [step.text for step in segment(text, mode, **options).steps]


BLOCKS = {
    "brackets": "\\[\nx = 1\n\n2. y\n\\]",
    "dollars": "$$\nx = 1.\n\nStep 2: y\n$$",
    "environment": "\\begin{align*}\nx &= 1\n\n2. y\n\\end{align*}",
    "nested environment": "\\begin{a}\n\n\\begin{a}\n\n\\end{a}\n\n2. y\n\\end{a}",
    "fence": "```python\nx = 1\n\n2. y\n```",
    "tilde fence": "~~~\nx\n\n$$\n~~~",
    "longer fence": "````\n```\n\nx\n````",
    "table": "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |",
    "bare table": "a | b\n--|--\n1 | 2",
    "nested list": "- a\n  - b\n\n  - c\n    goes on",
    "numbers in a list": "* a\n  1. b\n  2. c",
}


@pytest.mark.parametrize("mode", ["blank_line", "line", "numbered", "sentence", "marker", "auto"])
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_block_is_one_step_between_two_others(kind, mode):
    block = BLOCKS[kind]
    separator = "\n1. " if mode == "numbered" else "\n\n"
    text = f"Before it.{separator}{block}\n{'2. ' if mode == 'numbered' else chr(10)}After it."
    expected = {"numbered": ["Before it.", f"1. {block}", "2. After it."]}.get(
        mode, ["Before it.", block, "After it."]
    )
    if mode == "numbered" and kind in ("nested list", "table", "bare table", "numbers in a list"):
        # Their first line would begin with the number.
        text, expected = f"1. a\n{block}\n2. b", [f"1. a\n{block}", "2. b"]
    assert steps(text, mode, marker="\n\n" if mode == "marker" else None) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\na\n\nb", ["```\na\n\nb"]),
        ("a\n~~~\nb\n\nc", ["a", "~~~\nb\n\nc"]),
        (
            "1. x\n      ```\n      a\n\n      b\n      ```\ny",
            ["1. x", "```\n      a\n\n      b\n      ```", "y"],
        ),
        ("\\[ a\nb", ["\\[ a", "b"]),
        ("$$ a\nb", ["$$ a", "b"]),
        ("\\begin{x} a\nb\n\\end{y}", ["\\begin{x} a", "b", "\\end{y}"]),
        ("a \\\\[2pt]\nb \\]", ["a \\\\[2pt]", "b \\]"]),
        ("cost \\$$\nb $$\nc", ["cost \\$$", "b $$", "c"]),
        ("not a ``` fence\nb", ["not a ``` fence", "b"]),
        ("|x| = 5\n|y| = -3", ["|x| = 5", "|y| = -3"]),
        ("|-5| = 5\n|-3| = 3\nb", ["|-5| = 5", "|-3| = 3", "b"]),
        ("| a | b |\n|---|---|\n| 1 | 2 |\nso |x| = 1", ["| a | b |\n|---|---|\n| 1 | 2 |", "so |x| = 1"]),
        ("- a\n- b", ["- a", "- b"]),
        ("a\n  - b\n  - c", ["a", "- b", "- c"]),
        ("1. a\n   goes on\n2. b", ["1. a", "goes on", "2. b"]),
        ("1. a\n   goes on\n2. b\n   - c", ["1. a", "goes on", "2. b\n   - c"]),
        ("Step 1: a\n  - b\n  - c\nStep 2: d", ["Step 1: a\n  - b\n  - c", "Step 2: d"]),
    ],
)
def test_what_protects_and_what_does_not(text, expected):
    assert steps(text, "line") == expected


def test_a_block_ends_with_the_thinking_that_it_stands_in():
    text = "<think>\na\n```\nb\n\n$$\n</think>\nc\nd $$\ne"
    assert steps(text, "line") == ["a", "```\nb\n\n$$", "c", "d $$", "e"]
