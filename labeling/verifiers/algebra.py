"""Algebra in unknowns: what a step rewrites, solves or inserts, held against what it comes from.

A claim is false only when it is provably so: two expressions joined by "=" in a chain that differ at a point,
an equation that has no solution in common with the one it is derived from, a system that contradicts itself.
What brings something new (a case, an assumption, another condition, a substitution) is left undecided. A
step is WRONG when one claim is false, RIGHT when at least one was checked and all were true, else UNDECIDED.
"""

import re
from collections.abc import Iterator

from labeling.records import Problem, Solution
from labeling.verifiers import _algebra_words as words
from labeling.verifiers._algebra_chains import Chain, Member, find_chains, is_constant
from labeling.verifiers._algebra_relations import (
    Equation,
    LinearSystem,
    Relation,
    compare,
    has_decimals,
    relate,
)
from labeling.verifiers._algebra_trees import Node
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_STEP_CHARACTERS = 20_000
MAX_EQUATIONS = 40
"""Equations of a solution that are remembered at a time; the oldest is forgotten first."""

DOUBTFUL = "doubtful"
NOTHING = "no equation in unknowns"

_RELATION_SIGN = re.compile(r"[=<>≈≤≥]|\\(?:le|ge|leq|geq|approx|ne|neq)\b")
_UNKNOWN = re.compile(
    r"(?<![A-Za-z\\])[A-Za-z](?![A-Za-z'’])|\\(?:theta|alpha|beta|lambda|pi)|\d[a-z]{1,3}\b|π"
)
_FUNCTION = re.compile(
    r"(?<![A-Za-z\\])([A-Za-z])\s?(?:\^\{-1\})?\(\s?[a-z]\s?\)\s?\\?\)?\s?(?:=|\\le|\\ge|<|>|\$|is\b)"
)
_ALWAYS_FUNCTIONS = frozenset("fgPQ")


