"""A sampler on any causal language model of transformers: a hand-written loop over a growing KV cache.

For small models `generate` spends most of its time on bookkeeping. This loop samples from one uniform
number for each (key, token), so that a text depends on its key and not on the batch it was made in;
it drops rows that have ended, and runs equal prompts through the model once.
"""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer

from labeling.errors import ConfigError, InputError, ModelError
from labeling.randomness import generator
from labeling.rollouts.decoding import RowsInFlight, draw_tokens, growing_cache
from labeling.rollouts.prompting import prompt_ids, thinking_opening
from labeling.rollouts.sampler import Prefix, Rollout

_DROP_SHARE = 0.25
"""Ended rows are dropped once they are this share of the batch: dropping copies the whole cache."""

_KEY_SEPARATOR = "\x1f"
"""Stands between a prefix's key and the number of its continuation; no one types it."""


@dataclass(frozen=True, kw_only=True)
class SampledIds:
    """The token ids sampled behind one prompt."""

    ids: list[int]
    """New tokens; the last one is the end-of-text token unless the row was cut."""
    is_cut: bool
    """True when a limit stopped it: it did not end by itself."""


@dataclass(frozen=True, kw_only=True)
class _Row:
    place: int
    prompt: tuple[int, ...]
    key: str
    limit_tokens: int


