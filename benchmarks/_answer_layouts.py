"""Answers of other kinds in many spellings, each with spellings of another answer; see `answer_pairs`."""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

from benchmarks._answer_numbers import Spellings, changed_digit


def _polynomial(rng: random.Random) -> tuple[Spellings, Spellings]:
    a, b = rng.randrange(1, 9), rng.randrange(-9, 9)

    def spell(p: int, q: int) -> list[str]:
        both, product = p + q, p * q
        return [
            f"(x {p:+d})(x {q:+d})",
            f"x^2 {both:+d}x {product:+d}",
            f"{product} {both:+d}x + x^{{2}}",
            f"x**2 {both:+d}*x {product:+d}",
            f"x(x {both:+d}) {product:+d}",
        ]

    wrong = [
        f"x^2 {a + b:+d}x {a * b + 1:+d}",
        f"x^2 {a + b - 1:+d}x {a * b:+d}",
        f"y^2 {a + b:+d}y {a * b:+d}",
    ]
    return spell(a, b), wrong


def _rational_function(rng: random.Random) -> tuple[Spellings, Spellings]:
    a, b = rng.randrange(2, 9), rng.randrange(2, 9)

    def spell(p: int, q: int) -> list[str]:
        return [
            f"\\frac{{{p}}}{{n+{q}}}",
            f"{p}/(n+{q})",
            f"{p}(n+{q})^{{-1}}",
            f"\\dfrac{{{2 * p}}}{{2n+{2 * q}}}",
        ]

    return spell(a, b), spell(a + 1, b) + spell(a, b + 1)


def _interval(rng: random.Random) -> tuple[Spellings, Spellings]:
    low, high = sorted(rng.sample(range(-20, 20), 2))
    opening, closing = rng.choice("(["), rng.choice(")]")

    def spell(a: int, b: int, left: str, right: str) -> list[str]:
        signs = [{"(": "<", "[": r"\le"}[left], {")": "<", "]": r"\leq"}[right]]
        turned = [{"<": ">", r"\le": r"\ge", r"\leq": "≥"}[sign] for sign in signs]
        return [
            f"{left}{a},{b}{right}",
            f"\\left{left}{a}, {b}\\right{right}",
            f"{a} {signs[0]} x {signs[1]} {b}",
            f"{b} {turned[1]} x {turned[0]} {a}",
            f"x \\in {left}{a}, {b}{right}",
            f"\\{{x \\mid {a} {signs[0]} x {signs[1]} {b}\\}}",
        ]

    other = {"(": "[", "[": "("}[opening]
    return spell(low, high, opening, closing), spell(low, high + 1, opening, closing) + spell(
        low, high, other, closing
    )


def _half_line(rng: random.Random) -> tuple[Spellings, Spellings]:
    end = rng.randrange(-20, 20)

    def spell(a: int, sign: str) -> list[str]:
        latex = {"<": "<", ">": ">", "<=": r"\le", ">=": r"\ge"}[sign]
        turned = {"<": ">", ">": "<", "<=": r"\geq", ">=": r"\leq"}[sign]
        bracket = "(" if sign == ">" else "[" if sign == ">=" else ")" if sign == "<" else "]"
        interval = f"{bracket}{a}, \\infty)" if ">" in sign else f"(-\\infty, {a}{bracket}"
        return [
            f"x {latex} {a}",
            f"{a} {turned} x",
            f"x {sign} {a}",
            interval,
            f"x \\in {interval}",
            interval.replace("\\infty", "∞"),
        ]

    sign, other = rng.sample(("<", ">", "<=", ">="), 2)
    return spell(end, sign), spell(end, other) + spell(end + 1, sign)


