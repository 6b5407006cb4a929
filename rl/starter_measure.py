"""What a policy of the embedded world can do: accuracy, strict accuracy, filler, tokens."""

from collections.abc import Sequence
from typing import Any

import torch
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from labeling.randomness import derive_seed
from labeling.records import Problem, Solution
from labeling.report import wilson
from labeling.simulators.engineering import EngineeringWorld
from labeling.verifiers.verdict import Outcome

MEASURED = {
    "short": EngineeringWorld(part="short"),
    "depth 4": EngineeringWorld(part="deep", depths=(4, 4)),
    "depth 8": EngineeringWorld(part="deep", depths=(8, 8)),
    "depth 12": EngineeringWorld(part="deep", depths=(12, 12)),
}
"""Name in the report -> the world whose test split is measured."""

MOST_TOKENS = 192
"""Limit of new tokens; the longest true solution has about 130."""


def measure(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerFast, *, n: int, seed: int
) -> dict[str, Any]:
    """Measure a policy on `n` held-out problems each of `MEASURED`, sampled and greedy."""
    numbers: dict[str, Any] = {}
    for name, world in MEASURED.items():
        problems = world.problems(n, split="test", seed=derive_seed(seed, "starter measured"))
        for is_greedy in (False, True):
            torch.manual_seed(derive_seed(seed, "starter sampled", name))
            texts = write(model, tokenizer, problems, is_greedy=is_greedy)
            way = "greedy" if is_greedy else "sampled"
            numbers[f"{name}, {way}"] = tally(world, problems, texts)
    return numbers


def write(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    problems: Sequence[Problem],
    *,
    is_greedy: bool,
    batch_size: int = 128,
) -> list[str]:
    """Return one solution's text for each problem, at temperature 1 or greedy."""
    texts: list[str] = []
    model.eval()
    for start in range(0, len(problems), batch_size):
        prompts = [p.text + "\n" for p in problems[start : start + batch_size]]
        encoded = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left")
        with torch.inference_mode():
            ids = model.generate(  # pyright: ignore[reportCallIssue]
                input_ids=encoded["input_ids"],
                attention_mask=encoded["attention_mask"],
                do_sample=not is_greedy,
                temperature=None if is_greedy else 1.0,
                top_k=0,
                top_p=None,
                max_new_tokens=MOST_TOKENS,
                pad_token_id=tokenizer.pad_token_id,
                eos_token_id=tokenizer.eos_token_id,
            )
        new = ids[:, encoded["input_ids"].shape[1] :]
        texts += tokenizer.batch_decode(new, skip_special_tokens=True)
    return texts


def tally(world: EngineeringWorld, problems: Sequence[Problem], texts: Sequence[str]) -> dict[str, Any]:
    """Grade solutions: accuracy, strict accuracy (answer and every step right), lines of filler."""
    n_right = n_strict = n_filler = n_steps_right = n_steps = n_unanswered = 0
    for index, (problem, text) in enumerate(zip(problems, texts, strict=True)):
        solution = Solution.from_steps(text.split("\n"), id=str(index), problem=problem)
        outcomes = [verdict.outcome for verdict in world.verify(problem, solution)]
        grade = world.grade(problem, text)
        n_right += grade is True
        n_unanswered += grade is None
        n_strict += grade is True and all(o is Outcome.RIGHT for o in outcomes)
        n_filler += sum(not truth.is_needed for truth in world.truth(problem, solution))
        n_steps_right += outcomes.count(Outcome.RIGHT)
        n_steps += len(outcomes)
    return {
        "accuracy": wilson(n_right, len(texts)),
        "strict accuracy": wilson(n_strict, len(texts)),
        "without an answer": n_unanswered,
        "lines not needed a solution": round(n_filler / max(1, len(texts)), 3),
        "lines a solution": round(n_steps / max(1, len(texts)), 2),
        "share of lines right": round(n_steps_right / max(1, n_steps), 3),
    }
