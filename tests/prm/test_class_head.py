import pytest
from hypothesis import given
from hypothesis import strategies as st

from labeling.errors import ConfigError, InputError, ModelError, RecordError
from prm.formats.class_head import ClassHeadFormat
from prm.formats.layout import join_ids


class GreedyTokenizer:
    """Longest match from the left; no special tokens."""

    bos_token_id = None

    def __init__(self, vocabulary):
        self.vocabulary = vocabulary

    def __call__(self, text, *, add_special_tokens, split_special_tokens):
        return {"input_ids": [self._encode(one) for one in text]}

    def _encode(self, text):
        ids = []
        while text:
            piece = max((p for p in self.vocabulary if text.startswith(p)), key=len)
            ids.append(self.vocabulary[piece])
            text = text[len(piece) :]
        return ids

    def decode(self, token_ids, *, clean_up_tokenization_spaces):
        names = {index: piece for piece, index in self.vocabulary.items()}
        return "".join(names[index] for index in token_ids)


def character_tokenizer(texts, special, special_id):
    """One id a character below `special_id`, and one special token."""
    from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import WordLevel
    from transformers import PreTrainedTokenizerFast

    characters = sorted(set("".join(texts)))
    characters += [chr(0x2460 + k) for k in range(special_id - len(characters))]
    tokenizer = Tokenizer(WordLevel({c: k for k, c in enumerate(characters)}, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split(Regex("."), "isolated")
    tokenizer.decoder = decoders.Fuse()
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer)
    fast.add_special_tokens({"additional_special_tokens": [special]})
    assert fast.convert_tokens_to_ids(special) == special_id
    return fast


def test_align_01_a_merge_across_the_separator_cannot_happen(golden):
    case = golden("prm.json")["align-01"]
    given_, expected = case["input"], case["expected"]
    tokenizer = GreedyTokenizer(given_["tokenizer"]["vocab"])
    layout = ClassHeadFormat(tokenizer, separator=given_["step_separator"], max_tokens=100)
    laid_out = layout.lay_out(given_["prompt"], given_["steps"])
    assert laid_out.input_ids == expected["input_ids"]
    assert laid_out.read_positions == expected["step_end_positions"]
    assert laid_out.label_ids(given_["labels"]) == expected["labels"]
    # The trap itself: joined first, the separator's id is nowhere.
    joined = tokenizer._encode("".join([given_["prompt"], *[s + "\n" for s in given_["steps"]]]))
    assert joined == expected["if_text_is_joined_first"]["input_ids"]


def test_align_02_a_separator_typed_by_a_user_is_ordinary_text(golden):
    case = golden("prm.json")["align-02"]
    given_, expected = case["input"], case["expected"]
    tokenizer = character_tokenizer([given_["prompt"], *given_["steps"]], given_["step_separator"], 50)
    layout = ClassHeadFormat(tokenizer, separator=given_["step_separator"], max_tokens=500)
    laid_out = layout.lay_out(given_["prompt"], given_["steps"])
    labels = laid_out.label_ids(given_["labels"])
    assert [label for label in labels if label != -100] == expected["labels_in_order"]
    assert len(laid_out.read_positions) == expected["n_scores"]
    assert set(labels[: len(given_["prompt"])]) == {-100}
    assert laid_out.input_ids.count(50) == 2


@pytest.mark.parametrize("max_tokens", [18, 12, 8])
def test_align_03_ids_and_labels_are_cut_together_and_counted(golden, max_tokens):
    case = golden("prm.json")["align-03"]
    given_, expected = case["input"], case["expected"][str(max_tokens)]
    steps = [ids[:-1] for ids in given_["step_ids_with_separator"]]
    laid_out = join_ids(given_["prompt_ids"], steps, [3], max_tokens=max_tokens)
    labels = laid_out.label_ids(given_["labels"])
    assert len(laid_out.input_ids) == len(labels) == expected["length"]
    placed = {str(k): label for k, label in enumerate(labels) if label != -100}
    assert placed == expected["labelled"]
    assert len(laid_out.read_positions) == expected["steps_kept"]
    assert laid_out.n_steps_cut == expected["steps_cut"]


def test_prm_01_only_the_last_token_of_each_step_is_labelled(golden):
    case = golden("prm.json")["prm-01"]
    given_, expected = case["input"], case["expected"]
    steps = [[7] * (n - 1) for n in given_["tokens_per_step_with_separator"]]
    laid_out = join_ids([5] * given_["prompt_tokens"], steps, [9], max_tokens=100)
    labels = laid_out.label_ids([int(label) for label in given_["row"]["labels"]])
    assert labels == expected["labels"]
    assert sum(label != -100 for label in labels) == expected["n_not_ignored"]


def test_the_sequence_starts_with_the_begin_of_text_id(byte_tokenizer):
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=50)
    ids = layout.lay_out("a", ["b"]).input_ids
    assert ids[0] == byte_tokenizer.bos_token_id
    assert byte_tokenizer.decode(ids[1:]) == "ab\n"


