r"""One spelling for what is written in many: Unicode, LaTeX variants and plain-text mathematics.

`cleaned` keeps the meaning and drops the dress: `\dfrac`, `\left`, `\text`, spacing, full-width signs,
"sqrt(3)", "√3", "x**2". What carries value (signs, brackets, per cent, degrees) stays.
"""

import re
import unicodedata
from functools import lru_cache

_VULGAR_FRACTION = re.compile(r"[¼-¾⅐-⅞]")
_SUPERSCRIPT = re.compile(r"[⁺⁻⁰¹²³⁴-⁹]+")
_SUBSCRIPT = re.compile(r"[₀-₉]+")
# Full-width signs (U+FF01 to U+FF5E) lie at a fixed distance from the ASCII ones.
_ONE_FOR_ONE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_ONE_FOR_ONE |= {ord("\u3000"): ord(" "), ord("、"): ord(","), ord("−"): ord("-"), ord("–"): ord("-")}
_ONE_FOR_ONE |= dict.fromkeys(map(ord, "\u200b\u2060\ufeff"), None)
_UNICODE_COMMANDS = {
    "×": r"\times ",
    "·": r"\cdot ",
    "⋅": r"\cdot ",
    "∙": r"\cdot ",
    "÷": "/",
    "⁄": "/",
    "≤": r"\le ",
    "⩽": r"\le ",
    "≥": r"\ge ",
    "⩾": r"\ge ",
    "≠": r"\ne ",
    "≈": r"\approx ",
    "∞": r"\infty ",
    "∪": r"\cup ",
    "∩": r"\cap ",
    "∈": r"\in ",
    "∅": r"\emptyset ",
    "±": r"\pm ",
    "∓": r"\mp ",
    "π": r"\pi ",
    "θ": r"\theta ",
    "α": r"\alpha ",
    "β": r"\beta ",
    "γ": r"\gamma ",
    "λ": r"\lambda ",
    "φ": r"\phi ",
    "ω": r"\omega ",
    "∠": r"\angle ",
    "ℝ": r"\mathbb{R} ",
    "ℤ": r"\mathbb{Z} ",
    "ℕ": r"\mathbb{N} ",
    "√": r"\sqrt ",
    "°": r"^\circ ",
    "%": r"%",
    "…": r"\ldots ",
    "”": '"',
    "“": '"',
    "’": "'",
}
_UNICODE = str.maketrans({sign: command for sign, command in _UNICODE_COMMANDS.items() if len(sign) == 1})
_IS_PLAIN = re.compile(r"[-+]?[\d.,]+")

_SIZES = re.compile(
    r"\\(?:left|right|middle|[bB]igg?[lrm]?|displaystyle|textstyle|scriptstyle|limits|nolimits)(?![A-Za-z])"
)
_TEXT = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|normal)?|math(?:rm|bf|it|sf|normal)|boldsymbol|bm|mbox|hbox|emph|operatorname\*?)"
    r"\s*\{([^{}]*)\}"
)
_GROUP_SPACE = re.compile(r"(?<=\d)(?:,?\\[,;! ]|\{,\}|~|[\u00a0\u2009\u202f])(?=\d{3}(?!\d))")
_SPACES = re.compile(r"(?<!\\)\\[,;:!> ]|~|\\q?quad(?![A-Za-z])|\\[hv]space\*?\{[^{}]*\}|\\phantom\{[^{}]*\}")
_ROW_END = re.compile(r"\\\\\s*\[[^\[\]]{0,12}\]|\\(?:cr|newline)(?![A-Za-z])")
_DEGREES = re.compile(r"\s*(?:\^\s*\{?\s*\\circ\s*\}?|\\degrees?(?![A-Za-z]))")
_TRIGONOMETRY = re.compile(r"sin|cos|tan|cot|sec|csc")
_SYNONYMS = [
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\\[dtc]frac(?![A-Za-z])", r"\\frac"),
        (r"\\[dt]binom(?![A-Za-z])", r"\\binom"),
        (r"\\(?:leq|leqslant|lt(?=\s*=))(?![A-Za-z])|<=|=<", r"\\le "),
        (r"\\(?:geq|geqslant)(?![A-Za-z])|>=|=>", r"\\ge "),
        (r"\\lt(?![A-Za-z])", "<"),
        (r"\\gt(?![A-Za-z])", ">"),
        (r"\\(?:neq|not\s*=)(?![A-Za-z])|!=", r"\\ne "),
        (r"\\(?:thickapprox|simeq)(?![A-Za-z])", r"\\approx "),
        (r"\\(?:lbrace)(?![A-Za-z])", r"\\{"),
        (r"\\(?:rbrace)(?![A-Za-z])", r"\\}"),
        (r"\\(?:lbrack)(?![A-Za-z])", "["),
        (r"\\(?:rbrack)(?![A-Za-z])", "]"),
        (r"\\(?:lvert|rvert|vert)(?![A-Za-z])", "|"),
        (r"\\(?:varnothing|O)(?![A-Za-z])|\\empty(?![A-Za-z])", r"\\emptyset "),
        (r"\\(?:ldots|dots|dotsc|cdots)(?![A-Za-z])|\.\.\.", r"\\ldots "),
        (r"\\(?:colon)(?![A-Za-z])", ":"),
        (r"\\(?:Reals|R)(?![A-Za-z])", r"\\mathbb{R} "),
        (r"\\(?:ast|star)(?![A-Za-z])", r"\\cdot "),
        (r"\\div(?![A-Za-z])", "/"),
        (r"(?<=[\d.)}])\s*[xX]\s*(?=10\s*\^)", r"\\times "),
        (r"\*\*", "^"),
        (r"(?<![A-Za-z\\^_])\*|(?<=[A-Za-z])\*(?=[\s\w(\\])", r"\\cdot "),
        (r"(?<![A-Za-z\\])(?:inf|infinity)(?![A-Za-z])", r"\\infty "),
        (
            r"(?<![A-Za-z\\])(?:(?<![A-Za-z]\s)|(?<=\\cdot\s)|(?<=\\times\s))(pi|theta)(?![A-Za-z]|\s[a-z]{3}(?<!squ)(?<!cub))",
            r"\\\1 ",
        ),
        (r"(?<=\d)pi(?![A-Za-z])", r"\\pi "),
        (r"(?<![A-Za-z\\])((?:arc)?(?:sin|cos|tan)|cot|sec|csc|log|ln)(?=\s*\(|\^|_)", r"\\\1 "),
        (r"(?<![A-Za-z\\])sqrt(?=\s*[(\d])", r"\\sqrt "),
        (r"\^\s*(-?\d{2,})(?![\d.]|\s*\\circ)", r"^{\1}"),
        (r"\\log\s*_\s*(\d)(?=\d)", r"\\log_{\1}"),
        (r"\\lim_|\\to(?![A-Za-z])", r"\g<0>"),
    )
]
_LEADS = re.compile(
    r"^(?:(?:is\s+)?(?:approximately|approx\.?|roughly|about)\s+(?=[-+$\\(]?[\d.\\])|\\approx\s*|=\s*|~\s*(?=\d))",
    re.IGNORECASE,
)


