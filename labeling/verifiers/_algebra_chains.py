"""Where a text writes relations between expressions in unknowns: chains such as x + y = 2x - 1 = 7.

A run is what can stand in a formula; relation signs join neighbouring runs to a chain; words, punctuation
and line ends part chains. A line that begins with a relation sign goes on with the chain before it.
"""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from labeling.verifiers._algebra_tokens import Token, tokenize
from labeling.verifiers._algebra_trees import Node, is_number, read, symbols_of
from labeling.verifiers._algebra_words import is_bare, says_assumed, says_derived
from labeling.verifiers._reading import UnreadableError

MAX_CHAINS = 60
MAX_MEMBERS = 24

MIN_LONE_TOKENS, MAX_LONE_TOKENS = 3, 120
_OPENS = re.compile(r"(?:\\[(\[]|\$)\s*$")
_CLOSES = re.compile(r"\s*[.,;]?\s*(?:\\[)\]]|\$)")
_FORMULA = frozenset({"NUM", "SYM", "FUN", "OP", "(", ")", "{", "}", "FRAC", "SQRT", "LABEL", "SUP"})
_REACHING_WORDS = frozenset({
    "times", "plus", "minus", "twice", "double", "triple", "thrice", "half", "sum", "product",
    "difference", "ratio", "divided", "multiplied", "than", "by", "over", "per", "squared", "cubed",
    "percent", "remainder", "and", "or", "average", "third", "quarter", "square", "root",
})  # fmt: skip
"""Words before a formula that may belong to it: "the sum of x and y = 7", "twice x = 8"."""
_NO_UNITS = frozenset({
    "and", "or", "so", "is", "are", "then", "which", "for", "because", "since", "where", "thus",
    "therefore", "gives", "giving", "into", "in", "we", "to", "as", "with", "from", "the", "on", "at",
    "by", "that", "when", "if", "but", "hence", "this", "after", "solving", "now", "next", "step",
    "implies", "means", "has", "have", "yields", "it",
})  # fmt: skip
_GOING_ON_WORDS = frozenset({
    "times", "plus", "minus", "more", "less", "than", "percent", "divided", "multiplied", "of", "or",
    "squared", "cubed", "hundred", "thousand", "million", "to", "th", "st", "nd", "rd", "mod", "modulo",
    "choose", "for", "if", "when",
})  # fmt: skip
"""Words behind a formula that may change it: "3 times y", "2 or 3", "0 if x > 1"."""

_RELATION_SIGN = re.compile(r"[=<>≈≤≥]|\\(?:le|ge|leq|geq|approx|ne|neq)\b")
_ARROW_WITH_SIGN = re.compile(r"<?==?>|--?>")
_UNKNOWN = re.compile(
    r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z'’])|\\(?:theta|alpha|beta|lambda|pi)|\d[a-z]{1,3}\b|π"
)


def may_hold_algebra(text: str) -> bool:
    """Whether a text can hold a relation in unknowns at all; quick."""
    if _UNKNOWN.search(text) is not None:
        return "\\" in text or "$" in text or has_relation(text)
    return "\\(" in text or "\\[" in text or "$" in text


def has_relation(text: str) -> bool:
    """Whether a sign of equality or order stands in a text."""
    return _RELATION_SIGN.search(_ARROW_WITH_SIGN.sub(" ", text)) is not None


@dataclass(frozen=True)
class Member:
    """One side of a relation: `node`, or `problem` says why it is not read."""

    text: str
    start: int
    end: int
    node: Node | None = None
    problem: str = ""
    symbols: frozenset[str] = frozenset()
    labels: frozenset[str] = frozenset()


@dataclass
class Chain:
    """Members joined by relation signs, and what stands around them. Offsets are code points.

    An expression that stands alone between delimiters of mathematics is a chain of one member.
    """

    members: list[Member]
    relations: list[str]
    """One fewer than members."""
    before: str
    """The text between the chain before (or the start of the text) and this one."""
    unit: str
    """The word right behind its last member, when that is a number: dollars, hours."""
    goes_on: bool = False
    """It began with a relation sign; its first member is the last one of the chain before."""
    doubts: list[str] = field(default_factory=list)

    @property
    def start(self) -> int:
        return self.members[1 if self.goes_on else 0].start

    @property
    def end(self) -> int:
        return self.members[-1].end


