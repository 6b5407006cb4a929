import json
import subprocess
import sys

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import prm.train
from labeling.errors import ConfigError, InputError, ModelError, StoreError
from labeling.records import labelled_from_row
from prm.model import StepScorer
from prm.train import TrainPRMConfig, held_out_auroc, run, split_by_problem
from prm.trainer import PRMTrainer


def row(k, **more):
    a, wrong = k // 2, k % 2
    return {
        "id": f"r{k}",
        "prompt": f"{a} + 1?",
        "completions": [f"{a} + 1 = {a + 1 + wrong}.", "Done."],
        "labels": [1 - wrong, 1 - wrong],
    } | more


def write(path, rows):
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), encoding="utf-8")
    return [str(path)]


@pytest.fixture
def labels(tmp_path):
    return write(tmp_path / "labels.jsonl", [row(k) for k in range(24)])


def settings(base_folder, labels, output, **more):
    defaults = {"holdout_fraction": 0.25, "max_steps": 3, "batch_size": 4, "micro_batch_size": 4}
    return TrainPRMConfig(model=str(base_folder), labels=labels, output=str(output), **(defaults | more))


def test_the_stage_leaves_a_prm_and_a_report_and_nothing_else(base_folder, labels, tmp_path):
    report = run(settings(base_folder, labels, tmp_path / "prm", lora_rank=2, lora_targets=["q_proj"]))
    written = json.loads((tmp_path / "prm" / "report.json").read_text())
    assert written["counts"] == report.counts
    assert report.counts["records read"] == 24
    assert report.counts["held-out rows"] == 6
    assert report.counts["training steps labelled"] == 36
    assert report.counts["optimiser steps"] == 3
    assert report.numbers["largest score difference after reloading"] <= 1e-5
    auroc = report.numbers["held-out step AUROC (n: problems)"]
    assert 0 <= auroc.low <= auroc.value <= auroc.high <= 1
    assert auroc.n == 3
    assert {path.name for path in tmp_path.iterdir()} == {"labels.jsonl", "prm"}
    held_out = (tmp_path / "prm" / "held_out.jsonl").read_text().splitlines()
    assert len({json.loads(line)["prompt"] for line in held_out}) == 3
    assert len(json.loads((tmp_path / "prm" / "prm.json").read_text())["labels_sha256"]) == 64
    # A process that knows nothing of this one reads the same scores from the folder.
    code = (
        "import sys; from prm.model import StepScorer;"
        "print(StepScorer.from_pretrained(sys.argv[1]).score(['1 + 1?'], [['1 + 1 = 2.', 'Done.']])[0])"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "prm")]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    here = StepScorer.from_pretrained(tmp_path / "prm").score(["1 + 1?"], [["1 + 1 = 2.", "Done."]])[0]
    assert json.loads(printed) == pytest.approx(here, abs=1e-5)


