"""Units as they are written behind numbers: kN m, J/(mol K), m s⁻¹, square metres per hour, apples a day."""

import re
from collections.abc import Sequence
from fractions import Fraction

from labeling.verifiers._reading import TokenCursor, UnreadableError
from labeling.verifiers._unit_table import glued_units, is_unit, thing_of, unit_of
from labeling.verifiers._unit_tokens import Token
from labeling.verifiers._unit_trees import Reading, Side, Term, Units

MAX_UNITS = 12
COMPUTED = frozenset({"sin", "cos", "tan", "ln", "exp"})
"""Functions that are computed; the others make a side unreadable."""
FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "log", "ln", "exp", "cot", "sec", "csc", "arcsin", "arctan", "mod"}
)

_NO_THING = frozenset({
    "and", "are", "because", "but", "can", "each", "equals", "every", "for", "from", "gives", "had",
    "has", "have", "her", "his", "how", "into", "its", "left", "less", "more", "not", "now", "our",
    "over", "per", "she", "since", "than", "that", "the", "their", "then", "there", "therefore",
    "they", "this", "thus", "was", "were", "when", "where", "which", "while", "who", "will", "with",
    "would", "you", "your", "total", "times", "only", "also", "sin", "cos", "tan", "log", "exp",
    "sec", "csc", "cot", "hundred", "thousand", "million", "billion", "dozen", "percent", "half",
    "squared", "cubed", "square", "cubic", "remainder", "mod",
})  # fmt: skip
_FILLERS = frozenset({"of", "in", "at", "the"})
_AMOUNTS = ((("[substance]", Fraction(1)),), (("[mass]", Fraction(1)),))
_ELEMENTS = frozenset("HCNOFPSKVWIBU")
_FORMULA = re.compile(r"(?:[A-Z][a-z]?){1,8}")
_POWER_WORDS = {"square": 2, "sq": 2, "cubic": 3, "cu": 3}
_POWERS_BEHIND = {"squared": 2, "cubed": 3}
_END = Token("END", "", 0, 0, False)


