"""What may follow an operand: a percent sign, a unit, a count noun, words in brackets."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._reading import SUPERSCRIPTS, TokenCursor, UnreadableError
from labeling.verifiers._tokens import Token
from labeling.verifiers._trees import Node, Reading
from labeling.verifiers._units import Unit, multiply_dims, unit_of

MAX_LABEL_WORDS = 4


def is_alphabetic(word: str) -> bool:
    """Whether a word is in an alphabet, whose letters serve as unknowns; Chinese or Japanese ones do not."""
    return word[:1] < "\u2e80"


_NO_LABEL = frozenset({
    "a", "an", "and", "are", "as", "at", "be", "because", "but", "by", "each", "equal", "for",
    "from", "gives", "had", "has", "have", "he", "her", "his", "i", "if", "in", "into", "is", "it",
    "its", "left", "less", "more", "my", "not", "of", "on", "or", "our", "over", "per", "remaining",
    "she", "since", "so", "than", "that", "the", "their", "then", "there", "therefore", "they",
    "this", "thus", "to", "was", "we", "were", "when", "where", "which", "while", "who", "will",
    "with", "would", "you", "your",
})  # fmt: skip
RATE_WORDS = frozenset({"per", "a", "an", "each", "every"})
_RATES = RATE_WORDS | {"for", "/"}
_PLURALS = frozenset({
    "people", "men", "women", "children", "mice", "feet", "fish", "sheep", "deer", "teeth", "geese", "dozen",
    "percent", "cents", "more", "less", "total", "left", "extra", "each", "pm", "am", "cash", "change",
})  # fmt: skip
_INSIDE_LABEL = frozenset(
    {"a", "an", "at", "each", "for", "in", "left", "less", "more", "of", "on", "per", "the"}
)
_STOPS_AFTER_LABEL = frozenset({"OP", "REL", ")", "}", "BREAK"})
_END = Token("END", "", 0, 0, False)
NUMBER_WORDS = frozenset({
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
    "fifty", "sixty", "seventy", "eighty", "ninety", "point",
})  # fmt: skip
"""Words that count on: "2 point five", "twenty 5"."""


def is_number_word(word: str) -> bool:
    """Whether a word is a number, or begins with one as twenty-five does."""
    first, _, rest = word.partition("-")
    return first in NUMBER_WORDS and (not rest or rest in NUMBER_WORDS or rest == "one")


class LabelReader(TokenCursor[Token], ABC):
    """The part of the reader that knows words; `power` comes with the grammar."""

    def __init__(self, tokens: Sequence[Token], reading: Reading) -> None:
        super().__init__(tokens, _END)
        self.reading = reading
        self.depth = 0
        self.n_degrees = 0
        self.in_exponent = False
        self.labels: set[str] = set()
        self.units: set[Unit] = set()
        self.traits: set[str] = set()

    @abstractmethod
    def power(self, *, is_negative: bool = False) -> Node:
        """Read an operand with its exponent and label."""

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
        if token.kind == "WORD" and is_number_word(token.text):
            raise UnreadableError("a number that goes on in words")
        if token.kind == "LABEL" and token.text == "°":
            self.n_degrees += 1
        is_rate = token.text == "/" and self.is_word(1) and self.may_be_counted(1)
        if token.kind not in ("WORD", "LABEL", "(") and not is_rate:
            return node
        is_letter = token.kind == "WORD" and len(token.text) == 1 and is_alphabetic(token.text)
        if is_letter and self.is_unknown(token):
            raise UnreadableError("free symbol")
        if self.in_exponent and token.kind == "WORD":
            raise UnreadableError("free symbol")
        if is_letter and self.exponent_length(1):
            if token.text not in "ms":
                raise UnreadableError("free symbol")
            self.traits.add("symbol")
        unit = self.unit_ahead()
        n_words = self.label_length()
        node = self.raised(node) if n_words else node
        self.note_label(token, node, is_thing=n_words > 0 and unit is None)
        if n_words and token.text in _RATES:
            self.traits.add("rate")
        self.at += n_words
        if unit is None:
            return node
        self.units.add(unit)
        if len(token.text) == 1 and token.text != "¢":
            self.traits.add("symbol")
        return self.compound(Node("unit", node, unit=unit), unit)

    def note_label(self, token: Token, node: Node, *, is_thing: bool) -> None:
        if token.kind not in ("WORD", "LABEL") or token.text in _NO_LABEL:
            return
        self.labels.add(token.text.removesuffix("s"))
        if is_thing and self.is_singular(token, node):
            self.traits.add("singular")

    def raised(self, node: Node) -> Node:
        """Return a number with what stands behind its unit: (2 cm)^2, where people write 2 cm^2."""
        length = self.exponent_length(1)
        if not length or self.at < 2:
            return node
        self.traits.add("raised")
        if not self.reading.has_raised_quantities:
            return node
        exponent = self.peek(1 + (length > 1) + (length > 2))
        digits = exponent.text.translate(SUPERSCRIPTS)
        return Node("^", node, Node("number", value=Fraction(digits))) if len(digits) < 3 else node

    def may_be_counted(self, ahead: int) -> bool:
        """Whether a word behind a slash is a thing or unit (60 miles/hour), not an unknown of two letters."""
        text = self.peek(ahead).text
        return len(text) > 2 or (len(text) > 1 and unit_of(text) is not None)

    def is_singular(self, token: Token, node: Node) -> bool:
        """Whether a word is in the singular behind a number other than 1: 5 price is no number of things."""
        is_alone = self.peek(1).kind not in ("WORD", "LABEL")
        return (
            is_alone
            and token.kind == "WORD"
            and node.kind == "number"
            and node.value != 1
            and (not token.text.endswith("s") and is_alphabetic(token.text) and token.text not in _PLURALS)
        )

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
            if self.peek().is_tight and self.peek(1).kind == "WORD" and unit_of(self.peek(1).text) is None:
                return 0
            ahead = 1
            while self.peek(ahead).kind in ("WORD", "LABEL") and ahead <= 2 * MAX_LABEL_WORDS:
                ahead += 1
            return ahead + 1 if ahead > 1 and self.peek(ahead).kind == ")" else 0
        while ahead < 2 * MAX_LABEL_WORDS:
            token = self.peek(ahead)
            is_divisor = token.text == "/" and self.is_word(ahead + 1)
            if is_divisor and ahead > 0 and len(self.peek(ahead + 1).text) == 1:
                self.traits.add("symbol")
                ahead += 2 + self.exponent_length(ahead + 2)
                continue
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
