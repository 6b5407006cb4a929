"""What the truth of one problem consists of, as kept in `Problem.meta`."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from labeling.errors import ConfigError, RecordError
from labeling.records import Problem, meta_text
from labeling.simulators.structures.quantities import Quantity, Setting, values_of
from labeling.simulators.structures.sections import section_named
from labeling.simulators.structures.structure import Structure, structure_from


@dataclass(frozen=True, kw_only=True)
class Mistake:
    """Another structure that somebody may solve in place of the true one."""

    cause: str
    """"wrong_support" or "wrong_load_path"."""
    description: str
    structure: Structure


@dataclass(frozen=True, kw_only=True)
class Spec:
    """One problem: the setting, the named quantities, and a way by hand to each."""

    family: str
    setting: Setting
    limit: float
    """Of the deflection, in mm."""
    quantities: tuple[Quantity, ...]
    """In the order in which a solution finds them."""
    formulas: tuple[tuple[str, str], ...]
    """Pairs (symbol, formula in `givens` and symbols before it); "" where the way is too long to write."""
    givens: tuple[tuple[str, str], ...]
    """Pairs (name in the formulas, amount with unit)."""
    mistakes: tuple[Mistake, ...]
    """Wrong supports and members of this family; wrong loads are found from the structure."""

    @property
    def values(self) -> dict[str, float]:
        """Symbol -> true value in SI base units."""
        return values_of(self.setting, self.quantities)

    @property
    def is_safe(self) -> bool:
        """Whether the stress and the deflection keep their limits."""
        return self.keeps_stress and self.keeps_deflection

    @property
    def keeps_stress(self) -> bool:
        """Whether the largest stress is at most the allowable one."""
        return self.values["n"] >= 1

    @property
    def keeps_deflection(self) -> bool:
        """Whether the deflection is at most its limit."""
        return self.values[self.deflection.symbol] <= self.limit * 1e-3

    @property
    def deflection(self) -> Quantity:
        """The deflection that is asked for."""
        return next(q for q in self.quantities if q.kind == "deflection")


def meta_of(spec: Spec) -> dict[str, Any]:
    """Return a spec as the JSON data that `spec_of` reads."""
    return {
        "world": "structures",
        "family": spec.family,
        "structure": spec.setting.structure.to_json(),
        "section": spec.setting.section.name,
        "modulus_MPa": spec.setting.modulus,
        "allowable_MPa": spec.setting.allowable,
        "limit_mm": spec.limit,
        "quantities": [list(quantity) for quantity in spec.quantities],
        "formulas": [list(pair) for pair in spec.formulas],
        "givens": [list(pair) for pair in spec.givens],
        "mistakes": [[m.cause, m.description, m.structure.to_json()] for m in spec.mistakes],
    }


def spec_of(problem: Problem) -> Spec:
    """Read the spec out of a problem's `meta`.

    Raises:
        RecordError: `meta` does not hold a structure of this world.
    """
    try:
        return _read(_Meta(problem.meta, meta_text(problem)))
    except (KeyError, TypeError, ValueError, ConfigError) as error:
        raise RecordError(
            f"this problem's meta does not hold a structure of the stress-limits world ({error!r}).",
            remedy="Keep the meta column of the problems this world generated, or use another verifier.",
            record_id=problem.id,
        ) from error


class _Meta:
    """Meta that is compared by its text, so that a problem read a second time is not built again."""

    def __init__(self, meta: Mapping[str, Any], text: str) -> None:
        self.meta, self.text = meta, text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Meta) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


@lru_cache(maxsize=1024)
def _read(held: _Meta) -> Spec:
    meta = held.meta
    if meta["world"] != "structures":
        raise ValueError("a problem of another world")
    setting = Setting(
        structure_from(meta["structure"]),
        section_named(str(meta["section"])),
        float(meta["modulus_MPa"]),
        float(meta["allowable_MPa"]),
    )
    return Spec(
        family=str(meta["family"]),
        setting=setting,
        limit=float(meta["limit_mm"]),
        quantities=tuple(Quantity(*map(str, row)) for row in meta["quantities"]),
        formulas=tuple((str(symbol), str(formula)) for symbol, formula in meta["formulas"]),
        givens=tuple((str(name), str(amount)) for name, amount in meta["givens"]),
        mistakes=tuple(
            Mistake(cause=str(cause), description=str(text), structure=structure_from(data))
            for cause, text, data in meta["mistakes"]
        ),
    )
