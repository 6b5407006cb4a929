"""A simulator of the user's own, in processes of its own, behind the `Simulator` protocol."""

import hashlib
import json
import os
import shlex
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from labeling.errors import ConfigError, NotGradedError, PluginError, StoreError
from labeling.records import Problem, Solution
from labeling.simulators.base import FAILED, RETRIED, StepTruth
from labeling.simulators.external.cache import ReplyCache
from labeling.simulators.external.messages import (
    GRADE,
    PROBLEMS,
    VERIFY,
    JudgedStep,
    UnreadableError,
    problem_body,
    read_grade,
    read_problems,
    read_steps,
)
from labeling.simulators.external.pool import START_SECONDS, Pool, Reply
from labeling.simulators.external.process import LineProcess
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

T = TypeVar("T")
MOST_SECONDS = 86_400
_SERVE = (sys.executable, "-m", "labeling.simulators.external.serve")


@dataclass(frozen=True, kw_only=True)
class ExternalSettings:
    """How a simulator of the user's own is run."""

    command: tuple[str, ...]
    """Program and arguments."""
    folder: str = ""
    """Where it runs; "": where the toolkit runs."""
    processes: int = 0
    """Processes at most; 0: one a core."""
    seconds: float = 10.0
    """Wall time of one request."""
    retries: int = 1
    """How often a request is sent again when the process ended on it. A request that took too long is not."""
    cached: int = 10_000
    """Replies kept in memory, by the content of the request."""
    cache_file: str = ""
    """File that keeps replies for the next run, too; the simulator must then give a version."""

    def __post_init__(self) -> None:
        if not self.command or not all(isinstance(part, str) and part for part in self.command):
            raise ConfigError(f"the command of a simulator is {self.command!r}.", remedy="Name a program.")
        for name in ("processes", "retries", "cached"):
            value = getattr(self, name)
            if type(value) is not int or value < 0:
                raise ConfigError(f"{name} of a simulator is {value!r}.", remedy="Give a number from 0 up.")
        texts = (*self.command, self.folder, self.cache_file)
        if any("\0" in text or not _is_unicode(text) for text in texts):
            raise ConfigError("a setting of a simulator holds what no name can.", remedy="Mend it.")
        if (
            isinstance(self.seconds, bool)
            or not isinstance(self.seconds, (int, float))
            or not 0 < self.seconds <= MOST_SECONDS
        ):
            raise ConfigError(
                f"seconds of a simulator is {self.seconds!r}.",
                remedy=f"Give a number above 0, up to {MOST_SECONDS:,}.",
            )


def python_command(target: str) -> tuple[str, ...]:
    """Return the command that serves a Python callable, "package.module:name"; see `serve`."""
    return (*_SERVE, target)


