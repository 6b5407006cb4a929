"""The simulator: problems, step verdicts, grades."""

from contextlib import contextmanager

import pytest
from controllers_engine import ToyEngine, ToyReply, ToySession

from labeling.errors import ConfigError, NotGradedError, RecordError
from labeling.records import Problem, Solution, meta_text
from labeling.simulators.controllers import (
    ControllersWorld,
    faulty_programs,
    reference_program,
    solution_steps,
)
from labeling.simulators.controllers.blocks import blocks_of, names_in, program_of
from labeling.simulators.controllers.engine import EngineFailedError
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.judge import claimed_tasks
from labeling.simulators.controllers.spec import specification_of
from labeling.simulators.load import checked_problems, load_simulator
from labeling.simulators.splits import split_of
from labeling.verifiers import sandbox
from labeling.verifiers.registry import load_verifier
from labeling.verifiers.sandbox import NotPlainError, SandboxUnavailableError
from labeling.verifiers.verdict import Outcome, check_verdicts


@pytest.fixture
def world():
    return ControllersWorld(engine=ToyEngine())


def problem_of(family, *, seed=0, n_tasks=3):
    made = ControllersWorld(families=(family,), n_tasks=n_tasks, engine=ToyEngine())
    return made.problems(1, split="train", seed=seed)[0]


def solved(problem, *steps):
    return Solution.from_steps(list(steps), id="s", problem=problem, separator="\n\n")


def verdicts(world, problem, *steps):
    solution = solved(problem, *steps)
    found = world.verify(problem, solution)
    return check_verdicts(found, name="controllers", n_steps=len(steps), record_id="s")


def python(code):
    return f"```python\n{code}\n```"


def specification(problem):
    return specification_of(problem, FAMILIES)


def names(problem):
    return specification(problem).names


def test_problems_are_distinct_repeatable_and_apart_by_split(world):
    train = world.problems(60, split="train", seed=0)
    test = world.problems(20, split="test", seed=0)
    assert len({p.text for p in train} | {p.text for p in test}) == 80
    assert all(split_of(p.text) == "train" for p in train)
    assert all(split_of(p.text) == "test" for p in test)
    assert world.problems(20, split="train", seed=0) == train[:20]
    assert world.problems(20, split="train", seed=1) != train[:20]
    assert {p.meta["family"] for p in train} == set(FAMILIES)
    assert checked_problems(train, simulator="controllers") == train
    assert all(meta_text(p) for p in train)


@pytest.mark.parametrize("family", FAMILIES)
def test_one_specification_makes_many_problems(family):
    found = ControllersWorld(families=(family,)).problems(100, split="train", seed=0)
    assert len(found) == 100


@pytest.mark.parametrize("family", FAMILIES)
def test_the_reference_is_right_and_graded_so(world, family):
    problem = problem_of(family)
    steps = solution_steps(problem)
    found = verdicts(world, problem, *steps)
    assert [v.outcome for v in found] == [Outcome.UNDECIDED, Outcome.RIGHT]
    assert len(found[1].evidence) == 1 + problem.meta["properties"]
    assert world.grade(problem, "\n".join(steps)) is True
    truths = world.truth(problem, solved(problem, *steps, steps[1]))
    assert [t.is_quantity_right for t in truths] == [None, True, True]
    assert [t.is_needed for t in truths] == [False, True, False]


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.structured_text])
def test_the_reference_in_structured_text_is_right(world, family):
    problem = problem_of(family)
    steps = solution_steps(problem, "st")
    assert [v.outcome for v in verdicts(world, problem, *steps)] == [Outcome.UNDECIDED, Outcome.RIGHT]
    assert world.grade(problem, "\n".join(steps)) is True


@pytest.mark.parametrize("family", FAMILIES)
def test_a_faulty_program_is_wrong_with_its_shortest_trace(world, family):
    problem = problem_of(family)
    for faulty in faulty_programs(specification(problem)):
        verdict = verdicts(world, problem, python(faulty.code))[0]
        assert verdict.outcome is Outcome.WRONG
        broken = [e for e in verdict.evidence if e.outcome == "WRONG"]
        assert f"property:{faulty.breaks}" in {e.kind for e in broken}
        assert "cycle" in broken[0].left
        assert broken[0].right in problem.text
        assert world.grade(problem, python(faulty.code)) is False


