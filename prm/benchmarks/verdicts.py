"""Verdicts of verifiers against known first errors, matched by record id."""

from collections.abc import Sequence
from dataclasses import dataclass

from labeling.errors import RecordError
from labeling.records import LabelledSolution, known_first_error, normalised_problem_text
from labeling.report import Estimate, wilson
from labeling.verifiers.verdict import Outcome
from prm.benchmarks.first_error import ALL_RIGHT, first_error_over_problems, flag_score


@dataclass(frozen=True, kw_only=True)
class JudgedChain:
    """One solution with its verdicts and its true first error."""

    problem: str
    """Normalised problem text: chains of one problem are resampled together."""
    outcomes: tuple[Outcome, ...]
    """One verdict a step."""
    first_error: int
    """Index, or -1 for all right."""

    @property
    def flagged_first(self) -> int | None:
        """Index of the first WRONG step; None when no step is. An UNDECIDED step before it hides nothing."""
        return next((i for i, o in enumerate(self.outcomes) if o is Outcome.WRONG), None)


@dataclass(frozen=True, kw_only=True)
class Matching:
    """Verdicts paired with labels, and everything that found no partner."""

    chains: list[JudgedChain]
    unknown_first_error: list[str]
    """Ids of records whose label does not say where the first error is."""
    unmatched: dict[str, str]
    """Id of a labelled record -> why its verdicts cannot be used; empty unless errors are skipped."""
    unlabelled: list[str]
    """Ids with verdicts that no labelled record has."""

    def counts(self) -> dict[str, int]:
        """Counts for a report, zeros included."""
        flags = [(c.flagged_first, c.first_error) for c in self.chains]
        on_errors = [(flag, true) for flag, true in flags if flag is not None and true != ALL_RIGHT]
        steps = [o for c in self.chains for o in c.outcomes]
        return {
            "solutions measured": len(self.chains),
            "of these with an error": sum(true != ALL_RIGHT for _, true in flags),
            "of these all right": sum(true == ALL_RIGHT for _, true in flags),
            "labelled records without usable verdicts": len(self.unmatched),
            "labelled records with unknown first error": len(self.unknown_first_error),
            "verdicts without a labelled record": len(self.unlabelled),
            "flags exactly on the first error": sum(flag == true for flag, true in on_errors),
            "flags before the first error": sum(flag < true for flag, true in on_errors),
            "flags after the first error": sum(flag > true for flag, true in on_errors),
            "flags on chains that are all right": sum(
                flag is not None and true == ALL_RIGHT for flag, true in flags
            ),
            **{f"steps {o}": sum(step is o for step in steps) for o in Outcome},
        }


def match_verdicts(
    verdicts: Sequence[LabelledSolution], labels: Sequence[LabelledSolution], *, on_error: str, file: str = ""
) -> Matching:
    """Pair verdicts with labels by id; the steps of a pair must be the same texts.

    Args:
        verdicts: What a verifier said.
        labels: The truth.
        on_error: "stop" at a labelled record without usable verdicts, or "skip" and keep the reason.
        file: Where the verdicts come from, for messages.

    Raises:
        RecordError: A labelled record has no verdicts, or for other steps, and `on_error` is "stop".
    """
    by_id = {judged.solution.id: judged for judged in verdicts}
    found = Matching(chains=[], unknown_first_error=[], unmatched={}, unlabelled=[])
    for labelled in labels:
        record_id = labelled.solution.id
        judged = by_id.pop(record_id, None)
        fault = _fault(judged, labelled)
        first_error = known_first_error(labelled)
        if judged is None or fault:
            if on_error == "stop":
                raise RecordError(
                    fault,
                    remedy="Label the same file again, or count such records with --on-error skip.",
                    file=file or None,
                    record_id=record_id,
                )
            found.unmatched[record_id] = fault
        elif first_error is None:
            found.unknown_first_error.append(record_id)
        else:
            outcomes = tuple(label.verdict.outcome for label in judged.labels)
            problem = normalised_problem_text(labelled.solution.problem.text)
            found.chains.append(JudgedChain(problem=problem, outcomes=outcomes, first_error=first_error))
    found.unlabelled.extend(by_id)
    return found


def measure_verdicts(
    chains: Sequence[JudgedChain], *, seed: int, resamples: int = 500
) -> dict[str, Estimate]:
    """How good flags are, and how much was decided at all.

    For flags on first errors and on whole chains see `flag_score`. The `first_error_*` numbers are
    ProcessBench's, with "no flag" read as "all right". Wilson intervals take chains, or steps, as
    independent.

    Args:
        chains: Verdicts with their truth.
        seed: Root seed of the intervals that resample problems.
        resamples: Resamples of problems behind each of those.
    """
    flagged = [chain.flagged_first for chain in chains]
    gold = [chain.first_error for chain in chains]
    flags = flag_score(flagged, gold)
    steps = [outcome for chain in chains for outcome in chain.outcomes]
    return {
        **vars(flags),
        "share_of_steps_decided": wilson(sum(o is not Outcome.UNDECIDED for o in steps), len(steps)),
        **first_error_over_problems(
            [chain.problem for chain in chains],
            [ALL_RIGHT if flag is None else flag for flag in flagged],
            gold,
            seed=seed,
            draws=resamples,
        ),
    }


def _fault(judged: LabelledSolution | None, labelled: LabelledSolution) -> str:
    if judged is None:
        return "this labelled record has no verdicts."
    if judged.solution.step_texts != labelled.solution.step_texts:
        return (
            f"the verdicts are for other steps ({len(judged.solution.steps)}) "
            f"than the labels ({len(labelled.solution.steps)})."
        )
    return ""
