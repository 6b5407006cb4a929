"""Several verifiers -> one: what they say of a step is put together by an explicit rule."""

import re
from collections.abc import Sequence

from labeling._at_once import concurrency_of
from labeling.records import Problem, Solution
from labeling.verifiers.verdict import Outcome, Verdict, Verifier, check_verdicts


def combine(verdicts: Sequence[tuple[str, Verdict]]) -> Verdict:
    """Combine what several verifiers say of one step.

    WRONG when any says WRONG; else RIGHT when at least one says RIGHT; else UNDECIDED. Right
    arithmetic in a step does not excuse its wrong answer, so WRONG wins, and the dissent stays in the
    reason. Evidence of all is kept, in order.

    Args:
        verdicts: (verifier's name, verdict), in the panel's order.
    """
    said = {outcome: [each for each in verdicts if each[1].outcome is outcome] for outcome in Outcome}
    outcome = next((o for o in (Outcome.WRONG, Outcome.RIGHT) if said[o]), Outcome.UNDECIDED)
    reason = "; ".join(f"{name}: {verdict.reason}" for name, verdict in said[outcome] if verdict.reason)
    if outcome is Outcome.WRONG and said[Outcome.RIGHT]:
        reason += f"; dissent: {', '.join(name for name, _ in said[Outcome.RIGHT])} says RIGHT"
    evidence = tuple(item for _, verdict in verdicts for item in verdict.evidence)
    return Verdict(outcome, reason, evidence)


def reasons_of(reason: str, panel: str) -> list[str]:
    """Return a combined reason member by member ("units: no known unit"), one verifier's own as it is.

    Args:
        reason: As `combine` wrote it.
        panel: The members' names, joined by commas, in the panel's order.
    """
    names = panel.split(",")
    if len(names) < 2:
        return [reason]
    begins = "|".join(map(re.escape, names))
    return re.split(rf"; (?=(?:{begins}): )", reason)


class Panel:
    """A verifier made of verifiers; see `combine` for the rule.

    Args:
        verifiers: At least one; their order is the order of reasons and evidence.
    """

    def __init__(self, verifiers: Sequence[Verifier]) -> None:
        if not verifiers:
            raise ValueError("a panel needs at least one verifier")
        self.verifiers = tuple(verifiers)

    @property
    def name(self) -> str:
        """The members' names, joined by commas."""
        return ",".join(verifier.name for verifier in self.verifiers)

    @property
    def concurrency(self) -> int | None:
        """1 when a member has processes of its own, so that nobody starts further ones for it; else None."""
        return None if all(concurrency_of(verifier) is None for verifier in self.verifiers) else 1

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by all members.

        Raises:
            RecordError: A member returned anything but one verdict a step.
        """
        n_steps = len(solution.steps)
        columns = [
            (
                member.name,
                check_verdicts(
                    member.verify(problem, solution),
                    name=member.name,
                    n_steps=n_steps,
                    record_id=solution.id,
                ),
            )
            for member in self.verifiers
        ]
        return [combine([(name, verdicts[index]) for name, verdicts in columns]) for index in range(n_steps)]

    def close(self) -> None:
        """Close the members that hold something open, such as worker processes."""
        for verifier in self.verifiers:
            close = getattr(verifier, "close", None)
            if close is not None:
                close()
