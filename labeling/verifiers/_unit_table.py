"""Words and symbols -> units with exact sizes, read from pint when the first unit is met.

Which spellings count as units is decided here, because pint reads nearly every letter as one; what a
unit is worth and which dimensions it has is pint's to say (`non_int_type=Fraction`, so exactly). Money
has a dimension a currency, the calendar (month, year) one of its own, as no month is a number of days.
"""

import re
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import pint

Dims = tuple[tuple[str, Fraction], ...]
"""Pairs (dimension, exponent), sorted, no zero exponents."""


class Unit(NamedTuple):
    """A unit as written."""

    name: str
    """pint's name, or the singular of a thing."""
    factor: Fraction
    """Size in SI base units (kilogram, metre, second, ...)."""
    dims: Dims
    is_word: bool
    """Spelled out (metres, hours) rather than a symbol (m, h)."""
    is_letter: bool
    """A single letter, which may also be a variable."""


_MORE_DEFINITIONS = (
    "us_dollar = [dollar] = dollar", "cent = us_dollar / 100", "euro = [euro]", "sterling = [sterling]",
    "pence = sterling / 100", "rupee = [rupee]", "yen = [yen]", "calendar_month = [calendar]",
    "calendar_year = 12 calendar_month", "decade_of_years = 10 calendar_year",
    "century_of_years = 100 calendar_year", "data_bit = [information]", "data_byte = 8 data_bit",
    "plain_gauss = tesla / 10000", "part_per_million = 1 / 1000000", "part_per_billion = 1 / 1000000000",
)  # fmt: skip

