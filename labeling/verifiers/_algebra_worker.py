"""The program of the worker process: one JSON line in, one out, math-verify in between.

It runs as a file of its own, imports nothing of this toolkit, and is killed from outside. Requests
hold `left`, `right` (null: only tell whether `left` can be read), `tolerance` (a rounding error that
numbers may differ by, as a fraction) and `seconds`; replies hold `state` and `reason`.

math-verify reads; values are compared here, because its own comparison rounds to six decimal places,
depends on the order, and calls different what it could not simplify. Numbers are compared to 40 digits,
expressions at random points; what neither settles goes to math-verify, whose "equal" is taken, and whose
"different" is unsure.
"""

import contextlib
import json
import logging
import os
import re
import signal
import sys
import warnings
from typing import Any

_EXTRA_BYTES = 256 * 2**20
"""What one comparison may allocate beyond what the libraries themselves take."""

_DIGITS = 40
_POINTS = 6
_MAX_INTEGER_DIGITS = 20_000
"""Powers that would be longer are not written out."""

_TWO_NUMBERS = re.compile(r"\d\s+\d")
"""math-verify adds two numbers with a blank between them; nobody means that."""

_PRODUCT = re.compile(r"(?<=\))(?=\()|(?<=(?<![\w^\\{}.])\d)(?=\()|(?<=(?<![\w^\\{}.])\d\d)(?=\()")
"""Where "(9)(7)" and "9(7)" hold a product, which math-verify reads as a mixed number, 9 + 7."""

_SPELLINGS = (
    (re.compile(r"([A-Za-z])'"), r"\1_{p}"),  # math-verify drops the prime
    (re.compile(r"\^\s*(\\frac\{[^{}]*\}\{[^{}]*\})"), r"^{\1}"),
    (re.compile(r"(?<![\d,({\[])(\d{1,3})((?:,\d{3})+)(?![\d,])"), lambda match: match[0].replace(",", "")),
    (_PRODUCT, r" \\cdot "),
)
_NOT_READ = re.compile(
    r"\\(?:ldots|dots|pmod|bmod|equiv|mid|approx|text|quad)(?![A-Za-z])|\bmod\b|[?\"@#&;]|\\\\(?!\s*[\d\w\\-])"
)
"""Signs that math-verify skips or reads as letters."""

_READINGS = (
    (
        re.compile(r"(?<![\w.)}^])(\d+)\s*/\s*(\d+)(?=\s*(?:[A-Za-z(]|\\(?!cdot|times|div|le|ge|c[au]p)))"),
        r"(\1/\2)",
    ),
    (re.compile(r"\\log(?!\s*_|[A-Za-z])"), r"\\ln"),
)
"""What may be read in two ways: 1/2x, the base of a logarithm. Where they disagree nothing is said."""


_WARM_UP = (
    ("x^2-1", "(x+1)(x-1)"),
    (r"\frac{\pi}{2}+\sqrt{12}", r"2\sqrt{3}+\pi/2"),
    ("y=2x+1", "2x-y+1=0"),
    (r"\sin x+\log_{2} 8", "e^{x}+3i"),
)


def _limit_memory() -> None:
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123  # in words: pages
            taken = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (taken + _EXTRA_BYTES, taken + _EXTRA_BYTES))
    except (ImportError, OSError, ValueError):
        # Only Linux tells and enforces it; elsewhere the time limit alone holds.
        return


def _die_after(cpu_seconds: float) -> None:
    """Let the kernel end this process after so much work, even inside one long C call; 0 takes it back.

    Processor time, not wall time: a busy machine must not change a verdict.
    """
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_PROF, cpu_seconds)


def _answer(request: dict[str, Any]) -> dict[str, str]:
    left, right = request["left"], request["right"]
    first = _read(left)
    if first is None:
        return _reply("left unreadable")
    if right is None:
        return _reply("equal")
    second = first if right == left else _read(right)
    if second is None:
        return _reply("right unreadable")
    if right == left:
        return _reply("equal", "the same text")
    states = {_state(first, second, request["tolerance"])}
    for pattern, other_reading in _READINGS:
        pair = pattern.sub(other_reading, left), pattern.sub(other_reading, right)
        if pair != (left, right):
            first, second = _read(pair[0]), _read(pair[1])
            states.add(
                "unsure" if first is None or second is None else _state(first, second, request["tolerance"])
            )
    return _reply(states.pop()) if len(states) == 1 else _reply("unsure", "may be read in two ways")


