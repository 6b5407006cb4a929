"""Structure + section -> forces and displacements, by PyNiteFEA: linear, first order.

Beams are Euler-Bernoulli beams, for which a member between two nodes is exact. Bending members are axially
rigid here, as the problems say; bars of trusses stretch.
"""

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from labeling.errors import MissingExtraError
from labeling.simulators.structures.structure import Structure

AXIALLY_RIGID = 1e4
"""Factor on the area of bending members: frame formulas then hold to 3e-6; at 1e8 rounding costs more."""
_CASE = "Combo 1"
_KEPT = 4096


@dataclass(frozen=True, kw_only=True)
class Solved:
    """What the model says; signs of the plane's axes, tension positive."""

    reactions: dict[str, tuple[float, float]]
    """Node -> (x, y) in kN, of supported nodes."""
    displacements: dict[str, tuple[float, float]]
    """Node -> (x, y) in m."""
    axial: dict[str, float]
    """Bar -> kN."""
    largest_shear: float
    """Largest magnitude in bending members, kN."""
    largest_moment: float
    """Largest magnitude in bending members, kN m."""


@lru_cache(maxsize=_KEPT)
def solve(structure: Structure, modulus: float, area: float, second_moment: float) -> Solved:
    """Solve a structure whose members all have one section.

    Args:
        structure: The structure; must not be a mechanism.
        modulus: Young's modulus in MPa.
        area: In mm^2.
        second_moment: In mm^4.

    Raises:
        MissingExtraError: PyNiteFEA is not installed.
    """
    model = _model(structure, modulus * 1e3, area * 1e-6, second_moment * 1e-12)
    # Half of the time of a small model goes into the search for a mechanism, and ours are none.
    model.analyze_linear(check_stability=False, sparse=False)
    return _read(structure, model)


@cache
def _library() -> Any:
    try:
        # By name, so that the type checker does not ask for what only this extra brings.
        return importlib.import_module("Pynite")
    except ImportError as error:
        raise MissingExtraError(
            f"the structures world solves its models by PyNiteFEA, which cannot be imported ({error}).",
            remedy='Install it: pip install "prm-toolkit[fem]".',
        ) from error


def _model(structure: Structure, modulus: float, area: float, second_moment: float) -> Any:
    model = _library().FEModel3D()
    # A plane model of a space program: the shear modulus and the torsion constant move nothing.
    model.add_material("material", modulus, modulus / 2.6, 0.3, 0.0)
    model.add_section("bar", area, second_moment, second_moment, second_moment)
    model.add_section("beam", area * AXIALLY_RIGID, second_moment, second_moment, second_moment)
    supports, bending = dict(structure.supports), _bending_nodes(structure)
    for node in structure.nodes:
        model.add_node(node.name, node.x, node.y, 0.0)
        kind = supports.get(node.name, "")
        model.def_support(
            node.name,
            kind in ("pin", "fixed"),
            kind != "",
            True,
            True,
            True,
            # Where only hinged bars meet, nothing else holds the rotation of the joint.
            kind == "fixed" or node.name not in bending,
        )
    for member in structure.members:
        section = "bar" if member.is_bar else "beam"
        model.add_member(member.name, member.start, member.end, "material", section)
        if member.is_bar:
            model.def_releases(member.name, Rzi=True, Rzj=True)
    _load(structure, model)
    return model


def _bending_nodes(structure: Structure) -> set[str]:
    return {end for member in structure.members if not member.is_bar for end in (member.start, member.end)}


def _load(structure: Structure, model: Any) -> None:
    for load in structure.loads:
        for direction, size in (("FX", load.x), ("FY", load.y)):
            if size == 0:
                continue
            if load.kind == "point":
                model.add_node_load(load.place, direction, size)
                continue
            for member in structure.span(load.place).members:
                model.add_member_dist_load(member, direction, size, size)


def _read(structure: Structure, model: Any) -> Solved:
    nodes, members = model.nodes, model.members
    bending = [members[m.name] for m in structure.members if not m.is_bar]
    return Solved(
        reactions={
            name: (float(nodes[name].RxnFX[_CASE]), float(nodes[name].RxnFY[_CASE]))
            for name, _ in structure.supports
        },
        displacements={
            n.name: (float(nodes[n.name].DX[_CASE]), float(nodes[n.name].DY[_CASE])) for n in structure.nodes
        },
        # The force along the bar at its end: what `axial` gives too, after cutting the bar into segments.
        axial={m.name: float(members[m.name].f(_CASE)[6, 0]) for m in structure.members if m.is_bar},
        largest_shear=_largest(_extremes(member, "shear", "Fy") for member in bending),
        largest_moment=_largest(_extremes(member, "moment", "Mz") for member in bending),
    )


def _extremes(member: Any, what: str, direction: str) -> tuple[float, float]:
    """Return the largest and smallest value along one bending member, exact between its nodes."""
    return getattr(member, f"max_{what}")(direction), getattr(member, f"min_{what}")(direction)


def _largest(extremes: Iterable[tuple[float, float]]) -> float:
    return max((abs(float(size)) for pair in extremes for size in pair), default=0.0)
