"""Every equality and inequality written in a step, recomputed exactly.

A claim is false only when no reasonable reading makes it true: rounding, precedence of tight fractions,
percent signs, units and the words around a formula are all given the benefit of the doubt. A step is WRONG
when one claim is false, RIGHT when at least one claim was checked and all were true, else UNDECIDED.
"""

import re
from fractions import Fraction
from itertools import islice

from labeling.records import Problem, Solution
from labeling.verifiers._claims import MAX_CLAIMS, Claim, Member, find_claims
from labeling.verifiers._exact import (
    Value,
    are_near,
    evaluate,
    evaluate_in_base_units,
    is_rounding,
    is_same,
    is_truncation,
)
from labeling.verifiers._expressions import Parse, Reading, UnreadableError, parse, plain_number
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_STEP_CHARACTERS = 20_000


Finding = tuple[Outcome, str, str]
"""Outcome, kind and reason of one claim."""

_REJECTION = re.compile(
    r"\b(?:incorrect|wrong|false|contradict\w*|impossible|mistake\w*|error|invalid|wait|oops|no solution|"
    r"not (?:equal|true|possible|correct|valid|work|satisf\w+|match\w*|hold)|does(?:n't| not)|isn't|can't|"
    r"cannot|unless|too (?:large|small|big|high|low|much|many|few))\b",
    re.IGNORECASE,
)
_HYPOTHESIS = re.compile(
    r"\b(?:suppose|assum\w+|try|trying|tries|testing|guess\w*|check(?:ing)? (?:if|whether|that)|verif\w+|"
    r"plug\w*|hypothe\w+|"
    r"claim\w*|said|says|thinks|thought|set up|write (?:this|an?|the) equation|can write|proportion)\b",
    re.IGNORECASE,
)
_OTHER_ARITHMETIC = re.compile(
    r"\\(?:p|b)?mod|\\equiv|≡|\b(?:mod|modulo|binary|hexadecimal|congruent|base[- ](?:\d+|two|eight|ten))\b",
    re.IGNORECASE,
)
_ROUNDING = re.compile(
    r"\b(?:round\w*|approx\w*|about|nearest|roughly|around|whole|estimat\w*|ceil\w*|floor|almost|nearly|"
    r"at least|integer|partial|half a|remainder|quotient|left over)\b",
    re.IGNORECASE,
)
_ANNOTATED_RESULT = re.compile(r"<<[^<>\n]{1,200}=\s?(-?\d{1,30}(?:\.\d{1,30})?)>>")
_CURRENCIES = frozenset({"$", "€", "£", "¥", "₹"})
_PERCENT = re.compile(r"%|\bpercent", re.IGNORECASE)
_OTHER_READINGS = {
    "slash": Reading(has_tight_fractions=True),
    "implicit": Reading(has_tight_products=True),
    "negative_power": Reading(has_negative_bases=True),
    "percent": Reading(has_percent_as_unit=True),
    "mixed": Reading(has_mixed_as_product=True),
    "bang": Reading(has_plain_bangs=True),
    "scale": Reading(has_scale_as_unit=True),
}


