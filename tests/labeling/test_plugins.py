"""Code that the user named: what goes wrong in it is told as theirs, with its place, and loses nothing."""

import importlib
import json
import pickle
import signal
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import pytest

from labeling import _workers
from labeling.errors import ConfigError, PluginError, RecordError, Terminated, ToolkitError
from labeling.plugins import make_plugin
from labeling.records import Problem, Solution, labelled_from_verdicts
from labeling.simulators.load import load_simulator
from labeling.verifiers.panel import Panel
from labeling.verifiers.registry import load_panel, load_verifier
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

PROBLEM = Problem(id="p", text="What is 1 + 1?", answer="2")
SOLUTION = Solution.from_steps(["1 + 1 = 2", "so 2"], id="s1", problem=PROBLEM)

FAULTY = """
from labeling.verifiers.verdict import Verdict

class RaisesOnSecond:
    name = "faulty"
    def verify(self, problem, solution):
        if "seven" in solution.text:
            raise KeyError("no units here")
        return [Verdict.right("fine") for _ in solution.steps]

class CannotBeMade:
    def __init__(self):
        raise RuntimeError("the data base is away")

class World:
    name = "world"
    def problems(self, count, *, split, seed):
        return 1 // 0
    def verify(self, problem, solution):
        return []
    truth = grade = verify
"""


@pytest.fixture
def faulty(tmp_path, monkeypatch):
    (tmp_path / "faulty_checks.py").write_text(FAULTY)
    (tmp_path / "broken_syntax.py").write_text("def verify(:\n")
    (tmp_path / "needs_more.py").write_text("import a_library_that_is_not_there\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    for name in ("faulty_checks", "broken_syntax", "needs_more"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("broken_syntax:Mine", r"module broken_syntax cannot be imported: SyntaxError: .*broken_syntax.py"),
        ("needs_more:Mine", "cannot be imported: ModuleNotFoundError: .*a_library_that_is_not_there"),
        ("faulty_checks:CannotBeMade", r"RuntimeError: the data base is away \(faulty_checks.py, line 13\)"),
    ],
)
def test_a_module_or_factory_that_raises_is_the_users_mistake_and_its_place_is_named(faulty, target, said):
    with pytest.raises(PluginError, match=said) as caught:
        load_verifier(target)
    assert caught.value.exit_code == 2
    assert caught.value.__cause__ is not None


def test_a_module_that_is_not_there_is_told_from_one_that_misses_another(faulty):
    with pytest.raises(ConfigError, match="there is no module nowhere_at_all"):
        load_verifier("nowhere_at_all:Mine")


def test_a_verifier_that_raises_names_the_record_and_the_line(faulty):
    verifier = load_panel("arithmetic,faulty_checks:RaisesOnSecond")
    assert len(verifier.verify(PROBLEM, SOLUTION)) == 2
    bad = Solution.from_steps(["seven"], id="s7", problem=PROBLEM)
    with pytest.raises(PluginError) as caught:
        verifier.verify(PROBLEM, bad)
    assert caught.value.record_id == "s7"
    assert "KeyError: 'no units here' (faulty_checks.py, line 8)" in str(caught.value)
    # Errors cross process borders while labels are made by several processes.
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_a_simulator_that_raises_is_the_users_mistake(faulty):
    with pytest.raises(PluginError, match=r"ZeroDivisionError: .*\(faulty_checks.py, line 18\)"):
        load_simulator("faulty_checks:World").problems(1, split="train", seed=0)


def test_an_error_of_ours_inside_a_plugin_stays_what_it_is(faulty, monkeypatch):
    def refuse(self, problem, solution):
        raise RecordError("the record has no unit.", record_id="r")

    monkeypatch.setattr("faulty_checks.RaisesOnSecond.verify", refuse)
    with pytest.raises(RecordError, match="has no unit"):
        load_verifier("faulty_checks:RaisesOnSecond").verify(PROBLEM, SOLUTION)


NAMES = {
    "None": (ConfigError, "its name is None, which is no text"),
    "5": (ConfigError, "its name is 5, which is no text"),
    "' '": (ConfigError, "its name is ' ', which is no text"),
    "'half \\ud800'": (ConfigError, "which is no text"),
    "property(lambda self: 1 // 0)": (
        PluginError,
        r"its name raised ZeroDivisionError: .*\(names.py, line 2\)",
    ),
    "property(lambda self: exit(0))": (PluginError, "its name raised SystemExit: 0"),
}


