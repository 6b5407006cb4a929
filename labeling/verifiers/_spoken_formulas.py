"""Sentences that speak of a formula and its value: "the sum of 3, 4 and 5 is 12", "half of 30 is 15"."""

import re

from labeling.verifiers._phrases import (
    CLAUSE,
    DIGITS,
    IS,
    LIST,
    NUMBER,
    STOPS,
    Form,
    Spoken,
    compiled,
    formula,
)

_PARTS = {
    "half": "1/2", "one half": "1/2", "a half": "1/2", "a third": "1/3", "one third": "1/3",
    "two thirds": "2/3",
    "a quarter": "1/4", "one quarter": "1/4", "one fourth": "1/4", "a fourth": "1/4", "three quarters": "3/4",
    "three fourths": "3/4", "a fifth": "1/5", "one fifth": "1/5", "two fifths": "2/5", "three fifths": "3/5",
    "four fifths": "4/5", "a tenth": "1/10", "one tenth": "1/10", "twice": "2", "double": "2", "triple": "3",
    "thrice": "3",
}  # fmt: skip
_FUNCTIONS = {
    "square root": "\\sqrt{%s}", "cube root": "\\sqrt[3]{%s}", "square": "(%s)^2", "cube": "(%s)^3",
    "absolute value": "|%s|", "reciprocal": "1/(%s)",
}  # fmt: skip
_FACTORS = {"doubl": "2", "tripl": "3", "halve": "1/2", "quadr": "4"}
_PART_WORDS = (
    r"(?:[Oo]ne[- ]|[Aa]\s|[Tt]wo[- ]|[Tt]hree[- ]|[Ff]our[- ])?"
    r"(?:[Hh]alf|third|quarter|fourth|fifth|tenth)s?"
)


def _bracketed(number: str) -> str:
    return f"({number})" if number.startswith("-") or "/" in number else number


def _many(match: re.Match[str]) -> Spoken | None:
    """Read "the sum of 3, 4 and 5 is 12", "the difference between 7 and 3 is 4"."""
    name = match.group(1).lower().split()[0]
    numbers = [_bracketed(number) for number in re.findall(rf"-?{DIGITS}", match.group(2))]
    left = ""
    if name == "sum":
        left = " + ".join(numbers)
    elif name == "product":
        left = " * ".join(numbers)
    elif name in ("average", "mean"):
        left = f"({' + '.join(numbers)}) / {len(numbers)}"
    elif len(numbers) == 2:
        left = f"|{numbers[0]} - {numbers[1]}|" if name == "difference" else f"{numbers[0]} / {numbers[1]}"
    return formula(match, left, match.group(3))


def _part(match: re.Match[str]) -> Spoken | None:
    """Read "half of 30 is 15", "two-thirds of 60 is 40", "twice 8 is 16"."""
    part = _PARTS.get(" ".join(match.group(1).lower().replace("-", " ").split()))
    if part is None:
        return None
    return formula(match, f"{_bracketed(part)} * {_bracketed(match.group(2))}", match.group(3))


def _function(match: re.Match[str]) -> Spoken | None:
    """Read "the square root of 144 is 12"."""
    return formula(match, _FUNCTIONS[match.group(1).lower()] % match.group(2), match.group(3))


def _more(match: re.Match[str]) -> Spoken | None:
    """Read "12 is 3 more than 9", "12 is 3 less than 15"."""
    sign = "+" if match.group(3) in ("more", "greater") else "-"
    left = f"{_bracketed(match.group(4))} {sign} {_bracketed(match.group(2))}"
    return formula(match, left, match.group(1))


def _share(match: re.Match[str]) -> Spoken | None:
    """Read "12 is 20% of 60", "12 is half of 24", "12 is 3 times 4"."""
    factor = match.group(2)
    if factor.endswith("times"):
        left = f"{factor.removesuffix('times').strip()} * ({match.group(3)})"
    elif factor[0].isdecimal():
        percentage = re.split(r"[\s%\\]", factor)[0]
        left = f"{percentage}% of {match.group(3)}"
    else:
        left = f"{_bracketed(_PARTS[factor.removesuffix(' of')])} * ({match.group(3)})"
    return formula(match, left, match.group(1))


def _changed(match: re.Match[str]) -> Spoken | None:
    """Read "doubles from 4 to 8"."""
    factor = _FACTORS[match.group(1).lower()[:5]]
    return formula(match, f"{_bracketed(match.group(2))} * {_bracketed(factor)}", match.group(3))


FORMULAS: tuple[Form, ...] = (
    (
        ("um of", "roduct of", "ifference between", "ifference of", "uotient of", "verage of", "ean of"),
        compiled(
            rf"{CLAUSE}(?:[Tt]he\s)?((?:[Ss]um|[Pp]roduct|[Aa]verage|[Mm]ean|[Dd]ifference|[Qq]uotient)\s"
            rf"(?:of|between))\s{LIST}{IS}{NUMBER}{STOPS}"
        ),
        _many,
    ),
    (
        ("alf", "third", "quarter", "fourth", "fifth", "tenth", "wice", "ouble", "riple", "hrice"),
        compiled(
            rf"{CLAUSE}({_PART_WORDS}(?=\sof)|[Tt]wice|[Dd]ouble|[Tt]riple|[Tt]hrice)\s(?:of\s)?"
            rf"{NUMBER}{IS}{NUMBER}{STOPS}"
        ),
        _part,
    ),
    (
        ("root of", "quare of", "ube of", "bsolute value of", "eciprocal of"),
        compiled(
            rf"{CLAUSE}(?:[Tt]he\s)?((?:square root|cube root|square|cube|absolute value|reciprocal)(?=\sof))"
            rf"\sof\s{NUMBER}{IS}{NUMBER}{STOPS}"
        ),
        _function,
    ),
    (
        (" more than", " less than", " greater than", " fewer than"),
        compiled(rf"{CLAUSE}{NUMBER}\sis\s{NUMBER}\s(more|less|greater|fewer)\sthan\s{NUMBER}{STOPS}"),
        _more,
    ),
    (
        ("% of", "percent of", " times ", " half", " twice"),
        compiled(
            rf"{CLAUSE}{NUMBER}\sis\s(?:exactly\s)?(\d[\d.]{{0,9}}\s?(?:\\?%\sof|percent\sof|times)|half(?:\sof)?|"
            rf"twice)\s{NUMBER}{STOPS}"
        ),
        _share,
    ),
    (
        (" from ",),
        compiled(
            rf"\b([Dd]oubl(?:es|ed|ing)|[Tt]ripl(?:es|ed|ing)|[Hh]alve[sd]|[Qq]uadrupl(?:es|ed|ing))\sfrom\s"
            rf"{NUMBER}\sto\s{NUMBER}{STOPS}"
        ),
        _changed,
    ),
)