@pytest.mark.parametrize(
    ("moment", "lora_rank", "made_again"),
    [("in the last step", 2, [2]), ("in a checkpoint", 0, [1, 2]), ("behind the last step", 0, [])],
)
def test_an_interrupted_run_goes_on_to_the_same_model(
    base_folder, labels, tmp_path, monkeypatch, moment, lora_rank, made_again, noted_steps
):
    adapters = {"lora_rank": lora_rank, "lora_targets": ["q_proj"]}
    run(settings(base_folder, labels, tmp_path / "whole", **adapters))
    torn = settings(base_folder, labels, tmp_path / "torn", **adapters)
    real_step, real_save = PRMTrainer.training_step, prm.train.checkpoint.save
    real_rng_state = PRMTrainer._save_rng_state

    def rng_state(trainer, folder):
        if trainer.state.global_step == 2 and moment == "in a checkpoint":
            raise KeyboardInterrupt
        real_rng_state(trainer, folder)

    def step(trainer, *arguments):
        if trainer.state.global_step == 2 and moment == "in the last step":
            raise KeyboardInterrupt
        return real_step(trainer, *arguments)

    def save(*arguments, **more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(PRMTrainer, "training_step", step)
        patch.setattr(PRMTrainer, "_save_rng_state", rng_state)
        patch.setattr(prm.train.checkpoint, "save", save)
        with pytest.raises(KeyboardInterrupt):
            run(torn)
    assert prm.train.checkpoint.save is real_save
    assert not (tmp_path / "torn").exists()
    assert list((tmp_path / ".torn.partial" / "checkpoints").glob("checkpoint-*"))
    steps = noted_steps(monkeypatch)
    report = run(torn)
    assert steps == made_again
    assert report.counts["optimiser steps"] == 3
    one, other = (StepScorer.from_pretrained(tmp_path / name) for name in ("whole", "torn"))
    for name, weight in one.model.state_dict().items():
        assert torch.equal(weight, other.model.state_dict()[name]), name
    assert not (tmp_path / ".torn.partial").exists()


def test_a_run_that_is_resumed_in_any_epoch_meets_the_same_rows_in_the_same_order(
    base_folder, tmp_path, monkeypatch, noted_steps
):
    rows = [row(k, completions=["a" * (1 + k % 5), "b"]) for k in range(10)]
    labels = write(tmp_path / "many.jsonl", rows)
    sizes = {"batch_size": 4, "micro_batch_size": 2, "max_steps": 8, "holdout_fraction": 0.0}
    run(settings(base_folder, labels, tmp_path / "whole", **sizes))
    whole = StepScorer.from_pretrained(tmp_path / "whole").model.state_dict()
    real_step = PRMTrainer.training_step
    # Three steps an epoch: stops in the first epoch, at the seams and in later ones.
    for stop in (2, 3, 4, 5, 6, 7):
        torn = settings(base_folder, labels, tmp_path / f"torn {stop}", **sizes)

        def step(trainer, *arguments, stop=stop):
            if trainer.state.global_step == stop:
                raise KeyboardInterrupt
            return real_step(trainer, *arguments)

        with monkeypatch.context() as patch:
            patch.setattr(PRMTrainer, "training_step", step)
            with pytest.raises(KeyboardInterrupt):
                run(torn)
        with monkeypatch.context() as patch:
            steps = noted_steps(patch)
            run(torn)
        assert sorted(set(steps)) == list(range(stop, 8)), "it does not start anew"
        resumed = StepScorer.from_pretrained(tmp_path / f"torn {stop}").model.state_dict()
        different = [name for name, weight in whole.items() if not torch.equal(weight, resumed[name])]
        assert not different, f"resumed after step {stop}"


def test_input_that_cannot_be_used_is_refused_and_nothing_is_written(base_folder, labels, tmp_path):
    def refused(kind, match, **more):
        before = sorted(tmp_path.iterdir())
        with pytest.raises(kind, match=match):
            run(settings(base_folder, more.pop("labels", labels), tmp_path / "prm", **more))
        assert sorted(tmp_path.iterdir()) == before

    refused(ModelError, "holds no|splits the separator", separator="<extra_0>")
    empty = write(tmp_path / "empty.jsonl", [])
    refused(InputError, "no labelled solution", labels=empty)
    short = write(tmp_path / "short.jsonl", [row(0, labels=[1])])
    refused(InputError, "2 steps but 1 label", labels=short)
    mixed = write(tmp_path / "mixed.jsonl", [row(0), row(2, semantics="value")])
    refused(InputError, "different things: correctness, value", labels=mixed)
    unknown = write(tmp_path / "unknown.jsonl", [row(0, labels=[-100, None])])
    refused(InputError, "none of 1 rows has a labelled step", labels=unknown)
    refused(ConfigError, "context holds 128", max_tokens=500)
    with pytest.raises(ModelError, match="no such model folder"):
        run(settings(tmp_path / "nowhere", labels, tmp_path / "prm"))
    (tmp_path / "prm").mkdir()
    refused(StoreError, "exists already")


@pytest.mark.parametrize(
    ("setting", "reason"),
    [
        ({"label_kind": "fuzzy"}, "label_kind"),
        ({"holdout_fraction": 1.0}, "holdout_fraction"),
        ({"batch_size": 6}, "does not divide"),
        ({"lora_rank": -1}, "lora_rank"),
    ],
)
def test_settings_out_of_range_are_refused(tmp_path, setting, reason):
    with pytest.raises(ConfigError, match=reason):
        settings(tmp_path, [], tmp_path, **setting)


@given(st.lists(st.integers(0, 6), min_size=1, max_size=20), st.floats(0, 0.99), st.integers(0, 5))
def test_no_problem_is_on_both_sides_of_the_split(problems, fraction, seed):
    solutions = [
        labelled_from_row({"id": str(k), "prompt": f"Problem {p}", "completions": ["a"], "labels": [1]})
        for k, p in enumerate(problems)
    ]
    train, held = split_by_problem(solutions, fraction, seed)
    sides = [{s.solution.problem.text for s in side} for side in (train, held)]
    assert not sides[0] & sides[1]
    assert train
    assert len(train) + len(held) == len(solutions)
    n = len(set(problems))
    assert len(sides[1]) == min(round(fraction * n), n - 1)
    backwards = split_by_problem(solutions[::-1], fraction, seed)
    assert [s.solution.id for s in backwards[1][::-1]] == [s.solution.id for s in held]


def test_case_and_spacing_do_not_make_another_problem():
    texts = ("What  is 2?", "what is 2?", "other")
    solutions = [
        labelled_from_row({"id": text, "prompt": text, "completions": ["a"], "labels": [1]}) for text in texts
    ]
    # Were they three problems, a seed would part the two: of the eight, some do.
    for seed in range(8):
        sides = [{s.solution.id for s in side} for side in split_by_problem(solutions, 0.5, seed)]
        assert sorted(sides, key=len) == [{"other"}, set(texts[:2])]


def test_the_auroc_is_that_of_all_labelled_steps(prm_folder):
    solutions = [labelled_from_row(row(k)) for k in range(6)]
    solutions.append(labelled_from_row(row(7, completions=["x" * 200, "y"])))
    scorer = StepScorer.from_pretrained(prm_folder)
    estimate, n_steps, n_too_long = held_out_auroc(scorer, solutions, seed=0)
    assert (n_steps, n_too_long) == (12, 1)
    scores = scorer.score([row(k)["prompt"] for k in range(6)], [row(k)["completions"] for k in range(6)])
    right = [s for k in (0, 2, 4) for s in scores[k]]
    wrong = [s for k in (1, 3, 5) for s in scores[k]]
    # By counting pairs: a right step above a wrong one is 1, a tie one half.
    won = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong)
    assert estimate.value == pytest.approx(won / (len(right) * len(wrong)))
    assert held_out_auroc(scorer, [labelled_from_row(row(0))], seed=0) == (None, 2, 0)


