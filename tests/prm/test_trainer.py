import json

import pytest
import torch
from datasets import Dataset
from peft import LoraConfig, PeftModel, TaskType
from safetensors.torch import load_file

from labeling.errors import ConfigError, InputError, ModelError, RecordError
from prm import checkpoint
from prm.batches import StepCollator
from prm.formats.class_head import ClassHeadFormat
from prm.model import StepScorer
from prm.trainer import PRMConfig, PRMTrainer, prepare, step_metrics, training_targets, with_adapter

ROWS = [
    {
        "prompt": f"{a} + {b}?",
        "completions": [f"{a} + {b} = {a + b + wrong}.", f"So {a + b}."],
        "labels": [1 - wrong, 1],
    }
    for a, b, wrong in [
        (1, 2, 0),
        (3, 4, 1),
        (5, 2, 0),
        (6, 1, 1),
        (2, 2, 0),
        (1, 1, 1),
        (4, 4, 0),
        (0, 7, 1),
    ]
]


def settings(folder, **more):
    defaults = {
        "learning_rate": 5e-3,
        "max_steps": 5,
        "per_device_train_batch_size": 4,
        "report_to": "none",
        "disable_tqdm": True,
        "save_strategy": "no",
        "use_cpu": True,
        "dataloader_pin_memory": False,
        "seed": 0,
    }
    return PRMConfig(output_dir=str(folder), **(defaults | more))


def classifier(folder, seed=0):
    torch.manual_seed(seed)
    return checkpoint.load_classifier(folder, is_head_trained=False)


def lora(**more):
    defaults = {"task_type": TaskType.TOKEN_CLS, "r": 4, "target_modules": ["q_proj", "v_proj"]}
    return LoraConfig(**(defaults | more))


def trainer(base_folder, byte_tokenizer, folder, rows=ROWS, *, peft_config=None, seed=0, **more):
    return PRMTrainer(
        classifier(base_folder, seed),
        settings(folder, **more),
        Dataset.from_list(rows),
        byte_tokenizer,
        peft_config=peft_config,
    )


def score(model, byte_tokenizer, rows=ROWS[:3]):
    scorer = StepScorer(model, ClassHeadFormat(byte_tokenizer, max_tokens=128))
    return torch.tensor(scorer.score([r["prompt"] for r in rows], [r["completions"] for r in rows]))


def test_prm_02_an_adapter_carries_its_head_to_a_fresh_base(golden, base_folder, byte_tokenizer, tmp_path):
    expected = golden("prm.json")["prm-02"]["expected"]
    trained = trainer(base_folder, byte_tokenizer, tmp_path / "run", peft_config=lora(), seed=1)
    trained.train()
    before = score(trained.model, byte_tokenizer)
    trained.save_model(str(tmp_path / "adapter"))
    head = trained.model.base_model.model.score.modules_to_save["default"].weight
    saved = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    names = [name for name in saved if name.endswith("score.weight")]
    assert bool(names) is expected["adapter_holds_head_weights"]
    assert torch.equal(saved[names[0]], head) is expected["head_weights_equal_trained_head"]
    fresh = classifier(base_folder, seed=2)
    assert not torch.allclose(fresh.score.weight, head)
    again = PeftModel.from_pretrained(fresh, str(tmp_path / "adapter"))
    assert (score(again, byte_tokenizer) - before).abs().max() <= expected["max_abs_difference"]
    # The checkpoint is a PRM of its own: the scorer finds base, adapter, head and separator by itself.
    scorer = StepScorer.from_pretrained(tmp_path / "adapter")
    ours = torch.tensor(scorer.score([r["prompt"] for r in ROWS[:3]], [r["completions"] for r in ROWS[:3]]))
    assert (ours - before).abs().max() <= expected["max_abs_difference"]


def test_prm_02_settings_that_would_lose_the_head_are_refused(base_folder):
    model = classifier(base_folder)
    target_modules = ["q_proj", "v_proj"]
    modules_to_save = target_modules.append("score")  # the mistake: append returns None
    assert modules_to_save is None
    with pytest.raises(ConfigError, match=r"append returns None"):
        with_adapter(model, lora(target_modules=target_modules, modules_to_save=modules_to_save))
    with pytest.raises(ConfigError, match="head 'score' would not be saved"):
        with_adapter(model, lora(task_type=None, modules_to_save=None))
    for pattern in ("all-linear", ".*(q_proj|score)"):
        with pytest.raises(ConfigError, match="among target_modules"):
            with_adapter(classifier(base_folder), lora(target_modules=pattern))
    assert isinstance(with_adapter(model, lora(task_type=None, modules_to_save=["score"])), PeftModel)


