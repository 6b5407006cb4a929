"""The quickstart's page: plain data in, one self-contained HTML file out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from typing import Any

import jinja2

WRONG_COLOUR = (244, 190, 170)
MIDDLE_COLOUR = (247, 245, 241)
RIGHT_COLOUR = (181, 212, 238)


@dataclass(kw_only=True)
class Page:
    """What the template shows; see `rl/templates/report.html`."""

    title: str
    subtitle: str
    headline: str
    policy_text: str
    policy_columns: Sequence[str]
    policy_rows: Sequence[Mapping[str, Any]]
    curves_svg: str
    curves_caption: str
    padding_text: str
    padding_svg: str
    padding_caption: str
    labels_text: str
    labels_rows: Sequence[tuple[str, str]]
    prm_text: str
    prm_rows: Sequence[tuple[str, str, str]]
    reliability_svg: str
    reliability_caption: str
    chains_text: str
    chains: Sequence[Mapping[str, Any]]
    made_text: str
    timings: Sequence[tuple[str, str]]
    commands: str
    versions: str
    colour_key: Sequence[Mapping[str, str]] = field(default_factory=lambda: colour_key())


def render(page: Page) -> str:
    """Return the HTML text; every value is escaped, only the charts go in as they are."""
    source = (resources.files("rl") / "templates" / "report.html").read_text(encoding="utf-8")
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(source).render(**vars(page))


def colour_of(score: float | None) -> tuple[str, str]:
    """Return (background, edge) colours of a score in [0, 1]; grey when there is none."""
    if score is None:
        return "#eef0f3", "#b4bcc6"
    share = min(max(score, 0.0), 1.0) * 2
    low, high = (WRONG_COLOUR, MIDDLE_COLOUR) if share < 1 else (MIDDLE_COLOUR, RIGHT_COLOUR)
    part = share % 1 if share < 2 else 1.0
    mixed = [round(a + (b - a) * part) for a, b in zip(low, high, strict=True)]
    edge = [round(value * 0.72) for value in mixed]
    return _hex(mixed), _hex(edge)


def colour_key() -> list[dict[str, str]]:
    """Return the legend of the step colours."""
    texts = ((0.0, "0: surely wrong"), (0.5, "0.5: cannot tell"), (1.0, "1: surely right"))
    return [{"colour": colour_of(score)[0], "text": text} for score, text in texts]


def chain(title: str, problem: str, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Lay out one labelled chain; each step has text, score (or None), verdict and reason."""
    rows = []
    for step in steps:
        background, edge = colour_of(step["score"])
        score = step["score"]
        rows.append(
            {
                "text": step["text"],
                "verdict": step["verdict"],
                "reason": step["reason"],
                "score": "n/a" if score is None else f"{score:.2f}",
                "background": background,
                "edge": edge,
            }
        )
    return {"title": title, "problem": problem, "steps": rows}


def cell(estimate: Mapping[str, Any] | None, *, digits: int = 3) -> dict[str, str]:
    """Lay out an estimate (as `Report.to_dict` writes it) as a value with its range."""
    if not estimate or estimate.get("value") is None:
        return {"value": "n/a", "range": ""}
    low, high = estimate.get("low"), estimate.get("high")
    spread = "" if low is None or high is None else f"{low:.{digits}f} to {high:.{digits}f}"
    return {"value": f"{estimate['value']:.{digits}f}", "range": spread}


def _hex(rgb: Sequence[int]) -> str:
    return "#" + "".join(f"{value:02x}" for value in rgb)
