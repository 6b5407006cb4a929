"""The walk through the steps of one solution: what each claims, and what those before it established."""

import re
from collections.abc import Iterator, Sequence

from labeling.verifiers import _algebra_words as words
from labeling.verifiers._algebra_chains import (
    Chain,
    Member,
    find_chains,
    has_relation,
    is_constant,
    may_hold_algebra,
)
from labeling.verifiers._algebra_claims import (
    Finding,
    are_alternatives,
    bare,
    conclude,
    equation_of,
    evidence_of,
    excused,
    holds_product_of_sums,
    is_bound,
    is_quantity,
    is_solved,
    is_sum,
    leads_on,
    may_be_rounded,
    may_come_from,
)
from labeling.verifiers._algebra_definitions import Definitions
from labeling.verifiers._algebra_functions import misused_name, with_values
from labeling.verifiers._algebra_lists import is_exact, list_at, solves
from labeling.verifiers._algebra_operations import are_done, operations_in
from labeling.verifiers._algebra_relations import (
    IMAGINARY,
    Equation,
    LinearSystem,
    Relation,
    compare,
    has_decimals,
    relate,
)
from labeling.verifiers._algebra_rewriting import contradicts_end, is_rewritten, opens_with_factoring
from labeling.verifiers._algebra_trees import Node
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_STEP_CHARACTERS = 20_000
MAX_COMPARISONS = 150
"""Comparisons of two equations that one step may take; what is beyond them is not judged."""
MAX_EQUATIONS = 12
"""Equations that are remembered at a time; the oldest is forgotten first."""
MAX_SEEN = 40
"""Equations in one unknown that may excuse a value; a step's `MAX_COMPARISONS` count them."""
NOTHING = "no equation in unknowns"

_COMPLEX = re.compile(r"\b(?:complex|imaginary|conjugate)\b|(?<![A-Za-z])i\^|\d\s?[-+]\s?\d*i\b")