@pytest.mark.parametrize("name", NAMES)
def test_a_name_that_is_no_text_or_raises_is_refused_when_the_plugin_is_loaded(tmp_path, monkeypatch, name):
    (tmp_path / "names.py").write_text(f"class Mine:\n    name = {name}\n    verify = print\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "names", raising=False)
    kind, said = NAMES[name]
    with pytest.raises(kind, match=said):
        load_verifier("names:Mine")
    sys.modules.pop("names", None)


def test_a_name_stays_what_it_was_at_the_start_and_other_properties_are_guarded(faulty, monkeypatch):
    names = iter("abcdef")
    monkeypatch.setattr("faulty_checks.RaisesOnSecond.name", property(lambda self: next(names)))
    made = load_verifier("faulty_checks:RaisesOnSecond")
    assert len({made.name, made.name}) == 1
    monkeypatch.setattr("faulty_checks.RaisesOnSecond.grade", property(lambda self: {}["x"]), raising=False)
    with pytest.raises(PluginError, match="its grade raised KeyError: 'x'"):
        _ = made.grade


ENDINGS = {
    "sys.exit(0)": "SystemExit: 0",
    "sys.exit('bye')": "SystemExit: bye",
    "raise GeneratorExit": "GeneratorExit",
    "raise type('Own', (BaseException,), {})('mine')": "Own: mine",
}


@pytest.mark.parametrize("statement", ENDINGS)
def test_a_plugin_that_ends_the_program_ends_like_one_that_raises(tmp_path, monkeypatch, statement):
    places = {
        "importing": f"import sys\n{statement}\n",
        "making": f"import sys\nclass Mine:\n    def __init__(self):\n        {statement}\n",
        "calling": (
            "import sys\nclass Mine:\n    name = 'mine'\n"
            f"    def verify(self, problem, solution):\n        {statement}\n"
        ),
    }
    monkeypatch.syspath_prepend(str(tmp_path))
    for name, text in places.items():
        (tmp_path / f"ends_{name}.py").write_text(text)
        importlib.invalidate_caches()
        try:
            with pytest.raises(PluginError, match=ENDINGS[statement]) as caught:
                load_verifier(f"ends_{name}:Mine").verify(PROBLEM, SOLUTION)
        finally:
            sys.modules.pop(f"ends_{name}", None)
        assert f"ends_{name}.py" in str(caught.value)


@pytest.mark.parametrize("order", [KeyboardInterrupt(), Terminated(143)])
def test_the_order_to_end_passes_through_a_plugin(faulty, monkeypatch, order):
    def interrupted(self, problem, solution):
        raise order

    monkeypatch.setattr("faulty_checks.RaisesOnSecond.verify", interrupted)
    with pytest.raises(type(order)) as caught:
        load_verifier("faulty_checks:RaisesOnSecond").verify(PROBLEM, SOLUTION)
    assert caught.value is order


def test_members_are_passed_on_and_a_missing_one_is_missing(faulty):
    made = make_plugin("faulty_checks:RaisesOnSecond", what="v", members=("name",), remedy="")
    assert made.name == "faulty"
    assert not hasattr(made, "grade")
    assert not hasattr(pickle.loads(pickle.dumps(made)), "close")


def evidence(**given):
    return Evidence(**{"verifier": "careless", "outcome": "RIGHT", **given})


@pytest.mark.parametrize(
    ("returned", "said"),
    [
        (None, "a NoneType and no list"),
        ([], "0 verdicts for 2 steps"),
        ([Verdict.right()] * 3, "3 verdicts for 2 steps"),
        ([Verdict.right(), "RIGHT"], r"a str where a Verdict belongs \(step 1\)"),
        ([Verdict.right(), Verdict("WRONG", "no")], r"whose outcome is 'WRONG' and no Outcome \(step 1\)"),
        ([Verdict("MAYBE")] * 2, "whose outcome is 'MAYBE' and no Outcome"),
        ([Verdict(None)] * 2, "whose outcome is None and no Outcome"),
        ([Verdict.undecided(5)] * 2, "whose reason is int, not text"),
        ([Verdict.undecided("half \ud800")] * 2, "whose reason holds half a surrogate pair"),
        ([Verdict(Outcome.RIGHT, "", None)] * 2, "whose evidence is NoneType and no tuple"),
        ([Verdict.right("", [{"text": "x"}])] * 2, "a dict where an Evidence belongs"),
        ([Verdict.right("", [None])] * 2, "a NoneType where an Evidence belongs"),
        ([Verdict.right("", [evidence(start=object())])] * 2, "from <object .*> to 0, which are not whole"),
        ([Verdict.right("", [evidence(end=1.0)])] * 2, "from 0 to 1.0, which are not whole"),
        ([Verdict.right("", [evidence(end=True)])] * 2, "from 0 to True, which are not whole"),
        ([Verdict.right("", [evidence(left=5)])] * 2, "an evidence of which a text is int, not text"),
        ([Verdict.right("", [evidence(verifier=None)])] * 2, "of which a text is NoneType, not text"),
        ([Verdict.right("", [evidence(text="\udc00")])] * 2, "of which a text holds half a surrogate pair"),
        ([Verdict.right("", [evidence(outcome="MAYBE")])] * 2, "an evidence whose outcome is 'MAYBE'"),
    ],
)
def test_anything_but_one_verdict_a_step_is_refused_everywhere(returned, said):
    class Careless:
        name = "careless"

        def verify(self, problem, solution):
            return returned

    with pytest.raises(RecordError, match=said):
        Panel([Careless()]).verify(PROBLEM, SOLUTION)
    with pytest.raises(RecordError, match=said):
        labelled_from_verdicts(SOLUTION, returned, origin="careless")


def label_command(folder: Path, rows, *flags: str):
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "prm.cli", "label", "--input", "rows.jsonl", "--output", "out/l.jsonl"]
    return subprocess.run([*command, *flags], cwd=folder, capture_output=True, text=True, check=False)


