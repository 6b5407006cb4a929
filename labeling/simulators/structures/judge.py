"""Steps of free text -> findings, against the solved model.

A step is judged against the true values, not against what was written before it: whoever carries a wrong
value on writes wrong steps, and their evidence says from where.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from labeling.simulators.structures.agreement import compare
from labeling.simulators.structures.amounts import shown, size_of_unit
from labeling.simulators.structures.causes import causes_of
from labeling.simulators.structures.quantities import SIGNED, UNIT_OF, Quantity
from labeling.simulators.structures.reading import Names, Stated, names_of, statements
from labeling.simulators.structures.spec import Spec
from labeling.simulators.structures.verdict_words import Said, sayings
from labeling.verifiers._wording import Wording
from labeling.verifiers.verdict import Evidence, Outcome

MAX_STEP_CHARACTERS = 20_000
MAX_CAUSES = 4
"""Explanations of one value that its evidence gives in words."""
_ASKS = re.compile(r"[^.;!?\n]{0,80}\?")
_OPPOSITE = {
    "reaction": re.compile(r"\b(?:down\w*|uplift\w*|hold\w* down)\b", re.IGNORECASE),
    "axial": re.compile(r"\bcompress\w*\b", re.IGNORECASE),
}
"""Words that say of a magnitude what a minus sign would."""


@dataclass
class Judge:
    """Judges the steps of one solution in order; it remembers what they stated."""

    spec: Spec
    name: str
    """Of the verifier, for evidence."""
    stated: dict[str, float] = field(default_factory=dict)
    """Symbol -> last value stated so far, in SI base units."""
    settled: set[str] = field(default_factory=set)
    """What was stated rightly so far: symbols, "stress", "deflection" and "whole"."""

    def __post_init__(self) -> None:
        self._names: Names = names_of(self.spec.quantities)
        self._quantities = {q.symbol: q for q in self.spec.quantities}
        self._values: Mapping[str, float] = self.spec.values

    def step(self, text: str, *, following: str = "") -> tuple[list[Evidence], bool]:
        """Judge the next step.

        Args:
            text: The step; of any content.
            following: The step behind it, which may take back what this one says.

        Returns:
            One evidence a statement, in the step's order; and whether something needed is stated rightly
            for the first time.
        """
        if len(text) > MAX_STEP_CHARACTERS:
            return [], False
        wording = Wording(text, following)
        found = [self._quantity(stated, wording) for stated in statements(text, self._names)]
        found += [self._saying(said, wording) for said in sayings(text)]
        new = {topic for topic, item in found if item.outcome == Outcome.RIGHT} - self.settled
        self.settled |= new
        return [item for _, item in sorted(found, key=lambda pair: pair[1].start)], bool(new)

    def _quantity(self, stated: Stated, wording: Wording) -> tuple[str, Evidence]:
        quantity = self._quantities[stated.symbol]
        outcome, cause, reason = self._judged(quantity, stated, wording.text)
        if outcome is Outcome.WRONG and (doubt := _doubt(wording, stated.start, stated.end)):
            outcome, cause, reason = Outcome.UNDECIDED, "doubtful", f"{reason}, but: {doubt}"
        if cause not in ("doubtful", "no_unit", "dimension"):
            self.stated[stated.symbol] = stated.value
        unit = UNIT_OF[quantity.kind] if cause not in ("no_unit", "dimension") else ""
        return stated.symbol, Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=f"{quantity.kind}: {cause}" if cause else quantity.kind,
            text=wording.text[stated.start : stated.end],
            start=stated.start,
            end=stated.end,
            left=shown(stated.value, unit) if unit or quantity.kind == "safety" else f"{stated.value:.6g}",
            right=f"{stated.symbol} = {shown(self._values[stated.symbol], UNIT_OF[quantity.kind])}",
            reason=reason,
        )

    def _judged(self, quantity: Quantity, stated: Stated, text: str) -> tuple[Outcome, str, str]:
        """Return outcome, cause and reason of one statement."""
        unit, true = UNIT_OF[quantity.kind], self._values[quantity.symbol]
        if unit and stated.is_bare:
            return Outcome.UNDECIDED, "no_unit", f"{quantity.symbol} is written without a unit"
        if stated.dims != size_of_unit(unit)[1]:
            if stated.is_product:
                return Outcome.UNDECIDED, "doubtful", "a product of names may be meant"
            wanted = f"a value in {unit}" if unit else "a pure number"
            return Outcome.WRONG, "dimension", f"wrong unit: {quantity.symbol} is {wanted}"
        if quantity.kind not in SIGNED:
            outcome = compare(abs(stated.value), abs(true), stated.digit)
        elif true < 0 < stated.value and _OPPOSITE[quantity.kind].search(text):
            outcome = compare(-stated.value, true, stated.digit)
        else:
            outcome = compare(stated.value, true, stated.digit)
        if outcome is Outcome.RIGHT:
            return outcome, "", ""
        if outcome is Outcome.UNDECIDED:
            return outcome, "coarse", "rounded too coarsely to tell it from another value"
        causes = causes_of(self.spec, quantity, stated, self.stated)
        names = "|".join(dict.fromkeys(cause.name for cause in causes))
        explained = "; or ".join(dict.fromkeys(cause.text for cause in causes[:MAX_CAUSES]))
        difference = f"{shown(stated.value, unit)} is written, {shown(true, unit)} is true"
        return outcome, names, f"{quantity.symbol}: {difference}; {explained}"

    def _saying(self, said: Said, wording: Wording) -> tuple[str, Evidence]:
        spec = self.spec
        is_kept = {
            "stress": spec.keeps_stress,
            "deflection": spec.keeps_deflection,
            "whole": spec.is_safe,
        }[said.what]
        outcome, cause, reason = Outcome.RIGHT, "", ""
        if said.is_kept != is_kept:
            outcome = Outcome.WRONG
            cause = "carried_on" if self._follows(said) else "wrong_verdict"
            reason = f"{_told(said.what, is_kept=is_kept)}, the step says the opposite"
            if doubt := _doubt(wording, said.start, said.end):
                outcome, cause, reason = Outcome.UNDECIDED, "doubtful", f"{reason}, but: {doubt}"
        return said.what, Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=f"verdict: {cause}" if cause else "verdict",
            text=wording.text[said.start : said.end],
            start=said.start,
            end=said.end,
            right=_told(said.what, is_kept=is_kept),
            reason=reason,
        )

    def _follows(self, said: Said) -> bool:
        """Whether a wrong saying is what the stated values, some of them wrong, come to."""
        spec = self.spec
        held = {**self._values, **self.stated}
        keeps_stress = abs(held["sigma"]) <= spec.setting.allowable * 1e6
        keeps_deflection = abs(held[spec.deflection.symbol]) <= spec.limit * 1e-3
        kept = {
            "stress": keeps_stress,
            "deflection": keeps_deflection,
            "whole": keeps_stress and keeps_deflection,
        }
        return kept[said.what] == said.is_kept


def _doubt(wording: Wording, start: int, end: int) -> str:
    """Return what in the words takes a statement out of plain assertion; "" when nothing does."""
    return "a question" if _ASKS.match(wording.text, end) else wording.doubt(start, end)


def _told(what: str, *, is_kept: bool) -> str:
    if what == "whole":
        return f"the structure is {'safe' if is_kept else 'not safe'}"
    return f"the {what} limit is {'kept' if is_kept else 'exceeded'}"
