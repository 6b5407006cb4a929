"""StepScorer: backbone, head, format and calibrator behind one `score`."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from transformers import PreTrainedModel

from labeling.errors import ModelError
from prm import checkpoint
from prm.batches import is_causal, step_probabilities
from prm.calibration.calibrators import load_calibrator
from prm.formats.class_head import ClassHeadFormat
from prm.formats.layout import StepLayout

ScoreMap = Callable[[np.ndarray], np.ndarray]
"""Raw scores in [0, 1] -> calibrated scores in [0, 1], element by element."""

CPU_BATCH_TOKENS = 4096
ACCELERATOR_BATCH_TOKENS = 16384


class StepScorer:
    """Scores every step of solutions: the probability in [0, 1] that the step is right.

    Args:
        model: A two-class token-classification model; put in evaluation mode.
        layout: Its format; `max_tokens` is the longest solution that is scored.
        calibrator: Applied where calibrated scores are asked for; None: there is none.
        semantics: What the labels meant, "correctness" or "value"; see `prm.aggregate.default_rule`.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        layout: ClassHeadFormat,
        *,
        calibrator: ScoreMap | None = None,
        semantics: str = "correctness",
    ) -> None:
        self.model = model.eval()
        self.layout = layout
        self.calibrator = calibrator
        self.semantics = semantics
        self._needs_mask = not is_causal(model)

    @classmethod
    def from_pretrained(cls, folder: str | Path, device: str | torch.device = "cpu") -> "StepScorer":
        """Load a PRM that `prm train-prm` or `PRMTrainer` saved.

        Raises:
            ModelError: The folder is missing, incomplete, or not a PRM.
        """
        info = checkpoint.read_info(folder)
        model = checkpoint.load_model(folder).to(device)  # pyright: ignore[reportArgumentType]
        layout = ClassHeadFormat(
            checkpoint.load_tokenizer(folder),
            separator=info.separator,
            max_tokens=checkpoint.context_tokens(model) or info.max_tokens,
        )
        calibrator = None
        if info.calibrator is not None:
            calibrator = load_calibrator(dict(info.calibrator))
        return cls(model, layout, calibrator=calibrator, semantics=info.semantics)

    def score(
        self,
        prompts: Sequence[str],
        steps: Sequence[Sequence[str]],
        *,
        batch_tokens: int | None = None,
        is_calibrated: bool = False,
    ) -> list[list[float]]:
        """Score solutions; one forward pass each.

        Args:
            prompts: N problem texts.
            steps: N lists of step texts.
            batch_tokens: Most ids of a padded batch; None: 4096 on a CPU, 16384 elsewhere. It changes
                speed and memory, not scores (beyond rounding, 1e-6).
            is_calibrated: Apply the calibrator.

        Returns:
            N lists with one score a step, in order; an empty list for no steps.

        Raises:
            ModelError: A solution is longer than the model's context, a score is not finite, or there
                is no calibrator to apply.
            InputError: The numbers of prompts and solutions differ, or steps are not lists of texts.
        """
        layouts = self.layout.lay_out_all(prompts, steps)
        for index, layout in enumerate(layouts):
            if reason := self._too_long(layout):
                raise ModelError(
                    f"solution {index}: {reason}",
                    remedy="Shorten it, or use score_or_reason to score the others.",
                )
        scores = self._probabilities(layouts, batch_tokens)
        return self.calibrated(scores) if is_calibrated else scores

    def score_or_reason(
        self,
        prompts: Sequence[str],
        steps: Sequence[Sequence[str]],
        *,
        batch_tokens: int | None = None,
        is_calibrated: bool = False,
    ) -> list[list[float] | str]:
        """Like `score`, with the reason in the place of the scores of a solution that is too long."""
        layouts = self.layout.lay_out_all(prompts, steps)
        reasons = [self._too_long(layout) for layout in layouts]
        fitting = [layout for layout, reason in zip(layouts, reasons, strict=True) if reason is None]
        scores = self._probabilities(fitting, batch_tokens)
        scored = iter(self.calibrated(scores) if is_calibrated else scores)
        return [next(scored) if reason is None else reason for reason in reasons]

    def calibrated(self, scores: Sequence[Sequence[float]]) -> list[list[float]]:
        """Apply the calibrator to raw scores; same shape.

        Raises:
            ModelError: There is no calibrator.
        """
        if self.calibrator is None:
            raise ModelError(
                "this PRM has no calibrator.", remedy="Fit one on held-out problems with `prm evaluate`."
            )
        lengths = [len(own) for own in scores]
        flat = np.array([score for own in scores for score in own], dtype=np.float64)
        mapped = self.calibrator(flat) if flat.size else flat
        parts = np.split(np.asarray(mapped), np.cumsum(lengths)[:-1]) if lengths else []
        return [part.tolist() for part in parts]

    def _too_long(self, layout: StepLayout) -> str | None:
        if layout.n_tokens <= self.layout.max_tokens:
            return None
        return (
            f"{layout.n_tokens} tokens ({layout.n_steps} steps) do not fit the context of "
            f"{self.layout.max_tokens} tokens."
        )

    def _probabilities(self, layouts: Sequence[StepLayout], batch_tokens: int | None) -> list[list[float]]:
        if batch_tokens is None:
            is_cpu = self.model.device.type == "cpu"
            batch_tokens = CPU_BATCH_TOKENS if is_cpu else ACCELERATOR_BATCH_TOKENS
        return step_probabilities(self.model, layouts, batch_tokens=batch_tokens, needs_mask=self._needs_mask)
