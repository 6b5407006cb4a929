"""The starter policy: a small language model that solves the embedded world's problems half right.

It is the policy that the quickstart labels and improves, and it is shipped with the package; `prm
make-starter` makes it again from a seed. It learns from spoilt solutions (`rl.starter_corpus`).
"""

import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random

import torch
from torch.nn.functional import cross_entropy
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from labeling.errors import ConfigError
from labeling.outputs import check_report, check_writable
from labeling.progress import Meter
from labeling.randomness import derive_seed
from labeling.records import UNKNOWN_LABEL, Problem
from labeling.report import Report
from labeling.rollouts.policies import starter_folder
from labeling.simulators.engineering import EngineeringWorld
from rl.muon import Muon
from rl.starter_corpus import Noise, NoisySolver
from rl.starter_measure import measure
from rl.starter_tokenizer import EOS, PAD, build_tokenizer, read_vocabulary

__all__ = ["StarterConfig", "run", "starter_folder"]

Pair = tuple[list[int], list[int]]
"""(token ids of the prompt, token ids of the solution)."""


@dataclass(kw_only=True)
class StarterConfig:
    """Settings of `prm make-starter`; the defaults made the shipped checkpoint."""

    output: str = "runs/starter"
    """Folder for the checkpoint and report.json."""
    seed: int = 0
    """Root of all randomness: problems, noise, initial weights, sampling."""
    steps: int = 1800
    """Optimiser steps."""
    batch_tokens: int = 2048
    """Tokens in a batch, padding included."""
    learning_rate: float = 3e-3
    """Peak learning rate; 5 % of the steps warm up, then a cosine falls to zero."""
    deep_share: float = 0.55
    """Share of deep problems in the corpus, in [0, 1]."""
    n_measured: int = 1000
    """Held-out problems for each number of the report; 0 measures nothing."""

    def __post_init__(self) -> None:
        if self.steps < 1 or self.batch_tokens < 256 or self.learning_rate <= 0 or self.n_measured < 0:
            raise ConfigError(
                "a number is out of range.",
                remedy="Make steps and learning_rate positive, batch_tokens >= 256, n_measured >= 0.",
            )
        if not 0 <= self.deep_share <= 1:
            raise ConfigError("deep_share lies outside 0..1.", remedy="Give a share.")


def run(config: StarterConfig) -> Report:
    """Train the starter policy from scratch, save it, measure it on held-out problems."""
    begin = time.monotonic()
    check_report(config.output, "make-starter")
    check_writable(config.output, "model.safetensors", "config.json", "tokenizer.json")
    vocabulary = read_vocabulary()
    tokenizer = build_tokenizer(vocabulary)
    model = new_model(vocabulary, seed=config.seed)
    counts = train(model, tokenizer, config)
    output = Path(config.output)
    model.save_pretrained(output)
    tokenizer.save_pretrained(output)
    trained = time.monotonic()
    report = Report(
        stage="make-starter",
        counts={
            **counts,
            "parameters": sum(p.numel() for p in model.parameters()),
            "bytes of weights": (output / "model.safetensors").stat().st_size,
        },
        outputs={"checkpoint": str(output)},
        settings={**asdict(config), "noise": asdict(Noise())},
    )
    if config.n_measured:
        report.numbers = measure(model, tokenizer, n=config.n_measured, seed=config.seed)
    report.numbers["training seconds"] = round(trained - begin, 1)
    report.seconds = time.monotonic() - begin
    report.write(output)
    return report


def new_model(vocabulary: Sequence[str], *, seed: int) -> LlamaForCausalLM:
    """Return an untrained model of about 0.8 M parameters, in float32."""
    torch.manual_seed(derive_seed(seed, "starter weights"))
    config = LlamaConfig(
        vocab_size=len(vocabulary),
        hidden_size=144,
        intermediate_size=384,
        num_hidden_layers=3,
        num_attention_heads=4,
        num_key_value_heads=4,
        max_position_embeddings=512,
        tie_word_embeddings=True,
        pad_token_id=vocabulary.index(PAD),
        bos_token_id=None,
        eos_token_id=vocabulary.index(EOS),
        initializer_range=0.05,
        dtype="float32",
    )
    model = LlamaForCausalLM(config)
    _share_embeddings(model, vocabulary)
    return model


def _share_embeddings(model: LlamaForCausalLM, vocabulary: Sequence[str]) -> None:
    """Start a word with a blank in front from nearly the same embedding as the word alone.

    Elements are copied from the problem (" slab-b") to the beginning of a line ("slab-b"), and a model
    this small learns late which of the two tokens belong together.
    """
    places = {token: index for index, token in enumerate(vocabulary)}
    weight = model.model.embed_tokens.weight
    with torch.no_grad():
        for token, index in places.items():
            if token.startswith(" ") and token[1:] in places:
                weight[index] = 0.9 * weight[places[token[1:]]] + 0.4 * weight[index]


