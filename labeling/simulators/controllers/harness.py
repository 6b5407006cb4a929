"""Running a candidate on traces: a text that goes along with it, and the reading of what comes back.

The whole set of traces runs in one call, since a call per cycle would cost far more than the cycles do.
The candidate shares its process with this text, so nothing that comes back is believed: only outputs
come back, never verdicts, and the parent computes again, from these outputs, what the plant's sensors
must have read. A candidate that tampers with the harness can therefore only choose its outputs, and
choosing outputs that satisfy every property is what a controller is asked to do. What it may gain is a
look at inputs of later cycles; every property can be met without one.
"""

import inspect
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from labeling.simulators.controllers.engine import CANDIDATE_FAULTS, VALUE, Reply, Session
from labeling.simulators.controllers.spec import Signal, Specification
from labeling.simulators.controllers.traces import Trace, stated_inputs
from labeling.verifiers.sandbox import NotPlainError

_HARNESS = """
def __run(traces, inputs, measured, outputs, parameters, plant):
    results = []
    for trace in traces:
        memory, state, rows = {}, {}, []
        before = {role: 0 for role, name, kind in outputs}
        for count, values in trace:
            if len(rows) and type(rows[-1]) is str:
                break
            for _ in range(count):
                stated = {role: kind(value) for (role, name, kind), value in zip(inputs, values)}
                given = {name: stated[role] for role, name, kind in inputs}
                if plant is not None:
                    read = plant(memory, stated, before, parameters)
                    given.update({name: kind(read[role]) for role, name, kind in measured})
                try:
                    returned = step(given, state)
                    if not isinstance(returned, dict):
                        raise TypeError("step returned " + type(returned).__name__ + ", not a dict")
                    row = [returned.get(name) for role, name, kind in outputs]
                    for (role, name, kind), value in zip(outputs, row):
                        if type(value) not in (bool, int, type(None)):
                            raise TypeError("output " + name + " is " + type(value).__name__)
                        if not -32768 <= (value or 0) <= 32767:
                            raise ValueError("output " + name + " is outside -32768..32767")
                except Exception as error:
                    rows.append((type(error).__name__ + ": " + str(error))[:200])
                    break
                before = {role: int(value or 0) for (role, name, kind), value in zip(outputs, row)}
                rows.append(row)
        results.append(rows)
    return results
"""


@dataclass(frozen=True)
class Run:
    """What a candidate did on one trace."""

    trace: Trace
    history: tuple[SimpleNamespace, ...]
    """The cycles that it completed, as the properties see them."""
    fault: str = ""
    """Why it stopped before the end of the trace; empty when it did not."""


class CandidateStoppedError(Exception):
    """The candidate's process gave no outputs: it ended, or ran into a limit.

    Args:
        status: The reply's status.
        detail: The reply's detail.
    """

    def __init__(self, status: str, detail: str) -> None:
        self.status = status
        self.detail = detail
        super().__init__(f"{status}: {detail}" if detail else status)

    @property
    def is_candidate_fault(self) -> bool:
        """False when the engine could not run it at all."""
        return self.status in CANDIDATE_FAULTS


class Runner:
    """One candidate, loaded once and run on any number of traces.

    Args:
        session: Where it runs.
        specification: The problem.
        code: The candidate's module, which defines `step`.
        is_complete: Whether every output must be there; otherwise a missing one is at rest.

    Raises:
        CandidateStoppedError: The module cannot be executed.
    """

    def __init__(
        self, session: Session, specification: Specification, code: str, *, is_complete: bool
    ) -> None:
        self._session = session
        self._specification = specification
        self._is_complete = is_complete
        self._stated = stated_inputs(specification.family)
        self.n_runs = 0
        """Traces run so far."""
        _value(session.execute(code))
        _value(session.execute(_harness(specification)))

    def run(self, traces: Sequence[Trace]) -> list[Run]:
        """Run the candidate on each trace from an empty state.

        Raises:
            CandidateStoppedError: No outputs came back, or not in the harness's form.
        """
        self.n_runs += len(traces)
        packed = repr([_packed(trace) for trace in traces]).replace(" ", "")
        results = _value(self._session.evaluate(f"__call({packed})"))
        if not isinstance(results, list) or len(results) != len(traces):
            raise CandidateStoppedError("not_plain", "the harness's results were tampered with")
        return [self._read(trace, rows) for trace, rows in zip(traces, results, strict=True)]

    def _read(self, trace: Trace, rows: Any) -> Run:
        if not isinstance(rows, list) or len(rows) > len(trace):
            raise CandidateStoppedError("not_plain", "the harness's results were tampered with")
        family, parameters = self._specification.family, vars(self._specification.parameters)
        history: list[SimpleNamespace] = []
        memory: dict[str, Any] = {}
        before = {signal.role: 0 for signal in family.outputs}
        for inputs, row in zip(trace, rows, strict=False):
            stated = {s.role: _typed(s, value) for s, value in zip(self._stated, inputs, strict=True)}
            read: dict[str, Any] = {}
            if family.plant is not None:
                read = family.plant(memory, stated, before, parameters)
            if isinstance(row, str):
                return Run(trace, tuple(history), row)
            outputs, fault = self._outputs(row)
            if fault:
                return Run(trace, tuple(history), fault)
            before = {role: int(value) for role, value in outputs.items()}
            history.append(SimpleNamespace(**stated, **read, **outputs))
        if len(history) < len(trace):
            raise CandidateStoppedError("not_plain", "the harness's results were tampered with")
        return Run(trace, tuple(history))

    def _outputs(self, row: Any) -> tuple[dict[str, Any], str]:
        signals = self._specification.family.outputs
        if not isinstance(row, list) or len(row) != len(signals):
            raise CandidateStoppedError("not_plain", "the harness's results were tampered with")
        outputs: dict[str, Any] = {}
        for signal, value in zip(signals, row, strict=True):
            name = self._specification.names[signal.role]
            if value is None and self._is_complete:
                return {}, f"output {name} is missing."
            if type(value) not in (bool, int, type(None)):
                raise CandidateStoppedError("not_plain", "the harness's results were tampered with")
            number = signal.default if value is None else value
            # Exactly what the text says: a BOOL may be written 0 or 1, an INT not as True.
            if (type(number) is bool and signal.kind != "BOOL") or not signal.low <= number <= signal.high:
                return {}, f"output {name} is {value!r}, not {_range_of(signal)}."
            outputs[signal.role] = _typed(signal, number)
        return outputs, ""


def _harness(specification: Specification) -> str:
    family = specification.family

    def table(signals: Sequence[Signal]) -> str:
        kinds = {"BOOL": "bool", "INT": "int"}
        cells = (f"({s.role!r}, {specification.names[s.role]!r}, {kinds[s.kind]})" for s in signals)
        return f"[{', '.join(cells)}]"

    measured = [s for s in family.inputs if s.is_measured]
    plant, name = "", "None"
    if family.plant is not None:
        plant, name = textwrap.dedent(inspect.getsource(family.plant)), family.plant.__name__
    tables = ", ".join(table(s) for s in (stated_inputs(specification.family), measured, family.outputs))
    parameters = repr(vars(specification.parameters))
    call = f"def __call(traces):\n    return __run(traces, {tables}, {parameters}, {name})\n"
    return f"{_HARNESS}\n{plant}\n{call}"


def _packed(trace: Trace) -> list[tuple[int, tuple[int, ...]]]:
    # Inputs stand still most of the time; written as runs they are a fifth as long.
    packed: list[tuple[int, tuple[int, ...]]] = []
    for row in trace:
        if packed and packed[-1][1] == row:
            packed[-1] = (packed[-1][0] + 1, row)
        else:
            packed.append((1, row))
    return packed


def _typed(signal: Signal, value: int) -> bool | int:
    return bool(value) if signal.kind == "BOOL" else int(value)


def _range_of(signal: Signal) -> str:
    return "a BOOL" if signal.kind == "BOOL" else f"an INT in {signal.low}..{signal.high}"


def _value(reply: Reply) -> Any:
    if reply.status != VALUE:
        raise CandidateStoppedError(reply.status, reply.detail)
    try:
        return reply.value
    except NotPlainError as error:
        raise CandidateStoppedError("not_plain", str(error)) from error
