"""The simulator on the toolkit's sandbox: references, mutants and hostile code, each in its own process."""

import time

import pytest

from labeling.records import Solution
from labeling.simulators.controllers import ControllersWorld, faulty_programs, solution_steps
from labeling.simulators.controllers.engine import SandboxedEngine
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.spec import specification_of
from labeling.verifiers.sandbox import SandboxUnavailableError
from labeling.verifiers.verdict import Outcome


@pytest.fixture(scope="module")
def world():
    try:
        return ControllersWorld(engine=SandboxedEngine())
    except SandboxUnavailableError as error:
        pytest.skip(f"no sandbox here: {error}")


def graded(world, code, family="start-stop"):
    return world.grade(problem_of(world, family), f"```python\n{code}\n```")


def problem_of(world, family):
    found = ControllersWorld(families=(family,), engine=world._engine)
    return found.problems(1, split="train", seed=0)[0]


@pytest.mark.parametrize("family", FAMILIES)
def test_references_and_mutants(world, family):
    problem = problem_of(world, family)
    specification = specification_of(problem, FAMILIES)
    assert world.grade(problem, "\n".join(solution_steps(problem))) is True
    for faulty in faulty_programs(specification)[:3]:
        assert world.grade(problem, f"```python\n{faulty.code}\n```") is False


@pytest.mark.parametrize("family", ["tank-level", "dosing"])
def test_structured_text(world, family):
    problem = problem_of(world, family)
    assert world.grade(problem, "\n".join(solution_steps(problem, "st"))) is True


HOSTILE = {
    "never returns": "def step(inputs, state):\n    while True:\n        pass",
    "never loads": "while True:\n    pass\ndef step(inputs, state): ...",
    "takes memory": "def step(inputs, state):\n    state['x'] = [0] * 10**9",
    "ends its process": "import os\ndef step(inputs, state):\n    os._exit(0)",
    "exits": "def step(inputs, state):\n    raise SystemExit",
    "interrupts": "def step(inputs, state):\n    raise KeyboardInterrupt",
    "recurses": "def step(inputs, state):\n    return step(inputs, state)",
    "prints without end": "def step(inputs, state):\n    while True:\n        print('x' * 10000)",
    "writes the harness's verdict": (
        "import builtins\n"
        "def step(inputs, state):\n"
        "    import sys\n"
        "    frame = sys._getframe(1)\n"
        "    frame.f_locals['results'].extend(True for _ in range(99))\n"
        "    return {}"
    ),
    "replaces the harness": (
        "class Fake(dict):\n"
        "    def __getitem__(self, key): return True\n"
        "def step(inputs, state): return Fake()\n"
    ),
    "lies about its type": "class B(int):\n    pass\ndef step(inputs, state): return {n: B(1) for n in 'ab'}",
    "reads a file": "open('/etc/passwd').read()\ndef step(inputs, state):\n    return {}",
    "calls the network": (
        "import socket\nsocket.create_connection(('127.0.0.1', 1))\ndef step(inputs, state):\n    return {}"
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_code_is_wrong_and_ends(world, name):
    begun = time.monotonic()
    assert graded(world, HOSTILE[name]) is False
    assert time.monotonic() - begun < 10
    # The next candidate is not the worse for it.
    problem = problem_of(world, "start-stop")
    assert world.grade(problem, "\n".join(solution_steps(problem))) is True


def test_outputs_forged_in_the_harness_still_have_to_satisfy_the_properties(world):
    # It knows the outputs' names and returns its own list of rows from the harness itself.
    problem = problem_of(world, "start-stop")
    names = specification_of(problem, FAMILIES).names
    forged = (
        "import sys\n"
        "def step(inputs, state):\n"
        "    rows = sys._getframe(1).f_locals['rows']\n"
        f"    return {{{names['motor']!r}: not inputs[{names['stop']!r}], {names['lamp']!r}: False}}\n"
    )
    text = f"```python\n{forged}```"
    assert world.grade(problem, text) is False


def test_a_run_stays_under_a_fifth_of_a_second(world):
    times = []
    for family in FAMILIES:
        problem = problem_of(world, family)
        text = "\n".join(solution_steps(problem))
        begun = time.perf_counter()
        assert world.grade(problem, text) is True
        times.append(time.perf_counter() - begun)
    # The median: what else the machine does must not decide a test. `benchmarks.controllers` has the tail.
    assert sorted(times)[len(times) // 2] < 0.2


def test_the_verdict_names_the_limit(world):
    problem = problem_of(world, "start-stop")
    steps = [f"(a)\n```python\n{HOSTILE['never returns']}\n```"]
    verdict = world.verify(problem, Solution.from_steps(steps, id="s", problem=problem))[0]
    assert verdict.outcome is Outcome.WRONG
    assert "time" in verdict.reason
