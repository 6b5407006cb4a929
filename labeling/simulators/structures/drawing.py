"""A draft and a section -> a whole problem: its spec and its text."""

import hashlib
from random import Random

from labeling.records import Problem
from labeling.simulators.structures.amounts import plain
from labeling.simulators.structures.families import Family
from labeling.simulators.structures.families.base import Draft, given
from labeling.simulators.structures.quantities import UNIT_OF, Quantity, Setting, values_of
from labeling.simulators.structures.sections import MATERIALS, Material, Section, of_shape
from labeling.simulators.structures.spec import Spec, meta_of

MARGIN = 0.05
"""No stress and no deflection lies closer to its limit than this share: a rounded solution then decides
as the exact one does."""
_UTILISATION = (0.5, 1.3)
"""Range of stress over allowable stress, and of deflection over its limit, that is aimed at."""

_BENDING = (
    Quantity("V_max", "shear"),
    Quantity("M_max", "moment"),
    Quantity("I", "second_moment"),
    Quantity("W", "section_modulus"),
)
_AREA = Quantity("A", "area")
_STRESS, _SAFETY = Quantity("sigma", "stress"), Quantity("n", "safety")
_SECOND_MOMENT_OF = {
    "I": "(B * H^3 - b_i * h_i^3) / 12",
    "box": "(B * H^3 - b_i * h_i^3) / 12",
    "rectangle": "B * H^3 / 12",
}


def draw_problem(family: Family, rng: Random) -> Problem:
    """Draw a problem of a family.

    Raises:
        MissingExtraError: PyNiteFEA is not installed.
    """
    while (drawn := _drawn(family, rng)) is None:
        pass
    text, spec = drawn
    values = spec.values
    digest = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
    return Problem(
        id=f"structures-{family.name}-{digest}",
        text=text,
        answer=answer_of(values["n"], is_safe=spec.is_safe),
        meta=meta_of(spec) | {"level": family.level},
    )


def answer_of(safety: float, *, is_safe: bool) -> str:
    """Return an answer as a solution ends in it."""
    return f"n = {plain(safety, digits=3)}, {'safe' if is_safe else 'not safe'}"


def _drawn(family: Family, rng: Random) -> tuple[str, Spec] | None:
    """Draw text and spec; None when a limit is too close or the catalogue has no section for the loads."""
    draft = family.draw(rng)
    is_truss = any(member.is_bar for member in draft.structure.members)
    material = MATERIALS[0] if is_truss else rng.choice(MATERIALS)
    shape = "pipe" if is_truss else rng.choice(material.shapes)
    allowable = float(rng.choice(material.allowable))
    asked = _asked(draft, is_truss=is_truss)
    # Where all members share one section, it changes no force: one solution tells the stress in each.
    sections = of_shape(shape)
    first = Setting(draft.structure, sections[0], material.modulus, allowable)
    load = values_of(first, asked)["sigma"] * _resistance(sections[0])
    wanted = allowable * 1e6 * rng.uniform(*_UTILISATION)
    section = min(sections, key=lambda s: abs(load / _resistance(s) - wanted))
    setting = first._replace(section=section)
    values = values_of(setting, asked)
    ratio = values["sigma"] / (allowable * 1e6)
    deflection = values[draft.deflection.symbol] * 1e3
    limit = _rounded(deflection / rng.uniform(*_UTILISATION))
    if not _is_clear(ratio) or limit <= 0 or not _is_clear(deflection / limit):
        return None
    spec = Spec(
        family=family.name,
        setting=setting,
        limit=limit,
        quantities=asked,
        formulas=tuple((q.symbol, _formula(q, draft, section)) for q in asked),
        givens=tuple((dict(draft.givens) | _more_givens(section, material, allowable)).items()),
        mistakes=draft.mistakes,
    )
    return _text(draft.opening, spec, material), spec


def _asked(draft: Draft, *, is_truss: bool) -> tuple[Quantity, ...]:
    middle = (_AREA,) if is_truss else _BENDING
    return (*draft.asked, *middle, _STRESS, draft.deflection, _SAFETY)


def _resistance(section: Section) -> float:
    return section.area if section.shape == "pipe" else section.modulus


def _is_clear(ratio: float) -> bool:
    return 0.3 <= ratio <= 2 and abs(ratio - 1) >= MARGIN


def _rounded(limit: float) -> float:
    return float(round(limit)) if limit >= 10 else round(limit, 1)


def _formula(quantity: Quantity, draft: Draft, section: Section) -> str:
    if quantity.symbol in draft.formulas:
        return draft.formulas[quantity.symbol]
    return {
        "second_moment": _SECOND_MOMENT_OF.get(section.shape, ""),
        "section_modulus": "I / (H / 2)",
        "area": "pi * (D^2 - d_i^2) / 4",
        "stress": "M_max / W",
        "safety": "allowable / sigma",
    }[quantity.kind]


def _more_givens(section: Section, material: Material, allowable: float) -> dict[str, str]:
    width, height = section.hole
    sizes = {"D": section.height, "d_i": height}
    if section.shape != "pipe":
        sizes = {"B": section.width, "H": section.height, "b_i": width, "h_i": height}
    return given("GPa", E=material.modulus / 1e3) | given("MPa", allowable=allowable) | given("mm", **sizes)


def _text(opening: str, spec: Spec, material: Material) -> str:
    setting, where = spec.setting, spec.deflection
    is_truss = any(q.kind == "area" for q in spec.quantities)
    bent = "" if is_truss else ", bent about its strong axis"
    left_out = "and buckling are" if is_truss else "and shear and axial deformations are"
    return (
        f"{opening} All members have the section {setting.section.description}{bent}, and are of "
        f"{material.name} with E = {plain(setting.modulus / 1e3)} GPa. The allowable stress is "
        f"{setting.allowable:g} MPa; the {_sideways(where)}deflection at {where.place} is limited to "
        f"{spec.limit:g} mm. Own weight {left_out} neglected. Find {_wanted(spec)}. Write every value with "
        f"its "
        'unit. End with a line of the form "Answer: n = 1.00, safe" or "Answer: n = 1.00, not safe": safe '
        "when the stress and the deflection both keep their limits."
    )


def _wanted(spec: Spec) -> str:
    symbols = {kind: [q.symbol for q in spec.quantities if q.kind == kind] for kind in UNIT_OF}
    where = spec.deflection
    phrases = {
        "reaction": f"the vertical reaction{_plural(symbols['reaction'])} {{}} (positive upwards)",
        "axial": f"the bar force{_plural(symbols['axial'])} {{}} (tension positive)",
        "shear": "the largest shear force {}",
        "moment": "the largest bending moment {} (magnitude)",
        "area": "the area {} of a bar",
        "second_moment": "the second moment of area {}",
        "section_modulus": "the section modulus {}",
        "stress": "the largest stress {} (magnitude)",
        "deflection": f"the {_sideways(where)}deflection {{}} at {where.place}",
        "safety": "the factor of safety {} = allowable stress / sigma",
    }
    named = [phrase.format(_listed(symbols[kind])) for kind, phrase in phrases.items() if symbols[kind]]
    return _listed(named)


def _sideways(deflection: Quantity) -> str:
    return "horizontal " if deflection.direction == "x" else ""


def _plural(names: list[str]) -> str:
    return "s" if len(names) > 1 else ""


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