def test_the_shortest_trace_of_a_missing_guard(world):
    problem = problem_of("start-stop")
    name, code = names(problem), reference_program(specification(problem))
    code = code.replace(f' or not inputs["{name["guard"]}"]', "")
    evidence = [e for e in verdicts(world, problem, python(code))[0].evidence if e.outcome == "WRONG"]
    assert evidence[0].kind == "property:guard-stops"
    stated = f"{name['start']}=1 {name['stop']}=0 {name['guard']}=0 {name['overload']}=0 {name['reset']}=0"
    assert evidence[0].left == f"cycle 0: {stated} -> {name['motor']}=1 {name['lamp']}=0"
    assert evidence[0].reason.startswith("Violated in cycle 0: In every cycle in which")


def test_a_step_is_judged_on_the_sub_tasks_it_claims_and_those_before(world):
    problem = problem_of("start-stop")
    name = names(problem)
    latch = python(
        "def step(inputs, state):\n"
        f"    pressed = inputs['{name['start']}'] and not state.get('s')\n"
        f"    state['s'] = inputs['{name['start']}']\n"
        f"    ok = not inputs['{name['stop']}'] and not inputs['{name['overload']}']\n"
        f"    ok = ok and inputs['{name['guard']}']\n"
        "    state['m'] = bool((pressed or state.get('m')) and ok)\n"
        f"    return {{'{name['motor']}': state['m']}}"
    )
    outcomes = [
        verdicts(world, problem, text + latch)[0].outcome
        for text in ("Sub-task (a):\n", "Step 2: stop and guard\n", "(a), (b) and (c)\n", "")
    ]
    assert outcomes == [Outcome.RIGHT, Outcome.RIGHT, Outcome.WRONG, Outcome.WRONG]
    # The second step claims (b) and breaks (a), which the first had claimed.
    spoilt = python(f"def step(inputs, state):\n    return {{'{name['motor']}': False}}")
    found = verdicts(world, problem, "(a)\n" + latch, "(b)\n" + spoilt, "That is all.")
    assert [v.outcome for v in found] == [Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED]
    assert "property starts" in found[1].reason


def test_code_that_claims_nothing_is_judged_on_the_outputs_it_gives(world):
    problem = problem_of("start-stop")
    name = names(problem)
    lamp = python(
        "def step(inputs, state):\n"
        f"    if inputs['{name['overload']}']:\n        state['t'] = True\n"
        f"    elif inputs['{name['reset']}']:\n        state['t'] = False\n"
        f"    return {{'{name['lamp']}': state.get('t', False)}}"
    )
    verdict = verdicts(world, problem, lamp)[0]
    assert verdict.outcome is Outcome.RIGHT
    assert {e.kind for e in verdict.evidence} == {"property:contract", "property:trip-kept"}
    assert world.grade(problem, lamp) is False


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("return 5", "step returned int, not a dict"),
        ("return {}['x']", "KeyError"),
        ("return {MOTOR: 'on', LAMP: False}", "is str"),
        ("return {MOTOR: 2, LAMP: False}", "is 2, not a BOOL"),
        ("return {MOTOR: 1.0, LAMP: False}", "is float"),
        ("return {MOTOR: 10**30, LAMP: False}", "outside"),
        (
            "state['n'] = state.get('n', 0) + 1\n    return {MOTOR: False, LAMP: 1 // (3 - state['n']) < 0}",
            "ZeroDivisionError",
        ),
    ],
)
def test_the_contract_is_checked_first(world, body, fault):
    problem = problem_of("start-stop")
    name = names(problem)
    body = body.replace("MOTOR", repr(name["motor"])).replace("LAMP", repr(name["lamp"]))
    verdict = verdicts(world, problem, "(a)\n" + python(f"def step(inputs, state):\n    {body}"))[0]
    assert verdict.outcome is Outcome.WRONG
    assert "property contract is violated" in verdict.reason
    assert fault in verdict.evidence[0].left


def test_a_missing_output_breaks_the_contract_of_the_whole_only(world):
    problem = problem_of("tank-level", n_tasks=1)
    name = names(problem)
    code = reference_program(specification(problem)).replace(f', "{name["alarm"]}": alarm', "")
    assert verdicts(world, problem, "(a)\n" + python(code))[0].outcome is Outcome.RIGHT
    assert world.grade(problem, python(code)) is False


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("No code at all.", None),
        ("```json\n{}\n```", None),
        ("```python\nx = 1\n```", False),
        ("```python\ndef step(inputs, state) return\n```", False),
        ("```iecst\nIF x THEN\n```", False),
    ],
)
def test_grades_of_what_is_no_controller(world, text, expected):
    assert world.grade(problem_of("start-stop"), text) is expected