_PREFIXES = {
    "f": "femto", "p": "pico", "n": "nano", "µ": "micro", "μ": "micro", "u": "micro", "m": "milli",
    "c": "centi", "d": "deci", "h": "hecto", "k": "kilo", "M": "mega", "G": "giga", "T": "tera",
}  # fmt: skip
_SMALL, _LARGE = "fpnµμum", "kMG"
_ELECTRIC = _SMALL + _LARGE
# Symbol -> (pint's name, prefixes that occur with it); a prefix left out would read as something else.
_SYMBOLS = {
    "m": ("meter", "fpnµμumcdk"), "g": ("gram", "pnµμumck"), "s": ("second", "fpnµμum"),
    "A": ("ampere", "pnµμumk"), "K": ("kelvin", "nµμmk"), "mol": ("mole", "pnµμumk"),
    "cd": ("candela", ""), "Hz": ("hertz", "nµμumkMGT"), "N": ("newton", "pnµμumkMG"),
    "Pa": ("pascal", "nµμumhkMGT"), "J": ("joule", _ELECTRIC + "T"), "W": ("watt", _ELECTRIC + "T"),
    "C": ("coulomb", "pnµμumk"), "V": ("volt", "pnµμumkMG"), "F": ("farad", "fpnµμum"),
    "Ω": ("ohm", "µμmkMG"), "\u2126": ("ohm", "µμmkMG"), "S": ("siemens", "nµμm"),
    "Wb": ("weber", "nµμm"), "T": ("tesla", "pnµμum"), "H": ("henry", "pnµμum"), "lm": ("lumen", ""),
    "lx": ("lux", "k"), "Bq": ("becquerel", "kMGT"), "Gy": ("gray", "µμm"), "Sv": ("sievert", "µμm"),
    "L": ("liter", "nµμumcdkM"), "l": ("liter", "nµμumcd"), "eV": ("electron_volt", "mkMGT"),
    "bar": ("bar", "mk"), "cal": ("calorie", "k"), "rad": ("radian", "m"), "M": ("molar", "pnµμm"),
    "Wh": ("watt_hour", "mkMGT"), "Ah": ("ampere_hour", "mk"),
}  # fmt: skip
_PLAIN = {
    "h": "hour", "hr": "hour", "hrs": "hour", "min": "minute", "mins": "minute", "sec": "second",
    "secs": "second", "ft": "foot", "yd": "yard", "yds": "yard", "mi": "mile", "lb": "pound",
    "lbs": "pound", "oz": "ounce", "gal": "gallon", "qt": "quart", "psi": "psi",
    "atm": "standard_atmosphere", "mmHg": "millimeter_Hg", "torr": "torr", "Torr": "torr", "BTU": "Btu",
    "Btu": "Btu", "hp": "horsepower", "mph": "mile/hour", "kph": "kilometer/hour",
    "kmh": "kilometer/hour", "kmph": "kilometer/hour", "fps": "foot/second", "Nm": "newton*meter",
    "kNm": "kilonewton*meter", "Js": "joule*second", "Ns": "newton*second", "Å": "angstrom",
    "\u212b": "angstrom", "amu": "unified_atomic_mass_unit", "u": "unified_atomic_mass_unit",
    "Da": "unified_atomic_mass_unit", "lbf": "force_pound", "kip": "kip", "AU": "astronomical_unit",
    "ly": "light_year", "rpm": "revolutions_per_minute", "rev": "revolution", "ppm": "part_per_million",
    "ppb": "part_per_billion", "cc": "milliliter", "Ohm": "ohm", "tbsp": "tablespoon",
    "tsp": "teaspoon", "kcals": "kilocalorie", "Cal": "kilocalorie", "dyn": "dyne", "erg": "erg",
    "¢": "cent", "ha": "hectare", "wk": "week", "wks": "week", "yr": "calendar_year",
    "yrs": "calendar_year", "mo": "calendar_month", "kb": "kilodata_bit", "Kb": "kilodata_bit",
    "Mb": "megadata_bit", "Gb": "gigadata_bit", "kB": "kilodata_byte", "KB": "kilodata_byte",
    "MB": "megadata_byte", "GB": "gigadata_byte", "TB": "teradata_byte", "KiB": "kibidata_byte",
    "MiB": "mebidata_byte", "GiB": "gibidata_byte", "kbps": "kilodata_bit/second",
    "Kbps": "kilodata_bit/second", "Mbps": "megadata_bit/second", "Gbps": "gigadata_bit/second",
}  # fmt: skip
_METRIC_WORDS = {
    "meter": "meter", "metre": "meter", "gram": "gram", "gramme": "gram", "liter": "liter",
    "litre": "liter", "second": "second", "newton": "newton", "joule": "joule", "watt": "watt",
    "volt": "volt", "ampere": "ampere", "amp": "ampere", "ohm": "ohm", "coulomb": "coulomb",
    "pascal": "pascal", "hertz": "hertz", "tesla": "tesla", "farad": "farad", "henry": "henry",
    "calorie": "calorie", "mole": "mole", "electronvolt": "electron_volt", "byte": "data_byte",
    "bit": "data_bit",
}  # fmt: skip
_WORDS = {
    "minute": "minute", "hour": "hour", "day": "day", "week": "week", "fortnight": "fortnight",
    "month": "calendar_month", "year": "calendar_year", "decade": "decade_of_years",
    "century": "century_of_years", "centuries": "century_of_years", "foot": "foot", "feet": "foot",
    "inch": "inch", "inche": "inch", "yard": "yard", "mile": "mile", "pound": "pound", "ounce": "ounce",
    "gallon": "gallon", "quart": "quart", "pint": "pint", "cup": "cup", "tablespoon": "tablespoon",
    "teaspoon": "teaspoon", "dollar": "us_dollar", "cent": "cent", "penny": "cent", "pennies": "cent",
    "pence": "pence", "euro": "euro", "rupee": "rupee", "yen": "yen", "kelvin": "kelvin", "degree": "degree",
    "radian": "radian", "acre": "acre", "hectare": "hectare", "atmosphere": "standard_atmosphere",
    "angstrom": "angstrom", "kilowatt-hour": "kilowatt_hour", "kilo": "kilogram",
    "horsepower": "horsepower", "revolution": "revolution", "knot": "knot", "micron": "micron",
}  # fmt: skip
_WORD_PREFIXES = ("nano", "micro", "milli", "centi", "deci", "kilo", "mega", "giga", "tera")
_CURRENCIES = {"$": "us_dollar", "€": "euro", "£": "sterling", "₹": "rupee", "¥": "yen"}
_SCALES = {"°C": "kelvin", "°F": "delta_degree_Fahrenheit", "°": "degree"}
_IRREGULAR = {"people": "person", "children": "child", "men": "man", "women": "woman", "mice": "mouse"}
_THING = re.compile(r"[a-z]{3,20}")
_GLUED = re.compile(r"(kg|mol|kJ|kN|cm|mm|g|J|N|W|V|C|A|m|K|Pa)(kg|mol|cm|mm|dm|m|s|K|C|N|g|A)")
MONEY = frozenset({"[dollar]", "[euro]", "[sterling]", "[rupee]", "[yen]"})
SMALL_CHANGE = frozenset({"cent", "pence"})
CALENDAR = "[calendar]"
INFORMATION = "[information]"


@cache
def _registry() -> "pint.UnitRegistry":
    import pint

    # pint types the argument as a float class; Fraction is what its own tests pass, too.
    registry = pint.UnitRegistry(non_int_type=Fraction)  # pyright: ignore[reportArgumentType]
    for line in _MORE_DEFINITIONS:
        registry.define(line)
    return registry


