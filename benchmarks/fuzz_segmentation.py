r"""Generated texts against the segmentation: no crash, no lost character, no text of over a second.

    python -m benchmarks.fuzz_segmentation --count 1000000 --seed 0

Texts are made from scraps of prose, formulas, code, tables, lists, thinking tags and numberings, and cut in
every mode. Checked: joining by spans gives the text back, spans are in order, no step is blank.
Prints the slowest text and every failure; the exit code is 1 when there is one.
"""

import argparse
import random
import sys

from benchmarks._fuzzing import try_all
from labeling.steps import MODES, join, segment

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
    """Cut `count` texts in every mode and return those that failed, with the reason."""
    random_numbers = random.Random(seed)
    texts = (make_text(random_numbers) for _ in range(count))
    _, failures = try_all(texts, cut_in_all_modes)
    print(f"{count:,} texts (seed {seed}) in {len(MODES)} modes; {len(failures)} failures.")
    return failures


def cut_in_all_modes(text: str) -> str:
    """Cut a text in every mode, as if its prompt had opened thinking and as if not."""
    for mode in MODES:
        for think_is_open in (False, True):
            cut(text, mode, think_is_open=think_is_open)
    return "cut"


def cut(text: str, mode: str, *, think_is_open: bool) -> None:
    """Check the steps of a text.

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


def make_text(random_numbers: random.Random) -> str:
    """Return scraps in a row, or one piece repeated many times."""
    separator = random_numbers.choice(("", " ", " ", "\n"))
    if random_numbers.random() < 0.995:
        return separator.join(random_numbers.choices(SCRAPS, k=random_numbers.randint(1, 60)))
    piece = "".join(random_numbers.choices(SCRAPS, k=random_numbers.randint(1, 4)))
    return piece * random_numbers.randint(1, 4000 // len(piece) + 1)


if __name__ == "__main__":
    main()
