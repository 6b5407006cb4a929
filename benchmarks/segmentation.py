"""Megabytes a second of every segmentation mode beside `str.splitlines`, on generated solutions.

    python -m benchmarks.segmentation

Prints two Markdown tables, made in one run on one core: speed on whole solutions of common kinds (numbered
lists, paragraphs, LaTeX, Markdown, thinking), a call each; and time on one long text and on ten times of it,
whose ratio is 10 where the time is linear. A megabyte is 10^6 bytes of UTF-8.
"""

import argparse
import random
import time
from collections.abc import Callable, Sequence
from statistics import median

from labeling.steps import MODES, segment

SEED = 20240
LONG_TEXT_CHARACTERS = 100_000
_MARKER = "\n\n"
_SENTENCES = (
    "The farm sells {a} eggs a day at ${b}.50 each, so it earns {a} * {b}.5 dollars.",
    "First we subtract the {a} items that Dr. Lee used (see Fig. {b}), which leaves {c}.",
    "Hence $x = \\frac{{{a}}}{{{b}}}$ and the ratio is {a}/{b}, i.e. about {c}.25 in total.",
    "Since {a} + {b} = {c}, the remaining part is {c} - {a} = {b}.",
    "Let \\(n\\) be the number of rows; then n * {a} = {c} and n is less than {b}.",
    "Therefore the answer does not change when {a} is replaced by {b}.",
    "每袋米重{a}.5千克，{b}袋共重{c}千克。",
)


def sentences(rng: random.Random, count: int) -> list[str]:
    picked = rng.choices(_SENTENCES, weights=[6, 4, 4, 6, 4, 6, 1], k=count)
    return [text.format(a=rng.randint(2, 99), b=rng.randint(2, 99), c=rng.randint(2, 999)) for text in picked]


def solution(rng: random.Random) -> str:
    """Return one solution of a kind that is drawn, some 600 to 2000 characters."""
    parts = [" ".join(sentences(rng, rng.randint(1, 3))) for _ in range(rng.randint(4, 9))]
    kind = rng.randrange(6)
    if kind == 0:
        return "\n".join(f"{number}. {part}" for number, part in enumerate(parts, 1))
    if kind == 1:
        return "\n".join(parts)
    if kind == 2:
        return "\n\n".join(f"**Step {number}:** {part}" for number, part in enumerate(parts, 1))
    if kind == 3:
        return "\n\n".join([*parts, "\\[\nx = 3 + 4\n\n= 7\n\\]", "| a | b |\n|---|---|\n| 1 | 2 |"])
    if kind == 4:
        return "<think>\n" + "\n\n".join(parts) + "\n</think>\n\nThe answer is \\boxed{7}."
    return " ".join(parts)


def corpus(megabytes: float, seed: int = SEED) -> list[str]:
    rng = random.Random(seed)
    texts: list[str] = []
    size = 0
    while size < megabytes * 1e6:
        texts.append(solution(rng))
        size += len(texts[-1].encode())
    return texts


def seconds_of(cut: Callable[[str], object], texts: Sequence[str], repeats: int) -> float:
    """Return the median of the seconds of processor time that one pass over the texts takes."""
    passes = []
    for _ in range(repeats):
        started = time.process_time()
        for text in texts:
            cut(text)
        passes.append(time.process_time() - started)
    return median(passes)


def cutters() -> dict[str, Callable[[str], object]]:
    def of(mode: str) -> Callable[[str], object]:
        marker = _MARKER if mode == "marker" else None
        return lambda text: segment(text, mode, marker=marker)

    return {"str.splitlines": str.splitlines} | {mode: of(mode) for mode in MODES}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--megabytes", type=float, default=2.0)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    texts = corpus(arguments.megabytes)
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    characters = sum(map(len, texts))
    print(f"{len(texts)} solutions, {megabytes:.2f} MB, {characters} characters, {arguments.repeats} passes")
    print()
    print("| mode | MB/s, a call a solution | steps | characters a step |")
    print("|---|---|---|---|")
    for name, cut in cutters().items():
        seconds = seconds_of(cut, texts, arguments.repeats)
        results = [cut(text) for text in texts]
        n_steps = sum(len(getattr(found, "steps", found)) for found in results)
        print(f"| {name} | {megabytes / seconds:.1f} | {n_steps} | {characters / n_steps:.0f} |")
    short = "\n\n".join(text for text in texts if "think>" not in text)[:LONG_TEXT_CHARACTERS]
    print()
    print(f"| mode | MB/s, one text of {len(short)} characters | MB/s, ten times as long | time ratio |")
    print("|---|---|---|---|")
    for name, cut in cutters().items():
        once, tenfold = (seconds_of(cut, [short * n], arguments.repeats) for n in (1, 10))
        size = len(short.encode()) / 1e6
        print(f"| {name} | {size / once:.1f} | {10 * size / tenfold:.1f} | {tenfold / once:.1f} |")


if __name__ == "__main__":
    main()
