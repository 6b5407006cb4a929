"""What the starter policy learns from: true solutions, spoilt on purpose and reproducibly.

Four kinds of noise, each something a later stage has to find or mend: *misconceptions* (a wrong
catalogue value or a wrong formula, held more often than the right one, so that the greedy answer is
wrong too), *slips* of arithmetic, and *filler lines* that claim nothing new. An error is carried on.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

from labeling.randomness import derive_seed
from labeling.records import Problem
from labeling.simulators.engineering.catalogue import DEEP_FAMILIES
from labeling.simulators.engineering.short import SHORT_FAMILIES, Formula, work_out
from labeling.simulators.engineering.spec import LARGEST_VALUE, TrueStep, apply, spec_of

WRONG_FORMULAS: Mapping[str, Formula] = {
    # Half of force times span is the moment of no simple beam.
    "beam": ("moment", "product", "/", "2"),
    "bolts": ("sections", "bolts", "+", "planes"),
    "springs": ("deflection", "load", "/", "rate"),
    "pump": ("head", "lift", "-", "friction"),
    "resistors": ("power", "total", "*", "current"),
}
"""Family -> the formula that replaces the step of that name."""

WRONG_VALUES: Mapping[str, int] = {"takedown": 2, "pipeline": 5, "signal": 7, "parts": 8}
"""Deep family -> of how many of its 20 elements a wrong value is held.

Unequal on purpose: a policy is good at some kinds of work and poor at others, and groups of solutions that
all fail, or all succeed, are what an outcome alone cannot teach from.
"""

_FORMULAS = {family.name: family.formulas for family in SHORT_FAMILIES}


@dataclass(frozen=True, kw_only=True)
class Noise:
    """How often what goes wrong. Rates are probabilities."""

    wrong_value_rate: float = 0.65
    """How often a misconceived catalogue value is used, per step."""
    wrong_formula_rate: float = 0.65
    """How often a wrong formula is used, per problem of a family that has one."""
    slip_rate: float = 0.01
    """How often a result is off by one or by ten, per step."""
    filler_rate: float = 0.05
    """How often a filler line follows, per step."""


def misconceptions(seed: int) -> dict[str, int]:
    """Return element -> wrong catalogue value (magnitude, 1..9), differing by 1 to 3 from the right one.

    All err to the same side where a digit allows it: they leave the running value too large. Errors to both
    sides cancel, and right answers by wrong steps would become as frequent as those by right ones.
    """
    wrong: dict[str, int] = {}
    for family in DEEP_FAMILIES:
        rng = Random(derive_seed(seed, "misconceptions", family.name))
        for element in rng.sample(list(family.values), WRONG_VALUES[family.name]):
            signed = family.values[element]
            near = [v for v in range(1, 10) if 1 <= abs(v - abs(signed)) <= 3]
            too_large = [v for v in near if (v > abs(signed)) == (signed > 0)]
            wrong[element] = rng.choice(too_large or near)
    return wrong


@dataclass(frozen=True)
class NoisySolver:
    """Writes solutions with noise; equal (problem, rng) give equal text."""

    seed: int
    noise: Noise = field(default_factory=Noise)
    wrong_values: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        wrong = misconceptions(self.seed)
        object.__setattr__(self, "wrong_values", wrong)

    def write(self, problem: Problem, rng: Random) -> str:
        """Return a solution's text: one line a step, the answer line last, no newline at the end."""
        if problem.meta["part"] == "deep":
            steps = self._chain(list(spec_of(problem).steps), rng)
        else:
            steps = self._short(problem, rng)
        lines: list[str] = []
        for step in steps:
            lines.append(str(step))
            if rng.random() < self.noise.filler_rate:
                lines.append(f"check {step.result} = {step.result}")
        return "\n".join([*lines, f"answer {steps[-1].result}"])

    def _chain(self, steps: list[TrueStep], rng: Random) -> list[TrueStep]:
        written: list[TrueStep] = []
        running = steps[0].left
        for step in steps:
            value = step.right
            if step.name in self.wrong_values and rng.random() < self.noise.wrong_value_rate:
                value = self.wrong_values[step.name]
            result = running + value if step.operator == "+" else running - value
            # Below zero there is no way to write the result; the true value keeps most chains above.
            result = max(0, self._slip(result, rng))
            written.append(TrueStep(step.name, running, step.operator, value, result))
            running = result
        return written

    def _short(self, problem: Problem, rng: Random) -> list[TrueStep]:
        family, given = problem.meta["family"], problem.meta["given"]
        formulas, exact = _FORMULAS[family], list(spec_of(problem).steps)
        if family in WRONG_FORMULAS and rng.random() < self.noise.wrong_formula_rate:
            wrong = WRONG_FORMULAS[family]
            mistaken = tuple(wrong if f[0] == wrong[0] else f for f in formulas)
            # A wrong formula that gives no whole number would be noticed, so the right one is used.
            if (worked_out := work_out(mistaken, given)) is not None:
                formulas, exact = mistaken, worked_out
        return self._with_slips(formulas, given, rng) or exact

    def _with_slips(
        self, formulas: tuple[Formula, ...], given: Mapping[str, int], rng: Random
    ) -> list[TrueStep] | None:
        """Evaluate formulas with slips; None when a slip leads to a value that cannot be written."""
        known = dict(given)
        steps: list[TrueStep] = []
        for name, left, operator, right in formulas:
            a, b = (int(o) if o.isdigit() else known[o] for o in (left, right))
            exact = apply(a, operator, b)
            result = None if exact is None else self._slip(exact, rng)
            if result is None or not 0 <= result <= LARGEST_VALUE:
                return None
            steps.append(TrueStep(name, a, operator, b, result))
            known[name] = result
        return steps

    def _slip(self, result: int, rng: Random) -> int:
        if rng.random() >= self.noise.slip_rate:
            return result
        return result + rng.choice((-10, -1, 1, 10))
