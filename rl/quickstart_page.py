"""The quickstart's stage reports -> one report and one page that a person reads first."""

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from labeling.records import LabelledSolution
from labeling.report import Report, provenance
from labeling.sources.jsonl import read_labelled
from rl.charts import learning_curves
from rl.page import Page, cell, chain, render
from rl.train import NO_SIGNAL

OUTCOME, EXACT, PRM, NAIVE, START = "outcome", "exact", "prm", "naive", "start"
ARM_NAMES = {
    OUTCOME: "outcome only",
    EXACT: "step-GRPO, exact verdicts",
    PRM: "step-GRPO, learned PRM",
    NAIVE: "naive sum of PRM scores",
}
ARM_NOTES = {
    START: "the starter policy, untrained",
    OUTCOME: "RLOO: the final answer alone, leave-one-out baseline",
    EXACT: "the simulator judges every step; hazard form",
    PRM: "the calibrated PRM judges every step; hazard form",
    NAIVE: "every step pays its PRM score",
}
COLUMNS = {
    "accuracy": "accuracy",
    "strict_accuracy": "strict accuracy",
    "greedy_accuracy": "greedy accuracy",
    "steps": "lines",
    "filler": "filler lines",
    "tokens": "tokens",
}
N_CHAINS = 6
FIRST_STEPS = 5

Stages = Mapping[str, Mapping[str, Any]]


def summarise(stages: Stages, settings: dict[str, Any]) -> Report:
    """Collect the numbers that the page and the README show from the stages' reports."""
    evaluate = stages["evaluate"]["numbers"]
    agreement = stages["agreement"]
    calibrated = evaluate["after_calibration"]
    return Report(
        stage="quickstart",
        settings=settings,
        counts={
            "solutions labelled": stages["label"]["counts"]["solutions labelled"],
            "steps labelled": stages["label"]["counts"]["steps"],
            "steps UNDECIDED": stages["label"]["counts"]["steps UNDECIDED"],
            "rollouts": stages["rollouts"]["counts"]["rollouts: made"],
            "rollouts cut": stages["rollouts"]["counts"]["rollouts: cut"],
            "rollouts unparsable": stages["rollouts"]["counts"]["rollouts: unparsable"],
            "completions of each training run": stages[OUTCOME]["counts"]["completions"],
        },
        numbers={
            "policies": policies_of(stages),
            NO_SIGNAL: {name: stages[name]["numbers"][NO_SIGNAL] for name in (OUTCOME, EXACT, PRM)},
            "labels": {
                "agreement of rollouts and verdicts, up to the first error": agreement["until_first_error"][
                    "agreement"
                ],
                "first error found by rollouts (F1)": agreement["first_error"]["f1"],
            },
            "prm": {
                "step AUROC": evaluate["step_auroc"],
                "first-error F1": evaluate["first_error_f1"],
                "ECE before calibration": evaluate["before_calibration"]["ece"],
                "ECE after calibration": calibrated["ece"],
                "Brier before calibration": evaluate["before_calibration"]["brier"],
                "Brier after calibration": calibrated["brier"],
            },
        },
    )


def policies_of(stages: Stages) -> dict[str, dict[str, Any]]:
    """Return policy -> its numbers on held-out problems, the start first."""
    evaluations = {START: stages[OUTCOME]["numbers"]["before"]}
    evaluations |= {name: stages[name]["numbers"]["after"] for name in ARM_NAMES}
    return {
        name: {**measured["sampled"], "greedy_accuracy": measured["greedy"]["accuracy"]}
        for name, measured in evaluations.items()
    }