def test_the_auroc_can_leave_out_what_follows_the_first_wrong_step(prm_folder):
    solutions = [labelled_from_row(row(k)) for k in range(6)]
    scorer = StepScorer.from_pretrained(prm_folder)
    estimate, n_steps, _ = held_out_auroc(scorer, solutions, seed=0, until_first_error=True)
    assert n_steps == 9  # by hand: three rows of two right steps, three that are wrong from the first on
    scores = scorer.score([row(k)["prompt"] for k in range(6)], [row(k)["completions"] for k in range(6)])
    right = [s for k in (0, 2, 4) for s in scores[k]]
    wrong = [scores[k][0] for k in (1, 3, 5)]
    won = sum((r > w) + 0.5 * (r == w) for r in right for w in wrong)
    assert estimate.value == pytest.approx(won / (len(right) * len(wrong)))


def test_what_follows_the_first_wrong_step_can_be_left_out_of_training(base_folder, labels, tmp_path):
    whole = run(settings(base_folder, labels, tmp_path / "whole"))
    cut = run(settings(base_folder, labels, tmp_path / "cut", until_first_error=True))
    # By hand: 18 training rows of 2 steps; every second row is wrong from its first step on.
    assert whole.counts["training steps labelled"] == 36
    assert cut.counts["training steps labelled"] == 27
    # `prm evaluate` measures as it was trained.
    assert prm.train.checkpoint.read_info(tmp_path / "whole").until_first_error is False
    assert prm.train.checkpoint.read_info(tmp_path / "cut").until_first_error is True


@pytest.mark.parametrize(
    ("name", "value"), [("epochs", 0), ("max_steps", 0), ("learning_rate", -1.0), ("seed", -1)]
)
def test_numbers_out_of_range_are_refused_before_anything_is_read(tmp_path, name, value):
    with pytest.raises(ConfigError, match=f"{name} {value}"):
        TrainPRMConfig(model="m", labels=["l"], output=str(tmp_path), **{name: value})


def test_an_adapter_on_modules_that_the_model_lacks_is_refused(base_folder, labels, tmp_path):
    with pytest.raises(ConfigError, match="does not fit the model"):
        run(settings(base_folder, labels, tmp_path / "prm", lora_rank=2, lora_targets=["no_such_proj"]))
    assert [path.name for path in tmp_path.iterdir()] == ["labels.jsonl"]
