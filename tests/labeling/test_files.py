import os
import signal
import stat
import subprocess
import sys

import pytest

from labeling.errors import StoreError
from labeling.files import only_writer, written_whole
from labeling.report import Report


def test_a_report_may_be_read_by_whom_the_umask_allows(tmp_path):
    before = os.umask(0o022)
    try:
        path = Report(stage="toy").write(tmp_path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644


def test_an_interruption_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "new folder" / "and one in it" / "a.txt"
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


HOLD = """
import sys, time
from labeling.files import only_writer
with only_writer(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_has_one_writer_until_that_process_ends_however_it_ends(tmp_path):
    folder = tmp_path / "run"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(folder)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(StoreError, match="another run is writing this folder"), only_writer(folder):
        pytest.fail("the folder was given to two")
    holder.send_signal(signal.SIGKILL)
    holder.communicate()
    with only_writer(folder):
        assert list(folder.iterdir()) == []
    with only_writer(folder):
        pass
