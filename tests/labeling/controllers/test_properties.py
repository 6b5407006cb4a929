"""The combinators on histories worked out by hand."""

from types import SimpleNamespace

import pytest

from labeling.simulators.controllers.properties import fell, held, never, responds, rose, since

NONE = SimpleNamespace()


def history(**columns):
    length = len(next(iter(columns.values())))
    rows = [{name: int(text[t]) for name, text in columns.items()} for t in range(length)]
    return [SimpleNamespace(**row) for row in rows]


def test_never_tells_the_first_bad_cycle():
    check = never(lambda h, t, p: h[t].a and h[t].b)
    assert check(history(a="0101", b="1001"), NONE) == 3
    assert check(history(a="0110", b="1001"), NONE) is None
    assert check([], NONE) is None


@pytest.mark.parametrize(
    ("trigger", "response", "release", "expected"),
    [
        ("0100000", "0001000", "0000000", None),  # in time: cycle 3 is 1 + 2
        ("0100000", "0000100", "0000000", 3),  # one late
        ("0100000", "1000000", "0000000", 3),  # before does not count
        ("0100000", "0100000", "0000000", None),  # in the same cycle
        ("0100000", "0000000", "0001000", None),  # released at the last moment
        ("0100000", "0000000", "0000100", 3),  # released too late
        ("0100000", "0000000", "1000000", 3),  # released before
        ("0000010", "0000000", "0000000", None),  # its time reaches beyond the end
        ("0000100", "0000000", "0000000", 6),  # its time ends with the history
        ("1100000", "0010000", "0000000", None),  # one response serves two triggers
    ],
)
def test_responds_within_two_cycles(trigger, response, release, expected):
    check = responds(
        lambda h, t, p: h[t].trigger,
        lambda h, t, p: h[t].response,
        within=2,
        unless=lambda h, t, p: h[t].release,
    )
    assert check(history(trigger=trigger, response=response, release=release), NONE) == expected


def test_the_time_to_respond_may_be_a_parameter():
    check = responds(lambda h, t, p: h[t].a, lambda h, t, p: h[t].b, within="n")
    h = history(a="10000", b="00010")
    assert check(h, SimpleNamespace(n=3)) is None
    assert check(h, SimpleNamespace(n=2)) == 2


def test_edges_runs_and_last_times():
    h = history(a="1101")
    assert [rose(h, t, "a") for t in range(4)] == [True, False, False, True]
    assert [fell(h, t, "a") for t in range(4)] == [False, False, True, False]
    assert [held(h, t, lambda c: c.a) for t in range(4)] == [1, 2, 0, 1]
    assert [since(h, t, lambda c: c.a) for t in range(4)] == [0, 1, 1, 3]
    assert since(h, -1, lambda c: c.a) is None
