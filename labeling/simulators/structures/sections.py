"""The catalogue of cross-sections and materials: stated dimensions, and what follows from them.

Dimensions of the IPE profiles are those of the European standard EN 10365; fillets and corner radii are
left out, so that every value follows from the dimensions a problem states. The other sections and the
allowable stresses are plausible round numbers, taken from no standard.
"""

import math
import types
from collections.abc import Mapping
from dataclasses import dataclass

from labeling.errors import ConfigError


@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross-section; lengths in millimetres, bending about the strong axis."""

    name: str
    shape: str
    """"I", "rectangle", "box" or "pipe"."""
    height: float
    """Depth in the plane of bending; of a pipe the outer diameter."""
    width: float
    web: float = 0.0
    """Thickness of the web of an I, or of the wall of a box or pipe."""
    flange: float = 0.0
    """Thickness of the flanges of an I."""

    @property
    def hole(self) -> tuple[float, float]:
        """Width and height of what is missing from the outline (both sides of an I's web together)."""
        if self.shape == "I":
            return self.width - self.web, self.height - 2 * self.flange
        if self.shape == "rectangle":
            return 0.0, 0.0
        return self.width - 2 * self.web, self.height - 2 * self.web

    @property
    def area(self) -> float:
        """Area in mm^2."""
        width, height = self.hole
        factor = math.pi / 4 if self.shape == "pipe" else 1.0
        return factor * (self.width * self.height - width * height)

    @property
    def second_moment(self) -> float:
        """Second moment of area in mm^4: (B H^3 - b h^3) / 12, of a pipe pi (D^4 - d^4) / 64."""
        width, height = self.hole
        factor = math.pi / 64 if self.shape == "pipe" else 1 / 12
        return factor * (self.width * self.height**3 - width * height**3)

    @property
    def modulus(self) -> float:
        """Elastic section modulus in mm^3: the second moment over half the height."""
        return self.second_moment / (self.height / 2)

    @property
    def description(self) -> str:
        """Name and dimensions, as a problem states them."""
        if self.shape == "I":
            return (
                f"{self.name} (I profile, h = {self.height:g} mm, b = {self.width:g} mm, "
                f"t_w = {self.web:g} mm, t_f = {self.flange:g} mm, fillets left out)"
            )
        if self.shape == "rectangle":
            return f"{self.name} (solid rectangle, b = {self.width:g} mm, h = {self.height:g} mm)"
        if self.shape == "box":
            return (
                f"{self.name} (rectangular tube, h = {self.height:g} mm, b = {self.width:g} mm, "
                f"t = {self.web:g} mm, sharp corners)"
            )
        return f"{self.name} (round tube, D = {self.height:g} mm, t = {self.web:g} mm)"


@dataclass(frozen=True, kw_only=True)
class Material:
    """What members are made of; stresses in MPa."""

    name: str
    modulus: float
    """Young's modulus in MPa."""
    allowable: tuple[float, ...]
    """Allowable stresses that a problem may set."""
    shapes: tuple[str, ...]
    """Shapes in which beams and frames of it come; bars of trusses are pipes."""


def _table(shape: str, prefix: str, rows: str) -> list[Section]:
    """Read rows "h b [web [flange]]"; a name holds what tells the sections of a shape apart."""
    sections = []
    for row in rows.split(","):
        height, width, *walls = row.split()
        size = height if shape == "I" else "x".join((height, width, *walls[:1]))
        if shape == "pipe":
            size = f"{height}x{walls[0]}"
        if shape == "rectangle":
            size = f"{width}x{height}"
        web, flange = (*(float(wall) for wall in walls), 0.0, 0.0)[:2]
        sections.append(
            Section(
                name=f"{prefix} {size}",
                shape=shape,
                height=float(height),
                width=float(width),
                web=web,
                flange=flange,
            )
        )
    return sections


SECTIONS: Mapping[str, Section] = types.MappingProxyType(
    {
        section.name: section
        for section in (
            *_table(
                "I",
                "IPE",
                "100 55 4.1 5.7,120 64 4.4 6.3,140 73 4.7 6.9,160 82 5 7.4,180 91 5.3 8,200 100 5.6 8.5,"
                "220 110 5.9 9.2,240 120 6.2 9.8,270 135 6.6 10.2,300 150 7.1 10.7,330 160 7.5 11.5,"
                "360 170 8 12.7,400 180 8.6 13.5,450 190 9.4 14.6,500 200 10.2 16,550 210 11.1 17.2,"
                "600 220 12 19",
            ),
            *_table(
                "rectangle",
                "R",
                "120 60,160 80,180 100,200 100,220 120,240 120,280 140,320 160,360 160,400 200,480 200,"
                "560 220,640 240,800 240,1000 280",
            ),
            *_table(
                "box",
                "RHS",
                "60 40 3,80 40 4,100 50 4,120 60 5,140 80 5,160 80 6,200 100 6,250 150 6,250 150 10,"
                "300 200 10,400 200 10,400 200 16,500 300 16,600 300 20",
            ),
            *_table(
                "pipe",
                "CHS",
                "21.3 21.3 2.6,26.9 26.9 3.2,33.7 33.7 3.2,42.4 42.4 4,48.3 48.3 4,60.3 60.3 4,"
                "76.1 76.1 5,88.9 88.9 5,114.3 114.3 5,139.7 139.7 6.3,168.3 168.3 8,219.1 219.1 8",
            ),
        )
    }
)
"""Name -> section; within a shape, no two have the same values to 4 %."""

MATERIALS = (
    Material(name="steel", modulus=210_000, allowable=(140, 150, 160, 180, 200), shapes=("I", "box")),
    Material(name="aluminium", modulus=70_000, allowable=(75, 80, 90, 100, 110), shapes=("box",)),
    Material(name="timber", modulus=11_000, allowable=(10, 11, 12, 14, 16), shapes=("rectangle",)),
)


def section_named(name: str) -> Section:
    """Return a section of the catalogue.

    Raises:
        ConfigError: There is none of that name.
    """
    if name not in SECTIONS:
        raise ConfigError(f"there is no section {name!r}.", remedy=f"Use one of {', '.join(SECTIONS)}.")
    return SECTIONS[name]


def of_shape(shape: str) -> list[Section]:
    """Return the sections of a shape, in the catalogue's order."""
    return [section for section in SECTIONS.values() if section.shape == shape]
