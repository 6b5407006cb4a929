import json
import math
import shutil
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file
from transformers import AutoModelForTokenClassification, BertConfig, BertForTokenClassification

from labeling.errors import InputError, ModelError, ToolkitError
from prm import checkpoint
from prm.batches import by_length, is_causal
from prm.calibration.calibrators import fit_calibrator
from prm.formats.class_head import ClassHeadFormat
from prm.model import StepScorer

PROMPTS = ["1 + 2?", "what?", "3 + 3 + 4?", "x"]
STEPS = [["1 + 2 = 3", "3."], ["I do not know."], ["3 + 3 = 6", "6 + 4 = 9", "So 9.", "A: 9"], []]


@pytest.fixture(scope="module")
def scorer(prm_folder):
    return StepScorer.from_pretrained(prm_folder)


def flat(scores):
    return np.array([score for own in scores for score in own])


def test_each_step_gets_one_score_in_order(scorer, prm_folder, byte_tokenizer):
    scores = scorer.score(PROMPTS, STEPS)
    assert [len(own) for own in scores] == [2, 1, 4, 0]
    # By another road: the plain model, ids joined here, softmax over both classes.
    model = AutoModelForTokenClassification.from_pretrained(prm_folder)
    for prompt, steps, own in zip(PROMPTS, STEPS, scores, strict=True):
        text, ends = prompt, []
        for step in steps:
            text += step + "\n"
            ends.append(len(text))
        ids = torch.tensor([[256, *byte_tokenizer(text, add_special_tokens=False)["input_ids"]]])
        expected = torch.softmax(model(ids).logits[0], -1)[ends, 1].tolist()
        assert own == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("batch_tokens", [1, 40, 100000])
def test_scores_do_not_depend_on_the_batch(scorer, batch_tokens):
    alone = [scorer.score([p], [s])[0] for p, s in zip(PROMPTS, STEPS, strict=True)]
    together = scorer.score(PROMPTS, STEPS, batch_tokens=batch_tokens)
    assert flat(together) == pytest.approx(flat(alone), abs=1e-6)
    backwards = scorer.score(PROMPTS[::-1], STEPS[::-1], batch_tokens=batch_tokens)[::-1]
    assert flat(backwards) == pytest.approx(flat(alone), abs=1e-6)


def test_scores_do_not_depend_on_the_side_the_tokenizer_pads(prm_folder, scorer, tmp_path):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    file = folder / "tokenizer_config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"padding_side": "left"}))
    left = StepScorer.from_pretrained(folder)
    assert left.layout.tokenizer.padding_side == "left"
    assert left.score(PROMPTS, STEPS) == scorer.score(PROMPTS, STEPS)


def test_a_model_that_looks_ahead_is_given_a_mask(byte_tokenizer, prm_folder):
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=257, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16
    )
    both_ways = BertForTokenClassification(config).eval()
    assert not is_causal(both_ways)
    assert is_causal(checkpoint.load_model(prm_folder))
    bert = StepScorer(both_ways, ClassHeadFormat(byte_tokenizer, max_tokens=100))
    alone = [bert.score([p], [s])[0] for p, s in zip(PROMPTS, STEPS, strict=True)]
    assert flat(bert.score(PROMPTS, STEPS)) == pytest.approx(flat(alone), abs=1e-6)


def test_a_solution_beyond_the_context_spoils_no_other(scorer):
    prompts, steps = [PROMPTS[0], "long"], [STEPS[0], ["x" * 200, "y"]]
    with pytest.raises(ModelError, match=r"solution 1: 208 tokens \(2 steps\) do not fit .* 128 tokens"):
        scorer.score(prompts, steps)
    scores, reason = scorer.score_or_reason(prompts, steps)
    assert scores == pytest.approx(scorer.score(prompts[:1], steps[:1])[0], abs=1e-6)
    assert "208 tokens" in reason


def test_what_is_not_text_is_refused(scorer):
    with pytest.raises(InputError, match="1 prompts for 4 solutions"):
        scorer.score("1+2?", STEPS)  # as many letters as solutions: their number alone tells nothing
    with pytest.raises(InputError, match="steps of solution 0"):
        scorer.score(["a"], ["1 + 2 = 3"])


def test_what_the_labels_meant_comes_back_and_the_models_context_is_the_limit(prm_folder, tmp_path):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    info = checkpoint.read_info(folder)
    checkpoint.write_info(folder, replace(info, semantics="value", max_tokens=16))
    scorer = StepScorer.from_pretrained(folder)
    assert scorer.semantics == "value"
    assert len(scorer.score(["a" * 40], [["b"]])[0]) == 1  # longer than any layout in training


def test_nothing_is_dropped_out_of_a_model_in_training_when_it_scores_or_is_saved(
    base_folder, byte_tokenizer, tmp_path
):
    torch.manual_seed(0)
    model = checkpoint.load_classifier(base_folder, is_head_trained=False)
    model.dropout.p = 0.5
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=128)
    info = checkpoint.PRMInfo(separator="\n", max_tokens=128, label_kind="hard")
    model.train()
    assert checkpoint.save(model, layout, tmp_path / "prm", info, probe=(PROMPTS, STEPS)) <= 1e-5
    model.train()
    scorer = StepScorer(model, layout)
    assert scorer.score(PROMPTS, STEPS) == scorer.score(PROMPTS, STEPS)


