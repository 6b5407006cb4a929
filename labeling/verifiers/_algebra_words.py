"""What the words around a formula say of it: derived from the one before, expanded, assumed, tried out."""

import re

from labeling.verifiers._phrasing import REJECTION, one_of

_ARROW = r"\\(?:to|rightarrow|longrightarrow)(?![a-z])|--?>|[→⟶]"
_ARROWS = re.compile(_ARROW)
_DELIMITERS = re.compile(
    _ARROW + "|"
    r"\\[\[\]()]|\$|\\\\|\\(?:begin|end)\{[a-z]+\*?\}|&|\\(?:quad|qquad|implies|Rightarrow|Longrightarrow|"
    r"iff|Leftrightarrow|Longleftrightarrow|text|therefore|,|;)(?![a-z])|<?==?>|[⇒⟹⇔⟺∴{}.,:;*\-\s]|[\u2022]"
)


_REWRITING = r"simplif\w*|expand\w*|distribut\w*|combin\w* (?:the )?(?:like )?terms|like terms|foil"
_DERIVED = one_of(
    r"""
    simplif\w*|expand\w*|distribut\w*|combin\w*|rearrang\w*|factor\w*|both sides|subtract\w*|add|adding|
    divid\w*|multipl\w*|solv\w*|isolat\w*|so|thus|hence|therefore|then|becom\w*|giv(?:es|ing|e)|get|
    yield\w*|obtain\w*|which is|that is|i\.e|means|impl(?:y|ies)|reduc\w*|equivalent\w*|rewrit\w*|
    square root|squaring|cross
    """,
    r"\\(?:implies|Rightarrow|therefore|Longrightarrow|iff|Leftrightarrow|Longleftrightarrow)|=>|[⇒⟹⇔⟺∴]",
)
_REWRITTEN = one_of(_REWRITING + r"|rearrang\w*|both sides|cross[- ]?multipl\w*|isolat\w*|factor\w* out")
_EXPANDED = one_of(
    r"expand\w*|distribut\w*|combin\w* (?:the )?(?:like )?terms|like terms|foil|multiply(?:ing)? out"
)
_BECOMES = one_of(_REWRITING + r"|reduc(?:es|ing|ed)? to|becomes|factor(?:s|ing|ed)? (?:out|to|as|into)")
_NO_REWRITING = one_of(
    r"""
    negligible|so|numerators?|denominators?|sides?|parts?|brackets?|parenthes[ie]s|inside|
    the (?:first|second|third|last)|radicand|exponents?|each|both|equal|original
    """
)
"""Words by which only a part of an expression is rewritten, or something else happens."""
_LEADS_ON = re.compile(
    r"(?:\b(?:becomes|to|get|gives?|giving|yields?|yielding|have|is|as|into|obtain|following)|[:,\]$)])"
    r"(?:\\[\[(]|[\s$:,])*$",
    re.IGNORECASE,
)
_TAKES_UP = one_of(r"this|which|it|expressions?|we (?:get|have|obtain)|us|terms")
_ASSUMED = one_of(
    r"""
    let(?!['’]s| us)|let(?:['’]s| us) (?:say|call|denote|define|set|try|assume|use|let)|suppose|assum\w+|if|
    whether|when|whenever|where|cases?|consider|given that|try|trying|test\w*|check\w*|verif\w*|guess\w*|
    defin\w*|denote\w*|represent\w*|otherwise|either|or|would|could|should|might|except|unless|
    for (?:example|instance)|plug\w* in|say|are|exclude\w*|solutions? (?:are|is)|roots are
    """,
    r"\b(?:for|at|with|from|than|into)[\s$\\(]{0,6}$|\\in\b|∈",
)
_NEW_SOURCE = one_of(
    r"""
    another|second|third|next|other|similarly|also|we know|we are told|know that|told|from the|since|
    because|recall|formula|theorem|identity|law|rule|condition|states?|statement|problem|first|last|final|
    now|add(?:ing)? (?:the|these|equations?)|set (?:up|it)|setting|plug\w*|substitut\w*|using|as well as|and
    """
)
_DROPPED = one_of(
    r"""
    no solutions|does(?:n['’]t| not)|can['’]t|cannot|unless|extraneous|reject\w*|discard\w*|actually|however|
    instead|correction|sorry|hmm
    """
)
"""Words by which a derivation leaves a path, besides those that deny a formula."""
_OTHER_ARITHMETIC = one_of(
    r"""
    repeating|mod|modulo|modular|binary|hexadecimal|congruen\w*|base[- ](?:\d+|two|eight|ten|\$?[a-z]\b)|
    matri\w*|vectors?|logic\w*|boolean|sets?|roots? of unity|group|ring|field
    """,
    r"\\(?:p|b)?mod|\\overline|\\equiv|≡",
)
_ROUNDED = one_of(
    r"round\w*|approx\w*|about|nearest|roughly|around|estimat\w*|ceil\w*|floor|almost|nearly|integer|whole",
    r"\\approx|≈",
)
_BRANCHING = one_of(
    r"""
    if|suppos\w+|assum\w+|cases?|when|whenever|either|otherwise|possib\w*|try|trying|impossib\w*|
    contradict\w*|reject\w*|is not an?|not (?:an? )?(?:integer|valid|possible)|consider|alternativ\w*|
    choos\w*|want|another(?! equation)
    """,
    r"\\neq?\b|≠|\\not",
)
_COMBINED = one_of(
    r"""
    substitut\w*|plug\w*|subtract\w*|add|adding|multipl\w*|eliminat\w*|simplif\w*|both sides|combin\w*|
    expand\w*|distribut\w*|divid\w*|rearrang\w*|solv\w*
    """
)
MAX_SENTENCE = 200
_SENTENCE = re.compile(r"[.;\n](?=\s|$)")


