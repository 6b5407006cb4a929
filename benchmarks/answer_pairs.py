r"""Answers that are equal or different by construction: how many does the verifier tell, and math-verify?

    python -m benchmarks.answer_pairs --count 4000
    python -m benchmarks.answer_pairs --count 4000 --show 20

Every pair is made from an exact value: the reference is one spelling of it, the candidate another, or a
spelling of another value. The table counts, by kind, the pairs that each judge gets right, leaves
undecided, and gets wrong, in both orders of the pair.
"""

import argparse
import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from benchmarks._answer_layouts import OTHER_KINDS
from benchmarks._answer_numbers import NUMBER_KINDS
from labeling.randomness import derive_seed
from labeling.verifiers.answers import compare_answers

KINDS = {**NUMBER_KINDS, **OTHER_KINDS}


@dataclass(frozen=True)
class Pair:
    """Two answers, and whether they are equal."""

    kind: str
    reference: str
    candidate: str
    is_equal: bool


def pairs(count: int, seed: int = 0) -> Iterator[Pair]:
    """Yield `count` pairs, the kinds in turn, equal and different in turn; the same for one seed."""
    kinds = list(KINDS)
    for number in range(count):
        kind = kinds[number % len(kinds)]
        rng = random.Random(derive_seed(seed, "answer_pairs", str(number)))
        is_equal = (number // len(kinds)) % 2 == 0
        value, other = KINDS[kind](rng)
        reference = rng.choice(value)
        candidates = [each for each in value if each != reference] or [reference]
        yield Pair(kind, reference, rng.choice(candidates) if is_equal else rng.choice(other), is_equal)


def ours(reference: str, candidate: str) -> bool | None:
    """Judge by this toolkit."""
    return compare_answers(reference, candidate, seconds=5.0).equal


def directly(reference: str, candidate: str) -> bool | None:
    """Judge by math-verify as its documentation shows; None when it can read no reference."""
    from math_verify import parse, verify

    gold, target = (
        parse(text if "$" in text or "boxed" in text else f"${text}$") for text in (reference, candidate)
    )
    return verify(gold, target) if gold else None


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=2000, help="pairs, all kinds together")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--show", type=int, default=0, help="pairs to print that ours does not get right")
    arguments = parser.parse_args()
    judges = {"ours": ours, "math-verify": directly}
    tallies: dict[str, dict[str, Counter[str]]] = {
        kind: {name: Counter() for name in judges} for kind in KINDS
    }
    for pair in pairs(arguments.count, arguments.seed):
        for name, judge in judges.items():
            for left, right in ((pair.reference, pair.candidate), (pair.candidate, pair.reference)):
                found = judge(left, right)
                outcome = "undecided" if found is None else "right" if found is pair.is_equal else "wrong"
                tallies[pair.kind][name][f"{outcome}, {'equal' if pair.is_equal else 'different'}"] += 1
                if name == "ours" and outcome != "right" and arguments.show > 0:
                    arguments.show -= 1
                    print(f"{outcome:10} {pair.kind}: {left!r} and {right!r}, equal: {pair.is_equal}")
    print("| kind | pairs | ours right | undecided | called different | called equal ", end="")
    print("| math-verify right | called different | called equal |")
    print("|---|---|---|---|---|---|---|---|---|")
    total = {name: sum((tallies[kind][name] for kind in KINDS), Counter[str]()) for name in judges}
    for kind, rows in [*tallies.items(), ("all", total)]:
        cells = [str(sum(rows["ours"].values()))]
        for name in judges:
            counts = rows[name]
            cells.append(str(counts["right, equal"] + counts["right, different"]))
            if name == "ours":
                cells.append(str(counts["undecided, equal"] + counts["undecided, different"]))
            cells += [str(counts["wrong, equal"]), str(counts["wrong, different"])]
        print(f"| {kind} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
