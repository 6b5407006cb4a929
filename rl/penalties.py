"""Costs of habits that please a scorer and help nobody: padding, repetition, empty checks, style.

Pure functions of the texts. A cost is non-negative, attached to the step that earns it, and sums to at most 1
over a completion: a right answer (1) with every cost never ranks below a wrong one (0) without any. Costs
enter the advantages with a leave-one-out baseline of their own (`rl.advantages.group_advantages`).
The last step is taken for the final answer and is free of padding, check and repetition costs.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

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


def idle_steps(prompt: str, steps: Sequence[str]) -> NDArray[np.bool_]:
    """Tell of each step whether it makes no progress, shape (K,); the last step, the answer, never is idle.

    Idle: no number and no expression that is not in the prompt or an earlier step (30 = 30 is none), and
    fewer than 30 % of its phrases new, a phrase being two successive words that carry content (talk of going
    on or of checking carries none). Also the filler mark of the hazard form where no simulator tells.
    """
    first = read_step(prompt)
    numbers, expressions, phrases = set(first.numbers), list(first.expressions), _phrases(first)
    is_idle = np.zeros(len(steps), dtype=bool)
    for k, text in enumerate(steps[:-1]):
        step = read_step(text)
        new_expressions = [e for e in step.expressions if not any(e in earlier for earlier in expressions)]
        own = shingles(step.content, PHRASE_SIZE)
        has_new_phrases = bool(own) and len(own - phrases) >= MIN_NOVELTY * len(own)
        is_idle[k] = not (step.numbers - numbers or new_expressions or has_new_phrases)
        numbers |= step.numbers
        phrases |= _phrases(step)
        expressions += new_expressions
    return is_idle


def padding_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge 0.02 for each idle step (see `idle_steps`) that is no check, the first one free."""
    return _charge_pads(idle_steps(prompt, steps) & ~_is_check(steps))


def empty_check_costs(prompt: str, steps: Sequence[str]) -> Floats:
    """Charge 0.02 for each check that computes nothing, the first one free.

    An idle step with a word of checking: "Let me double-check. Yes.", "check 30 = 30". A check that
    recomputes brings a new expression and is free.
    """
    return _charge_pads(idle_steps(prompt, steps) & _is_check(steps))


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


def _phrases(step: StepText) -> set[tuple[str, ...]]:
    return {phrase for size in range(1, PHRASE_SIZE + 1) for phrase in shingles(step.content, size)}


def _is_check(steps: Sequence[str]) -> NDArray[np.bool_]:
    return np.array([read_step(step).is_check for step in steps], dtype=bool)


def _charge_pads(pads: NDArray[np.bool_]) -> Floats:
    return np.where(pads & (np.cumsum(pads) > N_FREE_PADS), COST_PER_PAD, 0.0)


def _capped(costs: Floats, limit: float) -> Floats:
    return costs * min(1.0, limit / costs.sum()) if costs.any() else costs
