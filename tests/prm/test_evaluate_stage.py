import json
import math
import re

import numpy as np
import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForTokenClassification, PreTrainedTokenizerFast

from labeling.errors import ConfigError, InputError, ModelError, RecordError
from prm import checkpoint
from prm.benchmarks.first_error import choose_threshold, first_error_f1, predict_first_error
from prm.benchmarks.scored import ScoredChain, is_at_risk, usable_steps
from prm.calibration.calibrators import fit_calibrator, load_calibrator
from prm.calibration.metrics import brier_score, expected_calibration_error, step_auroc
from prm.calibration.split import is_for_calibration
from prm.cli import main
from prm.config import parse_config
from prm.evaluate import FEW_STEPS, EvaluateConfig, run
from prm.formats.class_head import ClassHeadFormat
from prm.model import StepScorer

RESAMPLES = 40
MAX_TOKENS = 96


def byte_tokenizer():
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={c: i for i, c in enumerate(alphabet)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def unlabelled_rows():
    rng = np.random.default_rng(0)
    return [
        {
            "id": f"s{k}",
            "prompt": f"problem {k // 2}",
            "completions": [f"{a} + {b} = {a + b}" for a, b in rng.integers(1, 99, (rng.integers(2, 5), 2))],
        }
        for k in range(120)
    ]


def logits_of(scorer, rows):
    scores = scorer.score([r["prompt"] for r in rows], [r["completions"] for r in rows])
    return [np.log(np.array(own) / (1 - np.array(own))) for own in scores]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A tiny PRM with random weights, its head scaled so that logits have mean 1 and deviation 2."""
    folder = tmp_path_factory.mktemp("models") / "prm"
    torch.manual_seed(0)
    model = LlamaForTokenClassification(
        LlamaConfig(
            vocab_size=256,
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=MAX_TOKENS,
            num_labels=2,
            initializer_range=0.5,
        )
    )
    layout = ClassHeadFormat(byte_tokenizer(), max_tokens=MAX_TOKENS)
    logits = np.concatenate(logits_of(StepScorer(model, layout), unlabelled_rows()))
    scale = 2 / float(logits.std())
    with torch.no_grad():
        model.score.weight.mul_(scale)
        model.score.bias.mul_(scale)[1] += 1 - scale * float(logits.mean())
    info = checkpoint.PRMInfo(separator="\n", max_tokens=MAX_TOKENS, label_kind="hard")
    checkpoint.save(model, layout, folder, info, probe=(["1 + 1"], [["1 + 1 = 2"]]))
    return folder


@pytest.fixture
def model(trained, tmp_path):
    """A copy that the stage may write into."""
    import shutil

    return str(shutil.copytree(trained, tmp_path / "prm"))


@pytest.fixture(scope="module")
def rows(trained):
    """Solutions whose labels the scores predict, though twice as sure as they should be."""
    rng = np.random.default_rng(0)
    rows = unlabelled_rows()
    for row, logits in zip(rows, logits_of(StepScorer.from_pretrained(trained), rows), strict=True):
        # The shift keeps enough chains all right.
        row["labels"] = (rng.random(len(logits)) < 1 / (1 + np.exp(-logits / 2 - 0.7))).astype(int).tolist()
    return rows


def write(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def config(tmp_path, labels, **settings):
    defaults = {"labels": labels, "output": str(tmp_path / "out"), "resamples": RESAMPLES}
    return EvaluateConfig(**(defaults | settings))


@pytest.fixture
def labels(tmp_path, rows):
    return write(tmp_path / "labels.jsonl", rows)


def record(id, steps, first_error, **more):
    return {"id": id, "problem": f"p {id}", "steps": steps, "first_error": first_error, "labels": None} | more


def verdict_row(id, steps, verdicts):
    value = {"RIGHT": 1, "WRONG": 0, "UNDECIDED": -100}
    return {
        "id": id,
        "prompt": f"p {id}",
        "completions": steps,
        "labels": [value[v] for v in verdicts],
        "verdicts": verdicts,
    }


def test_scores_are_measured_on_problems_that_fitted_nothing(tmp_path, model, labels, rows):
    report = run(config(tmp_path, labels, model=model, seed=5))
    scorer = StepScorer.from_pretrained(model)
    held_out = [r for r in rows if not is_for_calibration(r["prompt"], seed=5)]
    raw = scorer.score([r["prompt"] for r in held_out], [r["completions"] for r in held_out])
    p, y = np.concatenate(raw), np.concatenate([r["labels"] for r in held_out])
    gold = [next((i for i, label in enumerate(r["labels"]) if not label), -1) for r in held_out]
    threshold = report.numbers["threshold_on_raw_score"]
    predicted = [predict_first_error(own, threshold) for own in raw]
    calibrated = scorer.calibrated([p.tolist()])[0]
    assert report.counts["test steps used"] == len(p)
    assert report.counts["test problems"] + report.counts["calibration problems"] == 60
    for name, value in {
        "step_auroc": step_auroc(p, y),
        "first_error_f1": first_error_f1(predicted, gold).f1,
        "share_of_steps_right": y.mean(),
    }.items():
        assert report.numbers[name].value == pytest.approx(value), name
        assert report.numbers[name].n == report.counts["test problems"], name
        assert report.numbers[name].low <= value <= report.numbers[name].high, name
    assert report.numbers["before_calibration"]["ece"].value == pytest.approx(
        expected_calibration_error(p, y)
    )
    assert report.numbers["after_calibration"]["ece"].value == pytest.approx(
        expected_calibration_error(calibrated, y)
    )
    assert report.numbers["after_calibration"]["brier"].value == pytest.approx(brier_score(calibrated, y))
    assert (
        report.numbers["after_calibration"]["brier"].value
        < report.numbers["before_calibration"]["brier"].value
    )


def test_threshold_and_calibrator_come_from_the_calibration_problems_alone(tmp_path, model, labels, rows):
    report = run(config(tmp_path, labels, model=model, seed=5))
    fitting = [r for r in rows if is_for_calibration(r["prompt"], seed=5)]
    raw = StepScorer.from_pretrained(model).score(
        [r["prompt"] for r in fitting], [r["completions"] for r in fitting]
    )
    fitted = fit_calibrator(
        "temperature", np.concatenate(raw), np.concatenate([r["labels"] for r in fitting])
    )
    gold = [next((i for i, label in enumerate(r["labels"]) if not label), -1) for r in fitting]
    saved = report.numbers["calibrator"]["temperature"]
    assert saved == pytest.approx(fitted.to_dict()["temperature"], rel=1e-4)
    assert report.numbers["threshold_on_raw_score"] == pytest.approx(
        choose_threshold(raw, gold).threshold, abs=1e-5
    )


@pytest.mark.parametrize("kind", ["temperature", "isotonic", "platt"])
def test_the_calibrator_is_saved_into_the_checkpoint_and_a_second_run_starts_from_raw_scores(
    tmp_path, model, labels, kind
):
    first = run(config(tmp_path, labels, model=model, calibrator=kind))
    saved = checkpoint.read_info(model).calibrator
    assert saved is not None
    assert load_calibrator(saved) == load_calibrator(first.numbers["calibrator"])
    second = run(config(tmp_path, labels, model=model, calibrator=kind))
    assert second.to_dict()["numbers"] == first.to_dict()["numbers"]


def test_a_reader_is_told_when_little_was_fitted_on(tmp_path, model, rows):
    def notes(kept):
        path = write(tmp_path / f"{len(kept)}.jsonl", kept)
        return [n for n in run(config(tmp_path, path, model=model, seed=5)).notes if "do not rely" in n]

    few = rows[:20]
    fitting = [r for r in few if is_for_calibration(r["prompt"], seed=5)]
    n_right = sum(sum(r["labels"]) for r in fitting)
    n_wrong = sum(len(r["labels"]) for r in fitting) - n_right
    assert min(n_right, n_wrong) < FEW_STEPS
    assert f"{n_right} right and {n_wrong} wrong" in notes(few)[0]
    assert not notes([{**r, "id": f"{r['id']}/{k}"} for k in range(4) for r in rows])


def test_without_calibrator_and_with_a_threshold_every_problem_is_measured(tmp_path, model, labels):
    report = run(config(tmp_path, labels, model=model, calibrator="none", threshold=0.5))
    assert report.counts["test problems"] == 60
    assert report.counts["calibration problems"] == 0
    assert "after_calibration" not in report.numbers
    assert checkpoint.read_info(model).calibrator is None


def test_the_report_and_the_diagram_are_written(tmp_path, model, labels):
    report = run(config(tmp_path, labels, model=model))
    written = json.loads((tmp_path / "out" / "report.json").read_text())
    assert written["numbers"]["step_auroc"]["n"] == report.counts["test problems"]
    assert {"value", "low", "high", "n", "method"} <= set(written["numbers"]["after_calibration"]["ece"])
    assert (tmp_path / "out" / "reliability.svg").read_text().startswith("<svg")
    assert (tmp_path / "out" / "reliability.png").stat().st_size > 10_000


def test_unknown_labels_and_solutions_too_long_are_counted(tmp_path, model, rows):
    altered = [dict(row) for row in rows]
    altered[0] = altered[0] | {"labels": [-100] * len(altered[0]["labels"])}
    altered[1] = altered[1] | {"completions": ["7" * MAX_TOKENS, "8"], "labels": [1, 1]}
    labels = write(tmp_path / "altered.jsonl", altered)
    report = run(config(tmp_path, labels, model=model, calibrator="none", threshold=0.5))
    assert report.counts["solutions too long to score"] == 1
    assert any(note.startswith("s1 was not scored") for note in report.notes)
    assert report.counts["test steps without a score"] == 2
    assert report.counts["test steps without a known label"] == len(altered[0]["labels"])
    assert report.counts["test solutions with an unscored step"] == 1
    assert report.counts["test solutions without a known first error"] == 1
    assert report.counts["test solutions used for the first error"] == 118


def test_steps_after_a_known_first_error_are_unknown_in_the_record_format(tmp_path, model, rows):
    records = [
        record(r["id"], r["completions"], next((i for i, v in enumerate(r["labels"]) if not v), -1))
        for r in rows
    ]
    labels = write(tmp_path / "records.jsonl", records)
    report = run(config(tmp_path, labels, model=model, calibrator="none", threshold=0.5))
    assert report.counts["test steps used"] == report.counts["test steps used, at risk"]
    assert report.numbers["step_auroc"].value == report.numbers["step_auroc_at_risk"].value


def test_steps_at_risk_end_with_the_first_that_is_not_right():
    cases = [
        ([1, 1, 0, 1], 3),
        ([0, 1], 1),
        ([0, 1, 1], 1),
        ([1, 0, 1, 1, 1], 2),
        ([1, -100, 1], 2),
        ([1, -100, 1, 1], 2),
        ([1, 1], 2),
    ]
    assert [is_at_risk(np.array(labels)).sum() for labels, _ in cases] == [n for _, n in cases]
    chain = ScoredChain(
        problem="p", scores=np.array([0.1, 0.2, math.nan, 0.4]), labels=np.array([1, 1, 0, 1]), first_error=2
    )
    assert usable_steps([chain], at_risk=True)[0].tolist() == [0.1, 0.2]
    assert usable_steps([chain])[0].tolist() == [0.1, 0.2, 0.4]


def test_verdicts_are_measured_against_first_errors_by_id(tmp_path):
    steps = ["a", "b"]
    truth = {"hit": 1, "late": 0, "missed": 1, "alarm": -1, "quiet": -1, "nobody knows": None}
    labels = write(
        tmp_path / "truth.jsonl",
        [record(id, steps, first_error) for id, first_error in truth.items()],
    )
    said = {
        "quiet": ["RIGHT", "UNDECIDED"],
        "alarm": ["WRONG", "WRONG"],
        "missed": ["UNDECIDED", "UNDECIDED"],
        "late": ["RIGHT", "WRONG"],
        "hit": ["UNDECIDED", "WRONG"],
        "nobody knows": ["WRONG", "RIGHT"],
        "elsewhere": ["WRONG", "RIGHT"],
    }
    verdicts = write(tmp_path / "verdicts.jsonl", [verdict_row(id, steps, v) for id, v in said.items()])
    report = run(config(tmp_path, labels, verdicts=verdicts))
    numbers, counts = report.numbers, report.counts
    assert (numbers["precision"].value, numbers["precision"].n) == (pytest.approx(1 / 3), 3)
    assert (numbers["recall"].value, numbers["recall"].n) == (pytest.approx(1 / 3), 3)
    assert (numbers["false_positive_rate"].value, numbers["false_positive_rate"].n) == (0.5, 2)
    assert numbers["share_of_steps_decided"].value == 0.6
    assert numbers["first_error_f1"].value == pytest.approx(2 * (1 / 3) * 0.5 / (1 / 3 + 0.5))
    assert counts["labelled records with unknown first error"] == 1
    assert counts["verdicts without a labelled record"] == 1
    assert counts["flags exactly on the first error"] == 1
    assert counts["flags after the first error"] == 1
    assert counts["flags before the first error"] == 0
    assert counts["flags on chains that are all right"] == 1
    assert counts["steps UNDECIDED"] == 4
    assert (tmp_path / "out" / "report.json").is_file()


@pytest.mark.parametrize(
    ("verdicts", "reason"),
    [
        ([verdict_row("a", ["x"], ["RIGHT"])], "record b.*has no verdicts"),
        (
            [verdict_row("a", ["x"], ["RIGHT"]), verdict_row("b", ["x", "y"], ["RIGHT"] * 2)],
            "record b.*other steps",
        ),
    ],
)
def test_a_record_without_usable_verdicts_is_an_error_or_counted(tmp_path, verdicts, reason):
    labels = write(tmp_path / "truth.jsonl", [record("a", ["x"], -1), record("b", ["x"], 0)])
    path = write(tmp_path / "verdicts.jsonl", verdicts)
    with pytest.raises(RecordError, match=reason):
        run(config(tmp_path, labels, verdicts=path))
    assert not (tmp_path / "out").exists()
    report = run(config(tmp_path, labels, verdicts=path, on_error="skip"))
    assert report.counts["labelled records without usable verdicts"] == 1
    assert report.counts["solutions measured"] == 1


def test_rejected_lines_are_counted_and_named(tmp_path, model, rows):
    labels = write(tmp_path / "labels.jsonl", [*rows[:40], {"id": "odd"}, *rows[40:]])
    report = run(config(tmp_path, labels, model=model, on_error="skip", calibrator="none", threshold=0.5))
    assert report.counts["labels: lines rejected"] == 1
    assert any(":41 was skipped" in note for note in report.notes)


def test_what_cannot_be_evaluated_leaves_nothing_behind(tmp_path, model, rows):
    unlabelled = write(tmp_path / "u.jsonl", [r | {"labels": [-100] * len(r["labels"])} for r in rows])
    one_class = write(tmp_path / "o.jsonl", [r | {"labels": [1] * len(r["labels"])} for r in rows])
    empty = write(tmp_path / "e.jsonl", [])
    for labels, kind, reason in [
        (unlabelled, InputError, "no step has a known label"),
        (one_class, InputError, "are right"),
        (empty, InputError, "no record"),
        (str(tmp_path / "missing.jsonl"), InputError, "no such file"),
    ]:
        with pytest.raises(kind, match=reason):
            run(config(tmp_path, labels, model=model))
    with pytest.raises(ModelError, match="no such model folder"):
        run(config(tmp_path, write(tmp_path / "l.jsonl", rows), model=str(tmp_path / "nowhere")))
    assert not (tmp_path / "out").exists()
    assert checkpoint.read_info(model).calibrator is None


def test_contradictory_settings_are_told_all_at_once(tmp_path):
    settings = {
        "calibrator": "beta",
        "threshold": 2.0,
        "n_bins": 0,
        "calibration_share": 1.0,
        "on_error": "x",
    }
    with pytest.raises(ConfigError) as told:
        run(config(tmp_path, "labels.jsonl", **settings))
    for part in (
        "either model or verdicts",
        "calibrator is one of",
        "threshold",
        "n_bins",
        "calibration_share",
    ):
        assert part in str(told.value)


def test_the_command_prints_the_numbers_and_exits_with_0_or_2(tmp_path, capsys):
    labels = write(tmp_path / "truth.jsonl", [record("a", ["x"], 0), record("b", ["x"], -1)])
    verdicts = [verdict_row("a", ["x"], ["WRONG"]), verdict_row("b", ["x"], ["RIGHT"])]
    flags = ["--labels", labels, "--output", str(tmp_path / "out")]
    verdict_file = write(tmp_path / "v.jsonl", verdicts)
    assert main(["evaluate", *flags, "--verdicts", verdict_file, "--resamples", "9"]) == 0
    assert re.search(r"\| recall +\| 1\.000", capsys.readouterr().out)
    assert main(["evaluate", *flags]) == 2
    assert "give either model or verdicts" in capsys.readouterr().err


def test_the_recipe_is_a_complete_config(repository):
    recipe = repository / "recipes" / "tiny" / "evaluate.yaml"
    parse_config(EvaluateConfig, ["--config", str(recipe)], prog="prm evaluate", description="").check()


def test_steps_behind_a_first_error_can_be_left_out(tmp_path, model, labels, rows):
    report = run(config(tmp_path, labels, model=model, seed=5, until_first_error=True))
    held_out = [r for r in rows if not is_for_calibration(r["prompt"], seed=5)]
    used = [r["labels"].index(0) + 1 if 0 in r["labels"] else len(r["labels"]) for r in held_out]
    assert report.counts["test steps used"] == sum(used)
    every = [r["labels"].index(0) + 1 if 0 in r["labels"] else len(r["labels"]) for r in rows]
    behind = sum(len(r["labels"]) for r in rows) - sum(every)
    assert report.counts["steps behind a first error, left out"] == behind > 0
    assert report.numbers["step_auroc"].value == report.numbers["step_auroc_at_risk"].value
