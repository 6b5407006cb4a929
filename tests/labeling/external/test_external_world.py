"""A simulator of the user's own in processes: what it says, and what happens when it does not answer."""

import json
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest

from labeling.errors import ConfigError, InputError, NotGradedError, PluginError, StoreError, ToolkitError
from labeling.records import Problem, Solution
from labeling.simulators.external import ExternalSettings, ExternalWorld, python_command
from labeling.simulators.external.messages import UnreadableError, read_introduction
from labeling.simulators.external.naming import settings_of
from labeling.simulators.load import load_grading, load_simulator
from labeling.verifiers.verdict import Outcome
from prm.cli import main

HERE = Path(__file__).parent
PROBLEM = Problem(id="p", text="2 + 3?", answer="5")


@pytest.fixture
def world(tmp_path, monkeypatch):
    """A maker of worlds that run in a folder of their own; they are closed behind the test."""
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    made = []

    def make(target="worlds:sums", **settings):
        command = settings.pop("command", None) or python_command(target)
        settings = {"processes": 1, "folder": str(tmp_path)} | settings
        made.append(ExternalWorld(ExternalSettings(command=command, **settings)))
        return made[-1]

    yield make
    for each in made:
        each.close()


def solution(*steps, id="s"):
    return Solution.from_steps(steps, id=id, problem=PROBLEM)


def outcomes(world, *steps, id="s"):
    return [v.outcome.value for v in world.verify(PROBLEM, solution(*steps, id=id))]


def test_a_function_judges_steps(world):
    assert outcomes(world(), "2 + 3 = 5", "2 + 3 = 6", "well") == ["RIGHT", "WRONG", "UNDECIDED"]


def test_a_class_gives_problems_verdicts_evidence_truth_and_grades(world):
    sums = world("worlds:Sums")
    problems = sums.problems(3, split="test", seed=7)
    assert [p.answer for p in problems] == ["107", "108", "109"]
    verdict = sums.verify(PROBLEM, solution("2 + 3 = 6"))[0]
    assert (verdict.outcome, verdict.reason) == (Outcome.WRONG, "the sum is another")
    assert (verdict.evidence[0].verifier, verdict.evidence[0].kind) == ("sums", "sum")
    truths = sums.truth(PROBLEM, solution("2 + 3 = 5", "filler"))
    assert [t.is_needed for t in truths] == [True, False]
    assert [t.is_quantity_right for t in truths] == [True, None]
    assert sums.grade(PROBLEM, "the answer is 5") is True
    assert sums.grade(PROBLEM, "the answer is 6") is False
    assert sums.grade(PROBLEM, "I give up") is None


@pytest.mark.parametrize("text", ["the answer is unclear", "answer: crash"])
def test_what_cannot_be_graded_is_no_wrong_answer(world, text):
    with pytest.raises(NotGradedError):
        world("worlds:Sums").grade(PROBLEM, text)


def test_without_a_grade_nothing_is_graded_and_it_is_told_at_once(world):
    with pytest.raises(ConfigError, match="grades no answers"):
        world().grade(PROBLEM, "2 + 3 = 5")
    with pytest.raises(ConfigError, match="grades no answers"):
        load_grading(f"external:{HERE / 'program.sh'}")


def test_a_program_of_any_language_speaks_the_lines(world):
    by_hand = world(command=(str(HERE / "program.sh"),), folder="")
    assert by_hand.name == "by-hand"
    assert outcomes(by_hand, "right") == ["RIGHT"]
    assert by_hand.verify(PROBLEM, solution("left"))[0].reason == "it does not say so"
    with pytest.raises(ConfigError, match="gives no problems"):
        by_hand.problems(1, split="train", seed=0)


@pytest.mark.parametrize(
    ("step", "how"),
    [
        ("exit", "ended with exit code 3"),
        ("sys.exit", "ended with exit code 4"),
        ("kill", "killed by SIGSEGV"),
    ],
)
def test_a_crash_is_tried_again_and_is_undecided_in_the_end(world, step, how):
    sums = world(retries=2)
    verdicts = sums.verify(PROBLEM, solution("2 + 3 = 6", step))
    assert [v.outcome for v in verdicts] == [Outcome.UNDECIDED] * 2
    assert how in verdicts[0].reason
    assert "at attempt 3" in verdicts[0].reason
    assert verdicts[0].evidence[0].kind == "failed"
    assert {k: sums.counts[k] for k in ("crashes", "retries", "timeouts")} == {
        "crashes": 3,
        "retries": 2,
        "timeouts": 0,
    }
    assert outcomes(sums, "2 + 3 = 5", id="next") == ["RIGHT"]