class ExternalWorld:
    """Problem source, step verifier and grader, as far as the user's program has them.

    Requests are answered by a pool of processes. A process that ends is replaced and its request sent
    again; one that takes too long is killed. What then has no reply is UNDECIDED, never wrong.

    Args:
        settings: What to run, and how.

    Raises:
        PluginError: It does not start, or does not say what it is.
        ConfigError: A cache on disk is wanted, and the program gives no version.
        StoreError: The cache cannot be used.
    """

    def __init__(self, settings: ExternalSettings) -> None:
        self.settings = settings
        folder = Path(settings.folder) if settings.folder else None
        self.concurrency = settings.processes or os.cpu_count() or 1
        """How many requests are answered at once."""
        shown = settings.command[len(_SERVE) :] if settings.command[:-1] == _SERVE else settings.command
        what = f"simulator {shlex.join(shown)!r}"
        self._pool = Pool(
            lambda: LineProcess(settings.command, folder=folder),
            what=what,
            processes=self.concurrency,
            retries=settings.retries,
        )
        self._failed: dict[str, Reply] = {}
        self._lock = threading.Lock()
        self._introduction = self._pool.introduction
        if settings.cache_file and not self._introduction.version:
            self._pool.close()
            raise ConfigError(
                f"{what} gives no version, so that replies of an older one would be taken from the cache.",
                remedy="Let it give a version, or leave cache_file out.",
            )
        try:
            self._cache = ReplyCache(
                most=settings.cached, file=Path(settings.cache_file) if settings.cache_file else None
            )
        except StoreError:
            self._pool.close()
            raise
        self._n_cache_hits = 0

    @property
    def name(self) -> str:
        """The name that the program gives itself."""
        return self._introduction.name

    @property
    def counts(self) -> dict[str, int]:
        """What happened so far: requests, cache hits, processes, crashes, retries, timeouts."""
        return {**self._pool.counts, "cache hits": self._n_cache_hits}

    def problems(self, count: int, *, split: str, seed: int) -> list[Problem]:
        """Ask for `count` problems; see `Simulator.problems`.

        Raises:
            ConfigError: The program has no problems.
            PluginError: It gives none, or in another form.
        """
        if PROBLEMS not in self._introduction.methods:
            raise ConfigError(
                f"simulator {self.name!r} gives no problems.", remedy="Give a file of problems with --input."
            )
        params = {"count": count, "split": split, "seed": seed}
        reply = self._pool.ask(PROBLEMS, params, seconds=max(START_SECONDS, self.settings.seconds))
        if reply.failure:
            raise PluginError(
                f"simulator {self.name!r} gave no problems: {reply.failure}.", remedy="Mend it."
            )
        return self._read(PROBLEMS, read_problems, reply.result, None)

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step; UNDECIDED where the program gave no reply.

        Raises:
            PluginError: The program failed on it, or replied in another form.
        """
        if not solution.steps:
            return []
        judged = self._judged(problem, solution)
        if isinstance(judged, Reply):
            evidence = Evidence(verifier=self.name, outcome="UNDECIDED", kind=FAILED, reason=judged.failure)
            return [Verdict.undecided(judged.failure, (evidence,))] * len(solution.steps)
        return [step.verdict for step in judged]

    def truth(self, problem: Problem, solution: Solution) -> list[StepTruth]:
        """Return what is known of each step; where the program gave no reply, that a step is needed.

        Raises:
            PluginError: See `verify`.
        """
        if not solution.steps:
            return []
        judged = self._judged(problem, solution)
        if isinstance(judged, Reply):
            unknown = StepTruth(is_equation_right=None, is_quantity_right=None, is_needed=True)
            return [unknown] * len(solution.steps)
        return [step.truth for step in judged]

    def check_grades(self) -> None:
        """See `labeling.simulators.load.load_grading`.

        Raises:
            ConfigError: The program grades no answers.
        """
        if GRADE not in self._introduction.methods:
            # Its steps do not tell: a text that stops after its first right step has no wrong one.
            raise ConfigError(
                f"simulator {self.name!r} grades no answers, which rollouts and rewards need.",
                remedy="Give it a method `grade`.",
            )

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether a text ends in the right answer; None when it holds none.

        Raises:
            NotGradedError: The program cannot tell, or gave no reply.
            ConfigError: It grades no answers.
            PluginError: See `verify`.
        """
        self.check_grades()
        params = {"problem": problem_body(problem), "text": text}
        reply, outcome = self._ask(GRADE, params, read_grade, problem.id)
        if reply.failure:
            raise NotGradedError(reply.failure)
        if outcome is Outcome.UNDECIDED:
            raise NotGradedError(f"simulator {self.name!r} cannot tell")
        return None if outcome is None else outcome is Outcome.RIGHT

    def close(self) -> None:
        """End the processes; asking again is an error."""
        self._pool.close()
        self._cache.close()

    def _judged(self, problem: Problem, solution: Solution) -> list[JudgedStep] | Reply:
        texts = solution.step_texts
        params = {"problem": problem_body(problem), "steps": texts, "text": solution.text}
        read = partial(read_steps, name=self.name, texts=texts)
        reply, judged = self._ask(VERIFY, params, read, solution.id)
        if judged is None:
            return reply
        return judged if reply.attempts == 1 else _with_retry(judged, reply.attempts, self.name)

    def _ask(
        self, method: str, params: dict[str, Any], read: Callable[[Any], T], record_id: str
    ) -> tuple[Reply, T | None]:
        """Return the reply and what is read in it, None where there is no reply."""
        self._pool.check_open()
        key = self._key(method, params)
        kept, failed = self._cache.get(key), self._failed.get(key)
        if kept is not None or failed is not None:
            with self._lock:
                self._n_cache_hits += 1
        if kept is not None:
            return Reply(), self._read(method, read, kept, record_id)
        if failed is not None:
            return failed, None
        reply = self._pool.ask(method, params, seconds=self.settings.seconds, record_id=record_id)
        if reply.failure:
            # For this run only. Steps, truth and grade of one solution, and its copies, ask the same again.
            self._failed[key] = reply
            return reply, None
        found = self._read(method, read, reply.result, record_id)
        # Not before it was read: a reply of another form is mended by the user, and then another one.
        self._cache.put(key, reply.result)
        return reply, found

    def _read(self, method: str, read: Callable[[Any], T], result: Any, record_id: str | None) -> T:
        try:
            return read(result)
        except UnreadableError as error:
            raise self._pool.unreadable(error, method, record_id) from error

    def _key(self, method: str, params: dict[str, Any]) -> str:
        asked = [
            self.settings.command,
            self.settings.folder,
            self.name,
            self._introduction.version,
            method,
            params,
        ]
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _with_retry(judged: Sequence[JudgedStep], attempts: int, name: str) -> list[JudgedStep]:
    """Say in the first step's evidence that the process had to be asked again."""
    first = judged[0]
    retried = Evidence(
        verifier=name,
        outcome=str(first.verdict.outcome),
        kind=RETRIED,
        reason=f"the simulator's process ended; the request was sent {attempts} times",
    )
    verdict = Verdict(first.verdict.outcome, first.verdict.reason, (*first.verdict.evidence, retried))
    return [JudgedStep(verdict, first.truth), *judged[1:]]


def _is_unicode(text: str) -> bool:
    return not any("\ud800" <= character <= "\udfff" for character in text)
