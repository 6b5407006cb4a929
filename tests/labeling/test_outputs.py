import json
import os

import pytest

from labeling.errors import StoreError
from labeling.outputs import check_new, check_report, check_writable


def test_a_folder_that_can_be_written_or_made_passes_and_nothing_stays_behind(tmp_path):
    (tmp_path / "old.txt").write_text("old")
    check_writable(tmp_path, "old.txt", "new.txt")
    check_writable(tmp_path / "a" / "b", "new.txt")
    check_new(tmp_path / "c" / "d")
    assert [path.name for path in tmp_path.iterdir()] == ["old.txt"]
    assert (tmp_path / "old.txt").read_text() == "old"


def test_a_relative_path_is_looked_up_from_here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    check_writable("", "x")
    check_new("a/b")
    (tmp_path / "a").write_text("a file")
    with pytest.raises(StoreError, match="a: is not a folder"):
        check_new("a/b")


def test_a_file_where_a_folder_must_be_is_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("x")
    for folder in (file, file / "below", file / "far" / "below"):
        with pytest.raises(StoreError, match="is not a folder") as caught:
            check_writable(folder, "report.json")
        assert caught.value.file == str(file)
        assert caught.value.remedy


def test_a_folder_where_a_file_must_be_is_named(tmp_path):
    (tmp_path / "report.json").mkdir()
    with pytest.raises(StoreError, match="not a file") as caught:
        check_writable(tmp_path, "other", "report.json")
    assert caught.value.file == str(tmp_path / "report.json")


def test_a_link_to_nowhere_is_no_free_place(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(StoreError, match="not a folder"):
        check_writable(tmp_path / "link" / "x")
    with pytest.raises(StoreError, match="exists already"):
        check_new(tmp_path / "link")


def test_a_place_that_the_system_forbids_is_refused():
    with pytest.raises(StoreError, match="cannot be written") as caught:
        check_writable("/proc/self/task/x", "report.json")
    assert caught.value.file == "/proc/self/task/x"
    with pytest.raises(StoreError, match="cannot be written"):
        check_writable("/tmp/" + "x" * 300)


@pytest.mark.skipif(os.geteuid() == 0, reason="rights bind nobody who is root")
def test_a_folder_without_rights_is_refused(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="cannot be written"):
        check_writable(tmp_path / "x")
    tmp_path.chmod(0o700)


def test_an_output_that_exists_is_not_new(tmp_path):
    with pytest.raises(StoreError, match="exists already"):
        check_new(tmp_path)


@pytest.mark.parametrize(
    ("text", "whose"),
    [
        (json.dumps({"stage": "train-prm"}), "the stage train-prm"),
        ("[]", "something else"),
        ("{", "something else"),
    ],
)
def test_a_report_of_another_stage_is_not_overwritten(tmp_path, text, whose):
    (tmp_path / "report.json").write_text(text)
    with pytest.raises(StoreError, match=f"report of {whose}"):
        check_report(tmp_path, "evaluate")


def test_a_report_of_the_same_stage_is_made_anew(tmp_path):
    check_report(tmp_path / "nothing there yet", "evaluate")
    (tmp_path / "report.json").write_text(json.dumps({"stage": "evaluate"}))
    check_report(tmp_path, "evaluate")
