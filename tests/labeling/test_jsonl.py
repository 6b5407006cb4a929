import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import InputError, RecordError
from labeling.records import UNKNOWN_LABEL, labelled_from_row
from labeling.sources.jsonl import (
    labels_from_first_error,
    parse_labelled,
    parse_row,
    read_labelled,
    read_problems,
    read_rows,
)


@pytest.fixture
def case(golden):
    return golden("data_files.json")["data-01"]


@pytest.fixture
def file(case, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(case["input"]["file_lines"]) + "\n", encoding="utf-8")
    return path


def test_data_01_strict_stops_at_line_three_and_names_file_line_and_reason(file):
    with pytest.raises(RecordError) as caught:
        read_labelled(file)
    assert caught.value.line == 3
    assert caught.value.file == str(file)
    assert "not JSON" in str(caught.value)
    assert f"{file}:3" in str(caught.value)


def test_data_01_skip_keeps_the_good_lines_and_one_reason_for_each_bad_one(file, case):
    expected = case["expected"]["skip"]
    reading = read_labelled(file, "skip")
    assert [item.solution.id for item in reading.items] == expected["kept_ids"]
    assert reading.lines == expected["kept_lines"]
    assert reading.blank == expected["ignored_blank"]
    assert set(reading.rejected) == {int(line) for line in expected["rejected"]}
    for line, reason in expected["rejected"].items():
        assert reason in reading.rejected[int(line)], (line, reading.rejected[int(line)])


def test_counts_show_zeros(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("")
    assert read_rows(path).counts() == {"records read": 0, "lines rejected": 0, "blank lines ignored": 0}


def test_a_row_without_a_solution_is_told_what_a_solution_is():
    with pytest.raises(RecordError, match="completion") as caught:
        parse_labelled({"id": "a", "problem": "1 + 1?", "answer": "2"})
    assert caught.value.reason == "field steps is missing."


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_rows(tmp_path / "nothing.jsonl")
    with pytest.raises(InputError, match="folder"):
        read_rows(tmp_path)


def test_a_gzip_file_is_read_and_a_broken_one_is_named(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": "a", "problem": "1+1?", "answer": "2"}\n'))
    assert read_problems(path).items[0].answer == "2"
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(InputError, match="unpacked"):
        read_problems(path)


def test_latin_1_bytes_are_refused_with_their_line(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'{"id": "a"}\n{"id": "\xe9"}\n')
    with pytest.raises(RecordError, match="not UTF-8") as caught:
        read_rows(path)
    assert caught.value.line == 2


@pytest.mark.parametrize("answer", ["NaN", "Infinity", "true", "[4]"])
def test_an_answer_that_is_no_text_and_no_number_is_refused(answer):
    with pytest.raises(RecordError, match="answer is"):
        parse_labelled(parse_row(f'{{"id": "a", "problem": "p", "steps": ["x"], "answer": {answer}}}'))


def test_a_number_as_answer_becomes_text_however_long():
    row = parse_row(f'{{"id": "a", "problem": "p", "steps": ["x"], "answer": {"7" * 400}}}')
    assert parse_labelled(row).solution.problem.answer == "7" * 400


def test_half_a_surrogate_pair_is_refused():
    with pytest.raises(RecordError, match="surrogate"):
        parse_row('{"id": "a", "text": ["\\ud800"]}')


@pytest.mark.parametrize(
    ("first_error", "labels"),
    [(-1, [1, 1, 1]), (0, [0, UNKNOWN_LABEL, UNKNOWN_LABEL]), (2, [1, 1, 0]), (None, [UNKNOWN_LABEL] * 3)],
)
def test_the_first_error_tells_the_labels_up_to_itself_only(first_error, labels):
    assert labels_from_first_error(first_error, 3) == labels


@pytest.mark.parametrize("first_error", [3, -2, True, 1.0, "1"])
def test_a_first_error_outside_the_steps_is_refused(first_error):
    row = {"id": "a", "problem": "p", "steps": ["x", "y", "z"], "first_error": first_error}
    with pytest.raises(RecordError, match="first_error"):
        parse_labelled(row)


def test_a_raw_solution_is_segmented():
    item = parse_labelled({"id": "a", "prompt": "p", "completion": "one\ntwo"}, segment_mode="line")
    assert item.solution.step_texts == ["one", "two"]


steps = st.lists(
    st.text(st.characters(blacklist_categories=("Cs",)), min_size=1).filter(str.strip), min_size=1, max_size=4
)


@given(steps, st.data())
def test_a_row_survives_the_round_trip(texts, data):
    labels = data.draw(st.lists(st.sampled_from([0, 1, -100]), min_size=len(texts), max_size=len(texts)))
    item = parse_labelled({"id": "a", "prompt": "p", "steps": texts, "labels": labels, "answer": "4"})
    again = labelled_from_row(json.loads(json.dumps(item.to_row())))
    assert again.to_row() == item.to_row()
    assert [label.value for label in again.labels] == labels
    assert again.solution.step_texts == texts


def test_what_a_source_says_besides_survives_as_text_in_the_row():
    item = parse_labelled({"id": "a", "prompt": "p", "steps": ["x"], "meta": {"steps": [["a", 1]]}})
    assert isinstance(item.to_row()["meta"], str)
    assert parse_labelled(item.to_row()).solution.problem.meta == {"steps": [["a", 1]]}


@pytest.mark.parametrize("depth", [150, 450, 900, 100_000])
@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_a_row_nested_too_deep_is_refused_by_its_line(tmp_path, opening, closing, depth):
    path = tmp_path / "rows.jsonl"
    path.write_text(
        '{"id": "a", "prompt": "p", "steps": ["s"], "x": ' + opening * depth + "1" + closing * depth + "}"
    )
    with pytest.raises(RecordError, match=r"nested more than|recursion") as caught:
        read_labelled(path)
    assert caught.value.line == 1
    assert read_labelled(path, "skip").counts()["lines rejected"] == 1


def test_meta_that_is_text_nested_without_end_is_refused():
    with pytest.raises(RecordError, match="meta is text but not JSON"):
        parse_labelled({"id": "a", "prompt": "p", "steps": ["s"], "meta": "[" * 100_000})


def test_a_file_that_cannot_be_read_is_named():
    with pytest.raises(InputError, match="/proc/self/mem: cannot be read"):
        read_rows("/proc/self/mem")
