"""The benchmark of segmentation runs on the same text every time and prints every mode."""

import sys

from benchmarks import segmentation
from labeling.steps import MODES


def test_the_same_seed_gives_the_same_texts():
    assert segmentation.corpus(0.01) == segmentation.corpus(0.01)
    assert segmentation.corpus(0.01) != segmentation.corpus(0.01, seed=1)
    assert sum(len(text.encode()) for text in segmentation.corpus(0.05)) >= 50_000


def test_every_mode_is_measured_beside_splitlines(monkeypatch, capsys):
    monkeypatch.setattr(segmentation, "LONG_TEXT_CHARACTERS", 5_000)
    monkeypatch.setattr(sys, "argv", ["segmentation", "--megabytes", "0.02", "--repeats", "1"])
    segmentation.main()
    rows = [line.split("|")[1].strip() for line in capsys.readouterr().out.splitlines() if "|" in line]
    for name in ("str.splitlines", *MODES):
        assert rows.count(name) == 2