def sentence_of(before: str) -> str:
    """Return what of the text before a formula belongs to its own sentence."""
    parts = _SENTENCE.split(before)
    while len(parts) > 1 and not _DELIMITERS.sub("", parts[-1]):
        parts.pop()
    return parts[-1]


def is_bare(before: str) -> bool:
    """Whether nothing but delimiters, arrows and punctuation stands between two formulas."""
    return not _DELIMITERS.sub("", before)


def is_plain_arrow(before: str) -> bool:
    """Whether a thin arrow stands between two formulas and no word: it leads on, or one becomes the other."""
    return is_bare(before) and _ARROWS.search(before) is not None


def says_derived(text: str) -> bool:
    """Whether words (or an arrow) say that a formula comes out of the one before."""
    return _DERIVED.search(text) is not None


def says_rewritten(text: str) -> bool:
    """Whether words say that a formula is the one before, written in another way."""
    return _REWRITTEN.search(text) is not None


def says_expanded(text: str) -> bool:
    """Whether words say that brackets are multiplied out or like terms put together, nothing more."""
    return _EXPANDED.search(text) is not None


def says_it_becomes(text: str) -> bool:
    """Whether words say that the whole expression before is written in another way."""
    # The end alone is looked at: a search for what ends a text would take time quadratic in its length.
    is_said = all(pattern.search(text[-MAX_SENTENCE:]) for pattern in (_BECOMES, _LEADS_ON, _TAKES_UP))
    return is_said and _NO_REWRITING.search(text) is None


def says_assumed(text: str) -> bool:
    """Whether words introduce, suppose or try a formula, or make it one of several cases."""
    return _ASSUMED.search(text) is not None


def says_new(text: str) -> bool:
    """Whether words bring a formula in from elsewhere: another condition, a law, a substitution."""
    return _NEW_SOURCE.search(text) is not None


def says_branching(text: str) -> bool:
    """Whether a step walks through cases, makes assumptions or rejects some; its equations hold in part."""
    return _BRANCHING.search(text) is not None


def says_combined(text: str) -> bool:
    """Whether words say that a formula is worked out from equations before."""
    return _COMBINED.search(text) is not None


def doubt_in(text: str) -> str:
    """Return what takes the formulas of a text out of plain assertion over the reals; "" for nothing."""
    if REJECTION.search(text) or _DROPPED.search(text):
        return "the text rejects something"
    if _OTHER_ARITHMETIC.search(text):
        return "another arithmetic (modulus, number base, matrices, complex numbers)"
    return ""


def speaks_of_rounding(text: str) -> bool:
    return _ROUNDED.search(text) is not None
