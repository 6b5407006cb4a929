import dataclasses
import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from labeling.errors import ConfigError, StoreError
from rl import quickstart
from rl.quickstart import QuickstartConfig, run

SIZES = {
    "label_problems": 12,
    "rollout_solutions": 6,
    "rollouts": 2,
    "heldout_problems": 24,
    "prm_epochs": 2.0,
    "policy_steps": 2,
    "completions_per_step": 16,
}


def command(folder):
    flags = [f"--{name}={value}" for name, value in SIZES.items()]
    return [sys.executable, "-m", "prm.cli", "quickstart", "--output", str(folder), *flags]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_whole_pipeline_survives_an_interruption_and_ends_in_a_page(tmp_path):
    folder = tmp_path / "run"
    # A shell starts what runs in the background with SIGINT ignored, and that would be inherited.
    process = subprocess.Popen(
        command(folder),
        env=os.environ,
        stderr=subprocess.DEVNULL,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline and not (folder / "prm" / "report.json").is_file():
        time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130
    labels = (folder / "label" / "labels.jsonl").read_bytes()

    report = run(QuickstartConfig(output=str(folder), **SIZES))

    assert (folder / "label" / "labels.jsonl").read_bytes() == labels
    assert set(report.numbers["policies"]) == {"start", "outcome", "exact", "prm", "naive"}
    starts = {
        json.dumps(json.loads((folder / "policy" / n / "report.json").read_text())["numbers"]["before"])
        for n in ("outcome", "exact", "prm", "naive")
    }
    assert len(starts) == 1, "every run starts from the same policy, measured alike"
    assert report.counts["completions of each training run"] == 32
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 3
    assert re.findall(r"""(?:src|href)=["']?https?:|url\(["']?https?:|<script|<link|@import""", page) == []
    assert "nan" not in page.lower().split("</svg>")[-1]

    before = (folder / "report.json").read_bytes()
    run(QuickstartConfig(output=str(folder), **SIZES))
    assert (folder / "report.json").read_bytes() == before


class BegunError(Exception):
    """The stages would run now."""


@pytest.fixture
def no_stages(monkeypatch):
    def begin(this):
        raise BegunError

    monkeypatch.setattr(quickstart, "_stages", begin)


OTHER = {f.name: 17 for f in dataclasses.fields(QuickstartConfig) if f.name not in ("output", "workers")}


@pytest.mark.parametrize("name", OTHER)
def test_a_folder_with_other_settings_is_refused(tmp_path, no_stages, name):
    config = QuickstartConfig(output=str(tmp_path))
    for same in (config, config, dataclasses.replace(config, workers=3)):
        with pytest.raises(BegunError):
            run(same)
    with pytest.raises(StoreError, match="other settings"):
        run(dataclasses.replace(config, **{name: OTHER[name]}))
    with pytest.raises(BegunError):
        run(config)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("label_problems", 7),
        ("rollout_solutions", 1),
        ("rollouts", 0),
        ("heldout_problems", 15),
        ("policy_steps", 0),
        ("completions_per_step", 7),
        ("prm_epochs", 0.0),
        ("workers", -1),
    ],
)
def test_sizes_that_cannot_work_are_refused(tmp_path, no_stages, name, value):
    with pytest.raises(ConfigError, match=name):
        run(QuickstartConfig(output=str(tmp_path), **{name: value}))
    assert list(tmp_path.iterdir()) == []
