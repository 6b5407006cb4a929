"""Tokens a second of our sampler against `model.generate`, on the same prompts in one run.

    python -m benchmarks.sampler

Prints one Markdown table of ratios: the starter policy on problems of the embedded world, alternating both
samplers; the median of the repeats with the lowest and the highest.
"""

import argparse
import time
from statistics import median

import torch

from labeling.rollouts.policies import starter_folder
from labeling.rollouts.prompting import prompt_ids
from labeling.rollouts.transformers_sampler import TransformersSampler
from labeling.simulators.load import load_simulator

MAX_TOKENS = 152


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[64, 256])
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    sampler = TransformersSampler.from_pretrained(starter_folder(), seed=0)
    problems = load_simulator("engineering:deep:8-12").problems(max(arguments.rows), split="test", seed=0)
    prompts = [prompt_ids(sampler.tokenizer, problem.text) for problem in problems]
    print(f"torch {torch.__version__}, {torch.get_num_threads()} threads, {arguments.repeats} repeats")
    print()
    print("| prompts | rollouts each | tokens a second: ours / generate (range) |")
    print("|---|---|---|")
    for rows in arguments.rows:
        for n_each in (1, 8):
            batch = [ids for ids in prompts[: rows // n_each] for _ in range(n_each)]
            ratios = sorted(compare(sampler, batch, repeat) for repeat in range(arguments.repeats))
            spread = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
            print(f"| {rows // n_each} | {n_each} | {spread} |")


def compare(sampler: TransformersSampler, batch: list[list[int]], repeat: int) -> float:
    """Return our tokens a second over those of `generate`; which goes first alternates."""
    keys = [f"{repeat}/{i}" for i in range(len(batch))]

    def ours() -> int:
        return sum(len(row.ids) for row in sampler.sample_ids(batch, max_tokens=MAX_TOKENS, keys=keys))

    def theirs() -> int:
        return generated_tokens(sampler, batch)

    runs = [ours, theirs] if repeat % 2 == 0 else [theirs, ours]
    speed = {}
    for run in runs:
        started = time.perf_counter()
        n_tokens = run()
        speed[run] = n_tokens / (time.perf_counter() - started)
    return speed[ours] / speed[theirs]


def generated_tokens(sampler: TransformersSampler, batch: list[list[int]]) -> int:
    """Sample with `generate` and count the useful tokens: those up to the end-of-text token."""
    tokenizer = sampler.tokenizer
    width = max(map(len, batch))
    pad = tokenizer.pad_token_id
    ids = torch.tensor([[pad] * (width - len(row)) + row for row in batch])
    mask = (ids != pad).long()
    output = sampler.model.generate(
        input_ids=ids, attention_mask=mask, do_sample=True, top_k=0, max_new_tokens=MAX_TOKENS
    )
    new = output[:, width:]
    is_end = new == tokenizer.eos_token_id
    has_ended_before = is_end.cumsum(1) - is_end.long() > 0
    return int((~has_ended_before).sum())


if __name__ == "__main__":
    main()
