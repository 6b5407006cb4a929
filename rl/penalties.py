"""Costs of habits that please a scorer and help nobody: padding, repetition, empty checks, style.

Pure functions of the texts. A cost is non-negative, attached to the step that earns it, and sums to at most 1
over a completion, so that it cannot turn a right answer (1) below a wrong one (0) by more than its cap. Costs
enter the advantages with a leave-one-out baseline of their own (`rl.advantages.group_advantages`).
The last step is taken for the final answer and is free of padding, check and repetition costs.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from labeling.errors import ConfigError
from rl.step_rewards import Floats
from rl.step_text import StepText, read_step, shingles

COST_PER_PAD = 0.02
N_FREE_PADS = 1
PHRASE_SIZE = 2
MIN_NOVELTY = 0.3
"""Share of phrases that must be new in a step which has no new number and no new expression."""
COST_OF_REPETITION = 0.05
FREE_CONTAINMENT = 0.6
SHINGLE_SIZE = 4
COST_PER_TRAILING_TOKEN = 0.002
N_FREE_TRAILING_TOKENS = 32
MAX_COST_OF_EXTRA_ANSWERS = 0.3
COST_OF_STYLE = 0.05
FREE_STYLE_DENSITY = 6.0
"""Marks per 100 tokens that cost nothing."""
MAX_COST_OF_STYLE = 0.3
MAX_COST_PER_COMPLETION = 1.0

_FINAL_ANSWER = re.compile(r"\\boxed\s*\{|^\s*#{1,4}\s|\bfinal answer\b|^\s*#*\s*answer\b", re.I | re.M)
_BOXED = re.compile(r"\\boxed\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}")
_STYLE = re.compile(
    r"^\s{0,3}#{1,6}\s|\*\*[^*\n]+\*\*|^\s*[-*•]\s|[\U0001F300-\U0001FAFF✅✔✨⭐❗‼]"
    r"|\b(?:clearly|obviously|undoubtedly|certainly|definitely|without a doubt|of course|trivially)\b",
    re.I | re.M,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class PenaltyCosts:
    """Costs of one completion of K steps."""

    total: Floats
    """(K,), non-negative; sums to at most 1."""
    by_name: dict[str, Floats]
    """Per penalty (K,); they add up to `total`."""


def step_costs(prompt: str, steps: Sequence[str], names: Sequence[str]) -> PenaltyCosts:
    """Return the costs of one completion's steps.

    Args:
        prompt: Text of the problem: what it says is not new in a step.
        steps: Texts of the K steps, in order; K may be 0.
        names: Which penalties, of `PENALTIES`.

    Raises:
        ConfigError: Unknown name.
    """
    unknown = [name for name in names if name not in PENALTIES]
    if unknown:
        raise ConfigError(
            f"there is no penalty {unknown[0]!r}.", remedy=f"Choose among {', '.join(PENALTIES)}."
        )
    by_name = {name: PENALTIES[name](prompt, steps) for name in names}
    total = sum(by_name.values(), start=np.zeros(len(steps)))
    scale = min(1.0, MAX_COST_PER_COMPLETION / total.sum()) if total.any() else 1.0
    return PenaltyCosts(total=total * scale, by_name={name: cost * scale for name, cost in by_name.items()})


def padding_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge 0.02 for each step without progress, the first one free.

    No progress: no number and no expression that is not in the prompt or an earlier step (30 = 30 is no
    expression), and fewer than 30 % of its content words new; talk of going on or checking is no content.
    Empty checks are left to `empty_check_costs`.
    """
    return _charge_pads([idle and not step.is_check for step, idle in _idle_steps(prompt, steps)])


def empty_check_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge 0.02 for each check that computes nothing, the first one free.

    A step without progress (see `padding_costs`) with a word of checking: "Let me double-check. Yes.",
    "check 30 = 30". A check that recomputes brings a new expression and is free.
    """
    return _charge_pads([idle and step.is_check for step, idle in _idle_steps(prompt, steps)])


def repetition_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge up to 0.05 for a step that an earlier one contains.

    cost_k = 0.05 * max(0, J_k - 0.6) / 0.4 with J_k = max_{l<k} |S_k n S_l| / |S_k| on runs of 4 tokens. A
    sentence of the prompt may be repeated at no cost.
    """
    del prompt
    sets = [shingles(read_step(step).tokens, SHINGLE_SIZE) for step in steps]
    costs = np.zeros(len(steps))
    for k in range(1, len(steps) - 1):
        if sets[k]:
            containment = max(len(sets[k] & earlier) / len(sets[k]) for earlier in sets[:k])
            costs[k] = COST_OF_REPETITION * max(0.0, containment - FREE_CONTAINMENT) / (1 - FREE_CONTAINMENT)
    return costs


