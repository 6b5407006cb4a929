"""Ordinary text -> the tokens of arithmetic in it: plain notation, LaTeX, currency, units, words.

What cannot belong to an expression that is recomputed becomes BREAK (the sentence goes on with something
else) or BAD (a formula goes on with something that is not read here); nothing is silently dropped.
"""

import re
from typing import NamedTuple

MAX_DIGITS = 60


class Token(NamedTuple):
    """One token and where it stands in the text (code points)."""

    kind: str
    """NUM OP REL ( ) { } FRAC BINOM SQRT PI PCT CUR SUP SCALE BANG WORD LABEL DOTS BREAK or BAD."""
    text: str
    """As understood: an operator as one of + - * / ^, a relation as one of = ~ < > <= >= !=."""
    start: int
    end: int
    is_tight: bool
    """Nothing stands between this token and the one before."""


_PATTERN = re.compile(
    r"""
  (?P<ITEM>^[^\S\n]{0,12}(?:[-*•–+](?=\s)|\(?\d{1,3}[.)](?=\s)))
| (?P<WORD>[^\W\d_π⁰-⁹¹²³¼-¾⅐-⅞]+(?:['’\-][^\W\d_π⁰-⁹¹²³¼-¾⅐-⅞]+)*)
| (?P<NEWLINE>\n|\\\\(?:\[[^\]\n]{0,12}\])?|\\[\[\]]|\$\$)
| (?P<SPACE>(?:[^\S\n]|\\[,;:!\ ]|&)+)
| (?P<NUM>\d{1,3}(?:(?:,|\{,\}|\\,|\\!)\d{3})+(?!\d)(?:\.\d+)?|(?<=[$€£])\d{1,3}(?:\ \d{3})+(?!\d)
    |\d+(?:\.\d+)?|\.\d+)
| (?P<PLUS>[+＋])
| (?P<OPEN>[(\[（])
| (?P<CLOSE>[)\]）])
| (?P<BRACE>[{}])
| (?P<TEXT>\\(?:text|textbf|textit|textrm|mathrm|mathbf|mbox)\s{0,3}\{[^{}\d\n]{0,80}\})
| (?P<DEGREE>\^\{?\s?\\circ\s?\}?|\\degree(?![A-Za-z])|°)
| (?P<DOTS>\.{3,}|…|\\(?:l|c)?dots(?![A-Za-z]))
| (?P<IMPLIES>=>|-->?|[→⇒⟹⟶]|\\(?:implies|Rightarrow|rightarrow|Longrightarrow|to|therefore|because|quad
    |qquad|iff|Leftrightarrow)(?![A-Za-z])|\\(?:begin|end)\{[^{}\n]{0,20}\}(?:\{[clr|]{0,12}\})?)
| (?P<REL><=|>=|!=|=<|==?|:=|[＝≈≃≅≠≤≥<>＜＞]|\\(?:approx|simeq|leq?|leqslant|geq?|geqslant|neq?|lt|gt)
    (?![A-Za-z]))
| (?P<FRAC>\\[dtc]?frac(?![A-Za-z]))
| (?P<BINOM>\\[dt]?binom(?![A-Za-z]))
| (?P<SQRT>\\sqrt(?![A-Za-z\s]?\[)|√(?=[(\d]))
| (?P<PI>\\pi(?![A-Za-z])|π)
| (?P<SKIP>\\(?:left|right|[bB]igg?[lr]?|displaystyle|boxed|fbox|mathbf|text|textbf|mathrm)(?![A-Za-z]))
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

_RELATIONS = {
    "=": "=", "==": "=", "＝": "=", ":=": "=", "≈": "~", "≃": "~", "≅": "~", "\\approx": "~", "\\simeq": "~",
    "≠": "!=", "!=": "!=", "\\ne": "!=", "\\neq": "!=", "<": "<", "＜": "<", "\\lt": "<", ">": ">",
    "＞": ">", "\\gt": ">", "<=": "<=", "=<": "<=", "≤": "<=", "\\le": "<=", "\\leq": "<=",
    "\\leqslant": "<=", ">=": ">=", "≥": ">=", "\\ge": ">=", "\\geq": ">=", "\\geqslant": ">=",
}  # fmt: skip
_OPERATORS = {"TIMES": "*", "OVER": "/", "PLUS": "+", "MINUS": "-", "POWER": "^"}
_WORD_OPERATORS = {"times": "*", "plus": "+", "minus": "-"}
_SCALES = frozenset({"hundred", "thousand", "million", "billion", "trillion", "dozen"})
_FUNCTIONS = frozenset({
    "sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp", "gcd", "lcm", "hcf", "mod", "max",
    "floor", "ceil", "remainder", "sqrt", "choose",
})  # fmt: skip
_JOINING = frozenset({"and", "or", "so", "if", "then", "thus", "since", "because", "for", "where", "which"})
_RENAMED = {"DEGREE": "LABEL", "ITEM": "BREAK", "IMPLIES": "BREAK", "DOLLAR": "GAP"}
_SPECIAL_WORDS = _SCALES | _FUNCTIONS | {*_WORD_OPERATORS, "by", "equals", "to", "percent"}
_OPERAND_OPENINGS = frozenset("0123456789(.$€£\\-")
_OPERAND_ENDS = frozenset({"NUM", ")", "}", "PCT", "LABEL", "SUP", "PI", "SCALE", "BANG"})
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
        tokens.append(Token(kind, meaning, match.start(), match.end(), is_tight))
        end_of_last = match.end()
        has_gap = False
    return _join_lines(tokens)


def _classify(group: str, match: re.Match[str], before: list[Token], is_tight: bool) -> tuple[str, str]:
    """Return (kind, meaning) of a match, given the tokens before it."""
    raw = match.group()
    if group in _OPERATORS:
        return "OP", _OPERATORS[group]
    if group in _CONTEXTUAL:
        return _CONTEXTUAL[group](raw, match, before, is_tight)
    if group == "NUM":
        plain = _THOUSANDS.sub("", raw)
        return ("NUM", plain) if len(plain) <= MAX_DIGITS else ("BAD", raw)
    if group == "REL":
        return "REL", _RELATIONS[raw]
    if group == "TEXT":
        inside = raw[raw.index("{") + 1 : -1].strip().lower()
        if inside in _FUNCTIONS:
            return "BAD", raw
        return ("BREAK" if inside in _JOINING or not inside else "LABEL"), inside
    if group in ("OPEN", "CLOSE"):
        return ("(" if group == "OPEN" else ")"), raw
    if group == "BRACE":
        return raw, raw
    return _RENAMED.get(group, group), raw.strip()


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
        if not is_tight or following.isdigit():
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
    """Tell the signs that end a clause from those inside 1,2 and 3:4 and 5!."""
    follows_number = is_tight and bool(before) and before[-1].kind in ("NUM", ")", "}")
    following = match.string[match.end() : match.end() + 1]
    if follows_number and raw in ",:：.'’" and following.isdigit():
        return "BAD", raw
    if follows_number and raw == "!":
        return "BANG", raw
    return "BREAK", raw


_CONTEXTUAL = {"STARS": _stars, "WORD": _word, "BREAK": _stop}


def _join_lines(tokens: list[Token]) -> list[Token]:
    """Turn line ends into breaks, except beside a relation, where the formula goes on."""
    joined: list[Token] = []
    pending: Token | None = None
    for token in tokens:
        if token.kind == "NEWLINE":
            pending = token
            continue
        if pending is not None and token.kind != "REL" and not (joined and joined[-1].kind == "REL"):
            joined.append(pending._replace(kind="BREAK"))
        pending = None
        joined.append(token)
    return joined
