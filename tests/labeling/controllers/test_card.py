"""The data card says what the code says."""

import re

from labeling.simulators.controllers.engine import LIMITS
from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.shrink import MOST_CYCLES
from labeling.simulators.controllers.st.grammar import MOST_SETTLED
from labeling.simulators.controllers.st.runtime import MOST_ITERATIONS
from labeling.simulators.controllers.traces import RANDOM_TRACES


def test_the_card_lists_every_specification_with_its_properties(repository):
    card = (repository / "data_cards" / "controllers.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| ([a-z-]+) \| [^|]* \| (\d+) \|", card, re.MULTILINE))
    assert "labeling.simulators.controllers" in card
    assert {name: int(n) for name, n in rows.items()} == {
        name: sum(len(task.properties) for task in family.tasks) for name, family in FAMILIES.items()
    }
    assert f"within {MOST_CYCLES:,} cycles run" in card
    assert f"{RANDOM_TRACES} random ones" in card
    assert f"({LIMITS.seconds:g} s)" in card


def test_the_decision_names_the_limits(repository):
    note = (repository / "docs/decisions/0008-structured-text-blark.md").read_text(encoding="utf-8")
    assert f"{MOST_SETTLED:,} characters" in note
    assert f"{MOST_ITERATIONS:,} iterations" in note