def extra_answer_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge what follows the first final answer: 0.002 a token beyond 32, and 0.3 for a second boxed value.

    A final answer is a box, a line "answer ...", "#### ..." or the words "final answer". At most 0.3 in all.
    """
    del prompt
    costs = np.zeros(len(steps))
    n_trailing, is_answered = 0, False
    boxed: set[str] = set()
    for k, step in enumerate(steps):
        values = {re.sub(r"\s", "", value) for value in _BOXED.findall(step)}
        if is_answered:
            n_tokens = len(read_step(step).tokens)
            n_charged = max(0, n_trailing + n_tokens - N_FREE_TRAILING_TOKENS) - max(
                0, n_trailing - N_FREE_TRAILING_TOKENS
            )
            n_trailing += n_tokens
            costs[k] = COST_PER_TRAILING_TOKEN * n_charged
        if len(boxed | values) > max(1, len(boxed)):
            costs[k] = MAX_COST_OF_EXTRA_ANSWERS
        boxed |= values
        is_answered = is_answered or _FINAL_ANSWER.search(step) is not None
    return _capped(costs, MAX_COST_OF_EXTRA_ANSWERS)


def style_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge 0.05 for each mark of style per 100 tokens beyond 6, at most 0.3, on the steps that bear them.

    Marks: headers, bold, list markers, emoji, words of confidence (clearly, obviously, ...), boxes beyond the
    first. Counted over the completion (as if it had 100 tokens at least), since a short step has no density.
    """
    del prompt
    marks = np.array([len(_STYLE.findall(step)) for step in steps], dtype=np.float64)
    boxes = np.array([len(_BOXED.findall(step)) for step in steps], dtype=np.float64)
    marks += np.diff(np.maximum(np.cumsum(boxes) - 1, 0), prepend=0.0)
    if not marks.any():
        return np.zeros(len(steps))
    n_tokens = max(100, sum(len(read_step(step).tokens) for step in steps))
    excess = max(0.0, 100 * marks.sum() / n_tokens - FREE_STYLE_DENSITY)
    return min(MAX_COST_OF_STYLE, COST_OF_STYLE * excess) * marks / marks.sum()


PENALTIES: dict[str, Callable[[str, Sequence[str]], Floats]] = {
    "padding": padding_costs,
    "repetition": repetition_costs,
    "empty_check": empty_check_costs,
    "extra_answer": extra_answer_costs,
    "style": style_costs,
}


def _idle_steps(prompt: str, steps: Sequence[str]) -> list[tuple[StepText, bool]]:
    """Tell of each step whether it makes no progress; the last step is never idle."""
    first = read_step(prompt)
    numbers, expressions = set(first.numbers), list(first.expressions)
    phrases = set().union(*(shingles(first.content, size) for size in range(1, PHRASE_SIZE + 1)))
    judged = []
    for k, text in enumerate(steps):
        step = read_step(text)
        new_expressions = [e for e in step.expressions if not any(e in earlier for earlier in expressions)]
        own_phrases = shingles(step.content, PHRASE_SIZE)
        is_new = bool(own_phrases) and len(own_phrases - phrases) >= MIN_NOVELTY * len(own_phrases)
        is_idle = not (step.numbers - numbers or new_expressions or is_new)
        judged.append((step, is_idle and k < len(steps) - 1))
        numbers |= step.numbers
        phrases |= set().union(*(shingles(step.content, size) for size in range(1, PHRASE_SIZE + 1)))
        expressions += new_expressions
    return judged


def _charge_pads(is_pad: Sequence[bool]) -> Floats:
    pads = np.array(is_pad, dtype=bool)
    return np.where(pads & (np.cumsum(pads) > N_FREE_PADS), COST_PER_PAD, 0.0)


def _capped(costs: Floats, limit: float) -> Floats:
    return costs * min(1.0, limit / costs.sum()) if costs.any() else costs
