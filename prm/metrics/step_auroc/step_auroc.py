"""How well step scores rank right steps above wrong ones, as an `evaluate` metric."""

import datasets
import evaluate

from prm.calibration.metrics import known_labels, step_auroc

_DESCRIPTION = """
Area under the ROC curve of step scores: the chance that a right step scores above a wrong one, ties
counting one half.
"""

_INPUTS = """
Args:
    predictions: Score of each step, in [0, 1]; steps of all chains in one flat list.
    references: Label of each step: 1 right, 0 wrong, -100 unknown (left out and counted).
Returns:
    auroc (NaN when all known steps have one label), n (steps used), n_unknown (steps left out).
"""

_CITATION = """
Mann and Whitney 1947, "On a test of whether one of two random variables is stochastically larger".
"""


class StepAUROC(evaluate.Metric):
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
        self, predictions: list[float], references: list[int]
    ) -> dict[str, float]:
        score, is_right, n_unknown = known_labels(predictions, references)
        return {"auroc": step_auroc(score, is_right), "n": len(score), "n_unknown": n_unknown}
