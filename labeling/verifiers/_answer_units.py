r"""The unit behind an answer: "36\pi cm^2" -> "36\pi" and square centimetres, with exact factors.

Only what answers to exercises carry: a table of common units and their products and quotients. Things
that are counted ("apples") are nouns and no unit.
"""

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

_MAX_UNIT_CHARS = 60


@dataclass(frozen=True)
class Unit:
    """A product of powers of base dimensions, and its size in base units."""

    dimensions: tuple[tuple[str, int], ...]
    factor: Fraction

    @property
    def is_angle(self) -> bool:
        """Degrees and radians: an answer may also be given in multiples of pi without a unit."""
        return self.dimensions == (("degree", 1),)


DEGREE = Unit((("degree", 1),), Fraction(1))

_BASE_UNITS: dict[str, tuple[str, str]] = {
    # dimension: names and factors; the first of each is the base unit
    "metre": ("m metre meter", "1"),
    "millimetre": ("mm millimetre millimeter", "1/1000 metre"),
    "centimetre": ("cm centimetre centimeter", "1/100 metre"),
    "decimetre": ("dm decimetre decimeter", "1/10 metre"),
    "kilometre": ("km kilometre kilometer", "1000 metre"),
    "micrometre": ("um micrometre micrometer micron", "1/1000000 metre"),
    "nanometre": ("nm nanometre nanometer", "1/1000000000 metre"),
    "inch": ("in inch inche", "127/5000 metre"),
    "foot": ("ft foot feet", "381/1250 metre"),
    "yard": ("yd yard", "1143/1250 metre"),
    "mile": ("mi mile", "201168/125 metre"),
    "kilogram": ("kg kilogram kilo", "1"),
    "gram": ("g gram", "1/1000 kilogram"),
    "milligram": ("mg milligram", "1/1000000 kilogram"),
    "tonne": ("tonne", "1000 kilogram"),
    "pound": ("lb pound", "45359237/100000000 kilogram"),
    "ounce": ("oz ounce", "45359237/1600000000 kilogram"),
    "second": ("s sec second", "1"),
    "millisecond": ("ms millisecond", "1/1000 second"),
    "minute": ("min minute", "60 second"),
    "hour": ("h hr hour", "3600 second"),
    "day": ("day", "86400 second"),
    "week": ("week", "604800 second"),
    "month": ("month", "1"),
    "year": ("yr year", "12 month"),
    "litre": ("L l litre liter", "1/1000 metre^3"),
    "millilitre": ("mL ml millilitre milliliter", "1/1000000 metre^3"),
    "gallon": ("gal gallon", "1"),
    "quart": ("qt quart", "1/4 gallon"),
    "pint": ("pint", "1/8 gallon"),
    "cup": ("cup", "1/16 gallon"),
    "newton": ("N newton", "1 kilogram metre second^-2"),
    "kilonewton": ("kN kilonewton", "1000 kilogram metre second^-2"),
    "pascal": ("Pa pascal", "1 kilogram metre^-1 second^-2"),
    "kilopascal": ("kPa kilopascal", "1000 kilogram metre^-1 second^-2"),
    "megapascal": ("MPa megapascal", "1000000 kilogram metre^-1 second^-2"),
    "gigapascal": ("GPa gigapascal", "1000000000 kilogram metre^-1 second^-2"),
    "joule": ("J joule", "1 kilogram metre^2 second^-2"),
    "kilojoule": ("kJ kilojoule", "1000 kilogram metre^2 second^-2"),
    "watt": ("W watt", "1 kilogram metre^2 second^-3"),
    "kilowatt": ("kW kilowatt", "1000 kilogram metre^2 second^-3"),
    "megawatt": ("MW megawatt", "1000000 kilogram metre^2 second^-3"),
    "hertz": ("Hz hertz", "1 second^-1"),
    "kilohertz": ("kHz kilohertz", "1000 second^-1"),
    "ampere": ("A amp ampere", "1"),
    "volt": ("V volt", "1"),
    "ohm": ("ohm", "1"),
    "kelvin": ("K kelvin", "1"),
    "mole": ("mol mole", "1"),
    "degree": ("deg degree", "1"),
    "dollar": ("dollar buck usd USD", "1"),
    "cent": ("cent penny pennie", "1/100 dollar"),
    "euro": ("euro eur EUR", "1"),
    "sterling": ("gbp GBP", "1"),
    "unit": ("unit", "1"),
}
_POWER_WORDS = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}
_NEVER_BARE = frozenset(["in", "a", "s", "m", "g", "h", "l", "L", "N", "J", "W", "V", "A", "K"])
"""Too short to be taken for a unit when glued to the number: "5m" may be a product."""