def test_what_is_outside_the_subset_is_not_graded(world):
    with pytest.raises(NotGradedError):
        world.grade(
            problem_of("start-stop"), "```iecst\nVAR a : ARRAY[1..2] OF INT; END_VAR\na[1] := 2;\n```"
        )


def test_the_last_program_counts(world):
    problem = problem_of("star-delta")
    good = python(reference_program(specification(problem)))
    bad = python(faulty_programs(specification(problem))[0].code)
    assert world.grade(problem, f"{bad}\n{good}") is True
    assert world.grade(problem, f"{good}\n{bad}") is False
    text = f"```iecst\n{reference_program(specification(problem), 'st')}```"
    assert world.grade(problem, f"{bad}\n{text}") is True


def test_text_outside_the_subset_is_undecided_and_a_syntax_error_wrong(world):
    problem = problem_of("tank-level")
    fill = names(problem)["fill"]
    found = verdicts(
        world,
        problem,
        f"(a)\n```iecst\nVAR a : ARRAY[1..2] OF BOOL; END_VAR\n{fill} := a[1];\n```",
        f"(a)\n```iecst\nIF {fill} THEN\n```",
    )
    assert [v.outcome for v in found] == [Outcome.UNDECIDED, Outcome.WRONG]
    assert "unsupported" in found[0].reason
    assert "line 1" in found[0].reason
    assert "syntax error" in found[1].reason


class ScriptedSession(ToySession):
    """Answers the evaluation of the harness with what a hostile candidate might send."""

    def __init__(self, reply):
        super().__init__()
        self.reply = reply

    def evaluate(self, expression):
        return self.reply


class ScriptedEngine:
    def __init__(self, reply=None, error=None):
        self.reply, self.error = reply, error

    @contextmanager
    def session(self):
        if self.error:
            raise self.error
        yield ScriptedSession(self.reply)


@pytest.mark.parametrize(
    "value",
    [None, True, "passed", [], {}, [[]] * 3, [True] * 22, [[[True]]] * 22, [[None]] * 22, [[{}]] * 22],
)
def test_results_that_are_not_outputs_prove_nothing(value):
    problem = problem_of("start-stop")
    world = ControllersWorld(engine=ScriptedEngine(ToyReply(value=value)))
    code = python(reference_program(specification(problem)))
    assert world.grade(problem, code) is False
    assert verdicts(world, problem, code)[0].outcome is Outcome.WRONG


def test_a_value_that_cannot_be_read_proves_nothing():
    class Collisions(ToyReply):
        @property
        def value(self):
            raise NotPlainError("too many elements whose hashes could be made to collide")

    problem = problem_of("start-stop")
    reply = object.__new__(Collisions)
    object.__setattr__(reply, "status", "value")
    world = ControllersWorld(engine=ScriptedEngine(reply))
    assert world.grade(problem, python(reference_program(specification(problem)))) is False


@pytest.mark.parametrize("status", ["time", "memory", "output", "ended", "not_plain", "raised"])
def test_a_candidate_that_gives_no_outputs_is_wrong(status):
    problem = problem_of("start-stop")
    world = ControllersWorld(engine=ScriptedEngine(ToyReply(status, detail="why")))
    code = python(reference_program(specification(problem)))
    assert world.grade(problem, code) is False
    verdict = verdicts(world, problem, code)[0]
    assert verdict.outcome is Outcome.WRONG
    assert status in verdict.reason
    assert "why" in verdict.reason


@pytest.mark.parametrize(
    "engine",
    [ScriptedEngine(ToyReply("unsupported", detail="x")), ScriptedEngine(error=EngineFailedError("no room"))],
)
def test_what_the_engine_cannot_run_is_undecided(engine):
    problem = problem_of("start-stop")
    world = ControllersWorld(engine=engine)
    code = python(reference_program(specification(problem)))
    with pytest.raises(NotGradedError):
        world.grade(problem, code)
    assert verdicts(world, problem, code)[0].outcome is Outcome.UNDECIDED


