"""Settings of the step-level trainer: trl's GRPOConfig and the few fields that ours adds."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch

from labeling.errors import ConfigError
from rl.advantages import METHODS, Method
from rl.penalties import PENALTIES
from rl.trainers.group_sizes import check_group_sizes, n_processes
from rl.trl_names import GRPOConfig


@dataclass
class StepGRPOConfig(GRPOConfig):
    """trl's GRPOConfig with our fields and with defaults that keep step rewards safe.

    Changed defaults: `loss_type` "dr_grpo" (a constant denominator: padding dilutes no punishment),
    `scale_rewards` "none" (our advantages replace trl's anyway), `bf16` and `activation_checkpointing`
    follow the machine (on with an accelerator, off on the CPU).

    Raises:
        ConfigError: A size, a method or a penalty cannot be used; before any model is loaded.
    """

    method: str = field(default="step_grpo", metadata={"help": f"Estimator: {', '.join(METHODS)}."})
    process_weight: float | None = field(
        default=None,
        metadata={"help": "Weight of the step scores, in units of outcome reward; unset: the method's own."},
    )
    ceiling: float | None = field(
        default=None,
        metadata={"help": "Score from which a step counts as fully right; unset: the method's own."},
    )
    penalties: list[str] = field(
        default_factory=list, metadata={"help": f"Costs on steps, of {', '.join(PENALTIES)}."}
    )

    loss_type: str = field(default="dr_grpo", metadata={"help": "trl's loss; see GRPOConfig."})
    scale_rewards: str = field(default="none", metadata={"help": "Not read: see method."})
    # transformers 5.24 renamed this setting to activation_checkpointing and warns on the old name, which
    # trl sets; unset here, the new name decides.
    gradient_checkpointing: bool | None = field(  # pyright: ignore[reportIncompatibleVariableOverride]
        default=None, metadata={"help": "Older name of activation_checkpointing."}
    )

    def __post_init__(self) -> None:
        check_group_sizes(
            completions_per_round=self._completions_per_round(),
            num_generations=self.num_generations or 0,
            eval_batch_size=self._eval_batch_size(),
            num_generations_eval=self.num_generations_eval,
        )
        if self.method not in METHODS:
            raise ConfigError(
                f"method is {self.method!r}, which is unknown.",
                remedy=f"Choose one of {', '.join(METHODS)}.",
            )
        check_penalties(self.penalties)
        if self.method == "raw_sum":
            warnings.warn(
                "raw_sum pays for every step that looks right, so a policy learns to pad; use it to compare.",
                stacklevel=2,
            )
        has_accelerator = torch.accelerator.is_available() and not self.use_cpu
        if self.bf16 is None:
            self.bf16 = has_accelerator and not self.fp16
        if self.activation_checkpointing is None and self.gradient_checkpointing is None:
            self.activation_checkpointing = has_accelerator
        # torch warns when memory is to be pinned for an accelerator that is not there.
        self.dataloader_pin_memory = self.dataloader_pin_memory and has_accelerator
        super().__post_init__()

    @property
    def method_settings(self) -> Method:
        """The estimator's settings, the method's own where no field overrides them."""
        changes = {"process_weight": self.process_weight, "ceiling": self.ceiling}
        return replace(METHODS[self.method], **{k: v for k, v in changes.items() if v is not None})

    def _completions_per_round(self) -> int:
        if self.generation_batch_size is not None:
            return self.generation_batch_size
        rounds = self.steps_per_generation or self.gradient_accumulation_steps
        return self.per_device_train_batch_size * n_processes() * rounds

    def _eval_batch_size(self) -> int | None:
        is_evaluating = self.do_eval or str(getattr(self.eval_strategy, "value", self.eval_strategy)) != "no"
        return self.per_device_eval_batch_size * n_processes() if is_evaluating else None


def check_penalties(names: Sequence[str]) -> None:
    """Refuse penalties that do not exist.

    Raises:
        ConfigError: At least one is unknown.
    """
    unknown = [name for name in names if name not in PENALTIES]
    if unknown:
        raise ConfigError(
            f"there is no penalty {', '.join(map(repr, unknown))}.",
            remedy=f"Choose among {', '.join(PENALTIES)}.",
        )
