"""The reliability diagram: share of right steps against score, before and after calibration."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from labeling.report import wilson
from prm.calibration.metrics import ReliabilityBin, gap_of_bins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

INK, QUIET, GRID = "#1f2933", "#7b8794", "#e4e7eb"
BEFORE, AFTER = "#c05621", "#2b6cb0"

_STYLE: dict[Any, Any] = {
    "font.size": 11,
    "axes.edgecolor": QUIET,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    # Text stays text, so that an embedded figure can be searched and stays small.
    "svg.fonttype": "none",
    # Without a salt the ids inside differ from run to run, and so would the report page.
    "svg.hashsalt": "reliability",
}


def reliability_figure(before: Sequence[ReliabilityBin], after: Sequence[ReliabilityBin] | None) -> Figure:
    """Draw one panel before calibration, and one after it when there is one.

    A dot is a bin at (mean score, share right) with its Wilson 95 % bar, as if steps were independent;
    below it stands the number of steps in the bin. On the diagonal score and share agree.

    Args:
        before: Bins of the raw scores, see `reliability_bins`.
        after: Bins of the calibrated scores; None without a calibrator.
    """
    panels = [("Raw scores" if after is None else "Before calibration", BEFORE, before)]
    if after is not None:
        panels.append(("After calibration", AFTER, after))
    with matplotlib.rc_context(_STYLE):
        figure = Figure(figsize=(4.2 * len(panels) + 0.5, 5.6), layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(
            2, len(panels), sharex=True, sharey="row", height_ratios=[3.2, 1], squeeze=False
        )
        for column, (title, colour, bins) in enumerate(panels):
            is_first = column == 0
            _draw_curve(axes[0, column], bins, title=title, colour=colour, is_first=is_first)
            _draw_counts(axes[1, column], bins, colour=colour, is_first=is_first)
    return figure


def plot_reliability(
    before: Sequence[ReliabilityBin], after: Sequence[ReliabilityBin] | None, path: str | Path
) -> Path:
    """Write the diagram to `path`; the suffix (.png, .svg, .pdf) names the format."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".svg":
        path.write_text(reliability_svg(before, after), encoding="utf-8")
        return path
    with matplotlib.rc_context(_STYLE):
        reliability_figure(before, after).savefig(path, dpi=150)
    return path


def reliability_svg(before: Sequence[ReliabilityBin], after: Sequence[ReliabilityBin] | None) -> str:
    """Return the diagram as one `<svg>` element, without XML prolog, to stand inside an HTML page.

    Equal bins give equal text.
    """
    with matplotlib.rc_context(_STYLE):
        buffer = io.StringIO()
        metadata: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
        reliability_figure(before, after).savefig(buffer, format="svg", metadata=metadata)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _draw_curve(
    axes: "Axes", bins: Sequence[ReliabilityBin], *, title: str, colour: str, is_first: bool
) -> None:
    filled = [b for b in bins if b.n]
    shares = [wilson(b.n_right, b.n) for b in filled]
    x = [b.mean_score for b in filled]
    n = sum(b.n for b in filled)
    axes.plot([0, 1], [0, 1], color=QUIET, linewidth=1, linestyle=(0, (4, 3)), zorder=1)
    axes.errorbar(
        x,
        [s.value for s in shares],
        yerr=[[s.value - s.low for s in shares], [s.high - s.value for s in shares]],
        color=colour,
        marker="o",
        markersize=6,
        markeredgecolor="white",
        linewidth=1.6,
        elinewidth=1.4,
        capsize=3,
        zorder=3,
    )
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold")
    axes.text(
        0.97,
        0.04,
        f"ECE {gap_of_bins(bins):.3f}\n{n:,} steps",
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        linespacing=1.4,
    )
    axes.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    if is_first:
        axes.set_ylabel("share of steps that are right")
    _tidy(axes)


def _draw_counts(axes: "Axes", bins: Sequence[ReliabilityBin], *, colour: str, is_first: bool) -> None:
    axes.bar(
        [b.low for b in bins],
        [b.n for b in bins],
        width=[b.high - b.low for b in bins],
        align="edge",
        color=colour,
        alpha=0.55,
        edgecolor="white",
        linewidth=1,
    )
    axes.set_xlabel("score")
    axes.yaxis.set_major_locator(MaxNLocator(3, integer=True))
    if is_first:
        axes.set_ylabel("steps")
    _tidy(axes)


def _tidy(axes: "Axes") -> None:
    axes.set_axisbelow(True)
    axes.grid(color=GRID, linewidth=0.8)
    axes.tick_params(length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
