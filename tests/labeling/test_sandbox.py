"""The two engines behind one protocol: what they do, what they refuse, and the shared cases."""

import os
import threading
import time

import psutil
import pytest
from sandboxes import cpython_engine, sandboxed_processes

from benchmarks.sandbox import soak
from labeling.errors import ConfigError
from labeling.verifiers._sandbox import bubblewrap, cpython
from labeling.verifiers.sandbox import (
    Limits,
    MontyEngine,
    SandboxUnavailableError,
    Status,
    open_engine,
    open_engines,
)

SQUARE = "def square(x):\n    print('called', x)\n    return x * x\n"


@pytest.fixture(scope="module")
def engines():
    made = {"cpython": None, "monty": MontyEngine()}
    yield made
    for engine in made.values():
        if engine is not None:
            engine.close()


@pytest.fixture(params=["cpython", "monty"])
def engine(request, engines):
    if engines[request.param] is None:
        engines[request.param] = cpython_engine()
    return engines[request.param]


@pytest.fixture
def cpython_only(engines):
    if engines["cpython"] is None:
        engines["cpython"] = cpython_engine()
    return engines["cpython"]


def test_values_come_back_with_what_was_printed(engine):
    with engine.session(Limits()) as session:
        assert session.execute(SQUARE).status is Status.VALUE
        reply = session.evaluate("square(12)")
        assert (reply.status, reply.value, reply.stdout) == (Status.VALUE, 144, "called 12\n")
        assert session.evaluate("[square(k) for k in (1, 2)]").value == [1, 4]
        value = {"a": (1, 2.5), "b": {3}, "c": None, "d": b"x", "e": 2**80}
        assert session.evaluate(repr(value)).value == value


def test_a_candidate_keeps_its_state_and_the_next_one_sees_none_of_it(engine):
    with engine.session(Limits()) as session:
        session.execute("seen = []\ndef note(x):\n    seen.append(x)\n    return len(seen)")
        assert [session.evaluate("note(1)").value for _ in range(2)] == [1, 2]
    with engine.session(Limits()) as session:
        assert session.evaluate("seen").status in (Status.RAISED, Status.UNSUPPORTED)


@pytest.mark.parametrize(
    ("code", "kind", "line"),
    [
        ("x = 1\ny = [][3]", "IndexError", 2),
        ("assert False, 'words'", "AssertionError", 1),
        ("def f():\n    raise ValueError('bad')\nf()", "ValueError", 2),
    ],
)
def test_an_error_is_told_with_its_kind_and_line(engine, cpython_only, code, kind, line):
    with engine.session(Limits()) as session:
        reply = session.execute(code)
    assert (reply.status, reply.kind) == (Status.RAISED, kind)
    assert reply.line == (line if engine is cpython_only else 0)


@pytest.mark.parametrize("code", ["def f(:", "x = (", "x = 1\x00", "   x = 1\n y = 2"])
def test_what_is_no_python_is_an_error_of_the_candidate(engine, code):
    with engine.session(Limits()) as session:
        assert session.execute(code).status in (Status.RAISED, Status.UNSUPPORTED)


def test_objects_are_not_plain_data(engine):
    with engine.session(Limits()) as session:
        session.execute("class Yes:\n    def __eq__(self, other):\n        return True")
        for expression in ("Yes()", "[Yes()]", "{1: Yes()}", "Yes", "print", "(lambda: 1)"):
            assert session.evaluate(expression).status in (Status.NOT_PLAIN, Status.UNSUPPORTED), expression


def test_monty_gives_back_no_object_but_text_whatever_the_candidate_defines(engines):
    with engines["monty"].session(Limits()) as session:
        session.execute("toolkit_encode = lambda value, depth=0: 13\ndef f():\n    return None")
        # A forged answer is only a claim: it still has to be right.
        assert session.evaluate("f()").value == 13
        session.execute("def toolkit_encode(value, depth=0):\n    return {'set': [[1]]}")
        assert session.evaluate("f()").data == {"set": [[1]]}