_REMARK = re.compile(
    r"(?<=\S)\s+\(?(?:i\.?e\.?|that is|approximately|approx|about|or equivalently|equivalently|rounded)\b"
    r"[^()]*\)$"
)
"""What an answer says once more in brackets behind itself."""


def without_delimiters(text: str) -> str:
    r"""Strip blanks, bold and the signs of math mode around an answer, and its full stop."""
    text = text.strip().strip("*").strip()
    for _ in range(3):
        for opening, closing in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
            if (
                len(text) > len(opening) + len(closing)
                and text.startswith(opening)
                and text.endswith(closing)
            ):
                inside = text[len(opening) : -len(closing)]
                if opening not in inside and closing not in inside:
                    text = inside.strip()
        text = text.rstrip(".,;。 \n")
    return text


def unicode_read(text: str) -> str:
    """Write full-width signs, mathematical signs, vulgar fractions, super- and subscripts in LaTeX."""
    if text.isascii():
        return text
    text = _VULGAR_FRACTION.sub(_as_slash, text.translate(_ONE_FOR_ONE))
    text = _SUBSCRIPT.sub(_as_subscript, _SUPERSCRIPT.sub(_as_power, text))
    return text.translate(_UNICODE)


def _as_slash(match: re.Match[str]) -> str:
    return " " + unicodedata.normalize("NFKC", match[0]).replace("⁄", "/")


def _as_power(match: re.Match[str]) -> str:
    return "^{" + unicodedata.normalize("NFKC", match[0]).replace("−", "-") + "}"


def _as_subscript(match: re.Match[str]) -> str:
    return "_{" + unicodedata.normalize("NFKC", match[0]) + "}"


_MONEY = re.compile(
    r"(?P<minus>-?)\s*(?P<sign>\\\$|[$€£])\s*(?P<amount>-?\d[\d,]*(?:\.\d+)?|-?\.\d+)"
    r"(?P<scale>\s+(?:hundred|thousand|million|billion|trillion)\b)?"
    r"(?:\s*(?:\\text\{\s*)?(?:dollars?|euros?|pounds|USD)(?:\s*\})?(?![A-Za-z]))?",
    re.IGNORECASE,
)
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "gbp"}


def _money(match: re.Match[str]) -> str:
    currency = _CURRENCIES[match["sign"].lstrip("\\")]
    return f"{match['minus']}{match['amount']}{match['scale'] or ''} {currency} "


