"""What the tests of the sandbox share: whether bubblewrap works here, and what is left of a candidate."""

import time

import psutil
import pytest

from labeling.verifiers.sandbox import CPythonEngine, SandboxUnavailableError


def cpython_engine(**settings):
    """A CPython engine, or a skip with the reason."""
    try:
        return CPythonEngine(**settings)
    except SandboxUnavailableError as error:
        pytest.skip(str(error))


def sandboxed_processes():
    """The processes of sandboxes that this process started, warm ones included."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "inmate.py" in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def assert_gone(alive_before, *, seconds=1.0):
    """Within the time, no process of a sandbox is alive that was not there before."""
    known = {process.pid for process in alive_before}
    deadline = time.monotonic() + seconds
    while left := [p for p in sandboxed_processes() if p.pid not in known]:
        assert time.monotonic() < deadline, left
        time.sleep(0.02)