def write_page(folder: Path, stages: Stages, report: Report) -> Path:
    """Write `report.html` into the run folder; it opens without a network."""
    data = report.to_dict()
    policies = data["numbers"]["policies"]
    curves = {name: read_curve(folder / "policy" / name) for name in ARM_NAMES}
    path = folder / "report.html"
    page = Page(
        title="Quickstart: from problems to a better policy",
        subtitle=f"seed {report.settings['seed']}, {data['seconds']:.0f} seconds",
        headline=headline(policies),
        policy_text=(
            f"Each run starts from the same policy and samples "
            f"{data['counts']['completions of each training run']:,} completions of problems that are 8 to "
            f"12 steps deep. Measured on {policies[START]['accuracy']['n']} problems that no run was trained "
            "on: sampled at temperature 1, and greedy in one column. Strict accuracy asks for the right "
            "answer and for every step to be right. Small print: 95 % intervals over problems. "
            + signal_text(data["numbers"][NO_SIGNAL], curves[OUTCOME])
        ),
        policy_columns=list(COLUMNS.values()),
        policy_rows=policy_rows(policies),
        curves_svg=learning_curves(
            {name: curves[name] for name in (OUTCOME, EXACT, PRM)},
            ARM_NAMES,
            quantities=(("step/outcome", "Right answers in training"), ("completions/mean_length", "Tokens")),
        ),
        curves_caption="One point an optimiser step, and a moving mean over nine of them.",
        padding_text=padding_text(policies),
        padding_svg=learning_curves(
            curves,
            ARM_NAMES,
            quantities=(("step/filler", "Filler lines a solution"), ("step/steps", "Lines a solution")),
        ),
        padding_caption="A filler line is true and useless, such as “check 30 = 30”.",
        labels_text=labels_text(data),
        labels_rows=labels_rows(data, stages),
        prm_text=prm_text(data),
        prm_rows=[
            (name, cell(value)["value"], cell(value)["range"])
            for name, value in data["numbers"]["prm"].items()
        ],
        reliability_svg=(folder / "evaluate" / "reliability.svg").read_text(encoding="utf-8"),
        reliability_caption=(
            "How often a step with this score is right. On the line, scores mean what they say."
        ),
        chains_text=(
            "Held-out solutions of the starter policy. The colour is the PRM's calibrated probability that "
            "the step is right; the word is the simulator's verdict. Behind the first wrong step the "
            "simulator calls everything wrong that builds on it; the PRM learned nothing about such steps."
        ),
        chains=labelled_chains(folder),
        made_text="A run that is interrupted goes on where it was when the same command is given again.",
        timings=[(name, f"{s['seconds']:.1f}") for name, s in stages.items() if "seconds" in s],
        commands=commands(folder, stages),
        versions=", ".join(f"{name} {version}" for name, version in provenance().items()),
    )
    path.write_text(render(page), encoding="utf-8")
    return path


def headline(policies: Mapping[str, Any]) -> str:
    """Say in one sentence what came out, whatever it was."""

    def share(name: str) -> str:
        return f"{policies[name]['strict_accuracy']['value']:.2f}"

    return (
        f"Strict accuracy {share(START)} at the start; {share(OUTCOME)} with the outcome alone, "
        f"{share(EXACT)} with exact step verdicts, {share(PRM)} with the learned PRM, "
        f"{share(NAIVE)} with the naive sum."
    )


