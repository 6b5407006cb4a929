"""Step-level group-baseline GRPO: trl's GRPO with one advantage a step in place of one a completion.

The subclass overrides one method of the algorithm, `_generate_and_score_completions`: it calls its parent
and replaces `output["advantages"]`, shape (B,), by a tensor of shape (B, T) made by `rl.advantages`; and
one of the run, `_get_train_sampler`, so that a resumed run meets the same problems. Outcomes reach trl as an
ordinary reward function and generation goes through trl's `rollout_func`. The loss, the optimiser, the
checkpoints and the logging stay trl's.
"""

import json
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from datasets import Dataset

from labeling.errors import ConfigError
from labeling.records import Problem
from labeling.rollouts.prompting import prompt_ids, thinking_opening
from labeling.steps import open_thinking
from prm.epoch_order import EpochOrder
from rl.penalties import PenaltyCosts, step_costs
from rl.sources import check_judged
from rl.spans import CachedDecoder, broadcast, separator_tokens, step_of_tokens
from rl.step_source import JudgedCompletion, StepSource, without_opening
from rl.trainers.group_batch import BatchAdvantages, batch_advantages
from rl.trainers.group_sizes import n_processes
from rl.trainers.step_config import StepGRPOConfig
from rl.trl_names import GRPOTrainer

__all__ = ["StepGRPOConfig", "StepGRPOTrainer", "problems_dataset"]


class SampledIds(Protocol):
    """One sampled continuation, as token ids."""

    @property
    def ids(self) -> list[int]:
        """What was sampled, the end-of-text token included when it came."""
        ...


class IdSampler(Protocol):
    """What the trainer asks of a sampler; `TransformersSampler` of `labeling.rollouts` meets it."""

    def sample_ids(
        self, prompts: Sequence[Sequence[int]], *, max_tokens: int, keys: Sequence[str]
    ) -> Sequence[SampledIds]:
        """Return one continuation of each prompt, in order."""
        ...