def test_the_plant_is_computed_again_from_the_outputs_that_came_back():
    # The candidate's process claims a car that never moves and a door that opens at once: the parent's own
    # plant says where the car is, so the calls of the other floors stay unserved.
    problem = problem_of("elevator")
    world = ControllersWorld(engine=ToyEngine())
    name = names(problem)
    cheat = (
        "def step(inputs, state):\n"
        f"    return {{{name['up']!r}: False, {name['down']!r}: False, {name['door']!r}: False}}\n"
        "import builtins\n"
    )
    verdict = verdicts(world, problem, python(cheat))[0]
    assert verdict.outcome is Outcome.WRONG
    assert "property serves" in verdict.reason


def test_without_a_sandbox_nothing_is_run(monkeypatch):
    problem = problem_of("start-stop")

    def none(name):
        raise SandboxUnavailableError("there is none.", remedy="Install bubblewrap.")

    monkeypatch.setattr(sandbox, "open_engine", none)
    code = python("raise SystemExit('was run in this process')\ndef step(i, s): ...")
    with pytest.raises(SandboxUnavailableError, match="Install bubblewrap"):
        ControllersWorld().grade(problem, code)


def test_blocks_and_programs():
    text = "a\n```python\nx = 1\n```\nb\n```\ny := 2;\n```\n"
    text += "```\ndef step(i, s):\n    return {}\n```\n```sh\nls\n```"
    assert [(b.language, b.code.strip()[:6]) for b in blocks_of(text)] == [
        ("python", "x = 1"),
        ("st", "y := 2"),
        ("python", "def st"),
    ]
    program = program_of(blocks_of(text))
    assert program is not None
    assert (program.language, program.code.splitlines()[0]) == ("python", "x = 1")
    assert program_of(blocks_of(text)[:1]) is None
    # A solution that the token limit cut still has its block.
    assert blocks_of("```python\ndef step(i, s):\n    return {}")[0].language == "python"


def test_names_that_a_program_gives():
    code = python("def step(i, s):\n    return dict(motor=True, **{'lamp': 1})")
    assert names_in(program_of(blocks_of(code)), ["motor", "lamp", "horn"]) == {"motor", "lamp"}
    text = "```iecst\nMotor := a = lamp;\nt(Q => horn);\n```"
    assert names_in(program_of(blocks_of(text)), ["motor", "lamp", "horn"]) == {"motor", "horn"}
    assert names_in(program_of(blocks_of("```python\nstep(\n```")), ["motor"]) == set()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Sub-task (b)", {1}),
        ("(a) and (c)", {0, 2}),
        ("task a", {0}),
        ("Tasks a, b and c", {0, 1, 2}),
        ("Step 2: Stop and Guard", {1}),
        ("## stop and guard", {1}),
        ("**Overload**", {2}),
        ("Overload: the lamp", {2}),
        ("The overload and stop and guard come later.", set()),
        ("Overload is kept in the state", set()),
        ("A task at hand; a machine", set()),
        ("Sub-task B and task C", {1, 2}),
        ("(d) (h)", set()),
        ("Only code:\n```python\n# (a)\n```", set()),
    ],
)
def test_sub_tasks_that_a_step_claims(text, expected):
    assert claimed_tasks(text, specification(problem_of("start-stop"))) == expected


def test_a_problem_of_another_world_is_refused(world):
    for meta in ({}, {"family": "start-stop"}, {**problem_of("start-stop").meta, "tasks": 9}):
        with pytest.raises(RecordError, match="does not hold a specification"):
            world.grade(Problem(id="p", text="x", meta=meta), "x")


def test_loaded_by_name():
    assert load_simulator("controllers").n_tasks == 3
    assert load_simulator("controllers:dosing").families == ("dosing",)
    assert load_simulator("controllers:all:1").n_tasks == 1
    assert load_simulator("controllers:dosing:any").n_tasks is None
    assert load_verifier("controllers").name == "controllers"


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("controllers:dossing", "Did you mean dosing"),
        ("controllers:dosing:4", "4 sub-tasks"),
        ("controllers:dosing:x", "cannot be read"),
        ("controllers:dosing:1:2", "cannot be read"),
    ],
)
def test_names_that_stand_for_nothing(name, match):
    with pytest.raises(ConfigError, match=match):
        load_simulator(name)


def test_settings_that_stand_for_nothing(world):
    with pytest.raises(ConfigError, match="no split"):
        world.problems(1, split="dev", seed=0)
    with pytest.raises(ConfigError, match="no specification was chosen"):
        ControllersWorld(families=())
