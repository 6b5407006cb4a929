"""Solutions -> labels by verifiers, in worker processes that may die or hang without taking the run along.

A verifier of the user's own always runs in a worker: what ends a process (a crash of compiled code,
`os._exit`) would otherwise end the run, without a word or even with exit code 0.
"""

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.process import BaseProcess
from typing import Any, Self

from labeling._at_once import concurrency_of, map_at_once
from labeling.errors import PluginError, ToolkitError
from labeling.records import LabelledSolution, Solution, labelled_from_verdicts
from labeling.verifiers.registry import is_of_a_user, load_panel
from labeling.verifiers.verdict import Verdict, Verifier, check_verdicts

SOLUTIONS_A_PROCESS = 64
"""For fewer, one more process is not worth its start."""
_SOLUTIONS_A_TASK = 16
_SECONDS_FOR_EXIT_CODES = 5.0

_Outcome = tuple[str, list[Verdict]] | ToolkitError
Labeller = Callable[[Sequence[Solution]], Iterator[LabelledSolution]]


@contextmanager
def verifying(names: str, processes: int) -> Iterator[Labeller]:
    """Load verifiers and give the function that labels with them, in the order of its solutions.

    Worker processes end with the block; when it raises, they are killed, since one may hang.

    Args:
        names: "arithmetic,answers" or "package.module:Factory"; see `load_panel`.
        processes: How many worker processes at most; 0: one a core.

    Raises:
        ConfigError: A name is unknown, or what it stands for is no verifier.
        PluginError: A verifier of the user's own raised, or its process died.
        ToolkitError: A process of the shipped verifiers died.
    """
    limit = processes or os.cpu_count() or 1
    with ExitStack() as stack:
        if is_of_a_user(names):
            workers = stack.enter_context(_Workers(names, limit))
            workers.check()
            yield workers.label
            return
        verifier = load_panel(names)
        stack.callback(getattr(verifier, "close", lambda: None))

        def label(todo: Sequence[Solution]) -> Iterator[LabelledSolution]:
            useful = min(limit, len(todo) // SOLUTIONS_A_PROCESS) if concurrency_of(verifier) is None else 1
            if useful > 1:
                return stack.enter_context(_Workers(names, useful)).label(todo)
            return _label_here(verifier, todo)

        yield label


def _label_here(verifier: Verifier, todo: Sequence[Solution]) -> Iterator[LabelledSolution]:
    def judge(solution: Solution) -> LabelledSolution:
        verdicts = verifier.verify(solution.problem, solution)
        return labelled_from_verdicts(solution, verdicts, origin=verifier.name)

    yield from map_at_once(verifier, judge, todo)


class _Workers:
    """Processes that verify, each with a panel of its own; they are killed when the block raises.

    Args:
        names: The panel's verifiers.
        limit: How many processes are started at most; they start when there is work.
    """

    def __init__(self, names: str, limit: int) -> None:
        self._names = names
        self._others = set(multiprocessing.active_children())
        self._started: set[BaseProcess] = set()
        self._pool = ProcessPoolExecutor(
            limit,
            mp_context=multiprocessing.get_context("spawn"),
            initializer=_start_worker,
            initargs=(names,),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is not None:
            # Waiting for them would be waiting for a verifier that hangs. It may catch any other signal.
            for process in self._running():
                process.kill()
        self._pool.shutdown(cancel_futures=True)

    def check(self) -> None:
        """Raise what loading the verifiers in a worker raises."""
        try:
            loading = self._pool.submit(_loading_error)
            self._started |= self._running()
            error = loading.result()
        except BrokenProcessPool as broken:
            raise self._death("while it was loaded") from broken
        if error is not None:
            raise error

    def label(self, todo: Sequence[Solution]) -> Iterator[LabelledSolution]:
        """Label the solutions, in order."""
        n_done = 0
        try:
            for future in self._submit(todo):
                for outcome in future.result():
                    if isinstance(outcome, ToolkitError):
                        raise outcome
                    name, verdicts = outcome
                    # Of the solution as it is here: a verifier may have changed its copy.
                    yield labelled_from_verdicts(todo[n_done], verdicts, origin=name)
                    n_done += 1
            if n_done < len(todo):
                raise BrokenProcessPool
        except BrokenProcessPool as broken:
            raise self._death(f"at record {todo[n_done].id} or one soon after it") from broken

    def _submit(self, todo: Sequence[Solution]) -> list[Future[list[_Outcome]]]:
        """Hand the solutions out; not all when a process dies meanwhile, so that what is done is not lost."""
        futures: list[Future[list[_Outcome]]] = []
        with suppress(BrokenProcessPool):
            for start in range(0, len(todo), _SOLUTIONS_A_TASK):
                task = todo[start : start + _SOLUTIONS_A_TASK]
                futures.append(self._pool.submit(_judge_all, task))
        self._started |= self._running()
        return futures

    def _running(self) -> set[BaseProcess]:
        return set(multiprocessing.active_children()) - self._others

    def _death(self, when: str) -> ToolkitError:
        # The pool's own thread may be asking for the same codes, and gets them first; it also ends those that
        # are left, by SIGTERM.
        deadline = time.monotonic() + _SECONDS_FOR_EXIT_CODES
        while any(p.exitcode is None for p in self._started) and time.monotonic() < deadline:
            time.sleep(0.01)
        codes = [p.exitcode for p in self._started if p.exitcode not in (None, -signal.SIGTERM)]
        how = _ending(codes[0]) if codes else "was ended"
        what = f"a worker process of verifier {self._names!r} {how} {when}."
        if is_of_a_user(self._names):
            return PluginError(what, remedy="Mend what ends the process, and run the same command again.")
        return ToolkitError(f"{what} Was there too little memory? The same command goes on where it stopped.")


def _ending(exit_code: int) -> str:
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    return f"was killed by {signal.Signals(-exit_code).name}"


_loaded: list[Verifier | ToolkitError] = []
"""The verifier of this process, built once, since some own processes of their own; or why there is none."""


def _start_worker(names: str) -> None:
    # Ctrl-C reaches the whole group of processes; the parent ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    try:
        _loaded[:] = [load_panel(names)]
    except ToolkitError as error:
        # Raised from here it would break the pool, and its reason would be lost.
        _loaded[:] = [error]


def _end_with(parent: Any) -> None:
    """End this process when its parent has been killed: it would wait for work that never comes."""
    parent.join()
    os._exit(1)


def _loading_error() -> ToolkitError | None:
    (loaded,) = _loaded
    return loaded if isinstance(loaded, ToolkitError) else None


def _judge_all(solutions: Sequence[Solution]) -> list[_Outcome]:
    return [_judge(solution) for solution in solutions]


def _judge(solution: Solution) -> _Outcome:
    """Return the verifier's name and verdicts; an error is returned, so that its neighbours are kept."""
    (loaded,) = _loaded
    if isinstance(loaded, ToolkitError):
        return loaded
    try:
        verdicts = loaded.verify(solution.problem, solution)
        # What is no verdict might not reach the other process at all.
        n_steps = len(solution.steps)
        return loaded.name, check_verdicts(verdicts, name=loaded.name, n_steps=n_steps, record_id=solution.id)
    except ToolkitError as error:
        return error
