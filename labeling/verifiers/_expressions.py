r"""Tokens -> expression trees: the reading of one member of an equation.

Grammar, in the usual precedence (a unary minus binds weaker than a power, as in mathematics):

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/" | "mod" | "of" | nothing) signed)*   "nothing" as in 2(3), (1)(2), 2\sqrt{3}
    signed  := ("-" | "+")* power
    power   := operand ("^" signed)?
    operand := ["$"] number [scale] | "(" sum ")" | \frac{sum}{sum} | \sqrt{sum} | \sqrt[n]{sum} | "|" sum "|"
               | \lfloor sum \rfloor | function ["^" number] (operand | "(" sum ")") | C(8, 2) | pi | e,
               then ["%"] [unit words]

A `Reading` chooses between the ways in which people mean the same signs.
"""

from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._number_forms import NumberReader, plain
from labeling.verifiers._reading import SUPERSCRIPTS, UnreadableError
from labeling.verifiers._tokens import Token
from labeling.verifiers._trees import TEXTBOOK, Node, Parse, Reading, walk
from labeling.verifiers._units import DOLLAR

MAX_TOKENS = 160
MAX_DEPTH = 30


def parse(tokens: Sequence[Token], reading: Reading = TEXTBOOK) -> Parse:
    """Read the longest expression at the start of the tokens.

    Raises:
        UnreadableError: No expression starts there, it breaks off, holds a free symbol, is too long or deep.
    """
    if len(tokens) > MAX_TOKENS:
        tokens = tokens[:MAX_TOKENS]
    parser = _Parser(tokens, reading)
    node = parser.sum()
    if parser.at >= MAX_TOKENS:
        raise UnreadableError("expression too long")
    return Parse(node, parser.at, parser.labels, parser.units, parser.traits)


_FACTORS = frozenset({"SQRT", "ROOT", "PI", "BINOM", "FUNC"})
"""What multiplies the number that it stands behind: 2\\sqrt{3}."""


