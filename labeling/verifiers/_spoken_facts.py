"""Sentences that are so or not: "91 is prime", "there are 4 choices (0, 2, 4, 6)", "rounded to a ten"."""

import math
import re
from collections.abc import Callable
from fractions import Fraction

from labeling.verifiers._phrases import (
    CLAUSE,
    ITEM,
    NUMBER,
    STOPS,
    WHOLE,
    Form,
    Spoken,
    answer,
    compiled,
    value_of,
)

_BASES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37)
_COUNTS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12,
}  # fmt: skip
_PLACES = {
    "whole number": "1", "integer": "1", "whole": "1", "unit": "1", "one": "1", "dollar": "1",
    "tenth": "1/10", "hundredth": "1/100", "thousandth": "1/1000", "cent": "1/100", "ten": "10",
    "hundred": "100",
    "thousand": "1000",
}  # fmt: skip


def _is_prime(number: int) -> bool:
    """Decide by Miller and Rabin's test, which with these bases is certain below 3.3e24."""
    if number < 2:
        return False
    for base in _BASES:
        if number % base == 0:
            return number == base
    odd, twos = number - 1, 0
    while odd % 2 == 0:
        odd, twos = odd // 2, twos + 1
    for base in _BASES:
        power = pow(base, odd, number)
        if power in (1, number - 1):
            continue
        for _ in range(twos - 1):
            power = power * power % number
            if power == number - 1:
                break
        else:
            return False
    return True


def _is_cube(number: int) -> bool:
    return any((round(number ** (1 / 3)) + gap) ** 3 == number for gap in (-1, 0, 1))


_KINDS: dict[str, Callable[[int], bool]] = {
    "prime": _is_prime,
    "a prime": _is_prime,
    "a prime number": _is_prime,
    "composite": lambda number: number > 1 and not _is_prime(number),
    "a composite number": lambda number: number > 1 and not _is_prime(number),
    "even": lambda number: number % 2 == 0,
    "an even number": lambda number: number % 2 == 0,
    "odd": lambda number: number % 2 == 1,
    "an odd number": lambda number: number % 2 == 1,
    "a perfect square": lambda number: math.isqrt(number) ** 2 == number,
    "a perfect cube": _is_cube,
}


def _kind(match: re.Match[str]) -> Spoken:
    """Read "91 is (not) prime", "144 is a perfect square"."""
    number = int(match.group(1).replace(",", ""))
    is_so = _KINDS[match.group(3)](number)
    return answer(
        match, is_so != bool(match.group(2)), f"{number} is {'' if is_so else 'not '}{match.group(3)}"
    )


def _divisible(match: re.Match[str]) -> Spoken | None:
    """Read "51 is (not) divisible by 3", "51 is a multiple of 3", "3 is a factor of 51"."""
    first, link, second = value_of(match.group(1)), match.group(3), value_of(match.group(4))
    below, above = (first, second) if link.endswith(("factor of", "divisor of")) else (second, first)
    if below == 0:
        return None
    is_so = (above / below).denominator == 1
    verb = "divides" if is_so else "does not divide"
    return answer(match, is_so != bool(match.group(2)), f"{below} {verb} {above}")


def _compared(match: re.Match[str]) -> Spoken:
    """Read "3/4 is greater than 2/3", "91 is not equal to 121"."""
    first, second = value_of(match.group(1)), value_of(match.group(4))
    word = match.group(3).split()[0]
    is_so = first > second if word in ("greater", "larger", "bigger", "more") else first < second
    is_so = first == second if word == "equal" else is_so
    reason = f"{first} is {'' if is_so else 'not '}{match.group(3)} {second}"
    return answer(match, is_so != bool(match.group(2)), reason)


def _rounded(match: re.Match[str]) -> Spoken | None:
    """Read "7.46 rounded to the nearest tenth is 7.5"; either neighbour of a tie will do.

    Only a number within one unit of the other can be its rounding at all; the rest speaks of something else.
    """
    number, shown = value_of(match.group(1)), value_of(match.group(3))
    unit = Fraction(_PLACES[match.group(2)])
    if abs(shown - number) >= unit or (shown / unit).denominator != 1:
        return None
    reason = f"{match.group(3)} is not the multiple of {unit} that is nearest to {match.group(1)}"
    return answer(match, abs(shown - number) * 2 <= unit, reason)


