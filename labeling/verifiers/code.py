"""Python in a solution, run against the tests of its problem, in a sandbox.

What the code returns comes back as plain data and is compared here, with values that the code never saw:
no exit code, printed word or agreeing `__eq__` passes a test. A step is judged by the tests of what it
defines; the last step with code by all of them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from labeling.errors import RecordError
from labeling.records import Problem, Solution
from labeling.verifiers._code_tests import (
    CallTest,
    ProgramTest,
    ScriptTest,
    Test,
    defined_in,
    names_in,
    read_tests,
)
from labeling.verifiers._code_text import Block, code_of_steps, code_of_text, parsed
from labeling.verifiers.sandbox import (
    CPythonSession,
    Engine,
    Limits,
    NotPlainError,
    Reply,
    SandboxError,
    Session,
    Status,
    open_engines,
    same,
)
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

MONTY_SECONDS = 0.5
"""What the fast engine may take before the other one is asked, whose code runs faster."""
MAX_RESTARTS = 3
"""Sandboxes begun anew for the tests behind one that ended the candidate's process."""
SHOWN = 200
"""Characters of a value that evidence holds."""
NO_CODE = "there is no code in it"
NO_TESTS = "the problem has no tests"
NO_TEST_FOR_IT = "no test concerns what it defines"


@dataclass(frozen=True, kw_only=True)
class TestResult:
    """What one test said of a candidate."""

    outcome: Outcome
    """RIGHT: passed. WRONG: failed. UNDECIDED: the test could not be run, for no fault of the candidate's."""
    text: str
    """The test."""
    got: str = ""
    """What came back, as text."""
    expected: str = ""
    """What was to come back, as text."""
    reason: str = ""
    """Why it did not pass."""

    __test__ = False  # its name means something to pytest


@dataclass(frozen=True)
class Grade:
    """All tests of one candidate."""

    results: tuple[TestResult, ...]
    engine: str
    """Name of the engine that had the last word."""

    @property
    def n_passed(self) -> int:
        """Tests passed."""
        return sum(result.outcome is Outcome.RIGHT for result in self.results)

    @property
    def share(self) -> float | None:
        """Tests passed, of those that could be run: 0..1, None when none could."""
        n = sum(result.outcome is not Outcome.UNDECIDED for result in self.results)
        return self.n_passed / n if n else None

    @property
    def outcome(self) -> Outcome:
        """RIGHT when every test passed, WRONG when one failed, else UNDECIDED."""
        outcomes = {result.outcome for result in self.results}
        if Outcome.WRONG in outcomes:
            return Outcome.WRONG
        return Outcome.RIGHT if outcomes == {Outcome.RIGHT} else Outcome.UNDECIDED


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
        """Tell whether the code of a text passes every test; None without code, or where tests cannot say."""
        found = self.grade_tests(problem, text)
        if found is None or found.outcome is Outcome.UNDECIDED:
            return None
        return found.outcome is Outcome.RIGHT

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
            is_last = engine is self._engines[-1]
            limits = self._limits
            if not is_last:
                limits = replace(limits, seconds=min(limits.seconds, MONTY_SECONDS))
            tried = Grade(tuple(_results(engine, code, tests, limits)), engine.name)
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
    if not needed or needed <= defined_in(code) or "def " not in problem.text:
        return ""
    whole = f"{problem.text.rstrip()}\n{code}"
    return whole if needed <= defined_in(whole) else ""


def _results(engine: Engine, code: str, tests: Sequence[Test], limits: Limits) -> Iterator[TestResult]:
    try:
        yield from _Candidate(engine, code, limits).results(tests)
    except SandboxError as error:
        for test in tests:
            yield TestResult(outcome=Outcome.UNDECIDED, text=test.text, reason=str(error))


