"""Do the sizes of a batch make whole groups? Asked before anything heavy is loaded."""

import os

from labeling.errors import ConfigError


def n_processes() -> int:
    """Processes of this launch, as launchers tell it; known before any library is set up."""
    return int(os.environ.get("WORLD_SIZE", "1"))


def check_group_sizes(
    *,
    completions_per_round: int,
    num_generations: int,
    eval_batch_size: int | None = None,
    num_generations_eval: int | None = None,
) -> None:
    """Refuse sizes that do not make whole groups. Batches count completions, not prompts.

    Args:
        completions_per_round: Completions sampled at a time over all processes.
        num_generations: Completions a prompt (the group size).
        eval_batch_size: Completions evaluated at a time over all processes; None: nothing is evaluated.
        num_generations_eval: Completions a prompt in evaluation; None: `num_generations`.

    Raises:
        ConfigError: Fewer than 2 generations, or a batch that is not a multiple of the group size;
            names the sizes that would work.
    """
    if num_generations < 2:
        raise ConfigError(
            f"num_generations is {num_generations}, and a group needs at least 2 generations to be compared.",
            remedy="Use 4 to 16.",
        )
    if completions_per_round < 1 or completions_per_round % num_generations:
        raise ConfigError(
            f"{completions_per_round} completions a round (batch size x processes x accumulation) cannot be"
            f" cut into groups of num_generations {num_generations}; the batch counts completions, not"
            " prompts.",
            remedy=_advice(completions_per_round, num_generations),
        )
    in_eval = num_generations_eval or num_generations
    if eval_batch_size is not None and eval_batch_size % in_eval:
        raise ConfigError(
            f"the evaluation batch of {eval_batch_size} completions (per_device_eval_batch_size x processes)"
            f" is not a multiple of the {in_eval} generations a prompt.",
            remedy=f"Set per_device_eval_batch_size to a multiple of {in_eval}.",
        )


def _advice(completions: int, num_generations: int) -> str:
    divisors = [size for size in range(2, completions + 1) if completions % size == 0]
    nearest = sorted(sorted(divisors, key=lambda size: abs(size - num_generations))[:4])
    bigger = max(1, -(-completions // num_generations)) * num_generations
    if not nearest:
        return f"Sample {bigger} completions a round."
    return f"Set num_generations to {' or '.join(map(str, nearest))}, or sample {bigger} completions a round."
