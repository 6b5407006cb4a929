import pytest

from labeling.errors import ConfigError
from labeling.simulators.engineering import EngineeringWorld
from labeling.simulators.load import load_simulator


class Mine(EngineeringWorld):
    """A user's own world."""

    @property
    def name(self) -> str:
        return "mine"


def test_a_simulator_is_loaded_by_its_name():
    assert load_simulator("engineering:deep:8").depths == (8, 8)
    assert load_simulator("engineering:deep:8-12").depths == (8, 12)
    assert load_simulator(f"{__name__}:Mine").name == "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("enginering", "there is no simulator 'enginering'"),
        ("engineering:middle", "no part 'middle'"),
        ("engineering:deep:x", "cannot be read"),
        ("engineering:deep:2-40", "not within 3..12"),
        ("engineering:deep:3:4", "cannot be read"),
        ("no_such_package:World", "no module no_such_package"),
        ("json:World", "module json has no World"),
        ("json:JSONDecoder", "which has no name, problems, verify, truth, grade"),
    ],
)
def test_a_simulator_that_cannot_be_loaded_is_the_users_mistake_and_says_why(name, message):
    with pytest.raises(ConfigError, match=message):
        load_simulator(name)