class TransformersSampler:
    """Continues prefixes with a causal language model; implements `labeling.rollouts.sampler.Sampler`.

    Equal seeds and keys give equal texts whatever the order or the batch, up to the rounding of the
    model's own arithmetic (a draw within about 1e-6 of a boundary may fall on either side).

    Args:
        model: A causal language model; it is put into evaluation mode while it samples.
        tokenizer: Its tokenizer.
        temperature: Divides the logits, >= 0; 0 takes the likeliest token.
        top_p: Samples from the smallest set of tokens with at least this probability, in (0, 1].
        batch_size: Rows run together, >= 1.
        seed: Root seed of the randomness.

    Raises:
        ConfigError: A setting is out of range.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
        batch_size: int = 256,
        seed: int = 0,
    ) -> None:
        _check_settings(temperature, top_p, batch_size)
        self.model = model
        self.tokenizer = tokenizer
        self.temperature = temperature
        self.top_p = top_p
        self.batch_size = batch_size
        self.seed = seed
        self._end_ids = _end_ids(model, tokenizer)
        self._context_tokens = getattr(model.config, "max_position_embeddings", None)
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        self._forward_extras = {"logits_to_keep": 1} if "logits_to_keep" in names else {}

    @classmethod
    def from_pretrained(
        cls,
        folder: str | Path,
        *,
        temperature: float = 1.0,
        top_p: float = 1.0,
        batch_size: int = 256,
        seed: int = 0,
    ) -> "TransformersSampler":
        """Load model (float32) and tokenizer from a folder in the transformers layout.

        The model goes to the first CUDA device, if there is one; give a model to the constructor to
        place it elsewhere.

        Raises:
            ModelError: The folder does not exist or holds no causal language model with a tokenizer.
            ConfigError: A setting is out of range.
        """
        _check_settings(temperature, top_p, batch_size)
        model, tokenizer = _load(Path(folder))
        return cls(model, tokenizer, temperature=temperature, top_p=top_p, batch_size=batch_size, seed=seed)

    def extend(
        self, prefixes: Sequence[Prefix], n: int, *, max_tokens: int, keys: Sequence[str]
    ) -> list[list[Rollout]]:
        """Return `n` continuations of each prefix; see `labeling.rollouts.sampler.Sampler`.

        The i-th continuation depends on the key and i, not on `n`.

        Raises:
            InputError: A prefix fills the model's context.
            ConfigError: `n` or `max_tokens` is below 1, or keys and prefixes differ in number.
        """
        _check_sizes(len(prefixes), len(keys), n=n, max_tokens=max_tokens)
        prompts = {
            prefix: prompt_ids(self.tokenizer, prefix.problem, prefix.text)
            for prefix in dict.fromkeys(prefixes)
        }
        sampled = self.sample_ids(
            [prompts[prefix] for prefix in prefixes for _ in range(n)],
            max_tokens=max_tokens,
            keys=[f"{key}{_KEY_SEPARATOR}{i}" for key in keys for i in range(n)],
        )
        texts = self.tokenizer.batch_decode(
            [row.ids for row in sampled], skip_special_tokens=True, clean_up_tokenization_spaces=False
        )
        opening_of = {
            prefix: "" if prefix.text else thinking_opening(self.tokenizer, prefix.problem)
            for prefix in prompts
        }
        openings = [opening_of[prefix] for prefix in prefixes for _ in range(n)]
        rollouts = [
            Rollout(text=opening + text, tokens=len(row.ids), is_cut=row.is_cut)
            for opening, text, row in zip(openings, texts, sampled, strict=True)
        ]
        return [rollouts[i * n : (i + 1) * n] for i in range(len(prefixes))]

    def sample_ids(
        self,
        prompts: Sequence[Sequence[int]],
        *,
        max_tokens: int,
        keys: Sequence[str],
        limit_tokens: Sequence[int] | None = None,
    ) -> list[SampledIds]:
        """Sample one continuation of each prompt, in order.

        Args:
            prompts: Token ids, none of them empty.
            max_tokens: Limit of new tokens for every row.
            keys: One a prompt; with the sampler's seed it determines the row's randomness.
            limit_tokens: A tighter limit for each row, >= 1. The model's context is a limit too.

        Raises:
            InputError: A prompt is empty or fills the model's context.
            ConfigError: A limit is below 1, or keys, limits and prompts differ in number.
        """
        _check_sizes(len(prompts), len(keys), n=1, max_tokens=max_tokens)
        if limit_tokens is not None and (
            len(limit_tokens) != len(prompts) or min(limit_tokens, default=1) < 1
        ):
            raise ConfigError(f"limit_tokens needs {len(prompts)} entries, each at least 1.")
        rows = [
            _Row(
                place=place,
                prompt=tuple(prompt),
                key=key,
                limit_tokens=self._limit(
                    len(prompt), min(max_tokens, limit_tokens[place] if limit_tokens else max_tokens), key
                ),
            )
            for place, (prompt, key) in enumerate(zip(prompts, keys, strict=True))
        ]
        results: dict[int, SampledIds] = {}
        was_training = self.model.training
        self.model.eval()
        try:
            with torch.inference_mode():
                for batch in _batches(rows, self.batch_size):
                    sampled = self._sample_batch(batch)
                    results.update((row.place, ids) for row, ids in zip(batch, sampled, strict=True))
        finally:
            self.model.train(was_training)
        return [results[place] for place in range(len(rows))]

    def _limit(self, n_prompt_tokens: int, max_tokens: int, key: str) -> int:
        name = key.replace(_KEY_SEPARATOR, "/")
        if n_prompt_tokens == 0:
            raise InputError("the prompt has no tokens.", remedy="Give a problem text.", record_id=name)
        if self._context_tokens is None:
            return max_tokens
        if n_prompt_tokens >= self._context_tokens:
            raise InputError(
                f"the prompt has {n_prompt_tokens} tokens and fills the model's context of "
                f"{self._context_tokens}.",
                remedy="Leave the record out, or use a model with a longer context.",
                record_id=name,
            )
        return min(max_tokens, self._context_tokens - n_prompt_tokens)

    def _sample_batch(self, rows: Sequence[_Row]) -> list[SampledIds]:
        device = self.model.device
        limits = torch.tensor([row.limit_tokens for row in rows], device=device)
        n_steps = int(limits.max())
        uniforms = self._uniforms(rows, n_steps)
        live = torch.arange(len(rows), device=device)
        sampled = torch.zeros(len(rows), n_steps, dtype=torch.long, device=device)
        has_ended = torch.zeros(len(rows), dtype=torch.bool, device=device)
        state, logits = self._prefill(rows)
        is_end = torch.zeros(logits.shape[-1], dtype=torch.bool, device=device)
        is_end[[i for i in self._end_ids if i < len(is_end)]] = True
        for step in range(n_steps):
            drawn = draw_tokens(
                logits, None if uniforms is None else uniforms[:, step], self.temperature, self.top_p
            )
            sampled[live, step] = drawn
            has_ended |= is_end[drawn] | (limits <= step + 1)
            n_ended = int(has_ended.sum())
            if n_ended == len(live):
                break
            if n_ended >= _DROP_SHARE * len(live):
                keep = (~has_ended).nonzero().squeeze(1)
                live, drawn, limits, has_ended = live[keep], drawn[keep], limits[keep], has_ended[keep]
                uniforms = None if uniforms is None else uniforms[keep]
                state.keep(keep)
            logits = self._forward(state, drawn.unsqueeze(1))
        return [
            _cut(ids, row.limit_tokens, self._end_ids)
            for ids, row in zip(sampled.tolist(), rows, strict=True)
        ]

    def _uniforms(self, rows: Sequence[_Row], n_steps: int) -> torch.Tensor | None:
        if self.temperature == 0:
            return None
        drawn = np.zeros((len(rows), n_steps))
        for i, row in enumerate(rows):
            drawn[i, : row.limit_tokens] = generator(self.seed, "sample", row.key).random(row.limit_tokens)
        return torch.from_numpy(drawn).to(self.model.device)

    def _prefill(self, rows: Sequence[_Row]) -> tuple[RowsInFlight, torch.Tensor]:
        """Run each distinct prompt once, then give every row its copy of the cache."""
        numbers: dict[tuple[int, ...], int] = {}
        copies = [numbers.setdefault(row.prompt, len(numbers)) for row in rows]
        width = max(map(len, numbers))
        device = self.model.device
        ids = torch.tensor([[0] * (width - len(p)) + list(p) for p in numbers], device=device)
        is_real = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in numbers], device=device)
        state = RowsInFlight(cache=growing_cache(self.model.config), is_real=is_real)
        logits = self._forward(state, ids)
        if len(numbers) < len(rows):
            index = torch.tensor(copies, device=device)
            state.keep(index)
            logits = logits[index]
        return state, logits

    def _forward(self, state: RowsInFlight, ids: torch.Tensor) -> torch.Tensor:
        """Run new tokens (rows, n) behind the cache; return the last position's logits (rows, vocabulary)."""
        mask, positions = state.extend(ids.shape[1])
        output = self.model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=positions,
            use_cache=True,
            **{self._cache_name: state.cache},
            **self._forward_extras,
        )
        logits = output.logits[:, -1].float()
        if not logits.amax(-1).isfinite().all():
            raise ModelError(
                "the model returned logits that are not finite, so no token can be drawn.",
                remedy="Check its weights: training may have diverged, or half precision overflowed.",
            )
        return logits


