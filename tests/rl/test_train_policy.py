"""`prm train-policy` runs, goes on where it stopped, and refuses what cannot work."""

import json
import math
import os

import pytest
import toy_policy
from toy_policy import character_tokenizer, random_llama
from transformers import AutoModelForCausalLM

from labeling.errors import ConfigError, InputError, ModelError, NotGradedError, StoreError
from labeling.files import only_writer
from labeling.records import Problem
from labeling.rollouts.sampler import Rollout
from labeling.simulators.engineering import EngineeringWorld
from rl import policy_run, train
from rl.evaluation import evaluate_policy
from rl.sources import OutcomeSource, VerifierSource


@pytest.fixture
def policy(tmp_path):
    folder = tmp_path / "start"
    random_llama().save_pretrained(folder)
    character_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def problems(tmp_path):
    file = tmp_path / "problems.jsonl"
    rows = [{"id": f"p{i}", "problem": f"what is {i}+{i}?", "answer": str(2 * i)} for i in range(6)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return file


def recipe(tmp_path, policy, problems="", **changes):
    values = {
        "model": str(policy),
        "output": str(tmp_path / "run"),
        "problems": str(problems),
        "reward": "verifiers:toy_policy:EvenVerifier",
        "method": "raw_sum",
        "steps": 3,
        "learning_rate": 1e-2,
        "num_generations": 2,
        "completions_per_step": 4,
        "max_completion_tokens": 12,
        "save_every": 1,
    }
    return train.TrainPolicyConfig(**{**values, **changes})


class Interrupted(KeyboardInterrupt):
    pass


def noted_steps(monkeypatch):
    """The steps that are logged from now on."""
    logged, on_log = [], policy_run._Rows.on_log

    def noted(self, args, state, *rest, **others):
        logged.append(state.global_step)
        on_log(self, args, state, *rest, **others)

    monkeypatch.setattr(policy_run._Rows, "on_log", noted)
    return logged


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_an_interrupted_run_goes_on_to_the_weights_of_an_uninterrupted_one(
    tmp_path, policy, problems, monkeypatch
):
    test_set = {"test_problems": str(problems), "test_count": 2, "penalties": ["padding"]}
    whole = recipe(tmp_path, policy, problems, output=str(tmp_path / "whole"), **test_set)
    report = train.run(whole)
    assert report.counts["completions"] == 12
    assert set(report.numbers["after"]) == {"greedy", "sampled"}

    config = recipe(tmp_path, policy, problems, **test_set)
    on_log = policy_run._Rows.on_log

    def stop_in_step_three(self, args, state, *rest, **others):
        on_log(self, args, state, *rest, **others)
        if state.global_step == 3:
            raise Interrupted

    monkeypatch.setattr(policy_run._Rows, "on_log", stop_in_step_three)
    with pytest.raises(Interrupted):
        train.run(config)
    monkeypatch.setattr(policy_run._Rows, "on_log", on_log)
    assert not (tmp_path / "run" / "report.json").exists()
    with pytest.raises(StoreError, match="other settings"):
        train.run(recipe(tmp_path, policy, problems, **test_set, seed=5))

    logged = noted_steps(monkeypatch)
    again = train.run(config)
    assert logged[0] == 3, "it goes on behind the last checkpoint, and does not start anew"
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in rows] == [1, 2, 3]
    assert "step/penalty_padding" in rows[0]
    assert again.counts == report.counts
    a, b = (AutoModelForCausalLM.from_pretrained(tmp_path / name) for name in ("whole", "run"))
    start = AutoModelForCausalLM.from_pretrained(policy)
    pairs = list(zip(a.parameters(), b.parameters(), start.parameters(), strict=True))
    assert all(p.equal(q) for p, q, _ in pairs)
    assert not all(p.equal(s) for p, _, s in pairs)

    stamp = (tmp_path / "run" / "model.safetensors").stat().st_mtime_ns
    finished = train.run(config)
    assert "finished before" in finished.notes[-1]
    assert (tmp_path / "run" / "model.safetensors").stat().st_mtime_ns == stamp
    with pytest.raises(StoreError, match="finished run with other settings"):
        train.run(recipe(tmp_path, policy, problems, **test_set, steps=4))


