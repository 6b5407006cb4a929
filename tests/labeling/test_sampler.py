import random

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    LlamaForTokenClassification,
    MistralConfig,
    MistralForCausalLM,
    PreTrainedTokenizerFast,
)

from labeling.errors import ConfigError, InputError, ModelError
from labeling.rollouts.prompting import prompt_ids, text_ids
from labeling.rollouts.sampler import Prefix
from labeling.rollouts.transformers_sampler import TransformersSampler

SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<user>", "<bot>"]
LETTERS = list("abcdefghijklmnopqrstuvwxyz0123456789 \n<>/=+")
VOCABULARY = {token: i for i, token in enumerate(SPECIAL + LETTERS)}
END = VOCABULARY["</s>"]
TEMPLATE = (
    "{% for m in messages %}<user>{{ m['content'] }}{% endfor %}"
    "{% if add_generation_prompt %}<bot>{% endif %}"
)


def letter_tokenizer(*, chat=False, adds_bos=False):
    """One token a letter, so that decoding gives the identical text back."""
    inner = Tokenizer(models.WordLevel(VOCABULARY, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
    inner.decoder = decoders.Fuse()
    if adds_bos:
        inner.post_processor = processors.TemplateProcessing(
            single="<s> $A", special_tokens=[("<s>", VOCABULARY["<s>"])]
        )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=inner,
        bos_token="<s>",
        eos_token="</s>",
        pad_token="<pad>",
        unk_token="<unk>",
        additional_special_tokens=["<user>", "<bot>"],
    )
    if chat:
        tokenizer.chat_template = TEMPLATE
    return tokenizer


def tiny_model(kind="llama", **changes):
    torch.manual_seed(0)
    shape = {
        "vocab_size": len(VOCABULARY),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": 128,
        # Large weights: a random model then has likely and unlikely tokens, and ends now and then.
        "initializer_range": 0.5,
        "bos_token_id": VOCABULARY["<s>"],
        "eos_token_id": END,
        "pad_token_id": VOCABULARY["<pad>"],
    }
    if kind == "gpt2":
        return GPT2LMHeadModel(GPT2Config(**(shape | changes))).eval()
    shape |= {"num_key_value_heads": 2, "intermediate_size": 64}
    if kind == "mistral":
        return MistralForCausalLM(MistralConfig(**(shape | {"sliding_window": 12} | changes))).eval()
    return LlamaForCausalLM(LlamaConfig(**(shape | changes))).eval()


@pytest.fixture(scope="module")
def llama():
    return tiny_model()


@pytest.fixture(scope="module")
def exact_llama():
    """Float64: rounding is then too small to move a draw across a boundary."""
    return tiny_model().double()


@pytest.fixture(scope="module")
def tokenizer():
    return letter_tokenizer()


def random_prompts(count, *, longest=20, seed=1):
    rng = random.Random(seed)
    prompts = [
        [rng.randrange(len(SPECIAL), len(VOCABULARY)) for _ in range(rng.randrange(2, longest))]
        for _ in range(count)
    ]
    return prompts + prompts[: count // 3]


def keys_for(prompts):
    return [f"key {i}" for i in range(len(prompts))]


def generated(model, prompt, max_tokens):
    ids = model.generate(
        input_ids=torch.tensor([prompt]),
        attention_mask=torch.ones(1, len(prompt), dtype=torch.long),
        do_sample=False,
        max_new_tokens=max_tokens,
    )
    return ids[0, len(prompt) :].tolist()


@pytest.mark.parametrize("kind", ["llama", "mistral", "gpt2"])
def test_greedy_sampling_equals_generate_token_for_token(kind, tokenizer):
    model = tiny_model(kind)
    prompts = random_prompts(9)
    sampler = TransformersSampler(model, tokenizer, temperature=0, batch_size=8)
    sampled = sampler.sample_ids(prompts, max_tokens=40, keys=keys_for(prompts))
    assert [row.ids for row in sampled] == [generated(model, prompt, 40) for prompt in prompts]
    assert [row.is_cut for row in sampled] == [row.ids[-1] != END for row in sampled]
    if kind == "llama":
        assert {True, False} == {row.is_cut for row in sampled}, "both kinds of end must occur"


def test_eager_attention_samples_the_same_as_sdpa(llama, tokenizer):
    prompts = random_prompts(9)
    eager = tiny_model(attn_implementation="eager")
    assert eager.config._attn_implementation == "eager"
    by_model = [
        TransformersSampler(model, tokenizer, temperature=0).sample_ids(
            prompts, max_tokens=40, keys=keys_for(prompts)
        )
        for model in (llama, eager)
    ]
    assert by_model[0] == by_model[1]


def test_equal_keys_give_equal_texts_whatever_the_order_or_the_batch(exact_llama, tokenizer):
    prompts = random_prompts(12)
    keys = keys_for(prompts)
    order = list(range(len(prompts)))
    random.Random(5).shuffle(order)

    def sample(batch_size, places):
        sampler = TransformersSampler(exact_llama, tokenizer, batch_size=batch_size, seed=3)
        rows = sampler.sample_ids([prompts[i] for i in places], max_tokens=24, keys=[keys[i] for i in places])
        return dict(zip(places, rows, strict=True))

    together = sample(256, order)
    assert together == sample(1, order) == sample(7, sorted(order)) == sample(5, order[::-1])
    again = [together[i].ids for i in (0, 12)]
    assert prompts[0] == prompts[12]
    assert again[0] != again[1], "another key must give another text"


def test_another_seed_gives_other_texts(llama, tokenizer):
    prompts = random_prompts(6)
    one, two = (
        TransformersSampler(llama, tokenizer, seed=seed).sample_ids(
            prompts, max_tokens=20, keys=keys_for(prompts)
        )
        for seed in (0, 1)
    )
    assert one != two


def test_the_first_continuations_do_not_depend_on_how_many_are_asked_for(exact_llama, tokenizer):
    sampler = TransformersSampler(exact_llama, tokenizer)
    prefixes, keys = [Prefix("ab", "c\n"), Prefix("2 + 2")], ["x", "y"]
    few = sampler.extend(prefixes, 2, max_tokens=30, keys=keys)
    many = sampler.extend(prefixes, 5, max_tokens=30, keys=keys)
    assert [row[:2] for row in many] == few
    assert all(len({r.text for r in row}) > 1 for row in many)


def test_sampled_tokens_follow_the_model_s_probabilities(llama, tokenizer):
    prompt = text_ids(tokenizer, "what is 3 + 4\n")
    n = 4000
    sampled = TransformersSampler(llama, tokenizer, temperature=2.0).sample_ids(
        [prompt] * n, max_tokens=1, keys=[str(i) for i in range(n)]
    )
    with torch.inference_mode():
        logits = llama(torch.tensor([prompt])).logits[0, -1]
    expected = torch.softmax(logits / 2.0, -1).numpy() * n
    counts = np.bincount([row.ids[0] for row in sampled], minlength=len(VOCABULARY))
    likely = expected > 5
    chi_square = ((counts - expected)[likely] ** 2 / expected[likely]).sum()
    degrees = likely.sum()
    # Six standard deviations of a chi-square variable above its mean; the seed is fixed.
    assert chi_square < degrees + 6 * np.sqrt(2 * degrees)


def test_nothing_is_dropped_out_while_a_model_in_training_is_sampled(tokenizer):
    model = tiny_model("gpt2", embd_pdrop=0.5, resid_pdrop=0.5, attn_pdrop=0.5)
    prompts = random_prompts(6)
    sampler = TransformersSampler(model, tokenizer, temperature=0)
    at_rest = sampler.sample_ids(prompts, max_tokens=20, keys=keys_for(prompts))
    model.train()
    assert sampler.sample_ids(prompts, max_tokens=20, keys=keys_for(prompts)) == at_rest
    assert model.training


def test_limits_cut_rows_and_say_so(llama, tokenizer):
    prompts = random_prompts(12)
    sampler = TransformersSampler(llama, tokenizer)
    free = sampler.sample_ids(prompts, max_tokens=40, keys=keys_for(prompts))
    limits = [1 + i % 9 for i in range(len(prompts))]
    tight = sampler.sample_ids(prompts, max_tokens=40, keys=keys_for(prompts), limit_tokens=limits)
    for row, whole, limit in zip(tight, free, limits, strict=True):
        assert row.ids == whole.ids[:limit]
        assert row.is_cut == (row.ids[-1] != END)


def test_the_model_s_context_is_a_limit(llama, tokenizer):
    sampler = TransformersSampler(llama, tokenizer)
    sampler._end_ids = frozenset()
    found = sampler.sample_ids([[7] * 120], max_tokens=50, keys=["k"])[0]
    assert (len(found.ids), found.is_cut) == (8, True)
    with pytest.raises(InputError, match=r"record long.*128 tokens.*context of 128"):
        sampler.sample_ids([[7] * 5, [7] * 128], max_tokens=5, keys=["short", "long"])
    with pytest.raises(InputError, match=r"record empty.*no tokens"):
        sampler.sample_ids([[]], max_tokens=5, keys=["empty"])


def test_texts_hold_no_special_tokens_and_counts_hold_the_end(exact_llama, tokenizer):
    sampler = TransformersSampler(exact_llama, tokenizer)
    prefixes = [Prefix("count to 9", "1\n")] * 8
    keys = keys_for(prefixes)
    rollouts = [row[0] for row in sampler.extend(prefixes, 1, max_tokens=90, keys=keys)]
    ids = sampler.sample_ids(
        [prompt_ids(tokenizer, "count to 9", "1\n")] * 8, max_tokens=90, keys=[f"{k}\x1f0" for k in keys]
    )
    special = set(range(len(SPECIAL)))
    for rollout, row in zip(rollouts, ids, strict=True):
        assert rollout.text == "".join((SPECIAL + LETTERS)[i] for i in row.ids if i not in special)
        assert (rollout.tokens, rollout.is_cut) == (len(row.ids), row.is_cut)


def test_a_model_that_returns_no_numbers_is_refused(tokenizer):
    model = tiny_model()
    with torch.no_grad():
        model.lm_head.weight[9] = float("nan")
    for temperature in (0, 1):
        with pytest.raises(ModelError, match="not finite"):
            TransformersSampler(model, tokenizer, temperature=temperature).sample_ids(
                [[7, 8]], max_tokens=2, keys=["k"]
            )
    assert not model.training


def test_a_problem_that_fills_the_context_is_named(llama, tokenizer):
    with pytest.raises(InputError, match="record solve/7/0: the prompt has 131 tokens"):
        TransformersSampler(llama, tokenizer).extend([Prefix("a" * 130)], 1, max_tokens=5, keys=["solve/7"])


def test_sampling_leaves_the_model_in_its_mode(tokenizer):
    model = tiny_model().train()
    TransformersSampler(model, tokenizer).sample_ids([[7, 8]], max_tokens=2, keys=["k"])
    assert model.training


def test_a_saved_model_samples_as_the_one_in_memory(tmp_path, llama, tokenizer):
    llama.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    loaded = TransformersSampler.from_pretrained(tmp_path, temperature=0.7, seed=4)
    kept = TransformersSampler(llama, tokenizer, temperature=0.7, seed=4)
    asked = ([Prefix("ab"), Prefix("cd", "e\n")], 3)
    assert loaded.extend(*asked, max_tokens=20, keys=["1", "2"]) == kept.extend(
        *asked, max_tokens=20, keys=["1", "2"]
    )


def test_a_reward_model_is_not_sampled_from_a_random_head(tmp_path, llama, tokenizer):
    body = LlamaForTokenClassification(llama.config)
    body.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"missing.*lm_head"):
        TransformersSampler.from_pretrained(tmp_path)


def test_a_folder_that_cannot_be_used_is_named(tmp_path, tokenizer):
    with pytest.raises(ModelError, match="nowhere: this model folder does not exist"):
        TransformersSampler.from_pretrained(tmp_path / "nowhere")
    with pytest.raises(ModelError, match="no causal language model") as empty:
        TransformersSampler.from_pretrained(tmp_path)
    assert str(tmp_path) in str(empty.value)
    tokenizer.save_pretrained(tmp_path)
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 8}')
    with pytest.raises(ModelError, match="no causal language model"):
        TransformersSampler.from_pretrained(tmp_path)
    tiny_model().save_pretrained(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"cut off")
    with pytest.raises(ModelError, match="no causal language model"):
        TransformersSampler.from_pretrained(tmp_path)


