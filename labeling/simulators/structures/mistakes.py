"""The wrong structures that somebody may solve in place of the true one: loads, supports, members."""

from collections.abc import Iterator
from functools import lru_cache

from labeling.simulators.structures.quantities import values_of
from labeling.simulators.structures.spec import Mistake, Spec
from labeling.simulators.structures.structure import Load, Structure

LOAD_PATH = "wrong_load_path"


def mistakes_of(spec: Spec) -> list[tuple[Mistake, dict[str, float]]]:
    """Return each mistake with the values that it leads to, symbol -> value in SI base units.

    Only mistakes that change a value are given.
    """
    true = spec.values
    found = []
    for mistake in (*spec.mistakes, *_wrong_loads(spec.setting.structure)):
        values = values_of(spec.setting._replace(structure=mistake.structure), spec.quantities)
        if any(abs(values[symbol] - size) > 1e-6 * abs(size) for symbol, size in true.items()):
            found.append((mistake, values))
    return found


@lru_cache(maxsize=1024)
def _wrong_loads(structure: Structure) -> tuple[Mistake, ...]:
    loads = structure.loads
    cases: list[tuple[str, list[Load]]] = []
    for index, load in enumerate(loads):
        others = [*loads[:index], *loads[index + 1 :]]
        if others:
            cases.append((f"the load {_named(load)} left out", others))
        cases += [(text, [*others, moved]) for text, moved in _moved(structure, load)]
    if len(loads) == 2 and {load.kind for load in loads} == {"point"} and loads[0].y != loads[1].y:
        first, last = loads
        exchanged = [last._replace(place=first.place), first._replace(place=last.place)]
        cases.append((f"the loads at {first.place} and {last.place} exchanged", exchanged))
    return tuple(
        Mistake(cause=LOAD_PATH, description=text, structure=structure.with_loads(changed))
        for text, changed in cases
    )


def _moved(structure: Structure, load: Load) -> Iterator[tuple[str, Load]]:
    if load.kind == "point":
        for place in structure.load_places:
            if place != load.place:
                # The places have names that the problem may not have given them.
                where = structure.where(place)
                yield f"the load {_named(load)} put at x = {where.x:g} m", load._replace(place=place)
        return
    span = structure.span(load.place)
    length = sum(structure.length_of(m) for m in structure.members if m.name in span.members)
    resultant = Load("point", span.middle, load.x * length, load.y * length)
    yield f"the uniform load on {load.place} taken as a point load at its middle", resultant
    taken = {each.place for each in structure.loads}
    for other in structure.spans:
        if other.name not in taken:
            yield f"the load of span {load.place} put on span {other.name}", load._replace(place=other.name)


def _named(load: Load) -> str:
    size = max(abs(load.x), abs(load.y))
    return f"of {size:g} kN at {load.place}" if load.kind == "point" else f"of {size:g} kN/m on {load.place}"
