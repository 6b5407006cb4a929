import os
import stat

import pytest

from labeling.files import written_whole
from labeling.report import Report


def test_a_report_may_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        path = Report(stage="toy").write(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "new folder" / "a.txt"
    with written_whole(path) as file:
        file.write("old")
    with pytest.raises(KeyboardInterrupt):
        interrupted_write(path)
    assert path.read_text(encoding="utf-8") == "old"
    assert list(path.parent.iterdir()) == [path]


def interrupted_write(path):
    with written_whole(path) as file:
        file.write("half")
        file.flush()
        raise KeyboardInterrupt
