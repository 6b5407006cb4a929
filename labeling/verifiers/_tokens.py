"""Ordinary text -> the tokens of arithmetic in it: plain notation, LaTeX, currency, units, words.

What cannot belong to an expression that is recomputed becomes BREAK (the sentence goes on with something
else) or BAD (a formula goes on with something that is not read here); nothing is silently dropped.
"""

import re
import unicodedata
from typing import NamedTuple

from labeling.verifiers._reading import RELATIONS, join_lines

MAX_DIGITS = 60


class Token(NamedTuple):
    """One token and where it stands in the text (code points)."""

    kind: str
    """NUM OP REL ( ) { } FRAC BINOM SQRT ROOT FUNC CALL EULER BAR OPENS CLOSES PI PCT CUR SUP SCALE BANG
    MODULUS WORD LABEL DOTS BREAK or BAD."""
    text: str
    """As understood: an operator as one of + - * / ^ mod; a relation as one of = ~ < > <= >= != ≡; a root's
    degree ("3"); a function's name and base ("log 2"); a call as "C 8 2"; floor or ceil."""
    start: int
    end: int
    is_tight: bool
    """Nothing stands between this token and the one before."""
    is_point: bool = False
    """A raised dot between two digits: multiplication, or a decimal point of the old British kind."""
    is_obelus: bool = False
    """A sign of division other than a slash."""