def test_no_set_of_the_candidate_is_built_outside(engines):
    colliding = "{k * (2**61 - 1) for k in range(100_000)}"
    started = time.process_time()
    with engines["monty"].session(Limits()) as session:
        assert session.execute(colliding).status is Status.VALUE
        assert len(session.evaluate(colliding.replace("100_000", "20_000")).data["set"]) == 20_000
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("while True:\n    pass", Status.TIME),
        ("x = []\nwhile True:\n    x.append('a' * 10**5 + str(len(x)))", Status.MEMORY),
        ("while True:\n    print('x' * 999)", Status.OUTPUT),
    ],
)
def test_limits_end_the_session_for_good(engine, code, status):
    limits = Limits(seconds=1, memory_bytes=100 * 2**20, output_bytes=10_000)
    with engine.session(limits) as session:
        reply = session.execute(code)
        # In CPython the process itself is told that there is no more memory.
        assert reply.status is status or (status is Status.MEMORY and reply.kind == "MemoryError")
        if reply.status is status:
            assert session.evaluate("1").status is status
            assert session.end is not None
    with engine.session(limits) as session:
        assert session.evaluate("1").value == 1


def test_a_program_reads_its_input_and_its_output_is_kept(cpython_only):
    code = "import sys\nn = int(input())\nprint(sum(map(int, sys.stdin.read().split())) * n)"
    for _ in range(2):
        with cpython_only.session(Limits()) as session:
            assert session.program(code, "2\n3 4\n5").stdout == "24\n"
    with cpython_only.session(Limits()) as session:
        reply = session.program("import os\nos.write(1, b'\\xff')\nprint(input())", "größer \ud800")
        assert reply.stdout.startswith("\ufffd")
    with cpython_only.session(Limits()) as session:
        assert session.program("print('x')\nraise SystemExit(3)", "").status is Status.RAISED
    with cpython_only.session(Limits()) as session:
        reply = session.program("print('x')\nraise SystemExit", "")
        assert (reply.status, reply.stdout) == (Status.VALUE, "x\n")


def test_monty_says_that_it_has_no_input(engines):
    with engines["monty"].session(Limits()) as session:
        assert session.program("print(1)", "").status is Status.UNSUPPORTED


def test_sets_come_in_the_same_order_every_time(cpython_only):
    orders = set()
    for _ in range(4):
        with cpython_only.session(Limits()) as session:
            orders.add(str(session.evaluate("list({str(k) for k in range(50)})").value))
    assert len(orders) == 1


def test_a_fork_of_the_candidate_answers_nothing(cpython_only):
    code = (
        "import os, time\ndef f():\n    if os.fork() == 0:\n        time.sleep(0.2)\n        return 'child'\n"
        "    return 'parent'"
    )
    with cpython_only.session(Limits()) as session:
        session.execute(code)
        assert session.evaluate("f()").value == "parent"
        time.sleep(0.5)
        assert session.evaluate("6 * 7").value == 42


def test_sb_03_children_are_ended_and_counted(golden, cpython_only):
    case = golden("sandbox.json")["sb-03"]
    limits = Limits(
        seconds=case["input"]["limits"]["seconds"], processes=case["input"]["limits"]["processes"]
    )
    expected = case["expected"]
    for candidate in case["input"]["candidates"]:
        wanted = expected[candidate["name"]]
        started = time.monotonic()
        with cpython_only.session(limits) as session:
            reply = session.program(candidate["code"], "")
        seconds = time.monotonic() - started
        assert seconds < wanted.get("returned_within_seconds", 5)
        if wanted.get("verdict") == "timeout":
            assert reply.status is Status.TIME
        if "stdout" in wanted:
            assert reply.stdout == wanted["stdout"]
        if "stdout_is_not" in wanted:
            assert reply.stdout != wanted["stdout_is_not"]
            assert reply.status in (Status.RAISED, Status.ENDED)
        time.sleep(0.3)
        assert all("time.sleep(45)" not in " ".join(p.cmdline()) for p in sandboxed_processes())


def test_sessions_run_side_by_side(engine):
    found, failed = [], []

    def work(number):
        try:
            with engine.session(Limits()) as session:
                session.execute(
                    f"def f():\n    return sum(range({number})) - sum(range({number})) + {number}"
                )
                found.append((number, session.evaluate("f()").value))
        except Exception as error:  # noqa: BLE001  shown below
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not failed
    assert sorted(found) == [(number, number) for number in range(12)]