def test_a_second_attempt_that_succeeds_is_counted_and_told(world):
    sums = world()
    verdict = sums.verify(PROBLEM, solution("once"))[0]
    assert verdict.outcome is Outcome.RIGHT
    assert [e.kind for e in verdict.evidence] == ["step", "retried"]
    assert (sums.counts["crashes"], sums.counts["retries"]) == (1, 1)


def test_what_takes_too_long_is_killed_with_its_children_and_not_tried_again(world, tmp_path):
    sums = world(seconds=1.0)
    started = time.monotonic()
    verdicts = sums.verify(PROBLEM, solution("leave a child"))
    assert time.monotonic() - started < 5
    assert verdicts[0].outcome is Outcome.UNDECIDED
    assert "took over 1 s" in verdicts[0].reason
    assert (sums.counts["timeouts"], sums.counts["retries"]) == (1, 0)
    child = int((tmp_path / "child.pid").read_text())
    deadline = time.monotonic() + 5
    while psutil.pid_exists(child) and psutil.Process(child).status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_failure_stands_for_the_run_and_is_not_kept_for_the_next(world, tmp_path):
    file = str(tmp_path / "cache.sqlite")
    sums = world("worlds:Sums", retries=0, cache_file=file)
    assert outcomes(sums, "once") == ["UNDECIDED"]
    assert [t.is_needed for t in sums.truth(PROBLEM, solution("once"))] == [True]
    assert sums.counts["requests"] == 1
    assert outcomes(world("worlds:Sums", cache_file=file), "once") == ["RIGHT"]


def test_failures_behind_a_first_reply_do_not_end_the_run(world):
    sums = world(retries=0)
    assert outcomes(sums, "2 + 3 = 5") == ["RIGHT"]
    for number in range(20):
        assert outcomes(sums, f"{number} = {number}", "exit") == ["UNDECIDED"] * 2


def test_a_reply_before_its_request_is_refused(world):
    sums = world("worlds:ahead")
    # What is written ahead comes before the reply, or is there when the next request goes out.
    with pytest.raises(PluginError, match=r"without being asked|where the reply to its request belongs"):
        [sums.verify(PROBLEM, solution(f"{number} + 1 = 0")) for number in range(2)]


def test_a_reply_of_another_form_is_not_kept(world, tmp_path, monkeypatch):
    file = str(tmp_path / "cache.sqlite")
    (tmp_path / "mended.py").write_text(
        "import worlds\nclass S(worlds.Sums):\n"
        "    def verify(self, problem, steps):\n        return ['yes']\n"
    )
    with pytest.raises(PluginError, match="'yes' as the verdict"):
        world("mended:S", cache_file=file).verify(PROBLEM, solution("2 + 3 = 5"))
    (tmp_path / "mended.py").write_text("import worlds\nclass S(worlds.Sums):\n    pass\n")
    assert outcomes(world("mended:S", cache_file=file), "2 + 3 = 5") == ["RIGHT"]


def test_two_folders_share_a_cache_file_and_no_reply(world, tmp_path):
    file = str(tmp_path / "cache.sqlite")
    for name, verdict in (("a", True), ("b", False)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "here.py").write_text(
            "class S:\n    version = '1'\n"
            f"    def verify(self, problem, steps):\n        return [{verdict}]\n"
        )
        there = world("here:S", folder=str(tmp_path / name), cache_file=file)
        assert outcomes(there, "x") == ["RIGHT" if verdict else "WRONG"]