@pytest.mark.parametrize(
    "targets",
    [{"target_modules": ".*(q_proj|v_proj)"}, {"target_modules": "all-linear", "exclude_modules": ["score"]}],
)
def test_target_modules_by_pattern_leave_the_head_to_be_saved_in_full(base_folder, tmp_path, targets):
    adapted = with_adapter(classifier(base_folder), lora(**targets))
    adapted.save_pretrained(tmp_path / "adapter")
    checkpoint.check_adapter_head(tmp_path / "adapter")
    saved = load_file(tmp_path / "adapter" / "adapter_model.safetensors")
    assert any(name.endswith("score.weight") for name in saved)


def test_an_adapter_without_its_head_is_refused(base_folder, byte_tokenizer, tmp_path):
    from safetensors.torch import save_file

    trained = trainer(base_folder, byte_tokenizer, tmp_path / "run", peft_config=lora(), max_steps=1)
    trained.save_model(str(tmp_path / "adapter"))
    file = tmp_path / "adapter" / "adapter_model.safetensors"
    save_file({name: w for name, w in load_file(file).items() if "score" not in name}, file)
    with pytest.raises(ModelError, match="no weights of the head"):
        StepScorer.from_pretrained(tmp_path / "adapter")


def test_a_saved_adapter_is_merged_into_a_plain_folder_with_equal_scores(
    base_folder, byte_tokenizer, tmp_path
):
    from transformers import AutoModelForTokenClassification

    trained = trainer(base_folder, byte_tokenizer, tmp_path / "run", peft_config=lora())
    trained.train()
    before = score(trained.model, byte_tokenizer)
    probe = ([r["prompt"] for r in ROWS], [r["completions"] for r in ROWS])
    difference = checkpoint.save(trained.model, trained.layout, tmp_path / "plain", trained.info, probe=probe)
    assert difference <= 1e-5
    plain = AutoModelForTokenClassification.from_pretrained(tmp_path / "plain")
    assert plain.config.id2label == {0: "wrong", 1: "right"}
    assert (score(plain, byte_tokenizer) - before).abs().max() <= 1e-5


def test_accumulated_micro_batches_move_the_weights_like_one_batch(base_folder, byte_tokenizer, tmp_path):
    # Rows of one, two and three labelled steps: a mean of means would differ.
    rows = [
        {
            "prompt": f"p{k}",
            "completions": ["a = 1", "b = 2", "c = 3"][: k % 3 + 1],
            "labels": [1, 0, 1][: k % 3 + 1],
        }
        for k in range(6)
    ]
    weights = []
    for micro, accumulated in ((6, 1), (2, 3)):
        run = trainer(
            base_folder,
            byte_tokenizer,
            tmp_path / f"run{micro}",
            rows,
            max_steps=1,
            per_device_train_batch_size=micro,
            gradient_accumulation_steps=accumulated,
            optim="sgd",
            learning_rate=0.5,
            max_grad_norm=1e9,
        )
        run.train()
        weights.append(run.model.score.weight.detach().clone())
    assert not torch.allclose(weights[0], classifier(base_folder).score.weight, atol=1e-3)
    assert torch.allclose(weights[0], weights[1], atol=1e-5)


def test_training_learns_the_labels(base_folder, byte_tokenizer, tmp_path):
    run = trainer(base_folder, byte_tokenizer, tmp_path, max_steps=25, learning_rate=2e-2)
    before = score(run.model, byte_tokenizer, ROWS)
    run.train()
    after = score(run.model, byte_tokenizer, ROWS)
    labels = torch.tensor([row["labels"] for row in ROWS]).float()
    assert (after - labels).abs().mean() < 0.5 * (before - labels).abs().mean()


def test_prm_01_boolean_labels_never_turn_the_ignored_value_into_true(byte_tokenizer):
    rows = Dataset.from_list([{"prompt": "3 + 4?", "completions": ["7.", "So 8."], "labels": [True, False]}])
    laid_out, _ = prepare(rows, ClassHeadFormat(byte_tokenizer, max_tokens=100), "hard")
    batch = StepCollator(0)([laid_out[0]])
    assert batch["labels"].dtype == torch.int64
    assert [label for label in batch["labels"][0].tolist() if label != -100] == [1, 0]


def test_prm_03_fractions_are_compared_with_one_half_or_kept(golden):
    case = golden("prm.json")["prm-03"]
    for row, hard, soft in zip(
        case["input"]["rows"], case["expected"]["hard_labels"], case["expected"]["soft_labels"], strict=True
    ):
        labels = [float(label) for label in row]
        if isinstance(hard, str):
            with pytest.raises(RecordError, match=hard.removeprefix("error: ")):
                training_targets(labels, "hard")
            with pytest.raises(RecordError):
                training_targets(labels, "soft")
        else:
            assert training_targets(labels, "hard") == hard
            assert training_targets(labels, "soft") == soft
            assert all(type(target) is int for target in training_targets(labels, "hard"))


