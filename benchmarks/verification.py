"""Verifiers against people: the first step that a program calls WRONG, the first error that people marked.

    python -m benchmarks.verification --data FOLDER --verifier arithmetic,algebra,units
    python -m benchmarks.verification --data FOLDER --verifier arithmetic --half open --show 20

Reads every file of the list below that FOLDER holds (rows with `problem`, `steps`, `first_error`) and prints
one Markdown table, beside what one cleaned-up regular expression finds. `--half open` keeps the problems
that may be read while a verifier is being improved; `--half closed` keeps the others, on which only numbers
are looked at. `--speed` prints solutions a second, on one and on two processes, beside math-verify called
directly.
"""

import argparse
import ast
import operator
import re
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from labeling.label_values import ALL_RIGHT
from labeling.randomness import derive_seed
from labeling.records import LabelledSolution, Solution, normalised_problem_text
from labeling.report import wilson
from labeling.sources.jsonl import read_labelled
from labeling.verifiers.registry import load_panel
from labeling.verifiers.verdict import Outcome, Verifier

SETS = (
    "processbench_gsm8k",
    "processbench_math",
    "mrgsm8k_wrong",
    "bbmistake_multistep_arithmetic",
    "stepverify_student",
    "stepverify_reference",
    "mrben_physics",
    "mrben_chemistry",
    "mrben_math",
    "prm800k_correct_chains",
)
DIRECTLY = "math-verify, called directly"
SPEED_SET = "gsm8k_model_solutions_outcome"


@dataclass
class Tally:
    """What a judge's first flags came to, on the solutions of one set."""

    exact: list[LabelledSolution] = field(default_factory=list)
    """Flag on the first error."""
    early: list[LabelledSolution] = field(default_factory=list)
    """Flag before the first error."""
    late: list[LabelledSolution] = field(default_factory=list)
    """Flag behind the first error."""
    silent: list[LabelledSolution] = field(default_factory=list)
    """No flag, though there is an error."""
    false: list[LabelledSolution] = field(default_factory=list)
    """A flag on a chain that is all right."""
    quiet: list[LabelledSolution] = field(default_factory=list)
    """No flag on a chain that is all right."""

    def row(self) -> str:
        """Return precision, recall, flagged all-right chains and flags on chains with an error, as cells."""
        n_flags = len(self.exact) + len(self.early) + len(self.late) + len(self.false)
        n_errors = len(self.exact) + len(self.early) + len(self.late) + len(self.silent)
        n_right = len(self.false) + len(self.quiet)
        shares = (
            (len(self.exact), n_flags),
            (len(self.exact), n_errors),
            (len(self.false), n_right),
            (n_flags - len(self.false), n_flags),
        )
        return " | ".join(str(wilson(*share)) if share[1] else "-" for share in shares)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of step-annotated files")
    parser.add_argument("--verifier", default="arithmetic", help="names, as in `prm label --verifier`")
    parser.add_argument("--sets", nargs="+", default=SETS, help="files to read, without their suffix")
    parser.add_argument("--half", choices=("all", "open", "closed"), default="all")
    parser.add_argument("--show", type=int, default=0, help="misses of each kind to print; with --half open")
    parser.add_argument("--speed", action="store_true", help=f"measure throughput on {SPEED_SET}")
    arguments = parser.parse_args()
    if arguments.show and arguments.half != "open":
        parser.error("--show is for --half open: whoever reads the closed half has no measure left")
    if arguments.speed:
        print("\n".join(speed(arguments.data / f"{SPEED_SET}.jsonl", arguments.verifier)))
        return
    verifier = load_panel(arguments.verifier)
    print(f"Verifiers {arguments.verifier}, half {arguments.half}; Wilson 95 % intervals.\n")
    print("| set | judge | precision | recall | all-right chains flagged | flagged chains with an error |")
    print("|---|---|---|---|---|---|")
    for name in arguments.sets:
        path = arguments.data / f"{name}.jsonl"
        if not path.is_file():
            print(f"| {name} | not there | | | | |")
            continue
        chosen = [item for item in read_labelled(path).items if is_in(item, arguments.half)]
        ours = tally(chosen, lambda solution: first_flag(verifier, solution))
        print(f"| {name} | naive | {tally(chosen, naive_flag).row()} |")
        print(f"| {name} | ours | {ours.row()} |", flush=True)
        print("\n".join(shown(ours, verifier, arguments.show)), end="\n" if arguments.show else "")


def is_in(item: LabelledSolution, half: str) -> bool:
    """Tell whether a solution's problem belongs to a half; all solutions of a problem go together."""
    side = derive_seed(0, "verification", normalised_problem_text(item.solution.problem.text)) % 2
    return half == "all" or (half == "open") == (side == 0)


