r"""Tokens -> expression trees of algebra; linear in the number of tokens, bounded in size and depth.

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/" | nothing) signed)*        "nothing" as in 2x, 3(x + 1), x y, 2\sqrt{3}
    signed  := ("-" | "+")* power
    power   := operand ("^" exponent)?
    operand := number | symbol | "(" sum ")" | \frac{sum}{sum} | \sqrt[n]{sum} | function operand

A letter in front of a bracket is a factor, unless the caller knows it as a function.
"""

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from typing import NamedTuple

from labeling.verifiers._algebra_tokens import Token
from labeling.verifiers._reading import TokenCursor, UnreadableError

MAX_TOKENS = 240
MAX_DEPTH = 24
PI = "\\pi"
PARAMETERS = frozenset({PI})
"""Symbols that are constants, not unknowns."""

_STARTS_OPERAND = frozenset({"NUM", "SYM", "FUN", "(", "{", "FRAC", "SQRT"})


class Node(NamedTuple):
    """A tree node; which fields count depends on `kind`."""

    kind: str
    """number, symbol, negative, root, function, or an operator + - * / ^."""
    children: tuple["Node", ...] = ()
    value: Fraction = Fraction(0)
    """Of a number; of a root, its degree."""
    name: str = ""
    """Of a symbol or function."""
    n_decimals: int = 0
    """Of a number: digits shown behind the point."""


class Reading(NamedTuple):
    """An expression as read."""

    node: Node
    is_ambiguous: bool
    """Written so that people read it in two ways: 1/2x, sin 2x y."""
    labels: frozenset[str]
    """Unit words that stood behind its operands."""


def read(tokens: Sequence[Token], functions: Collection[str] = ()) -> Reading:
    """Read an expression that takes up all the tokens.

    Args:
        tokens: Tokens of kinds that can stand in an expression.
        functions: Letters that are functions when a bracket follows at once.

    Raises:
        UnreadableError: It is no expression, or it is too long or too deep.
    """
    if len(tokens) > MAX_TOKENS:
        raise UnreadableError("expression too long")
    parser = _Parser(tokens, functions)
    node = parser.sum()
    if parser.at < len(tokens):
        raise UnreadableError(f"cannot read on at {tokens[parser.at].text!r}")
    return Reading(node, parser.is_ambiguous, frozenset(parser.labels))


def symbols_of(node: Node) -> frozenset[str]:
    """Return the unknowns in a tree; pi is none."""
    return frozenset(n.name for n in walk(node) if n.kind == "symbol") - PARAMETERS


def walk(node: Node) -> Iterator[Node]:
    """Yield a node and everything below it."""
    nodes = [node]
    while nodes:
        node = nodes.pop()
        yield node
        nodes += node.children


def is_number(node: Node) -> bool:
    """Whether a tree is a plain number, a sign allowed."""
    return node.kind == "number" or (node.kind == "negative" and is_number(node.children[0]))