def _table() -> dict[str, Unit]:
    units: dict[str, Unit] = {}
    for name, (spellings, definition) in _BASE_UNITS.items():
        factor, *bases = definition.split()
        powers = [base.partition("^") for base in bases] or [(name, "", "1")]
        dimensions = tuple(sorted((base, int(power or "1")) for base, _, power in powers))
        for spelling in spellings.split():
            units[spelling] = Unit(dimensions, Fraction(factor))
    units["unit"] = Unit((), Fraction(1))
    return units


_UNITS = _table()
_SHORTHANDS = {"mph": "miles / hour", "kph": "km / hour", "kmh": "km / hour", "mps": "m / s", "rpm": "rpm"}
_WORD = re.compile(r"[A-Za-z]+")
_TOKEN = re.compile(
    r"\s*(?:(?P<word>[A-Za-z]+\.?)|\^\s*\{?\s*(?P<power>-?\d)\s*\}?|(?P<per>/)|(?P<times>\\cdot|[-.()]))"
)
# Each blank has one place where it can be read: with two, a text that does not end here is tried in 2^n ways.
_TRAILING = re.compile(r"(?:[A-Za-z./\s-]|\^\s*(?:\{\s*)?-?\d(?:\s*\})?|\\cdot)*$")


@lru_cache(maxsize=4096)
def read_unit(text: str) -> Unit | None:
    """Read "km/h", "square inches", "kg m^2", "miles per hour"; None when a part of it is no unit."""
    if len(text) > _MAX_UNIT_CHARS:
        return None
    text = " ".join(_SHORTHANDS.get(word, word) for word in text.split())
    dimensions: dict[str, int] = {}
    factor, sign, pending, last, at = Fraction(1), 1, 1, None, 0
    text = text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            return None
        at = match.end()
        word = (match["word"] or "").rstrip(".")
        if match["per"] or word == "per":
            sign, last = -1, None
        elif match["power"] or (word in ("squared", "cubed") and last):
            if last is None:
                return None
            extra = int(match["power"]) if match["power"] else _POWER_WORDS[word]
            factor *= _raised(dimensions, last, sign * (extra - 1))
            last = None
        elif word in _POWER_WORDS:
            pending = _POWER_WORDS[word]
        elif word:
            unit = _unit_of(word)
            if unit is None:
                return None
            factor *= _raised(dimensions, unit, sign * pending)
            pending, last = 1, unit
    if pending != 1:
        return None
    return Unit(tuple(sorted((name, power) for name, power in dimensions.items() if power)), factor)


def _raised(dimensions: dict[str, int], unit: Unit, power: int) -> Fraction:
    for name, each in unit.dimensions:
        dimensions[name] = dimensions.get(name, 0) + each * power
    return unit.factor**power


def _unit_of(word: str) -> Unit | None:
    if word in _UNITS:
        return _UNITS[word]
    lowered = word.lower()
    if len(word) > 2:
        return (
            _UNITS.get(lowered)
            or _UNITS.get(lowered.removesuffix("s"))
            or _UNITS.get(lowered.removesuffix("es"))
        )
    return None


def split_unit(clean: str) -> tuple[str, Unit | None]:
    r"""Split a cleaned quantity, "36\pi cm^2" or "5 km", into value and unit; None when there is none."""
    if not clean or not (clean[-1].isalnum() or clean[-1] in "}.)"):
        return clean, None
    for start in _unit_starts(clean):
        head, tail = clean[:start].rstrip(" ~-"), clean[start:]
        if not head or not (re.search(r"\d|\\pi|\\infty", head) or head[-1:].islower()):
            continue
        is_glued = start > 0 and not clean[start - 1].isspace() and clean[start - 1] not in "-~"
        if is_glued and (tail in _NEVER_BARE or len(tail) == 1):
            continue
        unit = read_unit(tail)
        if unit is not None and not (
            tail in _NEVER_BARE and not head[-1:].isdigit() and head[-1:] not in "})"
        ):
            return head, unit
    return clean, None


def _unit_starts(clean: str) -> list[int]:
    """Offsets at which a trailing unit may start: words behind the last mathematics, longest first."""
    from_end = _TRAILING.search(clean[-_MAX_UNIT_CHARS:])
    begin = len(clean) - len(from_end[0]) if from_end else len(clean)
    return [
        match.start()
        for match in _WORD.finditer(clean, begin)
        if match.start() == 0 or clean[match.start() - 1] != "\\"
    ]


@lru_cache(maxsize=64)
def conversions(unit: Unit) -> frozenset[Fraction]:
    """Return the factors between the known units of a unit's dimensions: 1000 for metres and kilometres."""
    factors = {other.factor for other in _UNITS.values() if other.dimensions == unit.dimensions}
    return frozenset(a / b for a in factors for b in factors if a != b)
