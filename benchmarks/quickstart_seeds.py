"""What the quickstart gives over several seeds.

    python -m benchmarks.quickstart_seeds --seeds 0 1 2 --output runs/seeds

Runs `prm quickstart` once a seed (a finished run is not repeated) and prints one Markdown table: the mean
over seeds with the lowest and the highest.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean
from typing import Any

from rl.charts import learning_curves
from rl.quickstart_page import (
    ARM_NAMES,
    FIRST_STEPS,
    OUTCOME,
    read_curve,
    share_without_signal_at_start,
)
from rl.train import NO_SIGNAL

ROWS = (
    ("accuracy", "held-out accuracy, sampled"),
    ("strict_accuracy", "strict accuracy (answer and every step right)"),
    ("greedy_accuracy", "held-out accuracy, greedy"),
    ("filler", "filler lines a solution"),
    ("steps", "lines a solution"),
    ("tokens", "tokens a solution"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument("--output", type=Path, default=Path("runs/seeds"))
    parser.add_argument("--picture", type=Path, help="also draw the first seed's curves into this SVG file")
    arguments = parser.parse_args()
    reports = [run_once(seed, arguments.output / f"seed-{seed}") for seed in arguments.seeds]
    starts = [
        share_without_signal_at_start(read_curve(arguments.output / f"seed-{seed}" / "policy" / OUTCOME))
        for seed in arguments.seeds
    ]
    print("\n".join(table(reports, arguments.seeds, starts)))
    if arguments.picture is not None:
        arguments.picture.write_text(
            picture(arguments.output / f"seed-{arguments.seeds[0]}"), encoding="utf-8"
        )


def run_once(seed: int, folder: Path) -> dict[str, Any]:
    """Run the quickstart with a seed unless it has finished; return its report."""
    command = [sys.executable, "-m", "prm.cli", "quickstart", "--seed", str(seed), "--output", str(folder)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return json.loads((folder / "report.json").read_text(encoding="utf-8"))


def picture(folder: Path) -> str:
    """Draw accuracy and filler lines in training; a white ground, since a README may be read on black."""
    svg = learning_curves(
        {name: read_curve(folder / "policy" / name) for name in ARM_NAMES},
        ARM_NAMES,
        quantities=(("step/outcome", "Right answers"), ("step/steps", "Lines a solution")),
    )
    return svg.replace(">", '><rect width="100%" height="100%" fill="#ffffff"/>', 1) + "\n"


def table(reports: list[dict[str, Any]], seeds: list[int], starts: list[float]) -> Iterator[str]:
    """Yield the lines of the tables: policies, training, labels and PRM."""
    yield f"Seeds {', '.join(map(str, seeds))}; mean over seeds (lowest to highest)."
    yield ""
    policies = [report["numbers"]["policies"] for report in reports]
    names = list(policies[0])
    yield "| | " + " | ".join(names) + " |"
    yield "|---" * (len(names) + 1) + "|"
    for key, title in ROWS:
        yield f"| {title} | " + " | ".join(spread([p[n][key] for p in policies]) for n in names) + " |"
    yield ""
    yield "| training | mean (lowest to highest) |"
    yield "|---|---|"
    yield f"| {NO_SIGNAL}, first {FIRST_STEPS} steps | {spread(starts)} |"
    shares = [report["numbers"][NO_SIGNAL] for report in reports]
    for name in shares[0]:
        yield f"| {NO_SIGNAL}, all steps, {ARM_NAMES[name]} | {spread([share[name] for share in shares])} |"
    yield ""
    yield "| labels and PRM | mean (lowest to highest) |"
    yield "|---|---|"
    for part in ("labels", "prm"):
        for key in reports[0]["numbers"][part]:
            values = [report["numbers"][part][key] for report in reports]
            yield f"| {key} | {spread(values)} |"
    seconds = [report["seconds"] for report in reports]
    yield f"| seconds, all stages | {spread(seconds, digits=0)} |"


def spread(values: list[Any], *, digits: int = 3) -> str:
    """Return "mean (lowest to highest)" of estimates or plain numbers; a dash when one is missing."""
    plain = [value["value"] if isinstance(value, dict) else value for value in values]
    if any(value is None for value in plain):
        return "-"
    return f"{mean(plain):.{digits}f} ({min(plain):.{digits}f} to {max(plain):.{digits}f})"


if __name__ == "__main__":
    main()
