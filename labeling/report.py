"""What a stage says of its work: counts, estimates with intervals, provenance -> JSON and Markdown."""

import json
import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np

from labeling.files import written_whole

REPORT_FILE = "report.json"
MAX_COLUMN = 60
"""Characters to which names are filled up in a table; longer ones stick out."""
_PACKAGES = ("prm-toolkit", "torch", "transformers", "trl", "datasets", "peft", "scikit-learn")


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A number with its interval and its n. `low` and `high` are NaN when no interval exists."""

    value: float
    low: float
    high: float
    n: int
    """Units that were measured (problems, steps, solutions: the name of the number says which)."""
    method: str
    """How the interval was made, e.g. "Wilson 95 %", "bootstrap over problems 95 %"."""

    def __str__(self) -> str:
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}] (n = {self.n})"


def wilson(successes: int, n: int, *, z: float = 1.96) -> Estimate:
    """Estimate a proportion of independent units with Wilson's 95 % interval.

    Value NaN and the interval [0, 1] when n is 0: nothing is known.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    if n == 0:
        return Estimate(value=math.nan, low=0.0, high=1.0, n=0, method="Wilson 95 %")
    p = successes / n
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    low = 0.0 if successes == 0 else max(0.0, centre - half)
    high = 1.0 if successes == n else min(1.0, centre + half)
    return Estimate(value=p, low=low, high=high, n=n, method="Wilson 95 %")


def cluster_bootstrap(
    clusters: Sequence[Any],
    statistic: Any,
    *,
    rng: np.random.Generator,
    draws: int = 500,
) -> Estimate:
    """Estimate a statistic with a percentile interval, resampling whole clusters (problems).

    Args:
        clusters: One entry a problem; whatever `statistic` takes a list of.
        statistic: Function of a list of clusters -> float (NaN allowed: such draws are left out).
        rng: Source of randomness.
        draws: Resamples.

    Returns:
        The statistic on all clusters; interval from the 2.5th to the 97.5th percentile, NaN when
        fewer than two clusters exist or no draw was finite.
    """
    value = float(statistic(list(clusters)))
    n = len(clusters)
    sampled = [
        float(statistic([clusters[i] for i in rng.integers(0, n, n)])) for _ in range(draws if n > 1 else 0)
    ]
    finite = [s for s in sampled if math.isfinite(s)]
    low, high = np.percentile(finite, [2.5, 97.5]) if finite else (math.nan, math.nan)
    return Estimate(value=value, low=float(low), high=float(high), n=n, method="bootstrap over problems 95 %")


@dataclass(kw_only=True)
class Report:
    """The result of a stage. Everything dropped, cut or undecided is counted in it, zeros included."""

    stage: str
    counts: dict[str, int] = field(default_factory=dict)
    """How many of what, e.g. {"solutions read": 2636, "lines skipped": 0}."""
    numbers: dict[str, Any] = field(default_factory=dict)
    """Measured numbers: Estimate, float, or nested dicts and lists of these."""
    outputs: dict[str, str] = field(default_factory=dict)
    """What was written: name -> path."""
    notes: list[str] = field(default_factory=list)
    """Sentences a reader must not miss (a limit hit, an assumption made)."""
    settings: dict[str, Any] = field(default_factory=dict)
    """The configuration that ran."""
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; NaN and infinity become None, which JSON can hold."""
        body = {
            "stage": self.stage,
            "counts": self.counts,
            "numbers": self.numbers,
            "outputs": self.outputs,
            "notes": self.notes,
            "settings": self.settings,
            "seconds": round(self.seconds, 3),
            "provenance": provenance(),
        }
        return plain(body)

    def write(self, folder: str | Path) -> Path:
        """Write `report.json` into `folder`, in one piece or not at all."""
        return write_json(Path(folder) / REPORT_FILE, self.to_dict())

    def to_markdown(self) -> str:
        """Return the report as a Markdown page."""
        lines = [f"# {self.stage}", ""]
        for title, block in (("Counts", self.counts), ("Numbers", self.numbers)):
            if block:
                rows = [("what", "value"), *_flat(block)]
                width = min(MAX_COLUMN, max(len(name) for name, _ in rows))
                table = [f"| {name:<{width}} | {text} |" for name, text in rows]
                lines += [f"## {title}", "", table[0], f"|{'-' * (width + 2)}|---|", *table[1:], ""]
        if self.notes:
            lines += ["## Notes", "", *(f"- {note}" for note in self.notes), ""]
        if self.outputs:
            # Last: on a terminal, what a reader does next begins here.
            lines += ["## Written", "", *(f"- {name}: {path}" for name, path in self.outputs.items()), ""]
        return "\n".join(lines).rstrip() + "\n"


def plain(value: Any) -> Any:
    """Turn estimates, paths and numpy scalars into JSON data; non-finite numbers become None."""
    if isinstance(value, Estimate):
        return plain(value.__dict__)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def write_json(path: Path, data: Any) -> Path:
    """Write JSON in one piece; return the path."""
    with written_whole(path) as file:
        json.dump(plain(data), file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")
    return path


def provenance() -> dict[str, str]:
    """Return the versions that ran: Python, platform and the packages that move numbers."""
    versions = {"python": platform.python_version(), "platform": platform.machine()}
    for name in _PACKAGES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            versions[name] = "not installed"
    return versions


def _flat(block: Mapping[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for name, value in block.items():
        label = f"{prefix}{name}"
        if isinstance(value, Mapping) and {"value", "low", "high", "n"} <= value.keys():
            rows.append((label, _estimate_text(value)))
        elif isinstance(value, Mapping):
            rows += _flat(value, f"{label} / ")
        elif isinstance(value, float):
            rows.append((label, f"{value:.4g}"))
        elif not isinstance(value, (list, tuple)):
            rows.append((label, str(value)))
    return rows


def _estimate_text(estimate: Mapping[str, Any]) -> str:
    """Show an estimate that was read back from JSON as `Estimate` shows itself."""

    def number(name: str) -> float:
        return math.nan if estimate[name] is None else estimate[name]

    return str(
        Estimate(
            value=number("value"),
            low=number("low"),
            high=number("high"),
            n=estimate["n"],
            method=estimate.get("method", ""),
        )
    )
