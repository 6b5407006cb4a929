import json
import sys

import pytest

from benchmarks import simulator_problems, simulators
from labeling.label import LabelConfig, run
from labeling.sources.jsonl import read_problems


def written(tmp_path, monkeypatch, *options):
    output = tmp_path / "problems.jsonl"
    monkeypatch.setattr(sys, "argv", ["problems", *options, "--output", str(output)])
    simulator_problems.main()
    return output


def test_a_small_set_is_written_that_the_label_stage_reads_and_finds_right(tmp_path, monkeypatch, capsys):
    output = written(tmp_path, monkeypatch, "--simulator", "structures", "--count", "5", "--split", "test")
    rows = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == len(read_problems(output).items) == 5
    assert rows[0]["steps"][-1].startswith("Answer: n = ")
    assert "5 problems" in capsys.readouterr().out
    labels = tmp_path / "out" / "labels.jsonl"
    counts = run(LabelConfig(input=str(output), output=str(labels), verifier="simulator:structures")).counts
    assert counts["steps RIGHT"] == counts["steps"] == sum(len(row["steps"]) for row in rows)


def test_a_simulator_that_does_not_exist_is_told(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        written(tmp_path, monkeypatch, "--simulator", "structure")
    assert "there is no simulator 'structure'" in capsys.readouterr().err


def test_latencies_and_mutants_are_printed_for_every_state():
    table = simulators.latencies("structures:easy", 3, 0)
    assert sum("| 3 |" in line for line in table) == 6
    assert any(line.startswith("| all |") for line in simulators.mutants(2, 0))


def test_answers_that_are_wrong_throughout_are_wrong_in_every_value():
    steps = ["Reaction at A: R_A = 3 kN / 2 = 1.5 kN.", "1 MPa < 2 MPa: the stress limit is kept."]
    problem = simulators.load_simulator("structures:overhang").problems(1, split="train", seed=0)[0]
    assert simulators.wronged(problem, steps) == ["R_A = 31.5 kN.", steps[1]]