class _Candidate:
    """One candidate and the sandboxes in which it lives, one after the other."""

    def __init__(self, engine: Engine, code: str, limits: Limits) -> None:
        self._engine, self._code, self._limits = engine, code, limits
        self._session: Session | None = None
        self._tester: Session | None = None
        self._n_started = 0
        self._definition = Reply(status=Status.ENDED)

    def results(self, tests: Sequence[Test]) -> list[TestResult]:
        try:
            return [self._result(test) for test in tests]
        finally:
            for session in (self._session, self._tester):
                if session is not None:
                    session.close()

    def _result(self, test: Test) -> TestResult:
        if isinstance(test, ProgramTest):
            with self._engine.session(self._limits) as session:
                return _program_result(test, session.program(self._code, test.stdin))
        session = self._defined()
        if self._definition.status is not Status.VALUE:
            return _failed(test, self._definition)
        if isinstance(test, CallTest):
            result = _call_result(test, session.evaluate(test.text))
        else:
            result = self._checked(test, session)
        # Who ran out of time has none left for the other tests.
        is_over = session.end is not None and session.end.status is not Status.TIME
        if is_over and self._n_started <= MAX_RESTARTS:
            session.close()
            self._session = None
        return result

    def _defined(self) -> Session:
        """Return a session in which the candidate's module is defined, or was tried to be."""
        if self._session is None:
            self._session = self._engine.session(self._limits)
            self._n_started += 1
            self._definition = self._session.execute(self._code)
        return self._session

    def _checked(self, test: ScriptTest, session: Session) -> TestResult:
        if not isinstance(session, CPythonSession):
            reason = "this engine runs no tests apart from the candidate"
            return _failed(test, Reply(status=Status.UNSUPPORTED, detail=reason))
        if self._tester is None:
            self._tester = self._engine.session(replace(self._limits, seconds=2 * self._limits.seconds))
        assert isinstance(self._tester, CPythonSession)
        n_asked = session.n_asked
        reply = self._tester.check(test.code, test.names, session)
        if self._tester.end is not None:
            self._tester.close()
            self._tester = None
        return _script_result(test, reply, has_asked=session.n_asked > n_asked)


def _call_result(test: CallTest, reply: Reply) -> TestResult:
    if reply.status is not Status.VALUE:
        return _failed(test, reply, expected=_shown(test.expected))
    got, expected = _shown(reply.data), _shown(test.expected)
    try:
        is_same = same(reply.data, test.expected, is_json=test.is_json, tolerance=test.tolerance)
    except NotPlainError:
        return _failed(test, Reply(status=Status.NOT_PLAIN), expected=expected)
    outcome = Outcome.RIGHT if is_same else Outcome.WRONG
    reason = "" if is_same else "another value came back"
    return TestResult(outcome=outcome, text=test.text, got=got, expected=expected, reason=reason)


def _program_result(test: ProgramTest, reply: Reply) -> TestResult:
    expected = repr(test.stdout[:SHOWN])
    if reply.status is not Status.VALUE:
        return _failed(test, reply, expected=expected)
    is_same = _lines(reply.stdout) == _lines(test.stdout)
    return TestResult(
        outcome=Outcome.RIGHT if is_same else Outcome.WRONG,
        text=test.text,
        got=repr(reply.stdout[:SHOWN]),
        expected=expected,
        reason="" if is_same else "it wrote something else",
    )


def _script_result(test: ScriptTest, reply: Reply, *, has_asked: bool) -> TestResult:
    if reply.status is Status.VALUE:
        return TestResult(outcome=Outcome.RIGHT, text=test.text)
    # What cannot cross to the candidate, and tests that break before they ask it anything, say nothing of it.
    if reply.kind == "TestsError" or (reply.status is not Status.RAISED and not has_asked):
        return TestResult(
            outcome=Outcome.UNDECIDED, text=test.text, reason=f"the tests: {reply.detail}"[:SHOWN]
        )
    return _failed(test, reply)


def _failed(test: Test, reply: Reply, *, expected: str = "") -> TestResult:
    if reply.status is Status.UNSUPPORTED:
        return TestResult(outcome=Outcome.UNDECIDED, text=test.text, reason=reply.detail[:SHOWN])
    reasons = {
        Status.RAISED: f"it raised {reply.kind}: {reply.detail}"
        + (f" (line {reply.line})" if reply.line else ""),
        Status.NOT_PLAIN: f"what came back is no plain data: {reply.detail}",
    }
    reason = reasons.get(reply.status, reply.detail)[:SHOWN]
    return TestResult(outcome=Outcome.WRONG, text=test.text, expected=expected, reason=reason)


def _lines(text: str) -> list[str]:
    """Return the lines of an output without the blanks at their ends and the empty lines at its end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _shown(data: object) -> str:
    """Return a value's JSON data as short text."""
    return str(data)[:SHOWN].encode("utf-8", "replace").decode()
