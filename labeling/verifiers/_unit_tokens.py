r"""Text -> tokens of formulas with units; letter case and the place of every token are kept.

`\text{...}` and `\mathrm{...}` are blanked out (what they hold stays, at its place, and counts as upright,
so a letter in them is a unit); so are Markdown stars and the dollar signs around inline mathematics.
"""

import re
from fractions import Fraction
from typing import NamedTuple

from labeling.verifiers._reading import RELATIONS, SUPERSCRIPTS, join_lines
from labeling.verifiers._unit_table import is_unit

MAX_DIGITS = 60


class Token(NamedTuple):
    """One token and where it stands in the text (code points)."""

    kind: str
    """NUM, WORD, OP, REL, (, ), FRAC, SQRT, PI, SUP, CUR, DEG, PCT, BREAK or BAD."""
    text: str
    """As understood: an operator as one of + - * / ^, a relation as one of = ~ < > <= >= !=."""
    start: int
    end: int
    is_tight: bool
    """Nothing stands between this token and the one before."""
    value: Fraction = Fraction(0)
    """Of a NUM or SUP."""
    last_digit: Fraction = Fraction(1)
    """Of a NUM: worth of its last digit."""
    mantissa: Fraction = Fraction(0)
    """Of a NUM: what stands before the power of ten."""
    exponent: int | None = None
    """Of a NUM with a power of ten: the exponent."""
    is_caret_lost: bool = False
    """Of a NUM written like 3.0x108 or 3.0x10-8: `value` is as written, `exponent` what may be meant."""
    joins_units: bool = False
    """Of a sign of multiplication: a dot or a star, which may stand between units (N·m)."""
    is_upright: bool = False
    r"""Stands in \text or \mathrm."""


