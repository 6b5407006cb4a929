"""The simulator that the guide builds is the one that a reader copies: it is run from there."""

import json
import re
from pathlib import Path

import pytest

from labeling.records import Solution
from labeling.simulators.external import ExternalSettings, ExternalWorld, python_command
from labeling.simulators.load import checked_problems
from prm.cli import main

GUIDE = Path(__file__).parents[3] / "docs" / "guide-simulator.md"


@pytest.fixture
def springs(tmp_path, monkeypatch):
    """A folder with the guide's module, which is also where the test runs."""
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert code is not None
    (tmp_path / "springs.py").write_text(code[1])
    monkeypatch.chdir(tmp_path)
    world = ExternalWorld(ExternalSettings(command=python_command("springs:Springs"), processes=1))
    yield world
    world.close()


def test_the_guide_keeps_its_word_on_its_length():
    code = re.search(r"```python\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert code is not None
    lines = [line for line in code[1].splitlines() if line.strip() and not line.startswith(("#", "import"))]
    assert len(lines) <= 30


def test_it_gives_disjoint_problems_and_grades_them(springs):
    # As many as `prm train-policy` asks for unless it is told otherwise.
    train = checked_problems(springs.problems(2048, split="train", seed=0), simulator="springs")
    test = checked_problems(springs.problems(40, split="test", seed=0), simulator="springs")
    assert not {p.text for p in train} & {p.text for p in test}
    problem = train[0]
    first = problem.meta["load"] / problem.meta["springs"][0]
    repeated = Solution.from_steps([f"x = {first:.3f} mm"] * 2, id="s", problem=problem)
    assert [t.is_needed for t in springs.truth(problem, repeated)] == [True, False]
    sunk = sum(problem.meta["load"] / stiffness for stiffness in problem.meta["springs"])
    assert springs.grade(problem, f"so\nAnswer: = {sunk:.3f} mm") is True
    assert springs.grade(problem, f"Answer: = {sunk + 1:.3f} mm") is False
    assert springs.grade(problem, "I do not know") is None


def test_prm_label_takes_it_as_the_guide_says(springs):
    problem = springs.problems(1, split="train", seed=3)[0]
    first = problem.meta["load"] / problem.meta["springs"][0]
    row = {
        "id": "1",
        "problem": problem.text,
        "meta": dict(problem.meta),
        "steps": [f"x = {first:.3f} mm", f"x = {first + 0.5:.3f} mm", "so it sinks"],
    }
    Path("in.jsonl").write_text(json.dumps(row) + "\n")
    arguments = [
        "--input",
        "in.jsonl",
        "--output",
        "o/l.jsonl",
        "--verifier",
        "simulator:external:springs:Springs",
    ]
    assert main(["label", *arguments]) == 0
    labelled = json.loads(Path("o/l.jsonl").read_text())
    assert labelled["verdicts"] == ["RIGHT", "WRONG", "UNDECIDED"]
    assert "is none of" in labelled["reasons"][1]
