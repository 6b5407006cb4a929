import pytest

from labeling import progress
from labeling.progress import Meter, track


def test_a_log_gets_a_line_now_and_then_and_one_at_the_end(capsys, monkeypatch):
    seconds = iter([0.0, 4.0, 11.0, 12.0])
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(seconds))
    assert list(track("abc", total=3, description="label")) == ["a", "b", "c"]
    assert capsys.readouterr().err.splitlines() == ["label: 2/3 after 11.0 s", "label: 3/3 after 12.0 s"]


def test_what_stops_the_work_is_not_hidden(capsys):
    def items():
        yield 1
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        list(track(items(), total=2, description="label"))
    assert capsys.readouterr().err == ""


def test_a_meter_shows_a_note(capsys):
    with Meter("train", total=2) as meter:
        meter.show(2, "loss 0.5")
    assert capsys.readouterr().err.rstrip().endswith("s loss 0.5")