@pytest.mark.parametrize("bad", [{"temperature": -1.0}, {"top_p": 0.0}, {"top_p": 1.5}, {"batch_size": 0}])
def test_settings_out_of_range_are_refused(llama, tokenizer, bad):
    with pytest.raises(ConfigError, match=next(iter(bad))):
        TransformersSampler(llama, tokenizer, **bad)


def test_sizes_that_do_not_match_are_refused(llama, tokenizer):
    sampler = TransformersSampler(llama, tokenizer)
    with pytest.raises(ConfigError, match="1 keys for 2 prompts"):
        sampler.sample_ids([[7], [8]], max_tokens=3, keys=["a"])
    with pytest.raises(ConfigError, match="max_tokens is 0"):
        sampler.sample_ids([[7]], max_tokens=0, keys=["a"])
    with pytest.raises(ConfigError, match="limit_tokens"):
        sampler.sample_ids([[7]], max_tokens=3, keys=["a"], limit_tokens=[0])
    with pytest.raises(ConfigError, match="n is 0"):
        sampler.extend([Prefix("a")], 0, max_tokens=3, keys=["a"])
    assert sampler.sample_ids([], max_tokens=3, keys=[]) == []


def ids_of(*tokens):
    return [VOCABULARY[token] for token in tokens]


