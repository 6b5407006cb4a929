"""A tiny Llama with a byte tokenizer, and a tiny PRM made from it."""

import hypothesis
import pytest

# A shared machine may hold a process up for longer than an example may take.
hypothesis.settings.register_profile("patient", deadline=None)
hypothesis.settings.load_profile("patient")


@pytest.fixture(scope="session")
def byte_tokenizer():
    from tokenizers import Tokenizer, decoders, pre_tokenizers
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {letter: index for index, letter in enumerate(letters)} | {"<bos>": len(letters)}
    tokenizer = Tokenizer(BPE(vocab=vocabulary, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token="<bos>")


@pytest.fixture(scope="session")
def base_folder(tmp_path_factory, byte_tokenizer):
    """Folder of a tiny causal language model with a context of 128 tokens."""
    import torch
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("base") / "model"
    config = LlamaConfig(
        vocab_size=257,
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=128,
        bos_token_id=256,
        eos_token_id=None,
        pad_token_id=None,
        initializer_range=0.2,
        classifier_dropout=0.0,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    byte_tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def prm_folder(tmp_path_factory, base_folder, byte_tokenizer):
    """Folder of a tiny PRM with a random head; do not write into it."""
    import torch

    from prm import checkpoint
    from prm.formats.class_head import ClassHeadFormat

    torch.manual_seed(1)
    folder = tmp_path_factory.mktemp("prm") / "model"
    model = checkpoint.load_classifier(base_folder, is_head_trained=False)
    layout = ClassHeadFormat(byte_tokenizer, max_tokens=128)
    info = checkpoint.PRMInfo(separator="\n", max_tokens=128, label_kind="hard")
    checkpoint.save(model, layout, folder, info, probe=(["1 + 1?"], [["1 + 1 = 2"]]))
    return folder


@pytest.fixture
def noted_steps():
    """A function that notes the optimiser steps of the micro-batches that are trained on from then on."""

    def start(monkeypatch):
        from prm.trainer import PRMTrainer

        steps, real_step = [], PRMTrainer.training_step

        def noted(trainer, *arguments):
            steps.append(trainer.state.global_step)
            return real_step(trainer, *arguments)

        monkeypatch.setattr(PRMTrainer, "training_step", noted)
        return steps

    return start