def find_chains(text: str, functions: Collection[str] = (), *, last: Member | None = None) -> Iterator[Chain]:
    """Yield the chains of a text in order, at most `MAX_CHAINS`.

    Args:
        text: Prose with formulas.
        functions: Letters that are functions when a bracket follows.
        last: The last member of the text before, with which a text that begins with "=" goes on.
    """
    tokens = tokenize(text)
    at, n_chains, end_of_last = 0, 0, 0
    while at < len(tokens) and n_chains < MAX_CHAINS:
        start = at
        at, groups, relations = _next_chain(tokens, at)
        if not relations:
            lone = _lone(text, tokens, groups[0], functions)
            at = max(at, start + 1)
            if lone is not None:
                yield Chain([lone], [], text[end_of_last : lone.start], "")
                end_of_last = lone.end
            continue
        chain = _chain(text, tokens, groups, relations, functions)
        chain.before = text[end_of_last : chain.start]
        if groups[0][0] == groups[0][1]:
            begins = groups[0][0]
            is_line = begins == 0 or tokens[begins - 1].kind in ("LINE", "BREAK")
            if last is None or not is_line or not _goes_on(chain.before):
                # Nothing is on its left: only the members behind it are of use.
                chain.members, chain.relations = chain.members[1:], chain.relations[1:]
            else:
                chain.members[0], chain.goes_on = last, True
        last = chain.members[-1]
        if chain.relations:
            n_chains += 1
            yield chain
            end_of_last = last.end


def _lone(
    text: str, tokens: list[Token], group: tuple[int, int], functions: Collection[str]
) -> Member | None:
    """Return an expression in unknowns that stands alone between delimiters of mathematics, else None."""
    start, end = group
    if end - start < MIN_LONE_TOKENS or end - start > MAX_LONE_TOKENS:
        return None
    first, last = tokens[start].start, tokens[end - 1].end
    opens = _OPENS.search(text[max(0, first - 12) : first])
    if opens is None or _CLOSES.match(text[last : last + 12]) is None:
        return None
    member = _member(text, tokens, start, end, functions)
    return member if member.node is not None and member.symbols else None


def _goes_on(before: str) -> bool:
    """Whether a relation sign with nothing on its left goes on with the chain before it."""
    is_next = is_bare(before) or (says_derived(before) and not says_assumed(before))
    return is_next and not any(sign in before for sign in "=<>")


def _next_chain(tokens: list[Token], at: int) -> tuple[int, list[tuple[int, int]], list[str]]:
    """Return (where to go on, bounds of the runs, relations between them) of what starts at a token."""
    groups: list[tuple[int, int]] = []
    relations: list[str] = []
    while True:
        start = at
        while at < len(tokens) and tokens[at].kind in _FORMULA:
            at += 1
        groups.append((start, at))
        following = at
        while following < len(tokens) and tokens[following].kind == "LINE":
            following += 1
        is_joined = following < len(tokens) and tokens[following].kind == "REL"
        # A relation sign at a line's start goes on with the line before, unless that ends elsewhere.
        if not is_joined or len(groups) > MAX_MEMBERS:
            return following, groups, relations
        relations.append(tokens[following].text)
        at = following + 1
        while at < len(tokens) and tokens[at].kind == "LINE":
            at += 1


def _chain(
    text: str,
    tokens: list[Token],
    groups: list[tuple[int, int]],
    relations: list[str],
    functions: Collection[str],
) -> Chain:
    members = [_member(text, tokens, *group, functions) for group in groups]
    if _goes_on_below(tokens, groups[-1][1]):
        members[-1] = replace(
            members[-1], node=None, problem="it goes on in the next line", symbols=frozenset()
        )
    chain = Chain(members, list(relations), "", "")
    first, last = groups[0][0], groups[-1][1]
    if first < groups[0][1]:
        chain.doubts += _doubts_before(tokens, first)
    if last < len(tokens):
        chain.doubts += _doubts_behind(tokens, last)
        if is_constant(members[-1]):
            word = tokens[last].text.lower() if tokens[last].kind == "WORD" else ""
            chain.unit = "" if word in _NO_UNITS else word
    chain.unit = chain.unit or " ".join(sorted(members[-1].labels))
    return chain


