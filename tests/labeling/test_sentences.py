"""Sentences: a full stop is told from a decimal point, an abbreviation, an initial and an ellipsis."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling._sentences import protected_spans
from labeling.steps import join, segment


def sentences(text):
    return [step.text for step in segment(text, "sentence").steps]


@pytest.mark.parametrize(
    "parts",
    [
        ["The mean is 3.5 kg.", "Doubling it gives 7."],
        ["Dr. Lee and Mrs. Kim met Prof. Sato.", "They left."],
        ["See Fig. 3 and Eq. (4), i.e. the first case.", "Now x = 2."],
        ["Use a prime, e.g. 7, or approx. 7.5 for it.", "Go on."],
        ["A novel by J. K. Rowling costs 12 dollars.", "George W. Bush bought it."],
        ["The answer is A.", "Doubling gives 7."],
        ["We solve for n.", "The rest is easy."],
        ["The U.S. Government pays 5 dollars.", "It is 5 p.m. now."],
        ["We meet at 5 p.m.", "Then we go."],
        ["We buy pens, paper, etc.", "Then we pay."],
        ["It is 5 ft. 3 in. long.", "The rest is cut."],
        ["Wait... that is 5.", "So it goes on...", "Then it ends."],
        ["1 + 2 + ... + 10 = 55.", "Half of it is 27.5."],
        ["Since 5! = 120, n! is even!", "Really?", "Yes."],
        ['She said "It is 5."', "He left."],
        ['He wrote "Stop. Go on." and left.', "So 5 remain."],
        ["It holds (see Fig. 2. It is there).", "We go on."],
        ["(It holds.)", "We go on."],
        ["Let $f(x) = x. Then$ and \\(a. B\\) hold.", "Call `a. B` now."],
        ["Then $r = -1.$", "So \\(x = 2.\\)", "Now \\[y = 3.\\]", "Done."],
        ["It costs $5.", "And $6 more."],
        ["**It is so.**", "Next."],
        ["他买了3.5个苹果。", "每个２．５元！", "一共多少？", "「是7元。」", "他说。"],
        ["価格は３．５円です．", "次に進む。"],
        ["1. We own 5 apples.", "They are red."],
        ["Step 3. We add 5.", "It is 8."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(parts):
    between = "" if parts[0][0] in "他価" else " "
    assert sentences(between.join(parts)) == parts


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("7 cups / 2 bowls =\n3.5 cups. Done.", ["7 cups / 2 bowls =\n3.5 cups.", "Done."]),
        ("the first of the\nlong lines. End", ["the first of the\nlong lines.", "End"]),
        ("x = 5\ny = 6", ["x = 5", "y = 6"]),
        ("so x = 5\n\nand y = 6", ["so x = 5", "and y = 6"]),
        ("a = 5,\nb = 6", ["a = 5,\nb = 6"]),
        ("x = 4\n  = 2 + 2", ["x = 4\n  = 2 + 2"]),
        ("We get\n\\[\nx. Y\n\n= 3. Z\n\\]\nEnd.", ["We get\n\\[\nx. Y\n\n= 3. Z\n\\]", "End."]),
        ("It is so.\n$$\nx. Y\n$$\nEnd.", ["It is so.", "$$\nx. Y\n$$", "End."]),
        ("```\na. B\n\nc. D", ["```\na. B\n\nc. D"]),
        ("", []),
        ("...", ["..."]),
        ("No end", ["No end"]),
    ],
)
def test_a_line_break_separates_unless_the_line_goes_on(text, expected):
    assert sentences(text) == expected


def test_a_bracket_without_its_partner_protects_nothing():
    assert sentences("Take [0, 5). Then go (on. It is 3.") == ["Take [0, 5).", "Then go (on.", "It is 3."]


def test_a_very_long_bracket_protects_nothing():
    text = "(" + "One is here. " * 60 + ")"
    assert len(sentences(text)) == 60


@pytest.mark.parametrize(
    ("text", "protected"),
    [
        ("a (b [c] d) e", ["(b [c] d)"]),
        ("$5 and $6 but $x y$", ["$x y$"]),
        ("cost \\$5$x$", ["$x$"]),
        ("``a ` b`` c", ["``a ` b``"]),
        ("“a” «b» 「c」（d）", ["“a”", "«b»", "「c」", "（d）"]),
        ('5" and "a b" c', ['"a b"']),
        ("\\(a\\) \\(", ["\\(a\\)"]),
    ],
)
def test_what_is_enclosed_is_found(text, protected):
    spans = protected_spans(text, (0, len(text)), [])
    assert [text[start:end] for start, end in spans] == protected


sentence_pieces = st.lists(
    st.sampled_from(
        ["a", "B", " ", "\n", ". ", "3.5", "。", "! ", "? ", "…", '"', "(", ")", "$", "`", "Dr. ", "．"]
    )
    | st.text(max_size=3),
    max_size=40,
).map("".join)


@given(sentence_pieces)
def test_sentences_lose_nothing_but_white_space(text):
    steps = segment(text, "sentence").steps
    assert join(text, steps) == text
    assert "".join("".join(step.text for step in steps).split()) == "".join(text.split())


@given(st.lists(st.integers(-99, 99), min_size=1, max_size=8))
def test_as_many_sentences_come_out_as_went_in(numbers):
    parts = [f"The value {n}.5 is kept." for n in numbers]
    assert sentences(" ".join(parts)) == parts
