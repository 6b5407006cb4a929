"""One candidate against its tests in one engine: what each test said, and how much of it is known."""

import ast
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from labeling.verifiers._code_tests import (
    BUILTINS,
    CallTest,
    ProgramTest,
    ScriptTest,
    Test,
    defined_in,
    names_in,
)
from labeling.verifiers.sandbox import (
    WALL_PER_CPU,
    CPythonSession,
    Engine,
    Limits,
    NotPlainError,
    Reply,
    SandboxError,
    Session,
    Status,
    same,
)
from labeling.verifiers.verdict import Outcome

MAX_RESTARTS = 3
"""Sandboxes begun anew for the tests behind one that ended the candidate's process."""
SHOWN = 200
"""Characters of a value that evidence holds."""
ASKS_NOTHING = "the test asks the candidate nothing"


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


def reads_alike(code: str) -> bool:
    """Tell whether code means the same to Monty as to CPython, as far as is known.

    Monty takes code that CPython refuses (unknown names in annotations, `return` outside a function), keeps
    sets in another order, and rounds other halves: there it has no say.
    """
    try:
        compile(code, "candidate.py", "exec", dont_inherit=True)
        if names_in(code):
            return False
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    if any(isinstance(node, (ast.Set, ast.SetComp, ast.Global, ast.Nonlocal)) for node in nodes):
        return False
    return not any(
        (isinstance(node, ast.Name) and node.id in _READ_OTHERWISE)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str) and "nan" in node.value.lower())
        for node in nodes
    )


_READ_OTHERWISE = frozenset({"set", "frozenset", "round", "hash", "id", "dir", "vars", "globals", "locals"})


def results_of(engine: Engine, code: str, tests: Sequence[Test], limits: Limits) -> Iterator[TestResult]:
    """Run code against tests in one engine; where the sandbox fails, nothing is known."""
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
        self._seconds_left = WALL_PER_CPU * limits.seconds
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
            return self._program(test)
        session = self._defined()
        if self._definition.status is not Status.VALUE:
            return _failed(test, self._definition)
        if isinstance(test, CallTest) and test.is_direct:
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

    def _program(self, test: ProgramTest) -> TestResult:
        if self._seconds_left <= 0:
            reason = f"the tests before it took {self._limits.seconds:g} s"
            return _failed(test, Reply(status=Status.TIME, detail=reason))
        started = time.monotonic()
        with self._engine.session(self._limits) as session:
            reply = session.program(self._code, test.stdin)
        self._seconds_left -= time.monotonic() - started
        if reply.status is Status.TIME:
            self._seconds_left = 0
        return _program_result(test, reply)

    def _checked(self, test: ScriptTest | CallTest, session: Session) -> TestResult:
        if not isinstance(session, CPythonSession):
            reason = "this engine runs no tests apart from the candidate"
            return _failed(test, Reply(status=Status.UNSUPPORTED, detail=reason))
        if self._tester is None:
            self._tester = self._engine.session(replace(self._limits, seconds=2 * self._limits.seconds))
        assert isinstance(self._tester, CPythonSession)
        n_asked = session.n_asked
        code, value = (test.code, "") if isinstance(test, ScriptTest) else ("", test.text)
        own = defined_in(self._code)
        names = [n for n in names_in(f"{code}\n{value}", aside=frozenset()) if n not in BUILTINS or n in own]
        reply = self._tester.check(code, names, session, value=value)
        if self._tester.end is not None:
            self._tester.close()
            self._tester = None
        has_asked = session.n_asked > n_asked
        if isinstance(test, CallTest) and has_asked and reply.status is Status.VALUE:
            return _call_result(test, reply)
        return _script_result(test, reply, has_asked=has_asked)


def _call_result(test: CallTest, reply: Reply) -> TestResult:
    if reply.status is not Status.VALUE:
        return _failed(test, reply, expected=_shown(test.expected))
    got, expected = _shown(reply.data), _shown(test.expected)
    try:
        wanted = [test.expected, [test.expected]] if test.may_be_wrapped else [test.expected]
        is_same = any(same(reply.data, one, is_json=test.is_json, tolerance=test.tolerance) for one in wanted)
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


def _script_result(test: Test, reply: Reply, *, has_asked: bool) -> TestResult:
    if reply.status is Status.VALUE:
        if has_asked:
            return TestResult(outcome=Outcome.RIGHT, text=test.text)
        return TestResult(outcome=Outcome.UNDECIDED, text=test.text, reason=ASKS_NOTHING)
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
    # Only line feeds end lines: str.splitlines knows ten signs more.
    return [line.rstrip() for line in text.rstrip().split("\n")]


def _shown(data: object) -> str:
    """Return a value's JSON data as short text."""
    return str(data)[:SHOWN].encode("utf-8", "replace").decode()
