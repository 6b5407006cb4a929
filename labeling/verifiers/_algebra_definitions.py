"""The functions that a text defines, and the values that it gives them."""

import re

from labeling.verifiers import _algebra_words as words
from labeling.verifiers._algebra_chains import Chain, Member
from labeling.verifiers._algebra_claims import Finding
from labeling.verifiers._algebra_functions import Definition, applied, definition_in, values_differ
from labeling.verifiers._algebra_relations import Relation, compare
from labeling.verifiers._algebra_trees import symbols_of, walk
from labeling.verifiers._reading import UnreadableError
from labeling.verifiers.verdict import Outcome

_RESTRICTS = re.compile(
    r"[^.;\n]{0,80}(?:[<>≤≥∈≠]|\\(?:leq?|geq?|neq?|in|lt|gt)\b|\b(?:for|if|when|where|on)\b)"
)
_INTRODUCES = re.compile(r"\b(?:let|defin\w*|denote|consider)\b", re.IGNORECASE)


def _is_supposed(before: str) -> bool:
    """Whether words suppose or try a function, or make it one of several; "let" and "define" bring it in."""
    sentence = _INTRODUCES.sub("", words.sentence_of(before))
    return words.says_assumed(sentence) or words.says_branching(sentence)


class Definitions:
    """Functions by name, as far as a text defines them clearly."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.known: dict[str, Definition] = {}
        self.unclear: set[str] = set()
        """Names that a solution defines in two ways."""

    def learn(self, chain: Chain) -> None:
        """Remember f(x) = a formula; a second, different one makes it unknown."""
        if len(chain.members) < 2 or chain.relations[0] != "=" or chain.doubts:
            return
        left, right = chain.members[:2]
        if left.node is None or left.node.kind != "function":
            return
        found = None if right.node is None else definition_in(left.node, right.node)
        name = left.node.name
        if found is None:
            if left.node.children[0].kind == "symbol":
                self.known.pop(name, None)
        elif name not in self.known or self.known[name] == found[1]:
            self.known[name] = found[1]
        elif compare(self.known[name].body, found[1].body) is not Relation.SAME:
            del self.known[name]

    def learn_from_solution(self, chain: Chain, behind: str) -> None:
        """Remember f(x) = a formula of a solution, for a function that the problem does not speak of.

        Args:
            chain: What may define a function.
            behind: The text behind the chain, which may restrict the argument.
        """
        left = chain.members[0]
        if left.node is None or left.node.kind != "function" or left.node.children[0].kind != "symbol":
            return
        name = left.node.name
        if name in self.unclear or re.search(rf"(?<![A-Za-z]){re.escape(name)}(?![A-Za-z])", self.problem):
            return
        known = self.known.get(name)
        self.learn(chain)
        is_clear = not chain.doubts and not _RESTRICTS.match(behind) and not _is_supposed(chain.before)
        if not is_clear or (known is not None and name not in self.known):
            self.known.pop(name, None)
            self.unclear.add(name)

    def value(self, left: Member, right: Member) -> Finding | None:
        """Judge a value of a function that the text defines: f(3) = 3^2 + 1 = 10."""
        if left.node is None or right.node is None:
            return None
        if not any(n.kind == "function" and n.name in self.known for n in walk(left.node)):
            return None
        try:
            first, second = (applied(node, self.known) for node in (left.node, right.node))
        except UnreadableError:
            return None
        if symbols_of(first) or symbols_of(second):
            is_same = symbols_of(first) == symbols_of(second) and compare(first, second) is Relation.SAME
            is_new = definition_in(left.node, right.node) is None
            return (Outcome.RIGHT, "function", "", left.text) if is_same and is_new else None
        if compare(first, second) is Relation.SAME:
            return Outcome.RIGHT, "function", "", left.text
        if values_differ(first, second):
            reason = f"{left.text} is not {right.text} by the definition of the function"
            return Outcome.WRONG, "function", reason, left.text
        return None
