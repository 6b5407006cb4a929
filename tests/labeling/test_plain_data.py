"""What crosses from a sandbox: values of exact builtin types come back equal, everything else is refused."""

import collections
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.verifiers._sandbox.encode import MAX_DEPTH, encode
from labeling.verifiers._sandbox.plain import (
    MAX_HASHED,
    NotPlainError,
    canonical,
    decode,
    encode_trusted,
    parse,
    same,
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers(allow_nan=False)
    | st.text()
    | st.binary(max_size=20)
)
HASHABLE = st.recursive(SCALARS, lambda inner: st.tuples(inner, inner) | st.frozensets(inner), max_leaves=6)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.sets(HASHABLE, max_size=4)
        | st.dictionaries(HASHABLE, inner, max_size=4)
    ),
    max_leaves=12,
)


def crossed(value):
    return parse(json.dumps(encode(value)))


def has_nan(value):
    return "nan" in repr(value)


@given(VALUES)
def test_a_value_crosses_and_comes_back_equal_and_of_the_same_type(value):
    back = decode(crossed(value))
    assert same(crossed(value), encode(value))
    if not has_nan(value):
        assert back == value
    assert type(back) is type(value)


@given(VALUES, VALUES)
def test_two_values_are_the_same_when_python_says_so(left, right):
    if not has_nan((left, right)):
        assert same(crossed(left), encode(right)) == (left == right)


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        (True, 1, True),
        (1, 1.0, True),
        (0.1 + 0.2, 0.3, False),
        (2**70, float(2**70), True),
        (-0.0, 0, True),
        (math.nan, math.nan, True),
        (math.inf, math.inf, True),
        (math.inf, -math.inf, False),
        (10**4000, 10**4000, True),
        (10**4000, 10**4000 + 1, False),
        ("1", 1, False),
        ([1, 2], (1, 2), False),
        ({1, 2}, {2, 1.0}, True),
        ({1: 2, 3: 4}, {3: 4, 1: 2}, True),
        ({1, 2}, [1, 2], False),
        ([], {}, False),
        ([], (), False),
        (b"a", "a", False),
        (1 + 0j, 1, True),
        (None, False, False),
        (None, "None", False),
        ("\ud800", "\ud800", True),
    ],
)
def test_what_is_the_same_and_what_is_not(left, right, is_same):
    assert same(crossed(left), encode(right)) is is_same


def test_an_expectation_written_in_json_takes_a_tuple_for_a_list_at_any_depth():
    assert same(crossed(((1, 2), [3])), encode([[1, 2], [3]]), is_json=True)
    assert not same(crossed(((1, 2), [3])), encode([[1, 2], [4]]), is_json=True)


@pytest.mark.parametrize(
    ("left", "right", "is_same"),
    [
        (1.0000001, 1, True),
        ([0.1 + 0.2, "a"], [0.3, "a"], True),
        (1.1, 1, False),
        ("1.0000001", 1, False),
        ([1.0], [1.0, 2.0], False),
        (10**400, 10**400, True),
        (10**400, -(10**400), False),
        ({"a": 0.30000000000000004}, {"a": 0.3}, True),
    ],
)
def test_a_tolerance_concerns_numbers_alone(left, right, is_same):
    assert same(crossed(left), encode(right), tolerance=1e-6) is is_same


class Agreeing:
    def __eq__(self, other):
        return True

    __hash__ = None


class AgreeingInt(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


class NamedDict(dict):
    def items(self):
        return [("forged", 1)]


@pytest.mark.parametrize(
    "value",
    [Agreeing(), AgreeingInt(3), [Agreeing()], {"a": (1, AgreeingInt(2))}, object(), print, int, range(3)],
    ids=repr,
)
def test_objects_are_no_plain_data_at_any_depth(value):
    with pytest.raises(NotPlainError):
        encode_trusted(value)


def test_the_dicts_of_the_standard_library_cross_as_dicts():
    ordered = collections.OrderedDict(a=1)
    for value in (collections.Counter("aab"), ordered, collections.defaultdict(list, a=[1])):
        assert decode(crossed(value)) == dict(value)
    NamedDict.__name__ = "Counter"
    assert decode(crossed(NamedDict(a=2))) == {"a": 2}


def test_a_value_that_holds_itself_or_is_too_deep_is_refused():
    itself = []
    itself.append(itself)
    deep = 1
    for _ in range(MAX_DEPTH + 1):
        deep = [deep]
    for value in (itself, deep):
        with pytest.raises(NotPlainError):
            encode_trusted(value)
    assert decode(crossed(deep[0])) == deep[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing",
        "1.5",
        "NaN",
        "1e999",
        "9" * 5000,
        "[" * 100_000,
        '{"int": 3}',
        '{"int": "zz"}',
        '{"float": 1}',
        '{"float": "' + "9" * 50 + '"}',
        '{"float": "x"}',
        '{"bytes": "0"}',
        '{"bytes": 1}',
        '{"complex": ["1"]}',
        '{"complex": 3}',
        '{"tuple": 3}',
        '{"set": {"tuple": []}}',
        '{"dict": [1]}',
        '{"dict": [[1, 2, 3]]}',
        '{"unknown": []}',
        "{}",
        '{"tuple": [], "set": []}',
    ],
    ids=lambda text: text[:30],
)
def test_what_no_encoder_wrote_is_refused_by_both_readers(text):
    with pytest.raises(NotPlainError):
        decode(parse(text))
    with pytest.raises(NotPlainError):
        same(parse(text), 1)


@pytest.mark.parametrize("text", ['{"set": [[1]]}', '{"dict": [[{"set": []}, 1]]}'])
def test_elements_and_keys_without_a_hash_are_refused(text):
    with pytest.raises(NotPlainError, match="no hash"):
        decode(parse(text))


def test_hashes_made_to_collide_cost_nothing_in_a_comparison_and_are_limited_in_a_value():
    colliding = {"set": [{"int": hex(k * (2**61 - 1))} for k in range(20_000)]}
    assert not same(colliding, encode({1}))
    with pytest.raises(NotPlainError, match="too many"):
        decode(colliding)
    assert len(decode({"set": colliding["set"][:MAX_HASHED]})) == MAX_HASHED
    assert len(decode({"dict": [[str(k), k] for k in range(20_000)]})) == 20_000


def test_the_canonical_form_forgets_the_order_of_sets():
    assert canonical(encode({3, 1, 2})) == canonical({"set": [2, 3, 1, 1]})
