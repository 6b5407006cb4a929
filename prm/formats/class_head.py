"""The class-head format: each step ends in a separator, whose last id a two-class head reads.

Layout (trl's, token for token): begin-of-text id if the tokenizer has one, ids of the prompt, then for
each step its ids and the separator's ids. Texts are encoded separately. Training, offline scoring,
serving and RL all go through this class.
"""

from collections.abc import Iterable, Sequence

from labeling.errors import ConfigError, InputError
from prm.formats.layout import StepLayout, Tokenizer, encode_plain, join_ids, separator_ids

NAME = "class_head"


class ClassHeadFormat:
    """Lays solutions out for a token-classification model.

    Args:
        tokenizer: The model's.
        separator: Text behind every step; see `prm.formats.layout.separator_ids` for what is refused.
        max_tokens: Longest layout; later ids are cut and the cut steps counted.

    Raises:
        ModelError: The tokenizer cannot write the separator.
        ConfigError: `max_tokens` is below 1.
    """

    def __init__(self, tokenizer: Tokenizer, *, separator: str = "\n", max_tokens: int) -> None:
        if max_tokens < 1:
            raise ConfigError(f"max_tokens is {max_tokens}.", remedy="Use at least 1.")
        self.tokenizer = tokenizer
        self.separator = separator
        self.max_tokens = max_tokens
        self.separator_ids = separator_ids(tokenizer, separator)
        bos = tokenizer.bos_token_id
        self._start_ids = [] if bos is None else [bos]

    def lay_out(self, prompt: str, steps: Sequence[str]) -> StepLayout:
        """Lay out one solution; see `lay_out_all`."""
        return self.lay_out_all([prompt], [steps])[0]

    def lay_out_all(self, prompts: Sequence[str], steps: Sequence[Sequence[str]]) -> list[StepLayout]:
        """Lay out solutions, in order; one call of the tokenizer for all of them.

        Raises:
            InputError: The numbers of prompts and solutions differ, or the steps are not a list of texts.
        """
        check_texts(prompts, steps)
        texts = [text for prompt, own in zip(prompts, steps, strict=True) for text in (prompt, *own)]
        encoded = iter(encode_plain(self.tokenizer, texts))
        return [
            join_ids(
                [*self._start_ids, *next(encoded)],
                [next(encoded) for _ in own],
                self.separator_ids,
                max_tokens=self.max_tokens,
            )
            for own in steps
        ]


def check_texts(prompts: Sequence[str], steps: Sequence[Sequence[str]]) -> None:
    """Refuse what is not one list of step texts a prompt.

    Raises:
        InputError: Names the first offending item by its position.
    """
    if isinstance(prompts, str) or len(prompts) != len(steps):
        raise InputError(
            f"{1 if isinstance(prompts, str) else len(prompts)} prompts for {len(steps)} solutions.",
            remedy="Give lists with one prompt and one list of steps a solution.",
        )
    for index, (prompt, own) in enumerate(zip(prompts, steps, strict=True)):
        if not isinstance(prompt, str):
            raise InputError(f"prompt {index} is {type(prompt).__name__}, not text.")
        is_list = isinstance(own, Iterable) and not isinstance(own, str)
        if not is_list or not all(isinstance(step, str) for step in own):
            raise InputError(
                f"the steps of solution {index} are not a list of texts.",
                remedy="Cut the solution into steps first (labeling.steps.segment).",
            )
