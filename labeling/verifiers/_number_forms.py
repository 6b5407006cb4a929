"""The forms of a number: 3.14, 1,000, 1.5e3, 0.(3), 2 million, 3 1/2, digits that stand for a power."""

from abc import abstractmethod
from fractions import Fraction
from functools import lru_cache

from labeling.verifiers._labels import LabelReader
from labeling.verifiers._reading import SCALES, UnreadableError
from labeling.verifiers._trees import Node

_NOTHING = Fraction(1, 10**30)
"""Worth of the last digit of a number whose digits go on."""


@lru_cache(maxsize=8192)
def plain(text: str) -> Node:
    """Read digits, with a decimal part or a power of ten (1.5e3)."""
    if text.isdecimal():
        return Node("number", value=Fraction(int(text)))
    if text.endswith(")"):
        head, _, digits = text[:-1].partition("(")
        worth = Fraction(1, 10 ** len(head.partition(".")[2]))
        return Node(
            "number",
            value=Fraction(head + "0") + worth * Fraction(int(digits), 10 ** len(digits) - 1),
            last_digit=_NOTHING,
        )
    digits, _, exponent = text.lower().partition("e")
    last_digit = Fraction(1, 10 ** len(digits.partition(".")[2])) * Fraction(10) ** int(exponent or 0)
    return Node("number", value=Fraction(text), last_digit=last_digit)


def _is_proper(fraction: Node) -> bool:
    """Whether a fraction can be the tail of a mixed number: whole numbers, less than one."""
    over, under = fraction.left, fraction.right
    if over is None or under is None or over.kind != "number" or under.kind != "number":
        return False
    return 0 < over.value < under.value and over.value.denominator == under.value.denominator == 1


class NumberReader(LabelReader):
    """The part of the reader that knows numbers; `fraction` comes with the grammar."""

    @abstractmethod
    def fraction(self) -> Node:
        """Read a written-out fraction."""

    def number(self) -> Node:
        token = self.take("NUM")
        text = token.text
        if self.reading.has_decimal_points and self.peek().is_point and text.isdecimal():
            text += f".{self.tokens[self.at + 1].text.partition('.')[0]}"
            self.at += 2
        written = self.with_period(plain(text), text)
        value, last_digit = written.value, written.last_digit
        decimals = len(text.partition(".")[2])
        is_cut = self.peek().kind == "DOTS" and self.peek().is_tight
        if is_cut:
            if decimals < 2:
                raise UnreadableError("dots that may leave terms out")
            self.at += 1
        if self.peek().kind == "SCALE":
            self.traits.add("scale")
            name = self.take("SCALE").text
            scale = 1 if self.reading.has_scale_as_unit else SCALES[name]
            value, last_digit = value * scale, last_digit * scale
        node = Node("number", value=value, last_digit=last_digit, is_cut=is_cut)
        if text.isdecimal() and not is_cut:
            node = self.power_in_print(node) if 2 <= len(text) <= 3 else node
            node = self.mixed_or_tight(node)
        return node

    def with_period(self, written: Node, text: str) -> Node:
        """Read 0.1(6) as a decimal that repeats its last digits, where the reading asks for it."""
        digits = self.peek(1)
        has_brackets = self.peek().kind == "(" and self.peek().is_tight and self.peek(2).kind == ")"
        if not has_brackets or "." not in text or digits.kind != "NUM" or not digits.text.isdecimal():
            return written
        self.traits.add("period")
        if not self.reading.has_periods:
            return written
        self.at += 3
        tail = Fraction(int(digits.text), 10 ** len(digits.text) - 1) * written.last_digit
        return written._replace(value=written.value + tail, last_digit=_NOTHING)

    def power_in_print(self, node: Node) -> Node:
        """Read 25 = 23 * 22 as 2^5 = 2^3 * 2^2, whose exponents are no longer raised."""
        self.traits.add("digits")
        if not self.reading.has_lost_carets:
            return node
        base, exponent = divmod(node.value, 10)
        if base < 2 or exponent < 2:
            raise UnreadableError("no power")
        return Node("^", Node("number", value=Fraction(base)), Node("number", value=exponent))

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
        return Node("/", plain(over.text), plain(under.text))
