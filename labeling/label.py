"""The stage behind `prm label`: solutions -> one label a step, by programs or by rollouts."""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from labeling._workers import Labeller, verifying
from labeling.cards import MAX_REASONS, heading, write_card
from labeling.errors import ConfigError, InputError, ModelError
from labeling.outputs import check_writable
from labeling.progress import say, track
from labeling.records import LabelledSolution, Problem, Solution
from labeling.report import Report, wilson
from labeling.rollouts.policies import STARTER, policy_folder
from labeling.simulators.base import FAILED, RETRIED
from labeling.simulators.load import (
    SIMULATOR_HELP,
    checked_problems,
    load_grading,
    load_simulator,
    settings_behind,
)
from labeling.sources.jsonl import Reading, read_labelled, read_problems
from labeling.steps import SEGMENT_MODES
from labeling.store import LabelStore, fingerprint_path, hash_file
from labeling.verifiers.registry import ANSWERS, load_grader

REPORT_NAME = "report.json"
CARD_NAME = "card.md"

CHUNK = 64
"""Solutions handed to rollouts at a time: an interruption loses at most this much."""
NOT_GRADABLE = "nothing to grade an answer by: no reference that can be read, or no tests"


@dataclass(kw_only=True)
class LabelConfig:
    """Settings of `prm label`."""

    output: str
    """File of labelled rows to write (JSON Lines); report.json and card.md go beside it."""
    input: str = ""
    """File of solutions (or of problems, with --samples), JSON Lines."""
    simulator: str = field(default="", metadata={"help": SIMULATOR_HELP})
    """Gives the problems when there is no input, and grades rollouts."""
    simulator_problems: int = 256
    """Problems to take from the simulator."""
    split: str = "train"
    """Which of the simulator's splits: train or test; they share no problem."""
    policy: str = ""
    """Folder of the model that samples solutions and rollouts; "starter" is the shipped one."""
    samples: int = 0
    """Solutions to sample for each problem; 0: the input holds solutions."""
    verifier: str = ""
    """Programs that label, e.g. "arithmetic,answers", "simulator:structures" or "package.module:Factory"."""
    rollouts: int = 0
    """Monte-Carlo rollouts a step instead of programs (Math-Shepherd); 0: none."""
    grader: str = ANSWERS
    """What grades rollouts where there is no simulator: "answers", "code" (by tests), or your own."""
    max_tokens: int = 256
    """Limit of new tokens for each sampled solution or rollout."""
    temperature: float = 1.0
    """Of sampling solutions and rollouts."""
    segment: str = "auto"
    """How raw text is cut into steps: blank_line, line, numbered, sentence, canonical, auto."""
    on_error: str = "stop"
    """A malformed line: "stop", or "skip" and count it."""
    processes: int = 0
    """Worker processes of the programs; 0: one a core. A verifier of your own never runs in the main one."""
    seed: int = 0
    """The simulator's problems and all sampling follow from it."""
    overwrite: bool = False
    """Start anew even when the output holds rows of another run."""

    def check(self) -> None:
        """Refuse contradictions, all at once.

        Raises:
            ConfigError: At least one setting contradicts another.
        """
        problems = []
        if not self.input and not self.simulator:
            problems.append("give an input file or a simulator")
        if bool(self.verifier) == bool(self.rollouts):
            problems.append("give either verifier or rollouts: labels of two kinds do not share a file")
        if not self.input and not self.samples:
            problems.append("a simulator gives problems: say how many samples each gets")
        if (self.samples or self.rollouts) and not self.policy:
            problems.append("samples and rollouts need a policy")
        if self.grader != ANSWERS and (self.simulator or not self.rollouts):
            problems.append("grader is for rollouts on problems of a file: a simulator grades its own")
        if min(self.samples, self.rollouts, self.processes) < 0 or self.max_tokens < 1:
            problems.append("counts are not negative and max_tokens is at least 1")
        if Path(self.output).name in (REPORT_NAME, CARD_NAME):
            problems.append(
                f"output has another name than {REPORT_NAME} and {CARD_NAME}, which lie beside it"
            )
        if self.segment not in SEGMENT_MODES:
            problems.append(f"segment is one of {', '.join(SEGMENT_MODES)}")
        if self.split not in ("train", "test"):
            problems.append("split is train or test")
        if self.input and os.path.realpath(self.input) == os.path.realpath(self.output):
            problems.append("output is another file than input")
        if problems:
            raise ConfigError("; ".join(problems) + ".", remedy="Change the recipe or the flags.")


