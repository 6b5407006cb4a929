"""What `prm train-policy` is told reaches its trainer and its evaluation."""

import json

from toy_policy import character_tokenizer, random_llama

from rl import policy_run, train


def test_the_settings_reach_the_trainer_and_the_evaluation(tmp_path, monkeypatch):
    random_llama().save_pretrained(tmp_path / "start")
    character_tokenizer().save_pretrained(tmp_path / "start")
    problems = tmp_path / "problems.jsonl"
    rows = [{"id": f"p{i}", "problem": f"what is {i}+{i}?", "answer": str(2 * i)} for i in range(6)]
    problems.write_text("".join(json.dumps(row) + "\n" for row in rows))
    made, asked = [], []
    real_init, real_evaluate = policy_run.StepGRPOTrainer.__init__, policy_run.evaluate_policy

    def init(self, model, source, args, *rest, **others):
        made.append(args)
        real_init(self, model, source, args, *rest, **others)

    def evaluate(sampler, test, source, **more):
        asked.append((sampler.temperature, len(test), more["max_tokens"], more["seed"]))
        return real_evaluate(sampler, test, source, **more)

    monkeypatch.setattr(policy_run.StepGRPOTrainer, "__init__", init)
    monkeypatch.setattr(policy_run, "evaluate_policy", evaluate)
    chosen = {
        "temperature": 0.7,
        "learning_rate": 1e-3,
        "warmup_steps": 2,
        "seed": 3,
        "ceiling": 0.9,
        "process_weight": 0.2,
    }
    config = train.TrainPolicyConfig(
        model=str(tmp_path / "start"),
        output=str(tmp_path / "run"),
        problems=str(problems),
        reward="verifiers:toy_policy:EvenVerifier",
        method="step_grpo",
        steps=1,
        num_generations=2,
        completions_per_step=4,
        micro_batch_size=2,
        max_completion_tokens=9,
        test_problems=str(problems),
        test_count=2,
        **chosen,
    )
    train.run(config)
    (args,) = made
    assert {name: getattr(args, name) for name in chosen} == chosen
    assert (args.max_steps, args.max_completion_length, args.num_generations) == (1, 9, 2)
    assert (args.per_device_train_batch_size, args.gradient_accumulation_steps) == (2, 2)
    # Greedy and sampled, before and after.
    assert asked == [(0, 2, 9, 3), (0.7, 2, 9, 3)] * 2
