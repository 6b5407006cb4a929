"""Every equality and inequality written in a step, recomputed exactly.

A claim is false only when no reasonable reading makes it true: rounding, precedence of tight fractions,
percent signs, units and the words around a formula are all given the benefit of the doubt. A step is WRONG
when one claim is false, RIGHT when at least one claim was checked and all were true, else UNDECIDED.
"""

from fractions import Fraction
from itertools import islice

from labeling.records import Problem, Solution
from labeling.verifiers._benefit import agreement, excuses
from labeling.verifiers._claims import MAX_CLAIMS, Claim, Member, find_claims, left_open
from labeling.verifiers._exact import Value, evaluate, evaluate_in_base_units, is_same, residue
from labeling.verifiers._expressions import parse
from labeling.verifiers._numbers_meant import doubt_of_numbers, operations_defined_in
from labeling.verifiers._phrases import Spoken
from labeling.verifiers._quantities import (
    has_mixed_scales,
    is_sum_of_quantities,
    is_symbolic,
    mixes_in_sum,
    rounds_in_units,
    shows_shop_percent,
)
from labeling.verifiers._reading import UnreadableError, order_holds
from labeling.verifiers._sentences import find_spoken
from labeling.verifiers._tokens import tokenize
from labeling.verifiers._trees import Parse
from labeling.verifiers._wording import Wording
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MAX_STEP_CHARACTERS = 20_000

RUNNING = "running_equals"
UNREAD = "unread"
DOUBTFUL = "doubtful"
EXCUSED_BY = ", but: "

Finding = tuple[Outcome, str, str]
"""Outcome, kind and reason of one claim."""


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
        """Judge each step by its own text; the problem only tells which signs it gives another meaning."""
        texts = solution.step_texts
        defined = operations_defined_in("\n".join([problem.text, *texts])[:MAX_STEP_CHARACTERS])
        verdicts: list[Verdict] = []
        before: Claim | None = None
        for index, text in enumerate(texts):
            following = texts[index + 1] if index + 1 < len(texts) else ""
            verdict, before = self._judge(text, following, before, defined)
            verdicts.append(verdict)
        return verdicts

    def judge(self, text: str, *, following: str = "") -> Verdict:
        """Judge one step. `following` is the next step, which may reject what this one tries."""
        return self._judge(text, following, None, operations_defined_in(text))[0]

    def _judge(
        self, text: str, following: str, before: Claim | None, defined: frozenset[str]
    ) -> tuple[Verdict, Claim | None]:
        """Judge one step; `before` and what is returned beside the verdict: see `left_open`."""
        if len(text) > MAX_STEP_CHARACTERS:
            return Verdict.undecided(f"step longer than {MAX_STEP_CHARACTERS} characters"), None
        wording = Wording(text, following)
        claims = list(islice(find_claims(text, before), MAX_CLAIMS + 1))
        for claim in claims if defined else ():
            _doubt_operations(claim, defined)
        evidence = [self._evidence(claim, wording) for claim in claims[:MAX_CLAIMS]]
        evidence += [self._spoken_evidence(spoken, wording) for spoken in find_spoken(text)]
        if len(claims) > MAX_CLAIMS:
            return Verdict.undecided(f"more than {MAX_CLAIMS} claims", evidence), None
        return _conclude(evidence), left_open(text, claims)

    def _evidence(self, claim: Claim, wording: Wording) -> Evidence:
        outcome, kind, reason = _judge_claim(claim, wording)
        if kind == RUNNING and self.is_strict:
            outcome = Outcome.WRONG
        return Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=kind,
            text=wording.text[claim.start : claim.end],
            start=claim.start,
            end=claim.end,
            left=_shown(claim.left),
            right=_shown(claim.right),
            reason=reason,
        )

    def _spoken_evidence(self, spoken: Spoken, wording: Wording) -> Evidence:
        if spoken.truth is None:
            return self._evidence(_written(spoken), wording)
        outcome, kind, reason = Outcome.RIGHT, "statement", ""
        if not spoken.truth:
            outcome, kind, reason = _held_against(
                wording.doubt(spoken.start, spoken.end), "statement", spoken.reason
            )
        return Evidence(
            verifier=self.name,
            outcome=str(outcome),
            kind=kind,
            text=wording.text[spoken.start : spoken.end],
            start=spoken.start,
            end=spoken.end,
            reason=reason,
        )


def _written(spoken: Spoken) -> Claim:
    """Return what a sentence says as an equation."""
    sides = [_member(text) for text in (spoken.left, spoken.right)]
    return Claim("=", sides[0], sides[1], spoken.start, spoken.end, has_operation=True)


