"""Every name of trl that this toolkit uses, imported in this one file.

trl moves its GRPO internals in minor releases. What we rely on beyond the public classes:

- `GRPOTrainer._generate_and_score_completions(inputs)` returns a dict of tensors whose `advantages`
  may be replaced by a (B, T) tensor, which the loss uses as it is;
- `GRPOTrainer._calculate_rewards` calls each reward function exactly once a batch, with
  `completion_ids` as a list of lists;
- `rollout_func(prompts, trainer)` returns `prompt_ids`, `completion_ids` and `logprobs` (may be None).

`tests/equivalence/test_trl_equivalence.py` fails when one of them changes.
"""

import os

# trl warns on every construction with `rollout_func`; the pin in pyproject.toml is our answer to it.
os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")

from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

__all__ = ["GRPOConfig", "GRPOTrainer"]
