import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import datasets
import pytest

from labeling import _workers
from labeling.errors import ConfigError, InputError, ModelError, PluginError, StoreError
from labeling.label import NOT_GRADABLE, LabelConfig, run
from labeling.rollouts.sampler import Rollout

ROWS = [
    {
        "id": "r1",
        "problem": "2 + 3, then double it?",
        "answer": "10",
        "steps": ["2 + 3 = 5", "5 * 2 = 10", "A: 10"],
    },
    {
        "id": "r2",
        "problem": "2 + 3, then double it?",
        "answer": "10",
        "steps": ["2 + 3 = 6", "6 * 2 = 12", "A: 12"],
    },
    {"id": "r3", "problem": "What is it called?", "answer": None, "steps": ["It is called a lever."]},
]


@pytest.fixture
def rows_file(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def label(rows_file, output, **settings):
    settings = {"input": str(rows_file), "verifier": "arithmetic,answers", "processes": 1, **settings}
    return run(LabelConfig(output=str(output), **settings))


def test_solutions_of_which_a_member_of_the_panel_says_nothing_are_counted(rows_file, tmp_path):
    with rows_file.open("a") as file:
        file.write(json.dumps({**ROWS[0], "id": "r4", "steps": ["2 + 3 = 5", "5 * 3 = 15"]}) + "\n")
    counts = label(rows_file, tmp_path / "out" / "labels.jsonl").counts
    assert counts["solutions without a claim by answers"] == 2  # r3 and r4, whose steps are called RIGHT
    assert counts["solutions without a claim by arithmetic"] == 1
    alone = label(rows_file, tmp_path / "alone" / "labels.jsonl", verifier="answers").counts
    assert not any(name.startswith("solutions without a claim") for name in alone)


def rows_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_every_step_gets_a_verdict_with_its_evidence(rows_file, tmp_path):
    output = tmp_path / "out" / "labels.jsonl"
    report = label(rows_file, output)
    first, second, third = rows_of(output)
    assert first["labels"] == [1, 1, 1]
    assert first["first_error"] == -1
    assert second["verdicts"] == ["WRONG", "RIGHT", "WRONG"]
    assert second["first_error"] == 0
    assert second["evidence"][0][0]["left"] == "5"
    assert (third["verdicts"], third["labels"], third["first_error"]) == (["UNDECIDED"], [-100], None)
    assert report.counts["steps UNDECIDED"] == 1
    assert report.counts["steps"] == 7
    assert json.loads((tmp_path / "out" / "report.json").read_text())["counts"]["lines rejected"] == 0
    assert "solutions | 3" in (tmp_path / "out" / "card.md").read_text()


def test_the_label_file_is_stepwise_supervision_for_other_tools(rows_file, tmp_path):
    output = tmp_path / "labels.jsonl"
    label(rows_file, output)
    loaded = datasets.load_dataset("json", data_files=str(output), cache_dir=str(tmp_path / "cache"))["train"]
    assert {"prompt", "completions", "labels"} <= set(loaded.column_names)
    assert loaded[1]["labels"] == [0, 1, 0]
    assert loaded[2]["completions"] == ["It is called a lever."]


def test_a_second_run_has_nothing_to_do_and_leaves_the_file_alone(rows_file, tmp_path):
    output = tmp_path / "labels.jsonl"
    label(rows_file, output)
    before = output.read_bytes()
    assert label(rows_file, output).counts["rows already there"] == 3
    assert output.read_bytes() == before


def test_a_torn_run_goes_on_where_it_stopped(rows_file, tmp_path):
    output = tmp_path / "labels.jsonl"
    label(rows_file, output)
    whole = output.read_bytes()
    output.write_bytes(whole[: whole.index(b"\n") + 20])
    report = label(rows_file, output)
    assert report.counts["rows already there"] == 1
    assert report.counts["bytes of a torn last line cut"] == 19
    assert output.read_bytes() == whole


def test_other_settings_do_not_write_into_the_same_file(rows_file, tmp_path):
    output = tmp_path / "labels.jsonl"
    label(rows_file, output)
    with pytest.raises(StoreError, match="with another verifier"):
        label(rows_file, output, verifier="arithmetic")
    assert label(rows_file, output, verifier="arithmetic", overwrite=True).counts["rows already there"] == 0


def test_several_processes_give_the_same_rows(rows_file, tmp_path, monkeypatch):
    monkeypatch.setattr("labeling._workers.SOLUTIONS_A_PROCESS", 1)
    limits, real_init = [], _workers._Workers.__init__

    def noted(self, names, limit):
        limits.append(limit)
        real_init(self, names, limit)

    monkeypatch.setattr(_workers._Workers, "__init__", noted)
    label(rows_file, tmp_path / "one.jsonl")
    assert limits == []
    label(rows_file, tmp_path / "two.jsonl", processes=2)
    assert limits == [2]
    assert rows_of(tmp_path / "one.jsonl") == rows_of(tmp_path / "two.jsonl")


def test_malformed_lines_stop_the_run_before_anything_is_written(rows_file, tmp_path):
    rows_file.write_text(rows_file.read_text() + '{"id": "r9"}\n')
    output = tmp_path / "labels.jsonl"
    with pytest.raises(InputError, match=r"rows\.jsonl:4"):
        label(rows_file, output)
    assert not output.exists()
    report = label(rows_file, output, on_error="skip")
    assert report.counts["lines rejected"] == 1
    assert report.counts["solutions labelled"] == 3


def test_an_empty_file_is_an_error_that_says_so(tmp_path):
    path = tmp_path / "empty.jsonl"
    path.write_text("\n")
    with pytest.raises(InputError, match="no solution to label"):
        label(path, tmp_path / "labels.jsonl")


def test_contradictions_are_told_all_at_once():
    with pytest.raises(ConfigError) as caught:
        LabelConfig(output="x", rollouts=2, verifier="arithmetic", processes=-1).check()
    for part in ("input file or a simulator", "two kinds", "need a policy", "not negative"):
        assert part in str(caught.value)


class FixedSampler:
    """Continues every prefix with the same text."""

    def __init__(self, text):
        self.text = text

    def extend(self, prefixes, n, *, max_tokens, keys):
        return [[Rollout(text=self.text, tokens=3, is_cut=False)] * n for _ in prefixes]


def test_rollouts_grade_only_texts_with_an_answer_against_references_that_can_be_read(tmp_path, monkeypatch):
    rows = [
        {"id": "unfinished", "answer": "5", "steps": ["First we add.", "Then we go on."]},
        {"id": "finished", "answer": "5", "steps": ["First we add.", "The answer is 4"]},
        {"id": "no reference", "answer": None, "steps": ["First we add.", "The answer is 5"]},
        {"id": "unreadable", "answer": "\\frac{}{", "steps": ["First we add.", "The answer is 5"]},
    ]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row | {"problem": "2 + 3?"}) + "\n" for row in rows))
    monkeypatch.setattr("labeling.label._sampler", lambda config: FixedSampler("The answer is 5"))
    report = label(path, tmp_path / "right.jsonl", verifier="", policy=str(tmp_path), rollouts=2)
    unfinished, finished, *unknown = rows_of(tmp_path / "right.jsonl")
    # A last step without an answer is continued, not called a wrong end.
    assert (unfinished["labels"], unfinished["n"], unfinished["k"]) == ([1, 1], [2, 2], [2, 2])
    assert (finished["labels"], finished["n"], finished["k"]) == ([1, 0], [2, 1], [2, 0])
    for row in unknown:
        assert (row["labels"], row["first_error"]) == ([-100, -100], None)
        assert (row["n"], row["reasons"]) == ([0, 0], [NOT_GRADABLE] * 2)
    assert report.counts["rollouts: made"] == 6
    monkeypatch.setattr("labeling.label._sampler", lambda config: FixedSampler("And so on."))
    label(path, tmp_path / "silent.jsonl", verifier="", policy=str(tmp_path), rollouts=2)
    first = rows_of(tmp_path / "silent.jsonl")[0]
    assert (first["labels"], first["k"], first["unparsable"]) == ([0, 0], [0, 0], [2, 2])


