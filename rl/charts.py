"""The two charts of the quickstart's page, as SVG text."""

import io
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure

COLOURS = {"outcome": "#7a8594", "exact": "#1f5fa8", "prm": "#2a9d8f", "naive": "#c8553d"}
"""One colour a method, told apart in greyscale by the line styles below."""
LINE_STYLES = {"outcome": (0, (4, 2)), "exact": "-", "prm": "-.", "naive": ":"}

Curve = Sequence[Mapping[str, float]]


def smooth(values: Sequence[float], span: int = 9) -> np.ndarray:
    """Centred moving mean over `span` values, NaN left out; shorter windows at the ends.

    Shape in = shape out; a window without any number gives NaN.
    """
    data = np.asarray(values, dtype=float)
    half = span // 2
    windows = [data[max(0, i - half) : i + half + 1] for i in range(len(data))]
    return np.array([np.nanmean(w) if np.isfinite(w).any() else np.nan for w in windows])


def learning_curves(
    curves: Mapping[str, Curve], names: Mapping[str, str], *, quantities: Sequence[tuple[str, str]]
) -> str:
    """Draw one panel a quantity, one line a method, against completions sampled so far.

    Args:
        curves: Method -> rows with "completions" and the quantities, one an optimiser step.
        names: Method -> what the legend says.
        quantities: (key in the rows, title of the panel).
    """
    figure = Figure(figsize=(4.9 * len(quantities), 3.6), layout="constrained")
    panels = np.atleast_1d(figure.subplots(1, len(quantities)))
    for panel, (key, title) in zip(panels, quantities, strict=True):
        for method, rows in curves.items():
            x = [row["completions"] for row in rows]
            y = [row.get(key, np.nan) for row in rows]
            colour = COLOURS[method]
            panel.plot(x, y, color=colour, alpha=0.18, linewidth=0.8)
            panel.plot(
                x, smooth(y), color=colour, linestyle=LINE_STYLES[method], linewidth=2.2, label=names[method]
            )
        _dress(panel, title)
    panels[0].legend(frameon=False, fontsize=9)
    return to_svg(figure)


def _dress(panel: Any, title: str) -> None:
    panel.set_title(title, fontsize=11, loc="left", fontweight="bold")
    panel.set_xlabel("completions sampled in training")
    panel.grid(color="#e6eaef", linewidth=0.8)
    panel.set_axisbelow(True)
    panel.set_ylim(bottom=0)
    panel.set_xlim(left=0)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)


def to_svg(figure: Figure) -> str:
    """Return a figure as an <svg> element that can stand in a page, without fixed width and height."""
    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "prm-toolkit"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    head, _, tail = text.partition(">")
    head = re.sub(r'\s(width|height)="[^"]*"', "", head)
    # Two figures of one page must not share ids.
    prefix = f"f{zlib.crc32(text.encode()):08x}-"
    tail = re.sub(r'(id="|url\(#|href="#)', lambda m: m.group(1) + prefix, tail)
    return head + ">" + tail