_WRAPPER = re.compile(
    r"\\(?:text|mathrm|textrm|mathit|textit|mbox|rm|unit|operatorname|mathbf|textbf)\s?"
    r"\{((?:[^{}\n]|\{[^{}\n]{0,8}\}){0,80})\}"
)
_INLINE_MATH = re.compile(r"\$(?=[^$\n]{0,300}[\\^=_][^$\n]{0,300}\$(?!\d))([^$\n]{1,600})\$")
_PATTERN = re.compile(
    r"""
  (?P<ITEM>^[^\S\n]{0,12}(?:[-*•–+](?=\s)|\(?\d{1,2}[.)](?=\s)|\(?[a-zA-Z]\)(?=\s)))
| (?P<NEWLINE>\n|\\\\(?:\[[^\]\n]{0,12}\])?|\\[\[\]]|\$\$)
| (?P<RAISED>(?<=[\w)])\*\*(?=[\d({-]))
| (?P<SPACE>(?:[^\S\n]|\\[,;:!\ ]|&|~(?!\s?\d)|\*\*
    |\\(?:left|right|[bB]igg?[lr]?|displaystyle|boxed|fbox)(?![A-Za-z]))+)
| (?P<NUM>\d{1,3}(?:(?:,|\{,\}|\\,)\d{3})+(?!\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
| (?P<DEG>(?:\^\{?\s?\\circ\s?\}?|\\degree(?![A-Za-z])|°|\bdegrees?)\s{0,9}
    (?P<SCALE>(?:C|F|Celsius|Fahrenheit)\b)?|℃|℉)
| (?P<FRAC>\\[dtc]?frac(?![A-Za-z]))
| (?P<SQRT>\\sqrt(?![A-Za-z\s]?\[)|√|sqrt(?=\())
| (?P<PI>\\pi(?![A-Za-z])|π|\bpi\b)
| (?P<MICRO>(?:\\mu|\\micro)(?:(?![A-Za-z])\s?)(?=[a-zA-Z]))
| (?P<FUNCTION>\\(?:sin|cos|tan|ln|exp)(?![A-Za-z]))
| (?P<OHM>\\(?:Omega|ohm)(?![A-Za-z]))
| (?P<IMPLIES>=>|-->?|[→⇒⟹⟶]|\\(?:implies|Rightarrow|rightarrow|Longrightarrow|to|therefore|because|quad
    |qquad|iff)(?![A-Za-z])|\\(?:begin|end)\{[^{}\n]{0,20}\})
| (?P<REL><=|>=|!=|=<|==?|:=|[＝≈≃≅≠≤≥<>]|\\(?:approx|simeq|leq?|geq?|neq?|lt|gt)(?![A-Za-z]))
| (?P<TIMES>\\(?:cdot|times|ast)(?![A-Za-z])|[×✕⋅·∙∗•]|\\?\*)
| (?P<OVER>\\div(?![A-Za-z])|[÷/⁄∕])
| (?P<PLUS>\+) | (?P<MINUS>[-−–‒])
| (?P<POWER>\^)
| (?P<SUP>[⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
| (?P<OPEN>[(\[{]) | (?P<CLOSE>[)\]}])
| (?P<ABOUT>~)
| (?P<PCT>\\?%)
| (?P<CUR>\\?[$](?=\s?(?:\d|\.\d))|[€£¥₹])
| (?P<WORD>[^\W\d_⁰-⁹¹²³¼-¾⅐-⅞]+
    (?:(?:\\?_\{?\w{1,12}\}?)|['’](?=[a-z])[a-z]{1,3}|-(?=[a-z]{3})[a-z]{3,20})*'?|¢)
| (?P<BREAK>[.,;:：?!"“”„«»。，；、？！'’‘—#`|]|\\[()])
| (?P<BAD>\\[A-Za-z]+|\\.|.)
""",
    re.VERBOSE | re.MULTILINE,
)
_TEN_POWER = re.compile(
    r"\s?(?:[xX×⋅·]|\\?\*|\\times|\\cdot)\s?10\s?"
    r"(?:(?:\^|\*\*)\s?(?:\{\s?([-−–+]?\d{1,3})\s?\}|\(\s?([-−–+]?\d{1,3})\s?\)|([-−–+]?\d{1,3}))|([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
_LOST_CARET = re.compile(r"\s?(?:[xX×⋅·]|\\?\*|\\times|\\cdot)\s?10([-−–]?[1-9]\d?)(?![\d.,^])")
_LETTERS = re.compile(r"[a-zA-Z]+")
_E_NOTATION = re.compile(r"[eE]([-−+]?\d{1,3})(?![\d.\w])")
_OPERATORS = {"OVER": "/", "PLUS": "+", "MINUS": "-", "POWER": "^", "RAISED": "^"}
_THOUSANDS = re.compile(r",|\{,\}|\\,")
_TIMES_WORDS = {"times": "*", "plus": "+", "minus": "-"}


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, in one pass, in time linear in its length."""
    upright: list[tuple[int, int]] = []

    def unwrap(match: re.Match[str]) -> str:
        upright.append(match.span(1))
        return " " * (match.start(1) - match.start()) + match.group(1) + " "

    if "\\" in text:
        text = _WRAPPER.sub(unwrap, text)
    if "$" in text:
        text = _INLINE_MATH.sub(lambda match: f" {match.group(1)} ", text)
    tokens: list[Token] = []
    at, end_of_last, next_span = 0, 0, 0
    while (match := _PATTERN.match(text, at)) is not None:
        at = match.end()
        group = match.lastgroup
        if group == "SPACE":
            continue
        if group == "SCALE":
            group = "DEG"
        while next_span < len(upright) and upright[next_span][1] <= match.start():
            next_span += 1
        is_upright = next_span < len(upright) and upright[next_span][0] <= match.start()
        token = _token(group or "BAD", match, text, tokens)
        token = token._replace(is_tight=match.start() == end_of_last, is_upright=is_upright)
        at = end_of_last = max(at, token.end)
        tokens.append(token)
    return join_lines(tokens)


def _token(group: str, match: re.Match[str], text: str, before: list[Token]) -> Token:
    raw, start, end = match.group(), match.start(), match.end()
    if group in _READERS:
        return _READERS[group](raw, start, end, text, before)
    if group in _OPERATORS:
        return Token("OP", _OPERATORS[group], start, end, False)
    if group == "FUNCTION":
        return Token("WORD", raw[1:], start, end, False)
    if group == "CUR":
        return Token("CUR", raw[-1], start, end, False)
    kind, meaning = _MEANINGS.get(group, (group, raw))
    return Token(kind, meaning or raw, start, end, False)


def _superscript(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    digits = raw.translate(SUPERSCRIPTS)
    return Token("SUP" if len(digits) < 5 else "BAD", raw, start, end, False, Fraction(int(digits[:5])))


def _degree(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    """Read ° and °C, in signs, words and LaTeX."""
    scale = {"℃": "C", "℉": "F"}.get(raw, "")
    for name in ("Celsius", "Fahrenheit", "C", "F"):
        scale = scale or (name[0] if raw.endswith(name) else "")
    return Token("WORD", "°" + scale, start, end, False)


def _micro(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    word = _LETTERS.match(text, end)
    assert word is not None
    return Token("WORD", "µ" + word.group(), start, word.end(), False)


def _times(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    joins = not raw.startswith(("×", "✕", "\\times"))
    return Token("OP", "*", start, end, False, joins_units=joins)


def _relation(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    return Token("REL", RELATIONS[raw], start, end, False)


def _stop(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    """Tell the signs that end a clause from those inside 3,5 and 10:30 and N.m."""
    if not before or before[-1].end != start or len(raw) > 1:
        return Token("BREAK", raw, start, end, False)
    last = before[-1]
    if last.kind == "NUM" and raw in ",:." and text[end : end + 1].isdigit():
        return Token("BAD", raw, start, end, False)
    following = _LETTERS.match(text, end) if raw == "." and last.kind == "WORD" else None
    if following is not None and is_unit(last.text) and is_unit(following.group()):
        return Token("OP", "*", start, end, False, joins_units=True)
    return Token("BREAK", raw, start, end, False)


def _number(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    # Of a^2 x 10^3 the 2 is no factor of the power of ten.
    if any(token.text == "^" for token in before[-2:]):
        text = ""
    plain = _THOUSANDS.sub("", raw)
    if len(plain) > MAX_DIGITS:
        return Token("BAD", raw, start, end, False)
    whole, _, tail = plain.partition(".")
    last_digit = Fraction(1, 10 ** len(tail))
    value = mantissa = int(whole + tail) * last_digit
    exponent, is_lost = None, False
    if (power := _TEN_POWER.match(text, end) or _E_NOTATION.match(text, end)) is not None:
        digits = next(group for group in power.groups() if group is not None)
        exponent = int(digits.translate(SUPERSCRIPTS))
        scale = Fraction(10) ** exponent
        value, last_digit, end = value * scale, last_digit * scale, power.end()
    elif (power := _LOST_CARET.match(text, end)) is not None:
        # Read as written; the parser takes the exponent where that reading is asked for.
        digits = power.group(1).translate(SUPERSCRIPTS)
        exponent, is_lost, end = int(digits), True, power.end()
        value = value * int("10" + digits) if exponent > 0 else value * 10 + exponent
    return Token("NUM", raw, start, end, False, value, last_digit, mantissa, exponent, is_lost)


def _word(raw: str, start: int, end: int, text: str, before: list[Token]) -> Token:
    """Tell the letter x and the words times, plus, minus as operators from other words."""
    last = before[-1] if before else None
    if raw in "xX" and last is not None and last.kind in ("NUM", ")", "WORD", "PI", "SUP"):
        following = text[end : end + 4].lstrip()
        is_spaced = last.end < start
        if following[:1] in set("0123456789.($\\√") and (is_spaced or last.kind in ("NUM", ")")):
            return Token("OP", "*", start, end, False)
    if raw in _TIMES_WORDS and last is not None and last.end < start:
        return Token("OP", _TIMES_WORDS[raw], start, end, False)
    if raw in ("equals", "equal") and last is not None:
        return Token("REL" if raw == "equals" else "WORD", "=" if raw == "equals" else raw, start, end, False)
    return Token("WORD", raw, start, end, False)


_READERS = {
    "NUM": _number,
    "WORD": _word,
    "SUP": _superscript,
    "DEG": _degree,
    "MICRO": _micro,
    "TIMES": _times,
    "REL": _relation,
    "BREAK": _stop,
}
_MEANINGS = {
    "ITEM": ("BREAK", ""),
    "IMPLIES": ("BREAK", ""),
    "OPEN": ("(", ""),
    "CLOSE": (")", ""),
    "OHM": ("WORD", "Ω"),
    "ABOUT": ("WORD", "about"),
}
"""Group -> kind and meaning of its token ("" for what is written)."""