def _member(text: str) -> Member:
    tokens = tokenize(text)
    try:
        return Member(tokens, parse(tokens))
    except UnreadableError as error:
        return Member(tokens, problem=str(error))


def _conclude(evidence: list[Evidence]) -> Verdict:
    """A claim that is false but excused (running equals, doubtful) keeps the step undecided."""
    for item in evidence:
        if item.outcome == Outcome.WRONG:
            return Verdict.wrong(f"{item.text}: {item.reason}", evidence)
    for item in evidence:
        if item.kind in (RUNNING, DOUBTFUL):
            # The numbers stand in the evidence; without them, reasons can be counted.
            why = item.reason.rpartition(EXCUSED_BY)[2].rpartition("; ")[2]
            return Verdict.undecided(f"{item.kind.replace('_', ' ')}: {why}", evidence)
    if any(item.outcome == Outcome.RIGHT for item in evidence):
        return Verdict.right("every checked claim is true", evidence)
    reasons = [item.reason for item in evidence]
    return Verdict.undecided(reasons[0] if reasons else "no checkable equation", evidence)


def _judge_claim(claim: Claim, wording: Wording) -> Finding:
    left, right = claim.left.parse, claim.right.parse
    if left is None or right is None:
        return Outcome.UNDECIDED, UNREAD, claim.left.problem or claim.right.problem
    if not claim.has_operation:
        return Outcome.UNDECIDED, UNREAD, "nothing is computed"
    try:
        return _judge_values(claim, left, right, wording)
    except UnreadableError as error:
        return Outcome.UNDECIDED, UNREAD, str(error)


def _judge_values(claim: Claim, left: Parse, right: Parse, wording: Wording) -> Finding:
    if shows_shop_percent(left) or shows_shop_percent(right):
        return Outcome.UNDECIDED, DOUBTFUL, "a percentage added to or taken from an amount"
    if is_symbolic(left, right):
        return Outcome.UNDECIDED, UNREAD, "free symbol"
    if claim.modulus is not None and claim.relation in ("=", "≡"):
        return _judge_congruence(claim, left, right, claim.modulus)
    if claim.relation == "≡":
        return Outcome.UNDECIDED, UNREAD, "a congruence without its modulus"
    if _mixes_degrees_and_radians(left, right) or _mixes_degrees_and_radians(right, left):
        return Outcome.UNDECIDED, UNREAD, "degrees and radians"
    if has_mixed_scales(left, right):
        return _judge_units(claim, left, right, wording)
    first, second = evaluate(left.node), evaluate(right.node)
    if claim.right.remainder is not None:
        return _judge_division(claim, left, second.number, claim.right.remainder, wording)
    if claim.relation not in ("=", "~"):
        return _judge_order(claim, first, second, wording)
    if not left.has_operation and claim.left.is_named:
        return Outcome.UNDECIDED, UNREAD, "the number on the left may be part of a name"
    kind = agreement(claim.relation, left, right, first, second)
    if kind:
        return Outcome.RIGHT, kind, ""
    reason = f"{_text(first)} is not {_text(second)}"
    if claim.relation == "=" and _goes_on_from(first, claim.right):
        return Outcome.UNDECIDED, RUNNING, reason + "; the next member goes on from the value so far"
    excuse = (
        _doubt(claim, wording)
        or wording.other_arithmetic(first.number - second.number)
        or excuses(claim, left, right, first, second, wording)
        or doubt_of_numbers(claim, left, right, first, second)
    )
    return _held_against(excuse, "equation", reason)


def _doubt_operations(claim: Claim, defined: frozenset[str]) -> None:
    """Doubt a claim that uses a sign to which the text gives a meaning of its own."""
    if any(
        token.kind == "OP" and token.text in defined for token in (*claim.left.tokens, *claim.right.tokens)
    ):
        claim.doubts = [*claim.doubts, "an operation that the text defines"]


def _mixes_degrees_and_radians(side: Parse, other: Parse) -> bool:
    """Whether one side is an angle in degrees and the other holds pi: 30° = pi/6."""
    return "°" in side.labels and "°" not in other.labels and "pi" in other.traits


def _held_against(excuse: str, kind: str, reason: str) -> Finding:
    """Turn a false claim into WRONG, or into UNDECIDED where something excuses it."""
    if excuse:
        return Outcome.UNDECIDED, DOUBTFUL, f"{reason}{EXCUSED_BY}{excuse}"
    return Outcome.WRONG, kind, reason