def row(number: int, step: str):
    return {"id": f"r{number}", "problem": "What is it?", "steps": [step], "answer": "2"}


def test_label_stops_with_exit_code_2_and_leaves_nothing_when_a_verifier_fails_at_once(faulty):
    done = label_command(faulty, [row(1, "seven")], "--verifier", "faulty_checks:RaisesOnSecond")
    assert done.returncode == 2, done.stderr
    assert "record r1" in done.stderr
    assert "faulty_checks.py, line 8" in done.stderr
    assert "Traceback" not in done.stderr
    assert list((faulty / "out").iterdir()) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_rows_before_the_failure_stay_and_the_mended_verifier_goes_on(faulty, processes):
    rows = [row(i, "seven" if i == 21 else "six") for i in range(40)]
    flags = ("--verifier", "faulty_checks:RaisesOnSecond", "--processes", str(processes))
    done = label_command(faulty, rows, *flags)
    assert (done.returncode, "record r21" in done.stderr) == (2, True), done.stderr
    assert len((faulty / "out" / "l.jsonl").read_text().splitlines()) == 21
    (faulty / "faulty_checks.py").write_text(FAULTY.replace("seven", "eight"))
    assert label_command(faulty, rows, *flags).returncode == 0
    report = json.loads((faulty / "out" / "report.json").read_text())
    assert report["counts"]["rows already there"] == 21
    assert report["counts"]["solutions labelled"] == 40


DYING = """
import os, signal
from labeling.verifiers.verdict import Verdict

def die(how):
    if how == "segv":
        os.kill(os.getpid(), signal.SIGSEGV)
    os._exit(int(how))

class Dies:
    name = "dies"
    def __init__(self):
        if os.environ.get("DIE_WHERE") == "made":
            die(os.environ["DIE_HOW"])
    def verify(self, problem, solution):
        if solution.id == "r21":
            die(os.environ["DIE_HOW"])
        return [Verdict.right("fine") for _ in solution.steps]

class OnlyHere(Dies):
    def __init__(self):
        import multiprocessing
        if multiprocessing.parent_process() is not None:
            raise RuntimeError("not in a worker")
"""


