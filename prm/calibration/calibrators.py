"""Maps from score to calibrated score that keep the order of steps.

Fit on problems disjoint from those evaluated. A calibrator is saved as a small dict inside the
checkpoint and loaded back with `load_calibrator`.

Logits of saturated scores are infinite, so temperature and Platt first clip scores into
[SCORE_CLIP, 1 - SCORE_CLIP]; scores closer to 0 or 1 than that become equal, never reordered.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from dataclasses import fields as fields_of
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import ArrayLike

from labeling.errors import InputError
from prm.calibration.metrics import Floats, as_probabilities, check_scores

SCORE_CLIP = 1e-7
"""About the distance of the largest float32 below 1 from 1: what a sigmoid can still tell apart."""

TEMPERATURE_RANGE = (0.01, 100.0)
"""Search range. At its ends the scores separate the labels perfectly, or say nothing about them."""


class Calibrator(Protocol):
    """A map [0, 1] -> [0, 1] that never reverses the order of two scores."""

    kind: ClassVar[str]

    def __call__(self, score: ArrayLike) -> Floats:
        """Map scores of shape (step,) to calibrated scores of the same shape."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return JSON data that `load_calibrator` turns back into this calibrator."""
        ...


@dataclass(frozen=True)
class TemperatureCalibrator:
    """One temperature T > 0 on the logit: sigmoid(logit(score) / T). T > 1 softens."""

    temperature: float

    kind: ClassVar[str] = "temperature"

    @classmethod
    def fit(cls, score: ArrayLike, is_right: ArrayLike) -> "TemperatureCalibrator":
        """Choose the T in TEMPERATURE_RANGE with the least negative log-likelihood.

        In b = 1 / T the likelihood is concave, with slope sum of z (is_right - sigmoid(b z)), z the
        logit of the score: the zero of that slope is found by bisection.

        Args:
            score: Shape (step,), in [0, 1].
            is_right: Shape (step,), 0 or 1.

        Raises:
            InputError: See `fit_calibrator`.

        Source:
            Guo et al. 2017, "On calibration of modern neural networks", section 4.2.
        """
        p, y = check_fit(score, is_right)
        z = _logit(p)
        low, high = np.log(1 / TEMPERATURE_RANGE[1]), np.log(1 / TEMPERATURE_RANGE[0])
        for _ in range(100):
            middle = (low + high) / 2
            slope = float(np.sum(z * (y - _sigmoid(np.exp(middle) * z))))
            low, high = (middle, high) if slope > 0 else (low, middle)
        return cls(float(np.exp(-(low + high) / 2)))

    def __call__(self, score: ArrayLike) -> Floats:
        """See `Calibrator`."""
        return _sigmoid(_logit(as_probabilities(score)) / self.temperature)

    def to_dict(self) -> dict[str, Any]:
        """See `Calibrator`."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class PlattCalibrator:
    """Slope a >= 0 and shift b on the logit: sigmoid(a logit(score) + b)."""

    slope: float
    shift: float

    kind: ClassVar[str] = "platt"

    @classmethod
    def fit(cls, score: ArrayLike, is_right: ArrayLike) -> "PlattCalibrator":
        """Choose a and b with the least negative log-likelihood (scikit-learn, no regularisation).

        Scores that rank backwards would need a < 0; the best a >= 0 is then 0 (the likelihood is
        concave), which maps every score to the share of right steps.

        Args:
            score: Shape (step,), in [0, 1].
            is_right: Shape (step,), 0 or 1.

        Raises:
            InputError: See `fit_calibrator`.

        Source:
            Platt 1999, "Probabilistic outputs for support vector machines", without its label smoothing.
        """
        from sklearn.linear_model import LogisticRegression

        p, y = check_fit(score, is_right)
        fitted = LogisticRegression(C=np.inf, tol=1e-9, max_iter=1000).fit(_logit(p)[:, None], y)
        slope, shift = float(fitted.coef_[0, 0]), float(fitted.intercept_[0])
        if slope < 0:
            slope, shift = 0.0, float(_logit(np.array([y.mean()]))[0])
        return cls(slope, shift)

    def __call__(self, score: ArrayLike) -> Floats:
        """See `Calibrator`."""
        return _sigmoid(self.slope * _logit(as_probabilities(score)) + self.shift)

    def to_dict(self) -> dict[str, Any]:
        """See `Calibrator`."""
        return {"kind": self.kind, **asdict(self)}


@dataclass(frozen=True)
class IsotonicCalibrator:
    """The rising curve closest to the labels, straight between its knots, flat outside them."""

    scores: tuple[float, ...]
    """Knots, strictly rising, in [0, 1]."""
    calibrated: tuple[float, ...]
    """Value at each knot, rising, in [0, 1]."""

    kind: ClassVar[str] = "isotonic"

    @classmethod
    def fit(cls, score: ArrayLike, is_right: ArrayLike) -> "IsotonicCalibrator":
        """Fit scikit-learn's IsotonicRegression: rising, in [0, 1], clipped out of bounds.

        Wants more steps than temperature does (a few hundred); maps ranges of scores to one value,
        so it can tie steps that differed.

        Args:
            score: Shape (step,), in [0, 1].
            is_right: Shape (step,), 0 or 1.

        Raises:
            InputError: See `fit_calibrator`.

        Source:
            Zadrozny and Elkan 2002, "Transforming classifier scores into accurate multiclass
            probability estimates".
        """
        from sklearn.isotonic import IsotonicRegression

        p, y = check_fit(score, is_right)
        fitted = IsotonicRegression(y_min=0, y_max=1, increasing=True, out_of_bounds="clip").fit(p, y)
        return cls(
            tuple(float(x) for x in fitted.X_thresholds_),
            tuple(float(min(max(v, 0.0), 1.0)) for v in fitted.y_thresholds_),
        )

    def __call__(self, score: ArrayLike) -> Floats:
        """See `Calibrator`."""
        return np.interp(as_probabilities(score), self.scores, self.calibrated)

    def to_dict(self) -> dict[str, Any]:
        """See `Calibrator`."""
        return {"kind": self.kind, "scores": list(self.scores), "calibrated": list(self.calibrated)}


_FITTERS = {kind.kind: kind for kind in (TemperatureCalibrator, IsotonicCalibrator, PlattCalibrator)}
CALIBRATOR_KINDS = tuple(_FITTERS)


def fit_calibrator(kind: str, score: ArrayLike, is_right: ArrayLike) -> Calibrator:
    """Fit a calibrator on held-out steps.

    Args:
        kind: One of CALIBRATOR_KINDS.
        score: Shape (step,), in [0, 1].
        is_right: Shape (step,), 0 or 1.

    Raises:
        InputError: The kind is unknown; scores or labels are malformed (see
            `prm.calibration.metrics.reliability_bins`); or only one class of label is there.
    """
    return _class_of(kind).fit(score, is_right)


def load_calibrator(saved: Mapping[str, Any]) -> Calibrator:
    """Turn what `to_dict` returned back into the calibrator.

    Raises:
        InputError: The kind is unknown, or a field is missing, unknown or out of range.
    """
    fields = {name: value for name, value in saved.items() if name != "kind"}
    kind = _class_of(saved.get("kind"))
    expected = {field.name for field in fields_of(kind)}
    if set(fields) != expected:
        raise InputError(
            f"the saved {kind.kind} calibrator has the fields {sorted(fields)}.",
            remedy=f"It needs {sorted(expected)}; fit it again with `prm evaluate`.",
        )
    try:
        if kind is IsotonicCalibrator:
            fields = {name: tuple(float(v) for v in values) for name, values in fields.items()}
        loaded = kind(**fields)
        if _is_sound(loaded):
            return loaded
    except (TypeError, ValueError):
        pass  # texts or lists where numbers belong
    raise InputError(
        f"the saved {kind.kind} calibrator is out of range: {dict(saved)}.",
        remedy="Fit it again with `prm evaluate`.",
    )


def check_fit(score: ArrayLike, is_right: ArrayLike) -> tuple[Floats, Floats]:
    """Return both as arrays fit to calibrate on.

    Raises:
        InputError: See `fit_calibrator`.
    """
    p, y = check_scores(score, is_right)
    if y.min() == y.max():
        which = "right" if y[0] else "wrong"
        raise InputError(
            f"all {len(y)} steps to calibrate on are {which}.",
            remedy="Give labels of more problems (of `prm train-prm`: a larger holdout_fraction; of `prm "
            "evaluate`: another calibration_share), so that both kinds are there; or calibrator none.",
        )
    return p, y


def _class_of(kind: Any) -> Any:
    if not isinstance(kind, str) or kind not in _FITTERS:
        raise InputError(
            f"there is no calibrator {kind!r}.", remedy=f"Use one of {', '.join(CALIBRATOR_KINDS)}."
        )
    return _FITTERS[kind]


def _is_sound(calibrator: Any) -> bool:
    if isinstance(calibrator, TemperatureCalibrator):
        return bool(np.isfinite(calibrator.temperature) and calibrator.temperature > 0)
    if isinstance(calibrator, PlattCalibrator):
        return bool(np.isfinite([calibrator.slope, calibrator.shift]).all() and calibrator.slope >= 0)
    x, y = np.array(calibrator.scores), np.array(calibrator.calibrated)
    inside = ((x >= 0) & (x <= 1)).all() and ((y >= 0) & (y <= 1)).all()
    return bool(
        len(x) and x.shape == y.shape and inside and (np.diff(x) > 0).all() and (np.diff(y) >= 0).all()
    )


def _logit(p: Floats) -> Floats:
    clipped = np.clip(p, SCORE_CLIP, 1 - SCORE_CLIP)
    return np.log(clipped) - np.log1p(-clipped)


def _sigmoid(z: Floats) -> Floats:
    # The positive half is 1 - the negative half's value: exp never overflows.
    e = np.exp(-np.abs(z))
    return np.where(z >= 0, 1 / (1 + e), e / (1 + e))
