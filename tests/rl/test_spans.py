"""Every sampled token belongs to exactly one step, whatever the tokenizer makes of the text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toy_policy import byte_tokenizer, character_tokenizer, metaspace_tokenizer

from labeling.steps import MODES, segment
from rl.spans import (
    NO_STEP,
    CachedDecoder,
    _offsets_by_prefix,
    _offsets_piecewise,
    broadcast,
    separator_tokens,
    step_of_tokens,
    token_offsets,
)

BYTES = byte_tokenizer()
DECODE_BYTES = CachedDecoder(BYTES)
DECODE_CHARACTERS = CachedDecoder(character_tokenizer())


def ids_of(tokenizer, tokens):
    return tokenizer.convert_tokens_to_ids(tokens)


def steps_of(tokenizer, tokens, mode="line"):
    decode = CachedDecoder(tokenizer)
    ids = ids_of(tokenizer, tokens)
    text = decode(ids)
    spans = [(s.start, s.end) for s in segment(text, mode).steps]
    return step_of_tokens(ids, text, spans, decode)


def test_separators_belong_to_the_step_they_close_and_the_end_to_the_last():
    tokens = [*"1+1=2", "\n", *"2+2=4", "\n", "\n", *"4", "<eos>", "<pad>"]
    expected = [0] * 6 + [1] * 7 + [2] * 3
    assert steps_of(character_tokenizer(), tokens) == expected


def test_text_before_the_first_step_belongs_to_the_first():
    assert steps_of(character_tokenizer(), ["\n", "\n", *"a=1", "\n", *"b"]) == [0] * 6 + [1]


def test_a_token_over_a_border_belongs_to_the_step_of_its_first_ink():
    # ".Ċ" ends a step and takes the line break along; "Ċa" opens the next step behind one.
    assert steps_of(BYTES, ["1", ".Ċ", "1", "Ċa", "1"]) == [0, 0, 1, 2, 2]


def test_a_blank_in_front_of_a_word_goes_with_the_word():
    decode = CachedDecoder(BYTES)
    ids = ids_of(BYTES, ["a", "Ġb"])
    assert step_of_tokens(ids, "a b", [(0, 1), (2, 3)], decode) == [0, 1]


def test_indentation_belongs_to_the_step_that_it_indents():
    ids = ids_of(BYTES, ["a", "Ċ", "Ġ", "Ġ", "a"])
    assert step_of_tokens(ids, "a\n  a", [(0, 1), (2, 5)], DECODE_BYTES) == [0, 0, 1, 1, 1]


def test_bytes_that_only_decode_together_belong_to_the_character_they_make():
    tokens = [*BYTES.tokenize("é"), "Ċ", *BYTES.tokenize("√2"), "<eos>"]
    assert len(BYTES.tokenize("é")) == 2
    assert len(BYTES.tokenize("√")) == 3
    assert steps_of(BYTES, tokens) == [0, 0, 0, 1, 1, 1, 1, 1]


def test_the_sampled_tokens_count_not_those_the_tokenizer_would_choose():
    assert BYTES.tokenize("12\n12") == ["12", "Ċ", "12"]
    assert steps_of(BYTES, ["1", "2", "Ċ", "12"]) == [0, 0, 0, 1]


def test_a_decoder_that_looks_at_neighbours_is_followed():
    tokenizer = metaspace_tokenizer()
    decode = CachedDecoder(tokenizer)
    ids = ids_of(tokenizer, ["▁a", "c", "▁b", "▁a"])
    assert decode(ids) == "ac b a"
    assert _offsets_piecewise(ids, "ac b a", decode) is None
    assert token_offsets(ids, "ac b a", decode) == [(0, 1), (1, 2), (2, 4), (4, 6)]
    assert step_of_tokens(ids, "ac b a", [(0, 2), (3, 6)], decode) == [0, 0, 1, 1]


def test_without_steps_no_token_belongs_to_one():
    assert step_of_tokens([5, 6, 1], "ab", [], DECODE_CHARACTERS) == [NO_STEP] * 3


def test_nothing_sampled_gives_nothing():
    assert step_of_tokens([], "", [], DECODE_CHARACTERS) == []


@settings(max_examples=200, deadline=None)
@given(st.lists(st.integers(0, len(BYTES) - 1), max_size=40))
def test_any_bytes_sampled_are_covered_once_and_in_order(ids):
    text = DECODE_BYTES(ids)
    offsets = token_offsets(ids, text, DECODE_BYTES)
    assert "".join(text[start:end] for start, end in offsets) == text
    spans = [(s.start, s.end) for s in segment(text, "line").steps]
    steps = step_of_tokens(ids, text, spans, DECODE_BYTES)
    assert len(steps) == len(ids)
    assert steps == sorted(steps)
    if spans:
        assert set(steps) <= set(range(len(spans)))
        counts = [steps.count(k) for k in range(len(spans))]
        assert sum(counts) == len(ids)


TEXT_PIECES = [
    "1. ",
    "2. ",
    "Step 3: ",
    "\n",
    "\n\n",
    "<think>",
    "</think>",
    "a b. ",
    "C = 1.5",
    "é√",
    "$$",
    "- ",
    "。",
]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(TEXT_PIECES) | st.text(max_size=4), max_size=12).map("".join),
    st.sampled_from(MODES),
    st.booleans(),
)
def test_in_every_mode_the_tokens_of_the_steps_add_up_and_the_end_belongs_to_the_last(text, mode, is_open):
    ids = [*BYTES(text, add_special_tokens=False)["input_ids"], BYTES.eos_token_id]
    text = DECODE_BYTES(ids)
    found = segment(text, mode, marker="- " if mode == "marker" else None, think_is_open=is_open)
    spans = [(step.start, step.end) for step in found.steps]
    steps = step_of_tokens(ids, text, spans, DECODE_BYTES)
    is_separator = separator_tokens(ids, text, spans, DECODE_BYTES)
    assert len(is_separator) == len(ids)
    if not spans:
        assert set(steps) == {NO_STEP}
        assert not any(is_separator)
        return
    assert sum(steps.count(k) for k in range(len(spans))) == len(ids)
    assert set(steps) == set(range(len(spans)))
    assert (steps[-1], is_separator[-1]) == (len(spans) - 1, False)
    for token, (start, end) in enumerate(token_offsets(ids, text, DECODE_BYTES)):
        inked = [p for p in range(start, end) if not text[p].isspace()]
        holders = {k for k, (first, last) in enumerate(spans) for p in inked if first <= p < last}
        if end > start:
            assert is_separator[token] == all(last <= start or end <= first for first, last in spans)
        if holders:
            assert steps[token] == min(holders) or inked[0] < spans[min(holders)][0]


def test_blanks_and_labels_between_steps_are_separators_and_the_end_is_not():
    tokens = [*"a", "\n", *"2.", " ", *"b", " ", *"c", "\n", "<eos>"]
    ids = ids_of(character_tokenizer(), tokens)
    found = separator_tokens(ids, "a\n2. b c\n", [(0, 1), (5, 8)], DECODE_CHARACTERS)
    assert found == [False, True, True, True, True, False, False, False, True, False]
    assert separator_tokens(ids, "a\n2. b c\n", [], DECODE_CHARACTERS) == [False] * len(ids)


def test_a_token_that_reaches_into_a_step_is_no_separator():
    ids = ids_of(BYTES, ["1", ".Ċ", "1", "Ċa", "Ċ", "1", "<eos>"])
    assert separator_tokens(ids, "1.\n1\na\n1", [(0, 2), (3, 4), (5, 6), (7, 8)], DECODE_BYTES) == [
        False,
        False,
        False,
        False,
        True,
        False,
        False,
    ]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.sampled_from([*"ab12. ", "\n", "é", "√", "12"]), max_size=25))
def test_the_quick_way_and_the_slow_way_agree_where_both_apply(pieces):
    text = "".join(pieces)
    ids = BYTES(text)["input_ids"]
    quick = _offsets_piecewise(ids, text, DECODE_BYTES)
    assert quick == _offsets_by_prefix(ids, text, DECODE_BYTES)


def test_advantages_are_spread_over_the_tokens_of_their_step():
    spread = broadcast(np.array([1.0, -2.0]), [0, 0, 1, NO_STEP], outside=0.5)
    assert spread.tolist() == [1.0, 1.0, -2.0, 0.5]


def test_without_steps_every_token_gets_the_outside_advantage():
    assert broadcast(np.array([]), [NO_STEP] * 2, outside=-0.25).tolist() == [-0.25, -0.25]


@pytest.mark.parametrize("length", [1, 7])
def test_the_sum_over_tokens_is_the_length_weighted_sum_over_steps(length):
    rng = np.random.default_rng(length)
    advantages = rng.normal(size=3)
    steps = sorted(rng.integers(0, 3, size=length).tolist())
    counts = np.bincount(steps, minlength=3)
    assert broadcast(advantages, steps, outside=9.0).sum() == pytest.approx(float(advantages @ counts))
