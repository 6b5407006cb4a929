"""The stage behind `prm import-gguf`: a GGUF file -> a plain transformers folder in float32."""

import importlib.util
import shutil
import struct
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, PreTrainedModel

from labeling.errors import MissingExtraError, ModelError, ToolkitError
from labeling.outputs import check_new
from labeling.report import Report

PACKAGE_PREFIX = "package:"
_MAGIC = b"GGUF"
_PROBE_TEXT = "Question: what is 12 + 3?\nAnswer: 12 + 3 = 15."


@dataclass(kw_only=True)
class ImportGGUFConfig:
    """Settings of `prm import-gguf`."""

    input: str
    """GGUF file, or package:NAME for the one inside an installed distribution."""
    output: str
    """Folder to write the model to; must not exist yet."""


def run(config: ImportGGUFConfig) -> Report:
    """Read a GGUF file, save it as a plain folder, read that again and compare logits and ids.

    Raises:
        ModelError: The input is not a GGUF file of a language model that transformers reads.
        MissingExtraError: The package gguf is not installed.
        StoreError: The output exists, or cannot be made.
        ToolkitError: The folder gives other logits or ids than the file.
    """
    started = time.monotonic()
    output = Path(config.output)
    check_new(output)
    file = find_gguf(config.input)
    if importlib.util.find_spec("gguf") is None:
        raise MissingExtraError(
            "reading GGUF needs the package gguf.", remedy="pip install 'prm-toolkit[gguf]'"
        )
    model, tokenizer = read_gguf(file)
    output.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=output.parent, prefix=f".{output.name}.") as temporary:
        folder = Path(temporary) / "model"
        model.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        difference = _compare(model, tokenizer, folder)
        report = Report(
            stage="import-gguf",
            counts={
                "parameters": sum(tensor.numel() for tensor in model.parameters()),
                "tokens in the vocabulary": len(tokenizer),
            },
            numbers={"largest logit difference after reloading": difference},
            outputs={"model": str(output)},
            settings=asdict(config),
            seconds=time.monotonic() - started,
        )
        report.write(folder)
        shutil.move(folder, output)
    return report


def find_gguf(source: str) -> Path:
    """Return the GGUF file that `source` names; a package is looked into, never imported.

    Raises:
        ModelError: No such file or package, not exactly one GGUF file in it, or not GGUF inside.
    """
    file = (
        _in_package(source.removeprefix(PACKAGE_PREFIX))
        if source.startswith(PACKAGE_PREFIX)
        else Path(source)
    )
    if not file.is_file():
        raise ModelError("there is no such file.", remedy="Give a GGUF file or package:NAME.", file=file)
    with file.open("rb") as opened:
        magic = opened.read(len(_MAGIC))
    if magic != _MAGIC:
        raise ModelError(f"this is not a GGUF file (it starts with {magic!r}).", file=file)
    return file


def read_gguf(file: Path) -> tuple[PreTrainedModel, Any]:
    """Read model and tokenizer in float32, freed of the marks that forbid saving.

    Raises:
        ModelError: transformers cannot read this architecture or this file.
    """
    place = {"pretrained_model_name_or_path": str(file.parent), "gguf_file": file.name}
    try:
        model = AutoModelForCausalLM.from_pretrained(**place, dtype=torch.float32)
        tokenizer = AutoTokenizer.from_pretrained(**place)
    except (OSError, ValueError, LookupError, NotImplementedError, struct.error) as error:
        raise ModelError(
            f"transformers cannot read this file ({error}).",
            remedy="Use a GGUF of an architecture that transformers lists as supported.",
            file=file,
        ) from error
    # The weights are plain float32 by now, but as long as these are set, save_pretrained refuses.
    for name in ("hf_quantizer", "quantization_method", "is_quantized"):
        if hasattr(model, name):
            delattr(model, name)
    if hasattr(model.config, "quantization_config"):
        delattr(model.config, "quantization_config")
    return model.eval(), tokenizer


def _in_package(name: str) -> Path:
    try:
        files: Sequence[metadata.PackagePath] = metadata.files(name) or []
    except metadata.PackageNotFoundError as error:
        raise ModelError(
            f"the distribution {name!r} is not installed.", remedy=f"pip install --no-deps {name}"
        ) from error
    found = [file for file in files if file.suffix == ".gguf"]
    if len(found) != 1:
        raise ModelError(
            f"the distribution {name!r} holds {len(found)} GGUF files.", remedy="Give the file's path."
        )
    return Path(str(found[0].locate()))


@torch.inference_mode()
def _compare(model: PreTrainedModel, tokenizer: Any, folder: Path) -> float:
    again = AutoModelForCausalLM.from_pretrained(folder).eval()
    ids = tokenizer(_PROBE_TEXT)["input_ids"]
    if AutoTokenizer.from_pretrained(folder)(_PROBE_TEXT)["input_ids"] != ids:
        raise ToolkitError(f"{folder}: the saved tokenizer gives other ids than the GGUF file's.")
    batch = torch.tensor([ids])
    difference = float((model(input_ids=batch).logits - again(input_ids=batch).logits).abs().max())
    if difference > 0:
        raise ToolkitError(
            f"{folder}: the saved model's logits differ from the GGUF file's by {difference:.2g}."
        )
    return difference
