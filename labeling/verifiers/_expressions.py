r"""Tokens -> expression trees: the reading of one member of an equation.

Grammar, in the usual precedence (a unary minus binds weaker than a power, as in mathematics):

    sum     := product (("+" | "-") product)*
    product := signed (("*" | "/" | "of" | nothing) signed)*      "nothing" as in 2(3), (1)(2), 2\sqrt{3}
    signed  := ("-" | "+")* power
    power   := operand ("^" signed)?
    operand := ["$"] number [scale] | "(" sum ")" | \frac{sum}{sum} | \sqrt{sum} | pi, then ["%"] [unit words]

A `Reading` chooses between the ways in which people mean the same signs.
"""

from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._tokens import Token
from labeling.verifiers._trees import ONE, TEXTBOOK, Node, Parse, Reading, UnreadableError
from labeling.verifiers._units import DOLLAR, Unit, multiply_dims, unit_of

MAX_TOKENS = 160
MAX_DEPTH = 30
MAX_LABEL_WORDS = 4


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


def is_alphabetic(word: str) -> bool:
    """Whether a word is in an alphabet, whose letters serve as unknowns; Chinese or Japanese ones do not."""
    return word[:1] < "\u2e80"


_SCALE_VALUES = {
    "hundred": 100,
    "thousand": 1000,
    "million": 10**6,
    "billion": 10**9,
    "trillion": 10**12,
    "dozen": 12,
}
_NO_LABEL = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "because", "but", "by", "each", "equal", "for",
    "from", "gives", "had", "has", "have", "he", "her", "his", "i", "if", "in", "into", "is", "it",
    "its", "left", "less", "more", "my", "not", "of", "on", "or", "our", "over", "per", "remaining",
    "she", "since", "so", "than", "that", "the", "their", "then", "there", "therefore", "they",
    "this", "thus", "to", "was", "we", "were", "when", "where", "which", "while", "who", "will",
    "with", "would", "you", "your",
})  # fmt: skip
_INSIDE_LABEL = frozenset(
    {"a", "an", "at", "each", "for", "in", "left", "less", "more", "of", "on", "per", "the"}
)
_STOPS_AFTER_LABEL = frozenset({"OP", "REL", ")", "}", "BREAK"})
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_END = Token("END", "", 0, 0, False)


def _is_proper(fraction: Node) -> bool:
    """Whether a fraction can be the tail of a mixed number: whole numbers, less than one."""
    over, under = fraction.left, fraction.right
    if over is None or under is None or over.kind != "number" or under.kind != "number":
        return False
    return 0 < over.value < under.value and over.value.denominator == under.value.denominator == 1