def train(
    model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, config: StarterConfig
) -> dict[str, int]:
    """Train on spoilt solutions, the loss on solutions alone; return what was read."""
    optimizers = _optimizers(model, config.learning_rate)
    schedules = [_schedule(optimizer, config.steps) for optimizer in optimizers]
    counts = {"solutions read": 0, "tokens read": 0}
    batches = _batches(tokenizer, config)
    model.train()
    with Meter("starter policy", total=config.steps) as meter:
        for step in range(1, config.steps + 1):
            ids, labels = next(batches)
            logits = model(input_ids=ids).logits[:, :-1]
            loss = cross_entropy(
                logits.reshape(-1, logits.shape[-1]), labels[:, 1:].reshape(-1), ignore_index=UNKNOWN_LABEL
            )
            model.zero_grad()
            loss.backward()
            for optimizer, schedule in zip(optimizers, schedules, strict=True):
                optimizer.step()
                schedule.step()
            counts["solutions read"] += len(ids)
            counts["tokens read"] += ids.numel()
            meter.show(step, f"loss {loss.item():.3f}")
    model.eval()
    return counts


def _optimizers(model: LlamaForCausalLM, learning_rate: float) -> list[torch.optim.Optimizer]:
    """Muon on the matrices between the layers, AdamW on the embeddings and the norms."""
    inner = [p for p in model.model.layers.parameters() if p.ndim == 2]
    is_inner = {id(p) for p in inner}
    outer = [p for p in model.parameters() if id(p) not in is_inner]
    return [
        Muon(inner, learning_rate, weight_decay=0.01),
        torch.optim.AdamW(outer, learning_rate, betas=(0.9, 0.98), weight_decay=0.01),
    ]


def _schedule(optimizer: torch.optim.Optimizer, n_steps: int) -> torch.optim.lr_scheduler.LambdaLR:
    """Warm up over 5 % of the steps, then fall to zero along a cosine."""
    warm_up = max(1, n_steps // 20)

    def factor(step: int) -> float:
        if step < warm_up:
            return (step + 1) / warm_up
        return 0.5 * (1 + math.cos(math.pi * (step - warm_up) / max(1, n_steps - warm_up)))

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def corpus_problems(count: int, *, deep_share: float, seed: int) -> list[Problem]:
    """Return `count` training problems, the deep ones first."""
    n_deep = round(deep_share * count)
    deep = EngineeringWorld(part="deep").problems(n_deep, split="train", seed=seed) if n_deep else []
    short = EngineeringWorld(part="short").problems(count - n_deep, split="train", seed=seed)
    return [*deep, *short]


def _batches(
    tokenizer: PreTrainedTokenizerFast, config: StarterConfig, *, n_problems: int = 20_000
) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
    """Yield (ids, labels) without end; solutions of similar length share a batch."""
    problems = corpus_problems(
        n_problems, deep_share=config.deep_share, seed=derive_seed(config.seed, "starter problems")
    )
    solver = NoisySolver(config.seed)
    rng = Random(derive_seed(config.seed, "starter noise"))
    while True:
        chosen = rng.sample(problems, 2_000)
        prompts = tokenizer([p.text + "\n" for p in chosen])["input_ids"]
        solutions = tokenizer([solver.write(p, rng) for p in chosen])["input_ids"]
        pairs = sorted(zip(prompts, solutions, strict=True), key=lambda pair: len(pair[0]) + len(pair[1]))
        batches = list(_within_budget(pairs, config.batch_tokens))
        rng.shuffle(batches)
        yield from (_padded(batch, tokenizer) for batch in batches)


def _within_budget(pairs: Sequence[Pair], n_tokens: int) -> Iterator[list[Pair]]:
    batch: list[Pair] = []
    for pair in pairs:
        length = len(pair[0]) + len(pair[1]) + 1
        if batch and length * (len(batch) + 1) > n_tokens:
            yield batch
            batch = []
        batch.append(pair)
    if batch:
        yield batch


def _padded(pairs: Sequence[Pair], tokenizer: PreTrainedTokenizerFast) -> tuple[torch.Tensor, torch.Tensor]:
    end, padding = (int(tokenizer.vocab[token]) for token in (EOS, PAD))
    rows = [[*prompt, *solution, end] for prompt, solution in pairs]
    width = max(map(len, rows))
    ids = torch.full((len(rows), width), padding)
    labels = torch.full((len(rows), width), UNKNOWN_LABEL)
    for index, (row, (prompt, _)) in enumerate(zip(rows, pairs, strict=True)):
        ids[index, : len(row)] = torch.tensor(row)
        labels[index, len(prompt) : len(row)] = torch.tensor(row[len(prompt) :])
    return ids, labels
