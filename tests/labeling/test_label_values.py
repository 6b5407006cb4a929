import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.label_values import count_until_first_error
from labeling.records import (
    Problem,
    known_first_error,
    labelled_from_row,
    normalised_problem_text,
)

some_labels = st.lists(st.sampled_from([1, 0, -100]), max_size=6)


@pytest.mark.parametrize(
    ("labels", "first_error", "n"),
    [
        ([1, 0, 1, 0], None, 2),
        ([1, -100, 0, 1], None, 3),
        ([1, 1], None, 2),
        ([-100, -100, 1], 1, 2),  # the source knows it, the labels do not
        ([1, 0, 1], -1, 3),
        ([0], 0, 1),
        ([], None, 0),
    ],
)
def test_the_steps_up_to_the_first_error_are_counted(labels, first_error, n):
    assert count_until_first_error(labels, first_error) == n


@given(some_labels)
def test_what_is_counted_holds_one_wrong_label_at_most_and_that_last(labels):
    n = count_until_first_error(labels, None)
    kept = labels[:n]
    assert 0 not in kept[:-1]
    assert n == len(labels) or kept[-1] == 0


@pytest.mark.parametrize(
    ("labels", "given", "known"),
    [([1, 0, 1], None, 1), ([1, 1], None, -1), ([1, -100, 0], None, None), ([1, -100, 0], 2, 2)],
)
def test_the_first_error_is_the_sources_or_what_the_labels_prove(labels, given, known):
    row = {
        "id": "a",
        "prompt": "p",
        "completions": ["s"] * len(labels),
        "labels": labels,
        "first_error": given,
    }
    assert known_first_error(labelled_from_row(row)) == known


def test_of_a_solution_without_steps_no_first_error_is_known():
    row = {"id": "a", "prompt": "p", "completions": [], "labels": []}
    assert known_first_error(labelled_from_row(row)) is None


def test_case_spacing_and_unicode_form_make_no_other_problem():
    spellings = ("A beam of 3 m.", "  a BEAM of\n3 m. ", "A beam\u00a0of \uff13 m.")
    texts = {normalised_problem_text(Problem(id="p", text=text).text) for text in spellings}
    assert texts == {"a beam of 3 m."}
    assert normalised_problem_text("A beam of 4 m.") not in texts
