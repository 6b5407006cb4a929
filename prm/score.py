"""The stage behind `prm score`: a file of solutions -> the same rows with step scores."""

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from labeling.errors import StoreError
from labeling.outputs import check_new, check_writable
from labeling.progress import track
from labeling.report import REPORT_FILE, Report
from labeling.sources.jsonl import parse_labelled, read
from prm.files import write_jsonl
from prm.model import StepScorer

CHUNK_ROWS = 64
"""Rows that are batched together by length; progress is shown between them."""


@dataclass(kw_only=True)
class ScoreConfig:
    """Settings of `prm score`."""

    model: str
    """Folder of a PRM."""
    input: str
    """Solutions (JSON Lines): prompt/completions or problem/steps."""
    output: str
    """File to write (JSON Lines); report.json goes beside it."""
    device: str = "auto"
    """auto (an accelerator if there is one), cpu, cuda."""
    on_error: str = "stop"
    """stop, or skip: count malformed lines."""


@dataclass(frozen=True)
class _Row:
    row: Mapping[str, Any]
    prompt: str
    steps: list[str]


def run(config: ScoreConfig) -> Report:
    """Add `scores`, `calibrated` and, where there are none, `score_reason` to every row.

    `scores` holds one probability in [0, 1] a step, or null; `calibrated` the same after calibration,
    null when the PRM has no calibrator.

    Raises:
        InputError: The model, the input or the output cannot be used; nothing was written.
    """
    started = time.monotonic()
    output = Path(config.output)
    check_new(output)
    if output.name == REPORT_FILE:
        raise StoreError(
            f"{REPORT_FILE} lies beside the output.", remedy="Give the output another name.", file=output
        )
    check_writable(output.parent, REPORT_FILE)
    reading = read(config.input, _parse, on_error=config.on_error)
    device = config.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    scorer = StepScorer.from_pretrained(config.model, device=device)
    scoring_started = time.monotonic()
    chunks = [reading.items[at : at + CHUNK_ROWS] for at in range(0, len(reading.items), CHUNK_ROWS)]
    scored = [
        row
        for chunk in track(chunks, total=len(chunks), description="scoring")
        for row in score_rows(scorer, chunk)
    ]
    seconds = time.monotonic() - scoring_started
    write_jsonl(output, scored)
    n_unscored = sum(row["scores"] is None for row in scored)
    report = Report(
        stage="score",
        counts={
            **reading.counts(),
            "solutions scored": len(scored) - n_unscored,
            "solutions without a score": n_unscored,
            "steps scored": sum(len(row["scores"] or []) for row in scored),
        },
        numbers={"solutions a second": len(scored) / seconds if seconds else 0.0},
        outputs={"rows": str(output)},
        settings=asdict(config),
        seconds=time.monotonic() - started,
    )
    if scorer.calibrator is None:
        report.notes.append("The PRM has no calibrator: `calibrated` is null.")
    report.write(output.parent)
    return report


def score_rows(scorer: StepScorer, rows: list[_Row]) -> list[dict[str, Any]]:
    """Return the rows with `scores`, `calibrated` and, where needed, `score_reason`."""
    found = scorer.score_or_reason([row.prompt for row in rows], [row.steps for row in rows])
    return [_with_scores(scorer, row, scores) for row, scores in zip(rows, found, strict=True)]


def _with_scores(scorer: StepScorer, row: _Row, scores: list[float] | str) -> dict[str, Any]:
    body = dict(row.row)
    if "completions" not in body and "steps" not in body:
        # The row held raw text: the reader must see the steps that the scores belong to.
        body["completions"] = row.steps
    if isinstance(scores, str):
        return body | {"scores": None, "calibrated": None, "score_reason": scores}
    calibrated = None if scorer.calibrator is None else scorer.calibrated([scores])[0]
    return body | {"scores": scores, "calibrated": calibrated}


def _parse(row: dict[str, Any]) -> _Row:
    solution = parse_labelled(row).solution
    return _Row(row=row, prompt=solution.problem.text, steps=solution.step_texts)