def test_a_calibrator_is_kept_with_the_model_and_applied_on_request(prm_folder, tmp_path):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    raw = StepScorer.from_pretrained(folder)
    with pytest.raises(ModelError, match="no calibrator"):
        raw.score(PROMPTS, STEPS, is_calibrated=True)
    rng = np.random.default_rng(0)
    p = rng.random(200)
    calibrator = fit_calibrator("temperature", p, rng.random(200) < p**2)
    before = checkpoint.read_info(folder)
    checkpoint.update_calibration(folder, calibrator.to_dict())
    after = checkpoint.read_info(folder)
    assert (after.separator, after.max_tokens, after.versions) == (
        before.separator,
        before.max_tokens,
        before.versions,
    )
    scorer = StepScorer.from_pretrained(folder)
    assert scorer.score(PROMPTS, STEPS) == raw.score(PROMPTS, STEPS)
    mapped = scorer.score(PROMPTS, STEPS, is_calibrated=True)
    assert [len(own) for own in mapped] == [2, 1, 4, 0]
    assert flat(mapped) == pytest.approx(calibrator(flat(raw.score(PROMPTS, STEPS))), abs=1e-9)
    assert scorer.score_or_reason(PROMPTS, STEPS, is_calibrated=True) == mapped
    assert scorer.calibrated([]) == []
    checkpoint.update_calibration(folder, None)
    assert checkpoint.read_info(folder).calibrator is None


def test_a_folder_that_is_no_prm_is_refused(prm_folder, base_folder, tmp_path):
    with pytest.raises(ModelError, match="no such model folder"):
        StepScorer.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(ModelError, match=r"holds no prm\.json"):
        StepScorer.from_pretrained(base_folder)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="no token-classification model"):
        checkpoint.load_classifier(tmp_path / "empty", is_head_trained=True)
    # A head that was never trained must not pass for one.
    with pytest.raises(ModelError, match=r"weights are missing: score\.bias, score\.weight"):
        checkpoint.load_classifier(base_folder, is_head_trained=True)


def test_missing_layers_are_refused_even_before_training(base_folder, tmp_path):
    folder = shutil.copytree(base_folder, tmp_path / "holed")
    weights = load_file(folder / "model.safetensors")
    name = next(n for n in weights if "layers.1.mlp.up_proj" in n)
    save_file({n: w for n, w in weights.items() if n != name}, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(ModelError, match=r"layers\.1\.mlp\.up_proj"):
        checkpoint.load_classifier(folder, is_head_trained=False)


def test_a_damaged_or_foreign_info_file_is_refused(prm_folder, tmp_path):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    saved = json.loads((folder / "prm.json").read_text())
    (folder / "prm.json").write_text(json.dumps(saved | {"format": "sign_tokens"}))
    with pytest.raises(ModelError, match="format 'sign_tokens' is unknown"):
        checkpoint.read_info(folder)
    (folder / "prm.json").write_text("{")
    with pytest.raises(ModelError, match="damaged"):
        checkpoint.read_info(folder)


@pytest.mark.parametrize(
    ("name", "value"), [("separator", 5), ("max_tokens", "x"), ("calibrator", "x"), ("semantics", None)]
)
def test_a_field_of_the_wrong_kind_is_named(prm_folder, tmp_path, name, value):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    saved = json.loads((folder / "prm.json").read_text())
    (folder / "prm.json").write_text(json.dumps(saved | {name: value}))
    with pytest.raises(ModelError, match=f"damaged: {name}"):
        checkpoint.read_info(folder)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("tokenizer.json", "[]"),
        ("config.json", '{"model_type": "llama", "hidden_size": "x"}'),
        ("model.safetensors", "junk"),
    ],
)
def test_a_damaged_file_of_a_model_is_refused(prm_folder, tmp_path, name, content):
    folder = shutil.copytree(prm_folder, tmp_path / "prm")
    (folder / name).write_text(content)
    with pytest.raises(ModelError, match="can be read"):
        StepScorer.from_pretrained(folder)


def test_a_damaged_adapter_is_refused(tmp_path):
    (tmp_path / "adapter_config.json").write_text("{")
    (tmp_path / "adapter_model.safetensors").write_text("junk")
    with pytest.raises(ModelError, match="weights cannot be read"):
        checkpoint.load_model(tmp_path)
    save_file({"base_model.model.score.weight": torch.zeros(2, 2)}, tmp_path / "adapter_model.safetensors")
    with pytest.raises(ModelError, match="adapter cannot be read"):
        checkpoint.load_model(tmp_path)


def test_a_score_that_is_not_a_number_is_an_error(prm_folder, byte_tokenizer):
    model = checkpoint.load_model(prm_folder)
    with torch.no_grad():
        model.score.bias.fill_(math.nan)
    scorer = StepScorer(model, ClassHeadFormat(byte_tokenizer, max_tokens=100))
    with pytest.raises(ModelError, match="not a finite number"):
        scorer.score(PROMPTS, STEPS)


def test_a_checkpoint_that_scores_differently_is_our_fault(prm_folder, byte_tokenizer, tmp_path):
    model = checkpoint.load_model(prm_folder)
    # The hook stands for anything that the saved weights do not hold.
    model.score.register_forward_hook(lambda module, inputs, output: output * 2)
    info = checkpoint.read_info(prm_folder)
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=100)
    with pytest.raises(ToolkitError, match="scores differently") as raised:
        checkpoint.save(model, layout, tmp_path / "prm", info, probe=(PROMPTS, STEPS))
    assert raised.value.exit_code == 1


@given(st.lists(st.integers(1, 30), max_size=12), st.integers(1, 60))
def test_batches_hold_everything_once_and_keep_to_the_limit(lengths, batch_tokens):
    batches = by_length(lengths, batch_tokens)
    assert sorted(index for batch in batches for index in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[k] for k in batch) * len(batch) <= batch_tokens