def _union(rng: random.Random) -> tuple[Spellings, Spellings]:
    low, high = sorted(rng.sample(range(-20, 20), 2))

    def spell(a: int, b: int) -> list[str]:
        return [
            f"(-\\infty,{a})\\cup({b},\\infty)",
            f"({b}, \\infty) \\cup (-\\infty, {a})",
            f"x < {a} \\text{{ or }} x > {b}",
            f"x > {b} or x < {a}",
            f"x \\in (-∞,{a}) ∪ ({b},∞)",
        ]

    return spell(low, high), [
        *spell(low, high + 1),
        f"(-\\infty,{low}]\\cup({high},\\infty)",
        f"({low},{high})",
    ]


def _set(rng: random.Random) -> tuple[Spellings, Spellings]:
    values = rng.sample(range(-30, 30), rng.randrange(2, 5))

    def spell(numbers: Sequence[int]) -> list[str]:
        mixed = rng.sample(list(numbers), len(numbers))
        body, last = ", ".join(map(str, mixed[:-1])), mixed[-1]
        named = " or ".join(f"x = {n}" for n in mixed)
        forms = [
            f"{body}, {last}",
            f"\\{{{body}, {last}\\}}",
            f"{body} and {last}",
            f"{body} \\text{{ or }} {last}",
            named,
            f"x = {body}, {last}",
        ]
        return [*forms, f"\\left\\{{ {body}, {last} \\right\\}}", f"${body}$ and ${last}$"]

    changed = [values[0] + 61, *values[1:]]
    return spell(values), [*spell(changed), *spell([*values[1:], 77, 78])]


def _tuple(rng: random.Random) -> tuple[Spellings, Spellings]:
    values = rng.sample(range(-30, 30), rng.randrange(2, 4))

    def spell(numbers: Sequence[int]) -> list[str]:
        names = "xyz"[: len(numbers)]
        body = ", ".join(map(str, numbers))
        named = ", ".join(f"{name} = {number}" for name, number in zip(names, numbers, strict=True))
        return [
            f"({body})",
            f"\\left({body}\\right)",
            f"({body.replace(' ', '')})",
            f"({', '.join(names)}) = ({body})",
            named,
        ]

    changed = [values[0] + 61, *values[1:]]
    return spell(values), spell(changed) + spell(values[::-1])


def _plus_minus(rng: random.Random) -> tuple[Spellings, Spellings]:
    a, n = rng.randrange(1, 9), rng.choice((2, 3, 5, 7))

    def spell(k: int) -> list[str]:
        return [
            f"{k} \\pm \\sqrt{{{n}}}",
            f"x = {k} ± √{n}",
            f"{k}+\\sqrt{{{n}}}, {k}-\\sqrt{{{n}}}",
            f"{k} - \\sqrt{{{n}}} \\text{{ and }} {k} + \\sqrt{{{n}}}",
            f"\\{{{k}+\\sqrt{n}, {k}-\\sqrt{n}\\}}",
        ]

    return spell(a), [*spell(a + 1), f"{a} + \\sqrt{{{n}}}, {a} + 2\\sqrt{{{n}}}"]


def _matrix(rng: random.Random) -> tuple[Spellings, Spellings]:
    cells = [rng.randrange(-9, 10) for _ in range(4)]

    def spell(c: Sequence[int]) -> list[str]:
        body = f"{c[0]} & {c[1]} \\\\ {c[2]} & {c[3]}"
        forms = [f"\\begin{{{kind}}}{body}\\end{{{kind}}}" for kind in ("pmatrix", "bmatrix")]
        return [
            *forms,
            forms[0].replace(" ", ""),
            f"\\left(\\begin{{array}}{{cc}}{body}\\end{{array}}\\right)",
            f"[[{c[0]}, {c[1]}], [{c[2]}, {c[3]}]]",
        ]

    return spell(cells), spell([cells[0] + 1, *cells[1:]])


def _unit(rng: random.Random) -> tuple[Spellings, Spellings]:
    number = rng.randrange(1, 500)
    small, large, scale = rng.choice(
        (
            ("cm", "m", 100),
            ("m", "km", 1000),
            ("minutes", "hours", 60),
            ("g", "kg", 1000),
            ("cents", "dollars", 100),
            ("mm", "cm", 10),
            ("seconds", "minutes", 60),
            ("mL", "L", 1000),
        )
    )

    def spell(n: int) -> list[str]:
        return [
            f"{n} {large}",
            f"{n}\\text{{ {large}}}",
            f"{n}\\,\\mathrm{{{large}}}",
            f"{n * scale} {small}",
            f"{n * scale:,}\\ \\text{{{small}}}",
        ]

    return spell(number), [*spell(changed_digit(rng, number)), f"{number} {small}"]


