"""The shortest failing trace."""

from hypothesis import given
from hypothesis import strategies as st

from labeling.simulators.controllers.shrink import MOST_CYCLES, shrink


def fails_with(predicate):
    calls = []

    def fails(traces):
        calls.extend(traces)
        return [next((t for t in range(len(x)) if predicate(x[: t + 1])), None) for x in traces]

    return fails, calls


def test_what_does_not_matter_is_taken_out():
    # Fails when the first column was on at some time before a cycle in which the second is on.
    fails, _ = fails_with(lambda trace: trace[-1][1] and any(row[0] for row in trace[:-1]))
    trace = ((0, 0, 3), (1, 0, 4), (0, 0, 5), (1, 1, 6), (0, 1, 7))
    assert shrink(trace, 3, (0, 0, 0), fails) == (((1, 0, 0), (0, 1, 0)), 1)


def test_an_input_that_must_not_be_at_rest_keeps_its_value():
    fails, _ = fails_with(lambda trace: trace[-1][0] >= 7)
    assert shrink(((9,), (2,), (8,)), 0, (0,), fails) == (((9,),), 0)


def test_what_does_not_fail_again_is_only_cut_at_its_end():
    trace = ((1, 2), (0, 1), (1, 1), (0, 0))
    assert shrink(trace, 2, (0, 0), lambda traces: [None] * len(traces)) == (trace[:3], 2)


def test_the_search_is_bounded_and_the_same_each_time():
    predicate = lambda trace: sum(row[0] for row in trace) >= 40  # noqa: E731
    trace = tuple((t % 2, t % 3) for t in range(120))
    fails, calls = fails_with(predicate)
    found = shrink(trace, 79, (0, 0), fails)
    assert sum(len(t) for t in calls) <= MOST_CYCLES
    assert found == shrink(trace, 79, (0, 0), fails_with(predicate)[0])


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9)), min_size=1, max_size=25),
    st.integers(1, 6),
    st.integers(0, 9),
)
def test_a_shrunk_trace_fails_and_no_cycle_of_it_can_go(rows, count, least):
    fails, _ = fails_with(lambda trace: sum(on for on, level in trace if level >= least) >= count)
    place = fails([tuple(rows)])[0]
    if place is None:
        return
    trace, cycle = shrink(tuple(rows), place, (0, 0), fails)
    assert len(trace) == cycle + 1 <= place + 1
    assert fails([trace]) == [cycle]
    assert fails([trace[:i] + trace[i + 1 :] for i in range(len(trace))]) == [None] * len(trace)