@pytest.mark.parametrize(
    ("where", "how", "processes", "said"),
    [
        ("called", "0", 1, "ended with exit code 0 at record r16 or one soon after it"),
        ("called", "segv", 2, "was killed by SIGSEGV at record r"),
        ("made", "3", 1, "ended with exit code 3 while it was loaded"),
    ],
)
def test_a_verifier_that_ends_its_process_is_told_like_one_that_raises(
    tmp_path, monkeypatch, where, how, processes, said
):
    (tmp_path / "dying.py").write_text(DYING)
    monkeypatch.setenv("DIE_WHERE", where)
    monkeypatch.setenv("DIE_HOW", how)
    rows = [row(i, "six") for i in range(40)]
    done = label_command(tmp_path, rows, "--verifier", "dying:Dies", "--processes", str(processes))
    assert done.returncode == 2, done.stderr
    assert f"a worker process of verifier 'dying:Dies' {said}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out" / "report.json").exists()


def test_a_factory_that_raises_in_workers_only_is_told_with_its_place(tmp_path):
    (tmp_path / "dying.py").write_text(DYING)
    done = label_command(tmp_path, [row(1, "six")], "--verifier", "dying:OnlyHere", "--processes", "2")
    assert done.returncode == 2, done.stderr
    assert "RuntimeError: not in a worker (dying.py, line 24)" in done.stderr
    assert "Traceback" not in done.stderr


MEDDLING = """
from labeling.verifiers.verdict import Verdict
class Meddles:
    name = "meddles"
    def verify(self, problem, solution):
        problem.meta["seen"] = lambda: None
        return [Verdict.right("fine") for _ in solution.steps]
"""


def test_what_a_verifier_does_to_a_problem_reaches_no_row(tmp_path):
    (tmp_path / "meddling.py").write_text(MEDDLING)
    rows = [{**row(i, "six"), "meta": {"unit": "m"}} for i in range(3)]
    done = label_command(tmp_path, rows, "--verifier", "meddling:Meddles")
    assert done.returncode == 0, done.stderr
    written = [json.loads(line) for line in (tmp_path / "out" / "l.jsonl").read_text().splitlines()]
    assert [json.loads(each["meta"]) for each in written] == [{"unit": "m"}] * 3


HANGING = """
import pathlib, re, signal
class Hangs:
    name = "hangs"
    def verify(self, problem, solution):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        pathlib.Path(f"hangs-{solution.id}").touch()
        # Holds the interpreter's lock, so no other thread of its process runs.
        return re.match("(a|aa)+$", "a" * 100 + "b")
"""


@pytest.mark.parametrize(("number", "processes"), [(signal.SIGINT, 1), (signal.SIGTERM, 2)])
def test_a_run_whose_verifier_hangs_ends_when_it_is_told_to_and_leaves_no_process(
    tmp_path, number, processes
):
    (tmp_path / "hanging.py").write_text(HANGING)
    rows = "".join(json.dumps(row(i, "six")) + "\n" for i in range(40))
    (tmp_path / "rows.jsonl").write_text(rows)
    command = [sys.executable, "-m", "prm.cli", "label", "--input", "rows.jsonl", "--output", "out/l.jsonl"]
    command += ["--verifier", "hanging:Hangs", "--processes", str(processes)]
    process = subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while len(list(tmp_path.glob("hangs-*"))) < processes and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    # Ends when no process is left that holds the other end of the pipes.
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 128 + number, errors
    assert "Traceback" not in errors
    assert list((tmp_path / "out").iterdir()) == []


def test_what_was_done_before_a_process_died_is_given_first(monkeypatch):
    problem = Problem(id="p", text="?")
    todo = [Solution.from_steps([f"{i} + 1 = {i + 1}"], id=f"r{i}", problem=problem) for i in range(40)]
    with _workers._Workers("arithmetic", 1) as workers:
        submit, calls = workers._pool.submit, []

        def dying(*task):
            calls.append(task)
            if len(calls) == 2:
                raise BrokenProcessPool
            return submit(*task)

        monkeypatch.setattr(workers._pool, "submit", dying)
        labels = workers.label(todo)
        assert [next(labels).solution.id for _ in range(16)] == [f"r{i}" for i in range(16)]
        with pytest.raises(ToolkitError, match="at record r16 or one soon after it"):
            next(labels)
