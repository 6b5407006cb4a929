"""A trained PRM on disk: a plain transformers folder and one extra file, `prm.json`.

The folder loads with `AutoModelForTokenClassification` (or with peft, when it holds an adapter) and
without this toolkit. `prm.json` says how a solution is laid out, what the labels meant, and how raw
scores are calibrated.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from huggingface_hub.errors import StrictDataclassError
from peft import PeftConfig, PeftModel
from safetensors import SafetensorError, safe_open
from transformers import AutoModelForTokenClassification, AutoTokenizer, PreTrainedModel
from transformers.utils import logging

from labeling.errors import ModelError, ToolkitError
from labeling.records import CORRECTNESS
from labeling.report import provenance, write_json
from prm.batches import step_probabilities
from prm.formats.class_head import NAME, ClassHeadFormat
from prm.heads import ID2LABEL, LABEL2ID, N_CLASSES

INFO_FILE = "prm.json"
ADAPTER_FILE = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"
HEAD_NAMES = ("score", "classifier")
RELOAD_TOLERANCE = 1e-5
"""Largest difference of a score between the model in memory and the folder read again, in float32."""
HALF_PRECISION_TOLERANCE = 0.05
"""The same in half precision, where merging an adapter rounds the weights."""
_COMPARE_BATCH_TOKENS = 4096
_UNREADABLE = (OSError, ValueError, LookupError, TypeError, SafetensorError, StrictDataclassError)
"""What transformers, peft and safetensors raise for a damaged file."""


@dataclass(frozen=True, kw_only=True)
class PRMInfo:
    """What `prm.json` holds."""

    separator: str
    """Text behind every step."""
    max_tokens: int
    """Longest layout in training, in ids."""
    label_kind: str
    """"hard" or "soft": what the model was trained on."""
    semantics: str = CORRECTNESS
    """What the labels mean: "correctness" or "value"."""
    format: str = NAME
    calibrator: Mapping[str, Any] | None = None
    """A calibrator's `to_dict()`; None: scores are raw."""
    labels_sha256: str | None = None
    """Hash of the label files the model was trained on."""
    until_first_error: bool | None = None
    """Whether steps behind a first wrong one were left out of training; None: not recorded."""
    versions: Mapping[str, str] = field(default_factory=provenance)


def write_info(folder: str | Path, info: PRMInfo) -> Path:
    """Write `prm.json` in one piece."""
    return write_json(Path(folder) / INFO_FILE, asdict(info))


def read_info(folder: str | Path) -> PRMInfo:
    """Read `prm.json`.

    Raises:
        ModelError: The folder or the file does not exist, or the file cannot be used.
    """
    file = existing_folder(folder) / INFO_FILE
    if not file.is_file():
        raise ModelError(
            f"this folder holds no {INFO_FILE}, so it is not a PRM of this toolkit.",
            remedy="Train one with `prm train-prm`.",
            file=folder,
        )
    try:
        info = PRMInfo(**json.loads(file.read_text(encoding="utf-8")))
    except (ValueError, RecursionError, TypeError) as error:
        raise ModelError(
            f"this file is damaged: {error}.", remedy="Save the PRM again.", file=file
        ) from error
    kinds = {
        "separator": str,
        "max_tokens": int,
        "semantics": str,
        "calibrator": (dict, type(None)),
        "until_first_error": (bool, type(None)),
    }
    damaged = [name for name, kind in kinds.items() if not isinstance(getattr(info, name), kind)]
    if damaged:
        raise ModelError(
            f"this file is damaged: {', '.join(damaged)} cannot be read.",
            remedy="Save the PRM again.",
            file=file,
        )
    if info.format != NAME:
        raise ModelError(
            f"format {info.format!r} is unknown to this version.", remedy="Update the toolkit.", file=file
        )
    return info


def update_calibration(folder: str | Path, calibrator: Mapping[str, Any] | None) -> PRMInfo:
    """Write a calibrator into `prm.json`, or take it out with None; the rest of the file stays."""
    info = replace(read_info(folder), calibrator=calibrator)
    write_info(folder, info)
    return info


def existing_folder(folder: str | Path) -> Path:
    """Return the folder's path.

    Raises:
        ModelError: There is no such folder.
    """
    path = Path(folder)
    if not path.is_dir():
        raise ModelError(
            "there is no such model folder.",
            remedy="Give a local folder in the transformers layout (`hf download NAME --local-dir FOLDER`).",
            file=path,
        )
    return path


def load_tokenizer(folder: str | Path) -> Any:
    """Load the tokenizer of a model folder.

    Raises:
        ModelError: There is none, or it cannot be read.
    """
    path = existing_folder(folder)
    try:
        return AutoTokenizer.from_pretrained(str(path))
    except (*_UNREADABLE, AttributeError) as error:
        raise ModelError(
            f"no tokenizer can be read ({error}).", remedy="Save it beside the model.", file=path
        ) from error