def test_a_child_that_was_forked_leaves_its_parents_processes_alone(world):
    sums = world(retries=0)
    assert outcomes(sums, "2 + 3 = 5") == ["RIGHT"]
    code = (
        "import os, sys\n"
        "from labeling.records import Problem, Solution\n"
        "from labeling.simulators.external import load_external\n"
        "world = load_external('worlds:sums')\n"
        "problem = Problem(id='p', text='t')\n"
        "if os.fork() == 0:\n    sys.exit(0)\n"
        "os.wait()\n"
        "verdict = world.verify(problem, Solution.from_steps(['2 + 3 = 5'], id='s', problem=problem))[0]\n"
        "print(verdict.outcome, world.counts['crashes'])\n"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["RIGHT", "0"]


@pytest.mark.parametrize(
    ("verifier", "how", "code"),
    [
        ("simulator:external:worlds:sums", signal.SIGINT, 130),
        ("simulator:external:worlds:sums", signal.SIGTERM, 143),
        ("simulator:external:worlds:sums", signal.SIGKILL, -9),
        ("arithmetic,simulator:external:worlds:sums", signal.SIGINT, 130),
        ("worlds:Users,simulator:external:worlds:sums", signal.SIGTERM, 143),
    ],
)
def test_a_run_that_is_ended_leaves_no_simulator_behind(tmp_path, monkeypatch, verifier, how, code):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    rows = [{"id": str(n), "problem": "q", "steps": ["hang busily"]} for n in range(20)]
    (tmp_path / "in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [sys.executable, "-m", "prm.cli", "label", "--input", "in.jsonl", "--verifier", verifier]
    run = subprocess.Popen(
        [*command, "--output", "o/l.jsonl"],
        cwd=tmp_path,
        stderr=subprocess.DEVNULL,
        # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not (busy := simulators_of(tmp_path)) or not (tmp_path / "busy").exists():
        assert time.monotonic() < deadline
        assert run.poll() is None
        time.sleep(0.05)
    run.send_signal(how)
    started = time.monotonic()
    assert run.wait(30) == code
    assert time.monotonic() - started < 8
    deadline = time.monotonic() + 10
    while simulators_of(tmp_path):
        assert time.monotonic() < deadline, busy
        time.sleep(0.05)


def simulators_of(folder):
    found = []
    for process in psutil.process_iter():
        try:
            if "labeling.simulators.external.serve" in process.cmdline() and process.cwd() == str(folder):
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_what_the_users_code_starts_reads_no_requests(world):
    assert outcomes(world(seconds=5), "cat", "2 + 3 = 5") == ["RIGHT", "RIGHT"]


def test_a_child_that_holds_the_output_does_not_hide_the_end(world, tmp_path):
    started = time.monotonic()
    verdict = world(retries=0, seconds=20).verify(PROBLEM, solution("end and leave a child"))[0]
    assert "ended with exit code 7" in verdict.reason
    assert time.monotonic() - started < 10


def test_closing_ends_a_request_under_way_and_those_that_wait(world):
    sums = world(processes=1, seconds=60)
    errors = []

    def ask(step):
        try:
            outcomes(sums, step, id=step)
        except ToolkitError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=ask, args=(step,)) for step in ("hang", "2 + 3 = 5", "2 + 2 = 4")]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    sums.close()
    for thread in threads:
        thread.join(10)
    assert len(errors) == 3
    assert all("is closed" in error for error in errors)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_simulator_that_never_answers_ends_the_run(world, processes):
    sums = world(retries=0, processes=processes)
    for number in range(8 * processes - 1):
        assert outcomes(sums, f"{number} = {number}", "exit") == ["UNDECIDED"] * 2
    with pytest.raises(PluginError, match=f"{8 * processes} requests without a reply and never gave one"):
        sums.verify(PROBLEM, solution("exit"))


def test_an_exception_of_the_simulator_names_place_and_record(world):
    with pytest.raises(PluginError, match=r"record s: .*RuntimeError: no such load \(worlds.py, line \d+\)"):
        world().verify(PROBLEM, solution("raise"))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("worlds:broken", "2 items for 1 steps"),
        ("worlds:strange", "unknown member 'verdit'"),
        ("worlds:unwritable", "not JSON serializable"),
        ("worlds:backwards", "ends before it starts"),
        ("worlds:ours", "which the toolkit writes"),
    ],
)
def test_a_reply_of_another_form_is_an_error_and_no_verdict(world, target, message):
    with pytest.raises(PluginError, match=message):
        world(target).verify(PROBLEM, solution("2 + 3 = 5"))


def test_a_number_is_no_verdict(world):
    with pytest.raises(PluginError, match="1 as the verdict of step 0"):
        world().verify(PROBLEM, solution("number"))