def cleaned(text: str) -> str:
    r"""Return the one spelling of an answer; "" when nothing is left."""
    text = without_delimiters(text)
    if _IS_PLAIN.fullmatch(text):
        return text
    text = without_delimiters(unicode_read(text))
    # An even number of bare dollar signs is mathematics: "$5$ hours".
    if "\\$" in text or "€" in text or "£" in text or text.replace("\\$", "").count("$") % 2:
        text = _MONEY.sub(_money, _GROUP_SPACE.sub(",", text))
    text = _GROUP_SPACE.sub(",", text)
    text = re.sub(r"\\\(|\\\)|\\\[|\\\]|\\?\$", " ", text)
    text = text.replace("\\%", "%").replace("\\#", "#")
    text = _ROW_END.sub(r"\\\\ ", _SIZES.sub("", text))
    for _ in range(3):
        shorter = _TEXT.sub(_text_read, text)
        if shorter == text:
            break
        text = shorter
    text = _SPACES.sub(" ", text)
    for pattern, replacement in _SYNONYMS:
        text = pattern.sub(replacement, text)
    text = _with_braced_exponents(_with_arguments(text))
    is_angle_inside = _TRIGONOMETRY.search(text)
    text = _DEGREES.sub(r"\\cdot\\frac{\\pi}{180} " if is_angle_inside else " degrees ", text)
    text = _REMARK.sub("", _LEADS.sub("", " ".join(text.split()).rstrip(".,; ")))
    return text.strip().rstrip(".,; ")


def _text_read(match: re.Match[str]) -> str:
    # A function's name set upright is the function.
    inside = match[1].strip()
    if re.fullmatch(r"(?:arc)?(?:sin|cos|tan)|cot|sec|csc|log|ln|exp|gcd|det|min|max", inside):
        return f"\\{inside} "
    return f" {match[1]} "


def _with_arguments(text: str, *, depth: int = 0) -> str:
    r"""Brace the arguments of \frac and \sqrt: `\frac12`, `\frac1{x}`, `\sqrt2`, `\sqrt(x+1)`."""
    if depth > _MAX_DEPTH:
        return text
    done: list[str] = []
    at = 0
    for command in _WITH_ARGUMENTS.finditer(text):
        if command.start() < at:
            continue  # lies in an argument, and was read with it
        done.append(text[at : command.end()])
        at = command.end()
        is_root = command["name"] == "sqrt"
        for _ in range(1 if is_root else 2):
            argument = _argument(text, at, is_root=is_root)
            if argument is None:
                break
            inside, at = argument
            done.append("{" + _with_arguments(inside, depth=depth + 1) + "}")
    return "".join(done) + text[at:]


def _with_braced_exponents(text: str) -> str:
    """Write x^(n-1) as x^{n-1}."""
    while (found := _EXPONENT.search(text)) and (end := closing_bracket(text, found.end() - 1)) is not None:
        text = f"{text[: found.start()]}^{{{text[found.end() : end]}}}{text[end + 1 :]}"
    return text


_EXPONENT = re.compile(r"\^\s*\(")
_MAX_DEPTH = 30
_WITH_ARGUMENTS = re.compile(r"\\(?P<name>frac|sqrt|binom)(?![A-Za-z])(?:(?<=sqrt)\s*\[[^\[\]]*\])?")
_ARGUMENT = re.compile(r"(?P<blank>\s*)(?:(?P<opening>[{(])|(?P<digit>\d)|(?P<letter>[A-Za-z]))")
_NUMBER_ARGUMENT = re.compile(r"\d+(?:\.\d+)?")


def _argument(text: str, at: int, *, is_root: bool) -> tuple[str, int] | None:
    match = _ARGUMENT.match(text, at)
    if match is None or (match["opening"] == "(" and not is_root):
        return None
    start = match.end()
    if match["opening"]:
        end = closing_bracket(text, start - 1)
        return None if end is None else (text[start:end], end + 1)
    if match["digit"] and is_root and match["blank"]:  # "√12" and "sqrt 12"; "\sqrt12" is read as TeX does
        number = _NUMBER_ARGUMENT.match(text, start - 1)
        assert number is not None
        return number[0], number.end()
    return text[start - 1 : start], start


_CLOSES = {"(": ")", "[": "]", "{": "}"}


def closing_bracket(text: str, opening: int) -> int | None:
    """Return the offset of the bracket of the same kind that closes the one at `opening`."""
    sign, closing, depth = text[opening], _CLOSES[text[opening]], 0
    for offset in range(opening, len(text)):
        depth += (text[offset] == sign) - (text[offset] == closing)
        if depth == 0:
            return offset
    return None


def closes_at(text: str) -> int:
    """Return the offset at which the bracket that opens `text` is closed; any closing bracket will do."""
    depth = 0
    for offset, sign in enumerate(text):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return offset
    return -1


def split_top(text: str, separator: re.Pattern[str]) -> list[str]:
    """Split at separators outside all brackets; the separators must not hold brackets."""
    pieces, start, depth = [], 0, 0
    for match in _bracket_or(separator).finditer(text):
        sign = match[0]
        if sign in _BRACKETS:
            depth += _BRACKETS[sign]
        elif depth == 0:
            pieces.append(text[start : match.start()])
            start = match.end()
    return [*pieces, text[start:]]


_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


@lru_cache(maxsize=16)
def _bracket_or(separator: re.Pattern[str]) -> re.Pattern[str]:
    return re.compile(rf"[()\[\]{{}}]|(?:{separator.pattern})")