def _counted(match: re.Match[str]) -> Spoken | None:
    """Read "there are 4 choices for the exponent (0, 2, 4, 6)"."""
    count, listed = match.group(1), re.findall(ITEM, match.group(3))
    number = _COUNTS.get(count) or int(count)
    if re.search(r"\b(?:from|among|out of|of the|like|such as|including)\b", match.group(2)):
        return None
    if number != len(listed) and number == len(set(listed)):
        return None
    return answer(match, number == len(listed), f"{len(listed)} are listed, not {number}")


_PLACE_NAMES = "|".join(_PLACES)
_THINGS = (
    r"(?:possible |distinct |different |such |positive |perfect |odd |even |prime |favorable |other |"
    r"two-digit |non-negative ){0,3}(?:choices|options|possibilities|values|numbers|divisors|factors|"
    r"integers|"
    r"primes|multiples|solutions|terms|elements|outcomes|squares|digits|cubes|roots)"
)
ROUNDINGS: tuple[Form, ...] = (
    (
        ("rounded to the nearest",),
        compiled(
            rf"{NUMBER},?\s(?:when\s)?rounded to the nearest\s({_PLACE_NAMES})(?:\splace)?,?"
            rf"(?:\sis|\sgives|\sequals|\sbecomes|\s=|\sto)\s(?:about\s)?{NUMBER}{STOPS}"
        ),
        _rounded,
    ),
    (
        ("to the nearest",),
        compiled(
            rf"{NUMBER}(?![\d,/])[^\d]{{0,60}}?\b[Rr]ound(?:ing|ed|s)?"
            rf"(?: this| it| off| the (?:result|answer|number|value))?,? to the nearest "
            rf"({_PLACE_NAMES})(?:\splace)?,[^\d.]{{0,70}}?{NUMBER}{STOPS}"
        ),
        _rounded,
    ),
)
"""Of these, no words before the phrase make a condition: what was computed there is rounded."""

FACTS: tuple[Form, ...] = (
    (
        ("divisible by", "a multiple of", "a factor of", "a divisor of"),
        compiled(
            rf"{CLAUSE}(?:the number\s)?{WHOLE}\sis\s(not\s)?(?:also\s|clearly\s)?"
            rf"(divisible by|a multiple of|a factor of|a divisor of)\s{WHOLE}{STOPS}"
        ),
        _divisible,
    ),
    (
        ("prime", "composite", "even", "odd", "perfect"),
        compiled(
            rf"{CLAUSE}(?:the number\s)?{WHOLE}\sis\s(not\s)?(?:also\s|clearly\s)?({'|'.join(_KINDS)})"
            rf"(?=\s?[.,;:)\n]|$|\s(?:and|because|but|since|so)\s)"
        ),
        _kind,
    ),
    (
        ("than", "equal to"),
        compiled(
            rf"{CLAUSE}(?:the number\s)?{NUMBER}\sis\s(not\s)?(?:also\s|clearly\s|indeed\s)?"
            rf"(greater than|larger than|bigger than|more than|less than|smaller than|equal to)\s"
            rf"{NUMBER}{STOPS}"
        ),
        _compared,
    ),
    (
        ("here are",),
        compiled(
            rf"\b[Tt]here are (?:only |exactly |a total of )?(\d{{1,3}}|{'|'.join(_COUNTS)}) ({_THINGS}\b"
            rf"[^.,;:()\n]{{0,60}}?)(?::\s|\s\(|,? namely )"
            rf"({ITEM}(?:\s?,\s?(?:and\s)?{ITEM}){{1,60}}(?:,?\sand\s{ITEM})?)"
            rf"(?=\)|\.(?!\d|\.)|;|\n|$)"
        ),
        _counted,
    ),
)