GRADERS = """
from labeling.errors import NotGradedError


class Lengths:
    name = "lengths"

    def verify(self, problem, solution):
        raise NotImplementedError

    def grade(self, problem, text):
        if "unclear" in text:
            raise NotGradedError("I cannot read it")
        return None if "answer" not in text else len(text) % 2 == 0

    def can_grade(self, problem):
        return problem.text != "never"
"""


def test_a_grader_of_a_users_own_grades_rollouts(tmp_path, monkeypatch):
    (tmp_path / "own_grader.py").write_text(GRADERS)
    monkeypatch.syspath_prepend(tmp_path)
    rows = [{"id": name, "problem": name, "steps": ["a", "b"]} for name in ("unclear", "never")]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    own = {"verifier": "", "policy": str(tmp_path), "rollouts": 2, "grader": "own_grader:Lengths"}
    for text, expected in {
        "the answer": {"k": [2, 2], "undecided": [0, 0], "unparsable": [0, 0], "labels": [1, 1]},
        "unclear answer": {"k": [0, 0], "undecided": [2, 2], "unparsable": [0, 0], "labels": [-100, -100]},
        "nothing": {"k": [0, 0], "undecided": [0, 0], "unparsable": [2, 2], "labels": [0, 0]},
    }.items():
        monkeypatch.setattr("labeling.label._sampler", lambda config, text=text: FixedSampler(text))
        report = label(path, tmp_path / f"{text}.jsonl", **own)
        graded, never = rows_of(tmp_path / f"{text}.jsonl")
        assert {name: graded[name] for name in expected} == expected
        assert (never["n"], never["reasons"]) == ([0, 0], [NOT_GRADABLE] * 2)
        assert report.counts["rollouts: undecided"] == sum(expected["undecided"])