@pytest.mark.filterwarnings("ignore:raw_sum pays")
@pytest.mark.parametrize("stop", [2, 3, 4, 5])
def test_a_run_that_is_resumed_in_any_epoch_meets_the_same_problems(
    tmp_path, policy, problems, monkeypatch, stop
):
    # Six problems, two a step: an epoch has three steps.
    sizes = {"steps": 6, "completions_per_step": 8, "num_generations": 4}
    train.run(recipe(tmp_path, policy, problems, output=str(tmp_path / "whole"), **sizes))
    config = recipe(tmp_path, policy, problems, **sizes)
    on_log = policy_run._Rows.on_log

    def interrupt(self, args, state, *rest, **others):
        on_log(self, args, state, *rest, **others)
        if state.global_step == stop:
            raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(policy_run._Rows, "on_log", interrupt)
        with pytest.raises(Interrupted):
            train.run(config)
    logged = noted_steps(monkeypatch)
    train.run(config)
    assert logged[0] == stop, "it goes on behind the last checkpoint, and does not start anew"
    a, b = (AutoModelForCausalLM.from_pretrained(tmp_path / name) for name in ("whole", "run"))
    assert all(p.equal(q) for p, q in zip(a.parameters(), b.parameters(), strict=True))


def test_a_missing_model_folder_is_refused_and_nothing_is_written(tmp_path, problems):
    with pytest.raises(ModelError, match="does not exist"):
        train.run(recipe(tmp_path, tmp_path / "nowhere", problems))
    assert not (tmp_path / "run").exists()


def test_too_few_problems_for_a_step_are_refused(tmp_path, policy, problems):
    config = recipe(tmp_path, policy, problems, completions_per_step=16)
    with pytest.raises(InputError, match="6 problems, and one optimiser step takes 8"):
        train.run(config)


def test_a_folder_of_something_else_is_not_written_into(tmp_path, policy, problems):
    with pytest.raises(StoreError, match="not a run"):
        train.run(recipe(tmp_path, policy, problems, output=str(policy)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"reward": "praise"}, "no reward 'praise'"),
        ({"reward": "prm"}, "prm:FOLDER"),
        ({"reward": "simulator"}, "needs a simulator"),
        ({"method": "grop"}, "no method 'grop'"),
        ({"penalties": ["pading"]}, "no penalty pading"),
        ({"reward": "outcome", "penalties": ["padding"]}, "charged on steps"),
        ({"simulator": "engineering"}, "either problems or simulator"),
        ({"test_count": 3}, "test_problems"),
        ({"num_generations": 3}, "cannot be cut into groups"),
        ({"micro_batch_size": 3}, "micro_batch_size divides"),
        ({"learning_rate": 0.0}, "positive"),
    ],
)
def test_settings_that_contradict_are_refused(changes, message):
    values = {"model": "m", "output": "o", "problems": "p", "completions_per_step": 4, "num_generations": 2}
    with pytest.raises(ConfigError, match=message):
        train.TrainPolicyConfig(**{**values, **changes})


WORLD = EngineeringWorld(part="deep", depths=(3, 3))


class Parrot:
    """Says the given texts, one problem after the other."""

    def __init__(self, texts):
        self.texts = texts

    def extend(self, prefixes, n, *, max_tokens, keys):
        return [[Rollout(text=t, tokens=10, is_cut=t == "") for t in texts] for texts in self.texts]


def solution(problem, *, slip=False):
    lines = [f"{a} {b} {c} {d} = {e}" for a, b, c, d, e in problem.meta["steps"]]
    if slip:
        lines.insert(1, "check 1 = 2")
    return "\n".join([*lines, f"answer {problem.answer}"])


def test_accuracy_and_strict_accuracy_worked_by_hand():
    first, second = WORLD.problems(2, split="test", seed=0)
    texts = [[solution(first), solution(first, slip=True)], [solution(second), ""]]
    result = evaluate_policy(Parrot(texts), [first, second], VerifierSource(WORLD), n=2, max_tokens=9)
    assert result.accuracy.value == 0.75
    assert result.strict_accuracy.value == 0.5
    assert result.cut.value == 0.25
    assert result.filler.value == 0.25
    assert result.steps.value == (4 + 5 + 4 + 0) / 4
    assert (result.accuracy.n, result.n_solutions, result.n_unscored) == (2, 4, 0)


def test_what_cannot_be_checked_is_left_out_and_counted():
    problem = Problem(id="p", text="?")

    def never(problem, text):
        raise NotGradedError("it cannot be told")

    source = OutcomeSource(never)
    result = evaluate_policy(Parrot([["a"]]), [problem], source, max_tokens=9)
    assert math.isnan(result.accuracy.value)
    assert result.n_unscored == 1


