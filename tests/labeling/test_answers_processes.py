import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from labeling.errors import NotGradedError
from labeling.records import Problem
from labeling.verifiers._killable import WorkerPool
from labeling.verifiers.answers import AnswersVerifier, compare_answers

HAS_PROC = Path("/proc/self/fd").exists()
HOSTILE = (
    "9^{9^{9}}",
    r"\frac{7^{7^{7^{7}}} - 7}{6}",
    "10^{10^{10}}x",
    "((((x^{999})^{999})^{999})^{999})",
    r"\sum_{n=1}^{10^{9}} \frac{1}{n}",
    "99999!",
    "(x+1)^{3000}",
    "1" * 1900 + "x",
    "(" * 900 + "x" + ")" * 900,
    r"\sqrt{" * 300 + "2" + "}" * 300,
)


def open_files():
    return len(list(Path("/proc/self/fd").iterdir()))


def is_running(pid):
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_answer_is_never_right_and_costs_no_more_than_its_limit(hostile):
    compare_answers("x+1", "1+x")
    before = time.monotonic()
    assert compare_answers("5", hostile, seconds=0.5).equal is not True
    # Up to twice the limit in wall time for each of two questions, and a new worker's start.
    assert time.monotonic() - before < 2 * 2 * 0.5 + 15


@pytest.mark.skipif(not HAS_PROC, reason="counts files in /proc")
def test_workers_that_are_killed_again_and_again_leave_no_process_and_no_file_behind():
    with AnswersVerifier(seconds=0.2) as verifier:
        problem = Problem(id="p", text="?", answer="5")
        assert verifier.grade(problem, r"\boxed{2+3}") is True
        files, pids = open_files(), set()
        for _ in range(4):
            with contextlib.suppress(NotGradedError):
                assert not verifier.grade(problem, r"\boxed{\sum_{n=1}^{10^{7}} \frac{1}{n^{2}+n}}")
            pids |= {worker._process.pid for worker in verifier._pool._workers}
            assert len(verifier._pool._workers) == 1
        assert verifier.grade(problem, r"\boxed{2+3}") is True
        assert open_files() == files
    assert not any(is_running(pid) for pid in pids)


def test_two_threads_with_two_workers_work_at_once_beside_each_other():
    with AnswersVerifier(processes=2) as verifier:
        results = {}

        def work(n):
            problem = Problem(id="p", text="?", answer=f"{n}\\sqrt{{2}}")
            results[n] = [verifier.grade(problem, rf"\boxed{{\sqrt{{{2 * k * k}}}}}") for k in (n, n + 1)]

        threads = [threading.Thread(target=work, args=(n,)) for n in range(2, 8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert results == {n: [True, False] for n in range(2, 8)}
        assert len(verifier._pool._workers) == 2


def compare_in_child(_):
    return compare_answers(r"2\sqrt{3}", r"\sqrt{12}").equal


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_answers_are_compared_in_processes_that_are_forked_or_spawned(method):
    if method not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {method} here")
    assert compare_answers("x+1", "1+x").equal is True  # the parent has a worker that the child must not use
    with multiprocessing.get_context(method).Pool(1) as pool:
        assert pool.map(compare_in_child, [0]) == [True]


@pytest.mark.skipif(not HAS_PROC, reason="looks up processes in /proc")
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda sent: sent.name)
def test_a_program_that_is_interrupted_leaves_no_worker_behind(sent):
    program = (
        "from labeling.verifiers.answers import _shared_pool, compare_answers;"
        "compare_answers('x+1', '1+x'); pool = _shared_pool();"
        "print(pool._workers[0]._process.pid, flush=True);"
        "compare_answers('5', r'\\sum_{n=1}^{10^{7}} \\frac{1}{n^{2}+n}', seconds=60.0)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert child.stdout is not None
    worker = int(child.stdout.readline())
    time.sleep(0.3)
    os.kill(child.pid, sent)
    child.wait(timeout=30)
    child.stdout.close()
    # A killed or terminated parent cannot end its worker: that ends by itself when its work is done, which
    # its limit of processor time sees to, and only an interrupted one is awaited here.
    if sent is signal.SIGINT:
        deadline = time.monotonic() + 10
        while is_running(worker) and time.monotonic() < deadline:
            time.sleep(0.05)
        assert not is_running(worker)
    elif is_running(worker):
        os.kill(worker, signal.SIGKILL)


def test_a_worker_ends_when_its_parent_is_gone():
    pool = WorkerPool()
    assert pool.ask({"left": "x", "right": "x", "tolerance": "0"}, seconds=20.0)["state"] == "equal"
    process = pool._workers[0]._process
    process.stdin.close()
    assert process.wait(timeout=10) == 0
    process.stdout.close()
    pool._workers.clear()
    pool.close()


def test_the_worker_answers_a_line_that_asks_for_too_little_with_the_fault_and_goes_on():
    pool = WorkerPool()
    reply = pool.ask({"left": "x"}, seconds=20.0)
    assert (reply["state"], reply["reason"]) == ("failed", "KeyError: 'right'")
    assert (
        json.dumps(pool.ask({"left": "x", "right": None}, seconds=20.0)) == '{"state": "equal", "reason": ""}'
    )
    pool.close()


def test_a_new_worker_decides_its_first_comparison_within_a_tight_limit():
    for pair in (("x^2-4", "(x-2)(x+2)"), ("y=3x+1", "3x-y+1=0")):
        pool = WorkerPool()
        request = {"left": pair[0], "right": pair[1], "tolerance": "0"}
        assert pool.ask(request, seconds=0.25)["state"] == "equal"
        pool.close()
