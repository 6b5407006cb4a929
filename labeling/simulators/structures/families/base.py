"""What a family draws: a structure, its description, and formulas for everything that is asked."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from labeling.simulators.structures.amounts import plain
from labeling.simulators.structures.quantities import Quantity
from labeling.simulators.structures.spec import Mistake
from labeling.simulators.structures.structure import Load, Member, Node, Span, Structure

LEVELS = ("easy", "medium", "hard")


@dataclass(frozen=True, kw_only=True)
class Draft:
    """A structure without a section yet."""

    opening: str
    """Says what the structure is, where its supports and loads are."""
    structure: Structure
    asked: tuple[Quantity, ...]
    """Reactions and bar forces, in the order in which a solution finds them."""
    deflection: Quantity
    formulas: Mapping[str, str]
    """Of everything asked, the largest shear and moment (beams, frames), the largest stress (trusses), and
    the deflection; symbol -> formula in `givens`, E, I, A and symbols before it."""
    givens: Mapping[str, str]
    mistakes: tuple[Mistake, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Family:
    """A kind of structure."""

    name: str
    level: str
    """One of `LEVELS`: easy is statically determinate with one load, hard indeterminate or a frame."""
    draw: Callable[[Random], Draft]


@dataclass
class Line:
    """Builds a straight beam along x from its points."""

    points: Mapping[str, float]
    """Node -> x in m, in any order."""
    supports: Mapping[str, str]
    loads: Sequence[Load]
    spans: Sequence[tuple[str, str, str]] = field(default_factory=tuple)
    """Start, middle and end of each stretch that a uniform load may cover."""
    load_places: tuple[str, ...] = ()

    def build(self) -> Structure:
        """Return the structure, one member between neighbouring points."""
        nodes = sorted((Node(name, x, 0.0) for name, x in self.points.items()), key=lambda node: node.x)
        pairs = list(itertools.pairwise(nodes))
        return Structure(
            nodes=tuple(nodes),
            members=tuple(Member(a.name + b.name, a.name, b.name, False) for a, b in pairs),
            supports=tuple(self.supports.items()),
            loads=tuple(self.loads),
            spans=tuple(Span(a + c, b, (a + b, b + c)) for a, b, c in self.spans),
            load_places=self.load_places,
        )


def down(place: str, size: float) -> Load:
    """Return a point load in kN that acts downwards on a node."""
    return Load("point", place, 0.0, -size)


def uniform(span: str, size: float) -> Load:
    """Return a uniform load in kN/m that acts downwards on a span."""
    return Load("uniform", span, 0.0, -size)


def given(unit: str, **values: float) -> dict[str, str]:
    """Return name -> amount, all in one unit: of L=6 in "m" {"L": "6 m"}."""
    return {name: f"{plain(value, digits=6)} {unit}" for name, value in values.items()}


def vertical(*nodes: str) -> tuple[Quantity, ...]:
    """Return the vertical reactions of the nodes."""
    return tuple(Quantity(f"R_{node}", "reaction", node) for node in nodes)


def force(rng: Random) -> float:
    """Draw a point load in kN."""
    return float(rng.randint(4, 60))


def intensity(rng: Random) -> float:
    """Draw a uniform load in kN/m."""
    return rng.randint(4, 50) / 2


def length(rng: Random, low: float = 3, high: float = 9) -> float:
    """Draw a length in m, in steps of half a metre."""
    return rng.randint(round(2 * low), round(2 * high)) / 2


def largest(sizes: Mapping[str, float]) -> str:
    """Return the formula with the largest value: how a solution finds a maximum."""
    return max(sizes, key=lambda formula: sizes[formula])


def other_supports(structure: Structure, *cases: tuple[str, Mapping[str, str]]) -> tuple[Mistake, ...]:
    """Return what comes of other supports: pairs (description, node -> kind, "" for none)."""
    return tuple(
        Mistake(cause="wrong_support", description=description, structure=structure.with_supports(changes))
        for description, changes in cases
    )
