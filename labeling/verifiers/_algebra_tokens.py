r"""Text with formulas in unknowns -> tokens, in one pass, plain notation and LaTeX alike.

Letters are unknowns in a formula and words in a sentence. Between LaTeX delimiters a run of letters is a
product (`mnp`), in plain text only a single letter is an unknown. What a formula cannot be read through
(matrices, sums, moduli, absolute values) becomes BAD, what ends it becomes BREAK or WORD.
"""

import re
from typing import NamedTuple

from labeling.verifiers._reading import RELATIONS, SUPERSCRIPTS


class Token(NamedTuple):
    """One token and where it stands in the text (code points)."""

    kind: str
    """NUM SYM FUN OP REL ( ) { } FRAC SQRT LABEL WORD BREAK LINE or BAD."""
    text: str
    """As understood: operators as + - * / ^, relations as = ~ < > <= >= !=, a symbol with its subscript."""
    start: int
    end: int
    is_tight: bool
    """Nothing stands between this token and the one before."""


MAX_DIGITS = 40
_SUBSCRIPT = r"(?:_(?:\{[A-Za-z0-9+\-, ]{1,12}\}|[A-Za-z0-9](?![A-Za-z0-9])))"
_PATTERN = re.compile(
    r"""
  (?P<MATH>\\[()\[\]]|\$\$?|\\(?:begin|end)\{[a-z]{2,10}\*?\}(?:\{[clr|]{0,9}\})?)
| (?P<LINE>\n[^\S\n]{0,9}(?:[-*•](?=\s)|\(?\d{1,3}[.)](?=\s))?|\\\\)
| (?P<SPACE>(?:[^\S\n]|\\[,;:!\ ]|&|~)+)
| (?P<IMPLIES><?==?>|--?>|--|[→⇒⟹⟶⇔⟺]|\\(?:implies|Rightarrow|rightarrow|longrightarrow|Longrightarrow|to
    |therefore|because|quad|qquad|iff|Leftrightarrow|Longleftrightarrow|so)(?![A-Za-z]))
| (?P<REL><=|>=|!=|==?|[＝≈≃≅≠≤≥<>]|\\(?:approx|simeq|leq?|leqslant|geq?|geqslant|neq?|lt|gt)(?![A-Za-z]))
| (?P<SCIENTIFIC>(?:\d{1,15}(?:\.\d{1,15})?|\.\d{1,15})[eE][-+−–]?\d{1,4})
| (?P<NUM>\d{1,3}(?:(?:,|\{,\}|\\,|\\!)\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)
| (?P<SKIP>\\(?:left|right|[bB]igg?[lr]?|displaystyle|boxed|fbox|b?cancel|mathbf|mathrm)(?![A-Za-z])
    |\*\*(?=\s|$))
| (?P<TEXT>\\(?:text|textbf|textit|textrm|mbox)\s?\{[^{}\n]{0,80}\})
| (?P<ANGLE>(?:\\angle|∠)\s?[A-Z]{1,3}(?![A-Za-z]))
| (?P<GREEK>\\(?:alpha|beta|gamma|delta|epsilon|varepsilon|theta|lambda|mu|nu|phi|varphi|psi|rho|sigma|tau
    |omega|Delta|Omega|pi)(?![A-Za-z])(?:SUBSCRIPT)?|[πθλαβγμρσφωΔ])
| (?P<FUN>\\(?:sin|cos|tan|cot|sec|csc|log|ln|exp|arcsin|arccos|arctan)(?![A-Za-z]))
| (?P<FRAC>\\[dtc]?frac(?![A-Za-z]))
| (?P<SQRT>\\sqrt(?![A-Za-z])|√|sqrt(?=\s?\())
| (?P<TIMES>\\(?:cdot|times|ast)(?![A-Za-z])|[×✕⋅·∙∗])
| (?P<OVER>\\div(?![A-Za-z])|[÷/⁄∕])
| (?P<DEGREE>\^\{?\s?\\circ\s?\}?|°)
| (?P<LETTERS>[A-Za-z]+(?:['’][A-Za-z]+)?)
| (?P<POWER>\^|\*\*)
| (?P<STAR>\*)
| (?P<PLUS>\+)
| (?P<MINUS>[-−–])
| (?P<SUP>[⁰¹²³⁴⁵⁶⁷⁸⁹]+)
| (?P<OPEN>[(\[])
| (?P<CLOSE>[)\]])
| (?P<BRACE>[{}])
| (?P<BREAK>[.,;:?"“”‘’«»。，；：？、—#`]|!(?=\s|$))
| (?P<BAD>\\[A-Za-z]+|\\.|.)
""".replace("SUBSCRIPT", _SUBSCRIPT),
    re.VERBOSE | re.MULTILINE,
)
_SUBSCRIPT_PATTERN = re.compile(_SUBSCRIPT)
_OPERATORS = {"TIMES": "*", "OVER": "/", "PLUS": "+", "MINUS": "-", "POWER": "^", "STAR": "*"}
_FUNCTIONS = frozenset({"sin", "cos", "tan", "cot", "sec", "csc", "log", "ln", "exp"})
_PROSE_WORD = re.compile(
    r"(?<![\\A-Za-z{])(?:[A-Za-z]{4,}|(?:and|the|for|per|was|had|has|are|she|her|his|you|get|our|one|two|but"
    r"|not|can|all|day|now|pay|out|off|to|of|in|is|or)\b)"
)
_THOUSANDS = re.compile(r",|\{,\}|\\,|\\!")
_ENDS_OPERAND = frozenset({"NUM", "SYM", ")", "}"})
MAX_MATH = 600
"""A dollar sign whose partner is further away than this is money."""