def _reply(state: str, reason: str = "") -> dict[str, str]:
    return {"state": state, "reason": reason}


def _read(text: str) -> Any:
    """Return the sympy value of one answer, None when it cannot be read as a whole."""
    from latex2sympy2_extended import NormalizationConfig
    from math_verify import LatexExtractionConfig, parse
    from sympy import Basic, MatrixBase

    if _TWO_NUMBERS.search(text) or _NOT_READ.search(text):
        return None
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    # LaTeX only and the first match only: the other readers pick a number out of what they cannot
    # read as a whole, and one of them evaluates Python. No normalization: it deletes units and words.
    found = parse(
        f"${text}$",
        [
            LatexExtractionConfig(
                normalization_config=NormalizationConfig(
                    basic_latex=True, units=False, malformed_operators=False, nits=False, boxed="none"
                )
            )
        ],
        fallback_mode="no_fallback",
        extraction_mode="first_match",
        parsing_timeout=None,  # pyright: ignore[reportArgumentType]  # None is its documented "off"
        raise_on_error=True,
    )
    value = found[0] if found else None
    return value if isinstance(value, (Basic, MatrixBase)) else None


def _state(left: Any, right: Any, tolerance: str) -> str:
    from sympy import Expr, MatrixBase, MatrixExpr, Rational, Set, Tuple
    from sympy.core.relational import Relational

    if _is_too_large(left) or _is_too_large(right):
        return "unsure"
    left, right = _exact(left), _exact(right)
    if left == right:
        return "equal"
    if isinstance(left, Relational) and isinstance(right, Relational):
        return _relations(left, right)
    if isinstance(left, Relational) or isinstance(right, Relational):
        return _solved(left, right) if isinstance(left, Relational) else _solved(right, left)
    matrices = (MatrixBase, MatrixExpr)
    if isinstance(left, matrices) or isinstance(right, matrices):
        return _matrices(left, right, tolerance)
    if isinstance(left, (Set, Tuple)) or isinstance(right, (Set, Tuple)):
        return _by_math_verify(left, right)
    if isinstance(left, Expr) and isinstance(right, Expr):
        return _expressions(left, right, Rational(tolerance))
    return _by_math_verify(left, right)


def _is_too_large(value: Any) -> bool:
    """Tell whether a power or a factorial in the value is too long to be written out."""
    from sympy import Pow, factorial, preorder_traversal

    if not hasattr(value, "args"):
        return False
    for part in preorder_traversal(value):
        if isinstance(part, Pow) and part.exp.is_number and not part.exp.is_Integer:
            # A tower: its exponent is judged before anything evaluates it.
            height = _magnitude(part.exp)
            if height is None or height > 5:
                return True
        if isinstance(part, Pow) and part.exp.is_Integer and part.base.is_number:
            size = _magnitude(part.base)
            if size is None or abs(int(part.exp)) * max(size, 1) > _MAX_INTEGER_DIGITS:
                return True
        if isinstance(part, factorial) and part.args[0].is_number and (_magnitude(part.args[0]) or 0) > 3.5:
            return True
    return False


def _magnitude(value: Any) -> float | None:
    """Return about the decimal logarithm of a number's size, without writing it out; None for towers."""
    from sympy import Pow, factorial

    if value.is_Integer or value.is_Rational:
        digits = max(len(str(abs(value.p))), len(str(value.q))) if value.q != 1 else len(str(abs(value.p)))
        return float(digits)
    if isinstance(value, Pow):
        base, exponent = _magnitude(value.base), _magnitude(value.exp)
        if base is None or exponent is None or exponent > 6:
            return None
        return base * 10.0**exponent
    if isinstance(value, factorial):
        inner = _magnitude(value.args[0])
        return None if inner is None or inner > 4 else 10.0 ** (inner + 1)
    sizes = [_magnitude(part) for part in value.args]
    if any(size is None for size in sizes):
        return None
    return sum(size for size in sizes if size is not None) + 1.0


