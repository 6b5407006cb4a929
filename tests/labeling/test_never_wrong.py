r"""Steps that are honest, or that claim nothing: no verifier may call one of them WRONG.

One solution a line of `golden/never_wrong.txt`, written for this: the problem stands before @@@ where it
matters, ||| parts steps, ⏎ is a line end inside one.
"""

from pathlib import Path

import pytest

from labeling.records import Problem, Solution
from labeling.verifiers.registry import load_panel

LINES = (Path(__file__).parents[1] / "golden" / "never_wrong.txt").read_text("utf-8").splitlines()


def solution_of(line):
    posed, marked, rest = line.rpartition("@@@")
    problem = Problem(id="p", text=posed if marked else "?")
    return Solution.from_steps(rest.replace("⏎", "\n").split("|||"), id="s", problem=problem)


def wrong_in(verifier, lines):
    found = []
    for line in lines:
        solution = solution_of(line)
        if any(verdict.outcome == "WRONG" for verdict in verifier.verify(solution.problem, solution)):
            found.append(line)
    return found


@pytest.mark.parametrize("name", ["arithmetic", "algebra", "units"])
def test_an_honest_step_is_never_wrong(name):
    assert wrong_in(load_panel(name), LINES) == []


def test_there_are_many_of_them_and_a_false_one_would_be_found():
    assert len(LINES) > 2000
    false = "3 + 4 = 8"
    assert wrong_in(load_panel("arithmetic"), [*LINES[:50], false]) == [false]