def test_many_runs_leave_memory_and_descriptors_as_they_were(engine):
    own = psutil.Process()

    def run(n):
        for k in range(n):
            with engine.session(Limits(seconds=1, output_bytes=5_000)) as session:
                hostile = ["import os\nos._exit(1)", "print('x' * 9000)", "raise ValueError('x' * 9000)"]
                session.execute(hostile[k // 4 % 3] if k % 4 == 0 else SQUARE)
                session.evaluate("square(3)")

    run(12)
    time.sleep(1)  # the next one is started ahead of time
    before, n_open = own.memory_info().rss, own.num_fds()
    run(60)
    time.sleep(1)
    assert own.num_fds() <= n_open + 1
    assert own.memory_info().rss - before < 20 * 2**20


@pytest.mark.slow
def test_ten_thousand_candidates_leave_memory_descriptors_and_grades_as_they_were(capsys):
    cpython_engine(warm=0).close()
    assert soak(10_000, seed=0, hostile_share=0.01), capsys.readouterr().out


def test_closing_an_engine_ends_its_warm_processes():
    engine = cpython_engine(warm=2)
    with engine.session(Limits()) as session:
        assert session.evaluate("1").value == 1
    deadline = time.monotonic() + 10
    while len(engine._ready) < 2 and time.monotonic() < deadline:
        time.sleep(0.02)
    # Other engines of this process may start some of theirs meanwhile.
    warm = [psutil.Process(inmate._process.pid) for inmate in engine._ready]
    warm += [child for process in warm for child in process.children(recursive=True)]
    assert len(warm) >= 4
    engine.close()
    psutil.wait_procs(warm, timeout=2)
    assert not any(process.is_running() for process in warm)


def test_after_a_fork_the_child_has_sandboxes_of_its_own(cpython_only):
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            with cpython_only.session(Limits()) as session:
                os.write(writer, str(session.evaluate("6 * 7").value).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as file:
        assert file.read() == "42"
    os.waitpid(child, 0)
    with cpython_only.session(Limits()) as session:
        assert session.evaluate("6 * 7").value == 42


def test_without_bubblewrap_cpython_is_refused_with_what_to_install(monkeypatch):
    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr(cpython, "_mode", None)
    with pytest.raises(SandboxUnavailableError, match="apt-get install bubblewrap") as raised:
        open_engine("cpython")
    assert raised.value.exit_code == 2
    assert [engine.name for engine in open_engines("auto")] == ["monty"]


def test_a_bubblewrap_that_does_not_work_is_refused_with_its_own_words(monkeypatch, tmp_path):
    broken = tmp_path / "bwrap"
    broken.write_text("#!/bin/sh\necho 'No permissions to create new namespace' >&2\nexit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr(bubblewrap, "program", lambda: str(broken))
    monkeypatch.setattr(cpython, "_mode", None)
    with pytest.raises(SandboxUnavailableError, match="No permissions to create new namespace"):
        open_engine("cpython")


def test_without_any_isolation_code_is_refused(monkeypatch):
    import importlib

    real = importlib.import_module

    def without_monty(name, *rest):
        if name == "pydantic_monty":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(bubblewrap, "program", lambda: None)
    monkeypatch.setattr(cpython, "_mode", None)
    monkeypatch.setattr(importlib, "import_module", without_monty)
    with pytest.raises(SandboxUnavailableError, match="not run without isolation"):
        open_engines("auto")


def test_an_unknown_engine_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="auto, monty, cpython"):
        open_engine("docker")


@pytest.mark.parametrize("can_fork", [True, False])
def test_every_way_of_isolation_that_works_here_runs_code(can_fork):
    cpython_engine(warm=0).close()
    mode = bubblewrap.Mode(is_root=False, can_fork=can_fork)
    inmate = cpython.Inmate(mode)
    limits = Limits()
    try:
        inmate.begin(limits, can_fork=can_fork)
    except cpython.SandboxError as error:
        pytest.skip(str(error))
    with cpython.CPythonSession(inmate, limits) as session:
        session.execute("import os, subprocess, sys")
        assert session.evaluate("os.getuid()").value == 65534
        child = session.evaluate("subprocess.run([sys.executable, '-c', '']).returncode")
        assert child.status is (Status.VALUE if can_fork else Status.RAISED)
        thread = "__import__('threading').Thread(target=print)"
        assert session.evaluate(f"[t := {thread}, t.start(), t.join()][1]").value is None