class AlgebraVerifier:
    """Checks rewritten expressions, equations and systems in unknowns; meets `Verifier`."""

    name = "algebra"

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by itself and by what the steps before have established."""
        texts = solution.step_texts
        if not any(_may_hold_algebra(text) for text in texts):
            return [Verdict.undecided(NOTHING)] * len(texts)
        functions = _ALWAYS_FUNCTIONS | {
            match.group(1) for text in (problem.text, *texts) for match in _FUNCTION.finditer(text)
        }
        judge = _Judge(functions)
        return [judge.judge(text) for text in texts]


def _may_hold_algebra(text: str) -> bool:
    return _RELATION_SIGN.search(text) is not None and _UNKNOWN.search(text) is not None


class _Judge:
    """Walks through the steps of one solution and remembers what they established."""

    def __init__(self, functions: frozenset[str]) -> None:
        self.functions = functions
        self.last: Member | None = None
        """The last member read, with which a line that begins with "=" goes on."""
        self.previous: Equation | None = None
        """The equation directly before, when it was read and nothing unread stands between."""
        self.known: list[Equation] = []
        self.system = LinearSystem()

    def judge(self, text: str) -> Verdict:
        if len(text) > MAX_STEP_CHARACTERS:
            self.forget()
            return Verdict.undecided(f"step longer than {MAX_STEP_CHARACTERS} characters")
        if not _may_hold_algebra(text):
            if _RELATION_SIGN.search(text) is not None:
                self.previous = self.last = None
            return Verdict.undecided(NOTHING)
        doubt = words.doubt_in(text)
        evidence: list[Evidence] = []
        last = None
        for chain in find_chains(text, self.functions, last=self.last):
            evidence += self.judge_chain(chain, doubt)
            last = chain.members[-1]
        self.last = last
        return _conclude(evidence)

    def forget(self) -> None:
        self.previous = self.last = None
        self.known.clear()
        self.system = LinearSystem()

    def judge_chain(self, chain: Chain, doubt: str) -> Iterator[Evidence]:
        doubt = doubt or (chain.doubts[0] if chain.doubts else "")
        yield from _judge_links(chain, doubt)
        if _RELATION_SIGN.search(chain.before) is not None:
            self.previous = None
        equation = _equation_of(chain)
        if equation is None:
            self.previous = None
            return
        yield from self.judge_equation(equation, chain, doubt)
        if chain.doubts:
            self.previous = None

    def judge_equation(self, equation: Equation, chain: Chain, doubt: str) -> Iterator[Evidence]:
        """Hold an equation against those before it, then remember it."""
        sentence = words.sentence_of(chain.before)
        is_bare = words.is_bare(chain.before)
        is_assumed = words.says_assumed(sentence)
        is_derived = is_bare or words.says_derived(sentence)
        finding = None
        if is_derived and not is_assumed and not chain.goes_on:
            finding = self.against_previous(equation, sentence, is_bare)
        contradicts = False
        if not is_assumed and not chain.doubts and not has_decimals(equation):
            standing = self.system.add(equation)
            contradicts = standing is Relation.DISJOINT
            if finding is None and standing is Relation.SAME and self.is_no_repetition(equation):
                finding = (Outcome.RIGHT, "system", "", "the equations before")
            elif finding is None and contradicts and is_derived and not is_solved(equation) and self.known:
                reason = "it contradicts the equations before"
                finding = (Outcome.WRONG, "system", reason, "; ".join(e.text for e in self.known[-4:]))
        if finding is not None:
            outcome, kind, reason, source = finding
            yield _evidence(chain, outcome, kind, reason, doubt, left=source, right=equation.text)
        if contradicts or is_assumed:
            self.known.clear()
            self.system = LinearSystem()
            if not has_decimals(equation) and not chain.doubts:
                self.system.add(equation)
        self.previous = equation
        self.known = [*self.known[1 - MAX_EQUATIONS :], equation]

    def is_no_repetition(self, equation: Equation) -> bool:
        return all(equation.text != known.text for known in self.known)

    def against_previous(
        self, equation: Equation, sentence: str, is_bare: bool
    ) -> tuple[Outcome, str, str, str] | None:
        """Return (outcome, kind, reason, source) of an equation that is derived from the one before it."""
        previous = self.previous
        if previous is None or previous.text == equation.text:
            return None
        relation = relate(previous, equation)
        if relation is Relation.SAME:
            return Outcome.RIGHT, "equation", "", previous.text
        if (
            is_solved(previous)
            or words.says_new(sentence)
            or (is_bare and are_alternatives(previous, equation))
        ):
            return None
        is_wrong = relation is Relation.DISJOINT or (
            relation is Relation.UNRELATED and words.says_rewritten(sentence)
        )
        if not is_wrong or any(_may_come_from(known, equation) for known in self.known):
            return None
        reason = f"{equation.text} and {previous.text} have no common solution"
        if relation is Relation.UNRELATED:
            reason = f"{equation.text} does not follow from {previous.text}"
        return Outcome.WRONG, "equation", reason, previous.text


def is_solved(equation: Equation) -> bool:
    """Whether an equation is a name with its value: x = 18."""
    return bool(equation.name) and not equation.symbols - {equation.name}


def are_alternatives(first: Equation, second: Equation) -> bool:
    """Whether two equations look like branches: x - 9 = 0, x + 8 = 0, or |x - 3| = 5 as 5 and -5."""
    return (
        compare(first.right, second.right) is Relation.SAME
        or compare(first.left, second.left) is Relation.SAME
    )


def _may_come_from(known: Equation, equation: Equation) -> bool:
    """Whether an equation seen earlier can explain a later one."""
    if known.symbols != equation.symbols:
        return False
    relation = relate(known, equation)
    if len(equation.symbols) == 1:
        return relation is not Relation.DISJOINT and not is_solved(known)
    return relation is Relation.SAME


def _judge_links(chain: Chain, doubt: str) -> Iterator[Evidence]:
    """Hold neighbouring members of a chain against each other, where "=" must mean the same expression.

    That is so behind the first relation sign of a chain, when both sides hold the same unknowns.
    """
    for index, sign in enumerate(chain.relations):
        left, right = chain.members[index : index + 2]
        if sign != "=" or left.node is None or right.node is None:
            continue
        if not left.symbols or left.symbols != right.symbols or left.text == right.text:
            continue
        relation = compare(left.node, right.node)
        where = {"left": left.text, "right": right.text}
        if relation is Relation.SAME:
            yield _evidence(chain, Outcome.RIGHT, "identity", "", doubt, **where)
        elif relation is Relation.DIFFERENT and (
            index > 0 or chain.goes_on or _is_expansion(chain, left, right)
        ):
            is_name = "symbol" in (left.node.kind, right.node.kind)
            is_closed = index + 2 == len(chain.members) or not is_constant(chain.members[index + 2])
            reason = f"{left.text} is not {right.text} for all values"
            if not is_name and is_closed:
                yield _evidence(chain, Outcome.WRONG, "identity", reason, doubt, **where)


def _is_expansion(chain: Chain, left: Member, right: Member) -> bool:
    """Whether the words say that brackets are multiplied out, and that is what happens."""
    if not words.says_expanded(words.sentence_of(chain.before)) or left.node is None or right.node is None:
        return False
    return _has_product_of_sums(left.node) and not _has_product_of_sums(right.node)


def _has_product_of_sums(node: Node) -> bool:
    if node.kind in ("*", "^") and any(child.kind in "+-" for child in node.children):
        return True
    return any(_has_product_of_sums(child) for child in node.children)


def _equation_of(chain: Chain) -> Equation | None:
    """Return what a chain says as a whole: its first and last member are equal."""
    first, last = chain.members[0], chain.members[-1]
    if first.node is None or last.node is None or set(chain.relations) != {"="}:
        return None
    if any(member.node is None for member in chain.members):
        return None
    equation = Equation(first.node, last.node, f"{first.text} = {last.text}")
    return equation if equation.symbols else None


def _evidence(
    chain: Chain, outcome: Outcome, kind: str, reason: str, doubt: str, *, left: str, right: str
) -> Evidence:
    if outcome is Outcome.WRONG and doubt:
        outcome, kind, reason = Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {doubt}"
    return Evidence(
        verifier=AlgebraVerifier.name,
        outcome=str(outcome),
        kind=kind,
        text=" = ".join(member.text for member in chain.members[chain.goes_on :]),
        start=chain.start,
        end=chain.end,
        left=left,
        right=right,
        reason=reason,
    )


def _conclude(evidence: list[Evidence]) -> Verdict:
    for item in evidence:
        if item.outcome == Outcome.WRONG:
            return Verdict.wrong(item.reason, evidence)
    for item in evidence:
        if item.kind == DOUBTFUL:
            return Verdict.undecided(f"{DOUBTFUL}: {item.reason.rpartition(', but: ')[2]}", evidence)
    if evidence:
        return Verdict.right("every checked claim is true", evidence)
    return Verdict.undecided("nothing that could be checked")