class _Parser:
    def __init__(self, tokens: Sequence[Token], reading: Reading) -> None:
        self.tokens = tokens
        self.reading = reading
        self.at = 0
        self.depth = 0
        self.labels: set[str] = set()
        self.units: set[Unit] = set()
        self.traits: set[str] = set()

    def peek(self, ahead: int = 0) -> Token:
        index = self.at + ahead
        return self.tokens[index] if index < len(self.tokens) else _END

    def take(self, kind: str) -> Token:
        token = self.peek()
        if token.kind != kind:
            raise UnreadableError(f"expected {kind}, found {token.text or 'the end'!r}")
        self.at += 1
        return token

    def sum(self) -> Node:
        node = self.product()
        while self.peek().kind == "OP" and self.peek().text in "+-":
            operator = self.take("OP").text
            node = Node(operator, node, self.product())
        return node

    def product(self) -> Node:
        node = self.signed()
        while True:
            token = self.peek()
            if token.kind == "OP" and token.text in "*/":
                self.at += 1
                if token.text == "/":
                    self.traits.add("slash")
                node = Node(token.text, node, self.signed())
            elif self.is_of(node):
                self.at += 2 if self.peek(1).text == "the" else 1
                node = Node("*", node, self.signed())
            elif self.is_implicit():
                self.traits.add("implicit")
                node = Node("*", node, self.power())
            else:
                return node

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
        return token.kind in ("SQRT", "PI", "BINOM") or (token.kind == "FRAC" and last.kind != "NUM")

    def signed(self) -> Node:
        n_minus = 0
        n_signs = 0
        while self.peek().kind == "OP" and self.peek().text in "+-":
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
            exponent = int(self.take("SUP").text.translate(_SUPERSCRIPTS)[:6])
            node = Node("^", node, Node("number", value=Fraction(exponent)))
        elif self.peek().kind == "OP" and self.peek().text == "^":
            self.at += 1
            node = Node("^", node, self.signed())
            self.refuse_symbol()
        node = self.with_label(node)
        if self.reading.has_tight_products and self.is_implicit():
            node = Node("*", node, self.power())
        self.depth -= 1
        return node

    def operand(self) -> Node:
        is_money = self.peek().kind == "CUR"
        if is_money:
            self.labels.add(self.take("CUR").text.lstrip("\\"))
        kind = self.peek().kind
        if kind == "NUM":
            node = self.number()
        elif kind in ("(", "{"):
            node = self.bracket(kind)
        elif kind == "FRAC":
            node = self.fraction()
        elif kind == "BINOM":
            self.at += 1
            node = Node("binomial", self.bracket(self.peek().kind), self.bracket(self.peek().kind))
        elif kind == "SQRT":
            self.at += 1
            node = Node("sqrt", self.bracket(self.peek().kind))
        elif kind == "PI":
            self.at += 1
            node = Node("pi")
        else:
            raise UnreadableError(
                "free symbol" if kind == "WORD" else f"found {self.peek().text or 'the end'!r}"
            )
        if is_money and "$" in self.labels:
            self.units.add(DOLLAR)
            node = Node("unit", node, unit=DOLLAR)
        return node

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
        over = self.bracket(self.peek().kind)
        return Node("/", over, self.bracket(self.peek().kind))

    def number(self) -> Node:
        token = self.take("NUM")
        whole, _, tail = token.text.partition(".")
        decimals = len(tail)
        if decimals:
            value, last_digit = Fraction(int(whole + tail), 10**decimals), Fraction(1, 10**decimals)
        else:
            value, last_digit = Fraction(int(whole)), ONE
        is_cut = self.peek().kind == "DOTS" and self.peek().is_tight
        if is_cut:
            if decimals < 2:
                raise UnreadableError("dots that may leave terms out")
            self.at += 1
        if self.peek().kind == "SCALE":
            self.traits.add("scale")
            name = self.take("SCALE").text
            scale = 1 if self.reading.has_scale_as_unit else _SCALE_VALUES[name]
            value, last_digit = value * scale, last_digit * scale
        node = Node("number", value=value, last_digit=last_digit, is_cut=is_cut)
        if decimals == 0 and not is_cut:
            node = self.mixed_or_tight(node)
        return node

    def mixed_or_tight(self, whole: Node) -> Node:
        r"""Read 3 1/2 and 3 \frac{1}{2}; under a tight reading also 1/3 as one number."""
        fraction: Node | None = None
        if self.peek().kind == "FRAC":
            fraction = self.fraction()
        elif self.is_ratio(self.at) and not self.peek().is_tight:
            fraction = self.ratio()
        elif self.reading.has_tight_fractions and self.is_ratio(self.at - 1):
            self.at -= 1
            return self.ratio()
        if fraction is None:
            return whole
        self.traits.add("mixed")
        is_product = self.reading.has_mixed_as_product or not _is_proper(fraction)
        return Node("*" if is_product else "+", whole, fraction)

    def is_ratio(self, at: int) -> bool:
        """Whether 1/3 without spaces stands here; of 120/1/3 only the last two are meant together."""
        return self.is_slash_number(at) and not self.is_slash_number(at + 2)

    def is_slash_number(self, at: int) -> bool:
        three = self.tokens[at : at + 3]
        return (
            len(three) == 3
            and (three[0].kind, three[1].text, three[2].kind) == ("NUM", "/", "NUM")
            and three[1].is_tight
            and three[2].is_tight
        )

    def ratio(self) -> Node:
        over, under = self.tokens[self.at], self.tokens[self.at + 2]
        self.at += 3
        return Node(
            "/", Node("number", value=Fraction(over.text)), Node("number", value=Fraction(under.text))
        )

    def refuse_symbol(self) -> None:
        """Refuse 2x, 3ab and x after a power: a letter glued to a number is an unknown."""
        token = self.peek()
        is_glued = token.kind == "WORD" and token.is_tight and is_alphabetic(token.text)
        if is_glued and (len(token.text) == 1 or unit_of(token.text) is None):
            raise UnreadableError("free symbol")

    def with_label(self, node: Node) -> Node:
        """Read what may follow an operand: a percent sign, a unit, a count noun, words in brackets."""
        if self.peek().kind == "PCT":
            self.at += 1
            self.traits.add("percent")
            return node if self.reading.has_percent_as_unit else Node("percent", node)
        self.refuse_symbol()
        token = self.peek()
        is_rate = token.text == "/" and self.is_word(1)
        if token.kind not in ("WORD", "LABEL", "(") and not is_rate:
            return node
        is_letter = token.kind == "WORD" and len(token.text) == 1 and is_alphabetic(token.text)
        if is_letter and self.is_unknown(token):
            raise UnreadableError("free symbol")
        unit = self.unit_ahead()
        n_words = self.label_length()
        if token.kind in ("WORD", "LABEL") and token.text not in _NO_LABEL:
            self.labels.add(token.text.removesuffix("s"))
        self.at += n_words
        if unit is None:
            return node
        self.units.add(unit)
        if len(token.text) == 1 and token.text != "¢":
            self.traits.add("symbol")
        return self.compound(Node("unit", node, unit=unit), unit)

    def is_unknown(self, token: Token) -> bool:
        following = self.peek(1)
        if token.text in "aAI" and following.kind == "WORD":
            return False
        return unit_of(token.text) is None

    def unit_ahead(self) -> Unit | None:
        """Return the unit written here: km, km/h, miles per hour, m^2 is left to `label_length`."""
        unit = unit_of(self.peek().text.split(" ")[0])
        if unit is None or self.exponent_length(1):
            return None
        divisor = None
        if self.peek(1).text in ("/", "per", "a", "an"):
            divisor = unit_of(self.peek(2).text) if self.peek(2).kind in ("WORD", "LABEL") else None
        if divisor is None:
            return unit
        return Unit(
            f"{unit.name}/{divisor.name}",
            unit.factor / divisor.factor,
            multiply_dims(unit.dims, divisor.dims, -1),
        )

    def label_length(self) -> int:
        """Return how many tokens of words stand here before the formula goes on; 0 when it does not."""
        ahead = 0
        if self.peek().kind == "(":
            ahead = 1
            while self.peek(ahead).kind in ("WORD", "LABEL") and ahead <= 2 * MAX_LABEL_WORDS:
                ahead += 1
            return ahead + 1 if ahead > 1 and self.peek(ahead).kind == ")" else 0
        while ahead < 2 * MAX_LABEL_WORDS:
            token = self.peek(ahead)
            is_divisor = token.text == "/" and self.is_word(ahead + 1)
            is_word = token.kind == "WORD" and (token.text not in _NO_LABEL or token.text in _INSIDE_LABEL)
            is_word &= ahead > 0 or token.text not in _NO_LABEL
            if ahead > 0 and is_word and len(token.text) == 1 and token.text not in "aA¢":
                return 0
            if not (is_word or is_divisor or token.kind == "LABEL"):
                break
            ahead += 1 if is_divisor else 1 + self.exponent_length(ahead + 1)
        return self.end_of_label(ahead)

    def is_word(self, ahead: int) -> bool:
        """Whether a word of at least two letters (or a unit) stands here, not an unknown."""
        token = self.peek(ahead)
        is_long = len(token.text) > 1 or not is_alphabetic(token.text) or unit_of(token.text) is not None
        return token.kind == "LABEL" or (token.kind == "WORD" and is_long)

    def exponent_length(self, ahead: int) -> int:
        """Return how many tokens the exponent of a unit takes: m², m^2, m^{2}."""
        if self.peek(ahead).kind == "SUP":
            return 1
        if self.peek(ahead).text != "^":
            return 0
        if self.peek(ahead + 1).kind == "NUM":
            return 2
        kinds = [self.peek(ahead + i).kind for i in (1, 2, 3)]
        return 4 if kinds == ["{", "NUM", "}"] else 0

    def end_of_label(self, ahead: int) -> int:
        token = self.peek(ahead)
        if token.kind == "(" and ahead:
            inner = ahead + 1
            while self.peek(inner).kind in ("WORD", "LABEL") and inner < ahead + 2 * MAX_LABEL_WORDS:
                inner += 1
            if self.peek(inner).kind == ")" and inner > ahead + 1:
                ahead, token = inner + 1, self.peek(inner + 1)
        if token.kind in _STOPS_AFTER_LABEL or token.kind == "END":
            return ahead
        # "3 h 20 min": the unit alone is the label, the next quantity follows at once.
        return 1 if ahead == 1 and token.kind == "NUM" and unit_of(self.peek().text) else 0

    def compound(self, node: Node, unit: Unit) -> Node:
        """Read 3 h 20 min as a sum of two quantities of one dimension, the larger unit first."""
        smaller = unit_of(self.peek(1).text) if self.peek().kind == "NUM" else None
        if smaller is None or smaller.dims != unit.dims or smaller.factor >= unit.factor:
            return node
        self.traits.add("compound")
        return Node("+", node, self.power())