def _goes_on_below(tokens: list[Token], end: int) -> bool:
    """Whether a formula that ends a line goes on with a sign in the next: a = b + c, line end, + d."""
    at = end
    while at < len(tokens) and (tokens[at].kind == "LINE" or tokens[at].text in ("\\quad", "\\qquad")):
        at += 1
    if not end < at < len(tokens) - 1 or tokens[at].kind != "OP":
        return False
    # A dash with a blank behind it marks an item of a list.
    return tokens[at].text != "-" or tokens[at + 1].is_tight


def _member(text: str, tokens: list[Token], start: int, end: int, functions: Collection[str]) -> Member:
    if start == end:
        place = tokens[start].start if start < len(tokens) else len(text)
        return Member("", place, place, problem="nothing there")
    run = tokens[start:end]
    first, last = run[0].start, run[-1].end
    shown = text[first:last]
    try:
        reading = read(run, functions)
    except UnreadableError as error:
        return Member(shown, first, last, problem=str(error))
    if reading.is_ambiguous:
        return Member(shown, first, last, problem="it can be read in two ways")
    return Member(shown, first, last, reading.node, "", symbols_of(reading.node), reading.labels)


def _doubts_before(tokens: list[Token], start: int) -> list[str]:
    before = tokens[start - 1] if start else None
    sign, operand = tokens[start], tokens[start + 1]
    if sign.kind == "OP" and (sign.text == "+" or not operand.is_tight):
        return ["a formula that begins with a plus sign or a dash"]
    if before is None:
        return []
    if before.kind == "BAD":
        return ["a formula goes on in front of it"]
    joins = before.text == "and" and _ends_chain(tokens, start - 1)
    if before.kind == "WORD" and before.text.lower() in _REACHING_WORDS and not joins:
        return ["words of arithmetic before the formula"]
    is_listed = start > 1 and tokens[start - 2].kind in ("SYM", ")", "}")
    if before.kind == "BREAK" and before.text == "," and is_listed and not _ends_chain(tokens, start - 1):
        return ["a list"]
    return []


def _doubts_behind(tokens: list[Token], end: int) -> list[str]:
    behind = tokens[end]
    following = tokens[end + 1] if end + 1 < len(tokens) else behind
    if behind.kind == "BAD" or (behind.kind == "BREAK" and following.kind == "BAD" and following.is_tight):
        return ["the formula goes on in a way that is not read"]
    if behind.kind == "WORD" and behind.text.lower() in _GOING_ON_WORDS:
        return ["words behind the formula may belong to it"]
    if behind.text == ":" and end + 1 < len(tokens) and tokens[end + 1].kind == "NUM":
        return ["a ratio"]
    is_list = behind.text in (",", "and") and end + 1 < len(tokens) and tokens[end + 1].kind in _FORMULA
    if is_list and not _starts_chain(tokens, end + 1):
        return ["a list"]
    if behind.text == "?":
        return ["a question"]
    return []


def _ends_chain(tokens: list[Token], at: int) -> bool:
    """Whether the right side of a relation ends before a token: x + y = 10 and."""
    for token in reversed(tokens[max(0, at - 60) : at]):
        if token.kind == "REL":
            return True
        if token.kind not in _FORMULA:
            return False
    return False


def _starts_chain(tokens: list[Token], at: int) -> bool:
    for token in tokens[at : at + 60]:
        if token.kind == "REL":
            return True
        if token.kind not in _FORMULA:
            return False
    return False


def is_constant(member: Member) -> bool:
    """Whether a member is read and holds no unknown."""
    return member.node is not None and not member.symbols


def is_zero(node: Node) -> bool:
    return node.kind == "number" and node.value == 0


def is_plain_number(member: Member) -> bool:
    """Whether a member is a single number."""
    return member.node is not None and is_number(member.node)
