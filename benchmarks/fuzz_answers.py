r"""Generated and mutated answers, by the million: no crash, no hang, no verdict over its limit.

    python -m benchmarks.fuzz_answers --count 1000000
    python -m benchmarks.fuzz_answers --count 2000 --algebra

Input n is the same in every run with the same seed, so a run can be cut into slices (`--start`). Each is a
pair of answers and a text that holds one of them. Without `--algebra` everything but the worker process is
exercised, with it all of it. Checked: nothing is raised; the answer found stands in the text; both orders
of a pair say the same; equal texts are never called different; no input takes longer than the limit. Exit
code 1 when a check fails.
"""

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from benchmarks.answer_pairs import pairs
from labeling.randomness import derive_seed
from labeling.verifiers._answer_compare import Comparer
from labeling.verifiers._answer_findings import Finding, State, unsure
from labeling.verifiers._extract import find_answer, without_thinking
from labeling.verifiers.answers import MAX_ANSWER_CHARS, compare_answers

TOKENS = (
    r"\frac",
    r"\dfrac",
    r"\sqrt",
    r"\boxed",
    r"\fbox",
    r"\text{",
    r"\mathrm{",
    r"\left",
    r"\right",
    r"\begin{pmatrix}",
    r"\end{pmatrix}",
    r"\\",
    r"\cup",
    r"\infty",
    r"\pi",
    r"\pm",
    r"\le",
    r"\ge",
    r"\ne",
    r"\mid",
    r"\{",
    r"\}",
    r"\circ",
    r"\%",
    r"\$",
    r"\,",
    r"\!",
    r"\(",
    r"\)",
    r"\[",
    r"\]",
    r"\overline{",
    r"\cdot",
    r"\times",
    r"\log_",
    r"\sin",
    r"^",
    r"_",
    r"{",
    r"}",
    r"(",
    r")",
    r"[",
    r"]",
    r"<",
    r">",
    r"=",
    r"|",
    r"!",
    r"&",
    r"$",
    r"$$",
    r",",
    r";",
    r":",
    r".",
    r"...",
    r"+",
    r"-",
    r"*",
    r"/",
    r"%",
    r"°",
    r"±",
    r"≤",
    r"∞",
    r"√",
    r"½",
    r"²",
    r"₂",
    r"π",
    r"－",
    r"１",
    r"，",
    r"0",
    r"1",
    r"2",
    r"12",
    r"345",
    r"1,000",
    r"0.5",
    r".5",
    r"1e9",
    r"10^9",
    r"9^9^9",
    r"x",
    r"y",
    r"n",
    r"e",
    r"i",
    r"A",
    r"(B)",
    r"AB",
    r"x=5",
    r"and",
    r"or",
    r"to",
    r"base",
    r"degrees",
    r"km",
    r"cm^2",
    r"m/s",
    r"hours",
    r"dollars",
    r"cents",
    r"apples",
    r"in",
    r"total",
    r"percent",
    r"million",
    r"half",
    r"twenty-five",
    r"no",
    r"solution",
    r"all",
    r"real",
    r"numbers",
    r"yes",
    r"none",
    r"July",
    r"4",
    r"3:30",
    r"PM",
    r"noon",
    r"The",
    r"answer",
    r"is",
    r"####",
    r"Answer:",
    r"**",
    r"<think>",
    r"</think>",
    r"<answer>",
    r"</answer>",
    r"#",
    r"答案",
)
LIMIT_SECONDS = 1.0
ALGEBRA_SECONDS = 0.5
_BOTH_ORDERS = 4
"""One in so many pairs is compared in both orders, and its first answer with itself."""


def inputs(start: int, count: int, seed: int) -> Iterator[tuple[str, str, str]]:
    """Yield (answer, other answer, text that holds the first)."""
    known = [text for pair in pairs(2000, seed) for text in (pair.reference, pair.candidate)]
    for number in range(start, start + count):
        rng = random.Random(derive_seed(seed, "fuzz_answers", str(number)))
        left = _mutated(rng, rng.choice(known)) if rng.random() < 0.6 else _soup(rng)
        right = _mutated(rng, left) if rng.random() < 0.3 else _mutated(rng, rng.choice(known))
        frame = rng.choice(
            (
                "So \\boxed{%s}.",
                "The answer is %s.",
                "#### %s",
                "A: %s",
                "%s",
                "**Answer:** %s\nEnd.",
                "<answer>%s</answer>",
            )
        )
        yield left, right, _mutated(rng, frame % left) if rng.random() < 0.3 else frame % left


