"""The stress-limits world: problem source, step verifier and grader over a finite-element model."""

import difflib

from labeling.errors import ConfigError
from labeling.records import Problem, Solution
from labeling.simulators.base import StepTruth
from labeling.simulators.splits import distinct_problems
from labeling.simulators.structures.drawing import draw_problem
from labeling.simulators.structures.families import FAMILIES
from labeling.simulators.structures.families.base import LEVELS
from labeling.simulators.structures.grading import grade_text
from labeling.simulators.structures.judge import Judge
from labeling.simulators.structures.spec import spec_of
from labeling.verifiers.units import UnitsVerifier
from labeling.verifiers.verdict import Evidence, Outcome, Verdict


class StressLimits:
    """Beams, trusses and frames against stress and deflection limits; implements `Simulator`.

    A step is WRONG when a named quantity in it differs from the solved model, when a limit is judged the
    wrong way, or when an equation in it is false by its own numbers and units; judged against the true
    values, so an error that is carried on keeps later steps WRONG. It is RIGHT when all it states of named
    quantities is right, and UNDECIDED when it states none, or one that cannot be told.

    Args:
        families: Names to keep; None keeps all.
        level: "easy", "medium" or "hard" keeps the families of that level; None keeps all.

    Raises:
        ConfigError: A family or level does not exist, or none is left.
    """

    def __init__(self, *, families: tuple[str, ...] | None = None, level: str | None = None) -> None:
        if level is not None and level not in LEVELS:
            raise ConfigError(f"there is no level {level!r}.", remedy=f"Use one of {', '.join(LEVELS)}.")
        chosen = tuple(FAMILIES) if families is None else families
        for family in chosen:
            if family not in FAMILIES:
                near = difflib.get_close_matches(family, FAMILIES, n=1)
                hint = f" Did you mean {near[0]}?" if near else ""
                raise ConfigError(
                    f"the structures world has no family {family!r}.{hint}",
                    remedy=f"It has {', '.join(FAMILIES)}.",
                )
        self.families = tuple(f for f in chosen if level is None or FAMILIES[f].level == level)
        if not self.families:
            raise ConfigError(
                "no family is left.", remedy="Leave `families` out, or choose one of this level."
            )
        self._units = UnitsVerifier()

    @property
    def name(self) -> str:
        """Short name, as written in evidence."""
        return "structures"

    def problems(self, count: int, *, split: str, seed: int) -> list[Problem]:
        """Generate `count` problems with distinct texts; a longer list begins with the shorter one.

        A text belongs to exactly one split, by a hash of the text, whatever the seed.

        Raises:
            ConfigError: The split does not exist, or the chosen families hold too few problems.
            MissingExtraError: PyNiteFEA is not installed.
        """
        return distinct_problems(
            lambda rng: draw_problem(FAMILIES[rng.choice(self.families)], rng),
            count,
            world="structures",
            split=split,
            seed=seed,
            remedy="Ask for fewer problems or more families.",
        )

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step against the solved model; one verdict a step.

        Raises:
            RecordError: The problem is not of this world.
            MissingExtraError: PyNiteFEA is not installed.
        """
        return [verdict for verdict, _ in self._judged(problem, solution)]

    def truth(self, problem: Problem, solution: Solution) -> list[StepTruth]:
        """Return what is known of each step, one record a step.

        Raises:
            RecordError: The problem is not of this world.
            MissingExtraError: PyNiteFEA is not installed.
        """
        return [truth for _, truth in self._judged(problem, solution)]

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether a solution's answer is right: factor of safety and verdict both.

        The first line that begins with "Answer" ends a solution: it is the one that counts, and any
        further text behind it makes the solution wrong, so that answering twice never pays.

        Returns:
            True or False; None when no line gives an answer.

        Raises:
            RecordError: The problem is not of this world.
            MissingExtraError: PyNiteFEA is not installed.
        """
        return grade_text(spec_of(problem), text)

    def _judged(self, problem: Problem, solution: Solution) -> list[tuple[Verdict, StepTruth]]:
        judge = Judge(spec_of(problem), self.name)
        texts = [step.text for step in solution.steps]
        arithmetic = self._units.verify(problem, solution)
        judged = []
        for index, (text, units) in enumerate(zip(texts, arithmetic, strict=True)):
            found, is_needed = judge.step(text, following=texts[index + 1] if index + 1 < len(texts) else "")
            false = [_false_equation(self.name, item) for item in units.evidence if _is_wrong(item)]
            truth = StepTruth(
                is_equation_right={Outcome.RIGHT: True, Outcome.WRONG: False}.get(units.outcome),
                is_quantity_right=_all_right(found),
                is_needed=is_needed,
            )
            judged.append((_verdict([*false, *found]), truth))
        return judged


def _is_wrong(item: Evidence) -> bool:
    return item.outcome == Outcome.WRONG


def _false_equation(name: str, item: Evidence) -> Evidence:
    """Return the units verifier's evidence of a false equation as this world's."""
    return Evidence(
        verifier=name,
        outcome=item.outcome,
        kind="equation: arithmetic",
        text=item.text,
        start=item.start,
        end=item.end,
        left=item.left,
        right=item.right,
        reason=f"the equation is false by its own numbers: {item.reason}",
    )


def _all_right(found: list[Evidence]) -> bool | None:
    outcomes = {item.outcome for item in found}
    if Outcome.WRONG in outcomes:
        return False
    return True if outcomes == {Outcome.RIGHT} else None


def _verdict(evidence: list[Evidence]) -> Verdict:
    """Join the evidence of one step: WRONG wins, then UNDECIDED."""
    for outcome in (Outcome.WRONG, Outcome.UNDECIDED):
        for item in evidence:
            if item.outcome == outcome:
                return Verdict(outcome, item.reason, tuple(evidence))
    if not evidence:
        return Verdict.undecided("no named quantity of the problem is stated")
    return Verdict.right("every stated quantity agrees with the model", evidence)
