r"""Tokens -> trees of quantities: the reading of one side of a relation, units included.

    sum      := product (("+" | "-") product)*
    product  := signed (("*" | "/" | "of" | nothing) signed)*
    signed   := ("-" | "+")* power
    power    := operand ["^" signed] [units] [smaller quantity, as in 3 h 20 min]
    operand  := [currency] number | "(" sum ")" | \frac{sum}{sum} | \sqrt{sum} | pi | sin(sum) | ...
    units    := unit-power ((space | "*") unit-power)* (("/" | "per") (unit-power | "(" ... ")"))*

A number and its units bind before anything else: 60 km / 1.5 h divides by 1.5 h.
"""

from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._reading import SCALES, UnreadableError
from labeling.verifiers._unit_phrases import COMPUTED, FUNCTIONS, UnitReader
from labeling.verifiers._unit_table import unit_of
from labeling.verifiers._unit_tokens import Token
from labeling.verifiers._unit_trees import TEXTBOOK, Reading, Side, Term, Units, walk

MAX_TOKENS = 120
MAX_DEPTH = 24
_ENDS_OF_OPERAND = frozenset({"NUM", ")", "PI", "SUP"})


def parse(tokens: Sequence[Token], reading: Reading = TEXTBOOK) -> Side:
    """Read the longest quantity expression at the start of the tokens.

    Raises:
        UnreadableError: None starts there, it breaks off, holds a free symbol, or is too long or deep.
    """
    parser = _Parser(tokens[:MAX_TOKENS], reading)
    term = parser.sum()
    if parser.at >= MAX_TOKENS:
        raise UnreadableError("expression too long")
    parser.side.term, parser.side.n_tokens = term, parser.at
    return parser.side