def policy_rows(policies: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lay out one row a policy."""
    names = {START: "start", **ARM_NAMES}
    return [
        {
            "name": names[name],
            "note": ARM_NOTES[name],
            "is_ours": name in (EXACT, PRM),
            "cells": [
                cell(policies[name][key], digits=3 if "accuracy" in key else 1 if key != "filler" else 2)
                for key in COLUMNS
            ],
        }
        for name in names
    ]


def share_without_signal_at_start(curve: Sequence[Mapping[str, float]]) -> float:
    """Return the share of groups without outcome signal in the first five steps; NaN without steps."""
    shares = [row["step/degenerate_outcome"] for row in curve[:FIRST_STEPS]]
    return sum(shares) / len(shares) if shares else math.nan


def signal_text(shares: Mapping[str, float | None], outcome_curve: Sequence[Mapping[str, float]]) -> str:
    """Say how often an outcome alone could teach nothing."""
    told = ", ".join(
        f"{cell({'value': share}, digits=2)['value']} ({ARM_NAMES[arm]})" for arm, share in shares.items()
    )
    return (
        "Groups of completions that were all right or all wrong, in which the outcome alone teaches nothing, "
        f"as a share of all groups: {share_without_signal_at_start(outcome_curve):.2f} in the first "
        f"{FIRST_STEPS} steps of training; over the whole of it {told}."
    )


def padding_text(policies: Mapping[str, Any]) -> str:
    """Say what happened to filler lines and to accuracy."""

    def value(name: str, key: str) -> float:
        return policies[name][key]["value"]

    grown = value(NAIVE, "filler") / max(value(START, "filler"), 1e-9)
    return (
        "Adding up step scores pays for every line that looks right, so a policy can earn by writing more "
        f"of them. Filler lines a solution: {value(START, 'filler'):.2f} at the start, "
        f"{value(NAIVE, 'filler'):.2f} ({grown:.1f} times as many) with the naive sum, "
        f"{value(EXACT, 'filler'):.2f} and {value(PRM, 'filler'):.2f} with step-GRPO, in whose step reward a "
        "line that adds nothing counts exactly nothing. "
        f"Accuracy with the naive sum: {value(NAIVE, 'accuracy'):.2f}."
    )


def labels_text(data: Mapping[str, Any]) -> str:
    """Say how the labels came about."""
    counts = data["counts"]
    return (
        f"The starter policy wrote {counts['solutions labelled']:,} solutions. The simulator labelled all "
        f"{counts['steps labelled']:,} steps; rollouts ({counts['rollouts']:,} of them) labelled a part of "
        "them again. After the first error the two mean different things: a verdict says whether the step "
        "is right, a rollout whether the answer can still be reached."
    )


def labels_rows(data: Mapping[str, Any], stages: Stages) -> list[tuple[str, str]]:
    """Lay out the labels' numbers."""
    steps = stages["agreement"]["until_first_error"]
    rows = [(name, f"{n:,}") for name, n in data["counts"].items() if "training run" not in name]
    for name, estimate in data["numbers"]["labels"].items():
        shown = cell(estimate)
        rows.append((f"{name} ({estimate['n']} problems)", f"{shown['value']} ({shown['range']})"))
    rows.append(("right by both / by neither", f"{steps['right_right']:,} / {steps['wrong_wrong']:,}"))
    rows.append(
        (
            "right by verdict only / by rollouts only",
            f"{steps['right_wrong']:,} / {steps['wrong_right']:,}",
        )
    )
    return rows


def prm_text(data: Mapping[str, Any]) -> str:
    """Say what the PRM learned from and where it was measured."""
    n = data["numbers"]["prm"]["step AUROC"]["n"]
    return (
        "A two-class head on the starter policy's own body, trained on the verdicts up to the first wrong "
        "step: whatever follows an error is called wrong and teaches nothing. Measured on the same kind of "
        f"steps, in the starter policy's solutions of {n} held-out problems; calibrator and threshold come "
        "from other held-out problems."
    )


def labelled_chains(folder: Path) -> list[dict[str, Any]]:
    """Score some held-out solutions: half of them with an error, half without."""
    from prm.model import StepScorer

    items = read_labelled(folder / "heldout" / "labels.jsonl").items
    wrong = _one_a_problem(i for i in items if i.first_error is not None and i.first_error >= 0)
    right = _one_a_problem(i for i in items if i.first_error == -1)
    chosen = wrong[: N_CHAINS // 2] + right[: N_CHAINS - N_CHAINS // 2]
    scorer = StepScorer.from_pretrained(folder / "prm")
    scored = scorer.score_or_reason(
        [i.solution.problem.text for i in chosen],
        [i.solution.step_texts for i in chosen],
        is_calibrated=True,
    )
    chains = []
    for item, scores in zip(chosen, scored, strict=True):
        numbers: Sequence[float | None] = [None] * len(item.labels) if isinstance(scores, str) else scores
        steps = [
            {
                "text": step.text,
                "score": number,
                "verdict": str(label.verdict.outcome),
                "reason": label.verdict.reason if label.value == 0 else "",
            }
            for step, label, number in zip(item.solution.steps, item.labels, numbers, strict=True)
        ]
        title = (
            "All right." if item.first_error == -1 else f"First wrong step: {(item.first_error or 0) + 1}."
        )
        chains.append(chain(title, item.solution.problem.text, steps))
    return chains


def _one_a_problem(items: Iterable[LabelledSolution]) -> list[LabelledSolution]:
    return list({item.solution.problem.id: item for item in items}.values())


def read_curve(folder: Path) -> list[dict[str, float]]:
    """Read what a training run logged, one row an optimiser step."""
    report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    per_step = report["settings"]["completions_per_step"]
    with (folder / "metrics.jsonl").open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    return [
        {name: math.nan if value is None else value for name, value in row.items()}
        | {"completions": row["step"] * per_step}
        for row in rows
    ]


def commands(folder: Path, stages: Stages) -> str:
    """Return the command of each stage."""
    verbs = {
        "label": "label",
        "rollouts": "label",
        "heldout": "label",
        "prm": "train-prm",
        "evaluate": "evaluate",
    }
    lines = [f"prm {verbs[name]} --config {folder}/recipes/{name}.yaml" for name in stages if name in verbs]
    lines += [f"prm train-policy --config {folder}/recipes/policy-{name}.yaml" for name in ARM_NAMES]
    return "\n".join(lines)
