"""The trainer gives every sampled token the advantage of its step, and nothing to padding."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from toy_policy import character_tokenizer, random_llama

from labeling.errors import ConfigError, InputError
from labeling.records import Problem
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.steps import segment
from rl.advantages import group_advantages
from rl.step_source import JudgedCompletion
from rl.trainers.group_batch import batch_advantages
from rl.trainers.group_sizes import check_group_sizes
from rl.trainers.step_grpo import StepGRPOConfig, StepGRPOTrainer, problems_dataset


class DigitSource:
    """A step is right when it holds a digit; the outcome is right when the text has an even length."""

    name = "digits"

    def __init__(self):
        self.seen = []

    def judge(self, problems, completions):
        self.seen.append((list(problems), list(completions)))
        judged = []
        for text in completions:
            steps = segment(text, "line").steps
            judged.append(
                JudgedCompletion(
                    spans=tuple((s.start, s.end) for s in steps),
                    scores=tuple(0.9 if any(c.isdigit() for c in s.text) else 0.2 for s in steps),
                    outcome=float(len(text) % 2 == 0),
                )
            )
        return judged


class ShortSource(DigitSource):
    name = "one-value-source"

    def judge(self, problems, completions):
        return super().judge(problems, completions)[:1]


class NothingKnown(DigitSource):
    name = "nothing-known"

    def judge(self, problems, completions):
        return [JudgedCompletion(spans=(), scores=()) for _ in completions]


class NoSteps(DigitSource):
    def judge(self, problems, completions):
        judged = super().judge(problems, completions)
        return [dataclasses.replace(record, spans=(), scores=()) for record in judged]


PROBLEMS = [Problem(id=f"p{i}", text=f"what is {i}+{i}?", answer=str(2 * i), meta={"n": i}) for i in range(8)]


def settings(folder, **changes):
    values = {
        "output_dir": str(folder),
        "per_device_train_batch_size": 8,
        "num_generations": 4,
        "max_completion_length": 24,
        "max_steps": 2,
        "logging_steps": 1,
        "learning_rate": 1e-2,
        "report_to": "none",
        "save_strategy": "no",
        "disable_tqdm": True,
        "use_cpu": True,
    }
    return StepGRPOConfig(**{**values, **changes})


def trainer_of(folder, source, *, seed=0, is_sampling_ours=True, **changes):
    model, tokenizer = random_llama(seed), character_tokenizer()
    return StepGRPOTrainer(
        model,
        source,
        settings(folder, **changes),
        problems_dataset(PROBLEMS),
        processing_class=tokenizer,
        sampler=TransformersSampler(model, tokenizer) if is_sampling_ours else None,
    )


def one_batch(trainer):
    rows = [row for row in trainer.train_dataset.select(range(2)) for _ in range(trainer.num_generations)]
    trainer.model.train()
    return trainer._generate_and_score_completions(rows)


@pytest.mark.parametrize("is_sampling_ours", [True, False])
def test_each_token_has_the_advantage_of_its_step_and_padding_exactly_zero(tmp_path, is_sampling_ours):
    source = DigitSource()
    trainer = trainer_of(tmp_path, source, is_sampling_ours=is_sampling_ours)
    output = one_batch(trainer)
    ((problems, texts),) = source.seen
    judged = source.judge(problems, texts)
    table = output["advantages"].numpy()
    mask = output["completion_mask"].numpy().astype(bool)
    assert table.shape == mask.shape
    assert (table[~mask] == 0).all()
    for start in (0, 4):
        group = judged[start : start + 4]
        expected = group_advantages(
            [j.scores for j in group], [j.outcome for j in group], settings=trainer.args.method_settings
        )
        for i, (record, text) in enumerate(zip(group, texts[start : start + 4], strict=True)):
            ids = output["completion_ids"][start + i].numpy()[mask[start + i]]
            row = table[start + i, : len(ids)]
            # One character a token, none for a special one: a token's step is the number of steps that
            # began at or before its character.
            places = np.cumsum([0, *(ids > 1)])[:-1]
            begun = [sum(a <= place for a, _ in record.spans) for place in places]
            of_token = [max(k - 1, 0) for k in begun]
            if record.spans:
                want = expected.advantages[i][of_token]
            else:
                want = np.full(len(row), expected.outcome[i])
            np.testing.assert_allclose(row, want, atol=1e-6, err_msg=repr(text))


def test_tokens_outside_every_step_have_the_advantage_of_the_outcome(tmp_path):
    source = NoSteps()
    output = one_batch(trainer_of(tmp_path, source))
    ((problems, texts),) = source.seen
    outcomes = np.array([record.outcome for record in source.judge(problems, texts)]).reshape(2, 4)
    # By hand: an outcome less the mean of the three others'.
    expected = (outcomes - (outcomes.sum(1, keepdims=True) - outcomes) / 3).ravel()
    assert np.abs(expected).max() > 0.1
    table, mask = output["advantages"].numpy(), output["completion_mask"].numpy()
    np.testing.assert_allclose(table, expected[:, None] * mask, atol=1e-6)


def test_problems_reach_the_source_whole_and_in_order(tmp_path):
    source = DigitSource()
    one_batch(trainer_of(tmp_path, source))
    ((problems, _),) = source.seen
    assert problems == [PROBLEMS[0]] * 4 + [PROBLEMS[1]] * 4


def test_training_moves_the_weights_and_logs_what_the_steps_were(tmp_path):
    trainer = trainer_of(tmp_path, DigitSource())
    before = torch.cat([p.detach().flatten().clone() for p in trainer.model.parameters()])
    trainer.train()
    after = torch.cat([p.detach().flatten() for p in trainer.model.parameters()])
    assert not torch.equal(before, after)
    row = trainer.state.log_history[0]
    for name in ("outcome", "score", "steps", "tokens_per_step", "filler", "unscored_completions"):
        assert f"step/{name}" in row
    for name in ("degenerate_outcome", "degenerate_process", "process_share", "undecided_steps"):
        assert 0 <= row[f"step/{name}"] <= 1
    assert row["step/filler"] is None


def test_equal_seeds_give_equal_training(tmp_path):
    weights = []
    for run in ("a", "b"):
        trainer = trainer_of(tmp_path / run, DigitSource())
        trainer.train()
        weights.append([p.detach().clone() for p in trainer.model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*weights, strict=True))


def test_nothing_scored_means_no_gradient_and_is_counted(tmp_path):
    trainer = trainer_of(tmp_path, NothingKnown())
    before = [p.detach().clone() for p in trainer.model.parameters()]
    trainer.train()
    assert all(torch.equal(a, b) for a, b in zip(before, trainer.model.parameters(), strict=True))
    row = trainer.state.log_history[0]
    assert row["step/unscored_completions"] == 8
    assert row["step/outcome"] is None


def test_a_group_where_all_is_equal_gets_exact_zeros():
    judged = [JudgedCompletion(spans=((0, 3),), scores=(0.7,), outcome=1.0)] * 4
    batch = batch_advantages(judged, group_size=4, settings=StepGRPOConfig("unused").method_settings)
    assert all((a == 0).all() for a in batch.of_steps)
    numbers = batch.metrics(judged, [3] * 4)
    assert numbers["degenerate_outcome"] == numbers["degenerate_process"] == 1
    assert math.isnan(numbers["process_share"])


def test_the_metrics_of_a_batch_worked_by_hand():
    judged = [
        JudgedCompletion(
            spans=((0, 1), (2, 3)), scores=(1.0, math.nan), outcome=1.0, is_filler=(False, True)
        ),
        JudgedCompletion(spans=((0, 4),), scores=(0.0,), outcome=None, is_filler=(False,), is_answered=False),
    ]
    batch = batch_advantages(judged, group_size=2, settings=StepGRPOConfig("unused").method_settings)
    numbers = batch.metrics(judged, [4, 5])
    assert numbers["outcome"] == 1.0
    assert numbers["score"] == 0.5
    assert numbers["steps"] == 1.5
    assert numbers["tokens_per_step"] == 3.0
    assert numbers["filler"] == 0.5
    assert numbers["unscored_completions"] == 1
    assert numbers["undecided_steps"] == 1
    assert numbers["unanswered"] == 0.5
    assert numbers["degenerate_outcome"] == 1
    assert numbers["process_share"] == 1.0


def test_a_source_that_answers_for_one_completion_only_is_named(tmp_path):
    with pytest.raises(InputError, match="'one-value-source' returned 1 value for 8 completions"):
        one_batch(trainer_of(tmp_path, ShortSource()))


def sizes(golden, name):
    return next(c for c in golden("group_sizes.json")["grpo-04"]["input"]["cases"] if c["name"] == name)


def build(folder, case):
    evaluating = {"do_eval": True, "eval_strategy": "steps", "eval_steps": 1} if case.get("eval") else {}
    fields = ("per_device_train_batch_size", "gradient_accumulation_steps", "num_generations")
    chosen = {name: case[name] for name in (*fields, "per_device_eval_batch_size") if name in case}
    return settings(folder, **chosen, **evaluating)


def test_grpo_04_a_sizes_that_make_no_group_name_the_sizes_that_would(golden, tmp_path):
    with pytest.raises(ConfigError, match=r"4 completions.*num_generations 6.*2 or 4"):
        build(tmp_path, sizes(golden, "a"))


def test_grpo_04_b_one_generation_is_refused_as_too_few(golden, tmp_path):
    with pytest.raises(ConfigError, match="at least 2 generations") as error:
        build(tmp_path, sizes(golden, "b"))
    assert "multiple" not in str(error.value)
    assert "divi" not in str(error.value)


def test_grpo_04_c_accumulation_counts_in_the_round(golden, tmp_path):
    assert build(tmp_path, sizes(golden, "c")).generation_batch_size == 8


def test_grpo_04_d_the_evaluation_batch_is_checked_too(golden, tmp_path):
    with pytest.raises(ConfigError, match=r"evaluation batch of 8 .* multiple of the 6"):
        build(tmp_path, sizes(golden, "d"))


@pytest.mark.parametrize("n", [2, 3])
def test_several_processes_count_in_the_round(tmp_path, monkeypatch, n):
    monkeypatch.setenv("WORLD_SIZE", str(n))
    sizes = {"per_device_train_batch_size": 4, "num_generations": 4}
    with pytest.raises(ConfigError, match=f"^{5 * n} completions a round"):
        settings(tmp_path, **sizes | {"per_device_train_batch_size": 5})
    with pytest.raises(ConfigError, match=f"evaluation batch of {5 * n} "):
        settings(tmp_path, **sizes, per_device_eval_batch_size=5, do_eval=True)


def test_a_round_smaller_than_a_group_names_the_size_that_would_do():
    with pytest.raises(ConfigError, match="Sample 6 completions"):
        check_group_sizes(completions_per_round=1, num_generations=6)


def test_a_launch_of_several_processes_is_refused(tmp_path, monkeypatch):
    arguments = settings(tmp_path)
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ConfigError, match="2 processes"):
        StepGRPOTrainer(random_llama(), DigitSource(), arguments, problems_dataset(PROBLEMS))


def test_an_unknown_method_is_refused_with_the_known_ones(tmp_path):
    with pytest.raises(ConfigError, match="step_grpo"):
        settings(tmp_path, method="step_gpo")


def test_settings_override_the_method_only_where_they_are_set(tmp_path):
    chosen = settings(tmp_path, method="step_grpo", process_weight=0.7).method_settings
    plain = settings(tmp_path, method="step_grpo").method_settings
    assert chosen.process_weight == 0.7
    assert (plain.process_weight, chosen.ceiling) == (0.3, plain.ceiling)


def test_defaults_suit_the_machine_and_keep_the_denominator_constant(tmp_path):
    chosen = settings(tmp_path)
    assert (chosen.loss_type, chosen.scale_rewards, chosen.beta) == ("dr_grpo", "none", 0.0)
    assert chosen.bf16 is False
    assert chosen.activation_checkpointing is False


def test_the_naive_sum_warns_that_it_pays_for_padding(tmp_path):
    with pytest.warns(UserWarning, match="learns to pad"):
        settings(tmp_path, method="raw_sum")