def tokenize(text: str) -> list[Token]:
    """Return the tokens of a text, in time linear in its length."""
    dollars = _math_dollars(text)
    has_math = bool(dollars) or "\\(" in text or "\\[" in text
    tokens: list[Token] = []
    is_math = False
    at, end = 0, 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:  # pragma: no cover  # the last alternative takes any character
            break
        group, raw, at = match.lastgroup or "BAD", match.group(), match.end()
        if group == "SPACE" or group == "DEGREE":
            continue
        if group == "SKIP":
            end = match.end() if end == match.start() else end
            continue
        if group == "MATH":
            is_math = _opens_math(raw, match.start(), dollars, is_math)
            if raw in ("\\[", "\\]", "$$") or raw[:2] in ("\\b", "\\e"):
                is_bad = "matrix" in raw or "array" in raw
                # What is defined by cases is no system of equations.
                is_bad |= raw == "\\begin{cases}" and _follows_relation(tokens)
                tokens.append(Token("BAD" if is_bad else "LINE", raw, match.start(), match.end(), False))
            continue
        is_tight = match.start() == end
        if group == "LETTERS":
            _letters(tokens, text, match, is_math, is_tight)
            at = max(at, tokens[-1].end)
        else:
            kind, meaning = _classify(group, raw, tokens)
            if group == "MINUS" and has_math and not is_math and text[at : at + 1].isspace():
                # A list mark or a dash between two formulas.
                kind = "BREAK"
            tokens.append(Token(kind, meaning, match.start(), match.end(), is_tight))
        end = at
    return tokens


def _follows_relation(tokens: list[Token]) -> bool:
    behind = next((token for token in reversed(tokens) if token.kind != "LINE"), None)
    return behind is not None and behind.kind == "REL"


def _math_dollars(text: str) -> dict[int, bool]:
    """Return the dollar signs that delimit formulas -> whether each opens one; the others are money."""
    places = [match.start() for match in re.finditer(r"(?<!\\)(?<!\$)\$(?!\$)", text)]
    found: dict[int, bool] = {}
    index = 0
    while index + 1 < len(places):
        first, second = places[index], places[index + 1]
        inside = text[first + 1 : second] if second - first <= MAX_MATH else "far"
        if _PROSE_WORD.search(re.sub(r"\\(?:text|mathrm|mbox|operatorname)\s?\{[^{}]*\}", "", inside)) or (
            "\n\n" in inside
        ):
            index += 1
            continue
        found[first], found[second] = True, False
        index += 2
    return found


def _opens_math(raw: str, start: int, dollars: dict[int, bool], is_math: bool) -> bool:
    if raw == "$":
        return dollars.get(start, is_math)
    if raw == "$$":
        return not is_math
    if raw.startswith(("\\begin", "\\end")):
        return raw.startswith("\\begin") or is_math
    return raw in ("\\(", "\\[")


