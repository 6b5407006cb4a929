"""ProcessBench's first-error F1 as an `evaluate` metric."""

import datasets
import evaluate

from prm.benchmarks.first_error import first_error_f1

_DESCRIPTION = """
Harmonic mean of two accuracies: finding exactly the first wrong step of chains that hold an error, and
raising no flag on chains that are all right. It is not the F1 of a detector.
"""

_INPUTS = """
Args:
    predictions: Predicted index of the first wrong step, 0-based, -1 for "all right"; one a chain.
    references: True index, 0-based, -1 for "all right"; one a chain.
Returns:
    f1, accuracy_on_errors, accuracy_on_right (in [0, 1], NaN for a share of no chains), n_errors, n_right.
"""

_CITATION = """
Zheng et al. 2025, "ProcessBench: Identifying Process Errors in Mathematical Reasoning".
"""


class FirstErrorF1(evaluate.Metric):
    """See the module's docstring."""

    def _info(self) -> evaluate.MetricInfo:
        return evaluate.MetricInfo(
            description=_DESCRIPTION,
            citation=_CITATION,
            inputs_description=_INPUTS,
            features=datasets.Features(
                {"predictions": datasets.Value("int32"), "references": datasets.Value("int32")}
            ),
        )

    def _compute(  # pyright: ignore[reportIncompatibleMethodOverride]  # refuses unknown options
        self, predictions: list[int], references: list[int]
    ) -> dict[str, float]:
        score = first_error_f1(predictions, references)
        return {
            "f1": score.f1,
            "accuracy_on_errors": score.accuracy_on_errors,
            "accuracy_on_right": score.accuracy_on_right,
            "n_errors": score.n_errors,
            "n_right": score.n_right,
        }