def test_a_line_that_is_no_reply_is_an_error(world):
    with pytest.raises(PluginError, match="'hello there' where the reply"):
        world(command=(str(HERE / "program.sh"),), folder="").verify(PROBLEM, solution("no reply"))


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("worlds:missing", "AttributeError"),
        ("worlds:NOTHING", "neither be called nor has verify"),
        ("no_such_module:judge", "ModuleNotFoundError"),
        ("worlds:Comma", "without a comma"),
    ],
)
def test_what_cannot_be_served_is_told_at_once(world, target, message):
    with pytest.raises(PluginError, match=message):
        world(target)


def test_a_program_that_is_not_there_is_told(world):
    with pytest.raises(PluginError, match="cannot be started"):
        world(command=("./no-such-program",))
    with pytest.raises(PluginError, match="does not start: its process ended with exit code 0"):
        world(command=("true",))


def test_a_flood_of_errors_and_a_large_request_do_not_block(world):
    sums = world()
    assert outcomes(sums, "flood", *["2 + 3 = 5"] * 20_000) == ["RIGHT"] * 20_001


def test_equal_requests_are_answered_from_the_cache(world, tmp_path):
    sums = world("worlds:Sums")
    for _ in range(3):
        assert outcomes(sums, "2 + 3 = 5") == ["RIGHT"]
        sums.truth(PROBLEM, solution("2 + 3 = 5"))
    assert (tmp_path / "asked").read_text() == "x"
    assert sums.counts["cache hits"] == 5


def test_a_cache_file_serves_the_next_run_and_no_other_version(world, tmp_path, monkeypatch):
    file = str(tmp_path / "cache" / "replies.sqlite")
    for _ in range(2):
        assert outcomes(world("worlds:Sums", cache_file=file), "2 + 3 = 5") == ["RIGHT"]
    assert (tmp_path / "asked").read_text() == "x"
    other = tmp_path / "other.py"
    other.write_text("import worlds\nclass Sums(worlds.Sums):\n    version = '2'\n")
    assert outcomes(world("other:Sums", cache_file=file), "2 + 3 = 5") == ["RIGHT"]
    assert (tmp_path / "asked").read_text() == "xx"


def test_a_cache_file_wants_a_version_and_must_be_one(world, tmp_path):
    with pytest.raises(ConfigError, match="gives no version"):
        world(cache_file=str(tmp_path / "cache"))
    (tmp_path / "text").write_text("no database " * 100)
    with pytest.raises(StoreError, match="cannot be used"):
        world("worlds:Sums", cache_file=str(tmp_path / "text"))


