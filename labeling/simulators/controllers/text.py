"""The text of a problem: what the controller is for, its signals, its sub-tasks with every property."""

from collections.abc import Sequence

from labeling.simulators.controllers.spec import Signal, Specification, Task

LETTERS = "abcdefgh"

_INTERFACE = """\
Write a function step(inputs, state) that returns the outputs. It is called once a cycle of $cycle_ms ms. \
`inputs` is a dict with the inputs of this cycle, `state` a dict of your own: empty in the first cycle, \
and kept from cycle to cycle. Return a dict with every output, of this same cycle. Python is expected, in \
one or more ```python blocks; a PROGRAM in IEC 61131-3 Structured Text with the same inputs and outputs as \
its variables is accepted too, in a ```iecst block. Say which sub-task a block of code is for.

Times count in cycles. A time of 5 cycles that begins in cycle 10 ends in cycle 15: cycle 14 is still \
within it, cycle 15 is not. "Within N cycles" of cycle k means in one of the cycles k, k + 1, ..., k + N. \
Before the first cycle all inputs and outputs are off."""


def problem_text(specification: Specification) -> str:
    """Write the problem; every property stands in it word for word."""
    family = specification.family
    parts = [
        specification.fill(family.opening),
        specification.fill(_INTERFACE),
        f"Inputs:\n{_table(specification, family.inputs)}",
        f"Outputs:\n{_table(specification, family.outputs)}",
        *(_task_text(specification, i, task) for i, task in enumerate(specification.tasks)),
    ]
    return "\n\n".join(parts)


def _table(specification: Specification, signals: Sequence[Signal]) -> str:
    return "\n".join(
        f"- {specification.names[s.role]} ({_type_of(s)}): {specification.fill(s.meaning)}" for s in signals
    )


def _type_of(signal: Signal) -> str:
    return "BOOL" if signal.kind == "BOOL" else f"INT, {signal.low} to {signal.high}"


def _task_text(specification: Specification, index: int, task: Task) -> str:
    head = f"({LETTERS[index]}) {specification.fill(task.title)}"
    return "\n".join([head, *(f"- {specification.fill(p.sentence)}" for p in task.properties)])
