"""Short problems: nine families of 3 to 6 steps, each a formula of mechanics, flow, heat or circuits.

Quantities are whole numbers in units chosen so that every intermediate value is a whole number too.
Each text also names a quantity that the solution does not need.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random

from labeling.simulators.engineering.spec import TrueStep, apply

LARGEST_SHORT_VALUE = 99
"""Every result of a short problem lies in 0..99, so that its arithmetic is mental arithmetic."""

Quantities = Mapping[str, int]
Formula = tuple[str, str, str, str]
"""(name of the step, left operand, operator, right operand); an operand is the name of a given
quantity or of an earlier step, or a whole number."""


@dataclass(frozen=True, kw_only=True)
class ShortFamily:
    """A kind of problem: what is given, what is asked, and how it is worked out."""

    name: str
    unit: str
    text: str
    """Template over the given quantities and `{extra}`, the place of the distractor."""
    extras: tuple[str, ...]
    """Distractors: phrases over `{x}`, each a quantity that no formula uses."""
    formulas: tuple[Formula, ...]
    draw: Callable[[Random], dict[str, int]]
    """Draw the given quantities; `work_out` tells whether they can be used."""


def work_out(formulas: tuple[Formula, ...], given: Quantities) -> list[TrueStep] | None:
    """Evaluate formulas in order; None when a value is no whole number in 0..99."""
    known = dict(given)
    steps: list[TrueStep] = []
    for name, left, operator, right in formulas:
        a, b = (int(o) if o.isdigit() else known[o] for o in (left, right))
        result = apply(a, operator, b)
        if result is None or not 0 <= result <= LARGEST_SHORT_VALUE:
            return None
        steps.append(TrueStep(name, a, operator, b, result))
        known[name] = result
    return steps


def draw_short(family: ShortFamily, rng: Random) -> tuple[str, list[TrueStep], dict[str, int]]:
    """Draw the text, the true steps and the given quantities of one problem."""
    while True:
        given = family.draw(rng)
        steps = work_out(family.formulas, given)
        if steps is not None:
            break
    extra = rng.choice(family.extras).format(x=rng.randint(2, 40))
    return family.text.format(extra=extra, **given), steps, given


def _beam(rng: Random) -> dict[str, int]:
    modulus, stress = rng.randint(1, 6), rng.randint(2, 12)
    span = rng.choice((2, 3, 4, 5, 6, 8))
    # Inverts stress = load * span / 4 / modulus; a load that is not whole is refused by work_out.
    load = 4 * modulus * stress // span
    return {"load": load, "span": span, "modulus": modulus, "allowable": rng.randint(10, 30)}


def _bolts(rng: Random) -> dict[str, int]:
    return {
        "bolts": rng.randint(2, 6),
        "planes": rng.randint(1, 3),
        "bolt_area": rng.randint(1, 4),
        "strength": rng.randint(4, 9),
        "pull": rng.randint(10, 90),
    }


def _tank(rng: Random) -> dict[str, int]:
    outflow = rng.randint(1, 5)
    return {
        "length": rng.randint(2, 6),
        "width": rng.randint(2, 6),
        "height": rng.randint(2, 5),
        "held": rng.randint(1, 40),
        "inflow": outflow + rng.randint(2, 9),
        "outflow": outflow,
    }


def _gears(rng: Random) -> dict[str, int]:
    pinions = rng.choices((10, 12, 15, 20), k=2)
    ratios = [rng.randint(2, 5) for _ in pinions]
    return {
        "motor_speed": ratios[0] * ratios[1] * rng.randint(2, 15),
        "pinion": pinions[0],
        "wheel": pinions[0] * ratios[0],
        "driver": pinions[1],
        "driven": pinions[1] * ratios[1],
    }


def _resistors(rng: Random) -> dict[str, int]:
    first, second = rng.choice(((2, 2), (3, 6), (6, 3), (4, 4), (4, 12), (6, 6), (12, 6), (10, 15), (8, 8)))
    parallel, series = first * second // (first + second), rng.randint(1, 8)
    return {
        "first": first,
        "second": second,
        "series": series,
        "voltage": (parallel + series) * rng.randint(1, 6),
    }


def _springs(rng: Random) -> dict[str, int]:
    return {
        "springs": rng.randint(2, 6),
        "rate": rng.randint(1, 6),
        "crates": rng.randint(2, 9),
        "weight": rng.randint(4, 24),
    }


def _pump(rng: Random) -> dict[str, int]:
    lift = rng.randint(2, 9)
    return {
        "lift": lift,
        "friction": rng.randint(1, lift),
        "flow": rng.randint(1, 4),
        "motor": 10 * rng.randint(6, 12),
    }


def _wall(rng: Random) -> dict[str, int]:
    thickness, outside = rng.choice((5, 10, 20, 30)), rng.randint(0, 12)
    return {
        "conductivity": thickness * rng.randint(1, 4),
        "thickness": thickness,
        "area": rng.randint(2, 9),
        "inside": outside + rng.randint(3, 20),
        "outside": outside,
    }


def _crane(rng: Random) -> dict[str, int]:
    return {
        "load": rng.randint(3, 15),
        "reach": rng.randint(3, 9),
        "boom": rng.randint(2, 9),
        "middle": rng.randint(1, 4),
        "arm": rng.randint(2, 6),
    }


SHORT_FAMILIES = (
    # Simply supported beam, force at midspan: M = F L / 4; stress = M / W (kN m over dm3 gives MPa).
    ShortFamily(
        name="beam",
        unit="MPa",
        text="Timber beam, span {span} m, midspan load {load} kN, section modulus {modulus} dm3, {extra}, "
        "allowable stress {allowable} MPa. Find the reserve in MPa.",
        extras=("depth {x} cm", "width {x} cm"),
        formulas=(
            ("product", "load", "*", "span"),
            ("moment", "product", "/", "4"),
            ("stress", "moment", "/", "modulus"),
            ("reserve", "allowable", "-", "stress"),
        ),
        draw=_beam,
    ),
    # Bolts in shear: capacity = bolts * planes * area * strength (cm2 times kN/cm2 gives kN).
    ShortFamily(
        name="bolts",
        unit="kN",
        text="Bolted plate, {bolts} bolts, {planes} shear planes, bolt area {bolt_area} cm2, {extra}, "
        "shear strength {strength} kN/cm2, pull {pull} kN. Find the reserve in kN.",
        extras=("thickness {x} mm", "width {x} cm"),
        formulas=(
            ("sections", "bolts", "*", "planes"),
            ("area", "sections", "*", "bolt_area"),
            ("capacity", "area", "*", "strength"),
            ("reserve", "capacity", "-", "pull"),
        ),
        draw=_bolts,
    ),
    # Filling time = (volume - what is held) / (inflow - outflow).
    ShortFamily(
        name="tank",
        unit="h",
        text="Tank, base {length} m by {width} m, height {height} m, holding {held} m3, {extra}, "
        "inflow {inflow} m3/h, outflow {outflow} m3/h. Find the filling time in h.",
        extras=("wall {x} mm", "mass {x} t"),
        formulas=(
            ("base", "length", "*", "width"),
            ("volume", "base", "*", "height"),
            ("missing", "volume", "-", "held"),
            ("net", "inflow", "-", "outflow"),
            ("time", "missing", "/", "net"),
        ),
        draw=_tank,
    ),
    # Two stages: ratio = (wheel / pinion) (driven / driver); output speed = motor speed / ratio.
    ShortFamily(
        name="gears",
        unit="rpm",
        text="Gear train, motor speed {motor_speed} rpm, {extra}, first stage {pinion} to {wheel} teeth, "
        "second stage {driver} to {driven} teeth. Find the output speed in rpm.",
        extras=("width {x} mm", "mass {x} kg"),
        formulas=(
            ("first", "wheel", "/", "pinion"),
            ("second", "driven", "/", "driver"),
            ("ratio", "first", "*", "second"),
            ("speed", "motor_speed", "/", "ratio"),
        ),
        draw=_gears,
    ),
    # Two in parallel: R = R1 R2 / (R1 + R2); one in series adds; I = U / R; P = U I.
    ShortFamily(
        name="resistors",
        unit="W",
        text="Resistors, {first} ohm and {second} ohm in parallel, then {series} ohm in series, {extra}, "
        "at {voltage} V. Find the power in W.",
        extras=("wire {x} m", "mass {x} g"),
        formulas=(
            ("product", "first", "*", "second"),
            ("sum", "first", "+", "second"),
            ("parallel", "product", "/", "sum"),
            ("total", "parallel", "+", "series"),
            ("current", "voltage", "/", "total"),
            ("power", "voltage", "*", "current"),
        ),
        draw=_resistors,
    ),
    # Equal springs side by side: stiffness adds; deflection = load / stiffness.
    ShortFamily(
        name="springs",
        unit="mm",
        text="Spring rack, {springs} springs of {rate} N/mm, {extra}, {crates} crates of {weight} N. "
        "Find the deflection in mm.",
        extras=("height {x} cm", "wire {x} mm"),
        formulas=(
            ("stiffness", "springs", "*", "rate"),
            ("load", "crates", "*", "weight"),
            ("deflection", "load", "/", "stiffness"),
        ),
        draw=_springs,
    ),
    # Hydraulic power = pressure * flow (kPa times L/s gives W), with g rounded to 10 m/s2.
    ShortFamily(
        name="pump",
        unit="W",
        text="Pump, lift {lift} m, friction {friction} m, {extra}, flow {flow} L/s, water 10 kPa/m, "
        "motor {motor} W. Find the reserve in W.",
        extras=("mass {x} kg", "wall {x} mm"),
        formulas=(
            ("head", "lift", "+", "friction"),
            ("pressure", "head", "*", "10"),
            ("power", "pressure", "*", "flow"),
            ("reserve", "motor", "-", "power"),
        ),
        draw=_pump,
    ),
    # Fourier through a plane wall: q = k dT / d (mW/mK over mm gives W/m2K); heat = q A.
    ShortFamily(
        name="wall",
        unit="W",
        text="Wall, conductivity {conductivity} mW/mK, thickness {thickness} mm, {extra}, area {area} m2, "
        "inside {inside} C, outside {outside} C. Find the heat loss in W.",
        extras=("height {x} m", "mass {x} kg"),
        formulas=(
            ("conductance", "conductivity", "/", "thickness"),
            ("difference", "inside", "-", "outside"),
            ("flux", "conductance", "*", "difference"),
            ("heat", "flux", "*", "area"),
        ),
        draw=_wall,
    ),
    # Moments about the mast: counterweight * arm = load * reach + boom * distance of its middle.
    ShortFamily(
        name="crane",
        unit="kN",
        text="Crane, load {load} kN at {reach} m, boom {boom} kN at {middle} m, {extra}, "
        "counterweight at {arm} m. Find the counterweight in kN.",
        extras=("height {x} m", "wire {x} mm"),
        formulas=(
            ("first", "load", "*", "reach"),
            ("second", "boom", "*", "middle"),
            ("sum", "first", "+", "second"),
            ("counterweight", "sum", "/", "arm"),
        ),
        draw=_crane,
    ),
)