def _batches(rows: Sequence[_Row], batch_size: int) -> Iterator[list[_Row]]:
    """Rows of like length together (little padding), equal prompts side by side (run once)."""
    ordered = sorted(rows, key=lambda row: (-len(row.prompt), row.prompt, row.place))
    for start in range(0, len(ordered), batch_size):
        yield ordered[start : start + batch_size]


def _cut(ids: list[int], limit_tokens: int, end_ids: frozenset[int]) -> SampledIds:
    ids = ids[:limit_tokens]
    for place, token in enumerate(ids):
        if token in end_ids:
            return SampledIds(ids=ids[: place + 1], is_cut=False)
    return SampledIds(ids=ids, is_cut=True)


def _end_ids(model: Any, tokenizer: Any) -> frozenset[int]:
    configured = getattr(getattr(model, "generation_config", None), "eos_token_id", None)
    listed = configured if isinstance(configured, (list, tuple)) else [configured]
    return frozenset(int(i) for i in (*listed, tokenizer.eos_token_id) if i is not None)


def _check_settings(temperature: float, top_p: float, batch_size: int) -> None:
    if not temperature >= 0:
        raise ConfigError(f"temperature is {temperature}.", remedy="Use 0 (greedy) or a positive number.")
    if not 0 < top_p <= 1:
        raise ConfigError(f"top_p is {top_p}.", remedy="Use a number above 0 and up to 1.")
    if batch_size < 1:
        raise ConfigError(f"batch_size is {batch_size}.", remedy="Use at least 1.")


def _check_sizes(n_prompts: int, n_keys: int, *, n: int, max_tokens: int) -> None:
    if n_keys != n_prompts:
        raise ConfigError(f"{n_keys} keys for {n_prompts} prompts.", remedy="Give one key a prompt.")
    if n < 1:
        raise ConfigError(f"n is {n}.", remedy="Ask for at least one continuation.")
    if max_tokens < 1:
        raise ConfigError(f"max_tokens is {max_tokens}.", remedy="Allow at least one new token.")


def _load(folder: Path) -> tuple[Any, Any]:
    if not folder.is_dir():
        raise ModelError(
            "this model folder does not exist.",
            remedy="Name a folder in the transformers layout.",
            file=folder,
        )
    try:
        tokenizer = AutoTokenizer.from_pretrained(folder)
        loader: Any = AutoModelForCausalLM
        model, loading = loader.from_pretrained(folder, dtype=torch.float32, output_loading_info=True)
    except (OSError, ValueError, KeyError, RuntimeError, StrictDataclassError, SafetensorError) as error:
        raise ModelError(
            f"no causal language model with its tokenizer could be read ({error}).",
            remedy="Name a folder with config.json, model weights and tokenizer files.",
            file=folder,
        ) from error
    if missing := sorted(loading["missing_keys"]):
        # transformers would fill them with random numbers, and the samples would be noise.
        raise ModelError(
            f"{len(missing)} weights of the causal language model are missing, the first is {missing[0]}.",
            remedy="Name a language model; a folder of a reward model has no language-model head.",
            file=folder,
        )
    return model.to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer
