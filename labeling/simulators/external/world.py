"""A simulator of the user's own, in processes of its own, behind the `Simulator` protocol."""

import hashlib
import json
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from labeling.errors import ConfigError, NotGradedError, PluginError
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
from labeling.simulators.external.pool import Answer, Pool
from labeling.simulators.external.process import LineProcess
from labeling.steps import segment
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

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
        for name, least in (("processes", 0), ("retries", 0), ("cached", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise ConfigError(
                    f"{name} of a simulator is {value!r}.", remedy=f"Give a number from {least} up."
                )
        if (
            isinstance(self.seconds, bool)
            or not isinstance(self.seconds, (int, float))
            or not self.seconds > 0
        ):
            raise ConfigError(f"seconds of a simulator is {self.seconds!r}.", remedy="Give a number above 0.")


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
            seconds=settings.seconds,
            retries=settings.retries,
        )
        self._introduction = self._pool.introduction
        if settings.cache_file and not self._introduction.version:
            self._pool.close()
            raise ConfigError(
                f"{what} gives no version, so that replies of an older one would be taken from the cache.",
                remedy="Let it give a version, or leave cache_file out.",
            )
        self._cache = ReplyCache(
            most=settings.cached, file=Path(settings.cache_file) if settings.cache_file else None
        )
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
        answer = self._ask(PROBLEMS, {"count": count, "split": split, "seed": seed}, None)
        if answer.failure:
            raise PluginError(
                f"simulator {self.name!r} gave no problems: {answer.failure}.", remedy="Mend it."
            )
        try:
            return read_problems(answer.result)
        except UnreadableError as error:
            raise self._pool.unreadable(error, PROBLEMS, None) from error

    def verify(self, problem: Problem, solution: Solution) -> list[Verdict]:
        """Judge each step; UNDECIDED where the program gave no reply.

        Raises:
            PluginError: The program failed on it, or replied in another form.
        """
        if not solution.steps:
            return []
        judged = self._judged(problem, solution)
        if isinstance(judged, Answer):
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
        if isinstance(judged, Answer):
            unknown = StepTruth(is_equation_right=None, is_quantity_right=None, is_needed=True)
            return [unknown] * len(solution.steps)
        return [step.truth for step in judged]

    def grade(self, problem: Problem, text: str) -> bool | None:
        """Tell whether a text ends in the right answer; None when it holds none.

        A program without the method is asked for the steps, cut by `segment(text, "auto")`: the last one
        must be RIGHT, and none WRONG.

        Raises:
            NotGradedError: The program cannot tell, or gave no reply.
            PluginError: See `verify`.
        """
        if GRADE not in self._introduction.methods:
            return self._grade_by_steps(problem, text)
        answer = self._ask(GRADE, {"problem": problem_body(problem), "text": text}, problem.id)
        if answer.failure:
            raise NotGradedError(answer.failure)
        try:
            outcome = read_grade(answer.result)
        except UnreadableError as error:
            raise self._pool.unreadable(error, GRADE, problem.id) from error
        return None if outcome is None else self._decided(outcome)

    def close(self) -> None:
        """End the processes; asking again is an error."""
        self._pool.close()
        self._cache.close()

    def _grade_by_steps(self, problem: Problem, text: str) -> bool | None:
        found = segment(text, "auto")
        if not found.steps:
            return None
        solution = Solution(id=problem.id, problem=problem, text=text, steps=found.steps)
        outcomes = [verdict.outcome for verdict in self.verify(problem, solution)]
        return self._decided(Outcome.WRONG if Outcome.WRONG in outcomes else outcomes[-1])

    def _decided(self, outcome: Outcome) -> bool:
        if outcome is Outcome.UNDECIDED:
            raise NotGradedError(f"simulator {self.name!r} cannot tell")
        return outcome is Outcome.RIGHT

    def _judged(self, problem: Problem, solution: Solution) -> list[JudgedStep] | Answer:
        texts = solution.step_texts
        params = {"problem": problem_body(problem), "steps": texts, "text": solution.text}
        answer = self._ask(VERIFY, params, solution.id)
        if answer.failure:
            return answer
        try:
            judged = read_steps(answer.result, name=self.name, texts=texts)
        except UnreadableError as error:
            raise self._pool.unreadable(error, VERIFY, solution.id) from error
        return judged if answer.attempts == 1 else _with_retry(judged, answer.attempts, self.name)

    def _ask(self, method: str, params: dict[str, Any], record_id: str | None) -> Answer:
        key = self._key(method, params)
        if (kept := self._cache.get(key)) is not None:
            self._n_cache_hits += 1
            return Answer(json.loads(kept))
        answer = self._pool.ask(method, params, record_id=record_id)
        if not answer.failure:
            # What took a second attempt is kept as well: the reply is the same.
            self._cache.put(key, json.dumps(answer.result))
        return answer

    def _key(self, method: str, params: dict[str, Any]) -> str:
        said = [self.settings.command, self.name, self._introduction.version, method, params]
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()


def _with_retry(judged: Sequence[JudgedStep], attempts: int, name: str) -> list[JudgedStep]:
    """Say in the first step's evidence that the process had to be asked again."""
    first = judged[0]
    retried = Evidence(
        verifier=name,
        outcome=str(first.verdict.outcome),
        kind=RETRIED,
        reason=f"the simulator's process ended, and was asked {attempts} times",
    )
    verdict = Verdict(first.verdict.outcome, first.verdict.reason, (*first.verdict.evidence, retried))
    return [JudgedStep(verdict, first.truth), *judged[1:]]
