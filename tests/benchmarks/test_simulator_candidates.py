"""Candidates of each shipped simulator get the verdicts that are known, however many processes judge them."""

import pytest
from sandboxes import cpython_engine

from benchmarks.simulator_candidates import CANDIDATES, drawn, labelled_rows, told
from labeling import _workers

COUNT = {"engineering": 60, "structures": 12, "controllers": 12}


@pytest.mark.parametrize("simulator", list(CANDIDATES))
def test_verdicts_are_as_known_and_the_same_for_any_number_of_workers(
    simulator, tmp_path, monkeypatch, capsys
):
    if simulator == "controllers":
        cpython_engine(warm=0).close()
    monkeypatch.setattr(_workers, "SOLUTIONS_A_PROCESS", 4)
    candidates, rows = drawn(simulator, COUNT[simulator], seed=1)
    found = [labelled_rows(rows, simulator, tmp_path, processes=processes) for processes in (1, 3)]
    assert told(candidates, [row["verdicts"] for row in found[0]]), capsys.readouterr().out
    assert found[1] == found[0]


def test_a_verdict_that_is_not_as_known_is_told(capsys):
    candidates, _ = drawn("engineering", 3, seed=0)
    verdicts = [["RIGHT" if wanted is None else wanted for wanted in c.expected] for c in candidates]
    assert told(candidates, verdicts)
    verdicts[1] = ["RIGHT"] * len(verdicts[1])
    assert not told(candidates, verdicts)
    assert "another result" in capsys.readouterr().out