class _Parser(NumberReader):
    def sum(self) -> Node:
        node = self.product()
        while self.is_operator("+-"):
            operator = self.take("OP").text
            node = Node(operator, node, self.product())
        while self.reading.has_loose_mod and self.peek().text == "mod" and self.peek().kind == "OP":
            self.at += 1
            node = Node("mod", node, self.product())
        return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            token = self.peek()
            if token.kind == "OP" and token.text in "*/":
                self.at += 1
                if token.text == "/":
                    self.traits.add("slash")
                if token.is_point:
                    self.traits.add("point")
                node = Node(token.text, node, self.divisor(token) if token.text == "/" else self.signed())
            elif token.kind == "OP" and token.text == "mod" and not self.reading.has_loose_mod:
                self.at += 1
                self.traits.add("mod")
                node = Node("mod", node, self.signed())
            elif self.is_of(node):
                self.at += 2 if self.peek(1).text == "the" else 1
                self.traits.add("of")
                node = Node("*", node, self.sum() if self.reading.has_wide_of else self.signed())
            elif self.is_implicit():
                self.traits.add("implicit")
                node = Node("*", node, self.power())
            else:
                return node

    def divisor(self, sign: Token) -> Node:
        """Read what a slash divides by; a power of ten behind it may belong to it: 3 x 10^8 / 6 x 10^14.

        A fraction written tightly behind a spaced sign of division is one number: 3/4 ÷ 1/2.
        """
        node = self.signed()
        if sign.is_obelus and self.tokens[self.at - 1].kind == "NUM" and self.is_tight_over():
            self.traits.add("obelus")
            if not self.reading.has_narrow_obelus:
                self.at += 1
                node = Node("/", node, self.signed())
        while self.is_operator("*") and self.peek(1).text == "10" and self.has_exponent(2):
            self.traits.add("scientific")
            if not self.reading.has_tight_powers_of_ten:
                break
            self.at += 1
            node = Node("*", node, self.power())
        return node

    def is_tight_over(self) -> bool:
        """Whether /2 stands here without a blank."""
        over, under = self.peek(), self.peek(1)
        return (
            over.text == "/"
            and not over.is_obelus
            and over.is_tight
            and under.kind == "NUM"
            and under.is_tight
        )

    def has_exponent(self, ahead: int) -> bool:
        return self.peek(ahead).kind == "SUP" or self.is_operator("^", ahead)

    def is_of(self, node: Node) -> bool:
        """20% of 50 and 2/3 of 60; other uses of "of" are prose."""
        if self.peek().text != "of" or node.kind not in ("percent", "/"):
            return False
        following = self.peek(2) if self.peek(1).text == "the" else self.peek(1)
        return following.kind in ("NUM", "CUR", "(", "FRAC")

    def is_implicit(self) -> bool:
        """A bracket glued to a number or a bracket, or a root, fraction or pi behind them."""
        if self.at == 0:
            return False
        token, last = self.peek(), self.tokens[self.at - 1]
        if last.kind not in ("NUM", ")", "}", "PI", "SUP", "BANG"):
            return False
        if token.kind == "(":
            return token.is_tight
        if last.kind == "BANG":
            return token.kind == "NUM" and token.is_tight
        return token.kind in _FACTORS or (token.kind == "FRAC" and last.kind != "NUM")

    def signed(self) -> Node:
        n_minus = 0
        n_signs = 0
        while self.is_operator("+-"):
            n_minus += self.take("OP").text == "-"
            n_signs += 1
            if n_signs > 3:
                raise UnreadableError("too many signs")
        if n_minus and self.reading.has_negative_bases and self.peek().kind == "NUM":
            return self.power(is_negative=n_minus % 2 == 1)
        node = self.power()
        if n_minus % 2 and node.kind == "^":
            self.traits.add("negative_power")
        return Node("negative", node) if n_minus % 2 else node

    def power(self, *, is_negative: bool = False) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError("expression too deep")
        node = self.operand()
        if self.peek().kind == "BANG":
            node = self.factorial(node)
        if is_negative:
            node = Node("negative", node)
        if self.peek().kind == "SUP":
            exponent = int(self.take("SUP").text.translate(SUPERSCRIPTS)[:6])
            node = Node("^", node, Node("number", value=Fraction(exponent)))
        elif self.is_operator("^"):
            self.at += 1
            node = Node("^", node, self.exponent())
            self.refuse_symbol()
        node = self.with_label(node)
        if self.reading.has_tight_products and self.is_implicit():
            node = Node("*", node, self.power())
        self.depth -= 1
        return node

    def exponent(self) -> Node:
        r"""Read what is raised; a word in it is an unknown: \pi ik in e^{2\pi ik}."""
        if self.peek().kind != "{":
            return self.signed()
        was_in_exponent, self.in_exponent = self.in_exponent, True
        node = self.bracket("{")
        self.in_exponent = was_in_exponent
        return node

    def operand(self) -> Node:
        is_money = self.peek().kind == "CUR"
        if is_money:
            self.labels.add(self.take("CUR").text.lstrip("\\"))
        kind = self.peek().kind
        read = _OPERANDS.get(kind)
        if read is None:
            raise UnreadableError(
                "free symbol" if kind == "WORD" else f"found {self.peek().text or 'the end'!r}"
            )
        node = read(self)
        if is_money and "$" in self.labels:
            self.units.add(DOLLAR)
            node = Node("unit", node, unit=DOLLAR)
        return node

    def constant(self) -> Node:
        name = self.peek().kind.lower()
        self.at += 1
        self.traits.add(name)
        if name == "pi" and self.reading.pi_as is not None:
            return Node("number", value=self.reading.pi_as)
        return Node(name)

    def factorial(self, node: Node) -> Node:
        """Read 5!; behind the last number of a sentence the sign may be mere excitement."""
        self.at += 1
        if self.at == len(self.tokens):
            self.traits.add("bang")
            if self.reading.has_plain_bangs:
                return node
        return Node("factorial", node)

    def bracket(self, kind: str) -> Node:
        if kind not in ("(", "{"):
            raise UnreadableError("expected a bracket")
        self.at += 1
        node = self.sum()
        self.take(")" if kind == "(" else "}")
        return node

    def fraction(self) -> Node:
        self.take("FRAC")
        over = self.argument()
        return Node("/", over, self.argument())

    def binomial(self) -> Node:
        self.take("BINOM")
        over = self.argument()
        return Node("binomial", over, self.argument())

    def argument(self) -> Node:
        r"""Read a bracket or, as in \frac12 and \dfrac4{7}, one digit."""
        if self.peek().kind == "NUM" and len(self.peek().text) == 1:
            return Node("number", value=Fraction(self.take("NUM").text))
        return self.bracket(self.peek().kind)

    def root(self) -> Node:
        token = self.peek()
        self.at += 1
        kind, degree = ("root", Fraction(token.text)) if token.kind == "ROOT" else ("sqrt", Fraction(0))
        if self.peek().kind != "NUM":
            return Node(kind, self.bracket(self.peek().kind), value=degree)
        if token.kind == "SQRT" and token.text == "\\sqrt" and len(self.peek().text) > 1:
            raise UnreadableError("a root of a number without braces")
        self.traits.add("root")
        if self.reading.has_long_roots:
            return Node(kind, self.product(), value=degree)
        return Node(kind, plain(self.take("NUM").text), value=degree)

    def fenced(self) -> Node:
        """Read |3 - 5| and the brackets that round down or up."""
        opening = self.peek()
        self.at += 1
        inner = self.sum()
        closing = self.take("BAR" if opening.kind == "BAR" else "CLOSES")
        if closing.text != opening.text:
            raise UnreadableError("brackets that do not match")
        return Node("abs" if opening.kind == "BAR" else opening.text, inner)

    def function(self) -> Node:
        name, _, base = self.take("FUNC").text.partition(" ")
        power = None
        if self.is_operator("^") and name != "exp":
            self.at += 1
            if self.peek().kind not in ("NUM", "{"):
                raise UnreadableError("a power of a function")
            power = self.argument()
            if power.kind != "number":
                raise UnreadableError("an inverse function")
        n_degrees = self.n_degrees
        is_bare = self.peek().kind not in ("(", "{", "BAR")
        argument = self.bare_argument() if is_bare else self.operand()
        node = self.applied(name, base, argument, has_degrees=self.n_degrees > n_degrees)
        return node if power is None else Node("^", node, power)

    def bare_argument(self) -> Node:
        r"""Read what a function without brackets takes: \ln 2, \cos 80°, \sin 4\pi, \sin \pi/6.

        Raises:
            UnreadableError: Where the argument ends is a matter of taste: \ln 2/3, \log 2(5), \ln 2^3.
        """
        argument = self.operand()
        if self.peek().kind == "PI":
            argument = Node("*", argument, self.operand())
        has_pi = any(node.kind == "pi" for node in walk(argument))
        if has_pi and self.peek().text == "/" and self.peek(1).kind == "NUM":
            self.at += 1
            argument = Node("/", argument, self.operand())
        following = self.peek()
        if following.text == "°" and following.kind == "LABEL":
            self.at += 1
            self.n_degrees += 1
            return argument
        goes_on = following.text == "^" or following.kind in ("SUP", "BANG", "PI", "SQRT", "FRAC")
        if goes_on or (following.is_tight and (following.kind == "(" or following.text == "/")):
            raise UnreadableError("a function whose argument is not in brackets")
        return argument

    def applied(self, name: str, base: str, argument: Node, *, has_degrees: bool) -> Node:
        if name == "exp":
            return Node("^", Node("euler"), argument)
        if name == "ln":
            return Node("log", argument)
        if name == "log":
            if not base:
                self.traits.add("log")
                base = "0" if self.reading.has_natural_logs else "10"
            return Node("log", argument, value=Fraction(base))
        if not has_degrees and all(node.kind != "pi" for node in walk(argument)):
            self.traits.add("angle")
        if has_degrees != self.reading.has_other_angles:
            argument = Node("/", Node("*", argument, Node("pi")), Node("number", value=Fraction(180)))
        return Node(name, argument)

    def call(self) -> Node:
        """Read C(8, 2) and gcd(12, 18, 30)."""
        name, *numbers = self.take("CALL").text.split()
        first, *others = [Node("number", value=Fraction(number)) for number in numbers]
        if name == "C":
            if len(others) != 1:
                raise UnreadableError("a binomial of other than two numbers")
            return Node("binomial", first, others[0])
        for other in others:
            first = Node(name, first, other)
        return first


_OPERANDS = {
    "NUM": _Parser.number,
    "(": lambda parser: parser.bracket("("),
    "{": lambda parser: parser.bracket("{"),
    "FRAC": _Parser.fraction,
    "BINOM": _Parser.binomial,
    "SQRT": _Parser.root,
    "ROOT": _Parser.root,
    "PI": _Parser.constant,
    "EULER": _Parser.constant,
    "BAR": _Parser.fenced,
    "OPENS": _Parser.fenced,
    "FUNC": _Parser.function,
    "CALL": _Parser.call,
}
"""Kind of the token that an operand starts with -> how it is read."""
