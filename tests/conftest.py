"""What every test needs: no network, one thread, no progress bars."""

import os

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_DATASETS_DISABLE_PROGRESS_BARS", "1")

import json
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no fault of the code; and a check of a change must not fail on luck: people's own runs
# look for new examples, the shared one repeats the same.
settings.register_profile("search", deadline=None)
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.load_profile("repeatable" if os.environ.get("CI") else "search")

GOLDEN = Path(__file__).parent / "golden"
REPOSITORY = Path(__file__).parent.parent


@pytest.fixture(scope="session")
def golden():
    """Return a function: file name -> {case id: case}."""

    def load(name: str) -> dict:
        cases = json.loads((GOLDEN / name).read_text(encoding="utf-8"))
        return {case["id"]: case for case in cases}

    return load


@pytest.fixture(scope="session")
def repository() -> Path:
    return REPOSITORY


def pytest_sessionstart():
    import sys

    if "torch" in sys.modules:
        sys.modules["torch"].set_num_threads(1)
