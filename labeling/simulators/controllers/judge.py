"""One verdict a step: which properties a step is judged on, and how the program so far fares on them."""

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from labeling.simulators.controllers.blocks import Block, Program, blocks_of, names_in, program_of
from labeling.simulators.controllers.check import CONTRACT, Findings, Violation, check, trace_text
from labeling.simulators.controllers.engine import Engine
from labeling.simulators.controllers.spec import Property, Specification
from labeling.simulators.controllers.text import LETTERS
from labeling.verifiers.verdict import Evidence, Verdict

_LETTER = re.compile(
    r"\(([a-h])\)|\b(?:sub-?)?tasks?\s+([a-h])\b(?:\s*(?:,|and|&|\+|to|-)\s*([a-h])\b)*", re.IGNORECASE
)


class UnsupportedError(Exception):
    """The program is outside what can be run here; that says nothing of whether it is right."""


class ProgramError(Exception):
    """The program is not one of its language; no controller is made from it."""


Compiler = Callable[[Program, Specification], str]
"""Program -> Python module with `step`; raises UnsupportedError or ProgramError."""


@dataclass
class Judge:
    """Judges the steps of one solution in order; it remembers the code and the sub-tasks claimed so far.

    A step without code is UNDECIDED. A step with code is judged on the properties of the sub-tasks that it
    or an earlier step with code claims; when it claims none itself, also on those properties all of whose
    outputs its program gives. Outputs that the program does not give yet are at rest.
    """

    name: str
    specification: Specification
    engine: Engine
    compiler: Compiler
    blocks: list[Block] = field(default_factory=list)
    claimed: set[int] = field(default_factory=set)

    def step(self, text: str) -> Verdict:
        """Judge the next step."""
        blocks = blocks_of(text)
        if not blocks:
            return Verdict.undecided("The step holds no code.")
        self.blocks += blocks
        claims = claimed_tasks(text, self.specification)
        self.claimed |= claims
        program = program_of(self.blocks)
        if program is None:
            return Verdict.undecided("The code so far defines no step.")
        properties = self._properties(program, claims)
        if not properties:
            return Verdict.undecided("The code gives none of the outputs that a property speaks of.")
        try:
            code = self.compiler(program, self.specification)
        except UnsupportedError as error:
            return Verdict.undecided(str(error))
        except ProgramError as error:
            return Verdict.wrong(str(error), [self._evidence("WRONG", CONTRACT, text, reason=str(error))])
        findings = check(self.engine, self.specification, code, properties, is_complete=False)
        return self._verdict(findings, text)

    def _properties(self, program: Program, claims: set[int]) -> list[Property]:
        claimed = {p.id for i in self.claimed for p in self.specification.tasks[i].properties}
        names = self.specification.names
        given: set[str] = set()
        if not claims:
            given = names_in(program, [names[s.role] for s in self.specification.family.outputs])
        return [
            p
            for p in self.specification.properties
            if p.id in claimed or (not claims and all(names[role] in given for role in p.outputs))
        ]

    def _verdict(self, findings: Findings, text: str) -> Verdict:
        if findings.stopped is not None:
            reason = f"The program gave no outputs ({findings.stopped})."
            if not findings.stopped.is_candidate_fault:
                return Verdict.undecided(reason)
            return Verdict.wrong(reason, [self._evidence("WRONG", CONTRACT, text, reason=reason)])
        broken = {violation.property.id: violation for violation in findings.violations}
        evidence = [
            self._broken(broken[prop.id], text) if prop.id in broken else self._evidence("RIGHT", prop, text)
            for prop in findings.checked
        ]
        if not broken:
            return Verdict.right(f"All {len(findings.checked)} properties hold.", evidence)
        first = findings.violations[0]
        sentence = self.specification.fill(first.property.sentence)
        where = f"property {first.property.id} is violated in cycle {first.cycle} of a trace: {sentence}"
        return Verdict.wrong(f"Of {len(findings.checked)} properties {len(broken)} fail; {where}", evidence)

    def _broken(self, violation: Violation, text: str) -> Evidence:
        trace = trace_text(self.specification, violation.run, violation.cycle)
        reason = (
            f"Violated in cycle {violation.cycle}: {self.specification.fill(violation.property.sentence)}"
        )
        return self._evidence("WRONG", violation.property, text, trace=trace, reason=reason)

    def _evidence(
        self, outcome: str, prop: Property, text: str, *, trace: str = "", reason: str = ""
    ) -> Evidence:
        return Evidence(
            verifier=self.name,
            outcome=outcome,
            kind=f"property:{prop.id}",
            text=text,
            end=len(text),
            left=trace,
            right=self.specification.fill(prop.sentence),
            reason=reason,
        )


def claimed_tasks(text: str, specification: Specification) -> set[int]:
    """Return the indices of the sub-tasks that a step names: by letter anywhere, by title as a heading."""
    prose = re.sub(r"```.*?(?:```|\Z)", "\n", text, flags=re.DOTALL)
    letters = {
        letter.lower()
        for match in _LETTER.finditer(prose)
        for letter in re.findall(r"\b([a-h])\b", match[0], re.IGNORECASE)
    }
    found = {LETTERS.index(letter) for letter in letters}
    for index, task in enumerate(specification.tasks):
        # Titles are ordinary words ("alarm", "door"): in the middle of a sentence they claim nothing.
        title = re.escape(specification.fill(task.title))
        if re.search(
            rf"^\W*(?:step\s*\d+\W+)?{title}[ \t*]*(?:[:.#-]|$)", prose, re.IGNORECASE | re.MULTILINE
        ):
            found.add(index)
    return {index for index in found if index < specification.n_tasks}
