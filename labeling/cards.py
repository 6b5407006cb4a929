"""A data card measured from a label file: every number is counted, none is typed."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from labeling.records import RIGHT_LABEL, WRONG_LABEL, LabelledSolution
from labeling.verifiers.panel import reasons_of

MAX_REASONS = 30


@dataclass
class CardFacts:
    """What a label file holds."""

    n_solutions: int = 0
    n_steps: int = 0
    problems: set[str] = field(default_factory=set)
    texts: Counter[tuple[str, str]] = field(default_factory=Counter)
    origins: Counter[str] = field(default_factory=Counter)
    semantics: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    undecided_reasons: Counter[str] = field(default_factory=Counter)
    """Each verifier's reasons for leaving a step; a step counts once for each of a panel's members."""
    first_errors: Counter[str] = field(default_factory=Counter)
    right_share_by_position: dict[int, list[int]] = field(default_factory=dict)
    steps_per_solution: list[int] = field(default_factory=list)
    characters_per_step: list[int] = field(default_factory=list)
    rollouts: Counter[str] = field(default_factory=Counter)


def measure(labelled: Iterable[LabelledSolution]) -> CardFacts:
    """Count what there is in labelled solutions."""
    facts = CardFacts()
    for item in labelled:
        facts.n_solutions += 1
        facts.n_steps += len(item.labels)
        facts.problems.add(item.solution.problem.text)
        facts.texts[(item.solution.problem.text, item.solution.text)] += 1
        facts.origins[item.origin] += 1
        facts.semantics[item.semantics] += 1
        facts.first_errors[_place(item)] += 1
        facts.steps_per_solution.append(len(item.labels))
        for position, (label, step) in enumerate(zip(item.labels, item.solution.steps, strict=True)):
            facts.outcomes[str(label.verdict.outcome)] += 1
            facts.characters_per_step.append(len(step.text))
            if label.value in (RIGHT_LABEL, WRONG_LABEL):
                facts.right_share_by_position.setdefault(position, []).append(label.value)
            else:
                facts.undecided_reasons.update(
                    reasons_of(label.verdict.reason or "no reason given", item.origin)
                )
            if label.counts is not None:
                facts.rollouts.update(
                    n=label.counts.n,
                    k=label.counts.k,
                    cut=label.counts.cut,
                    unparsable=label.counts.unparsable,
                    undecided=label.counts.undecided,
                )
    return facts


def heading(title: str) -> str:
    """Return the first line of a card."""
    return f"# Data card: {title}"


def to_markdown(facts: CardFacts, *, title: str) -> str:
    """Return the card as Markdown."""
    copies = sum(n - 1 for n in facts.texts.values())
    lines = [
        heading(title),
        "",
        "Measured from the label file; nothing on this page was typed by hand.",
        "",
        "| what | value |",
        "|---|---|",
        f"| solutions | {facts.n_solutions:,} |",
        f"| problems (distinct texts) | {len(facts.problems):,} |",
        f"| steps | {facts.n_steps:,} |",
        f"| exact copies of another solution | {copies:,} |",
        f"| origin of the labels | {_tally(facts.origins)} |",
        f"| what a label means | {_tally(facts.semantics)} |",
        f"| steps per solution | {_spread(facts.steps_per_solution)} |",
        f"| characters per step | {_spread(facts.characters_per_step)} |",
        f"| verdicts | {_tally(facts.outcomes)} |",
        f"| first error | {_tally(facts.first_errors)} |",
    ]
    if facts.rollouts:
        lines.append(f"| rollouts | {_tally(facts.rollouts)} |")
    if facts.right_share_by_position:
        lines += [
            "",
            "## Share of right steps by position",
            "",
            "| step | decided | right |",
            "|---|---|---|",
        ]
        for position, values in sorted(facts.right_share_by_position.items())[:20]:
            lines.append(f"| {position + 1} | {len(values):,} | {np.mean(values):.3f} |")
    if facts.undecided_reasons:
        lines += ["", "## Why steps stayed undecided", "", "| reason | steps |", "|---|---|"]
        for reason, n in facts.undecided_reasons.most_common(MAX_REASONS):
            cell = reason.replace("|", r"\|")
            lines.append(f"| {cell} | {n:,} |")
    return "\n".join(lines) + "\n"


def write_card(labelled: Iterable[LabelledSolution], path: Path, *, title: str) -> CardFacts:
    """Measure, write the card as Markdown, return the facts."""
    facts = measure(labelled)
    path.write_text(to_markdown(facts, title=title), encoding="utf-8")
    return facts


def _place(item: LabelledSolution) -> str:
    if item.first_error is None:
        return "unknown"
    return "none" if item.first_error < 0 else "known"


def _tally(counter: Counter[str]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(counter.items())) or "none"


def _spread(values: Sequence[int]) -> str:
    if not values:
        return "none"
    low, middle, high = np.percentile(values, [5, 50, 95])
    return f"median {middle:.0f}, 5 % {low:.0f}, 95 % {high:.0f}, longest {max(values)}"