def _exact(value: Any) -> Any:
    """Replace decimals by the fractions that they are written as, and i by the imaginary unit."""
    from sympy import Basic, Float, I, MatrixBase, Rational, Symbol

    if isinstance(value, MatrixBase):
        return value.applyfunc(_exact)
    if not isinstance(value, Basic):
        return value
    decimals = {number: Rational(str(number)) for number in value.atoms(Float)}
    value = value.xreplace(decimals) if decimals else value
    imaginary = [symbol for symbol in value.free_symbols if isinstance(symbol, Symbol) and symbol.name == "i"]
    value = value.subs(dict.fromkeys(imaginary, I)) if imaginary else value
    return value.doit() if hasattr(value, "doit") else value


def _expressions(left: Any, right: Any, tolerance: Any) -> str:
    from sympy import S, Symbol, nan, zoo

    infinities = (S.Infinity, S.NegativeInfinity)
    if nan in (left, right) or zoo in (left, right):
        return "unsure"
    if left in infinities or right in infinities:
        return "equal" if left == right else "different"
    symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    from sympy.core.function import AppliedUndef

    functions = left.atoms(AppliedUndef) | right.atoms(AppliedUndef)
    if functions:
        names = {function: Symbol(f"value_{n}") for n, function in enumerate(sorted(functions, key=str))}
        left, right = left.xreplace(names), right.xreplace(names)
        symbols = sorted(left.free_symbols | right.free_symbols, key=str)
    if not symbols:
        return _numbers(left, right, tolerance)
    found = {_at_point(left, right, symbols, number) for number in range(2 * _POINTS)} - {""}
    positive = {_at_point(left, right, symbols, number) for number in range(_POINTS)} - {""}
    if found == {"equal"}:
        return "equal"
    if positive == {"equal"}:
        return "unsure"  # the same for positive values only: which are meant, nobody says
    if "different" in positive:
        return "different"
    return _by_math_verify(left, right)


def _at_point(left: Any, right: Any, symbols: list[Any], number: int) -> str:
    """Compare at one point; the first points are positive. "" where a value is not finite."""
    from sympy import Rational

    values = {}
    for place, symbol in enumerate(symbols):
        # Primes keep the points off the places where different expressions meet.
        value = Rational((7919 * (number + 1) + 104729 * (place + 1)) % 1301 + 17, 211 + 13 * place)
        values[symbol] = -value if number >= _POINTS and (number + place) % 2 == 0 else value
        if symbol.is_integer or str(symbol) in ("n", "k", "m"):
            whole = 2 + (3 * number + 2 * place) % 11
            values[symbol] = Rational(-whole if number >= _POINTS and str(symbol) == "k" else whole)
    try:
        return _numbers(left.subs(values), right.subs(values), Rational(0))
    except (ArithmeticError, ValueError, TypeError, AttributeError):
        return ""


def _numbers(left: Any, right: Any, tolerance: Any) -> str:
    """Compare two numbers to 40 digits; "unsure" where they cannot be computed."""
    if left == right:
        return "equal"
    if left.is_Rational and right.is_Rational:
        return "equal" if 2 * abs(left - right) <= tolerance else "different"
    first, second = left.evalf(_DIGITS), right.evalf(_DIGITS)
    if not all(value.is_number and value.is_finite and not value.free_symbols for value in (first, second)):
        return "unsure"
    difference = (left - right).evalf(_DIGITS, maxn=200)
    if not (difference.is_number and difference.is_finite):
        return "unsure"
    gap, scale = abs(difference), max(abs(first), abs(second), key=float)
    if gap == 0 or gap.evalf() <= scale.evalf() * 10 ** (5 - _DIGITS):
        return "equal"
    if not gap.is_comparable:
        return "unsure"
    if tolerance == 0 or scale < 10**5 * tolerance:
        return "different"
    written, exact = (first, second) if left.is_Rational else (second, first)
    is_cut = abs(written) <= abs(exact) and gap < tolerance
    return "equal" if is_cut or 2 * gap <= tolerance else "different"


