"""Python in a solution, run against the tests of its problem, in a sandbox.

What the code returns comes back as plain data and is compared here, with values that the code never saw:
no exit code, printed word or agreeing `__eq__` passes a test. A step is judged by the tests of what it
defines; the last step with code by all of them.
"""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain

from labeling.errors import NotGradedError, RecordError
from labeling.records import Problem, Solution
from labeling.verifiers._code_grade import SHOWN, Grade, reads_alike, results_of
from labeling.verifiers._code_tests import (
    CallTest,
    ScriptTest,
    Test,
    defined_in,
    names_in,
    read_tests,
)
from labeling.verifiers._code_text import Block, code_of_steps, code_of_text, parsed
from labeling.verifiers.sandbox import (
    Limits,
    open_engines,
)
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MONTY_SECONDS = 0.5
"""What the fast engine may take before the other one is asked, whose code runs faster."""
NO_CODE = "there is no code in it"
NO_TESTS = "the problem has no tests"
NO_TEST_FOR_IT = "no test concerns what it defines"


class CodeVerifier:
    """Runs the Python of a solution against the tests of its problem.

    Args:
        engine: "auto" (Monty, and CPython for what does not pass there), "monty" or "cpython".
        limits: What one candidate may use.

    Raises:
        ConfigError: There is no such engine.
        SandboxUnavailableError: There is no isolation on this machine; the message says what to install.
    """

    name = "code"

    def __init__(self, engine: str = "auto", *, limits: Limits | None = None) -> None:
        self._engines = open_engines(engine)
        self._limits = limits or Limits()

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step by the tests of what its code, with that of the steps before, defines."""
        try:
            tests = read_tests(problem)
        except RecordError as error:
            return [Verdict.undecided(error.reason)] * len(solution.steps)
        steps = code_of_steps(solution.step_texts)
        last = max((k for k, blocks in enumerate(steps) if blocks), default=-1)
        return [
            self._judge(problem, tests, steps[: k + 1], is_last=k == last)
            if blocks
            else Verdict.undecided(NO_CODE)
            for k, blocks in enumerate(steps)
        ]

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether the code of a text passes every test; None when the text holds no code.

        Raises:
            NotGradedError: The problem has no tests, or they could not be run to a result.
            RecordError: The tests of the problem cannot be read.
        """
        if not self.can_grade(problem):
            raise NotGradedError(f"problem {problem.id} has no tests")
        found = self.grade_tests(problem, text)
        if found is None:
            return None
        if found.outcome is Outcome.UNDECIDED:
            raise NotGradedError("the tests came to no result")
        return found.outcome is Outcome.RIGHT

    def can_grade(self, problem: Problem) -> bool:
        """Whether a problem has tests.

        Raises:
            RecordError: They cannot be read.
        """
        return bool(read_tests(problem))

    def grade_tests(self, problem: Problem, text: str) -> Grade | None:
        """Return the result of every test for the code of a text; None without code or tests.

        Raises:
            RecordError: The tests of the problem cannot be read.
        """
        blocks, tests = code_of_text(text), read_tests(problem)
        return self._best(problem, tests, blocks) if blocks and tests else None

    def run(self, code: str, tests: Sequence[Test]) -> Grade:
        """Run code against tests, one engine after the other until one passes it."""
        grade = Grade((), "")
        for engine in self._engines:
            limits = self._limits
            if engine is not self._engines[-1]:
                if not reads_alike(code):
                    continue
                limits = replace(limits, seconds=min(limits.seconds, MONTY_SECONDS))
            tried = Grade(tuple(results_of(engine, code, tests, limits)), engine.name)
            if Outcome.UNDECIDED in (grade.outcome, tried.outcome) and grade.outcome is not tried.outcome:
                # What one engine lacks says nothing of the candidate.
                grade = max(grade, tried, key=lambda one: one.outcome is not Outcome.UNDECIDED)
            else:
                grade = tried
            if tried.outcome is Outcome.RIGHT:
                break
        return grade

    def close(self) -> None:
        """End the sandboxes that are kept warm."""
        for engine in self._engines:
            engine.close()

    def _judge(
        self, problem: Problem, tests: Sequence[Test], so_far: Sequence[Sequence[Block]], *, is_last: bool
    ) -> Verdict:
        here = so_far[-1]
        own = "\n".join(block.code for block in here)
        if parsed(own) is None and parsed("\n".join(b.code for b in chain(*so_far))) is None:
            reason = "its code is no Python"
            return Verdict.wrong(reason, [self._evidence(here, Outcome.WRONG, reason=reason)])
        if not tests:
            return Verdict.undecided(NO_TESTS)
        concerned = list(tests) if is_last else _tests_of(tests, so_far)
        if not concerned:
            return Verdict.undecided(NO_TEST_FOR_IT)
        grade = self._best(problem, concerned, [block.code for block in chain(*so_far)])
        evidence = [
            self._evidence(
                here,
                r.outcome,
                text=r.text,
                left=r.got,
                right=r.expected,
                reason=r.reason,
                engine=grade.engine,
            )
            for r in grade.results
        ]
        if grade.outcome is Outcome.RIGHT:
            return Verdict.right("", evidence)
        first = next(r for r in grade.results if r.outcome is grade.outcome)
        reason = (
            f"{grade.n_passed} of {len(grade.results)} tests passed; {first.text[:SHOWN]}: {first.reason}"
        )
        return Verdict(grade.outcome, reason, tuple(evidence))

    def _best(self, problem: Problem, tests: Sequence[Test], blocks: Sequence[str]) -> Grade:
        """Grade the reasonable readings of several blocks, all of them or the last alone; the best counts."""
        readings = ["\n".join(blocks)] + ([blocks[-1]] if len(blocks) > 1 else [])
        if completed := _completed(problem, tests, blocks[-1]):
            readings.append(completed)
        grades = []
        for code in dict.fromkeys(readings):
            grades.append(self.run(code, tests))
            if grades[-1].outcome is Outcome.RIGHT:
                break
        return max(grades, key=lambda grade: (grade.outcome is not Outcome.UNDECIDED, grade.share or 0.0))

    def _evidence(
        self, here: Sequence[Block], outcome: Outcome, *, engine: str = "", **fields: str
    ) -> Evidence:
        return Evidence(
            verifier=self.name,
            outcome=outcome.value,
            kind=f"test on {engine}" if engine else "code",
            start=here[0].start,
            end=here[-1].end,
            **fields,
        )


def _tests_of(tests: Sequence[Test], so_far: Sequence[Sequence[Block]]) -> list[Test]:
    """Return the tests of which all is defined so far, and something in the last of the steps."""
    known = set().union(*(defined_in(block.code) for block in chain(*so_far)))
    new = set().union(*(defined_in(block.code) for block in so_far[-1]))
    found = []
    for test in tests:
        needed = set(_needed(test))
        if needed and needed <= known and needed & new:
            found.append(test)
    return found


def _needed(test: Test) -> Sequence[str]:
    if isinstance(test, CallTest):
        return names_in(test.text)
    return test.names if isinstance(test, ScriptTest) else ()


def _completed(problem: Problem, tests: Sequence[Test], code: str) -> str:
    """Return the problem's own beginning with the code behind it, as HumanEval has it; "" when it is none."""
    needed = set(chain(*map(_needed, tests)))
    if not needed or "def " not in problem.text:
        return ""
    whole = f"{problem.text.rstrip()}\n{code}"
    if parsed(whole) is None or not needed <= defined_in(whole):
        return ""
    # A whole function may still lean on what stands before it there: imports, helpers.
    return whole if not needed <= defined_in(code) or set(names_in(code)) - set(names_in(whole)) else ""