def test_evaluation_without_problems_is_refused():
    with pytest.raises(InputError, match="no problems"):
        evaluate_policy(Parrot([]), [], OutcomeSource(WORLD.grade), max_tokens=9)


def test_a_share_that_every_solution_agrees_on_is_still_uncertain():
    problems = [Problem(id=f"p{i}", text="2+2?", answer="4") for i in range(10)]
    source = OutcomeSource(lambda problem, text: False)
    result = evaluate_policy(Parrot([["a"]] * 10), problems, source, max_tokens=9)
    # By hand: 0 of 10, Wilson's upper limit z^2 / (n + z^2) = 3.8416 / 13.8416.
    assert (result.accuracy.value, result.accuracy.low) == (0.0, 0.0)
    assert result.accuracy.high == pytest.approx(0.27754, abs=1e-4)


@pytest.mark.parametrize(
    ("name", "value"), [("seed", -1), ("process_weight", -1.0), ("ceiling", 7.0), ("segment", "bogus")]
)
def test_settings_out_of_range_are_refused(tmp_path, policy, problems, name, value):
    with pytest.raises(ConfigError, match=name):
        recipe(tmp_path, policy, problems, method="step_grpo", **{name: value})


def test_a_malformed_problem_is_skipped_and_counted_on_request(tmp_path, policy, problems):
    problems.write_text(problems.read_text() + "{broken\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"problems\.jsonl:7"):
        train.run(recipe(tmp_path, policy, problems, method="step_grpo", steps=1))
    report = train.run(recipe(tmp_path, policy, problems, method="step_grpo", steps=1, on_error="skip"))
    assert (report.counts["lines rejected"], report.counts["training problems"]) == (1, 6)


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_a_verifier_that_counts_wrongly_leaves_the_output_as_it_was(tmp_path, policy, problems, monkeypatch):
    monkeypatch.setattr("toy_policy.EvenVerifier.verify", lambda self, problem, solution: [])
    config = recipe(tmp_path, policy, problems)
    with pytest.raises(InputError, match="0 verdicts for"):
        train.run(config)
    assert not (tmp_path / "run").exists()


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_a_verifier_that_fails_late_loses_no_checkpoint(tmp_path, policy, problems, monkeypatch):
    sound = toy_policy.EvenVerifier.verify
    calls = []

    def fails_late(self, problem, solution):
        calls.append(solution)
        return sound(self, problem, solution) if len(calls) <= 4 else []

    monkeypatch.setattr("toy_policy.EvenVerifier.verify", fails_late)
    with pytest.raises(InputError, match="0 verdicts for"):
        train.run(recipe(tmp_path, policy, problems))
    assert (tmp_path / "run" / "checkpoints" / "checkpoint-1" / "model.safetensors").is_file()


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_two_runs_do_not_share_an_output(tmp_path, policy, problems):
    with only_writer(tmp_path / "run"), pytest.raises(StoreError, match="another run"):
        train.run(recipe(tmp_path, policy, problems))


def change_weights(folder):
    random_llama(seed=1).save_pretrained(folder)


def drop_a_problem(problems):
    problems.write_text("".join(problems.read_text().splitlines(keepends=True)[:-1]))


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_a_finished_run_is_one_of_its_problems_and_weights_not_only_of_its_settings(
    tmp_path, policy, problems
):
    held_out = tmp_path / "test.jsonl"
    held_out.write_text(problems.read_text())
    config = recipe(tmp_path, policy, problems, steps=1, test_problems=str(held_out), test_count=2)
    train.run(config)
    assert "finished before" in train.run(config).notes[-1]
    for file, change, name in (
        (problems, drop_a_problem, "problems_sha256"),
        (held_out, drop_a_problem, "test_problems_sha256"),
        (policy / "model.safetensors", lambda file: change_weights(file.parent), "model_sha256"),
    ):
        before = file.read_bytes()
        change(file)
        with pytest.raises(StoreError, match=f"finished run with other settings or inputs: {name}"):
            train.run(config)
        file.write_bytes(before)
    assert "finished before" in train.run(config).notes[-1]


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_an_unfinished_run_does_not_go_on_from_other_inputs(tmp_path, policy, problems, monkeypatch):
    config = recipe(tmp_path, policy, problems)

    def stop(self, *rest, **others):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(policy_run._Rows, "on_log", stop)
        with pytest.raises(Interrupted):
            train.run(config)
    change_weights(policy)
    with pytest.raises(StoreError, match="unfinished run with other settings or inputs: model_sha256"):
        train.run(config)


def test_the_weights_of_a_prm_are_inputs_and_a_report_beside_them_is_none(tmp_path, policy, problems):
    config = recipe(tmp_path, policy, problems, reward=f"prm:{policy}", method="step_grpo")
    before = train.input_hashes(config)["reward_sha256"]
    assert before is not None
    (policy / "report.json").write_text("{}")
    assert train.input_hashes(config)["reward_sha256"] == before
    (policy / "prm.json").write_text('{"calibrator": null}')
    assert train.input_hashes(config)["reward_sha256"] != before


def test_a_report_without_hashes_is_accepted_with_a_note(tmp_path, policy, problems):
    config = recipe(tmp_path, policy, problems)
    body = {name: {} for name in ("counts", "numbers", "outputs")} | {"notes": [], "seconds": 1.0}
    body |= {"stage": "train-policy", "settings": train.comparable(config)}
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "report.json").write_text(json.dumps(body))
    assert "not known: its report is old" in train.run(config).notes[-1]


