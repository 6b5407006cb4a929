import json

import pytest

from labeling.errors import RecordError, StoreError
from labeling.store import LabelStore

PRINT = {"verifier": "arithmetic"}


def start(path, content, fingerprint=PRINT):
    """Leave what a killed run leaves: the fingerprint and some bytes."""
    LabelStore(path, fingerprint).close()
    path.write_bytes(content)


@pytest.fixture
def case(golden):
    return golden("data_files.json")["data-02"]


@pytest.mark.parametrize("name", ["torn_tail", "no_final_newline"])
def test_data_02_a_restart_finishes_the_file_without_gluing_records(case, name, tmp_path):
    content = next(f["bytes"] for f in case["input"]["output_file_on_restart"] if f["name"] == name).encode()
    expected = case["expected"][name]
    path = tmp_path / "scores.jsonl"
    start(path, content)
    with LabelStore(path, PRINT) as store:
        todo = [i for i in case["input"]["planned_ids"] if i not in store.done]
        assert todo == expected["still_to_do"]
        for row_id in todo:
            store.append({"id": row_id, "score": 0.1})
    lines = path.read_bytes().splitlines()
    assert len(lines) == expected["n_lines"]
    assert sorted(json.loads(line)["id"] for line in lines) == expected["final_ids_sorted"]
    assert lines[:2] == content.splitlines()[:2]
    before = path.read_bytes()
    with LabelStore(path, PRINT) as store:
        assert store.done == set(case["input"]["planned_ids"])
    assert path.read_bytes() == before


def test_a_torn_tail_is_counted(tmp_path):
    path = tmp_path / "a.jsonl"
    start(path, b'{"id":"r1"}\n{"id":"r2","sco')
    with LabelStore(path, PRINT) as store:
        assert store.torn_bytes == len(b'{"id":"r2","sco')


def test_a_damaged_line_in_the_middle_is_named_not_repaired(tmp_path):
    path = tmp_path / "a.jsonl"
    start(path, b'{"id":"r1"}\ngarbage\n{"id":"r2"}\n')
    with pytest.raises(StoreError, match="damaged") as caught:
        LabelStore(path, PRINT)
    assert caught.value.line == 2
    assert path.read_bytes() == b'{"id":"r1"}\ngarbage\n{"id":"r2"}\n'


def test_rows_of_another_run_are_refused_and_name_what_differs(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
    with pytest.raises(StoreError, match="with another verifier"):
        LabelStore(path, {"verifier": "answers"})
    with LabelStore(path, {"verifier": "answers"}, is_overwriting=True) as store:
        assert store.done == set()


def test_a_file_that_the_stage_did_not_write_is_left_alone(tmp_path):
    path = tmp_path / "thesis.txt"
    path.write_text("precious\n")
    with pytest.raises(StoreError, match="not written by this stage"):
        LabelStore(path, PRINT)
    assert path.read_text() == "precious\n"


def test_two_writers_at_once_are_refused(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT), pytest.raises(StoreError, match="another run"):
        LabelStore(path, PRINT)


def test_an_id_is_stored_once(tmp_path):
    with LabelStore(tmp_path / "a.jsonl", PRINT) as store:
        store.append({"id": "r1"})
        with pytest.raises(StoreError, match="already stored"):
            store.append({"id": "r1"})
        with pytest.raises(StoreError, match="without id"):
            store.append({"score": 1})


def test_nan_never_reaches_the_file(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1", "score": float("nan")})
    assert json.loads(path.read_text()) == {"id": "r1", "score": None}


def test_text_that_is_not_unicode_is_refused_and_leaves_no_half_line(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
        with pytest.raises(RecordError, match="surrogate") as caught:
            store.append({"id": "r2", "reason": "half \ud800"})
        assert caught.value.record_id == "r2"
        store.append({"id": "r2", "reason": "whole"})
    assert len(path.read_text().splitlines()) == 2


def test_what_is_no_file_is_refused_before_it_is_read(tmp_path):
    for path in (tmp_path, "/dev/null"):
        with pytest.raises(StoreError, match="is not a file"):
            LabelStore(path, PRINT)


@pytest.mark.parametrize("damaged", ["[]", "null", "5", "[" * 100_000])
def test_a_damaged_fingerprint_is_another_runs(tmp_path, damaged):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
    store.fingerprint_path.write_text(damaged)
    with pytest.raises(StoreError, match="another run"):
        LabelStore(path, PRINT)


def test_a_line_nested_without_end_is_damaged(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
    with path.open("a") as file:
        file.write("[" * 100_000 + "\n")
    with pytest.raises(StoreError, match="damaged") as caught:
        LabelStore(path, PRINT)
    assert caught.value.line == 2


def fail_after(path, fingerprint, *, rows):
    """Overwrite with rows and then fail."""

    def write():
        with LabelStore(path, fingerprint, is_overwriting=True) as store:
            for row in rows:
                store.append(row)
            raise KeyError

    with pytest.raises(KeyError):
        write()


def test_overwriting_keeps_the_old_file_until_the_first_row_comes(tmp_path):
    path = tmp_path / "a.jsonl"
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
    path.write_bytes(path.read_bytes() + b'{"id":"torn')
    other = {"verifier": "answers"}
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    fail_after(path, other, rows=[])
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    fail_after(path, other, rows=[{"id": "r2"}])
    with LabelStore(path, other) as store:
        assert (store.done, store.torn_bytes) == ({"r2"}, 0)


def test_a_run_that_makes_no_row_overwrites_too_and_a_failed_one_leaves_no_new_file(tmp_path):
    path = tmp_path / "a.jsonl"
    fail_after(path, PRINT, rows=[])
    assert list(tmp_path.iterdir()) == []
    with LabelStore(path, PRINT) as store:
        store.append({"id": "r1"})
    with LabelStore(path, {}, is_overwriting=True):
        pass
    assert path.read_bytes() == b""
    assert json.loads(store.fingerprint_path.read_text()) == {}