class Judge:
    """Judges the steps of one solution in order; `functions` are the letters that stand for functions."""

    def __init__(self, problem: str, functions: frozenset[str]) -> None:
        self.functions = functions
        self.is_complex = _COMPLEX.search(problem) is not None
        self.last: Member | None = None
        """The last member read, with which a line that begins with "=" goes on."""
        self.expression: Member | None = None
        """The last expression in unknowns that something was said to equal, or that stood alone."""
        self.previous: Equation | None = None
        """The equation directly before, when it was read and nothing unread stands between."""
        self.is_supposed = False
        """That equation is supposed, or one of several cases."""
        self.known: list[Equation] = []
        self.definitions = Definitions(problem)
        self.values: dict[str, Node | None] = {}
        """Name -> its value; None when it had several, or one with a unit."""
        self.constraints: set[frozenset[str]] = set()
        """Unknowns of each equation so far, the problem's included: what a rewriting may have made use of."""
        self.n_left = 0
        """Comparisons of two equations that the step may still take."""
        self.is_other_step = False
        """That equation stands in an earlier step."""
        self.is_rounding = False
        """The step speaks of rounding or whole numbers."""
        self.is_branching = False
        """The step before walked through cases, or rejected one."""
        self.system = LinearSystem()
        self.seen: list[Equation] = []
        """Equations in one unknown, also those supposed; the oldest is forgotten first."""
        if may_hold_algebra(problem) and len(problem) <= MAX_STEP_CHARACTERS:
            for chain in find_chains(problem, functions):
                self.definitions.learn(chain)
                self.learn_constraint(chain)

    def judge(self, text: str) -> Verdict:
        """Return the verdict on the next step."""
        if len(text) > MAX_STEP_CHARACTERS:
            self.forget()
            return Verdict.undecided(f"step longer than {MAX_STEP_CHARACTERS} characters")
        if not may_hold_algebra(text):
            if has_relation(text):
                self.previous = self.last = None
            return Verdict.undecided(NOTHING)
        self.is_complex |= _COMPLEX.search(text) is not None
        doubt = words.doubt_in(text)
        is_branching = words.says_branching(text)
        self.is_rounding = words.speaks_of_rounding(text)
        self.is_other_step = True
        self.n_left = MAX_COMPARISONS
        self.is_branching |= is_branching
        evidence: list[Evidence] = []
        last = self.last
        chains = list(find_chains(text, self.functions, last=last))
        for index, chain in enumerate(chains):
            if not doubt:
                evidence += self.judge_list(text, chains, index)
            evidence += self.judge_chain(chain, doubt)
            if not doubt and not self.is_branching:
                self.definitions.learn_from_solution(chain, text[chain.end :])
            last = chain.members[-1]
        self.last = last
        self.is_branching = is_branching
        if doubt:
            # What a step rejects or computes in another arithmetic is no ground for the next.
            self.previous = None
        return conclude(evidence)

    def forget(self) -> None:
        self.previous = self.last = self.expression = None
        self.known.clear()
        self.system = LinearSystem()

    def judge_chain(self, chain: Chain, doubt: str) -> Iterator[Evidence]:
        doubt = doubt or (chain.doubts[0] if chain.doubts else "")
        if not chain.relations:
            yield from self.judge_lone(chain, doubt)
            return
        yield from self.judge_links(chain, doubt)
        if is_sum(chain.members[-1]):
            self.expression = chain.members[-1]
        if has_relation(chain.before):
            self.previous = None
        self.learn_constraint(chain)
        equation = equation_of(chain)
        if equation is None:
            self.previous = None
            return
        yield from self.judge_equation(equation, chain, doubt)
        if chain.doubts:
            self.previous = None

    def judge_list(self, text: str, chains: Sequence[Chain], at: int) -> Iterator[Evidence]:
        """Hold the values that are listed from a chain on against the equation before, which they solve."""
        source, sentence = self.previous, words.sentence_of(chains[at].before)
        if source is None or not is_exact(source) or self.is_supposed or self.is_rounding:
            return
        is_derived = words.says_derived(sentence) and not words.says_assumed(sentence)
        if not is_derived or words.says_new(sentence) or self.is_branching or has_relation(sentence):
            return
        if self.is_other_step and not words.says_combined(sentence):
            return
        for chain, value in zip(chains[at:], list_at(text, chains, at), strict=False):
            self.n_left -= len(self.seen)
            is_root = any(solves(value, equation) for equation in self.seen)
            if self.n_left > 0 and value.symbols == source.symbols and not is_root:
                reason = f"{value.text} does not solve {source.text}"
                yield evidence_of(chain, (Outcome.WRONG, "root", reason, source.text), value.text, "")

    def judge_lone(self, chain: Chain, doubt: str) -> Iterator[Evidence]:
        """Hold an expression that stands alone against the one before, which it is said to be."""
        member, before = chain.members[0], self.expression
        if is_sum(member):
            self.expression = member
        sentence = words.sentence_of(chain.before)
        if before is None or before.node is None or member.node is None or has_relation(chain.before):
            return
        is_said = words.says_it_becomes(sentence) and not words.says_new(sentence)
        if not is_said or before.symbols != member.symbols or before.text == member.text:
            return
        relation = compare(before.node, member.node)
        if relation is Relation.SAME:
            yield evidence_of(chain, (Outcome.RIGHT, "identity", "", before.text), member.text, doubt)
        elif relation is Relation.DIFFERENT and not self.is_branching and not self.may_be_tied(member):
            reason = f"{member.text} is not {before.text} for all values"
            yield evidence_of(chain, (Outcome.WRONG, "rewriting", reason, before.text), member.text, doubt)

    def judge_links(self, chain: Chain, doubt: str) -> Iterator[Evidence]:
        """Hold neighbouring members of a chain against each other."""
        is_assumed = words.says_assumed(words.sentence_of(chain.before))
        for index, sign in enumerate(chain.relations):
            left, right = chain.members[index : index + 2]
            if sign != "=" or left.node is None or right.node is None or left.text == right.text:
                continue
            finding = None if is_assumed else self.definitions.value(left, right)
            is_number = self.is_complex and left.symbols | right.symbols == {IMAGINARY}
            if finding is None and left.symbols and (left.symbols == right.symbols or is_number):
                finding = self.identity(chain, index, left, right)
            elif finding is None and index > 0 and not is_assumed:
                finding = self.value(chain, left, right)
            if finding is not None:
                yield evidence_of(chain, finding, right.text, doubt)

    def identity(self, chain: Chain, index: int, left: Member, right: Member) -> Finding | None:
        """Judge a link whose sides hold the same unknowns.

        Behind a chain's first relation sign, and where the words say so, it must be an identity.
        """
        assert left.node is not None
        assert right.node is not None
        relation = compare(left.node, right.node)
        if relation is Relation.SAME:
            return Outcome.RIGHT, "identity", "", left.text
        if relation is not Relation.DIFFERENT or "symbol" in (left.node.kind, right.node.kind):
            return None
        is_number = left.symbols | right.symbols == {IMAGINARY} and self.is_complex
        is_inner = index > 0 or chain.goes_on or is_number
        reason = f"{left.text} is not {right.text} for all values"
        if not is_inner and not self.is_rewriting(chain, left, right):
            is_long = len(chain.members) > 2
            is_false = is_long and not self.is_branching and contradicts_end(chain, left, right)
            if is_false and not is_quantity(left, right):
                return Outcome.WRONG, "identity", reason, left.text
            return excused(reason, "it may be an equation", left.text) if is_long else None
        if is_quantity(left, right):
            return None
        is_expanded = words.says_expanded(words.sentence_of(chain.before))
        is_equation = any(is_constant(member) for member in chain.members)
        is_excused = is_equation or (self.may_be_tied(left) and not is_expanded)
        if is_excused and not is_number:
            return excused(reason, "an equation may be used", left.text)
        return Outcome.WRONG, "identity", reason, left.text

    def may_be_tied(self, member: Member) -> bool:
        """Whether an equation between its own unknowns is known, which a rewriting may make use of."""
        return any(known <= member.symbols for known in self.constraints)

    def is_rewriting(self, chain: Chain, left: Member, right: Member) -> bool:
        """Whether the words say that brackets are multiplied out or an earlier expression is simplified."""
        sentence = words.sentence_of(chain.before)
        is_taken_up = self.expression is not None and bare(self.expression.text) == bare(left.text)
        is_said = is_taken_up and words.says_it_becomes(sentence) and not words.says_new(sentence)
        equation = equation_of(chain)
        if not is_said and not is_rewritten(sentence, left, right):
            return False
        if equation is None:
            return True
        earlier = {old.text: old for old in (*self.known, *self.seen)}.values()
        self.n_left -= len(earlier)
        return self.n_left >= 0 and all(relate(old, equation) is not Relation.SAME for old in earlier)

    def value(self, chain: Chain, left: Member, right: Member) -> Finding | None:
        """Judge a link that puts in the values of names: v = u + a t = 3 + 2 * 5."""
        is_formula = left.node is not None and bool(left.node.children) and bool(left.symbols)
        if not is_formula or not is_constant(right) or not left.symbols <= self.values.keys():
            return None
        assert left.node is not None
        assert right.node is not None
        values = {name: node for name in left.symbols if (node := self.values[name]) is not None}
        if len(values) < len(left.symbols):
            return None
        if compare(with_values(left.node, values), right.node) is Relation.SAME:
            return Outcome.RIGHT, "value", "", left.text
        wrong = misused_name(left.node, right.node, values)
        if not wrong or self.is_branching:
            return None
        reason = f"{left.text} is not {right.text}: {wrong} has another value before"
        return Outcome.WRONG, "value", reason, left.text

    def learn_value(self, equation: Equation) -> None:
        """Remember x = 18; a name with two values has none."""
        name = equation.name
        if not is_solved(equation):
            return
        if equation.unit or (name in self.values and self.values[name] != equation.right):
            self.values[name] = None
        else:
            self.values[name] = equation.right

    def learn_constraint(self, chain: Chain) -> None:
        """Remember which unknowns an equation ties together."""
        equation = equation_of(chain)
        if equation is not None and compare(equation.left, equation.right) is not Relation.SAME:
            self.constraints.add(equation.symbols)
            if len(equation.symbols) == 1:
                self.seen = [*self.seen[1 - MAX_SEEN :], equation]
            self.learn_value(equation)

    def judge_equation(self, equation: Equation, chain: Chain, doubt: str) -> Iterator[Evidence]:
        """Hold an equation against those before it, then remember it."""
        sentence = words.sentence_of(chain.before)
        is_assumed = words.says_assumed(sentence)
        is_derived = words.says_derived(sentence) or leads_on(self.previous, equation, chain.before)
        is_bare = words.is_bare(chain.before)
        finding = None
        if (is_derived or is_bare) and not is_assumed and not chain.goes_on:
            finding = self.against_previous(equation, sentence, is_derived=is_derived)
        contradicts = False
        is_clear = equation.relation == "=" and not has_decimals(equation) and not chain.doubts
        if is_clear and not is_assumed:
            standing = self.system.add(equation)
            contradicts = standing is Relation.DISJOINT
            source = "; ".join(known.text for known in self.known[-4:])
            is_result = is_constant(chain.members[-1]) and (is_derived or is_bare)
            if (
                finding is None
                and standing is Relation.SAME
                and is_result
                and self.is_no_repetition(equation)
            ):
                finding = (Outcome.RIGHT, "system", "", source)
            elif finding is None and contradicts and (is_derived or is_bare):
                reason = f"{equation.text} contradicts {source}"
                finding = (
                    (Outcome.WRONG, "system", reason, source)
                    if self.is_worked_out(equation, sentence)
                    else excused(reason, "nothing says that it comes from those alone", source)
                )
        if finding is not None:
            yield evidence_of(chain, finding, equation.text, doubt)
        if contradicts or is_assumed or self.is_branching:
            self.known.clear()
            self.system = LinearSystem()
            if is_clear:
                self.system.add(equation)
        self.previous = equation
        self.is_supposed = is_assumed
        self.is_other_step = False
        self.known = [*self.known[1 - MAX_EQUATIONS :], equation]

    def is_worked_out(self, equation: Equation, sentence: str) -> bool:
        """Whether an equation that contradicts those before claims to come from them alone."""
        if is_solved(equation) or self.is_branching or not words.says_combined(sentence):
            return False
        names = [known.name for known in self.known if known.name and not is_solved(known)]
        # Two formulas for one name are two curves, not a system.
        return len(names) == len(set(names))

    def is_no_repetition(self, equation: Equation) -> bool:
        return all(equation.text != known.text for known in self.known)

    def against_previous(self, equation: Equation, sentence: str, *, is_derived: bool) -> Finding | None:
        """Judge an equation by the one directly before it."""
        previous = self.previous
        if previous is None or previous.text == equation.text or self.n_left <= 0:
            return None
        self.n_left -= 1
        relation = relate(previous, equation)
        if relation is Relation.SAME:
            operations = operations_in(sentence)
            if operations and not are_done(operations, previous, equation):
                return excused("it follows", "not by the operation named", previous.text)
            return Outcome.RIGHT, "equation", "", previous.text
        is_wrong = relation is Relation.DISJOINT
        is_wrong |= relation is Relation.UNRELATED and words.says_rewritten(sentence)
        is_wrong |= relation is Relation.OPPOSITE and is_derived and not is_bound(previous)
        if not is_wrong:
            return None
        self.n_left -= len(self.known)
        is_root = is_solved(equation) and any(
            is_exact(old) and solves(equation, old) for old in self.seen[-4:]
        )
        if is_root or any(may_come_from(known, equation) for known in self.known):
            return None
        reason = f"{equation.text} and {previous.text} have no common solution"
        if relation is not Relation.DISJOINT:
            reason = f"{equation.text} does not follow from {previous.text}"
        excuse = self.excuse(previous, equation, sentence, is_derived=is_derived)
        return (
            excused(reason, excuse, previous.text)
            if excuse
            else (Outcome.WRONG, "equation", reason, previous.text)
        )

    def excuse(self, previous: Equation, equation: Equation, sentence: str, *, is_derived: bool) -> str:
        """Say why an equation need not follow from the one before; "" when it must."""
        if is_solved(previous):
            return "the one before is solved, this one may be another solution"
        if words.says_new(sentence):
            return "something else comes in"
        is_factored = opens_with_factoring(sentence) and holds_product_of_sums(equation.left)
        is_worked_out = words.says_combined(sentence) or (is_factored and not self.is_supposed)
        if (self.is_supposed or self.is_other_step) and not is_worked_out:
            return "nothing says how it is worked out"
        if previous.unit and equation.unit and previous.unit != equation.unit:
            return "the units differ"
        if (not is_derived or self.is_branching) and are_alternatives(previous, equation):
            return "the two look like alternatives"
        if self.is_rounding and may_be_rounded(previous, equation):
            return "it may be rounded to a whole number"
        return ""
