"""With the step scores switched off, our trainer is trl's own, number for number."""

import pytest
import torch
from toy_policy import character_tokenizer, random_llama

from labeling.records import Problem
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.steps import segment
from rl.step_source import JudgedCompletion
from rl.trainers.step_grpo import StepGRPOConfig, StepGRPOTrainer, problems_dataset
from rl.trl_names import GRPOConfig, GRPOTrainer

PROBLEMS = [Problem(id=f"p{i}", text=f"what is {i}+{i}?", answer=str(2 * i)) for i in range(8)]


def outcome_of(text):
    """Three levels, so that groups have spread; None for some, so that unscored ones occur."""
    return None if text[:1] == "a" else (len(text) % 3) / 2


class Source:
    name = "lengths"

    def judge(self, problems, completions):
        return [
            JudgedCompletion(
                spans=tuple((s.start, s.end) for s in segment(text, "line").steps),
                scores=tuple(0.1 + 0.8 * (len(s.text) % 2) for s in segment(text, "line").steps),
                outcome=outcome_of(text),
            )
            for text in completions
        ]


def reward(completions, **columns):
    return [outcome_of(text) for text in completions]


def common(folder, **changes):
    return {
        "output_dir": str(folder),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 24,
        "max_steps": 3,
        "logging_steps": 1,
        # Plain descent keeps rounding where it is; Adam would divide it by gradients that are about 0.
        "learning_rate": 0.1,
        "optim": "sgd",
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "use_cpu": True,
        "bf16": False,
        **changes,
    }


def ours(folder, method, **changes):
    model, tokenizer = random_llama(), character_tokenizer()
    return StepGRPOTrainer(
        model,
        Source(),
        StepGRPOConfig(method=method, process_weight=0.0, **common(folder, **changes)),
        problems_dataset(PROBLEMS),
        processing_class=tokenizer,
        sampler=TransformersSampler(model, tokenizer),
    )


def trls(folder, scale_rewards, **changes):
    """trl's own trainer, sampling with the same keys as ours."""
    model, tokenizer = random_llama(), character_tokenizer()
    sampler = TransformersSampler(model, tokenizer)
    return GRPOTrainer(
        model,
        reward_funcs=[reward],
        args=GRPOConfig(scale_rewards=scale_rewards, **common(folder, **changes)),
        train_dataset=problems_dataset(PROBLEMS),
        processing_class=tokenizer,
        rollout_func=lambda prompts, trainer: _rollout(prompts, trainer, sampler),
    )


def _rollout(prompts, trainer, sampler):
    ids = [trainer._tokenizer(prompt + "\n")["input_ids"] for prompt in prompts]
    keys = [f"train/{trainer.state.global_step}/0/{i}" for i in range(len(prompts))]
    sampled = sampler.sample_ids(ids, max_tokens=24, keys=keys)
    return {"prompt_ids": ids, "completion_ids": [s.ids for s in sampled], "logprobs": None}


def one_batch(trainer):
    rows = [row for row in trainer.train_dataset for _ in range(4)]
    trainer.model.train()
    return trainer._generate_and_score_completions(rows)


@pytest.mark.parametrize(("method", "scale_rewards"), [("dr_grpo", "none"), ("grpo", "group")])
def test_advantages_equal_those_of_trl(tmp_path, method, scale_rewards):
    mine = one_batch(ours(tmp_path / "ours", method))
    theirs = one_batch(trls(tmp_path / "trl", scale_rewards))
    assert torch.equal(mine["completion_ids"], theirs["completion_ids"])
    expected = theirs["advantages"].unsqueeze(1) * theirs["completion_mask"]
    assert theirs["advantages"].abs().max() > 0.1
    torch.testing.assert_close(mine["advantages"], expected, atol=1e-6, rtol=0)


def test_leave_one_out_advantages_are_those_of_rloo(tmp_path):
    mine = one_batch(ours(tmp_path / "ours", "rloo"))
    texts = character_tokenizer().batch_decode(mine["completion_ids"], skip_special_tokens=True)
    mask = mine["completion_mask"]
    for start in range(0, len(texts), 4):
        rewards = [outcome_of(text) for text in texts[start : start + 4]]
        for i, r in enumerate(rewards):
            peers = [p for j, p in enumerate(rewards) if j != i and p is not None]
            want = 0.0 if r is None or not peers else r - sum(peers) / len(peers)
            row = mine["advantages"][start + i]
            torch.testing.assert_close(row, want * mask[start + i].float(), atol=1e-6, rtol=0)


@pytest.mark.parametrize("loss_type", ["dr_grpo", "dapo", "grpo"])
def test_losses_gradients_and_weights_equal_those_of_trl(tmp_path, loss_type):
    mine = ours(tmp_path / "ours", "dr_grpo", loss_type=loss_type)
    theirs = trls(tmp_path / "trl", "none", loss_type=loss_type)
    mine.train()
    theirs.train()
    for name in ("loss", "grad_norm", "reward"):
        a = [row[name] for row in mine.state.log_history if name in row]
        b = [row[name] for row in theirs.state.log_history if name in row]
        assert len(a) == 3
        assert a == pytest.approx(b, abs=1e-6)
    for p, q in zip(mine.model.parameters(), theirs.model.parameters(), strict=True):
        torch.testing.assert_close(p, q, atol=1e-6, rtol=0)


def test_micro_batches_give_the_same_step_as_one_batch(tmp_path):
    whole = ours(tmp_path / "whole", "step_grpo", max_steps=2)
    parts = ours(
        tmp_path / "parts",
        "step_grpo",
        max_steps=2,
        per_device_train_batch_size=2,
        gradient_accumulation_steps=4,
    )
    whole.train()
    parts.train()
    for p, q in zip(whole.model.parameters(), parts.model.parameters(), strict=True):
        torch.testing.assert_close(p, q, atol=1e-6, rtol=0)
