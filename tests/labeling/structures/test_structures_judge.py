"""What the judge says of single steps, worked by hand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.records import Problem, Solution
from labeling.simulators.structures import StressLimits
from labeling.simulators.structures.agreement import compare
from labeling.simulators.structures.families.base import Line, down
from labeling.simulators.structures.families.base import given as amounts
from labeling.simulators.structures.quantities import Quantity, Setting
from labeling.simulators.structures.sections import section_named
from labeling.simulators.structures.spec import Spec, meta_of
from labeling.verifiers.verdict import Outcome

RIGHT, WRONG, UNDECIDED = Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED
WORLD = StressLimits()


def beam():
    """A simple beam of 6 m, 12 kN at 2 m from A, timber 100 x 200 mm with E = 11 GPa.

    R_A = 12 * 4 / 6 = 8 kN, R_B = 4 kN, M = 8 * 2 = 16 kN m, W = 100 * 200^2 / 6 = 666 667 mm^3,
    sigma = 24 MPa, n = 12 / 24 = 0.5, I = 6667 cm^4,
    delta_C = 12 * 2^2 * 4^2 / (3 * 11e6 * 6.6667e-5 * 6) = 58.18 mm.
    """
    structure = Line(
        {"A": 0.0, "C": 2.0, "G": 4.0, "B": 6.0},
        {"A": "pin", "B": "roller"},
        [down("C", 12.0)],
        load_places=("C", "G"),
    ).build()
    quantities = (
        Quantity("R_A", "reaction", "A"),
        Quantity("R_B", "reaction", "B"),
        Quantity("V_max", "shear"),
        Quantity("M_max", "moment"),
        Quantity("I", "second_moment"),
        Quantity("W", "section_modulus"),
        Quantity("sigma", "stress"),
        Quantity("delta_C", "deflection", "C"),
        Quantity("n", "safety"),
    )
    formulas = {
        "R_A": "P * b / L", "R_B": "P * a / L", "V_max": "R_A", "M_max": "R_A * a", "I": "B * H^3 / 12",
        "W": "I / (H / 2)", "sigma": "M_max / W", "delta_C": "P * a^2 * b^2 / (3 * E * I * L)",
        "n": "allowable / sigma",
    }  # fmt: skip
    givens = (
        amounts("kN", P=12) | amounts("m", L=6, a=2, b=4) | amounts("GPa", E=11)
        | amounts("MPa", allowable=12) | amounts("mm", B=100, H=200)
    )  # fmt: skip
    spec = Spec(
        family="simple-point",
        setting=Setting(structure, section_named("R 100x200"), 11_000, 12),
        limit=30,
        quantities=quantities,
        formulas=tuple(formulas.items()),
        givens=tuple(givens.items()),
        mistakes=(),
    )
    return Problem(id="beam", text="A simply supported beam.", answer="n = 0.5, not safe", meta=meta_of(spec))


BEAM = beam()


def judged(*steps):
    return WORLD.verify(BEAM, Solution.from_steps(list(steps), id="s", problem=BEAM))


def outcome(*steps):
    return [v.outcome for v in judged(*steps)][-1]


def wrong_kind(*steps):
    verdict = judged(*steps)[-1]
    assert verdict.outcome is WRONG, verdict
    return next(item.kind for item in verdict.evidence if item.outcome == WRONG)


@pytest.mark.parametrize(
    "step",
    [
        "R_A = 8 kN",
        "R_A=8kN",
        "R_A = 8000 N, R_B = 4000 N",
        "$R_{A} = \\frac{12 \\text{ kN} \\cdot 4 \\text{ m}}{6 \\text{ m}} = 8\\,\\text{kN}$",
        "Taking moments about B, the reaction at A is 8 kN and the reaction at B is 4 kN.",
        "Reaction at A: 8 kN",
        "V_max = R_A = 8 kN",
        "V_max = 8000 N = 8 kN",
        "The maximum bending moment is 16 kNm.",
        "M_max = 8 kN * 2 m = 16 kN m, at C",
        "M_max = 1.6e7 N mm",
        "W = b h^2 / 6 = 100 mm * (200 mm)^2 / 6 = 666.7 cm^3",
        "the section modulus of 6.67 x 10^5 mm^3",
        "\\sigma_{max} = M_{max}/W = 24 N/mm^2 > 12 MPa",
        "σ = 24.1 MPa",
        "delta_C = 5.8 cm",
        "deflection at C = 0.0582 m",
        "so the factor of safety is about 0.5",
        "sigma = 16 kN m / 667 cm^3 = 24 MPa, and 24 MPa > 12 MPa: the stress limit is exceeded.",
        "The beam is not safe.",
    ],
)
def test_honest_steps_in_many_wordings_are_right(step):
    assert outcome(step) is RIGHT


@pytest.mark.parametrize(
    "step",
    [
        "",
        "First the reactions, then the stress.",
        "12 kN * 2 m = 24 kN m",
        "R_A + R_B = 12 kN",
        "6 m * R_A = 48 kN m",
        "L R_A = 48 kN m",
        "R_A = P b / L",
        "R_A = 8",
        "M_C = 5 kN m",
        "delta_C = 0 m",
        "Suppose R_A = 9 kN.",
        "Is R_A = 9 kN?",
        "A beam of 6 m carries 12 kN at C.",
    ],
)
def test_what_states_nothing_known_or_cannot_be_told_is_undecided(step):
    assert outcome(step) is UNDECIDED


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        ("R_A = 4 kN", "reaction: wrong_load_path"),
        ("R_A = 4 kN = 8 kN", "reaction: wrong_load_path"),
        ("R_A = -8 kN", "reaction: wrong_sign"),
        ("R_A = 8 MN", "reaction: unit_slip"),
        ("R_A = 8 kN m", "reaction: dimension"),
        ("n = 0.5 MPa", "safety: dimension"),
        ("M_max = 16 kN", "moment: dimension"),
        ("M_max = 18 kN m", "moment: other_formula"),
        ("M_max = 13 kN m", "moment: unexplained"),
        ("W = 540 cm^3", "section_modulus: wrong_section"),
        ("I = 4860 cm^4", "second_moment: wrong_section"),
        ("sigma = 24 kPa", "stress: unit_slip"),
        ("the deflection at C is 73.6 mm", "deflection: other_formula"),
        ("M_max = 8 kN * 2 m = 17 kN m", "equation: arithmetic"),
        ("12 kN * 4 m / 6 m = 9 kN", "equation: arithmetic"),
        ("the deflection limit is kept", "verdict: wrong_verdict"),
        ("Answer: n = 0.5, safe", "verdict: wrong_verdict"),
    ],
)
def test_a_wrong_value_is_wrong_for_its_cause(step, kind):
    assert wrong_kind(step) == kind


def test_evidence_says_where_what_and_why():
    # R 100x180: W = 100 * 180^2 / 6 = 540 000 mm^3.
    verdict = judged("Then W = 540 cm^3.")[0]
    (item,) = verdict.evidence
    assert (item.text, item.start, item.end) == ("W = 540 cm^3", 5, 17)
    assert (item.verifier, item.left, item.right) == ("structures", "540 cm^3", "W = 666.7 cm^3")
    assert item.reason.endswith("wrong section: value of R 100x180")
    assert item.reason == verdict.reason


def test_of_a_chain_the_last_amount_counts_and_the_working_tells_why_it_is_wrong():
    verdict = judged("R_A = 12 kN * 4 m / 6 m = 9 kN")[0]
    item = next(e for e in verdict.evidence if e.kind.startswith("reaction"))
    assert (item.kind, item.left) == ("reaction: arithmetic", "9 kN")
    assert "the working comes to 8 kN" in item.reason


def test_every_mistake_that_gives_the_value_is_told():
    # 12 kN at 4 m in place of 2 m gives R_A = 12 * 2 / 6 = 4 kN, which is R_B, too.
    reason = judged("R_A = 4 kN")[0].reason
    assert "value of R_B; or wrong load path: the load of 12 kN at C put at x = 4 m" in reason


def test_an_error_that_is_carried_on_keeps_later_steps_wrong_and_says_from_where():
    steps = (
        "R_A = 9 kN",
        "M_max = 9 kN * 2 m = 18 kN m",
        "sigma = 18 kN m / 666.7 cm^3 = 27 MPa",
        "R_B = 4 kN",
    )
    verdicts = judged(*steps)
    assert [v.outcome for v in verdicts] == [WRONG, WRONG, WRONG, RIGHT]
    kinds = [v.evidence[0].kind for v in verdicts]
    assert kinds == ["reaction: unexplained", "moment: carried_on", "stress: carried_on", "reaction"]
    assert "M_max = 18 kN m" in verdicts[2].reason


def test_a_wrong_verdict_that_follows_from_wrong_values_is_carried_on():
    steps = ("sigma = 10 MPa", "delta_C = 20 mm", "Answer: n = 1.2, safe")
    assert [e.kind for e in judged(*steps)[-1].evidence] == ["verdict: carried_on", "safety: carried_on"]


def test_a_direction_in_words_stands_for_a_minus_sign():
    # 1 m of overhang lifts the far end: judged on a family with an uplift.
    world = StressLimits(families=("overhang",))
    problem = world.problems(1, split="train", seed=0)[0]
    stated = world.verify(problem, Solution.from_steps(["R_A = 1 kN"], id="s", problem=problem))[0]
    size = stated.evidence[0].right.removeprefix("R_A = -")

    def said(text):
        return world.verify(problem, Solution.from_steps([text], id="s", problem=problem))[0]

    assert said(f"R_A = -{size}").outcome is RIGHT
    assert said(f"R_A = {size}, acting downwards").outcome is RIGHT
    assert said(f"R_A = {size}").evidence[0].kind == "reaction: wrong_sign"


def test_repetitions_and_prose_are_not_needed():
    steps = ["R_A = 8 kN", "So R_A = 8 kN.", "The beam is loaded.", "R_B = 5 kN", "R_B = 4 kN"]
    truth = WORLD.truth(BEAM, Solution.from_steps(steps, id="s", problem=BEAM))
    assert [t.is_needed for t in truth] == [True, False, False, False, True]
    assert [t.is_quantity_right for t in truth] == [True, True, None, False, True]


def test_the_tolerance_by_hand():
    assert compare(8.07, 8.0, 0.01) is RIGHT  # 0.9 %
    assert compare(8.09, 8.0, 0.01) is WRONG  # 1.1 %
    assert compare(8.0, 8.3, 1.0) is RIGHT  # 0.3 off, half a unit of the last digit, 3.6 %
    assert compare(8.0, 8.45, 1.0) is UNDECIDED  # 0.45 off, half a unit, but 5.3 %
    assert compare(0.0, 0.003, 1.0) is UNDECIDED
    assert compare(8.0, 8.6, 1.0) is WRONG


@given(st.floats(1e-3, 1e6), st.floats(0.5, 2), st.floats(0, 10))
def test_only_what_is_within_five_per_cent_is_ever_right(true, ratio, digit):
    if compare(ratio * true, true, digit) is RIGHT:
        assert abs(ratio - 1) <= 0.05 + 1e-6


# --- grading ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("Answer: n = 0.5, not safe", True),
        ("R_A = 8 kN\n**Answer:** n = 0.502, not safe\n", True),
        ("answer: the factor of safety is 0.50, unsafe", True),
        ("Answer: n = 0.5, safe", False),
        ("Answer: n = 0.53, not safe", False),
        ("Answer: n = 0.5 MPa, not safe", False),
        ("Answer: n = 0.5, not safe, or n = 0.7, safe", False),
        ("Answer: n = 0.5, not safe\nAnswer: n = 0.7, safe", False),
        ("Answer: n = 0.7, safe\nAnswer: n = 0.5, not safe", False),
        ("Answer: not safe", None),
        ("n = 0.5, not safe", None),
        ("", None),
    ],
)
def test_grades_by_hand(text, grade):
    assert WORLD.grade(BEAM, text) is grade


# --- hostile text ----------------------------------------------------------------------------------------

HOSTILE = [
    "R_A = " + "9" * 5000 + " kN",
    "R_A = 1e999 kN",
    "R_A = 10^10^10 kN",
    "n = 1 / 0",
    "n = 0",
    "sigma = 0 MPa",
    "R_A = 0 kN, R_A = -0 kN",
    "R_A = " * 3000,
    "R_A = R_B = " * 500 + "8 kN",
    "(" * 2000 + "R_A = 8 kN" + ")" * 2000,
    "= = = R_A = = 8 kN = =",
    "R_A is is is is is 8 kN",
    "\x00R_A\u202e = 8 kN\ud7ff",
    "R_A = ８ kN",
    "n = ½",
    "M_max = 16 kN^99 m^-99",
    "Answer: n = n = n = 0.5 safe not safe",
    "the stress limit is the deflection limit is kept " * 200,
    "Answer " + "x" * 19_000,
    "A = A = I = W = n = 5 mm^2",
    "\\sigma\\sigma\\delta = \\frac{}{} = 24 MPa",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_steps_get_a_verdict(text):
    (verdict,) = judged(text)
    assert verdict.outcome in Outcome
    assert WORLD.grade(BEAM, text) in (True, False, None)


@settings(max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.sampled_from(
                ["R_A", "M_max", "sigma", "n", "W", "delta_C", "=", "is", ",", ".", ":", "8 kN", "(", ")"]
            ),
            st.sampled_from(
                ["16 kN m", "24 MPa", "0.5", "-", "*", "/", "^", "<", "Answer", "safe", "not", "\n", "1e400"]
            ),
            st.text(max_size=6),
        ),
        max_size=25,
    )
)
def test_any_text_gets_a_verdict_whose_evidence_gives_its_own_text(words):
    text = " ".join(words)
    (verdict,) = judged(text)
    for item in verdict.evidence:
        assert 0 <= item.start <= item.end <= len(text)
        assert item.text == text[item.start : item.end]
    WORLD.grade(BEAM, text)