def _letters(tokens: list[Token], text: str, match: re.Match[str], is_math: bool, is_tight: bool) -> None:
    """Append a run of letters as a function, a word, one symbol, or a product of symbols."""
    run, start, end = match.group(), match.start(), match.end()
    if run.lower() in _FUNCTIONS:
        tokens.append(Token("FUN", run.lower(), start, end, is_tight))
        return
    is_name = len(run) > 1 and run.isupper() and is_math
    if len(run) == 1 or is_name:
        following = text[end : end + 2]
        if not is_math and not is_tight and run in "aAI" and _is_article(text, end):
            tokens.append(Token("WORD", run, start, end, is_tight))
            return
        if not is_math and run == "x" and _is_times(tokens, text, end, is_tight):
            tokens.append(Token("OP", "*", start, end, is_tight))
            return
        name, end = _with_subscript(text, run, end)
        if following[:1].isdigit() and not is_name:
            digits = re.match(r"\d{1,3}", text[end:])
            name, end = (name + digits.group(), end + digits.end()) if digits else (name, end)
        tokens.append(Token("SYM", name, start, end, is_tight))
    elif is_math and len(run) <= 3 and run.isalpha():
        for offset, letter in enumerate(run):
            last = offset + 1 == len(run)
            name, stop = _with_subscript(text, letter, end) if last else (letter, start + offset + 1)
            tokens.append(Token("SYM", name, start + offset, stop, is_tight or offset > 0))
    else:
        # 2πrh in plain text: a run glued to a formula is no word.
        is_glued = is_tight and bool(tokens) and tokens[-1].kind in _ENDS_OPERAND
        tokens.append(Token("BAD" if is_math or is_glued else "WORD", run, start, end, is_tight))


def _with_subscript(text: str, name: str, end: int) -> tuple[str, int]:
    match = _SUBSCRIPT_PATTERN.match(text, end)
    if match is None:
        return name, end
    return name + "_" + match.group().strip("_{}").replace(" ", ""), match.end()


def _is_article(text: str, end: int) -> bool:
    """Whether a lone a, A or I is followed by a word."""
    return re.match(r"\s[A-Za-z]{2,}", text[end : end + 4]) is not None or text[end : end + 1] in "'’"


def _is_times(tokens: list[Token], text: str, end: int, is_tight: bool) -> bool:
    """Whether the letter x between two numbers is a sign of multiplication."""
    follows = re.match(r"\s{0,2}\$?[\d(]", text[end : end + 4])
    is_behind = bool(tokens) and tokens[-1].kind in ("NUM", ")") and not is_tight
    return is_behind and follows is not None


def _classify(group: str, raw: str, before: list[Token]) -> tuple[str, str]:
    if group in _OPERATORS:
        if group == "STAR" and not (before and before[-1].kind in _ENDS_OPERAND):
            return "BREAK", raw
        return "OP", _OPERATORS[group]
    if group == "REL":
        return "REL", RELATIONS[raw]
    if group == "NUM":
        plain = _THOUSANDS.sub("", raw)
        return ("NUM", plain) if len(plain) <= MAX_DIGITS else ("BAD", raw)
    if group in ("OPEN", "CLOSE"):
        return ("(" if group == "OPEN" else ")"), raw
    if group == "BRACE":
        return raw, raw
    if group == "TEXT":
        inside = raw[raw.index("{") + 1 : -1].strip()
        return ("WORD" if inside.lower() in _JOINING else "LABEL"), inside
    if group == "SUP":
        return "SUP", raw.translate(SUPERSCRIPTS)
    if group == "ANGLE":
        return "SYM", "\\angle " + raw.removeprefix("\\angle").removeprefix("∠").strip()
    if group == "GREEK":
        return "SYM", _GREEK_NAMES.get(raw, raw.replace("{", "").replace("}", ""))
    if group == "FUN":
        return "FUN", raw[1:]
    # 2.0e-3 and 2e - 3 are written alike: neither is read.
    return {"IMPLIES": "BREAK", "SCIENTIFIC": "BAD"}.get(group, group), raw


_JOINING = frozenset({
    "and", "or", "so", "if", "then", "thus", "since", "because", "for", "where", "which", "when", "let",
    "hence", "therefore", "gives", "implies", "is", "with", "as", "",
})  # fmt: skip
_GREEK_NAMES = {
    "π": "\\pi", "θ": "\\theta", "λ": "\\lambda", "α": "\\alpha", "β": "\\beta", "γ": "\\gamma",
    "μ": "\\mu", "ρ": "\\rho", "σ": "\\sigma", "φ": "\\phi", "ω": "\\omega", "Δ": "\\Delta",
}  # fmt: skip