def _degrees(rng: random.Random) -> tuple[Spellings, Spellings]:
    number = rng.randrange(1, 360)

    def spell(n: int) -> list[str]:
        turn = Fraction(n, 180)
        return [
            f"{n}^\\circ",
            f"{n}^{{\\circ}}",
            f"{n}°",
            f"{n} degrees",
            f"{n}\\text{{ degrees}}",
            f"\\frac{{{turn.numerator}\\pi}}{{{turn.denominator}}}" if n % 5 == 0 else f"{n}^\\circ",
        ]

    return [*spell(number), f"{number}°"], spell(changed_digit(rng, number))


def _choice(rng: random.Random) -> tuple[Spellings, Spellings]:
    letter, other = rng.sample("ABCDE", 2)

    def spell(c: str) -> list[str]:
        return [
            c,
            f"({c})",
            f"\\text{{{c}}}",
            f"\\textbf{{({c})}}",
            f"{c}.",
            f"Option {c}",
            f"({c}) 12",
            f"{c}: 12",
        ]

    return spell(letter), spell(other)[:6]


def _words(rng: random.Random) -> tuple[Spellings, Spellings]:
    meanings = (
        (
            "no solution",
            "No solutions",
            r"\text{no real solutions}",
            r"\emptyset",
            "∅",
            r"\varnothing",
            "There is no solution",
        ),
        ("infinitely many", "infinitely many solutions", r"\text{infinitely many}"),
        ("all real numbers", r"\mathbb{R}", r"(-\infty, \infty)", "all reals", "ℝ"),
        ("undefined", "does not exist", "DNE"),
        ("Evelyn", "evelyn", r"\text{Evelyn}"),
        ("ellipse", "an ellipse", r"\text{Ellipse}", "The ellipse"),
        ("Tuesday", "tuesday", r"\text{Tuesday}"),
    )
    value, other = rng.sample(meanings, 2)
    return value, other


def _named(rng: random.Random) -> tuple[Spellings, Spellings]:
    number = rng.randrange(1, 1000)

    def spell(n: int) -> list[str]:
        return [
            str(n),
            f"x = {n}",
            f"${n} = x$",
            f"AB = {n}",
            f"f(2) = {n}",
            f"AB = {n - 1} + 1 = {n}",
            f"\\text{{Area}} = {n}",
            f"\\angle ABC = {n}",
            f"{n - 3} + 3 = {n}",
        ]

    return spell(number), spell(changed_digit(rng, number))


def _equation(rng: random.Random) -> tuple[Spellings, Spellings]:
    slope, shift = rng.randrange(2, 9), rng.randrange(1, 9)

    def spell(m: int, c: int) -> list[str]:
        return [
            f"y = {m}x + {c}",
            f"y = {c} + {m}x",
            f"{m}x - y + {c} = 0",
            f"y - {m}x = {c}",
            f"{2 * m}x - 2y = -{2 * c}",
        ]

    return spell(slope, shift), spell(slope, shift + 1) + spell(slope + 1, shift)


OTHER_KINDS: dict[str, Callable[[random.Random], tuple[Spellings, Spellings]]] = {
    "polynomials": _polynomial,
    "rational functions": _rational_function,
    "intervals, inequalities": _interval,
    "half-lines": _half_line,
    "unions": _union,
    "sets, lists": _set,
    "tuples": _tuple,
    "plus-minus": _plus_minus,
    "matrices": _matrix,
    "units": _unit,
    "degrees, radians": _degrees,
    "choices": _choice,
    "words": _words,
    "named values": _named,
    "equations": _equation,
}