def test_soft_labels_reach_the_loss_as_fractions(byte_tokenizer):
    rows = Dataset.from_list([{"prompt": "q", "completions": ["a", "b", "c"], "labels": [0.9, None, 1.0]}])
    laid_out, counts = prepare(rows, ClassHeadFormat(byte_tokenizer, max_tokens=100), "soft")
    labels = StepCollator(0)([laid_out[0]])["labels"][0]
    assert labels.dtype == torch.float32
    assert labels[labels != -100].tolist() == pytest.approx([0.9, 1.0])
    assert counts["steps unknown"] == 1


def test_rows_without_a_labelled_step_are_left_out_and_counted(byte_tokenizer):
    rows = Dataset.from_list(
        [
            {"prompt": "q", "completions": ["a", "b"], "labels": [1, -100]},
            {"prompt": "q", "completions": ["a"], "labels": [-100]},
            {"prompt": "q" * 30, "completions": ["a"], "labels": [1]},
            {"prompt": "q" * 10, "completions": ["a", "b" * 20], "labels": [1, 0]},
        ]
    )
    laid_out, counts = prepare(rows, ClassHeadFormat(byte_tokenizer, max_tokens=20), "hard")
    assert len(laid_out) == 2
    assert counts == {
        "rows": 4,
        "rows without a labelled step": 2,
        "steps": 6,
        "steps labelled": 2,
        "steps unknown": 2,
        "steps cut": 2,
    }
    assert [len(row["input_ids"]) for row in laid_out] == [len(row["labels"]) for row in laid_out]
    with pytest.raises(InputError, match="none of 1 rows has a labelled step within 20 tokens"):
        prepare(rows.select([1]), ClassHeadFormat(byte_tokenizer, max_tokens=20), "hard")
    with pytest.raises(InputError, match="no column labels"):
        prepare(rows.remove_columns("labels"), ClassHeadFormat(byte_tokenizer, max_tokens=20), "hard")


def test_padding_goes_to_the_right_whatever_the_tokenizer_says(byte_tokenizer):
    features = [{"input_ids": [5, 6, 7], "labels": [-100, -100, 1]}, {"input_ids": [5], "labels": [0]}]
    batch = StepCollator(9)(features)
    assert batch["input_ids"].tolist() == [[5, 6, 7], [5, 9, 9]]
    assert batch["attention_mask"].tolist() == [[1, 1, 1], [1, 0, 0]]
    assert batch["labels"].tolist() == [[-100, -100, 1], [0, -100, -100]]


def test_evaluation_pools_all_steps(base_folder, byte_tokenizer, tmp_path):
    from transformers import EvalPrediction

    metrics = step_metrics(
        EvalPrediction(
            predictions=torch.tensor([[0.0, 2.0], [-1.0, 9.0]]).numpy(),
            label_ids=torch.tensor([[1, 0], [0, -100]]).numpy(),
        )
    )
    # By hand: log 2, log(1 + e^2), log(1 + e^-1); right, wrong, right (0.5 counts as right).
    assert metrics["step_loss"] == pytest.approx((0.693147 + 2.126928 + 0.313262) / 3, abs=1e-6)
    assert metrics["step_accuracy"] == pytest.approx(2 / 3)
    run = PRMTrainer(
        classifier(base_folder),
        settings(tmp_path, per_device_eval_batch_size=3),
        Dataset.from_list(ROWS),
        byte_tokenizer,
        eval_dataset=Dataset.from_list(ROWS),
    )
    scores = score(run.model, byte_tokenizer, ROWS)
    labels = torch.tensor([row["labels"] for row in ROWS])
    agreement = ((scores >= 0.5) == (labels == 1)).float().mean().item()
    assert run.evaluate()["eval_step_accuracy"] == pytest.approx(agreement)


def test_settings_that_cannot_work_are_refused(base_folder, byte_tokenizer, tmp_path):
    with pytest.raises(ConfigError, match="label_kind is 'fuzzy'"):
        settings(tmp_path, label_kind="fuzzy")
    with pytest.raises(ConfigError, match="label_semantics is 'truth'"):
        settings(tmp_path, label_semantics="truth")
    with pytest.raises(ConfigError, match="context holds 128"):
        trainer(base_folder, byte_tokenizer, tmp_path, max_tokens=129)
    three = classifier(base_folder)
    three.config.num_labels = 3
    with pytest.raises(ConfigError, match="the model's classes"):
        PRMTrainer(three, settings(tmp_path), Dataset.from_list(ROWS), byte_tokenizer)


def test_what_training_knew_stays_in_one_extra_file(base_folder, byte_tokenizer, tmp_path):
    run = trainer(base_folder, byte_tokenizer, tmp_path / "run", label_kind="soft", max_tokens=100)
    run.save_model(str(tmp_path / "saved"))
    saved = json.loads((tmp_path / "saved" / "prm.json").read_text())
    assert (saved["separator"], saved["max_tokens"], saved["label_kind"]) == ("\n", 100, "soft")
    assert saved["calibrator"] is None
    assert "torch" in saved["versions"]