def load_classifier(folder: str | Path, *, is_head_trained: bool) -> PreTrainedModel:
    """Load a two-class token-classification model in the precision it was saved in, on the CPU.

    Args:
        folder: A transformers folder, not an adapter.
        is_head_trained: True: the head must be in the folder. False: a missing head is drawn at random.

    Raises:
        ModelError: The folder is missing or cannot be read, or weights are missing in it.
    """
    path = existing_folder(folder)
    verbosity = logging.get_verbosity()
    # transformers warns of every missing weight, also of the head that is meant to be new; we check below.
    logging.set_verbosity_error()
    try:
        model, loading = AutoModelForTokenClassification.from_pretrained(
            str(path),
            num_labels=N_CLASSES,
            id2label=ID2LABEL,
            label2id=LABEL2ID,
            dtype="auto",
            output_loading_info=True,
        )
    except (*_UNREADABLE, RuntimeError) as error:
        raise ModelError(
            f"no token-classification model can be read ({error}).",
            remedy="Give a folder with config.json and safetensors weights of a supported architecture.",
            file=path,
        ) from error
    finally:
        logging.set_verbosity(verbosity)
    missing = sorted(loading["missing_keys"])
    if not is_head_trained:
        missing = [name for name in missing if name.split(".")[0] not in HEAD_NAMES]
    if missing:
        raise ModelError(
            f"weights are missing: {', '.join(missing[:4])}{' ...' if len(missing) > 4 else ''}.",
            remedy="They would be random; save the model with its head and all its layers.",
            file=path,
        )
    return model


def load_model(folder: str | Path) -> PreTrainedModel:
    """Load a trained PRM, ready to score: an adapter is merged into its base.

    Raises:
        ModelError: See `load_classifier`; or an adapter holds no head.
    """
    path = existing_folder(folder)
    if not (path / ADAPTER_FILE).is_file():
        return load_classifier(path, is_head_trained=True).eval()
    check_adapter_head(path)
    try:
        base = PeftConfig.from_pretrained(str(path)).base_model_name_or_path
    except _UNREADABLE as error:
        raise ModelError(
            f"the adapter cannot be read ({error}).", remedy="Save it again.", file=path / ADAPTER_FILE
        ) from error
    if base is None:
        raise ModelError("the adapter does not name its base model.", file=path / ADAPTER_FILE)
    adapted = PeftModel.from_pretrained(load_classifier(base, is_head_trained=False), str(path))
    return adapted.merge_and_unload().eval()


def check_adapter_head(folder: str | Path) -> None:
    """Refuse an adapter without the trained head: after loading, the head would be random.

    Raises:
        ModelError: The head's weights are missing.
    """
    file = Path(folder) / ADAPTER_WEIGHTS
    if not file.is_file():
        raise ModelError("the adapter's weights are missing.", remedy="Save it again.", file=file)
    try:
        with safe_open(str(file), framework="pt") as weights:
            names = list(weights.keys())
    except _UNREADABLE as error:
        raise ModelError(
            f"the adapter's weights cannot be read ({error}).", remedy="Save it again.", file=file
        ) from error
    if not any(part in HEAD_NAMES for name in names for part in name.split(".")):
        raise ModelError(
            "the adapter holds no weights of the head, which would be random after loading.",
            remedy="Train with modules_to_save=['score'].",
            file=file,
        )


def context_tokens(model: PreTrainedModel) -> int | None:
    """Longest input of the model in ids; None when its config does not say."""
    return getattr(model.config.get_text_config(), "max_position_embeddings", None)


def save(
    model: PreTrainedModel | PeftModel,
    layout: ClassHeadFormat,
    folder: str | Path,
    info: PRMInfo,
    *,
    probe: tuple[Sequence[str], Sequence[Sequence[str]]],
) -> float:
    """Save a PRM as a plain folder, read it again, and compare the scores.

    An adapter is merged into the model it wraps, in place.

    Args:
        model: The trained model; it is left in evaluation mode.
        layout: Its format, with the tokenizer.
        folder: Where to; created when missing.
        info: What goes into `prm.json`.
        probe: Prompts and their steps to compare on; a few are enough.

    Returns:
        The largest difference of a score.

    Raises:
        ToolkitError: It exceeds 1e-5 in float32 (0.05 in half precision).
    """
    model.eval()
    layouts = layout.lay_out_all(*probe)
    before = _flat_scores(model, layouts)
    plain = model.merge_and_unload() if isinstance(model, PeftModel) else model
    plain.save_pretrained(str(folder))
    layout.tokenizer.save_pretrained(str(folder))  # pyright: ignore[reportAttributeAccessIssue]
    write_info(folder, info)
    again = load_model(folder).to(plain.device)  # pyright: ignore[reportArgumentType]
    after = _flat_scores(again, layouts)
    difference = float((before - after).abs().max()) if before.numel() else 0.0
    tolerance = RELOAD_TOLERANCE if plain.dtype == torch.float32 else HALF_PRECISION_TOLERANCE
    if difference > tolerance:
        raise ToolkitError(
            f"{folder}: the saved model scores differently from the trained one "
            f"(by {difference:.2g}, allowed {tolerance:.0e})."
        )
    return difference


def _flat_scores(model: Any, layouts: Sequence[Any]) -> torch.Tensor:
    scored = step_probabilities(model, layouts, batch_tokens=_COMPARE_BATCH_TOKENS)
    return torch.tensor([score for own in scored for score in own], dtype=torch.float64)
