"""Tiny random policies and tokenizers for the trainer's tests."""

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from labeling.records import Problem, Solution
from labeling.verifiers.verdict import Verdict

CHARACTERS = ["<pad>", "<eos>", "\n", " ", *"0123456789", *"abcdefghijklmnopqrstuvwxyz=+-*/.?:"]


def character_tokenizer() -> PreTrainedTokenizerFast:
    """One token a character; decoding joins them."""
    vocabulary = {text: i for i, text in enumerate(CHARACTERS)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="?"))
    tokenizer.pre_tokenizer = pre_tokenizers.Split("", "isolated")
    tokenizer.decoder = decoders.Fuse()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def byte_tokenizer() -> PreTrainedTokenizerFast:
    """All 256 bytes and a few merges, one of them across a line break."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("1", "2"), ("Ċ", "a"), (".", "Ċ"), ("Ġ", "b")]
    tokens = ["<pad>", "<eos>", *letters, *("".join(pair) for pair in merges)]
    tokenizer = Tokenizer(models.BPE({text: i for i, text in enumerate(tokens)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def metaspace_tokenizer() -> PreTrainedTokenizerFast:
    """Words that carry their blank in front, of which decoding drops the first (SentencePiece)."""
    tokens = ["<pad>", "<eos>", "<unk>", "▁a", "▁b", "c", "▁", "\n"]
    tokenizer = Tokenizer(models.WordLevel({text: i for i, text in enumerate(tokens)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Sequence(
        [decoders.Replace("▁", " "), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
    )
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, pad_token="<pad>", eos_token="<eos>")


def random_llama(seed: int = 0, *, hidden_size: int = 32, layers: int = 2) -> LlamaForCausalLM:
    """A random policy over `CHARACTERS`; ends by itself after about 20 tokens."""
    torch.manual_seed(seed)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(CHARACTERS),
            hidden_size=hidden_size,
            intermediate_size=2 * hidden_size,
            num_hidden_layers=layers,
            num_attention_heads=4,
            num_key_value_heads=4,
            max_position_embeddings=256,
            pad_token_id=0,
            eos_token_id=1,
            bos_token_id=None,
            tie_word_embeddings=True,
        )
    )
    model.generation_config.eos_token_id = 1
    return model


class EvenVerifier:
    """A step is right when its length is even: something a random policy can be told apart by."""

    name = "even"

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by its length."""
        return [Verdict.wrong("odd") if len(s.text) % 2 else Verdict.right() for s in solution.steps]