_PATTERN = re.compile(
    r"""
  (?P<CALL>(?<![\w\\.])(?:C|\\?(?:gcd|lcm|max|min)|\\(?:text|operatorname|mathrm)\{(?:gcd|lcm)\}|GCD|LCM)
    \s?(?:\\left)?\(\s?\d{1,12}(?:\s?,\s?\d{1,12}){1,7}\s?(?:\\right)?\)
    |(?<![\w.])\d{1,3}(?:C|\ choose\ )\d{1,3}(?![\w.])
    |(?:\{\}\s?|(?<!\w))[_^]\{?\d{1,3}\}?\s?C_?\{?\d{1,3}\}?)
| (?P<MODULUS>\(\s?\\?b?mod(?:ulo)?\s{0,2}\{?\d{1,12}\}?\s?\)|\\pmod\s?(?:\{\s?\d{1,12}\s?\}|\d))
| (?P<FUNC>(?<![^\W\d_])\\?(?:log(?:_\d|_\{\d{1,2}\}|10(?=\s?[({])|2(?=\())?|ln|exp|sin|cos|tan)
    (?![A-Za-z_\d]))
| (?P<MOD>\\bmod(?![A-Za-z])|(?<![^\W\d])mod(?=\s\d))
| (?P<EULER>(?<![^\W_])e(?=\^))
| (?P<ITEM>^[^\S\n]{0,12}(?:[-*•–+](?=\s)|\(?\d{1,3}[.)](?=\s)))
| (?P<HALF>[½¼¾⅓⅔⅕⅖⅗⅘⅙⅚⅐⅛⅜⅝⅞⅑])
| (?P<SQRT>\\sqrt(?![A-Za-z\s]?\[)|(?<![^\W\d_])sqrt(?=\s?[(\[{])|\\?√(?=\s?[(\[{\d]))
| (?P<WORD>[^\W\d_π⁰-⁹¹²³¼-¾⅐-⅞]+(?:['’\-][^\W\d_π⁰-⁹¹²³¼-¾⅐-⅞]+)*)
| (?P<NEWLINE>\n|\\\\(?:\[[^\]\n]{0,12}\])?|\\[\[\]]|\$\$)
| (?P<SPACE>(?:[^\S\n]|\\[,;:!\ ]|&)+)
| (?P<PERIOD>\d*\.\d*(?:\\(?:overline|bar|dot)\s?(?:\{\s?\d{1,12}\s?\}|\d)|(?<=\.)\(\d{1,12}\)))
| (?P<NUM>\d{1,3}(?:(?:,|\{,\}|\\,|\\!)\d{3})+(?!\d)(?:\.\d+)?|(?<=[$€£])\d{1,3}(?:\ \d{3})+(?!\d)
    |(?:\d\.\d+[eE]|\d[eE](?=[-+]\d\d)|\d[eE](?=\d)|\dE)[-+]?\d{1,2}(?![\w.])|\d+(?:\.\d+)?|\.\d+)
| (?P<PLUS>[+＋])
| (?P<OPEN>[(\[（])
| (?P<CLOSE>[)\]）])
| (?P<BRACE>[{}])
| (?P<TEXT>\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s{0,3}\{[^{}\d\n]{0,80}\})
| (?P<DEGREE>\^\{?\s?\\circ\s?\}?|\\degree(?![A-Za-z])|°)
| (?P<DOTS>\.{3,}|…|\\(?:l|c)?dots(?![A-Za-z]))
| (?P<IMPLIES>=>|-->?|[→⇒⟹⟶]|\\(?:implies|Rightarrow|rightarrow|Longrightarrow|to|therefore|because|quad
    |qquad|iff|Leftrightarrow)(?![A-Za-z])|\\(?:begin|end)\{[^{}\n]{0,20}\}(?:\{[clr|]{0,12}\})?)
| (?P<REL><=|>=|!=|=<|==?|:=|[＝≈≃≅≠≤≥<>＜＞≡]|\\(?:approx|equiv|simeq|leq?|leqslant|geq?|geqslant|neq?|lt|gt)
    (?![A-Za-z]))
| (?P<FRAC>\\[dtc]?frac(?![A-Za-z]))
| (?P<BINOM>\\[dt]?binom(?![A-Za-z]))
| (?P<ROOT>\\sqrt\s?\[\s?\d{1,2}\s?\](?=\s?[{\d])|[∛∜](?=[(\[{\d]))
| (?P<BAR>\||\\[lr]vert(?![A-Za-z])|∣)
| (?P<OPENS>\\l(?:floor|ceil)(?![A-Za-z])|[⌊⌈])
| (?P<CLOSES>\\r(?:floor|ceil)(?![A-Za-z])|[⌋⌉])
| (?P<PI>\\pi(?![A-Za-z])|π)
| (?P<SKIP>\\(?:left|right|[bB]igg?[lr]?|displaystyle|boxed|fbox|mathbf|text|textbf|mathrm)(?![A-Za-z])
    (?:\s{1,4}(?=\{))?)
| (?P<GAP>\\[()]|`+|\*\*(?=\s)|\*\*(?=[.,;:)]|$))
| (?P<TIMES>\\(?:cdot|times|ast)(?![A-Za-z])|[×✕⋅·∙∗＊])
| (?P<OVER>\\div(?![A-Za-z])|[÷/／⁄∕])
| (?P<STARS>\*{1,2})
| (?P<MINUS>[-−－–‒﹣])
| (?P<POWER>\^)
| (?P<SUP>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
| (?P<PCT>\\?%|％)
| (?P<CUR>\\?\$(?=\s?(?:[\d(]|\.\d))|\\\$|[€£¥₹])
| (?P<BREAK>[.,;:：?!"“”„«»。，；、？！'’‘—#•])
| (?P<DOLLAR>\$)
| (?P<BAD>\\[A-Za-z]+|\\.|.)
""",
    re.VERBOSE | re.MULTILINE,
)

