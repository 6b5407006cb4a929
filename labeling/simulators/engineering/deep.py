"""Deep problems: a running value goes through 3 to 12 elements of a catalogue."""

from random import Random

from labeling.simulators.engineering.catalogue import DeepFamily
from labeling.simulators.engineering.spec import LARGEST_VALUE, TrueStep


def draw_deep(family: DeepFamily, depth: int, rng: Random) -> tuple[str, list[TrueStep]]:
    """Draw the text and the true steps of one problem; no element appears twice in a chain.

    The running value stays in 0..199: chains that leave that range are drawn again.

    Args:
        family: Whose catalogue is used.
        depth: Elements in the chain, at most the size of the catalogue.
        rng: Source of randomness.
    """
    while True:
        start = rng.randint(*family.starts)
        elements = rng.sample(list(family.values), depth)
        steps: list[TrueStep] = []
        running = start
        for element in elements:
            change = family.values[element]
            result = running + change
            steps.append(TrueStep(element, running, "+" if change > 0 else "-", abs(change), result))
            running = result
        if all(0 <= step.result <= LARGEST_VALUE for step in steps):
            break
    text = f"{family.opening.format(start=start)} {family.lead} {' '.join(elements)}. {family.question}"
    return text, steps