@cache
def _size(name: str) -> tuple[Fraction, Dims]:
    """Return pint's exact factor to SI base units and its dimensions."""
    registry = _registry()
    factor, _ = registry.get_base_units(name)
    dims = registry.get_dimensionality(name)
    if not isinstance(factor, (int, Fraction)):
        raise TypeError(f"pint gives {name} the inexact size {factor!r}")
    return Fraction(factor), tuple(
        sorted((key, Fraction(str(power))) for key, power in dims.items() if power)
    )


def dims_of(name: str) -> Dims:
    """Return the dimensions of a unit by pint's name, such as "kilometer/hour"."""
    return _size(name)[1]


@cache
def _symbols() -> dict[str, str]:
    names = {}
    for symbol, (name, prefixes) in _SYMBOLS.items():
        names[symbol] = name
        for prefix in prefixes:
            names[prefix + symbol] = _PREFIXES[prefix] + name
    names.update(_PLAIN)
    return names


@cache
def _words() -> dict[str, str]:
    prefixed = {
        prefix + word: prefix + name for word, name in _METRIC_WORDS.items() for prefix in _WORD_PREFIXES
    }
    return {**prefixed, **_METRIC_WORDS, **_WORDS}


@lru_cache(maxsize=8192)
def unit_of(text: str) -> Unit | None:
    """Return the unit that a symbol (case counts) or word (singular or plural) names, else None."""
    if text in _CURRENCIES or text in _SCALES:
        name = _CURRENCIES.get(text) or _SCALES[text]
        factor, dims = _size(name)
        return Unit(text if text in _SCALES else name, factor, dims, is_word=False, is_letter=False)
    name = _symbols().get(text)
    if name is not None:
        factor, dims = _size(name)
        return Unit(name, factor, dims, is_word=False, is_letter=len(text) == 1 and text.isalpha())
    word = text.lower() if text[1:].islower() else ""
    name = _words().get(word) or _words().get(word.removesuffix("s"))
    if name is None:
        return None
    factor, dims = _size(name)
    return Unit(name, factor, dims, is_word=True, is_letter=False)


@lru_cache(maxsize=8192)
def is_unit(text: str) -> bool:
    """Tell whether a text names a unit, without loading pint."""
    if text in _CURRENCIES or text in _SCALES or text in _symbols():
        return True
    word = text.lower() if text[1:].islower() else ""
    return word in _words() or word.removesuffix("s") in _words()


@lru_cache(maxsize=8192)
def glued_units(text: str) -> tuple[Unit, Unit] | None:
    """Return the two units that are written as one word, as in ms⁻¹, kgm/s, Nm²; None for other words."""
    match = _GLUED.fullmatch(text)
    if match is None:
        return None
    first, second = unit_of(match.group(1)), unit_of(match.group(2))
    return None if first is None or second is None else (first, second)


def small_change(money: Unit) -> Unit:
    """Return the hundredth of a currency: the cent beside euros, the penny beside pounds."""
    return money._replace(name=f"cent of {money.name}", factor=money.factor / 100)


def thing_of(text: str) -> Unit | None:
    """Return the unit that a counting word is: apples, people; None for other text."""
    word = text.lower()
    if _THING.fullmatch(word) is None:
        return None
    name = "thing:" + singular(word)
    return Unit(name, Fraction(1), ((name, Fraction(1)),), is_word=True, is_letter=False)


def singular(word: str) -> str:
    """Return the singular of a noun, as far as its ending tells."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ses", "xes", "ches", "shes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


def multiply(left: Dims, right: Dims, power: Fraction = Fraction(1)) -> Dims:
    """Return the dimensions of left times right to a power."""
    total = dict(left)
    for dimension, exponent in right:
        total[dimension] = total.get(dimension, Fraction(0)) + power * exponent
    return tuple(sorted((name, exponent) for name, exponent in total.items() if exponent))


def physical(dims: Dims) -> Dims:
    """Return the dimensions without things."""
    return tuple(pair for pair in dims if not pair[0].startswith("thing:"))


def shown(dims: Dims) -> str:
    """Return dimensions as text: [length] / [time]^2; "1" for none."""

    def factor(name: str, power: Fraction) -> str:
        name = name.replace("thing:", "")
        return name if power == 1 else f"{name}^{power}"

    over = " ".join(factor(name, power) for name, power in dims if power > 0)
    under = " / ".join(factor(name, -power) for name, power in dims if power < 0)
    return (over or "1") + (f" / {under}" if under else "")