_OPERATORS = {"TIMES": "*", "OVER": "/", "PLUS": "+", "MINUS": "-", "POWER": "^", "MOD": "mod"}
_WORD_OPERATORS = {"times": "*", "plus": "+", "minus": "-"}
_SCALES = frozenset({"hundred", "thousand", "million", "billion", "trillion", "dozen"})
_FUNCTIONS = frozenset({
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "gcd", "lcm", "hcf", "mod", "max",
    "floor", "ceil", "remainder", "sqrt", "choose",
})  # fmt: skip
_JOINING = frozenset({"and", "or", "so", "if", "then", "thus", "since", "because", "for", "where", "which"})
_RENAMED = {"ITEM": "BREAK", "IMPLIES": "BREAK", "DOLLAR": "GAP"}
_SPECIAL_WORDS = _SCALES | _FUNCTIONS | {*_WORD_OPERATORS, "by", "equals", "to", "percent"}
_OPERAND_OPENINGS = frozenset("0123456789(.$€£\\-")
_OPERAND_ENDS = frozenset(
    {"NUM", ")", "}", "PCT", "LABEL", "SUP", "PI", "SCALE", "BANG", "BAR", "CLOSES", "CALL"}
)
_UNKNOWN_X = re.compile(r"(?<![A-Za-z])[xX]\s?(?:[=^²<>+)]|$)")
"""Signs that x is an unknown in this text, so that 16x2 may be 16x² with its exponent lost."""
_REPEATING = re.compile(r"(\d*\.\d*)(?:\\[a-z]+\s?\{?\s?|\()(\d+)[\s})]*")
_THOUSANDS = re.compile(r",|\{,\}|\\,|\\!|\s")


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, in one pass, in time linear in its length."""
    tokens: list[Token] = []
    end_of_last = 0
    has_gap = False
    for match in _PATTERN.finditer(text):
        group = match.lastgroup or "BAD"
        if group in ("SPACE", "SKIP"):
            # \left and \boxed print nothing: what they join still touches.
            if group == "SKIP" and end_of_last == match.start():
                end_of_last = match.end()
            continue
        is_tight = match.start() == end_of_last and not has_gap
        kind, meaning = _classify(group, match, tokens, is_tight)
        if kind == "GAP":
            has_gap = True
            continue
        if kind == "HALF":
            tokens += _vulgar_fraction(match, is_tight)
        elif kind == "NUM" and tokens and tokens[-1].kind in ("FRAC", "BINOM"):
            tokens += _single_digits(match, is_tight)
        else:
            is_point = group == "TIMES" and is_tight and _is_point(match, tokens)
            is_obelus = group == "OVER" and match.group() in ("÷", "\\div")
            tokens.append(Token(kind, meaning, match.start(), match.end(), is_tight, is_point, is_obelus))
        end_of_last = match.end()
        has_gap = False
    return join_lines(tokens)


def _vulgar_fraction(match: re.Match[str], is_tight: bool) -> list[Token]:
    r"""Read ½ as \frac12."""
    start, end = match.span()
    over, _, under = unicodedata.normalize("NFKC", match.group()).partition("⁄")
    digits = [Token("NUM", digit, start, end, True) for digit in (over, under)]
    return [Token("FRAC", match.group(), start, end, is_tight), *digits]


def _period(raw: str) -> str:
    r"""Return 0.\overline{3} and 0.(3) as 0.(3)."""
    head, digits = _REPEATING.fullmatch(raw).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return f"{head or '0'}({digits})" if not head.startswith(".") else f"0{head}({digits})"


def _single_digits(match: re.Match[str], is_tight: bool) -> list[Token]:
    r"""Read the digits behind \frac as TeX does: each is an argument of its own (\frac12 is one half)."""
    raw = match.group()
    if not raw.isdecimal() or len(raw) > 4:
        return [Token("BAD", raw, match.start(), match.end(), is_tight)]
    start = match.start()
    return [
        Token("NUM", digit, start + place, start + place + 1, is_tight or place > 0)
        for place, digit in enumerate(raw)
    ]


def _is_list_mark(match: re.Match[str], before: list[Token]) -> bool:
    r"""Whether a minus stands before a formula that opens with \(, and behind none: - \(2 + 3 = 5\)."""
    following = match.string[match.end() : match.end() + 6].lstrip()
    return following.startswith("\\(") and not (before and before[-1].kind in _OPERAND_ENDS)


def _is_point(match: re.Match[str], before: list[Token]) -> bool:
    following = match.string[match.end() : match.end() + 1]
    return match.group() in "·∙⋅" and bool(before) and before[-1].kind == "NUM" and following.isdecimal()


def _classify(group: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    """Return (kind, meaning) of a match, given the tokens before it."""
    raw = match.group()
    if group == "MINUS" and _is_list_mark(match, before):
        return "BREAK", raw
    if group in _OPERATORS:
        return "OP", _OPERATORS[group]
    if group in _CONTEXTUAL:
        return _CONTEXTUAL[group](raw, match, before, is_tight)
    if group == "NUM":
        plain = _THOUSANDS.sub("", raw)
        return ("NUM", plain) if len(plain) <= MAX_DIGITS else ("BAD", raw)
    if group == "REL":
        return "REL", RELATIONS[raw]
    if group == "TEXT":
        inside = raw[raw.index("{") + 1 : -1].strip().lower()
        if inside in _FUNCTIONS:
            return "BAD", inside
        return ("BREAK" if inside in _JOINING or not inside else "LABEL"), inside
    if group in ("OPEN", "CLOSE"):
        return ("(" if group == "OPEN" else ")"), raw
    if group == "DEGREE":
        return "LABEL", "°"
    if group in _MEANINGS:
        return group, _MEANINGS[group](raw)
    if group == "BRACE":
        return raw, raw
    return _RENAMED.get(group, group), raw.strip()


def _function(raw: str) -> str:
    """Return a function's name and the base of a logarithm: "log 2", "log 10", "log", "ln"."""
    name = raw.lstrip("\\")
    digits = "".join(sign for sign in name if sign.isdecimal())
    return f"log {digits}" if digits else name


def _call(raw: str) -> str:
    """Return the name and the numbers of C(8, 2), 8C2, "8 choose 2" or gcd(12, 18)."""
    name = next((each for each in ("gcd", "lcm", "max", "min") if each in raw.lower()), "C")
    return " ".join([name, *re.findall(r"\d+", raw)])


_MEANINGS = {
    "FUNC": _function,
    "CALL": _call,
    "MODULUS": lambda raw: re.findall(r"\d+", raw)[0],
    "ROOT": lambda raw: {"∛": "3", "∜": "4"}.get(raw) or re.findall(r"\d+", raw)[0],
    "OPENS": lambda raw: "ceil" if "ceil" in raw or raw == "⌈" else "floor",
    "CLOSES": lambda raw: "ceil" if "ceil" in raw or raw == "⌉" else "floor",
}


def _stars(raw: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    """Tell multiplication and power from the stars of Markdown emphasis."""
    if not before or before[-1].kind not in _OPERAND_ENDS | {"WORD"}:
        return "GAP", raw
    return "OP", "^" if raw == "**" else "*"


def _letter_x(raw: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    """Tell the letter x as multiplication (3 x 4, 3x4, 5 apples x 3) from the unknown x."""
    following = match.string[match.end() : match.end() + 1]
    if match.string[match.end() : match.end() + 4].lstrip()[:1] not in _OPERAND_OPENINGS:
        return "WORD", raw
    if before and before[-1].kind in _OPERAND_ENDS:
        if not is_tight or (following.isdigit() and not _UNKNOWN_X.search(match.string)):
            return "OP", "*"
    elif before and before[-1].kind == "WORD" and not is_tight:
        rest = match.string[match.end() : match.end() + 3].lstrip()
        if rest[:1].isdigit() or rest[:1] == "$":
            return "OP", "*"
    return "WORD", raw


def _word(raw: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    if raw in "xX":
        return _letter_x(raw, match, before, is_tight)
    low = raw.lower()
    if low not in _SPECIAL_WORDS:
        return "WORD", low if len(raw) > 1 else raw
    if low in _WORD_OPERATORS and not is_tight:
        return "OP", _WORD_OPERATORS[low]
    if low == "by" and before and before[-1].kind == "WORD" and before[-1].text in ("divided", "multiplied"):
        verb = before.pop().text
        return "OP", "/" if verb == "divided" else "*"
    if low == "equals":
        return "REL", "="
    if low == "to" and before and before[-1].kind == "WORD" and before[-1].text == "equal":
        before.pop()
        return "REL", "="
    if low in _SCALES and before and before[-1].kind == "NUM":
        return "SCALE", low
    if low == "percent" and before and before[-1].kind == "NUM":
        return "PCT", "%"
    return ("BAD" if low in _FUNCTIONS else "WORD"), low if len(raw) > 1 else raw


def _stop(raw: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    """Tell the signs that end a clause from those inside 1,2 and 3:4 and 5! and 11 # 5."""
    follows_number = is_tight and bool(before) and before[-1].kind in ("NUM", ")", "}")
    following = match.string[match.end() : match.end() + 3]
    if follows_number and raw in ",:：.'’" and following[:1].isdigit():
        return "BAD", raw
    if raw == "#" and before and before[-1].kind in _OPERAND_ENDS and following.lstrip()[:1].isdigit():
        # An operation that the text defines: 11 # 5 = 71.
        return "BAD", raw
    if follows_number and raw == "!":
        return "BANG", raw
    return "BREAK", raw


_CONTEXTUAL = {
    "STARS": _stars,
    "WORD": _word,
    "BREAK": _stop,
    "PERIOD": lambda raw, match, before, is_tight: ("NUM", _period(raw)),
}
