"""Solutions with one mistake each, carried on to the end: what a judge has to find, and why."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from labeling.records import Problem
from labeling.simulators.structures.agreement import is_same
from labeling.simulators.structures.amounts import shown
from labeling.simulators.structures.causes import formula_values, section_values
from labeling.simulators.structures.mistakes import mistakes_of
from labeling.simulators.structures.quantities import SIGNED, UNIT_OF
from labeling.simulators.structures.reference import closing_lines, line_of, quantity_lines
from labeling.simulators.structures.spec import Spec, spec_of


@dataclass(frozen=True, kw_only=True)
class Mutant:
    """A wrong solution."""

    name: str
    """What was changed; names are distinct within a problem."""
    steps: tuple[str, ...]
    first_wrong: int
    """Index of the first wrong step."""
    cause: str
    """What the evidence of that step must name."""


def mutants(problem: Problem) -> list[Mutant]:
    """Return at least five wrong solutions of a problem of this world.

    Raises:
        RecordError: The problem is not of this world.
        MissingExtraError: PyNiteFEA is not installed.
    """
    spec = spec_of(problem)
    lines, amounts = quantity_lines(spec)
    right = [*lines, *closing_lines(spec, amounts)]
    found = [
        *_false_results(spec, right),
        *_unit_mistakes(spec, right, amounts),
        *_wrong_sections(spec, right),
        *_wrong_structures(spec, right),
        *_wrong_formulas(spec, right),
        _wrong_verdict(spec, right),
    ]
    return list({mutant.name: mutant for mutant in found}.values())


def _first_wrong(steps: list[str], right: list[str], spec: Spec, values: Mapping[str, float]) -> int:
    """Return the index of the first quantity whose value differs from the true one."""
    true = spec.values
    for index, quantity in enumerate(spec.quantities):
        if not is_same(values[quantity.symbol], true[quantity.symbol], 0.0):
            return index
    return next(i for i, (ours, theirs) in enumerate(zip(steps, right, strict=True)) if ours != theirs)


def _changed(
    spec: Spec, right: list[str], overrides: Mapping[str, str], *, name: str, cause: str
) -> Iterator[Mutant]:
    """Yield the solution in which some values are other ones, carried on; none when all stay right."""
    lines, amounts = quantity_lines(spec, overrides)
    steps = [*lines, *closing_lines(spec, amounts)]
    if steps != right and any(not is_same(amounts[s], v, 0.0) for s, v in spec.values.items()):
        first = _first_wrong(steps, right, spec, amounts)
        yield Mutant(name=name, steps=tuple(steps), first_wrong=first, cause=cause)


def _false_results(spec: Spec, right: list[str]) -> Iterator[Mutant]:
    """Keep the working of a step, and state 7 % more than it comes to."""
    _, amounts = quantity_lines(spec)
    computing = [q for q, (_, formula) in zip(spec.quantities, spec.formulas, strict=True) if "/" in formula]
    for quantity in (computing[0], next(q for q in computing if q.kind == "stress")):
        result = shown(1.07 * amounts[quantity.symbol], UNIT_OF[quantity.kind])
        for mutant in _changed(
            spec,
            right,
            {quantity.symbol: result},
            name=f"false result of {quantity.symbol}",
            cause="arithmetic",
        ):
            steps = list(mutant.steps)
            at = spec.quantities.index(quantity)
            head, _, _ = right[at].rpartition(" = ")
            steps[at] = f"{head} = {result}."
            yield replace(mutant, steps=tuple(steps))


def _unit_mistakes(spec: Spec, right: list[str], amounts: Mapping[str, float]) -> Iterator[Mutant]:
    for quantity in spec.quantities:
        unit, at = UNIT_OF[quantity.kind], spec.quantities.index(quantity)
        if quantity.kind in ("stress", "deflection", "section_modulus", "area"):
            slipped = {quantity.symbol: shown(amounts[quantity.symbol] / 1000, unit)}
            name = f"{quantity.symbol} a thousand times too small"
            yield from _changed(spec, right, slipped, name=name, cause="unit_slip")
        if quantity.kind in ("moment", "axial"):
            wrong_unit = "kN" if quantity.kind == "moment" else "MPa"
            number = shown(amounts[quantity.symbol], unit).partition(" ")[0]
            steps = list(right)
            steps[at] = line_of(quantity, f"{number} {wrong_unit}")
            yield Mutant(
                name=f"{quantity.symbol} in {wrong_unit}",
                steps=tuple(steps),
                first_wrong=at,
                cause="dimension",
            )
        if quantity.kind in SIGNED and amounts[quantity.symbol] < 0:
            flipped = {quantity.symbol: shown(-amounts[quantity.symbol], unit)}
            name = f"{quantity.symbol} the other way"
            yield from _changed(spec, right, flipped, name=name, cause="wrong_sign")


def _wrong_sections(spec: Spec, right: list[str]) -> Iterator[Mutant]:
    kinds = {q.symbol: q.kind for q in spec.quantities}
    first = next(q for q in spec.quantities if q.kind in ("second_moment", "area"))
    near = sorted(
        section_values(spec).items(),
        key=lambda item: abs(item[1][first.symbol] - spec.values[first.symbol]),
    )
    for name, values in near[:2]:
        changed = {
            symbol: shown(values[symbol], UNIT_OF[kinds[symbol]])
            for symbol in ("I", "W", "A")
            if symbol in values
        }
        yield from _changed(spec, right, changed, name=f"section {name}", cause="wrong_section")


def _wrong_structures(spec: Spec, right: list[str]) -> Iterator[Mutant]:
    for mistake, values in mistakes_of(spec):
        changed = {
            q.symbol: shown(values[q.symbol], UNIT_OF[q.kind])
            for q in spec.quantities
            if not is_same(values[q.symbol], spec.values[q.symbol], 0.0)
        }
        yield from _changed(spec, right, changed, name=mistake.description, cause=mistake.cause)


def _wrong_formulas(spec: Spec, right: list[str]) -> Iterator[Mutant]:
    for quantity in spec.quantities:
        for case, value in formula_values(spec, quantity).items():
            changed = {quantity.symbol: shown(value, UNIT_OF[quantity.kind])}
            name = f"{quantity.symbol} of {case}"
            yield from _changed(spec, right, changed, name=name, cause="other_formula")


def _wrong_verdict(spec: Spec, right: list[str]) -> Mutant:
    head, _, _ = right[-1].rpartition(", ")
    answer = f"{head}, {'not safe' if spec.is_safe else 'safe'}"
    return Mutant(
        name="the opposite verdict",
        steps=(*right[:-1], answer),
        first_wrong=len(right) - 1,
        cause="wrong_verdict",
    )
