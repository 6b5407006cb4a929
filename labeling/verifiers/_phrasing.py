"""Patterns of words, and those that every verifier of text looks for."""

import re


def one_of(phrases: str, others: str = "") -> re.Pattern[str]:
    """Return a pattern for any of some phrases, separated by bars, as whole words; line ends are no part."""
    words = r"\b(?:" + re.sub(r"\s*\n\s*", "", phrases) + r")\b"
    return re.compile(words + (f"|{others}" if others else ""), re.IGNORECASE)


_NOT = r"(?:\b(?:not|never|cannot)|n['’]t)\s(?:be |quite |exactly )?"
REJECTION = one_of(
    r"""
    incorrect|wrong|false|contradict\w*|impossible|mistake\w*|errors?|invalid|wait|oops|no solution|no such|
    absurd\w*|nonsens\w*|misread\w*|isn['’]t|(?:can['’]t|cannot) be|unlike|instead of|rather than|
    too (?:large|small|big|high|low|much|many|few)|
    falsch\w*|stimmt nicht|fehler|faux|fausse|erreur|incorrect[oa]s?|falso|errad[oa]|erróne[oa]|sbagliat[oa]|
    неверн\w+|неправильн\w+|ошиб\w+
    """,
    _NOT + r"(?:equal|true|possible|correct|valid|work|satisf\w+|match\w*|hold|fit|divide|give|add up|happen|"
    r"make sense|the same|what we|right(?!\s?-?\s?(?:angle|triangle)))\b"
    r"|[错錯]|不[对對]|不成立|不可能|矛盾|間違|틀[렸린]|[✗✘❌✖]",
)
"""Words that take back or deny what a text says, wherever in it they stand."""