def test_a_grader_is_for_rollouts_on_problems_of_a_file(rows_file, tmp_path):
    with pytest.raises(ConfigError, match="grader is for rollouts"):
        label(rows_file, tmp_path / "l.jsonl", grader="code")
    with pytest.raises(ConfigError, match="grades no answers"):
        label(rows_file, tmp_path / "l.jsonl", verifier="", policy="starter", rollouts=1, grader="arithmetic")


def test_the_report_says_how_raw_texts_were_cut(tmp_path):
    texts = ["1. 2 + 3 = 5\n2. 5 * 2 = 10", "1. 2 + 3 = 5\n2. 5 + 5 = 10", "2 + 3 = 5. So 5 * 2 = 10."]
    rows = [{"id": str(k), "problem": "p", "completion": text} for k, text in enumerate(texts)]
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {**ROWS[0], "id": "given"}]))

    def modes(**settings):
        counts = label(path, tmp_path / f"{len(settings)}.jsonl", verifier="arithmetic", **settings).counts
        return {name: n for name, n in counts.items() if "cut into steps" in name}

    assert modes() == {"solutions cut into steps by numbered": 2, "solutions cut into steps by sentence": 1}
    assert modes(segment="canonical") == {"solutions cut into steps by canonical": 3}


def test_an_unknown_verifier_is_named_before_work_starts(rows_file, tmp_path):
    with pytest.raises(ConfigError, match="arithmetik"):
        label(rows_file, tmp_path / "labels.jsonl", verifier="arithmetik")


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_run_leaves_no_process_behind_and_is_resumed_without_loss(tmp_path, number):
    path = tmp_path / "rows.jsonl"
    rows = [{**ROWS[i % 2], "id": f"r{i}"} for i in range(4000)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = tmp_path / "labels.jsonl"
    command = [sys.executable, "-m", "prm.cli", "label", "--input", str(path), "--output", str(output)]
    command += ["--verifier", "arithmetic", "--processes", "2"]
    process = subprocess.Popen(command, env=os.environ, stderr=subprocess.DEVNULL, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (output.exists() and output.stat().st_size > 10_000):
        time.sleep(0.01)
    process.send_signal(number)
    process.communicate(timeout=60)  # ends when no process is left that holds the other end of the pipe
    assert process.returncode == (-signal.SIGKILL if number == signal.SIGKILL else 128 + signal.SIGTERM)
    n_before = output.read_bytes().count(b"\n")
    report = label(path, output, verifier="arithmetic")
    assert report.counts["rows already there"] >= n_before > 0
    ids = [row["id"] for row in rows_of(output)]
    assert sorted(ids) == sorted(row["id"] for row in rows)


def test_a_verifier_in_the_working_folder_is_found_by_its_name(rows_file, tmp_path, monkeypatch):
    (tmp_path / "own_checks.py").write_text(
        "from labeling.verifiers.verdict import Verdict\n"
        "class Lenient:\n"
        "    name = 'lenient'\n"
        "    def verify(self, problem, solution):\n"
        "        return [Verdict.right('all is well') for _ in solution.steps]\n"
    )
    output = tmp_path / "labels.jsonl"
    command = [str(Path(sys.executable).with_name("prm")), "label", "--input", str(rows_file)]
    command += ["--output", str(output), "--verifier", "own_checks:Lenient"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [row["first_error"] for row in rows_of(output)] == [-1, -1, -1]


@pytest.mark.parametrize("name", ["report.json", "card.md"])
def test_labels_are_not_written_where_report_and_card_go(rows_file, tmp_path, name):
    with pytest.raises(ConfigError, match="which lie beside it"):
        label(rows_file, tmp_path / "out" / name)
    assert not (tmp_path / "out").exists()


def test_overwriting_never_takes_the_input_away(rows_file, tmp_path):
    before = rows_file.read_bytes()
    (tmp_path / "same.jsonl").symlink_to(rows_file)
    for output in (rows_file, tmp_path / "same.jsonl"):
        with pytest.raises(ConfigError, match="output is another file than input"):
            label(rows_file, output, overwrite=True)
    assert rows_file.read_bytes() == before


def test_modes_and_splits_that_do_not_exist_are_refused(rows_file):
    with pytest.raises(ConfigError, match=r"segment is one of .*; split is train or test"):
        LabelConfig(
            output="x.jsonl", input=str(rows_file), verifier="arithmetic", segment="marker", split="dev"
        ).check()


FAILING = """
from labeling.verifiers.verdict import Verdict
class Failing:
    name = "failing"
    def verify(self, problem, solution):
        if solution.id == "{failing_id}":
            raise ValueError("not this one")
        return [Verdict.right("fine") for _ in solution.steps]
"""


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture
def failing(tmp_path, monkeypatch):
    """Return a function: the id at which a verifier fails -> the verifier's name."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write(failing_id):
        name = f"failing_at_{failing_id}"
        (tmp_path / f"{name}.py").write_text(FAILING.format(failing_id=failing_id))
        return f"{name}:Failing"

    return write


def test_overwriting_leaves_finished_labels_alone_until_the_new_run_has_made_a_row(
    rows_file, tmp_path, failing
):
    output = tmp_path / "out" / "labels.jsonl"
    label(rows_file, output)
    before = contents(output.parent)
    mistakes = [
        {"verifier": "", "rollouts": 2, "policy": "strater"},
        {"verifier": "arithmetik"},
        {"verifier": failing("r1")},
    ]
    for settings in mistakes:
        with pytest.raises(InputError):
            label(rows_file, output, overwrite=True, **settings)
        assert contents(output.parent) == before
    with pytest.raises(PluginError):
        label(rows_file, output, overwrite=True, verifier=failing("r2"))
    assert [row["origin"] for row in rows_of(output)] == ["failing"]
    assert not (output.parent / "report.json").exists()
    assert not (output.parent / "card.md").exists()


def test_only_the_description_of_the_file_itself_goes_with_it(rows_file, tmp_path, failing):
    output = tmp_path / "out" / "labels.jsonl"
    label(rows_file, output)
    label(rows_file, output.with_name("others.jsonl"))
    before = contents(output.parent)
    with pytest.raises(PluginError):
        label(rows_file, output, overwrite=True, verifier=failing("r2"))
    after = contents(output.parent)
    assert after.keys() == before.keys()
    assert {name for name in after if after[name] != before[name]} == {
        "labels.jsonl",
        "labels.jsonl.run.json",
    }
    (output.parent / "report.json").write_text('["no report"]')
    with pytest.raises(PluginError):
        label(rows_file, output, overwrite=True, verifier=failing("r3"))
    assert (output.parent / "report.json").read_text() == '["no report"]'


def test_a_policy_that_is_not_there_is_told_before_the_input_is_read(tmp_path):
    with pytest.raises(ModelError, match="strater: there is no such model folder"):
        label(tmp_path / "none.jsonl", tmp_path / "l.jsonl", verifier="", rollouts=2, policy="strater")


@pytest.mark.parametrize("name", ["labels.jsonl", "labels.jsonl.run.json", "report.json", "card.md"])
def test_an_output_that_cannot_be_written_is_told_before_the_input_is_read(tmp_path, name):
    out = tmp_path / "out"
    out.mkdir()
    (out / name).symlink_to(tmp_path / "nowhere" / "file")
    with pytest.raises(StoreError, match=f"{name}: is not a file that can be replaced"):
        label(tmp_path / "none.jsonl", out / "labels.jsonl")


def test_the_file_of_sampled_solutions_is_looked_at_too(tmp_path):
    (tmp_path / "labels.solutions.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"labels\.solutions\.jsonl: is not a file"):
        label(tmp_path / "none.jsonl", tmp_path / "labels.jsonl", samples=2, policy="starter")