def run(config: LabelConfig) -> Report:
    """Label; see the module's docstring. Reads the input, writes output, card.md and report.json.

    A second run with the same settings goes on after the last row that was written.

    Raises:
        InputError: The input, the policy or the output cannot be used.
    """
    config.check()
    # The user's mistakes are told before any work.
    output = Path(config.output)
    stores = [output, _solutions_file(output)] if config.samples else [output]
    owners = [fingerprint_path(path) for path in stores]
    check_writable(output.parent, REPORT_NAME, CARD_NAME, *(path.name for path in (*stores, *owners)))
    if config.policy and not policy_folder(config.policy).is_dir():
        raise ModelError(
            "there is no such model folder.",
            remedy=f"Name a folder in the transformers layout, or {STARTER} for the shipped policy.",
            file=config.policy,
        )
    started = time.monotonic()
    report = Report(stage="label", settings=asdict(config))
    spent: Counter[str] = Counter()
    by_rollouts: Labeller = partial(_label_by_rollouts, config, spent)
    # A verifier that cannot be loaded is told here, too; one that hangs ends with the block.
    with (
        verifying(config.verifier, config.processes) if config.verifier else nullcontext(by_rollouts) as label
    ):
        kept = _with_steps(config, report)
        n_new, seconds = _write_labels(config, kept, label, report)
    report.counts |= {f"rollouts: {name}": n for name, n in sorted(spent.items())}
    _measure(config, report, n_new=n_new, seconds=seconds)
    report.seconds = time.monotonic() - started
    report.outputs["report"] = str(Path(config.output).parent / REPORT_NAME)
    report.write(Path(config.output).parent)
    return report


def _with_steps(config: LabelConfig, report: Report) -> list[Solution]:
    solutions, reading_counts = _solutions(config)
    report.counts |= reading_counts
    kept = [s for s in solutions if s.steps]
    report.counts["solutions without a step, left out"] = len(solutions) - len(kept)
    report.counts["sampled solutions cut by the token limit"] = sum(s.is_cut for s in solutions)
    modes = Counter(f"solutions cut into steps by {s.segment_mode}" for s in kept if s.segment_mode)
    report.counts |= dict(sorted(modes.items()))
    if not kept:
        raise InputError(
            "there is no solution to label.", remedy="Check the input.", file=config.input or None
        )
    return kept


def _write_labels(
    config: LabelConfig, kept: Sequence[Solution], label: Labeller, report: Report
) -> tuple[int, float]:
    """Label what the output does not hold yet; return how many solutions that were, and the seconds."""
    with LabelStore(config.output, _fingerprint(config), is_overwriting=config.overwrite) as store:
        report.counts["rows already there"] = len(store.done)
        report.counts["bytes of a torn last line cut"] = store.torn_bytes
        todo = [s for s in kept if s.id not in store.done]
        labelling = time.monotonic()
        rows = (labelled.to_row() for labelled in label(todo))
        for number, row in enumerate(track(rows, total=len(todo), description="label")):
            if number == 0:
                _remove_descriptions(Path(config.output))
            store.append(row)
        return len(todo), time.monotonic() - labelling


