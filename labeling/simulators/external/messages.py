"""What goes over the lines: requests of the toolkit, and the reading of a simulator's replies.

A request is {"jsonrpc": "2.0", "id": 7, "method": "verify", "params": {...}}; its reply
{"id": 7, "result": ...}, or {"id": 7, "error": {"message": "..."}} where the simulator itself failed. Other
members are ignored, so a server that speaks JSON-RPC 2.0 fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from labeling.records import Problem
from labeling.simulators.base import FAILED, RETRIED, StepTruth
from labeling.verifiers.verdict import Evidence, Outcome, Verdict

PROTOCOL = 1
HELLO, PROBLEMS, VERIFY, GRADE = "hello", "problems", "verify", "grade"
METHODS = (PROBLEMS, VERIFY, GRADE)
_OUTCOMES = {True: Outcome.RIGHT, False: Outcome.WRONG, None: Outcome.UNDECIDED}
_STEP_FIELDS = ("verdict", "reason", "evidence", "is_needed", "is_equation_right", "is_quantity_right")
_EVIDENCE_TYPES = {
    field.name: field.type for field in fields(Evidence) if field.name not in ("verifier", "outcome")
}
_NO_ANSWER = "NO_ANSWER"
_NO_REASON = "the simulator gave no reason"


MOST_CHARACTERS = 1_000
"""Of what a simulator says in an error; the rest is cut."""


class UnreadableError(Exception):
    """A result has another form; the text says which, as the end of "returned ..."."""

    def __init__(self, what: str) -> None:
        super().__init__(what if len(what) <= MOST_CHARACTERS else what[:MOST_CHARACTERS] + "…")


@dataclass(frozen=True, kw_only=True)
class Introduction:
    """What a simulator says of itself."""

    name: str
    version: str
    """"" when it gives none."""
    methods: frozenset[str]


@dataclass(frozen=True)
class JudgedStep:
    """What a simulator says of one step."""

    verdict: Verdict
    truth: StepTruth


def problem_body(problem: Problem) -> dict[str, Any]:
    """Return a problem as it goes over the line."""
    return {"id": problem.id, "text": problem.text, "answer": problem.answer, "meta": dict(problem.meta)}


def read_introduction(result: Any) -> Introduction:
    """Read the result of HELLO.

    Raises:
        UnreadableError: It has another form.
    """
    body = _object(result, ("name", "version", "methods"))
    name, version, methods = body.get("name", ""), body.get("version", ""), body.get("methods", [VERIFY])
    # Names stand in lists with commas between.
    if not (_is_text(name) and name.strip()) or "," in name:
        raise UnreadableError(f"the name {name!r}; it is a short text without a comma")
    if not _is_text(version):
        raise UnreadableError(f"the version {version!r}, which is no text")
    if not isinstance(methods, list) or VERIFY not in methods or any(m not in METHODS for m in methods):
        raise UnreadableError(f"the methods {methods!r}; they are {', '.join(METHODS)}, {VERIFY} among them")
    return Introduction(name=name, version=version, methods=frozenset(methods))


def read_problems(result: Any) -> list[Problem]:
    """Read the result of PROBLEMS; what is in them, `checked_problems` looks at.

    Raises:
        UnreadableError: It has another form.
    """
    if not isinstance(result, list):
        raise UnreadableError(f"{_kind(result)} and no list of problems")
    read = []
    for index, item in enumerate(result):
        body = _object(item, ("id", "text", "answer", "meta"), index)
        meta = body.get("meta", {})
        if not isinstance(meta, dict):
            raise UnreadableError(f"a problem whose meta is {_kind(meta)} (index {index})")
        read.append(
            Problem(id=body.get("id", ""), text=body.get("text", ""), answer=body.get("answer"), meta=meta)
        )
    return read


def read_steps(result: Any, *, name: str, texts: Sequence[str]) -> list[JudgedStep]:
    """Read the result of VERIFY: one item a step, in order.

    Raises:
        UnreadableError: It has another form, or another number of items.
    """
    if not isinstance(result, list):
        raise UnreadableError(f"{_kind(result)} and no list with one item a step")
    if len(result) != len(texts):
        raise UnreadableError(f"{len(result)} items for {len(texts)} steps")
    return [
        _step(item, index, name, text) for index, (item, text) in enumerate(zip(result, texts, strict=True))
    ]


def read_grade(result: Any) -> Outcome | None:
    """Read the result of GRADE: an outcome, or None for a text without an answer.

    Raises:
        UnreadableError: It has another form.
    """
    return None if result == _NO_ANSWER else _outcome(result, "the grade")


def _step(item: Any, index: int, name: str, text: str) -> JudgedStep:
    body = _object(item, _STEP_FIELDS, index) if isinstance(item, dict) else {"verdict": item}
    if "verdict" not in body:
        raise UnreadableError(f"no verdict (step {index})")
    outcome = _outcome(body["verdict"], f"the verdict of step {index}")
    reason = body.get("reason", "")
    if not _is_text(reason):
        raise UnreadableError(f"the reason {reason!r}, which is no text (step {index})")
    if not reason and outcome is not Outcome.RIGHT:
        reason = _NO_REASON
    found = body.get("evidence", [])
    listed = [found] if isinstance(found, dict) else found
    if not isinstance(listed, list):
        raise UnreadableError(f"{_kind(found)} as evidence (step {index})")
    evidence = [_evidence(entry, index, name, outcome, len(text)) for entry in listed]
    if not evidence:
        evidence = [
            Evidence(
                verifier=name, outcome=str(outcome), kind="step", text=text, end=len(text), reason=reason
            )
        ]
    truth = StepTruth(
        is_equation_right=_told(body, "is_equation_right", index),
        is_quantity_right=_told(body, "is_quantity_right", index),
        # What nobody speaks of is needed: nothing says that it is filler.
        is_needed=_told(body, "is_needed", index) is not False,
    )
    return JudgedStep(Verdict(outcome, reason, tuple(evidence)), truth)


def _evidence(entry: Any, index: int, name: str, outcome: Outcome, length: int) -> Evidence:
    body = _object(entry, ("outcome", *_EVIDENCE_TYPES), index)
    own = (
        _outcome(body.pop("outcome"), f"the outcome of evidence of step {index}")
        if "outcome" in body
        else outcome
    )
    if body.get("kind") in (FAILED, RETRIED):
        raise UnreadableError(f"evidence of the kind {body['kind']}, which the toolkit writes (step {index})")
    for field, value in body.items():
        is_place = _EVIDENCE_TYPES[field] is int
        if is_place and (type(value) is not int or not 0 <= value <= length):
            raise UnreadableError(f"evidence with {value!r} as {field}, which is no place in step {index}")
        if not is_place and not _is_text(value):
            raise UnreadableError(f"evidence with {value!r} as {field}, which is no text (step {index})")
    if body.get("start", 0) > body.setdefault("end", length):
        raise UnreadableError(f"evidence that ends before it starts (step {index})")
    return Evidence(verifier=name, outcome=str(own), **body)


def _outcome(value: Any, what: str) -> Outcome:
    # 1 == True: a number is no verdict, and must not become one.
    if value is None or isinstance(value, bool):
        return _OUTCOMES[value]
    if isinstance(value, str) and value in set(Outcome):
        return Outcome(value)
    raise UnreadableError(f"{value!r} as {what}; it is RIGHT, WRONG, UNDECIDED, true, false or null")


def _told(body: Mapping[str, Any], key: str, index: int) -> bool | None:
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return value
    raise UnreadableError(f"{value!r} as {key} (step {index}); it is true, false or null")


def _object(value: Any, known: Sequence[str], index: int | None = None) -> dict[str, Any]:
    where = "" if index is None else f" (index {index})"
    if not isinstance(value, dict):
        raise UnreadableError(f"{_kind(value)} and no object{where}")
    if unknown := sorted(set(value) - set(known)):
        raise UnreadableError(f"the unknown member {unknown[0]!r}{where}; known are {', '.join(known)}")
    return dict(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and not any("\ud800" <= c <= "\udfff" for c in value)


def _kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return kinds.get(type(value), "a number")
