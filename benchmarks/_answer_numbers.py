"""Numbers in many spellings, each with spellings of another number: a part of `benchmarks.answer_pairs`."""

import random
from collections.abc import Callable, Sequence
from fractions import Fraction

Spellings = Sequence[str]
NOUNS = ("apples", "students", "pages", "in total")
ONES = (
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)
TEENS = ("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen")
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def changed_digit(rng: random.Random, number: int) -> int:
    """Change one digit of a number."""
    digits = list(str(abs(number)))
    place = rng.randrange(len(digits))
    digits[place] = rng.choice(
        [d for d in "0123456789" if d != digits[place] and (place or d != "0")] or ["5"]
    )
    changed = int("".join(digits))
    return -changed if number < 0 else changed


def _dressed(rng: random.Random, text: str) -> str:
    forms = ("{}", "${}$", r"\({}\)", "{}.", "**{}**", r"\left({}\right)", " {} ", r"\boxed{{{}}}")
    form = rng.choice(forms)
    return text if "left" in form and not text.isalnum() else form.format(text)


def _whole(rng: random.Random) -> tuple[Spellings, Spellings]:
    noun = rng.choice(NOUNS)
    number = rng.randrange(-200, 10 ** rng.randrange(1, 13))

    def spell(n: int) -> list[str]:
        grouped = f"{n:,}"
        forms = [
            str(n),
            grouped,
            grouped.replace(",", "{,}"),
            grouped.replace(",", r"\,"),
            f"{n}.0",
            f"{n}.00",
        ]
        forms += [
            f"{grouped} {noun}",
            f"{n}\\text{{ {noun}}}",
            f"\\${grouped}",
            f"${n}",
        ]
        forms += [f"x = {n}", f"The total is {n}", f"\\text{{{n}}}"]
        return [_dressed(rng, form) if "$" not in form else form for form in forms]

    return spell(number), spell(changed_digit(rng, number))


