"""What the fuzzers share: every input is tried, timed and counted; what fails is told at once."""

import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterable

MAX_SECONDS = 1.0
"""Processor time that one input may take."""


def try_all(inputs: Iterable[str], judge: Callable[[str], str]) -> tuple[Counter[str], list[str]]:
    """Judge every input; return how often each result came out, and the failures with their reasons.

    A failure is an input that raises or takes over `MAX_SECONDS`. It is printed when it happens, the slowest
    input at the end.
    """
    found: Counter[str] = Counter()
    failures: list[str] = []
    slowest, slowest_text = 0.0, ""
    for text in inputs:
        started = time.process_time()
        reason = ""
        try:
            found[judge(text)] += 1
        except Exception:  # noqa: BLE001  every crash is what is looked for
            reason = traceback.format_exc()
        seconds = time.process_time() - started
        if seconds > slowest:
            slowest, slowest_text = seconds, text
        if seconds > MAX_SECONDS:
            reason += f"{seconds:.2f} seconds"
        if reason:
            failures.append(f"{text!r}\n{reason}")
            print(failures[-1], flush=True)
    print(f"Slowest {slowest:.3f} s: {slowest_text[:200]!r}")
    return found, failures