class ArithmeticVerifier:
    """Checks the arithmetic that a step writes out; meets `Verifier`.

    Args:
        is_strict: Also hold calculator style ("48 / 6 = 8 + 5 = 13") against a step. People who label
            steps accept it, so by default it leaves the step undecided.
    """

    name = "arithmetic"

    def __init__(self, *, is_strict: bool = False) -> None:
        self.is_strict = is_strict

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by its own text; the problem is not looked at."""
        texts = solution.step_texts
        return [
            self.judge(text, following=texts[index + 1] if index + 1 < len(texts) else "")
            for index, text in enumerate(texts)
        ]

    def judge(self, text: str, *, following: str = "") -> Verdict:
        """Judge one step. `following` is the next step, which may reject what this one tries."""
        if len(text) > MAX_STEP_CHARACTERS:
            return Verdict.undecided(f"step longer than {MAX_STEP_CHARACTERS} characters")
        context = _Context(text, following)
        claims = list(islice(find_claims(text), MAX_CLAIMS + 1))
        evidence = [self._evidence(claim, context) for claim in claims[:MAX_CLAIMS]]
        if len(claims) > MAX_CLAIMS:
            return Verdict.undecided(f"more than {MAX_CLAIMS} claims", evidence)
        return _conclude(evidence)

    def _evidence(self, claim: Claim, context: "_Context") -> Evidence:
        outcome, kind, reason = _judge_claim(claim, context)
        if kind == RUNNING and self.is_strict:
            outcome = Outcome.WRONG
        return Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=kind,
            text=context.text[claim.start : claim.end],
            start=claim.start,
            end=claim.end,
            left=_shown(claim.left),
            right=_shown(claim.right),
            reason=reason,
        )


RUNNING = "running_equals"
UNREAD = "unread"
DOUBTFUL = "doubtful"


def _conclude(evidence: list[Evidence]) -> Verdict:
    """A claim that is false but excused (running equals, doubtful) keeps the step undecided."""
    for item in evidence:
        if item.outcome == Outcome.WRONG:
            return Verdict.wrong(f"{item.text}: {item.reason}", evidence)
    for item in evidence:
        if item.kind in (RUNNING, DOUBTFUL):
            return Verdict.undecided(f"{item.kind.replace('_', ' ')}: {item.reason}", evidence)
    if any(item.outcome == Outcome.RIGHT for item in evidence):
        return Verdict.right("every checked claim is true", evidence)
    reasons = [item.reason for item in evidence]
    return Verdict.undecided(reasons[0] if reasons else "no checkable equation", evidence)


class _Context:
    """What the words of a step (and the start of the next) say about its formulas."""

    def __init__(self, text: str, following: str) -> None:
        self.text = text
        self.following = following

    def doubts(self) -> list[str]:
        found = []
        if _REJECTION.search(self.text) or _REJECTION.search(self.following[:200]):
            found.append("the text rejects something")
        if _HYPOTHESIS.search(self.text):
            found.append("the text tries something out")
        if _OTHER_ARITHMETIC.search(self.text):
            found.append("another arithmetic (modulus, number base)")
        return found

    def annotated_value(self, claim: Claim) -> Fraction | None:
        """Return the result that an annotation inside the claim shows: 24 in <<48/2=24>>."""
        match = _ANNOTATED_RESULT.search(self.text, claim.start, claim.end)
        return None if match is None else Fraction(match.group(1))

    @property
    def speaks_of_rounding(self) -> bool:
        return _ROUNDING.search(self.text) is not None

    @property
    def speaks_of_percent(self) -> bool:
        return _PERCENT.search(self.text) is not None


def _judge_claim(claim: Claim, context: _Context) -> Finding:
    left, right = claim.left.parse, claim.right.parse
    if left is None or right is None:
        return Outcome.UNDECIDED, UNREAD, claim.left.problem or claim.right.problem
    if not claim.has_operation:
        return Outcome.UNDECIDED, UNREAD, "nothing is computed"
    try:
        return _judge_values(claim, left, right, context)
    except UnreadableError as error:
        return Outcome.UNDECIDED, UNREAD, str(error)


def _judge_values(claim: Claim, left: Parse, right: Parse, context: _Context) -> Finding:
    if _shows_shop_percent(left) or _shows_shop_percent(right):
        return Outcome.UNDECIDED, DOUBTFUL, "a percentage added to or taken from an amount"
    if _is_symbolic(left, right):
        return Outcome.UNDECIDED, UNREAD, "free symbol"
    if _has_mixed_scales(left, right):
        return _judge_units(claim, left, right, context)
    first, second = evaluate(left.node), evaluate(right.node)
    if claim.right.remainder is not None:
        return _judge_division(claim, left, second.number, claim.right.remainder, context)
    if claim.relation not in ("=", "~"):
        return _judge_order(claim, first, second, context)
    kind = _agreement(claim.relation, left, right, first, second)
    if kind:
        return Outcome.RIGHT, kind, ""
    reason = f"{_text(first)} is not {_text(second)}"
    if not left.has_operation and claim.left.is_named:
        return Outcome.UNDECIDED, UNREAD, "the number on the left may be part of a name"
    if claim.relation == "=" and _goes_on_from(first, claim.right):
        return Outcome.UNDECIDED, RUNNING, reason + "; the next member goes on from the value so far"
    doubts = _all_doubts(claim, context) or _excuses(claim, left, right, first, second, context)
    if doubts:
        return Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {doubts[0]}"
    return Outcome.WRONG, "equation", reason


def _judge_division(
    claim: Claim, left: Parse, quotient: Fraction, remainder: Fraction, context: _Context
) -> Finding:
    """Judge 1529 / 6 = 254 remainder 5: right when 6 * 254 + 5 = 1529 and 0 <= 5 < 6."""
    node = left.node
    if claim.relation != "=" or node.kind != "/" or node.left is None or node.right is None:
        return Outcome.UNDECIDED, UNREAD, "a remainder of something other than a quotient"
    over, under = evaluate(node.left).number, evaluate(node.right).number
    if under * quotient + remainder == over and 0 <= remainder < abs(under):
        return Outcome.RIGHT, "division", ""
    reason = f"{under} * {quotient} + {remainder} is not {over} with a remainder below {under}"
    doubts = _all_doubts(claim, context)
    if doubts:
        return Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {doubts[0]}"
    return Outcome.WRONG, "division", reason


def _goes_on_from(value: Value, member: Member) -> bool:
    """Whether a member starts with the value so far and computes on: 48 / 6 = 8 + 5.

    A member all in brackets is a rewriting of the one before, not a going on.
    """
    tokens, found = member.tokens, member.parse
    if found is None or not found.has_operation or tokens[0].kind in ("(", "{"):
        return False
    return found.first_number == value.number


def _agreement(relation: str, left: Parse, right: Parse, first: Value, second: Value) -> str:
    """Return how two values agree, "exact" or "rounded"; "" when they do not."""
    if is_same(first, second):
        return "exact"
    for value, other in ((first, right), (second, left)):
        shown = plain_number(other.node)
        if shown is not None and is_rounding(value, shown, is_approximate=relation == "~"):
            return "rounded"
    return ""


def _judge_order(claim: Claim, first: Value, second: Value, context: _Context) -> Finding:
    difference = first.number - second.number
    if is_same(first, second):
        difference = Fraction(0)
    holds = {
        "<": difference < 0,
        ">": difference > 0,
        "<=": difference <= 0,
        ">=": difference >= 0,
        "!=": difference != 0,
    }[claim.relation]
    if holds:
        return Outcome.RIGHT, "inequality", ""
    doubts = _all_doubts(claim, context)
    if not doubts and (claim.left.is_named or claim.relation == "!="):
        doubts = ["an inequality inside a sentence"]
    reason = f"{_text(first)} {claim.relation} {_text(second)} does not hold"
    if doubts:
        return Outcome.UNDECIDED, DOUBTFUL, f"{reason}, but: {doubts[0]}"
    return Outcome.WRONG, "inequality", reason


def _judge_units(claim: Claim, left: Parse, right: Parse, context: _Context) -> Finding:
    """Judge a claim that mixes units of one dimension, such as 5 m + 40 cm = 5.4 m."""
    first, second = evaluate_in_base_units(left.node), evaluate_in_base_units(right.node)
    is_sum = all(_is_sum_of_quantities(side) for side in (left, right))
    plain_first, plain_second = evaluate(left.node), evaluate(right.node)
    is_true_plainly = not _mixes_in_sum(left, right) and bool(
        _agreement(claim.relation, left, right, plain_first, plain_second)
    )
    if first is not None and second is not None and first[1] == second[1]:
        if first[0] == second[0] or _rounds_in_units(first[0], right):
            return Outcome.RIGHT, "units", ""
        reason = f"{first[0]} is not {second[0]} in base units"
        is_scale = left.node.kind not in ("+", "-") and right.node.kind not in ("+", "-")
        if is_sum and claim.relation == "=" and not is_true_plainly and not is_scale:
            doubts = _all_doubts(claim, context)
            if not doubts:
                return Outcome.WRONG, "units", reason
    else:
        reason = "the units on the two sides do not fit together"
    if is_true_plainly:
        return Outcome.RIGHT, "exact", ""
    return Outcome.UNDECIDED, DOUBTFUL, reason


def _rounds_in_units(first: Fraction, right: Parse) -> bool:
    node = right.node
    shown = plain_number(node)
    if node.kind != "unit" or node.unit is None or shown is None:
        return False
    return is_rounding(Value(first / node.unit.factor), shown, is_approximate=False)


def _has_mixed_scales(left: Parse, right: Parse) -> bool:
    """Whether two sizes of unit of one dimension occur, on either side or across."""
    names: dict[str, set[Fraction]] = {}
    for unit in left.units | right.units:
        for dimension, _ in unit.dims or (("ratio", 1),):
            names.setdefault(dimension, set()).add(unit.factor)
    return any(len(factors) > 1 for factors in names.values()) or "compound" in left.traits | right.traits


def _mixes_in_sum(left: Parse, right: Parse) -> bool:
    return any(
        len({unit.factor for unit in side.units}) > 1 and _is_sum_of_quantities(side)
        for side in (left, right)
    )


def _is_sum_of_quantities(side: Parse) -> bool:
    """Whether a side only adds and subtracts quantities that each carry a unit."""
    nodes = [side.node]
    while nodes:
        node = nodes.pop()
        if node.kind == "unit":
            continue
        if node.kind not in ("+", "-", "negative") or node.left is None:
            return False
        nodes += [child for child in (node.left, node.right) if child is not None]
    return True


def _is_symbolic(left: Parse, right: Parse) -> bool:
    """Whether a single letter was taken for a unit, and no longer unit in the claim confirms it."""
    if "symbol" not in left.traits | right.traits:
        return False
    return len({unit.name for unit in left.units | right.units}) < 2


def _shows_shop_percent(side: Parse) -> bool:
    """Whether a percentage is added to something that is none: $80 - 25% means 25 % of the $80."""
    if "percent" not in side.traits:
        return False
    nodes = [side.node]
    while nodes:
        node = nodes.pop()
        if node.kind in ("+", "-") and node.left is not None and node.right is not None:
            is_one = [child.kind == "percent" for child in (node.left, node.right)]
            if is_one[1] and not _is_all_percent(node.left):
                return True
        nodes += [child for child in (node.left, node.right) if child is not None]
    return False


def _is_all_percent(node) -> bool:
    if node.kind in ("+", "-"):
        return _is_all_percent(node.left) and _is_all_percent(node.right)
    return node.kind == "percent" or (node.kind == "number" and node.value == 1)


def _all_doubts(claim: Claim, context: _Context) -> list[str]:
    return [*claim.doubts, *claim.left.doubts, *claim.right.doubts, *context.doubts()]


def _excuses(
    claim: Claim, left: Parse, right: Parse, first: Value, second: Value, context: _Context
) -> list[str]:
    """Return the readings under which a false equation may be meant as true."""
    gap = abs(first.number - second.number)
    size = max(abs(first.number), abs(second.number))
    annotated = context.annotated_value(claim)
    if annotated is not None:
        if abs(annotated - first.number) * 10**9 > size:
            return ["the annotation inside it says what was computed"]
        if gap < 1 or first.number == -second.number:
            return ["the text gives the whole part or the size of the annotated result"]
    if _holds_in_another_reading(claim, left, right):
        return ["another reading of the signs makes it true"]
    shown = [plain_number(side.node) for side in (left, right)]
    if any(
        node is not None and is_truncation(value, node)
        for value, node in ((first, shown[1]), (second, shown[0]))
    ):
        return ["the digits are cut off rather than rounded"]
    if not _adds_money(left) and are_near(left.node, right.node):
        return ["the decimals in it may be rounded"]
    has_long_tail = any(node is not None and node.last_digit * 10**9 <= 1 for node in shown)
    if has_long_tail and gap * 10**9 <= size:
        return ["the gap is as small as a floating-point error"]
    is_loose = claim.relation == "~" or not (first.is_exact and second.is_exact)
    if is_loose and gap * 20 <= size:
        return ["an approximation"]
    if context.speaks_of_rounding and (gap < 1 or gap * 50 <= size):
        return ["the text speaks of rounding"]
    if context.speaks_of_percent and (
        first.number == 100 * second.number or second.number == 100 * first.number
    ):
        return ["a percentage and its fraction"]
    if _labels_clash(left, right):
        return ["the two sides count different things"]
    return []


def _adds_money(side: Parse) -> bool:
    """Whether a side only adds and subtracts amounts of money, which are exact as written."""
    return bool(side.labels & _CURRENCIES) and not _has_kind(side, ("*", "/", "^", "percent", "pi", "sqrt"))


def _has_kind(side: Parse, kinds: tuple[str, ...]) -> bool:
    nodes = [side.node]
    while nodes:
        node = nodes.pop()
        if node.kind in kinds:
            return True
        nodes += [child for child in (node.left, node.right) if child is not None]
    return False


def _holds_in_another_reading(claim: Claim, left: Parse, right: Parse) -> bool:
    for trait, reading in _OTHER_READINGS.items():
        if trait not in left.traits | right.traits:
            continue
        try:
            sides = [_reread(member, reading) for member in (claim.left, claim.right)]
            values = [evaluate(side.node) for side in sides]
        except UnreadableError:
            continue
        if _agreement(claim.relation, sides[0], sides[1], values[0], values[1]):
            return True
    return False


def _reread(member: Member, reading: Reading) -> Parse:
    return parse(member.tokens, reading)


def _labels_clash(left: Parse, right: Parse) -> bool:
    """Whether a sum adds different things, or a sum of things is set equal to a computation."""
    nouns = left.labels - _CURRENCIES
    is_sum = left.node.kind in ("+", "-")
    return is_sum and bool(nouns) and (len(nouns) > 1 or right.has_operation)


def _shown(member: Member) -> str:
    if member.parse is None:
        return ""
    try:
        return _text(evaluate(member.parse.node))
    except UnreadableError:
        return ""


def _text(value: Value) -> str:
    """Return a value as a whole number or fraction; an irrational one as a decimal."""
    if value.is_exact:
        return str(value.number)
    return f"{float(value.number):.12g}"