class UnitReader(TokenCursor[Token]):
    """Reads units from a list of tokens, from `at` on; `side` gathers what is met."""

    def __init__(self, tokens: Sequence[Token], reading: Reading) -> None:
        super().__init__(tokens, _END)
        self.reading = reading
        self.in_denominator = False
        self.side = Side(Term("number"), 0)

    def exponent(self) -> Fraction:
        """Read what stands behind ^: 2, -1, {-2}, (1/2)."""
        opening = self.peek()
        is_bracketed = opening.kind == "("
        self.at += is_bracketed
        is_negative = self.is_operator("-")
        self.at += is_negative
        if self.peek().kind != "NUM":
            raise UnreadableError("an exponent that is no number")
        power = self.peek().value
        self.at += 1
        if is_bracketed and self.is_operator("/") and self.peek(1).kind == "NUM" and self.peek(1).value != 0:
            power /= self.peek(1).value
            self.at += 2
        if is_bracketed and self.peek().kind != ")":
            raise UnreadableError("an exponent that is no number")
        self.at += is_bracketed
        return -power if is_negative else power

    def unit_exponent(self) -> Fraction:
        """Read m², m^2, m^{-1}, s-1, m2, metres squared."""
        token = self.peek()
        if token.kind == "SUP":
            self.at += 1
            return self.bounded(token.value)
        if self.is_operator("^"):
            self.at += 1
            return self.bounded(self.exponent())
        if token.kind == "NUM" and token.is_tight and token.text in ("2", "3"):
            self.at += 1
            self.side.doubts.append("an exponent without its sign")
            return token.value
        is_minus = (
            self.is_operator("-") and token.is_tight and self.peek(1).kind == "NUM" and self.peek(1).is_tight
        )
        if is_minus and self.peek(1).text in ("1", "2", "3"):
            self.side.doubts.append("an exponent without its sign")
            self.at += 2
            return -self.peek(-1).value
        if token.text in _POWERS_BEHIND:
            self.at += 1
            return Fraction(_POWERS_BEHIND[token.text])
        return Fraction(1)

    def bounded(self, power: Fraction) -> Fraction:
        if not 0 < abs(power) <= 12 or power.denominator != 1:
            raise UnreadableError("an unusual exponent of a unit")
        return power

    def unit_power(self) -> Units:
        """Read one unit with its exponent, or two that are glued together (ms⁻¹, kgm/s)."""
        power = Fraction(1)
        if self.peek().text in _POWER_WORDS:
            power = Fraction(_POWER_WORDS[self.peek().text])
            self.at += 1
        if self.is_glued():
            pair = glued_units(self.peek().text)
            assert pair is not None
            self.at += 1
            return (pair[0], Fraction(1)), (pair[1], self.unit_exponent())
        unit = unit_of(self.peek().text)
        if unit is None:
            raise UnreadableError("expected a unit")
        self.at += 1
        return ((unit, power * self.unit_exponent()),)

    def is_glued(self, ahead: int = 0) -> bool:
        """Whether two units stand here as one word; a millisecond has no negative power."""
        text, following = self.peek(ahead).text, self.peek(ahead + 1)
        if self.peek(ahead).kind != "WORD" or glued_units(text) is None:
            return False
        if text == "ms":
            behind = self.peek(ahead + 2)
            is_minus = following.text == "-" and following.is_tight and behind.kind == "NUM"
            is_inverse = following.text == "^" and (behind.text == "-" or self.peek(ahead + 3).text == "-")
            return (following.kind == "SUP" and following.value < 0) or is_minus or is_inverse
        is_raised = following.kind == "SUP" or following.text == "^"
        if is_unit(text):
            return is_raised and text in ("Nm", "kNm", "Js", "Ns")
        return is_raised or (following.text == "/" and self.is_unit_word(ahead + 2))

    def is_unit_word(self, ahead: int = 0) -> bool:
        token = self.peek(ahead)
        if token.kind != "WORD":
            return False
        if token.text in _POWER_WORDS:
            return self.is_unit_word(ahead + 1) if ahead < 6 else False
        return is_unit(token.text) or self.is_glued(ahead)

    def unit_product(self) -> Units:
        """Read kN m, N*m, square metres: units one behind the other."""
        units: Units = ()
        while len(units) < MAX_UNITS:
            is_joined = bool(units) and self.joins_units() and self.is_unit_word(1)
            if is_joined:
                self.at += 1
            if not self.is_unit_word():
                break
            if units and not is_joined and (self.is_prose_unit(units) or self.is_element(units)):
                break
            units = (*units, *self.unit_power())
        return units

    def joins_units(self) -> bool:
        """Whether a dot or star (N·m), or a hyphen without spaces (N-m), stands here."""
        token = self.peek()
        if token.kind != "OP":
            return False
        return token.joins_units or (token.text == "-" and token.is_tight and self.peek(1).is_tight)

    def is_prose_unit(self, units: Units) -> bool:
        """Behind a spelled-out unit, a letter (5 hours a day) or a second word begins something else."""
        if self.is_glued():
            return units[-1][0].is_word
        unit = unit_of(self.peek().text)
        return unit is None or (units[-1][0].is_word and not unit.is_word) or self.peek().text in ("u", "M")

    def is_element(self, units: Units) -> bool:
        """Tell H in mol H, which names the substance, from K in J/(mol K)."""
        if units[-1][0].dims not in _AMOUNTS or self.peek().text not in _ELEMENTS:
            return False
        following = self.peek(1)
        is_formula = following.kind == "NUM" and following.is_tight
        return is_formula or not (self.in_denominator or following.kind == "SUP" or following.text == "^")

    def bracketed_units(self) -> Units:
        start = self.at
        self.at += 1
        self.in_denominator = True
        units = self.denominators(self.unit_product())
        self.in_denominator = False
        if self.peek().kind == ")":
            self.at += 1
            return units
        self.at = start
        return ()

    def denominators(self, units: Units) -> Units:
        """Read what follows a slash or "per": m/s, m/s/s, J/(mol K), J/mol K, miles per hour."""
        while len(units) < MAX_UNITS:
            is_slash = self.is_operator("/")
            is_per = self.peek().text in ("per", "each") or (
                self.peek().text in ("a", "an") and self.is_unit_word(1) and self.peek(1).text[1:].islower()
            )
            if not is_slash and not is_per:
                break
            start = self.at
            self.at += 1
            divisor: Units = ()
            if is_slash and self.peek().kind == "(" and self.is_unit_word(1):
                divisor = self.bracketed_units()
            elif self.is_unit_word():
                divisor = self.unit_power()
                if is_slash and (self.is_unit_word() or (self.joins_units() and self.is_unit_word(1))):
                    divisor = self.long_denominator(divisor)
            elif is_per or self.peek().kind == "WORD":
                divisor = self.counting_words()
            if not divisor:
                self.at = start
                break
            units = (*units, *((unit, -power) for unit, power in divisor))
        return units

    def long_denominator(self, divisor: Units) -> Units:
        """J/mol K means J/(mol K); the other reading is tried where it matters."""
        if divisor[-1][0].is_word:
            return divisor
        start = self.at
        if self.joins_units():
            self.at += 1
        self.in_denominator = True
        more = self.unit_product()
        self.in_denominator = False
        if not more or more[0][0].is_word:
            self.at = start
            return divisor
        self.side.traits.add("has_short_denominators")
        if self.reading.has_short_denominators:
            return (*divisor, *((unit, -power) for unit, power in more))
        return (*divisor, *more)

    def counting_words(self) -> Units:
        """Read apples, red apples: the last of up to three words is what is counted."""
        n_words = 0
        while n_words < 3 and self.is_noun(n_words):
            n_words += 1
        if n_words == 0:
            return ()
        thing = thing_of(self.peek(n_words - 1).text)
        self.at += n_words
        return () if thing is None else ((thing, Fraction(1)),)

    def is_noun(self, ahead: int) -> bool:
        token = self.peek(ahead)
        is_glued = token.is_tight and not self.is_operator("/", ahead - 1)
        if token.kind != "WORD" or is_glued or token.text.lower() in _NO_THING or is_unit(token.text):
            return False
        return thing_of(token.text) is not None

    def skip_words(self) -> None:
        """Pass over words behind a unit (3 hours of work * 2), when a sign follows at once."""
        ahead = 0
        while ahead < 4 and self.peek(ahead).kind == "WORD" and self.is_filler(self.peek(ahead)):
            ahead += 1
        if ahead and self.peek(ahead).kind in ("OP", ")", "REL", "END"):
            self.at += ahead

    def is_filler(self, token: Token) -> bool:
        return (
            token.text in _FILLERS
            or self.is_formula(token)
            or (
                token.text not in _NO_THING
                and token.text.isascii()
                and token.text.islower()
                and len(token.text) > 2
            )
        )

    def is_formula(self, token: Token) -> bool:
        return _FORMULA.fullmatch(token.text) is not None and not is_unit(token.text)

    def skip_substance(self, units: Units) -> None:
        """Pass over what the amount is of: 2 mol H2O, 5 g NaCl."""
        if units[-1][1] < 0 or units[-1][0].dims not in _AMOUNTS:
            return
        token = self.peek()
        if token.kind != "WORD" or token.is_tight or _FORMULA.fullmatch(token.text) is None:
            return
        self.at += 1
        while self.peek().is_tight and (
            self.peek().kind == "NUM" or (self.peek().kind == "WORD" and _FORMULA.fullmatch(self.peek().text))
        ):
            self.at += 1

    def note_letters(self, start: int) -> None:
        tokens = self.tokens[start : self.at]
        signs = {token.text for token in tokens if token.kind == "OP"}
        if "/" in signs or any(token.kind == "SUP" for token in tokens):
            self.side.has_rates = True
            return
        for token in tokens:
            unit = unit_of(token.text) if token.kind == "WORD" else None
            if unit is None or not unit.is_letter or token.is_upright:
                continue
            self.side.letters.add(token.text)
            if token.is_tight and token is tokens[0]:
                self.side.glued_letters.add(token.text)
        if "*" not in signs and sum(len(token.text) == 1 for token in tokens) > 1 and self.side.letters:
            self.side.has_letter_products = True