def test_threads_share_the_processes_and_get_their_own_replies(world):
    sums = world(processes=3, cached=0)
    found = {}

    def ask(number):
        found[number] = outcomes(sums, f"{number} + 1 = {number + number % 2}", id=str(number))

    threads = [threading.Thread(target=ask, args=(n,)) for n in range(40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {n: ["RIGHT" if n % 2 else "WRONG"] for n in range(40)}
    assert sums.counts["processes"] <= 3


def test_closing_ends_the_processes(world):
    before = {p.pid for p in psutil.Process().children()}
    sums = world()
    started = [p for p in psutil.Process().children() if p.pid not in before]
    sums.close()
    assert started
    assert not any(p.is_running() for p in started)
    with pytest.raises(ToolkitError, match="is closed"):
        sums.verify(PROBLEM, solution("2 + 3 = 5"))


def test_three_processes_work_at_the_same_time(world):
    sums = world(processes=3, seconds=20)
    threads = [threading.Thread(target=outcomes, args=(sums, f"meet {n}")) for n in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # Each step ends only when the two others have begun.
    assert {k: sums.counts[k] for k in ("processes", "timeouts")} == {"processes": 3, "timeouts": 0}


@pytest.mark.parametrize("processes", [1, 2])
def test_label_starts_no_more_processes_than_the_settings_say(tmp_path, monkeypatch, processes):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.chdir(tmp_path)
    Path("world.yaml").write_text(f"python: worlds:noted\nprocesses: {processes}\n")
    rows = [{"id": str(n), "problem": "q", "steps": [f"{n} + 1 = {n}"]} for n in range(200)]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for verifier in ("simulator:external:world.yaml", "arithmetic,simulator:external:world.yaml"):
        Path("processes").unlink(missing_ok=True)
        arguments = ["--input", "in.jsonl", "--verifier", verifier, "--output", "o/l.jsonl", "--overwrite"]
        assert main(["label", *arguments]) == 0
        n_started = len(set(Path("processes").read_text().split()))
        assert 1 <= n_started <= processes
    # Other settings under the same name are another run.
    Path("world.yaml").write_text("python: worlds:sums\n")
    assert main(["label", *arguments[:-1]]) == 2


def test_a_settings_file_names_the_program_and_its_limits(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    file = tmp_path / "world.yaml"
    file.write_text("python: worlds:Sums\nseconds: 2\nprocesses: 1\nretries: 0\ncache_file: cache.sqlite\n")
    loaded = load_simulator(f"external:{file}")
    try:
        assert loaded.name == "sums"
        assert loaded.grade(PROBLEM, "answer 5") is True
        assert (tmp_path / "cache.sqlite").exists()
    finally:
        loaded.close()
    assert settings_of("./world --fast 'a b'").command == ("./world", "--fast", "a b")
    assert settings_of("worlds:Sums").command == python_command("worlds:Sums")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1", "holds no settings"),
        ("command: ./x\npython: a:b", "either command or python"),
        ("seconds: 3", "either command or python"),
        ("command: ./x\nsecond: 3", "'second' is no setting"),
        ("command: ./x\nseconds: -1", "seconds of a simulator is -1"),
        ("command: ./x\nseconds: .nan", "seconds of a simulator is nan"),
        ("command: ./x\nseconds: .inf", "seconds of a simulator is inf"),
        ('command: "./x\\0"', "holds what no name can"),
        ('command: "./\\uD800"', "holds what no name can|no YAML"),
        ("command: ./x\nretries: true", "retries of a simulator is True"),
        ("command: []", "command of a simulator"),
        ("command: 3", "command of a simulator"),
        ("command: 'a \" b'", "cannot be read"),
        ("a: [", "no YAML"),
    ],
)
def test_settings_that_cannot_be_used_are_told_with_the_file(tmp_path, text, message):
    file = tmp_path / "world.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=message) as caught:
        settings_of(str(file))
    assert str(file) in str(caught.value)


@pytest.mark.parametrize("target", ["", "missing.yaml", "'open"])
def test_names_that_cannot_be_used_are_told(target):
    with pytest.raises(InputError):
        settings_of(target)


def test_a_command_that_names_a_file_is_no_file():
    assert settings_of("./world --config world.yaml").command == ("./world", "--config", "world.yaml")


def test_label_runs_it_on_all_processes_and_counts_what_failed(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("PYTHONPATH", str(HERE))
    monkeypatch.chdir(tmp_path)
    rows = [
        {"id": str(n), "problem": "q", "answer": "1", "steps": [f"{n} + 1 = {n + 1 + n % 2}"]}
        for n in range(200)
    ]
    rows[17]["steps"] = ["1 + 1 = 2", "exit"]
    rows[18]["steps"] = ["once"]
    Path("in.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert (
        main(
            [
                "label",
                "--input",
                "in.jsonl",
                "--verifier",
                "simulator:external:worlds:sums",
                "--output",
                "o/l.jsonl",
            ]
        )
        == 0
    )
    labelled = [json.loads(line) for line in Path("o/l.jsonl").read_text().splitlines()]
    assert [row["id"] for row in labelled] == [row["id"] for row in rows]
    expected = [["WRONG" if n % 2 else "RIGHT"] for n in range(200)]
    expected[17], expected[18] = ["UNDECIDED"] * 2, ["RIGHT"]
    assert [row["verdicts"] for row in labelled] == expected
    counts = json.loads(Path("o/report.json").read_text())["counts"]
    assert counts["solutions to which a simulator gave no reply"] == 1
    assert counts["solutions judged by a simulator that had to be asked again"] == 1
    assert str(HERE) not in Path("o/l.jsonl").read_text()


@pytest.mark.parametrize(
    "introduction",
    [
        {"name": "a", "methods": ["verify", []]},
        {"name": "a", "methods": ["grade"]},
        {"name": "a", "methods": "verify"},
        {"name": " "},
        {"name": 3},
        {"name": "a", "version": 3},
        {"name": "a", "author": "b"},
        ["a"],
    ],
)
def test_an_introduction_of_another_form_is_told(introduction):
    with pytest.raises(UnreadableError):
        read_introduction(introduction)