def test_names_of_special_tokens_in_the_text_stay_text(byte_tokenizer):
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=50)
    ids = layout.lay_out("<bos>", ["x<bos>"]).input_ids
    assert ids.count(byte_tokenizer.bos_token_id) == 1
    assert byte_tokenizer.decode(ids[1:]) == "<bos>x<bos>\n"


def test_the_last_id_of_a_white_space_separator_is_read(byte_tokenizer):
    laid_out = ClassHeadFormat(byte_tokenizer, separator="\n\n", max_tokens=50).lay_out("q", ["a", "bc"])
    assert laid_out.read_positions == [4, 8]


@pytest.mark.parametrize(("separator", "reason"), [("", "empty"), ("<extra_0>", "splits the separator")])
def test_a_separator_that_cannot_be_read_is_refused(byte_tokenizer, separator, reason):
    with pytest.raises(ModelError, match=reason):
        ClassHeadFormat(byte_tokenizer, separator=separator, max_tokens=50)


def test_a_separator_outside_the_vocabulary_is_refused():
    tokenizer = character_tokenizer(["abc?"], "<step>", 50)
    with pytest.raises(ModelError, match="cannot write the separator"):
        ClassHeadFormat(tokenizer, separator="\n", max_tokens=50)


def test_labels_and_steps_of_different_numbers_are_refused():
    with pytest.raises(RecordError, match="1 steps but 2 labels"):
        join_ids([1], [[2]], [3], max_tokens=9).label_ids([1, 0])


def test_what_is_not_a_list_of_steps_is_refused(byte_tokenizer):
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=50)
    with pytest.raises(InputError, match="solution 1 are not a list"):
        layout.lay_out_all(["p", "q"], [["a"], "a step"])
    with pytest.raises(InputError, match="solution 0 are not a list"):
        layout.lay_out_all(["p"], [None])
    with pytest.raises(InputError, match="2 prompts for 1 solutions"):
        layout.lay_out_all(["p", "q"], [["a"]])
    with pytest.raises(ConfigError, match="max_tokens is 0"):
        ClassHeadFormat(byte_tokenizer, max_tokens=0)


ids = st.lists(st.integers(0, 9), max_size=5)


@given(
    ids, st.lists(ids, max_size=5), st.lists(st.integers(0, 9), min_size=1, max_size=3), st.integers(1, 40)
)
def test_every_kept_step_is_read_where_its_separator_ends(prompt, steps, separator, max_tokens):
    laid_out = join_ids(prompt, steps, separator, max_tokens=max_tokens)
    whole = [*prompt, *(token for step in steps for token in [*step, *separator])]
    assert laid_out.input_ids == whole[:max_tokens]
    assert laid_out.n_tokens == len(whole)
    # The same positions by another road: lengths alone.
    ends = [
        len(prompt) + sum(len(step) for step in steps[: k + 1]) + (k + 1) * len(separator) - 1
        for k in range(len(steps))
    ]
    assert laid_out.read_positions == [end for end in ends if end < max_tokens]
    assert laid_out.n_steps == len(laid_out.read_positions) + laid_out.n_steps_cut
    assert len(laid_out.label_ids([1] * len(steps))) == len(laid_out.input_ids)