class _Parser(UnitReader):
    def __init__(self, tokens: Sequence[Token], reading: Reading) -> None:
        super().__init__(tokens, reading)
        self.depth = 0

    def sum(self) -> Term:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise UnreadableError("expression too deep")
        term = self.product()
        while self.is_operator("+-"):
            sign = self.peek().text
            self.at += 1
            term = Term(sign, term, self.product())
        self.depth -= 1
        return term

    def product(self) -> Term:
        term = self.signed()
        while True:
            if self.is_operator("*/"):
                sign = self.peek().text
                self.at += 1
                term = self.joined(sign, term, self.signed(is_divisor=sign == "/"))
            elif self.peek().text == "of" and term.kind in ("percent", "/") and self.is_number(1):
                self.at += 1
                term = Term("*", term, self.signed())
            elif self.is_implicit():
                term = Term("*", term, self.power())
            else:
                return term

    def joined(self, sign: str, left: Term, right: Term) -> Term:
        while sign == "/" and self.is_implicit():
            self.side.traits.add("has_tight_products")
            if not self.reading.has_tight_products:
                break
            right = Term("*", right, self.power())
        if sign == "/" and right.kind == "unit" and not any(term.kind == "unit" for term in walk(left)):
            self.side.traits.add("has_units_of_quotients")
            if self.reading.has_units_of_quotients and right.left is not None:
                return Term("unit", Term("/", left, right.left), units=right.units)
        return Term(sign, left, right)

    def is_number(self, ahead: int) -> bool:
        return self.peek(ahead).kind in ("NUM", "CUR", "(", "FRAC")

    def is_implicit(self) -> bool:
        """(5 kg)(3 m/s), 2(1 W), 4.5 pi; behind a unit and a space, a bracket may also be a remark."""
        token, last = self.peek(), self.peek(-1)
        if self.at and self.is_function():
            return True
        if self.at == 0 or token.kind not in ("(", "SQRT", "PI", "FRAC"):
            return False
        if token.kind == "(" and not self.opens_formula():
            return False
        if last.kind in _ENDS_OF_OPERAND:
            if token.kind == "(" and last.kind == "NUM" and not token.is_tight:
                self.side.doubts.append("a bracket behind a number")
            return True
        if last.kind == "WORD" and token.kind == "(":
            self.side.doubts.append("a bracket behind a unit")
            return True
        return False

    def is_function(self) -> bool:
        token = self.peek()
        return token.kind == "WORD" and token.text in COMPUTED and self.peek(1).kind in ("(", "NUM")

    def opens_formula(self) -> bool:
        first, second = self.peek(1), self.peek(2)
        return first.kind in ("NUM", "CUR", "(", "FRAC", "SQRT", "PI") or (
            first.kind == "OP" and first.text == "-" and second.kind == "NUM"
        )

    def signed(self, *, is_divisor: bool = False) -> Term:
        n_signs = n_minus = 0
        while self.is_operator("+-"):
            n_minus += self.peek().text == "-"
            n_signs += 1
            self.at += 1
            if n_signs > 3:
                raise UnreadableError("too many signs")
        term = self.power(is_divisor=is_divisor)
        return Term("negative", term) if n_minus % 2 else term

    def power(self, *, is_divisor: bool = False) -> Term:
        term = self.operand(is_divisor=is_divisor)
        if self.peek().kind == "SUP":
            exponent = self.peek().value
            self.at += 1
            term = Term("^", term, Term("number", value=exponent))
        elif self.is_operator("^"):
            self.at += 1
            term = Term("^", term, Term("number", value=self.exponent()))
        if self.peek().kind == "PCT" or self.peek().text == "percent":
            self.at += 1
            return Term("percent", term)
        return self.with_smaller(self.with_units(term))

    def operand(self, *, is_divisor: bool = False) -> Term:
        token = self.peek()
        if token.kind == "CUR":
            self.at += 1
            if self.peek().kind != "NUM":
                raise UnreadableError("a currency sign without a number")
            unit = unit_of(token.text)
            assert unit is not None
            amount = self.number(is_divisor=False)
            # The rate behind it belongs to the price: $20/hour.
            units = self.denominators(((unit, Fraction(1)),))
            self.side.units.update(unit for unit, _ in units)
            return Term("unit", amount, units=units)
        if token.kind == "NUM":
            return self.number(is_divisor=is_divisor)
        if token.kind == "(":
            return self.bracket()
        if token.kind == "FRAC":
            self.at += 1
            over = self.bracket()
            return Term("/", over, self.bracket())
        if token.kind == "SQRT":
            self.at += 1
            if self.peek().kind == "(":
                return Term("sqrt", self.bracket())
            term = Term("sqrt", self.number(is_divisor=False))
            if self.is_operator("*/"):
                self.side.doubts.append("a root that may reach further")
            return term
        if token.kind == "PI":
            self.at += 1
            return Term("pi")
        if self.is_function():
            self.at += 1
            argument = (
                self.bracket() if self.peek().kind == "(" else self.with_units(self.number(is_divisor=False))
            )
            return Term(token.text, argument)
        raise UnreadableError("free symbol" if token.kind == "WORD" else f"found {token.text or 'the end'!r}")

    def bracket(self) -> Term:
        if self.peek().kind != "(":
            raise UnreadableError("expected a bracket")
        self.at += 1
        term = self.sum()
        if self.peek().kind != ")":
            raise UnreadableError("a bracket is not closed")
        self.at += 1
        return term

    def number(self, *, is_divisor: bool) -> Term:
        token = self.peek()
        if token.kind != "NUM":
            raise UnreadableError("expected a number")
        self.at += 1
        value, last_digit = token.value, token.last_digit
        if token.is_caret_lost:
            self.side.traits.add("has_lost_carets")
            if self.reading.has_lost_carets and token.exponent is not None:
                scale = Fraction(10) ** token.exponent
                value, last_digit = token.mantissa * scale, last_digit * scale
        elif token.exponent is not None and is_divisor:
            self.side.traits.add("has_loose_powers")
            if self.reading.has_loose_powers:
                value = token.mantissa / Fraction(10) ** token.exponent
                last_digit = last_digit / Fraction(10) ** (2 * token.exponent)
        scale_word = SCALES.get(self.peek().text) if self.peek().kind == "WORD" else None
        if scale_word is not None:
            self.at += 1
            value, last_digit = value * scale_word, last_digit * scale_word
        term = Term("number", value=value, last_digit=last_digit)
        return self.mixed(term) if value.denominator == 1 and last_digit == 1 else term

    def mixed(self, whole: Term) -> Term:
        """Read 3 1/2 and 3 over a LaTeX fraction as sums."""
        if (
            self.peek().kind == "NUM"
            and not self.peek().is_tight
            and self.is_operator("/", 1)
            and self.peek(1).is_tight
        ):
            if self.peek(2).kind == "NUM" and self.peek(2).is_tight:
                over, under = self.peek().value, self.peek(2).value
                if 0 < over < under:
                    self.at += 3
                    return Term("+", whole, Term("number", value=over / under))
        elif self.peek().kind == "FRAC" and not self.is_unit_word(2):
            self.at += 1
            over, under = self.bracket(), self.bracket()
            if over.kind == under.kind == "number" and 0 < over.value < under.value:
                return Term("+", whole, Term("number", value=over.value / under.value))
            return Term("*", whole, Term("/", over, under))
        return whole

    def with_units(self, term: Term) -> Term:
        """Read what follows an operand: units, a counting word, or a rate (60/min)."""
        start = self.at
        units = self.unit_product()
        if units:
            units = self.denominators(units)
        elif (self.is_operator("/") and self.is_unit_word(1)) or self.peek().text == "per":
            units = self.denominators(())
        elif self.peek().kind == "FRAC" and self.peek(1).kind == "(" and self.is_unit_word(2):
            units = self.fraction_of_units()
        elif self.peek().kind == "(" and self.is_unit_word(1) and self.peek(-1).kind != "WORD":
            units = self.bracketed_units()
        else:
            units = self.counting_words()
            if units:
                units = self.denominators(units)
        if not units:
            if not self.is_function():
                self.refuse_symbol()
            return term
        self.note_letters(start)
        self.side.units.update(unit for unit, _ in units)
        self.skip_substance(units)
        self.skip_words()
        if term.kind == "number" and len(units) == 1 and units[0][1] in (2, 3):
            self.side.traits.add("has_powers_of_quantities")
            if self.reading.has_powers_of_quantities:
                base = Term("unit", term, units=((units[0][0], Fraction(1)),))
                return Term("^", base, Term("number", value=units[0][1]))
        return Term("unit", term, units=units)

    def fraction_of_units(self) -> Units:
        """Read a fraction of two units, as LaTeX sets m over s."""
        start = self.at
        self.at += 1
        over = self.bracketed_units()
        under = self.bracketed_units() if self.peek().kind == "(" and self.is_unit_word(1) else ()
        if not over or not under:
            self.at = start
            return ()
        self.side.has_rates = True
        return (*over, *((unit, -power) for unit, power in under))

    def refuse_symbol(self) -> None:
        token = self.peek()
        if token.kind != "WORD":
            return
        is_short = len(token.text) == 1 or "_" in token.text or token.is_tight
        if token.text in FUNCTIONS or (is_short and token.text not in ("a", "I")):
            raise UnreadableError("free symbol")

    def with_smaller(self, term: Term) -> Term:
        """Read 3 h 20 min and 2 hours and 30 minutes as a sum, the larger unit first."""
        if term.kind != "unit" or len(term.units) != 1:
            return term
        ahead = 1 if self.peek().text == "and" else 0
        if self.peek(ahead).kind != "NUM" or not self.is_unit_word(ahead + 1):
            return term
        unit, smaller = term.units[0][0], unit_of(self.peek(ahead + 1).text)
        if smaller is None or smaller.dims != unit.dims or smaller.factor >= unit.factor:
            return term
        self.at += ahead
        return Term("+", term, self.power())
