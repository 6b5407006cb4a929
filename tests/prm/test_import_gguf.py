import json

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from labeling.errors import ModelError, StoreError
from prm.import_gguf import ImportGGUFConfig, find_gguf, run

gguf = pytest.importorskip("gguf")

N_WORDS, WIDTH, N_HEADS, MIDDLE = 259, 32, 2, 64


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """A one-layer Llama with a byte vocabulary as GGUF, weights drawn from seed 0."""
    from tokenizers import pre_tokenizers

    path = tmp_path_factory.mktemp("gguf") / "tiny.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_block_count(1)
    writer.add_feed_forward_length(MIDDLE)
    writer.add_head_count(N_HEADS)
    writer.add_head_count_kv(N_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH // N_HEADS)
    writer.add_vocab_size(N_WORDS)
    writer.add_tokenizer_model("gpt2")
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokens = ["<bos>", "<eos>", *letters, "12"]
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, *[1] * (len(tokens) - 2)])
    writer.add_token_merges(["1 2"])
    writer.add_bos_token_id(0)
    writer.add_eos_token_id(1)
    rng = np.random.default_rng(0)
    shapes = {
        "token_embd": (N_WORDS, WIDTH),
        "output_norm": (WIDTH,),
        "output": (N_WORDS, WIDTH),
        "blk.0.attn_norm": (WIDTH,),
        "blk.0.ffn_norm": (WIDTH,),
        **{f"blk.0.attn_{name}": (WIDTH, WIDTH) for name in ("q", "k", "v", "output")},
        "blk.0.ffn_gate": (MIDDLE, WIDTH),
        "blk.0.ffn_up": (MIDDLE, WIDTH),
        "blk.0.ffn_down": (WIDTH, MIDDLE),
    }
    for name, shape in shapes.items():
        weights = rng.normal(scale=0.3, size=shape).astype(np.float32)
        writer.add_tensor(f"{name}.weight", weights, raw_dtype=gguf.GGMLQuantizationType.F32)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def test_the_folder_gives_the_logits_and_ids_of_the_file(file, tmp_path):
    report = run(ImportGGUFConfig(input=str(file), output=str(tmp_path / "model")))
    assert report.numbers["largest logit difference after reloading"] == 0
    model = AutoModelForCausalLM.from_pretrained(tmp_path / "model")
    assert model.dtype == torch.float32
    assert not hasattr(model.config, "quantization_config")
    assert "quantization_config" not in json.loads((tmp_path / "model" / "config.json").read_text())
    ids = AutoTokenizer.from_pretrained(tmp_path / "model")("12 + 1")["input_ids"]
    assert ids[-5] == 258  # the merge "1 2"
    original = AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    batch = torch.tensor([ids])
    with torch.no_grad():
        assert torch.equal(model(batch).logits, original(batch).logits)
    # What was drawn is what is stored: the embedding is the first tensor of seed 0.
    drawn = np.random.default_rng(0).normal(scale=0.3, size=(N_WORDS, WIDTH)).astype(np.float32)
    assert np.array_equal(model.get_input_embeddings().weight.detach().numpy(), drawn)
    assert {path.name for path in tmp_path.iterdir()} == {"model"}
    with pytest.raises(StoreError, match="exists already"):
        run(ImportGGUFConfig(input=str(file), output=str(tmp_path / "model")))


def test_what_is_no_gguf_file_is_refused(tmp_path):
    with pytest.raises(ModelError, match="no such file"):
        find_gguf(str(tmp_path / "nowhere.gguf"))
    (tmp_path / "zip.gguf").write_bytes(b"PK\x03\x04rest")
    with pytest.raises(ModelError, match="not a GGUF file"):
        find_gguf(str(tmp_path / "zip.gguf"))
    with pytest.raises(ModelError, match="'no-such-thing' is not installed"):
        find_gguf("package:no-such-thing")
    with pytest.raises(ModelError, match="holds 0 GGUF files"):
        find_gguf("package:pytest")
    (tmp_path / "cut.gguf").write_bytes(b"GGUF\x03\x00")
    with pytest.raises(ModelError, match="cannot read this file"):
        run(ImportGGUFConfig(input=str(tmp_path / "cut.gguf"), output=str(tmp_path / "model")))
    assert not (tmp_path / "model").exists()