def _soup(rng: random.Random) -> str:
    glue = rng.choice(("", "", " "))
    text = glue.join(rng.choice(TOKENS) for _ in range(rng.randrange(1, 25)))
    return text * (rng.choice((20, 100)) if rng.random() < 0.01 else 1)


def _mutated(rng: random.Random, text: str) -> str:
    for _ in range(rng.randrange(0, 4)):
        at = rng.randrange(len(text) + 1)
        end = min(len(text), at + rng.randrange(1, 6))
        kind = rng.randrange(6)
        if kind == 0:
            text = text[:at] + rng.choice(TOKENS) + text[at:]
        elif kind == 1:
            text = text[:at] + text[end:]
        elif kind == 2:
            text = text[:at] + text[at:end] * rng.choice((2, 3, 50)) + text[end:]
        elif kind == 3:
            text = (
                text[:at]
                + chr(rng.choice((rng.randrange(32, 127), rng.randrange(0x20, 0x3000))))
                + text[end:]
            )
        elif kind == 4:
            text = text[at:] + text[:at]
        else:
            text = text[:at] + text[at:end][::-1] + text[end:]
    return text


def without_algebra(left: str, right: str | None, tolerance: Fraction) -> Finding:
    """Stand in for the worker: cannot tell."""
    return unsure("not asked")


def checked(number: int, left: str, right: str, text: str, *, with_algebra: bool) -> tuple[str, str]:
    """Return what was found of a pair, and which check failed ("" when none did)."""
    answer = find_answer(text)
    if answer is not None and (
        not answer.text.strip() or without_thinking(text)[answer.start : answer.end] != answer.text
    ):
        return "", f"the answer {answer} does not stand in the text"
    if with_algebra:
        states = [
            compare_answers(*pair, seconds=ALGEBRA_SECONDS).equal for pair in ((left, right), (right, left))
        ]
        same = compare_answers(left, left, seconds=ALGEBRA_SECONDS).equal
        if True in states and False in states:
            return str(states[0]), f"one order says {states[0]}, the other {states[1]}"
        return str(states[0]), "an answer is not equal to itself" if same is False else ""
    comparer = Comparer(without_algebra)
    left, right = left[:MAX_ANSWER_CHARS], right[:MAX_ANSWER_CHARS]
    found = comparer.compare(left, right)
    if number % _BOTH_ORDERS:
        return found.state.value, ""
    turned = comparer.compare(right, left)
    if {found.state, turned.state} == {State.EQUAL, State.DIFFERENT}:
        return found.state.value, f"one order says {found.state.value}, the other {turned.state.value}"
    same = comparer.compare(left, left)
    return (
        found.state.value,
        "an answer is called different from itself" if same.state is State.DIFFERENT else "",
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--algebra", action="store_true", help="ask the worker process, too")
    arguments = parser.parse_args()
    found: Counter[str] = Counter()
    failures: list[str] = []
    slowest, slowest_input = 0.0, ""
    limit = 8 * ALGEBRA_SECONDS + 60 if arguments.algebra else LIMIT_SECONDS
    started = time.perf_counter()
    for number, (left, right, text) in enumerate(
        inputs(arguments.start, arguments.count, arguments.seed), start=arguments.start
    ):
        before = time.process_time()
        try:
            state, failure = checked(number, left, right, text, with_algebra=arguments.algebra)
        except Exception as error:  # noqa: BLE001  # whatever is raised is what this program looks for
            state, failure = "raised", f"{type(error).__name__}: {error}"
        seconds = time.process_time() - before
        found[state] += 1
        if seconds > slowest:
            slowest, slowest_input = seconds, f"{left!r}, {right!r}, {text!r}"
        if failure or seconds > limit:
            failures.append(f"{number}: {failure or 'too slow'}: {left!r}, {right!r}, {text!r}")
    seconds = time.perf_counter() - started
    print(
        f"{arguments.count} pairs and texts from {arguments.start} in {seconds:.0f} s;",
        dict(found.most_common()),
    )
    print(f"slowest: {slowest:.3f} s of processor time: {slowest_input[:200]}")
    print(f"{len(failures)} failures")
    print("\n".join(failure[:600] for failure in failures[:20]))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
