r"""Generated texts against the segmentation: no crash, no lost character, no text of over a second.

    python -m benchmarks.fuzz_segmentation --count 1000000 --seed 0

Texts are made from scraps of prose, formulas, code, tables, lists, thinking tags and numberings, and cut in
every mode in turn. Checked: joining by spans gives the text back, spans are in order, no step is blank.
Prints into how many steps they were cut, the slowest text, and every failure; exit code 1 when there is one.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter

from labeling.steps import MODES, join, segment

MAX_SECONDS = 1.0
_SCRAP_TEXT = r"""
    Step 3: 1. 2) (a) 步骤3： 第三步 一、 ３． ٣. Dr. e.g. 3.14 .5 x = 2 so Then the end. Really? Yes!
    。 ！ ； … ... - - * • | |---| ``` ~~~ ```python $$ \[ \] \( \) \begin{align} \end{align}
    \\ & <think> </think> <thinking> # ## #### > ** _ { } " ' “ ” « » \boxed{5} 1,000 10:30
    U.S. i.e. vs. No. a é ̈ 👩‍🚀 ﷽ 日本語 \u202e I) II. A.
"""
SCRAPS = (*_SCRAP_TEXT.split(), "\n", "\n\n", "\r\n", " ", "    ", "\t", "\u2028", "\x0c", "\x00", "\ud800")
MARKER = "- "


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000, help="texts to cut")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    sys.exit(1 if fuzz(count=arguments.count, seed=arguments.seed) else 0)


def fuzz(*, count: int, seed: int) -> list[str]:
    """Cut `count` texts and return those that failed, with the reason."""
    random_numbers = random.Random(seed)
    steps: Counter[str] = Counter()
    failures: list[str] = []
    slowest, slowest_text = 0.0, ""
    for number in range(count):
        text, mode = make_text(random_numbers), MODES[number % len(MODES)]
        started = time.process_time()
        try:
            steps[mode] += cut(text, mode, think_is_open=number % 5 == 0)
        except Exception:  # noqa: BLE001  every crash is what is looked for
            failures.append(f"{mode}: {text!r}\n{traceback.format_exc()}")
            print(failures[-1], flush=True)
        seconds = time.process_time() - started
        if seconds > slowest:
            slowest, slowest_text = seconds, text
        if seconds > MAX_SECONDS:
            failures.append(f"{mode}: {text!r}\n{seconds:.2f} seconds")
            print(failures[-1], flush=True)
    shares = ", ".join(f"{mode} {n:,}" for mode, n in steps.items())
    print(f"{count:,} texts (seed {seed}), steps by mode: {shares}; {len(failures)} failures.")
    print(f"Slowest {slowest:.3f} s: {slowest_text[:200]!r}")
    return failures


def cut(text: str, mode: str, *, think_is_open: bool) -> int:
    """Return the number of steps of a text.

    Raises:
        ValueError: A character was lost or moved, or a step is blank.
    """
    marker = MARKER if mode == "marker" else None
    steps = segment(text, mode, marker=marker, think_is_open=think_is_open).steps
    if join(text, steps) != text:
        raise ValueError("joining by spans gives another text")
    end = 0
    for step in steps:
        if not end <= step.start < step.end <= len(text) or text[step.start : step.end] != step.text:
            raise ValueError(f"a span that is out of order or of another text: {step}")
        if not step.text.strip():
            raise ValueError(f"a blank step: {step}")
        end = step.end
    return len(steps)


def make_text(random_numbers: random.Random) -> str:
    """Return scraps in a row, or one piece repeated many times."""
    separator = random_numbers.choice(("", " ", " ", "\n"))
    if random_numbers.random() < 0.995:
        return separator.join(random_numbers.choices(SCRAPS, k=random_numbers.randint(1, 60)))
    piece = "".join(random_numbers.choices(SCRAPS, k=random_numbers.randint(1, 4)))
    return piece * random_numbers.randint(1, 4000 // len(piece) + 1)


if __name__ == "__main__":
    main()
