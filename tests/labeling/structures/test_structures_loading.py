"""The world by its name: as a simulator, as a verifier, on the command line, and without its library."""

import importlib
import json

import pytest

from labeling import label
from labeling.errors import ConfigError, MissingExtraError
from labeling.simulators.load import SHIPPED, checked_problems, load_simulator
from labeling.simulators.structures import model, solution_steps
from labeling.verifiers.registry import is_of_a_user, load_panel, load_verifier


@pytest.mark.parametrize(
    ("name", "families"),
    [
        ("structures:easy", 4),
        ("structures:medium", 5),
        ("structures:hard", 10),
        ("structures:warren-truss", 1),
        ("structures", 19),
    ],
)
def test_the_world_its_levels_and_its_families_are_loaded_by_name(name, families):
    assert len(load_simulator(name).families) == families


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("structures:bridge", "no family 'bridge'"),
        ("structures:easy:overhang", "too many parts"),
        ("structure", "there is no simulator 'structure'"),
    ],
)
def test_a_name_that_cannot_be_read_is_the_users_mistake(name, message):
    with pytest.raises(ConfigError, match=message):
        load_simulator(name)


@pytest.mark.parametrize("name", sorted(SHIPPED.keys() - {"external"}))
def test_every_shipped_simulator_verifies_by_its_name_and_as_simulator_colon_name(name):
    assert load_verifier(name).name == load_verifier(f"simulator:{name}").name == name
    assert not is_of_a_user(f"units,simulator:{name}")
    assert is_of_a_user(f"simulator:{name},package.module:Mine")
    assert is_of_a_user("simulator:package.module:Mine")


def test_a_simulator_stands_in_a_panel_with_the_units_verifier():
    assert load_panel("simulator:structures:easy,units").name == "structures,units"
    with pytest.raises(ConfigError, match="no simulator 'brigde'"):
        load_verifier("simulator:brigde")


def test_its_problems_can_be_written_and_read_back():
    problems = load_simulator("structures").problems(6, split="test", seed=0)
    assert checked_problems(problems, simulator="structures") == problems


def test_a_file_of_solutions_is_labelled_by_the_world(tmp_path):
    problem = load_simulator("structures:overhang").problems(1, split="train", seed=0)[0]
    steps = solution_steps(problem)
    wrong = [steps[0].replace("= -", "= "), *steps[1:]]
    rows = [
        {"id": name, "problem": problem.text, "meta": dict(problem.meta), "steps": lines}
        for name, lines in (("right", steps), ("wrong", wrong))
    ]
    source = tmp_path / "solutions.jsonl"
    source.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    config = label.LabelConfig(
        input=str(source), output=str(tmp_path / "labels.jsonl"), verifier="simulator:structures"
    )
    counts = label.run(config).counts
    assert counts["steps WRONG"] == 1
    assert counts["steps RIGHT"] == 2 * len(steps) - 1


def test_without_its_library_the_message_carries_the_command_that_installs_it(monkeypatch):
    def missing(name, package=None):
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)

    model._library.cache_clear()
    model.solve.cache_clear()
    monkeypatch.setattr(importlib, "import_module", missing)
    with pytest.raises(MissingExtraError, match=r'pip install "prm-toolkit\[fem\]"'):
        load_simulator("structures:overhang").problems(1, split="train", seed=0)
    monkeypatch.undo()
    assert load_simulator("structures:overhang").problems(1, split="train", seed=0)