def _remove_descriptions(output: Path) -> None:
    """Remove the report and the card of an earlier run: from its first row on, the file is another one.

    Those of another file, or another stage, in the same folder stay until this run ends.
    """
    report, card = output.with_name(REPORT_NAME), output.with_name(CARD_NAME)
    # What is not there, or cannot be read, is none of ours.
    with suppress(OSError, ValueError):
        if card.read_text(encoding="utf-8").partition("\n")[0] == heading(output.stem):
            card.unlink()
    with suppress(OSError, ValueError, RecursionError, KeyError, TypeError):
        body = json.loads(report.read_bytes())
        if body["stage"] == "label" and Path(body["outputs"]["labels"]).name == output.name:
            report.unlink()


def _measure(config: LabelConfig, report: Report, *, n_new: int, seconds: float) -> None:
    output = Path(config.output)
    labelled = read_labelled(output).items
    card = output.with_name(CARD_NAME)
    facts = write_card(labelled, card, title=output.stem)
    report.outputs |= {
        "labels": str(output),
        "settings and input behind them": str(fingerprint_path(output)),
        "card": str(card),
    }
    report.counts |= {
        "solutions labelled": facts.n_solutions,
        "problems": len(facts.problems),
        "steps": facts.n_steps,
        "steps RIGHT": facts.outcomes["RIGHT"],
        "steps WRONG": facts.outcomes["WRONG"],
        "steps UNDECIDED": facts.outcomes["UNDECIDED"],
    }
    report.counts |= _claims(labelled)
    decided = facts.outcomes["RIGHT"] + facts.outcomes["WRONG"]
    report.numbers["share of steps decided"] = wilson(decided, facts.n_steps)
    report.numbers["reasons of undecided steps"] = dict(facts.undecided_reasons.most_common(MAX_REASONS))
    if n_new:
        n_steps = sum(len(item.labels) for item in labelled[-n_new:])
        report.numbers["solutions per second"] = n_new / max(seconds, 1e-9)
        report.numbers["steps per second"] = n_steps / max(seconds, 1e-9)


_SIMULATOR_TROUBLE = {
    RETRIED: "solutions judged by a simulator that had to be asked again",
    FAILED: "solutions to which a simulator gave no reply",
}


def _claims(labelled: Sequence[LabelledSolution]) -> dict[str, int]:
    tally: Counter[str] = Counter(
        f"claims by {evidence.verifier}: {evidence.outcome}"
        for item in labelled
        for label in item.labels
        for evidence in label.verdict.evidence
    )
    for item in labelled:
        names = item.origin.split(",")
        if len(names) > 1:
            # In a panel another verifier may decide the step, and no undecided one tells of it.
            heard = {evidence.verifier for label in item.labels for evidence in label.verdict.evidence}
            tally.update(f"solutions without a claim by {name}" for name in names if name not in heard)
        # A simulator says it in every step, or in one of them.
        kinds = {evidence.kind for label in item.labels for evidence in label.verdict.evidence}
        tally.update(said for kind, said in _SIMULATOR_TROUBLE.items() if kind in kinds)
    return dict(sorted(tally.items()))


def _fingerprint(config: LabelConfig) -> dict[str, Any]:
    settings = asdict(config)
    for name in ("output", "input", "on_error", "processes", "overwrite"):
        settings.pop(name)
    if config.grader == ANSWERS:
        # Files of labels from before there was a choice are the same.
        settings.pop("grader")
    if behind := settings_behind(f"{config.verifier},{config.simulator}"):
        settings["simulator_settings"] = behind
    settings["input_sha256"] = hash_file(config.input) if config.input else ""
    if config.policy:
        # A model trained anew under the same path is another policy.
        weights = sorted(policy_folder(config.policy).glob("*.safetensors"))
        settings["policy_sha256"] = [hash_file(file) for file in weights]
    return settings


def _solutions(config: LabelConfig) -> tuple[list[Solution], dict[str, int]]:
    if not config.samples:
        reading = read_labelled(config.input, config.on_error, segment_mode=config.segment)
        return [item.solution for item in reading.items], reading.counts()
    reading = _problems(config)
    return _sampled(config, reading.items), reading.counts()


