"""Problem and solution texts -> the token ids that a sampler, a trainer or a scorer continues.

The problem and the solution are tokenized apart and their ids joined, so a solution keeps its own
tokens whatever stands before it; joining texts would let a tokenizer merge across the seam.
"""

from typing import Any

from labeling.errors import ModelError
from labeling.steps import THINK_TAG, open_thinking


def prompt_ids(tokenizer: Any, problem_text: str, solution_text: str = "") -> list[int]:
    """Return the ids of a problem, ready to be continued, with the solution so far behind it.

    With a chat template: the problem as the user's turn, the opening of the assistant's turn, then the
    solution. Without one: the problem and a line break (with the tokenizer's BOS token, if it adds
    one), then the solution. A special token that is typed in either text is read as plain text where
    the tokenizer supports `split_special_tokens`. A thinking tag that leads the solution is left out where
    the template has opened the thinking already (see `thinking_opening`).

    Args:
        tokenizer: A transformers tokenizer.
        problem_text: The problem as the user states it.
        solution_text: The first steps with their separator, or empty.

    Raises:
        ModelError: The problem holds a special token's text and the chat template alters that text.
    """
    if getattr(tokenizer, "chat_template", None):
        head = _chat_ids(tokenizer, problem_text)
    else:
        head = _plain_ids(tokenizer, problem_text + "\n", add_special_tokens=True)
        head = _without_trailing_eos(tokenizer, head)
    return head + text_ids(tokenizer, _without_opening(tokenizer, problem_text, solution_text))


def thinking_opening(tokenizer: Any, problem_text: str, **template_settings: Any) -> str:
    """Return the thinking tag and white space that a prompt ends in: what is sampled then begins inside it.

    A grader that sees a completion alone takes a box written while thinking for the answer, when the token
    limit has cut the closing tag; put in front of the completion, this tag tells. Empty when the prompt opens
    no thinking, and where </think> is a special token: decoding drops it, so its absence says nothing.

    Args:
        tokenizer: A transformers tokenizer.
        problem_text: The problem as the user states it; without a chat template its own end counts.
        template_settings: Further variables of the chat template (enable_thinking, ...).
    """
    if _holds_special_token(tokenizer, "</think>"):
        return ""
    if not getattr(tokenizer, "chat_template", None):
        return open_thinking(problem_text + "\n")
    turn = [{"role": "user", "content": "?"}]
    return open_thinking(
        tokenizer.apply_chat_template(turn, add_generation_prompt=True, tokenize=False, **template_settings)
    )


def _without_opening(tokenizer: Any, problem_text: str, solution_text: str) -> str:
    tag = THINK_TAG.match(solution_text)
    if tag is None or tag["slash"]:
        return solution_text
    opening = thinking_opening(tokenizer, problem_text)
    if not opening or solution_text.startswith(opening):
        return solution_text[len(opening) :]
    return solution_text[tag.end() :]


def text_ids(tokenizer: Any, text: str) -> list[int]:
    """Return the ids of a text alone: no special token is added, none is read out of the text."""
    return _plain_ids(tokenizer, text, add_special_tokens=False) if text else []


def _plain_ids(tokenizer: Any, text: str, *, add_special_tokens: bool) -> list[int]:
    encoded = tokenizer(text, add_special_tokens=add_special_tokens, split_special_tokens=True)
    return [int(i) for i in encoded["input_ids"]]


def _without_trailing_eos(tokenizer: Any, ids: list[int]) -> list[int]:
    # Some tokenizers close every text; a closed prompt would ask the model to continue after its end.
    eos = tokenizer.eos_token_id
    return ids[:-1] if ids and eos is not None and ids[-1] == eos and eos != ids[0] else ids


def _chat_ids(tokenizer: Any, problem_text: str) -> list[int]:
    messages = [{"role": "user", "content": problem_text}]
    if not _holds_special_token(tokenizer, problem_text):
        ids = tokenizer.apply_chat_template(messages, add_generation_prompt=True, return_dict=False)
        return [int(i) for i in ids]
    # The template's own markers must become special ids and those typed by the user must not, which
    # one call of the tokenizer cannot do: render first, then tokenize the user's part on its own.
    rendered = tokenizer.apply_chat_template(messages, add_generation_prompt=True, tokenize=False)
    typed = problem_text if problem_text in rendered else problem_text.strip()
    before, found, after = rendered.rpartition(typed)
    if not found:
        raise ModelError(
            "the chat template changes the user's text, which holds the text of a special token.",
            remedy="Remove the special token, or use a template that keeps texts as they are.",
        )
    parts = (_marked_ids(tokenizer, before), text_ids(tokenizer, typed), _marked_ids(tokenizer, after))
    return [i for part in parts for i in part]


def _holds_special_token(tokenizer: Any, text: str) -> bool:
    added = getattr(tokenizer, "added_tokens_decoder", {})
    names = {token.content for token in added.values() if token.special} | set(tokenizer.all_special_tokens)
    return any(name in text for name in names if name)


def _marked_ids(tokenizer: Any, rendered: str) -> list[int]:
    encoded = tokenizer(rendered, add_special_tokens=False, split_special_tokens=False)
    return [int(i) for i in encoded["input_ids"]]
