"""Why a wrong value is wrong: what mistake gives just this value."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import log10

from labeling.simulators.structures.agreement import is_same
from labeling.simulators.structures.amounts import computed, shown
from labeling.simulators.structures.mistakes import LOAD_PATH, mistakes_of
from labeling.simulators.structures.quantities import SIGNED, UNIT_OF, Quantity
from labeling.simulators.structures.reading import Stated
from labeling.simulators.structures.reference import filled_in
from labeling.simulators.structures.sections import of_shape
from labeling.simulators.structures.spec import Spec

UNEXPLAINED = "unexplained"
_DECADE = 0.003
"""How far the logarithm of a ratio may lie from a whole number for a slip by a power of ten."""
_MOST_DECADES = 9

_COEFFICIENTS = {
    "moment": {
        "a simple beam with a point load in the middle": 1 / 4,
        "a simple beam with a uniform load": 1 / 8,
        "a cantilever with a point load at its end": 1,
        "a cantilever with a uniform load": 1 / 2,
        "a beam fixed at both ends with a uniform load": 1 / 12,
    },
    "deflection": {
        "a simple beam with a point load in the middle": 1 / 48,
        "a simple beam with a uniform load": 5 / 384,
        "a cantilever with a point load at its end": 1 / 3,
        "a cantilever with a uniform load": 1 / 8,
        "a beam fixed at both ends with a point load in the middle": 1 / 192,
        "a beam fixed at both ends with a uniform load": 1 / 384,
    },
}
"""Kind -> case -> c in M = c F L or delta = c F L^3 / (E I), F being the whole load."""


@dataclass(frozen=True)
class Cause:
    """A mistake that explains a wrong value."""

    name: str
    text: str
    """For a person: "wrong section: value of IPE 220"."""


def causes_of(spec: Spec, quantity: Quantity, stated: Stated, before: Mapping[str, float]) -> list[Cause]:
    """Return the mistakes that give just the stated value, likeliest first; `UNEXPLAINED` when none does.

    A wrong result behind a right working, and a value that follows from an earlier wrong one, need no other
    explanation.

    Args:
        spec: The problem.
        quantity: What the value is of.
        stated: The wrong value, of the right dimensions.
        before: Symbol -> value that earlier steps of the solution stated, right or wrong.
    """
    if known := [*_false_result(spec, quantity, stated), *_carried(spec, quantity, stated, before)]:
        return known
    found = [cause for find in _SEARCHES for cause in find(spec, quantity, stated)]
    return found or [Cause(UNEXPLAINED, "no known mistake gives this value")]


Search = Callable[[Spec, Quantity, Stated], Iterator[Cause]]


def _is_value(stated: Stated, quantity: Quantity, other: float) -> bool:
    value = stated.value if quantity.kind in SIGNED else abs(stated.value)
    return value == other if other == 0 else is_same(value, other, stated.digit)


def _false_result(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    true = spec.values[quantity.symbol]
    if stated.working is not None and is_same(abs(stated.working), abs(true), 0.0):
        working = shown(stated.working, UNIT_OF[quantity.kind])
        yield Cause("arithmetic", f"false arithmetic: the working comes to {working}")


def _sign(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    if quantity.kind in SIGNED and _is_value(stated, quantity, -spec.values[quantity.symbol]):
        positive = "upwards is" if quantity.kind == "reaction" else "tension is"
        yield Cause("wrong_sign", f"wrong sign: {positive} positive")


def _carried(spec: Spec, quantity: Quantity, stated: Stated, before: Mapping[str, float]) -> Iterator[Cause]:
    """Find a value that follows by the formula from an earlier wrong one."""
    units = {q.symbol: UNIT_OF[q.kind] for q in spec.quantities}
    true = spec.values
    wrong = {s: v for s, v in before.items() if s != quantity.symbol and not is_same(v, true[s], 0.0)}
    formula = dict(spec.formulas)[quantity.symbol]
    if not formula or not wrong:
        return
    names = dict(spec.givens) | {s: shown(before.get(s, v), units[s], digits=6) for s, v in true.items()}
    try:
        value = computed(filled_in(formula, names))
    except ValueError:
        # An earlier value of 0 stands under a fraction.
        return
    if _is_value(stated, quantity, value if quantity.kind in SIGNED else abs(value)):
        listed = ", ".join(f"{s} = {shown(v, units[s])}" for s, v in wrong.items())
        yield Cause("carried_on", f"follows from an earlier wrong value ({listed})")


def _unit_slip(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    true = spec.values[quantity.symbol]
    if stated.value == 0 or true == 0:
        return
    decades = log10(abs(stated.value / true))
    nearest = round(decades)
    if 0 < abs(nearest) <= _MOST_DECADES and abs(decades - nearest) < _DECADE:
        yield Cause("unit_slip", f"unit slip: off by a factor of 10^{nearest}")


def _other_place(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    for other in spec.quantities:
        if other.kind == quantity.kind and other.symbol != quantity.symbol:
            value = spec.values[other.symbol]
            if _is_value(stated, quantity, value):
                yield Cause(LOAD_PATH, f"wrong load path: value of {other.symbol}")


def _other_section(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    for name, values in section_values(spec).items():
        if quantity.symbol in values and _is_value(stated, quantity, values[quantity.symbol]):
            yield Cause("wrong_section", f"wrong section: value of {name}")


def section_values(spec: Spec) -> dict[str, dict[str, float]]:
    """Return the other sections of the shape -> symbol -> value, of what depends on the section.

    In a structure of one section throughout, no force depends on it, stresses go with 1 / W (1 / A in
    trusses) and deflections with 1 / I (1 / A).
    """
    true, own = spec.values, spec.setting.section
    is_truss = any(q.kind == "area" for q in spec.quantities)
    found: dict[str, dict[str, float]] = {}
    for section in of_shape(own.shape):
        if section == own:
            continue
        area = section.area / own.area
        modulus = area if is_truss else section.modulus / own.modulus
        bending = area if is_truss else section.second_moment / own.second_moment
        factor = {
            "area": area,
            "second_moment": bending,
            "section_modulus": modulus,
            "stress": 1 / modulus,
            "deflection": 1 / bending,
            "safety": modulus,
        }
        found[section.name] = {
            q.symbol: true[q.symbol] * factor[q.kind] for q in spec.quantities if q.kind in factor
        }
    return found


def _other_structure(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    for mistake, values in mistakes_of(spec):
        if _is_value(stated, quantity, values[quantity.symbol]):
            yield Cause(mistake.cause, f"{mistake.cause.replace('_', ' ')}: {mistake.description}")


def _other_formula(spec: Spec, quantity: Quantity, stated: Stated) -> Iterator[Cause]:
    for case, value in formula_values(spec, quantity).items():
        if _is_value(stated, quantity, value):
            yield Cause("other_formula", f"formula of another case: {case}")


def formula_values(spec: Spec, quantity: Quantity) -> dict[str, float]:
    """Return case -> what its formula gives for this problem's load, length and stiffness.

    Empty unless the structure is a beam with one load and one length.
    """
    givens, setting = dict(spec.givens), spec.setting
    loads = setting.structure.loads
    is_beam = len({node.y for node in setting.structure.nodes}) == 1
    if quantity.kind not in _COEFFICIENTS or not is_beam or len(loads) != 1 or "L" not in givens:
        return {}
    length = computed(givens["L"])
    load = computed(givens["P"]) if "P" in givens else computed(givens["q"]) * length
    scale = load * length
    if quantity.kind == "deflection":
        scale *= length**2 / (setting.modulus * 1e6 * setting.section.second_moment * 1e-12)
    true = spec.values[quantity.symbol]
    values = {case: c * scale for case, c in _COEFFICIENTS[quantity.kind].items()}
    return {case: value for case, value in values.items() if not is_same(value, true, 0.0)}


_SEARCHES: tuple[Search, ...] = (
    _sign,
    _unit_slip,
    _other_place,
    _other_section,
    _other_structure,
    _other_formula,
)