class StepGRPOTrainer(GRPOTrainer):
    """GRPO whose advantages come from step scores; see the module's docstring.

    Args:
        model: A causal language model, or the folder of one.
        source: Judges completions: steps, step scores, outcome.
        args: Settings.
        train_dataset: Rows with `prompt`, `problem_id`, `answer` and `meta`; see `problems_dataset`.
        processing_class: The tokenizer.
        sampler: Samples completions with the model being trained, at temperature `args.temperature`;
            prompts are then the problems' texts. None: trl's own generation (transformers or vLLM),
            with prompts as trl takes them.
        others: Handed to trl's GRPOTrainer (callbacks, peft_config, optimizers, ...).

    Raises:
        ConfigError: More than one process is launched: groups may then straddle processes, which this
            version does not gather.
    """

    _tag_names = ["trl", "grpo", "step-grpo"]  # noqa: RUF012  # trl reads it from the class
    _name = "Step-GRPO"

    def __init__(
        self,
        model: Any,
        source: StepSource,
        args: StepGRPOConfig,
        train_dataset: Dataset,
        *,
        processing_class: Any = None,
        sampler: IdSampler | None = None,
        **others: Any,
    ) -> None:
        if n_processes() > 1:
            raise ConfigError(
                f"{n_processes()} processes were launched, and step advantages are not gathered across them.",
                remedy="Train in one process.",
            )
        self._source = source
        self._sampler = sampler
        self._settings = args
        self._judged: Sequence[JudgedCompletion] = ()
        self._sampled: Sequence[tuple[str, list[int]]] = ()
        self._costs: Sequence[PenaltyCosts] | None = None
        super().__init__(
            model=model,
            reward_funcs=[self.outcome],
            args=args,
            train_dataset=train_dataset,
            processing_class=processing_class,
            rollout_func=None if sampler is None else _rollout,
            **others,
        )
        self._decode = CachedDecoder(self._tokenizer)

    def outcome(
        self,
        prompts: Sequence[Any],
        completion_ids: Sequence[list[int]],
        **columns: Sequence[Any],
    ) -> list[float | None]:
        """Judge one batch; trl's reward function. Keeps steps and scores for the advantages.

        Raises:
            InputError: The source returned another number of judgements than of completions.
        """
        problems = [
            _problem_of(prompt, {name: values[i] for name, values in columns.items() if name in _COLUMNS})
            for i, prompt in enumerate(prompts)
        ]
        texts = [self._decode(ids) for ids in completion_ids]
        openings = [self._opening(prompt, p) for prompt, p in zip(prompts, problems, strict=True)]
        seen = [opening + text for opening, text in zip(openings, texts, strict=True)]
        found = check_judged(self._source.name, self._source.judge(problems, seen), len(texts))
        judged = [without_opening(r, len(o)) for r, o in zip(found, openings, strict=True)]
        self._judged = judged
        self._sampled = list(zip(texts, completion_ids, strict=True))
        self._costs = None
        if names := self._settings.penalties:
            self._costs = [
                step_costs(problem.text, [text[start:end] for start, end in record.spans], names)
                for problem, text, record in zip(problems, texts, judged, strict=True)
            ]
        return [record.outcome for record in judged]

    def _get_train_sampler(self, dataset: Any = None) -> Any:
        return EpochOrder(super()._get_train_sampler(dataset), self.args.seed)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        output = super()._generate_and_score_completions(inputs)
        mode = self._mode()
        batch = batch_advantages(
            self._judged,
            group_size=int((self.num_generations if mode == "train" else self.num_generations_eval) or 1),
            settings=self._settings.method_settings,
            costs=self._costs,
        )
        metrics = self._metrics[mode]
        lengths = [len(ids) for _, ids in self._sampled]
        for name, value in batch.metrics(self._judged, lengths).items():
            metrics[f"step/{name}"].append(value)
        output["advantages"] = self._token_advantages(batch, like=output["completion_mask"])
        return output

    def _token_advantages(self, batch: BatchAdvantages, like: torch.Tensor) -> torch.Tensor:
        """Spread the steps' advantages over the tokens: shape (B, T), exactly 0 on padding."""
        table = np.zeros(tuple(like.shape))
        rows = zip(self._sampled, self._judged, batch.of_steps, batch.of_outcome, strict=True)
        for row, ((text, ids), judged, of_steps, of_outcome) in enumerate(rows):
            steps = step_of_tokens(ids, text, judged.spans, self._decode)
            of_tokens = broadcast(of_steps, steps, outside=of_outcome)
            if not judged.pays_separators:
                of_tokens[separator_tokens(ids, text, judged.spans, self._decode)] = of_outcome
            table[row, : len(ids)] = of_tokens
        return torch.tensor(table, dtype=torch.float32, device=like.device)

    def _opening(self, prompt: Any, problem: Problem) -> str:
        """Return the thinking tag that the prompt of a completion ends in; see `thinking_opening`."""
        if self._sampler is not None:
            return thinking_opening(self._tokenizer, problem.text)
        # trl renders the template for messages only, and goes on with the last one where it is the model's.
        if isinstance(prompt, str) or prompt[-1]["role"] == "assistant":
            return open_thinking(problem.text)
        template_settings: Any = self.chat_template_kwargs
        return thinking_opening(self._tokenizer, problem.text, **template_settings)

    def _mode(self) -> str:
        return "train" if self.model is not None and self.model.training else "eval"

    def _sample(self, prompts: Sequence[str]) -> dict[str, Any]:
        if self._sampler is None:
            raise ConfigError(
                "this trainer has no sampler.", remedy="Hand one over, or use trl's generation."
            )
        ids = [prompt_ids(self._tokenizer, prompt) for prompt in prompts]
        # Keys name the place in the run, so a resumed run samples what an uninterrupted one would have.
        part = self._step % self.args.gradient_accumulation_steps
        keys = [f"{self._mode()}/{self.state.global_step}/{part}/{i}" for i in range(len(prompts))]
        sampled = self._sampler.sample_ids(ids, max_tokens=int(self.max_completion_length or 0), keys=keys)
        return {"prompt_ids": ids, "completion_ids": [s.ids for s in sampled], "logprobs": None}


def _rollout(prompts: list[str], trainer: Any) -> dict[str, Any]:
    return trainer._sample(prompts)


_COLUMNS = ("problem_id", "answer", "meta")


def problems_dataset(problems: Sequence[Problem]) -> Dataset:
    """Return the rows that `StepGRPOTrainer` trains on: prompt, problem_id, answer, meta (as JSON)."""
    return Dataset.from_dict(
        {
            "prompt": [problem.text for problem in problems],
            "problem_id": [problem.id for problem in problems],
            "answer": [problem.answer for problem in problems],
            "meta": [json.dumps(dict(problem.meta)) for problem in problems],
        }
    )


def _problem_of(prompt: Any, row: dict[str, Any]) -> Problem:
    text = prompt if isinstance(prompt, str) else str(prompt[-1]["content"])
    return Problem(
        id=str(row.get("problem_id", "")),
        text=text,
        answer=row.get("answer"),
        meta=json.loads(row.get("meta") or "{}"),
    )