def _judge_division(
    claim: Claim, left: Parse, quotient: Fraction, remainder: Fraction, wording: Wording
) -> Finding:
    """Judge 1529 / 6 = 254 remainder 5: right when 6 * 254 + 5 = 1529 and 0 <= 5 < 6."""
    node = left.node
    if claim.relation != "=" or node.kind != "/" or node.left is None or node.right is None:
        return Outcome.UNDECIDED, UNREAD, "a remainder of something other than a quotient"
    over, under = evaluate(node.left).number, evaluate(node.right).number
    if under * quotient + remainder == over and 0 <= remainder < abs(under):
        return Outcome.RIGHT, "division", ""
    reason = f"{under} * {quotient} + {remainder} is not {over} with a remainder below {under}"
    return _held_against(_doubt(claim, wording), "division", reason)


def _judge_congruence(claim: Claim, left: Parse, right: Parse, modulus: int) -> Finding:
    """Judge 7 * 5 = 3 (mod 8), of whole numbers."""
    first, second = residue(left.node, modulus), residue(right.node, modulus)
    if first == second:
        return Outcome.RIGHT, "congruence", ""
    doubts = _doubts(claim)
    reason = f"the remainders by {modulus} are {first} and {second}"
    return _held_against(doubts[0] if doubts else "", "congruence", reason)


def _goes_on_from(value: Value, member: Member) -> bool:
    """Whether a member starts with the value so far and computes on: 48 / 6 = 8 + 5, 2 - 5 = (-3) + 1.

    A member that starts with a computation in brackets is a rewriting of the one before, not a going on.
    """
    tokens, found = member.tokens, member.parse
    if found is None or not found.has_operation:
        return False
    if tokens[0].kind in ("(", "{"):
        closing = next((i for i, token in enumerate(tokens) if token.kind in (")", "}")), 0)
        kinds = [token.kind for token in tokens[1:closing]]
        if kinds not in (["NUM"], ["OP", "NUM"]):
            return False
    return found.first_number == value.number


def _judge_order(claim: Claim, first: Value, second: Value, wording: Wording) -> Finding:
    difference = first.number - second.number
    if is_same(first, second):
        difference = Fraction(0)
    if order_holds(claim.relation, difference):
        return Outcome.RIGHT, "inequality", ""
    excuse = _doubt(claim, wording)
    if not excuse and (claim.left.is_named or claim.relation == "!="):
        excuse = "an inequality inside a sentence"
    reason = f"{_text(first)} {claim.relation} {_text(second)} does not hold"
    return _held_against(excuse, "inequality", reason)


def _judge_units(claim: Claim, left: Parse, right: Parse, wording: Wording) -> Finding:
    """Judge a claim that mixes units of one dimension, such as 5 m + 40 cm = 5.4 m."""
    first, second = evaluate_in_base_units(left.node), evaluate_in_base_units(right.node)
    fits = first is not None and second is not None and first[1] == second[1]
    if claim.relation not in ("=", "~"):
        if not fits or first is None or second is None:
            return Outcome.UNDECIDED, UNREAD, "units that cannot be compared"
        return _judge_order(claim, Value(first[0]), Value(second[0]), wording)
    is_sum = all(is_sum_of_quantities(side) for side in (left, right))
    plain_first, plain_second = evaluate(left.node), evaluate(right.node)
    is_true_plainly = not mixes_in_sum(left, right) and bool(
        agreement(claim.relation, left, right, plain_first, plain_second)
    )
    if first is not None and second is not None and first[1] == second[1]:
        if first[0] == second[0] or rounds_in_units(first[0], right):
            return Outcome.RIGHT, "units", ""
        reason = f"{first[0]} is not {second[0]} in base units"
        is_scale = left.node.kind not in ("+", "-") and right.node.kind not in ("+", "-")
        if is_sum and claim.relation == "=" and not is_true_plainly and not is_scale:
            return _held_against(_doubt(claim, wording), "units", reason)
    else:
        reason = "the units on the two sides do not fit together"
    if is_true_plainly:
        return Outcome.RIGHT, "exact", ""
    return Outcome.UNDECIDED, DOUBTFUL, reason


def _doubt(claim: Claim, wording: Wording) -> str:
    """Return what makes it doubtful that the claim is read as it is meant; "" when nothing does."""
    doubts = _doubts(claim)
    return doubts[0] if doubts else wording.doubt(claim.start, claim.end)


def _doubts(claim: Claim) -> tuple[str, ...]:
    return (*claim.doubts, *claim.left.doubts, *claim.right.doubts)


def _shown(member: Member) -> str:
    if member.parse is None:
        return ""
    try:
        if "compound" in member.parse.traits:
            converted = evaluate_in_base_units(member.parse.node)
            return "" if converted is None else f"{converted[0]} in base units"
        return _text(evaluate(member.parse.node))
    except UnreadableError:
        return ""


def _text(value: Value) -> str:
    """Return a value as a whole number or fraction; an irrational one as a decimal."""
    if value.is_exact:
        return str(value.number)
    return f"{float(value.number):.12g}"
