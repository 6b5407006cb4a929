"""Generated and mutated texts against a verifier: no crash, no verdict in over a second.

    python -m benchmarks.fuzz_verifiers --verifier arithmetic --count 1000000 --seed 0

Texts are made from scraps of formulas and sentences, and from right equations in which digits and signs are
changed, doubled, dropped or moved. Prints how many were judged, what the verdicts were, the slowest text, and
every text that crashed or took too long; the exit code is 1 when there is one.
"""

import argparse
import random
import sys
from collections.abc import Sequence

from benchmarks._fuzzing import try_all
from labeling.records import Problem, Solution
from labeling.verifiers.registry import load_panel
from labeling.verifiers.verdict import Outcome, Verifier

_SCRAP_TEXT = r"""
    = + - * / ^ ( ) { } [ ] | $ % , . : ; ! ? _ & ~ < > << >> 0 1 23 4.5 1,000 1/2 1.5e3 999999999999 x e m km
    apples dollars of is not the sum half twice prime divisible by rounded to nearest from 10:45 30 min 2:38
    am ** ½ ² π ３ × ÷ ≈ ≡ √ ∛ ⌊ ⌋ dozen times equals plus percent remainder mod modulo Day ... \\ \frac
    \dfrac12 \binom \sqrt \sqrt[3] \log_2 \ln \sin \tan e^ \gcd(12,18) C(8,2) 8C2 \lfloor \rfloor
    \pmod{5} \equiv \bmod ^\circ \text{a} \boxed \left \right \[ \] \( \) $$ y f(x) x_1 2x so Simplifying
    both sides becomes substituting \theta \implies kg m/s kN MB GB ³ ⁻¹ per square N·m °C µm a.m. Let or
"""
SCRAPS = (*_SCRAP_TEXT.split(), "\n")
RIGHT_TEXTS = (
    "Total cost = 20 + 23 = 43 dollars, so 43 / 4 = 10.75 each.",
    "\\[ \\frac{24 \\text{ feet}}{3 \\text{ feet/bottle}} = 8 \\text{ bottles} \\]",
    "He pays 3 * $4.50 = <<3*4.50=13.5>>$13.50.",
    "\\sqrt[3]{27} + 8^(2/3) = 7 and \\log_2 8 = 3 and |3 - 5| = 2",
    "2^{1000} \\equiv 1 \\pmod{5} and 17 mod 5 = 2 and C(8, 2) = 28",
    "The sum of 3, 4 and 5 is 12. Half of 30 is 15. 20% of 50 is 10. 91 is not prime.",
    "10:45 + 30 min = 11:15. From 2:15 to 2:38 is 23 minutes.",
    "3 1/2 + 1/2 = 4 and 5 m + 40 cm = 5.4 m and 60 km/h * 2 h = 120 km",
    "2x + 7 = 43, so 2x = 36.\nDividing both sides by 2, we get x = 18.",
    "Let f(x) = x^2 + 1. Then f(3) = 3^2 + 1 = 10.\n\\[ 2(x + 3) - x = 2x + 6 - x = x + 6 \\]",
    "$x + y = 10$ and $x - y = 2$.\nAdding the equations gives $2x = 12$, so $x = 6$ and $y = 4$.",
    "(x - 2)(x + 3) = x^2 + x - 6\n= x(x + 1) - 6\nv = u + a t = 3 + 2 * 5 = 13",
    "sigma = 12 kN m / 3e-4 m^3 = 40 MPa and F = 2 kg * 9.81 m/s^2 = 19.62 N",
    "\\frac{60 \\text{ km}}{1.5 \\text{ h}} = 40 \\text{ km/h}; 100 MB / 8 Mbps = 100 s; 25 °C = 298 K",
    "3.0 x 10^8 m/s * 2 ms = 600 km, which is 6.0 × 10⁵ m; 5 kg·m² / 2 s² = 2.5 J",
    "1529 / 6 = 254 remainder 5; 10 / 3 = 3.333...; \\sin 30^\\circ = 0.5",
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--verifier", default="arithmetic", help="names, as in `prm label --verifier`")
    parser.add_argument("--count", type=int, default=100_000, help="texts to judge")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    failures = fuzz(load_panel(arguments.verifier), count=arguments.count, seed=arguments.seed)
    sys.exit(1 if failures else 0)


def fuzz(verifier: Verifier, *, count: int, seed: int) -> list[str]:
    """Judge `count` texts and return those that crashed or took too long, with the reason."""
    judge(verifier, "1 m = 100 cm")  # What is loaded with the first text is no time of that text.
    random_numbers = random.Random(seed)
    texts = (make_text(random_numbers) for _ in range(count))
    outcomes, failures = try_all(texts, lambda text: judge(verifier, text))
    shares = ", ".join(f"{outcomes[outcome]:,} {outcome}" for outcome in Outcome)
    print(f"{count:,} texts (seed {seed}): {shares}; {len(failures)} failures.")
    return failures


def judge(verifier: Verifier, text: str) -> Outcome:
    """Return the verdict on the last step of a solution, whose evidence must lie inside the steps."""
    problem = Problem(id="fuzz", text="What is it?", answer="12")
    steps = text.split("\n")
    verdicts = verifier.verify(problem, Solution.from_steps(steps, id="fuzz", problem=problem))
    for step, verdict in zip(steps, verdicts, strict=True):
        for item in verdict.evidence:
            if not 0 <= item.start <= item.end <= len(step):
                raise ValueError(f"evidence outside the step: {item}")
    return verdicts[-1].outcome


def make_text(random_numbers: random.Random) -> str:
    """Return a text: scraps in a row, a right text mutated, or one piece repeated many times."""
    kind = random_numbers.random()
    if kind < 0.45:
        length = random_numbers.randint(1, 40)
        separator = random_numbers.choice(("", " ", " "))
        return separator.join(random_numbers.choices(SCRAPS, k=length))
    if kind < 0.995:
        return mutated(random_numbers.choice(RIGHT_TEXTS), random_numbers)
    piece = "".join(random_numbers.choices(SCRAPS, k=random_numbers.randint(1, 4))) or "("
    return piece * random_numbers.randint(1, 4000 // len(piece) + 1)


def mutated(text: str, random_numbers: random.Random) -> str:
    """Change up to six places: another sign, a doubled or dropped piece, two pieces exchanged."""
    signs: Sequence[str] = list(text)
    for _ in range(random_numbers.randint(1, 6)):
        if not signs:
            break
        at = random_numbers.randrange(len(signs))
        length = random_numbers.randint(1, 4)
        head, piece, tail = signs[:at], signs[at : at + length], signs[at + length :]
        choice = random_numbers.random()
        if choice < 0.4:
            signs = [*head, random_numbers.choice(SCRAPS), *tail]
        elif choice < 0.6:
            signs = [*head, *piece, *piece, *tail]
        elif choice < 0.8:
            signs = [*head, *tail]
        elif piece[0].isdigit():
            signs = [*head, str(random_numbers.randrange(1000)), *signs[at + 1 :]]
        else:
            signs = [*tail, *piece, *head]
    return "".join(signs)


if __name__ == "__main__":
    main()
