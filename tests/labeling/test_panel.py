import subprocess
import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.cards import measure, to_markdown
from labeling.errors import ConfigError, RecordError
from labeling.records import Problem, Solution, labelled_from_verdicts
from labeling.verifiers.answers import AnswersVerifier
from labeling.verifiers.panel import Panel, combine, reasons_of
from labeling.verifiers.registry import VERIFIERS, load_panel, load_verifier
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

PROBLEM = Problem(id="p", text="How many?", answer="5")
SOLUTION = Solution.from_steps(["2 + 3 = 5", "A: 6"], id="s", problem=PROBLEM)


@dataclass
class Fixed:
    """A verifier that always says the same."""

    name: str = "fixed"
    verdicts: tuple[Verdict, ...] = ()
    is_closed: bool = False

    def verify(self, problem, solution):
        return list(self.verdicts)

    def close(self):
        self.is_closed = True


def said(outcome, name="v"):
    return Verdict(Outcome(outcome), f"{name} says {outcome}", (Evidence(verifier=name, outcome=outcome),))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("RIGHT", "RIGHT", "RIGHT"),
        ("RIGHT", "UNDECIDED", "RIGHT"),
        ("RIGHT", "WRONG", "WRONG"),
        ("WRONG", "WRONG", "WRONG"),
        ("WRONG", "UNDECIDED", "WRONG"),
        ("UNDECIDED", "UNDECIDED", "UNDECIDED"),
    ],
)
def test_wrong_wins_over_right_and_right_over_undecided(first, second, expected):
    assert combine([("a", said(first)), ("b", said(second))]).outcome == expected
    assert combine([("a", said(second)), ("b", said(first))]).outcome == expected


@given(st.lists(st.sampled_from(["RIGHT", "WRONG", "UNDECIDED"]), min_size=1, max_size=6))
def test_the_outcome_is_the_strongest_that_anybody_said_and_all_evidence_stays(outcomes):
    members = [(f"v{i}", said(outcome, f"v{i}")) for i, outcome in enumerate(outcomes)]
    together = combine(members)
    strength = {"UNDECIDED": 0, "RIGHT": 1, "WRONG": 2}
    assert together.outcome == max(outcomes, key=strength.__getitem__)
    assert [item.verifier for item in together.evidence] == [name for name, _ in members]


def test_a_dissent_is_kept_in_the_reason():
    together = combine([("arithmetic", said("RIGHT", "arithmetic")), ("answers", said("WRONG", "answers"))])
    assert together.reason == "answers: answers says WRONG; dissent: arithmetic says RIGHT"
    assert "dissent" not in combine([("a", said("WRONG")), ("b", said("UNDECIDED"))]).reason


def test_a_panel_judges_step_by_step_and_is_named_after_its_members():
    arithmetic = Fixed("arithmetic", (said("RIGHT"), said("UNDECIDED")))
    with AnswersVerifier() as answers:
        panel = Panel([arithmetic, answers])
        outcomes = [str(verdict.outcome) for verdict in panel.verify(PROBLEM, SOLUTION)]
    assert outcomes == ["RIGHT", "WRONG"]
    assert panel.name == "arithmetic,answers"


@pytest.mark.parametrize("count", [0, 1, 3])
def test_a_member_that_returns_another_number_of_verdicts_is_refused(count):
    panel = Panel([Fixed("good", (said("RIGHT"),) * 2), Fixed("bad", (said("RIGHT"),) * count)])
    with pytest.raises(RecordError, match=f"record s: bad returned {count} verdicts for 2 steps"):
        panel.verify(PROBLEM, SOLUTION)


def test_closing_a_panel_closes_its_members():
    member = Fixed()
    Panel([member]).close()
    assert member.is_closed


def test_a_panel_of_nobody_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        Panel([])


def test_a_single_name_loads_that_verifier_and_several_a_panel():
    assert isinstance(load_panel(" answers "), AnswersVerifier)
    panel = load_panel(f"answers,{__name__}:Fixed")
    assert isinstance(panel, Panel)
    assert panel.name == "answers,fixed"


def test_a_users_own_verifier_is_loaded_by_module_and_factory():
    assert load_verifier(f"{__name__}:Fixed").name == "fixed"


@pytest.mark.parametrize("name", sorted(VERIFIERS))
def test_every_verifier_of_the_registry_loads_and_has_a_name(name):
    assert load_verifier(name).name


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ("arithmetik", "Did you mean arithmetic"),
        ("answers,answer", "there is no verifier 'answer'. Did you mean answers"),
        ("zzz", "Known are arithmetic, "),
        ("", "no verifier is named"),
        (" , ", "no verifier is named"),
        ("answers,answers", "named twice"),
        ("no_such_package.verifier:Factory", "no module no_such_package"),
        ("json.nothing:Factory", "no module json.nothing"),
        ("json:Factory", "module json has no Factory"),
        ("json:JSONDecoder", "makes a JSONDecoder, which has no name, verify"),
        ("json:", "there is no verifier 'json:'"),
    ],
)
def test_a_verifier_that_cannot_be_loaded_is_the_users_mistake_and_says_why(names, message):
    with pytest.raises(ConfigError, match=message) as raised:
        load_panel(names)
    assert raised.value.exit_code == 2


def test_the_registry_imports_a_verifier_only_when_it_is_asked_for():
    program = (
        "import sys, labeling.verifiers.registry; "
        "loaded = {'sympy', 'math_verify', 'labeling.verifiers.answers', 'labeling.verifiers.arithmetic'};"
        "sys.exit(sorted(loaded & set(sys.modules)) or 0)"
    )
    finished = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr


REASONS = st.text(st.sampled_from("ab;: |"), min_size=1, max_size=12).filter(lambda text: "; a: " not in text)


@given(st.lists(REASONS, min_size=2, max_size=4))
def test_a_panels_reason_comes_apart_into_its_members_reasons(reasons):
    names = ["a", "units", "arithmetic", "x.y"][: len(reasons)]
    together = combine([(name, Verdict.undecided(why)) for name, why in zip(names, reasons, strict=True)])
    parts = [f"{name}: {why}" for name, why in zip(names, reasons, strict=True)]
    assert reasons_of(together.reason, ",".join(names)) == parts


def test_reasons_are_counted_by_verifier_and_written_as_a_table():
    whys = [("no unit", "nothing | there"), ("no unit", "a letter; alone")]
    verdicts = [
        combine([("units", Verdict.undecided(one)), ("algebra", Verdict.undecided(two))]) for one, two in whys
    ]
    facts = measure([labelled_from_verdicts(SOLUTION, verdicts, origin="units,algebra")])
    assert facts.undecided_reasons == {
        "units: no unit": 2, "algebra: nothing | there": 1, "algebra: a letter; alone": 1,
    }  # fmt: skip
    assert "| algebra: nothing \\| there | 1 |" in to_markdown(facts, title="t")


def test_the_reason_of_one_verifier_is_counted_as_it_is():
    facts = measure(
        [labelled_from_verdicts(SOLUTION, [Verdict.undecided("a; units: b")] * 2, origin="arithmetic")]
    )
    assert facts.undecided_reasons == {"a; units: b": 2}