def tally(items: Sequence[LabelledSolution], flag: Callable[[Solution], int]) -> Tally:
    """Sort the solutions whose first error is known by where the judge's first flag fell."""
    result = Tally()
    for item in items:
        truth = item.first_error
        if truth is None:
            continue
        found = flag(item.solution)
        if truth == ALL_RIGHT:
            (result.quiet if found == ALL_RIGHT else result.false).append(item)
        elif found == ALL_RIGHT:
            result.silent.append(item)
        else:
            place = result.exact if found == truth else result.early if found < truth else result.late
            place.append(item)
    return result


def first_flag(verifier: Verifier, solution: Solution) -> int:
    """Return the index of the first step judged WRONG, -1 when there is none."""
    verdicts = verifier.verify(solution.problem, solution)
    return next((i for i, v in enumerate(verdicts) if v.outcome is Outcome.WRONG), ALL_RIGHT)


_NAIVE = re.compile(r"(?<![\w.])([-(\d][-\d\s.+*/()]*[-+*/][-\d\s.+*/()]*[)\d])\s*=\s*(-?\d[\d.]*)")


def naive_flag(solution: Solution) -> int:
    """Return the first step with a false `a op b = c`, read by one regular expression."""
    for index, text in enumerate(solution.step_texts):
        cleaned = re.sub(r"[$,]|\\(?=[$%])|<<[^>]*>>", "", text)
        cleaned = cleaned.replace("\\times", "*").replace("×", "*").replace("\\div", "/").replace("÷", "/")
        for left, right in _NAIVE.findall(cleaned):
            if not _naive_holds(left, right):
                return index
    return ALL_RIGHT


def _naive_holds(left: str, right: str) -> bool:
    try:
        difference = _value(ast.parse(left.strip(), mode="eval").body) - Fraction(right.rstrip("."))
    except (SyntaxError, ValueError, ZeroDivisionError, RecursionError):
        return True
    return abs(float(difference)) < 0.01


def _value(node: ast.expr) -> Fraction:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return Fraction(str(node.value))
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        return -_value(node.operand) if isinstance(node.op, ast.USub) else _value(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS:
        return _OPERATIONS[type(node.op)](_value(node.left), _value(node.right))
    raise ValueError("no plain arithmetic")


_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Fraction]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


def shown(result: Tally, verifier: Verifier, count: int) -> Iterator[str]:
    """Yield the first misses of each kind: the flagged step, its reason, and the step that people marked."""
    for kind in ("false", "early", "late", "silent") if count else ():
        for item in getattr(result, kind)[:count]:
            yield f"  [{kind}] {item.solution.id}, first error {item.first_error}"
            found = first_flag(verifier, item.solution)
            if found != ALL_RIGHT:
                verdict = verifier.verify(item.solution.problem, item.solution)[found]
                yield f"    flagged {found}: {item.solution.step_texts[found]!r}"
                yield f"    because {verdict.reason}"
            if item.first_error is not None and item.first_error not in (ALL_RIGHT, found):
                yield f"    error: {item.solution.step_texts[item.first_error]!r}"


def speed(path: Path, names: str) -> Iterator[str]:
    """Yield solutions a second of each verifier on one and two processes, and of math-verify alone."""
    solutions = [item.solution for item in read_labelled(path).items]
    yield f"{len(solutions)} solutions of {path.name}; each row is the faster of two passes.\n"
    yield "| judge | solutions/s, 1 process | 2 processes |"
    yield "|---|---|---|"
    for name in (*names.split(","), DIRECTLY):
        yield f"| {name} | {_rate(solutions, name, 1):,.0f} | {_rate(solutions, name, 2):,.0f} |"


def _rate(solutions: Sequence[Solution], name: str, processes: int) -> float:
    chunks = [solutions[i : i + 32] for i in range(0, len(solutions), 32)]
    with ProcessPoolExecutor(processes, initializer=_start, initargs=(name,)) as pool:
        list(pool.map(_judge, chunks[: 2 * processes]))
        seconds = []
        for _ in range(2):
            started = time.perf_counter()
            list(pool.map(_judge, chunks))
            seconds.append(time.perf_counter() - started)
    return len(solutions) / min(seconds)


_judge_of_process: list[Callable[[Solution], object]] = []


def _start(name: str) -> None:
    if name == DIRECTLY:
        from math_verify import parse, verify

        def directly(solution: Solution) -> object:
            answer = solution.problem.answer or ""
            return verify(parse(answer), parse(solution.text[-300:]))

        _judge_of_process[:] = [directly]
        return
    verifier = load_panel(name)
    _judge_of_process[:] = [lambda solution: verifier.verify(solution.problem, solution)]


def _judge(solutions: Sequence[Solution]) -> int:
    for solution in solutions:
        _judge_of_process[0](solution)
    return len(solutions)


if __name__ == "__main__":
    main()