def test_metrics_are_cut_in_one_piece(tmp_path, monkeypatch):
    file = tmp_path / "metrics.jsonl"
    whole = '{"step": 1}\n{"step": 2}\n'
    file.write_text(whole)

    def killed(*paths):
        raise Interrupted

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", killed)
        with pytest.raises(Interrupted):
            policy_run._drop_rows_after(file, 1)
    assert file.read_text() == whole
    policy_run._drop_rows_after(file, 1)
    assert file.read_text() == '{"step": 1}\n'


@pytest.mark.filterwarnings("ignore:raw_sum pays")
def test_the_report_is_written_while_the_folder_is_held(tmp_path, policy, problems, monkeypatch):
    refused = []

    def write(report, folder):
        with pytest.raises(StoreError, match="another run"), only_writer(folder):
            pass
        refused.append(folder)

    monkeypatch.setattr("labeling.report.Report.write", write)
    train.run(recipe(tmp_path, policy, problems, steps=1))
    assert refused == [tmp_path / "run"]


def test_code_is_graded_by_its_tests(tmp_path, policy):
    file = tmp_path / "code.jsonl"
    rows = [
        {"id": f"c{i}", "problem": f"write f: x+{i}", "tests": [{"call": "f(1)", "expected": 1 + i}]}
        for i in range(4)
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    test_set = {"test_problems": str(file), "test_count": 2}
    report = train.run(
        recipe(tmp_path, policy, file, reward="outcome", method="rloo", grader="code", steps=1, **test_set)
    )
    # A random policy writes no code: that is a wrong answer, not one that could not be scored.
    assert report.counts["completions not scored"] == 0
    assert report.counts["training problems that cannot be graded"] == 0
    assert report.numbers["after"]["sampled"]["accuracy"].value == 0
    rows = [json.loads(line) for line in (tmp_path / "run" / "metrics.jsonl").read_text().splitlines()]
    assert rows[0]["step/outcome"] == 0


@pytest.mark.parametrize("changes", [{"grader": "arithmetic"}, {"grader": "no-such"}])
def test_a_grader_that_grades_nothing_is_refused(tmp_path, policy, problems, changes):
    with pytest.raises(ConfigError, match=r"grades no answers|no verifier"):
        train.run(recipe(tmp_path, policy, problems, **changes))


def test_a_simulator_of_a_users_own_rewards_in_processes_of_its_own(tmp_path, policy, monkeypatch):
    (tmp_path / "sums.py").write_text(USERS_WORLD)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    settings = {"simulator": "external:sums:Sums", "simulator_problems": 4, "test_count": 2}
    report = train.run(
        recipe(tmp_path, policy, reward="simulator", method="step_hazard", steps=1, **settings)
    )
    # The world's process ends on texts of odd length: these have no outcome.
    assert 0 < report.counts["completions not scored"] < 4


USERS_WORLD = """
import os


class Sums:
    name = "sums"

    def problems(self, count, split, seed):
        return [{"id": f"{split}{n}", "text": f"{split} {n}+1?"} for n in range(count)]

    def verify(self, problem, steps):
        return [True for _ in steps]

    def grade(self, problem, text):
        if len(text) % 2:
            os._exit(1)
        return False
"""
