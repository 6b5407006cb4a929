"""The program of the worker process: one JSON line in, one out, math-verify in between.

It runs as a file of its own, imports nothing of this toolkit, and is killed from outside. Requests
hold `reference`, `candidate` (null: only tell whether the reference can be read) and `seconds`;
replies hold `state` and `reason`.
"""

import contextlib
import json
import logging
import os
import re
import signal
import sys
import warnings
from typing import Any

_EXTRA_BYTES = 256 * 2**20
"""What one comparison may allocate beyond what the libraries themselves take."""


_TWO_NUMBERS = re.compile(r"\d\s+\d")
"""math-verify adds two numbers with a blank between them; nobody means that."""

_PRODUCT = re.compile(r"(?<=\))(?=\()|(?<=(?<![\w^\\{}.])\d)(?=\()|(?<=(?<![\w^\\{}.])\d\d)(?=\()")
"""Where "(9)(7)" and "9(7)" hold a product, which math-verify reads as a mixed number, 9 + 7."""


def _limit_memory() -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # in words: pages
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + _EXTRA_BYTES, taken + _EXTRA_BYTES))
    except (ImportError, OSError, ValueError):
        # Only Linux tells and enforces it; elsewhere the time limit alone holds.
        return


def _die_after(cpu_seconds: float) -> None:
    """Let the kernel end this process after so much work, even inside one long C call; 0 takes it back.

    Processor time, not wall time: a busy machine must not change a verdict.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)


def _answer(request: dict[str, Any]) -> dict[str, str]:
    from math_verify import LatexExtractionConfig, parse, verify

    def read(text: str) -> list[Any]:
        if _TWO_NUMBERS.search(text):
            return []
        text = _PRODUCT.sub(r" \\cdot ", text)
        # LaTeX only and the first match only: the other readers pick a number out of what they cannot
        # read as a whole, and one of them evaluates Python.
        return parse(
            f"${text}$",
            [LatexExtractionConfig()],
            fallback_mode="no_fallback",
            extraction_mode="first_match",
            parsing_timeout=None,  # pyright: ignore[reportArgumentType]  # None is its documented "off"
            raise_on_error=True,
        )

    reference = read(request["reference"])
    if not reference:
        return {"state": "reference unreadable", "reason": ""}
    if request["candidate"] is None or request["candidate"] == request["reference"]:
        return {"state": "equal", "reason": ""}
    candidate = read(request["candidate"])
    if not candidate:
        return {"state": "candidate unreadable", "reason": ""}
    is_equal = verify(reference, candidate, timeout_seconds=None, raise_on_error=True)
    return {"state": "equal" if is_equal else "different", "reason": ""}


def main() -> None:
    """Serve requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # parsers print; the reply line must stay alone
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # Libraries and the tables of their parser are loaded before the limits hold.
    _answer({"reference": "x^2", "candidate": "\\frac{1}{2}+x"})
    _limit_memory()
    print(json.dumps({"state": "ready", "reason": ""}), file=replies, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        _die_after(float(request["seconds"]))
        try:
            reply = _answer(request)
        except MemoryError:
            os._exit(3)
        except Exception as error:  # noqa: BLE001  # the border of the process: any fault is told, not hidden
            reply = {"state": "failed", "reason": f"{type(error).__name__}: {str(error)[:200]}"}
        _die_after(0.0)
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