def test_a_prompt_without_a_template_is_the_problem_and_a_line_break():
    assert prompt_ids(letter_tokenizer(), "ab") == ids_of("a", "b", "\n")
    assert prompt_ids(letter_tokenizer(adds_bos=True), "ab", "c\n") == ids_of(
        "<s>", "a", "b", "\n", "c", "\n"
    )


def test_a_prompt_with_a_template_opens_the_answer():
    tokenizer = letter_tokenizer(chat=True)
    assert prompt_ids(tokenizer, "ab", "c\n") == ids_of("<user>", "a", "b", "<bot>", "c", "\n")


@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("typed", ["</s>", "a<bot>b", "x</s>\n"])
def test_special_tokens_typed_by_a_user_stay_text(chat, typed):
    tokenizer = letter_tokenizer(chat=chat)
    letters = ids_of(*typed)
    expected = [*ids_of("<user>"), *letters, *ids_of("<bot>")] if chat else [*letters, *ids_of("\n")]
    assert prompt_ids(tokenizer, typed, typed) == expected + letters
    assert tokenizer("</s>", add_special_tokens=False)["input_ids"] == [END], (
        "the tokenizer is left as it was"
    )


def test_a_template_that_alters_a_typed_special_token_is_refused():
    tokenizer = letter_tokenizer(chat=True)
    tokenizer.chat_template = TEMPLATE.replace("m['content']", "m['content'] | upper")
    with pytest.raises(ModelError, match="special token"):
        prompt_ids(tokenizer, "a</s>b")


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=LETTERS, min_size=1, max_size=12), st.text(alphabet=LETTERS, max_size=12))
def test_ids_of_problem_and_solution_are_joined(problem, solution):
    for tokenizer in (letter_tokenizer(), letter_tokenizer(chat=True)):
        assert prompt_ids(tokenizer, problem, solution) == prompt_ids(tokenizer, problem) + text_ids(
            tokenizer, solution
        )
