"""How good step scores are as probabilities, as an `evaluate` metric."""

import datasets
import evaluate

from prm.calibration.metrics import (
    brier_score,
    expected_calibration_error,
    known_labels,
    maximum_calibration_error,
)

_DESCRIPTION = """
Expected and maximum calibration error over bins of the score, and the Brier score.
"""

_INPUTS = """
Args:
    predictions: Score of each step, in [0, 1]; steps of all chains in one flat list.
    references: Label of each step: 1 right, 0 wrong, -100 unknown (left out and counted).
    n_bins: Bins, 10 unless told.
    kind: "uniform" (equal widths) or "quantile" (equal counts).
Returns:
    ece, mce, brier (in [0, 1], 0 is best), n (steps used), n_unknown (steps left out).
"""

_CITATION = """
Guo et al. 2017, "On Calibration of Modern Neural Networks"; Brier 1950, "Verification of forecasts
expressed in terms of probability".
"""


class StepCalibration(evaluate.Metric):
    """See the module's docstring."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("float64"), "references": datasets.Value("int32")}
            ),
        )

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]  # refuses unknown options
        self, predictions: list[float], references: list[int], n_bins: int = 10, kind: str = "uniform"
    ) -> dict[str, float]:
        score, is_right, n_unknown = known_labels(predictions, references)
        return {
            "ece": expected_calibration_error(score, is_right, n_bins, kind),
            "mce": maximum_calibration_error(score, is_right, n_bins, kind),
            "brier": brier_score(score, is_right),
            "n": len(score),
            "n_unknown": n_unknown,
        }