def _problems(config: LabelConfig) -> Reading[Problem]:
    if config.input:
        return read_problems(config.input, config.on_error)
    world = load_simulator(config.simulator)
    problems = world.problems(config.simulator_problems, split=config.split, seed=config.seed)
    return Reading(items=checked_problems(problems, simulator=config.simulator))


def _solutions_file(output: Path) -> Path:
    return output.with_suffix(".solutions.jsonl")


def _sampled(config: LabelConfig, problems: list[Problem]) -> list[Solution]:
    """Sample solutions, or read those that an interrupted run has sampled already."""
    from labeling.rollouts.solve import sample_solutions

    path = _solutions_file(Path(config.output))
    fingerprint = _fingerprint(config)
    for name in ("verifier", "rollouts", "grader"):
        fingerprint.pop(name, None)
    with LabelStore(path, fingerprint, is_overwriting=config.overwrite) as store:
        todo = [p for p in problems if f"{p.id}/{config.samples - 1}" not in store.done]
        if todo:
            sampler = _sampler(config)
            say(f"sampling {config.samples} solutions for each of {len(todo)} problems")
            chunks = sample_solutions(
                todo, sampler, n=config.samples, max_tokens=config.max_tokens, segment_mode=config.segment
            )
            for chunk in chunks:
                for solution in chunk:
                    if solution.id not in store.done:
                        store.append(_solution_row(solution))
    return _read_solutions(path, config.segment)


def _solution_row(solution: Solution) -> dict[str, Any]:
    return {
        "id": solution.id,
        "problem_id": solution.problem.id,
        "prompt": solution.problem.text,
        "answer": solution.problem.answer,
        "meta": dict(solution.problem.meta),
        "completion": solution.text,
        "is_cut": solution.is_cut,
    }


def _read_solutions(path: Path, segment_mode: str) -> list[Solution]:
    from labeling.sources.jsonl import parse_problem, read_rows
    from labeling.steps import segment

    solutions = []
    for row in read_rows(path).items:
        found = segment(row["completion"], segment_mode)
        solutions.append(
            Solution(
                id=row["id"],
                problem=parse_problem(row),
                text=row["completion"],
                steps=found.steps,
                is_cut=row["is_cut"],
                segment_mode=found.mode,
            )
        )
    return solutions


def _label_by_rollouts(
    config: LabelConfig, spent: Counter[str], todo: Sequence[Solution]
) -> Iterator[LabelledSolution]:
    from labeling.rollouts.monte_carlo import estimate_steps, not_graded

    if not todo:
        return
    sampler = _sampler(config)
    grade, can_grade = _grading(config)
    for first in range(0, len(todo), CHUNK):
        chunk = todo[first : first + CHUNK]
        result = estimate_steps(
            [solution for solution in chunk if can_grade(solution.problem)],
            sampler,
            grade,
            n=config.rollouts,
            max_tokens=config.max_tokens,
            seed=config.seed,
        )
        spent.update(
            tokens=result.tokens,
            made=result.rollouts,
            cut=result.cut,
            unparsable=result.unparsable,
            undecided=result.undecided,
        )
        estimated = {labelled.solution.id: labelled for labelled in result.labelled}
        for solution in chunk:
            yield estimated.get(solution.id) or not_graded(solution, NOT_GRADABLE)


def _grading(
    config: LabelConfig,
) -> tuple[Callable[[Problem, str], bool | None], Callable[[Problem], bool]]:
    """Return the grade of rollouts, None for a text without an answer, and whether a problem has one."""
    if config.simulator:
        return load_grading(config.simulator).grade, lambda problem: True
    grader = load_grader(config.grader)
    return grader.grade, getattr(grader, "can_grade", lambda problem: True)


def _sampler(config: LabelConfig) -> Any:
    from labeling.rollouts.transformers_sampler import TransformersSampler

    return TransformersSampler.from_pretrained(
        policy_folder(config.policy), temperature=config.temperature, seed=config.seed
    )
