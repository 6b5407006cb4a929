"""The embedded world: engineering problems with a computable truth."""

import difflib
import hashlib
from random import Random

from labeling.errors import ConfigError
from labeling.records import Problem, Solution
from labeling.simulators.base import StepTruth
from labeling.simulators.engineering.catalogue import DEEP_FAMILIES
from labeling.simulators.engineering.deep import draw_deep
from labeling.simulators.engineering.judge import Finding, Judge, combine
from labeling.simulators.engineering.short import SHORT_FAMILIES, draw_short
from labeling.simulators.engineering.spec import spec_of, steps_meta
from labeling.simulators.splits import distinct_problems
from labeling.verifiers.verdict import Evidence, Verdict

PARTS = ("short", "deep", "all")
SMALLEST_DEPTH, LARGEST_DEPTH = 3, 12

_SHORT = {family.name: family for family in SHORT_FAMILIES}
_DEEP = {family.name: family for family in DEEP_FAMILIES}


class EngineeringWorld:
    """Problem source, step verifier and grader in one; implements `labeling.simulators.base.Simulator`.

    A step is WRONG when its equation is false or when a value, an operator, an element or the result
    carried in differs from the problem's true solution; judged against the true running value, so an
    error that is carried on keeps the following steps WRONG. In the deep part, a step that passes an
    element over is WRONG too. A line that nobody can read, or a true equation on another way to the
    right value, is UNDECIDED. Filler ("check 30 = 30") and repetitions are RIGHT when true, never
    needed.

    Args:
        part: "short" (3 to 6 steps, everything stands in the text), "deep" (chains of `depths`
            elements whose values only the catalogue knows), or "all".
        families: Names to keep; None keeps all of the part.
        depths: Smallest and largest number of elements of a deep problem, within 3..12.

    Raises:
        ConfigError: A part, family or depth does not exist.
    """

    def __init__(
        self,
        *,
        part: str = "all",
        families: tuple[str, ...] | None = None,
        depths: tuple[int, int] = (SMALLEST_DEPTH, LARGEST_DEPTH),
    ) -> None:
        if part not in PARTS:
            raise ConfigError(f"there is no part {part!r}.", remedy=f"Use one of {', '.join(PARTS)}.")
        low, high = depths
        if not SMALLEST_DEPTH <= low <= high <= LARGEST_DEPTH:
            raise ConfigError(
                f"depths {low}..{high} are not within {SMALLEST_DEPTH}..{LARGEST_DEPTH}.",
                remedy="Give the smaller depth first.",
            )
        self.depths = (low, high)
        self.families = _chosen(part, families)

    @property
    def name(self) -> str:
        """Short name, as written in evidence."""
        return "engineering"

    def problems(self, count: int, *, split: str, seed: int) -> list[Problem]:
        """Generate `count` problems with distinct texts; a longer list begins with the shorter one.

        A text belongs to exactly one split, by a hash of the text, whatever the seed.

        Raises:
            ConfigError: The split does not exist, or the chosen families hold too few problems.
        """
        return distinct_problems(
            self._draw,
            count,
            world="engineering",
            split=split,
            seed=seed,
            remedy="Ask for fewer problems, more families, or greater depths.",
        )

    def _draw(self, rng: Random) -> Problem:
        family = rng.choice(self.families)
        if family in _DEEP:
            depth = rng.randint(*self.depths)
            text, steps = draw_deep(_DEEP[family], depth, rng)
            meta = {"part": "deep", "family": family, "depth": depth, "unit": _DEEP[family].unit}
        else:
            text, steps, given = draw_short(_SHORT[family], rng)
            meta = {"part": "short", "family": family, "unit": _SHORT[family].unit, "given": given}
        meta["steps"] = steps_meta(steps)
        digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        answer = str(steps[-1].result)
        return Problem(id=f"{meta['part']}-{family}-{digest}", text=text, answer=answer, meta=meta)

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step against the true solution; one verdict a step.

        Raises:
            RecordError: The problem is not of this world.
        """
        findings = _judged(problem, solution)
        return [_verdict(self.name, step.text, f) for step, f in zip(solution.steps, findings, strict=True)]

    def truth(self, problem: Problem, solution: Solution) -> list[StepTruth]:
        """Return what is known of each step, one record a step.

        Raises:
            RecordError: The problem is not of this world.
        """
        return [finding.truth for finding in _judged(problem, solution)]

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether a solution's answer is right.

        The first line of the form `answer A` ends a solution: it is the one that counts, and any
        further text behind it makes the solution wrong, so that answering twice never pays.

        Returns:
            True or False; None when no line gives an answer.

        Raises:
            RecordError: The problem is not of this world.
        """
        spec = spec_of(problem)
        lines = [line.strip() for line in text.splitlines()]
        for index, line in enumerate(lines):
            finding = Judge(spec).line(line)
            if finding.kind == "final_answer":
                is_last = not any(lines[index + 1 :])
                return is_last and bool(finding.truth.is_quantity_right)
        return None


def _chosen(part: str, families: tuple[str, ...] | None) -> tuple[str, ...]:
    known = {"short": tuple(_SHORT), "deep": tuple(_DEEP), "all": (*_SHORT, *_DEEP)}[part]
    if families is None:
        return known
    for family in families:
        if family not in known:
            near = difflib.get_close_matches(family, known, n=1)
            hint = f" Did you mean {near[0]}?" if near else ""
            raise ConfigError(
                f"part {part} has no family {family!r}.{hint}", remedy=f"It has {', '.join(known)}."
            )
    if not families:
        raise ConfigError("no family was chosen.", remedy="Leave `families` out to keep all.")
    return tuple(families)


def _judged(problem: Problem, solution: Solution) -> list[Finding]:
    judge = Judge(spec_of(problem))
    return [combine([judge.line(line) for line in step.text.splitlines() or [""]]) for step in solution.steps]


def _verdict(name: str, text: str, finding: Finding) -> Verdict:
    evidence = Evidence(
        verifier=name,
        outcome=str(finding.outcome),
        kind=finding.kind,
        text=text,
        start=0,
        end=len(text),
        left=text.strip(),
        right=finding.expected,
        reason=finding.reason,
    )
    return Verdict(finding.outcome, finding.reason, (evidence,))