def _matrices(left: Any, right: Any, tolerance: str) -> str:
    left, right = (value.doit() if hasattr(value, "doit") else value for value in (left, right))
    shapes = getattr(left, "shape", None), getattr(right, "shape", None)
    if shapes[0] != shapes[1] or not hasattr(left, "flat") or not hasattr(right, "flat"):
        return "different" if all(shapes) else "unsure"
    states = {_state(a, b, tolerance) for a, b in zip(left.flat(), right.flat(), strict=True)}
    return "different" if "different" in states else "unsure" if "unsure" in states else "equal"


def _relations(left: Any, right: Any) -> str:
    """Compare two equations or inequalities: a constant factor apart, or with the same solutions."""
    from sympy import Eq, simplify

    first, second = left.lhs - left.rhs, right.lhs - right.rhs
    if isinstance(left, Eq) != isinstance(right, Eq):
        return "different"
    ratio = simplify(first / second) if second != 0 else None
    if isinstance(left, Eq):
        if ratio is not None and ratio.is_number and ratio.is_finite and ratio != 0:
            return "equal"
        return _same_solutions(first, second)
    if ratio is not None and ratio.is_number and ratio.is_finite and ratio.is_nonzero:
        kinds = (left.gts - left.lts, right.gts - right.lts)
        quotient = simplify(kinds[0] / kinds[1])
        is_strict = (">" in left.rel_op or "<" in left.rel_op) and "=" not in left.rel_op
        is_other_strict = "=" not in right.rel_op
        return "equal" if quotient.is_positive and is_strict == is_other_strict else "different"
    return _by_math_verify(left, right)


def _same_solutions(first: Any, second: Any) -> str:
    """Compare where two expressions vanish: the solutions of each must make the other vanish."""
    from sympy import simplify, solve

    if first.free_symbols != second.free_symbols or not first.free_symbols:
        return "different"
    symbol = sorted(first.free_symbols, key=str)[-1]
    try:
        roots = solve(first, symbol), solve(second, symbol)
    except NotImplementedError:
        return "unsure"
    if not roots[0] or not roots[1]:
        return "unsure"
    crossed = [simplify(second.subs(symbol, root)) for root in roots[0]]
    crossed += [simplify(first.subs(symbol, root)) for root in roots[1]]
    return "equal" if all(value == 0 for value in crossed) else "different"


def _solved(relation: Any, value: Any) -> str:
    """Compare a relation with a value or a set: is it the solution?"""
    from sympy import Eq, FiniteSet, S, Set, solveset

    symbols = relation.free_symbols
    if len(symbols) != 1:
        return "different" if not isinstance(value, Set) else "unsure"
    symbol = symbols.pop()
    try:
        solutions = solveset(relation, symbol, S.Reals) if isinstance(relation, Eq) else relation.as_set()
    except (NotImplementedError, ValueError, TypeError):
        return "unsure"
    wanted = value if isinstance(value, Set) else FiniteSet(value)
    return "equal" if solutions == wanted else "different"


def _by_math_verify(left: Any, right: Any) -> str:
    from math_verify import verify

    is_equal = any(
        verify([a], [b], timeout_seconds=None, raise_on_error=True) for a, b in ((left, right), (right, left))
    )
    return "equal" if is_equal else "unsure"


def main() -> None:
    """Serve requests until the input ends."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # parsers print; the reply line must stay alone
    logging.disable(logging.CRITICAL)
    warnings.simplefilter("ignore")
    # Libraries and the tables of their parser are loaded before the limits hold: the first comparison of
    # its kind takes many times as long as the next, and a new worker must not fail by that.
    for left, right in _WARM_UP:
        _answer({"left": left, "right": right, "tolerance": "0"})
    _limit_memory()
    print(json.dumps(_reply("ready")), file=replies, flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        _die_after(float(request["seconds"]))
        try:
            reply = _answer(request)
        except MemoryError:
            os._exit(3)
        except Exception as error:  # noqa: BLE001  # the border of the process: any fault is told, not hidden
            reply = _reply("failed", f"{type(error).__name__}: {str(error)[:200]}")
        _die_after(0.0)
        print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        main()
