"""A plane structure as plain values: nodes, members, supports, loads. Lengths in m, forces in kN."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

SUPPORT_KINDS = ("pin", "roller", "fixed")


class Node(NamedTuple):
    """A point of the plane; y points upwards."""

    name: str
    x: float
    y: float


class Member(NamedTuple):
    """A straight piece between two nodes; a bar carries axial force alone."""

    name: str
    start: str
    end: str
    is_bar: bool


class Load(NamedTuple):
    """A force on a node, or a uniform load on a span; x to the right and y upwards are positive."""

    kind: str
    """"point" (kN) or "uniform" (kN/m)."""
    place: str
    """Name of the node or of the span."""
    x: float
    y: float


class Span(NamedTuple):
    """A stretch between two nodes that a uniform load may cover: two members of equal length."""

    name: str
    middle: str
    """The node between the two."""
    members: tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Structure:
    """What a finite-element model is made from; hashable, so that solutions are kept by content."""

    nodes: tuple[Node, ...]
    members: tuple[Member, ...]
    supports: tuple[tuple[str, str], ...]
    """Pairs of a node and one of `SUPPORT_KINDS`; a roller slides to the right and left."""
    loads: tuple[Load, ...]
    spans: tuple[Span, ...] = ()
    load_places: tuple[str, ...] = ()
    """Nodes to which somebody may move a point load by mistake."""

    def where(self, name: str) -> Node:
        """Return the node of that name; KeyError when there is none."""
        return {node.name: node for node in self.nodes}[name]

    def span(self, name: str) -> Span:
        """Return the span of that name; KeyError when there is none."""
        return {span.name: span for span in self.spans}[name]

    def length_of(self, member: Member) -> float:
        """Return the length of a member in m."""
        start, end = self.where(member.start), self.where(member.end)
        return ((end.x - start.x) ** 2 + (end.y - start.y) ** 2) ** 0.5

    def with_loads(self, loads: Sequence[Load]) -> "Structure":
        """Return the structure under other loads."""
        return replace(self, loads=tuple(loads))

    def with_supports(self, supports: Mapping[str, str]) -> "Structure":
        """Return the structure with other supports; the kind "" takes one away."""
        merged = {**dict(self.supports), **supports}
        return replace(self, supports=tuple((node, kind) for node, kind in merged.items() if kind))

    def without_member(self, name: str) -> "Structure":
        """Return the structure without one member."""
        return replace(self, members=tuple(m for m in self.members if m.name != name))

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON data; `structure_from` reads it back."""
        return {
            "nodes": [list(node) for node in self.nodes],
            "members": [list(member) for member in self.members],
            "supports": [list(pair) for pair in self.supports],
            "loads": [list(load) for load in self.loads],
            "spans": [[span.name, span.middle, *span.members] for span in self.spans],
            "load_places": list(self.load_places),
        }


def structure_from(data: Mapping[str, Any]) -> Structure:
    """Read what `Structure.to_json` wrote.

    Raises:
        KeyError, TypeError, ValueError: The data is something else.
    """
    return Structure(
        nodes=tuple(Node(str(name), float(x), float(y)) for name, x, y in data["nodes"]),
        members=tuple(Member(str(n), str(i), str(j), bool(bar)) for n, i, j, bar in data["members"]),
        supports=tuple((str(node), str(kind)) for node, kind in data["supports"]),
        loads=tuple(Load(str(kind), str(at), float(x), float(y)) for kind, at, x, y in data["loads"]),
        spans=tuple(Span(str(n), str(mid), (str(i), str(j))) for n, mid, i, j in data["spans"]),
        load_places=tuple(str(name) for name in data["load_places"]),
    )
