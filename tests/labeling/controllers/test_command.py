"""The command that writes problems."""

import pytest
from controllers_engine import ToyEngine

from labeling.simulators.controllers import ControllersWorld
from labeling.simulators.controllers.__main__ import main
from labeling.sources.jsonl import read_labelled, read_problems


def test_written_problems_are_read_back_and_graded(tmp_path, capsys):
    file = tmp_path / "problems.jsonl"
    assert main(["--count", "5", "--split", "test", "--seed", "3", "--solutions", "--output", str(file)]) == 0
    assert "5 problems" in capsys.readouterr().out
    world = ControllersWorld(engine=ToyEngine())
    assert read_problems(file).items == world.problems(5, split="test", seed=3)
    for labelled in read_labelled(file).items:
        text = "\n\n".join(labelled.solution.step_texts)
        assert world.grade(labelled.solution.problem, text) is True


def test_a_simulator_that_does_not_exist_is_told_in_one_line(tmp_path, capsys):
    assert main(["--simulator", "controllers:lift", "--output", str(tmp_path / "x")]) == 2
    assert "no specification 'lift'" in capsys.readouterr().err


@pytest.mark.parametrize("wrong", [["--split", "dev"], []])
def test_wrong_flags_end_with_code_two(wrong, tmp_path):
    output = ["--output", str(tmp_path / "x")] if wrong else []
    with pytest.raises(SystemExit) as caught:
        main([*wrong, *output])
    assert caught.value.code == 2