def _spelt_out(n: int) -> str:
    if n < len(ONES):
        return ONES[n]
    if n < 20:
        return TEENS[n - 13]
    if n < 100:
        return TENS[n // 10 - 2] + (f"-{ONES[n % 10]}" if n % 10 else "")
    if n < 1000:
        return f"{ONES[n // 100]} hundred" + (f" and {_spelt_out(n % 100)}" if n % 100 else "")
    return f"{_spelt_out(n // 1000)} thousand" + (f" {_spelt_out(n % 1000)}" if n % 1000 else "")


def _in_words(rng: random.Random) -> tuple[Spellings, Spellings]:
    number = rng.randrange(0, rng.choice((20, 200, 10000)))

    def spell(n: int) -> list[str]:
        words = _spelt_out(n)
        return [
            str(n),
            words,
            words.capitalize(),
            words.replace("-", " "),
            f"\\text{{{words}}}",
            f"{words} apples",
        ]

    return spell(number), spell(changed_digit(rng, number))


def _decimal(rng: random.Random) -> tuple[Spellings, Spellings]:
    places = rng.randrange(1, 9)
    number = rng.randrange(1, 10**9)

    def spell(n: int) -> list[str]:
        value = Fraction(n, 10**places)
        text = f"{n // 10**places}.{n % 10**places:0{places}d}"
        forms = [
            text,
            text + "0",
            f"{n // 10**places:,}.{n % 10**places:0{places}d}",
            f"-{text}"[1:],
            fraction(value),
        ]
        if text.startswith("0."):
            forms.append(text[1:])
        return [_dressed(rng, form) for form in forms]

    return spell(number), spell(changed_digit(rng, number))


def fraction(value: Fraction, command: str = "\\frac") -> str:
    sign = "-" if value < 0 else ""
    return f"{sign}{command}{{{abs(value.numerator)}}}{{{value.denominator}}}"


def _fractions(rng: random.Random) -> tuple[Spellings, Spellings]:
    top, bottom = rng.randrange(1, 200), rng.randrange(2, 40)
    sign = rng.choice((1, 1, -1))

    def spell(n: int) -> list[str]:
        value = Fraction(sign * n, bottom)
        scale = rng.randrange(2, 9)
        minus = "-" if sign < 0 else ""
        forms = [fraction(value, c) for c in ("\\frac", "\\dfrac", "\\tfrac")]
        forms += [
            f"{sign * n}/{bottom}",
            f"\\frac{{{sign * n}}}{{{bottom}}}",
            f"{minus}\\frac{{{n * scale}}}{{{bottom * scale}}}",
        ]
        if n < 10 and bottom < 10:
            forms.append(f"{minus}\\frac{n}{bottom}")
        if abs(value) > 1 and value.denominator > 1:
            whole, rest = divmod(abs(value), 1)
            forms += [
                f"{minus}{whole}\\frac{{{rest.numerator}}}{{{rest.denominator}}}",
                f"{minus}{whole} {rest}",
            ]
        if not 10**6 % value.denominator:
            forms += [f"{float(value):.6f}", f"{float(100 * value):.4f}\\%"]
        return forms

    return spell(top), spell(changed_digit(rng, top))


def _percent(rng: random.Random) -> tuple[Spellings, Spellings]:
    number = rng.randrange(1, 2000)

    def spell(n: int) -> list[str]:
        value = Fraction(n, 10)
        text = str(value) if value.denominator == 1 else f"{float(value):.1f}"
        return [
            f"{text}%",
            f"{text}\\%",
            f"{text} percent",
            f"{text}\\text{{ percent}}",
            f"{text} per cent",
            f"{float(value) / 100:.4f}",
            fraction(value / 100),
        ]

    bare = Fraction(number, 10)
    return spell(number), [*spell(changed_digit(rng, number)), f"{float(bare):.1f}"]


def _scientific(rng: random.Random) -> tuple[Spellings, Spellings]:
    lead, power = rng.randrange(101, 999), rng.randrange(-30, 30)

    def spell(n: int, p: int) -> list[str]:
        text = f"{n // 100}.{n % 100:02d}"
        return [
            f"{text} \\times 10^{{{p}}}",
            f"{text} \\cdot 10^{{{p}}}",
            f"{text}e{p}",
            f"{text} x 10^{p}",
            f"{n} \\times 10^{{{p - 2}}}",
            f"{text}*10**{p}",
        ]

    wrong = spell(changed_digit(rng, lead), power) + spell(lead, power + rng.choice((1, -1)))
    return spell(lead, power), wrong


def _periodic(rng: random.Random) -> tuple[Spellings, Spellings]:
    period = rng.choice((7, 13, 81, 123, 142857, 5, 36))

    def spell(n: int) -> list[str]:
        value = Fraction(n, 10 ** len(str(n)) - 1)
        return [
            f"0.\\overline{{{n}}}",
            fraction(value),
            f"{value.numerator}/{value.denominator}",
            f"{float(value):.9f}",
        ]

    return spell(period), spell(rng.choice([n for n in (8, 14, 82, 124, 142858, 6, 37) if n != period]))


def _surd(rng: random.Random) -> tuple[Spellings, Spellings]:
    factor, radicand = rng.randrange(2, 12), rng.choice((2, 3, 5, 6, 7, 10, 11))

    def spell(k: int, n: int) -> list[str]:
        return [
            f"{k}\\sqrt{{{n}}}",
            f"\\sqrt{{{k * k * n}}}",
            f"{k}√{n}",
            f"{k}*sqrt({n})",
            f"\\frac{{{k * n}}}{{\\sqrt{{{n}}}}}",
            f"{k} \\cdot {n}^{{1/2}}",
        ]

    return spell(factor, radicand), spell(factor + 1, radicand) + spell(factor, radicand + 2)


def _with_pi(rng: random.Random) -> tuple[Spellings, Spellings]:
    top, bottom = rng.randrange(1, 40), rng.choice((2, 3, 4, 5, 6, 12))

    def spell(n: int) -> list[str]:
        return [
            f"\\frac{{{n}\\pi}}{{{bottom}}}",
            f"\\frac{{{n}}}{{{bottom}}}\\pi",
            f"{n}\\pi/{bottom}",
            f"{n}π/{bottom}",
            f"{n}*pi/{bottom}",
            f"\\frac{{{3 * n}\\pi}}{{{3 * bottom}}}",
        ]

    return spell(top), [*spell(top + 1), f"\\frac{{{top}}}{{{bottom}}}"]


def _power(rng: random.Random) -> tuple[Spellings, Spellings]:
    base, exponent = rng.choice((2, 3, 5, 7, 10)), rng.randrange(5, 60)

    def spell(b: int, e: int) -> list[str]:
        return [
            f"{b}^{{{e}}}",
            str(b**e),
            f"{b}^{{{e - 2}}} \\cdot {b}^2",
            f"{b} \\cdot {b}^{{{e - 1}}}",
            f"{b**e:,}",
            f"{b}^{e}",
        ]

    return spell(base, exponent), [*spell(base, exponent + 1), str(base**exponent + 1)]


def _complex(rng: random.Random) -> tuple[Spellings, Spellings]:
    a, b = rng.randrange(1, 20), rng.randrange(2, 20)

    def spell(p: int, q: int) -> list[str]:
        return [f"{p}+{q}i", f"{q}i + {p}", f"{p} + {q} i", f"i({q} - {p}i)", f"({p}+{q - 1}i) + i"]

    return spell(a, b), [*spell(a, b + 1), f"{a} - {b}i"]


def _ratio(rng: random.Random) -> tuple[Spellings, Spellings]:
    a, b = rng.choice(((2, 3), (3, 5), (1, 4), (7, 2), (5, 9)))

    def spell(p: int, q: int) -> list[str]:
        return [
            f"{p}:{q}",
            f"{p} : {q}",
            f"{3 * p}:{3 * q}",
            f"{p} to {q}",
            fraction(Fraction(p, q)),
            f"{p}/{q}",
        ]

    return spell(a, b), [f"{a}:{b + 1}", f"{b}:{a}", f"{a + 1} to {b}"]


def _base(rng: random.Random) -> tuple[Spellings, Spellings]:
    digits = "".join(rng.choice("01234") for _ in range(4))

    def spell(d: str) -> list[str]:
        return [f"1{d}_5", f"1{d}_{{5}}", f"1{d} base 5", f"1{d}_{{\\text{{five}}}}", f"1{d}₅"]

    return spell(digits), [f"2{digits}_5", f"1{digits[1:]}_5", f"1{digits}_7"]


def _logarithm(rng: random.Random) -> tuple[Spellings, Spellings]:
    base, power = rng.choice((2, 3, 5)), rng.randrange(2, 6)

    def spell(p: int) -> list[str]:
        return [
            str(p),
            f"\\log_{{{base}}} {base**p}",
            f"\\log_{base}({base**p})",
            f"\\frac{{\\ln {base**p}}}{{\\ln {base}}}",
        ]

    return spell(power), [*spell(power + 1), f"\\log_{{{base}}} {base**power + 1}"]


NUMBER_KINDS: dict[str, Callable[[random.Random], tuple[Spellings, Spellings]]] = {
    "whole numbers": _whole,
    "numbers in words": _in_words,
    "decimals": _decimal,
    "fractions, mixed numbers": _fractions,
    "per cent": _percent,
    "scientific, very small": _scientific,
    "periodic decimals": _periodic,
    "roots": _surd,
    "multiples of pi": _with_pi,
    "powers": _power,
    "complex numbers": _complex,
    "ratios": _ratio,
    "number bases": _base,
    "logarithms": _logarithm,
}
