"""Algebra in unknowns: what a step rewrites, solves or puts in, held against what it comes from.

A claim is false only when it is provably so: two expressions joined by "=" in a chain that differ at a point,
an equation that has no solution in common with the one it is derived from, a system that contradicts itself,
a value that a function does not have. What brings something new (a case, an assumption, another condition)
is left undecided. A step is WRONG when one claim is false, RIGHT when at least one was checked and all were
true, else UNDECIDED.
"""

from labeling.records import Problem, Solution
from labeling.verifiers._algebra_chains import may_hold_algebra
from labeling.verifiers._algebra_claims import NAME
from labeling.verifiers._algebra_functions import functions_in
from labeling.verifiers._algebra_judge import NOTHING, Judge
from labeling.verifiers.verdict import Verdict


class AlgebraVerifier:
    """Checks rewritten expressions, equations and systems in unknowns; meets `Verifier`."""

    name = NAME

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by itself and by what the problem and the steps before have established."""
        texts = solution.step_texts
        if not any(may_hold_algebra(text) for text in texts):
            return [Verdict.undecided(NOTHING)] * len(texts)
        judge = Judge(problem.text, functions_in(problem.text, *texts))
        return [judge.judge(text) for text in texts]