class _Parser(TokenCursor[Token]):
    def __init__(self, tokens: Sequence[Token], functions: Collection[str]) -> None:
        super().__init__(tokens, _END)
        self.functions = functions
        self.depth = 0
        self.is_ambiguous = False
        self.labels: set[str] = set()

    def sum(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError("expression too deep")
        node = self.product()
        while self.is_operator("+-"):
            sign = self.take("OP").text
            node = Node(sign, (node, self.product()))
        self.depth -= 1
        return node

    def product(self) -> Node:
        node = self.signed()
        after_slash = False
        while True:
            if self.is_operator("*/"):
                operator = self.take("OP").text
                after_slash = operator == "/"
                node = Node(operator, (node, self.signed()))
            elif self.peek().kind in _STARTS_OPERAND:
                if self.peek().kind == "NUM":
                    raise UnreadableError("a number behind an operand")
                self.is_ambiguous |= after_slash or self.is_mixed_number()
                node = Node("*", (node, self.power()))
            else:
                return node

    def is_mixed_number(self) -> bool:
        """Whether a fraction of numbers stands at once behind a whole number: 3 1/2."""
        before = self.tokens[self.at - 1]
        return self.peek().kind == "FRAC" and before.kind == "NUM"

    def signed(self) -> Node:
        is_negative = False
        while self.is_operator("+-"):
            is_negative ^= self.take("OP").text == "-"
        node = self.power()
        return Node("negative", (node,)) if is_negative else node

    def power(self) -> Node:
        node = self.operand()
        if self.peek().kind == "SUP":
            node = Node("^", (node, Node("number", value=Fraction(int(self.take("SUP").text[:6])))))
        elif self.is_operator("^"):
            self.take("OP")
            self.depth += 1
            if self.depth > MAX_DEPTH:
                raise UnreadableError("expression too deep")
            node = Node("^", (node, self.exponent()))
            self.depth -= 1
        while self.peek().kind == "LABEL":
            self.labels.add(self.take("LABEL").text.lower())
        return node

    def exponent(self) -> Node:
        """Read what a power sign covers; without braces only one sign and one operand."""
        if self.is_operator("-"):
            self.take("OP")
            return Node("negative", (self.power(),))
        return self.power()

    def operand(self) -> Node:
        token = self.peek()
        if token.kind == "NUM":
            self.at += 1
            decimals = len(token.text.partition(".")[2])
            return Node("number", value=Fraction(token.text), n_decimals=decimals)
        if token.kind == "SYM":
            self.at += 1
            if token.text in self.functions:
                if self.peek().kind != "(":
                    raise UnreadableError("a function without its argument")
                return Node("function", (self.bracket(),), name=token.text)
            return Node("symbol", name=token.text)
        if token.kind in ("(", "{"):
            return self.bracket()
        if token.kind == "FRAC":
            self.at += 1
            return Node("/", (self.argument(), self.argument()))
        if token.kind == "SQRT":
            self.at += 1
            degree = 2
            if self.peek().text == "[":
                index = self.bracket()
                degree = int(index.value) if index.kind == "number" and 2 <= index.value <= 20 else 0
            if not degree:
                raise UnreadableError("a root of unclear degree")
            return Node("root", (self.argument(),), value=Fraction(degree))
        if token.kind == "FUN":
            return self.function()
        raise UnreadableError(f"found {token.text or 'the end'!r}")

    def bracket(self) -> Node:
        opening = self.peek().kind
        if opening not in ("(", "{"):
            raise UnreadableError("expected a bracket")
        self.at += 1
        node = self.sum()
        self.take(")" if opening == "(" else "}")
        return node

    def argument(self) -> Node:
        r"""Read what stands behind \frac or \sqrt: a bracket or, as in \frac12, one digit or letter."""
        if self.peek().kind in ("(", "{"):
            return self.bracket()
        token = self.peek()
        if token.kind == "NUM" and token.text.isdecimal():
            if len(token.text) == 2 and self.at and self.tokens[self.at - 1].kind == "FRAC":
                # \frac12: two digits, two arguments.
                self.tokens = [*self.tokens[: self.at], *_digits(token), *self.tokens[self.at + 1 :]]
            elif len(token.text) > 1:
                raise UnreadableError("an argument without braces")
            self.at += 1
            return Node("number", value=Fraction(self.tokens[self.at - 1].text))
        if token.kind == "SYM":
            self.at += 1
            return Node("symbol", name=token.text)
        raise UnreadableError("an argument without braces")

    def function(self) -> Node:
        """Read sin(x), sin x, sin 2x, sin^2 x; an argument without brackets is a product of plain factors."""
        name = self.take("FUN").text
        power: Node | None = None
        if self.is_operator("^"):
            self.take("OP")
            power = self.exponent()
        if self.peek().kind in ("(", "{"):
            inner = self.bracket()
            self.is_ambiguous |= self.peek().kind in ("(", "{") or self.is_operator("^")
        else:
            inner = self.power()
            while self.peek().kind == "SYM" and inner.kind in ("number", "*"):
                inner = Node("*", (inner, self.power()))
            self.is_ambiguous |= self.peek().kind in _STARTS_OPERAND
        node = Node("function", (inner,), name=name)
        if power is not None:
            self.is_ambiguous |= power.kind == "negative"
            node = Node("^", (node, power))
        return node


def _digits(token: Token) -> list[Token]:
    return [token._replace(text=digit, is_tight=True) for digit in token.text]


_END = Token("END", "", 0, 0, False)
