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
    assert "line 1" not in str(caught.value), "the parser counts within its one line"
    assert "line 2" not in str(caught.value)
    assert "at character " in str(caught.value)


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


def test_a_byte_order_mark_at_the_start_of_a_file_is_no_part_of_its_first_row(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b'\xef\xbb\xbf{"id": "a"}\r\n{"id": "b"}\r\n')
    assert [row["id"] for row in read_rows(path).items] == ["a", "b"]
    path.write_bytes(b'\xef\xbb\xbf\n{"id": "a"}\n\xef\xbb\xbf{"id": "b"}\n')
    reading = read_rows(path, on_error="skip")
    assert (reading.blank, reading.lines, list(reading.rejected)) == ([1], [2], [3])


@pytest.mark.parametrize("written", ['["a"]', "false", "1.0", "{}", "1e400"])
@pytest.mark.parametrize("name", ["id", "problem_id"])
def test_an_id_that_is_no_text_and_no_whole_number_is_refused(tmp_path, name, written):
    other = {"id": "problem_id", "problem_id": "id"}[name]
    path = tmp_path / "rows.jsonl"
    path.write_text(f'{{"{other}": "a", "{name}": {written}, "problem": "p", "steps": ["x"]}}\n')
    with pytest.raises(RecordError, match=rf"rows.jsonl:1.*: {name} is .*, not text or a whole number"):
        read_labelled(path)


def test_an_id_of_a_number_is_its_text_zero_included():
    labelled = parse_labelled({"id": 0, "problem_id": 0, "problem": "p", "steps": ["x"]})
    assert (labelled.solution.id, labelled.solution.problem.id) == ("0", "0")
    labelled = parse_labelled({"id": 7, "problem_id": None, "problem": "p", "steps": ["x"]})
    assert (labelled.solution.id, labelled.solution.problem.id) == ("7", "7")
    labelled = parse_labelled({"id": 7, "problem_id": 0, "problem": "p", "steps": ["x"]})
    assert labelled.solution.problem.id == "0"


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


CONTRADICTIONS = [
    # first_error, labels, what the message names
    (0, [1, 1], "labels has 1 at step 0"),
    (1, [1, 1], "labels has 1 at step 1"),
    (1, [0, 0], "labels has 0 at step 0"),
    (1, [0, -100], "labels has 0 at step 0"),
    (-1, [1, 0], "labels has 0 at step 1"),
    (-1, [False, True], "labels has 0 at step 0"),
    (1, [1.0, 1.0], "labels has 1 at step 1"),
]


def labelled_row(**more):
    return {"id": "a", "prompt": "p", "completions": ["x", "y"]} | more


