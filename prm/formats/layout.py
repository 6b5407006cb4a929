"""Token ids with the positions at which steps are read: ids are joined, texts never are.

Positions are remembered from the joining. Nothing here searches for an id, so a separator that a user
typed into the problem is just text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from labeling.errors import ModelError, RecordError
from labeling.records import UNKNOWN_LABEL

Label = TypeVar("Label", int, float)


class Tokenizer(Protocol):
    """What a format asks of a tokenizer; those of transformers meet it."""

    @property
    def bos_token_id(self) -> int | None:
        """Id that starts every sequence; None when the tokenizer has none."""
        ...

    def __call__(
        self, text: list[str], *, add_special_tokens: bool, split_special_tokens: bool
    ) -> Mapping[str, Any]:
        """Encode each text alone; `input_ids` holds one list of ids a text."""
        ...

    def decode(self, token_ids: list[int], *, clean_up_tokenization_spaces: bool) -> str:
        """Return the text of the ids."""
        ...


@dataclass(frozen=True)
class StepLayout:
    """One solution as ids. Invariant: positions ascend and lie inside `input_ids`."""

    input_ids: list[int]
    """At most `max_tokens` ids."""
    read_positions: list[int]
    """Index of the last separator id of each step that was kept; one a kept step, in order."""
    n_steps: int
    """Steps of the solution, those that were cut included."""
    n_tokens: int
    """Ids of the whole solution, before anything was cut."""

    @property
    def n_steps_cut(self) -> int:
        """Steps whose read position lies beyond the limit; always the last ones."""
        return self.n_steps - len(self.read_positions)

    def label_ids(self, labels: Sequence[Label]) -> list[Label]:
        """Place one label a step at its read position, -100 everywhere else.

        Args:
            labels: One a step of the whole solution; those of cut steps are left out.

        Returns:
            As many entries as `input_ids`, of the labels' own type.

        Raises:
            RecordError: The numbers of labels and steps differ.
        """
        if len(labels) != self.n_steps:
            raise RecordError(
                f"{self.n_steps} steps but {len(labels)} labels.",
                remedy=f"Every step needs one; write {UNKNOWN_LABEL} for a step nobody graded.",
            )
        placed: list[Any] = [UNKNOWN_LABEL] * len(self.input_ids)
        for position, label in zip(self.read_positions, labels, strict=False):
            placed[position] = label
        return placed


def join_ids(
    prompt_ids: Sequence[int],
    step_ids: Sequence[Sequence[int]],
    separator_ids: Sequence[int],
    *,
    max_tokens: int,
) -> StepLayout:
    """Lay out prompt ids, then for each step its ids and the separator's; cut at `max_tokens`.

    Args:
        prompt_ids: Ids of the problem, begin-of-text id included where there is one.
        step_ids: Ids of each step, without separator.
        separator_ids: At least one id.
        max_tokens: Ids to keep.

    Returns:
        The layout; a step counts as kept when its last separator id is.
    """
    ids = list(prompt_ids)
    positions: list[int] = []
    for one_step in step_ids:
        ids += one_step
        ids += separator_ids
        positions.append(len(ids) - 1)
    return StepLayout(
        input_ids=ids[:max_tokens],
        read_positions=[position for position in positions if position < max_tokens],
        n_steps=len(step_ids),
        n_tokens=len(ids),
    )


def encode_plain(tokenizer: Tokenizer, texts: Sequence[str]) -> list[list[int]]:
    """Encode texts of a user, each alone; the names of special tokens are ordinary characters in them."""
    if not texts:
        return []
    return tokenizer(list(texts), add_special_tokens=False, split_special_tokens=True)["input_ids"]


def separator_ids(tokenizer: Tokenizer, separator: str) -> list[int]:
    r"""Look up the ids of a separator, which may be a special token.

    White space ("\n", "\n\n") may be several ids. Anything visible is a marker that the model must know
    as one id: a marker in pieces means that this tokenizer was never taught it.

    Raises:
        ModelError: The separator is empty, unknown to the tokenizer, or a marker that it splits.
    """
    if not separator:
        raise ModelError("the separator is empty.", remedy=r"Use one that the tokenizer knows, such as \n.")
    ids = list(tokenizer([separator], add_special_tokens=False, split_special_tokens=False)["input_ids"][0])
    back = tokenizer.decode(ids, clean_up_tokenization_spaces=False)
    if not ids or back != separator:
        raise ModelError(
            f"the tokenizer cannot write the separator {separator!r}: it reads back as {back!r}.",
            remedy="Use a separator that is in its vocabulary.",
        )
    if separator.strip() and len(ids) > 1:
        raise ModelError(
            f"the tokenizer splits the separator {separator!r} into {len(ids)} ids ({ids}).",
            remedy="Add it to the tokenizer as one token, or use white space as separator.",
        )
    return ids