@pytest.mark.parametrize(("first_error", "labels", "reason"), CONTRADICTIONS)
def test_labels_that_rule_out_the_first_error_are_refused_and_can_be_skipped(
    tmp_path, first_error, labels, reason
):
    path = tmp_path / "rows.jsonl"
    rows = [labelled_row(id="good"), labelled_row(first_error=first_error, labels=labels)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with pytest.raises(RecordError, match=reason) as caught:
        read_labelled(path)
    assert (caught.value.file, caught.value.line, caught.value.record_id) == (str(path), 2, "a")
    assert "leave out first_error" in caught.value.remedy
    reading = read_labelled(path, "skip")
    assert reading.counts()["lines rejected"] == 1
    assert reason in reading.rejected[2]


@pytest.mark.parametrize(
    ("first_error", "labels"),
    [
        (0, [0, 1]),  # a sound step behind an error
        (0, [-100, 1]),
        (1, [-100, 0]),
        (1, [-100, None]),
        (-1, [1, -100]),
        (-1, [0.4, 0.9]),  # a probability states nothing for certain
        (1, [0.4, 0.9]),
        (None, [0, 1]),
        (0, None),
        (-1, None),
    ],
)
def test_labels_that_leave_room_for_the_first_error_are_kept(first_error, labels):
    item = parse_labelled(labelled_row(first_error=first_error, labels=labels))
    assert item.first_error == first_error


def test_values_of_prefixes_do_not_contradict_a_first_error():
    row = labelled_row(first_error=0, labels=[1, 0], semantics="value")
    assert parse_labelled(row).first_error == 0
    with pytest.raises(RecordError, match="labels has 1 at step 0"):
        parse_labelled(row | {"semantics": "correctness"})


any_labels = st.lists(st.sampled_from([0, 1, -100, 0.3, 0.7]), min_size=1, max_size=5)


@given(any_labels, st.data())
def test_a_first_error_is_kept_exactly_when_some_truth_fits_it_and_the_labels(labels, data):
    first_error = data.draw(st.integers(-1, len(labels) - 1))
    row = {"id": "a", "prompt": "p", "steps": ["s"] * len(labels)}
    # By trying every truth: which steps are right.
    n = len(labels)
    truths = [[bits >> k & 1 for k in range(n)] for bits in range(2**n)]
    fits = any(
        (truth.index(0) if 0 in truth else -1) == first_error
        and all(label == true for label, true in zip(labels, truth, strict=True) if label in (0, 1))
        for truth in truths
    )
    try:
        parse_labelled(row | {"labels": labels, "first_error": first_error})
        is_kept = True
    except RecordError:
        is_kept = False
    assert is_kept == fits


@pytest.mark.parametrize("word", ["truth", "Correctness", "", 1, ["value"]])
def test_a_meaning_of_labels_that_is_none_of_ours_is_refused(word):
    with pytest.raises(RecordError, match=r"semantics is .* Write correctness or value"):
        parse_labelled(labelled_row(labels=[1, 1], semantics=word))


def test_an_empty_meaning_is_the_usual_one():
    assert parse_labelled(labelled_row(labels=[1, 1], semantics=None)).semantics == "correctness"


COUNTS = {"n": [8, 8], "k": [3, 8], "cut": [2, 0], "unparsable": [3, 0]}


@pytest.mark.parametrize(
    ("counts", "reason"),
    [
        ({"k": [3, 9]}, "more right, cut, unparsable and undecided rollouts than rollouts, step 1"),
        ({"cut": [9, 0]}, "more right, cut, unparsable"),
        ({"cut": [6, 0]}, "more right, cut, unparsable"),
        ({"unparsable": [0, 1]}, "more right, cut, unparsable"),
        ({"undecided": [6, 0]}, "more right, cut, unparsable"),
        ({"n": [-1, 8]}, "less than nothing"),
        ({"k": [-1, 8]}, "less than nothing"),
        ({"cut": [-2, 0]}, "less than nothing"),
        ({"k": [2.5, 8]}, "2.5 is not a whole number"),
        ({"k": [True, 8]}, "True is not a whole number"),
        ({"n": [float("inf"), 8]}, "inf is not a whole number"),
        ({"n": [None, 8]}, "more right, cut, unparsable"),
    ],
)
def test_rollouts_that_cannot_have_been_counted_are_refused_and_can_be_skipped(tmp_path, counts, reason):
    path = tmp_path / "rows.jsonl"
    row = labelled_row(labels=[1, 1], semantics="value") | COUNTS | counts
    path.write_text(json.dumps(row) + "\n")
    with pytest.raises(RecordError, match=reason) as caught:
        read_labelled(path)
    assert (caught.value.file, caught.value.line, caught.value.record_id) == (str(path), 1, "a")
    assert caught.value.remedy
    assert read_labelled(path, "skip").counts()["lines rejected"] == 1


def test_rollouts_are_read_when_they_add_up_and_when_a_gap_made_them_fractions():
    row = labelled_row(labels=[1, 1], semantics="value") | COUNTS | {"n": [8.0, 8.0]}
    first, last = (label.counts for label in parse_labelled(row).labels)
    assert (first.n, first.k, first.cut, first.unparsable, last.soft) == (8, 3, 2, 3, 1.0)


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
