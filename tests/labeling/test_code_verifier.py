# ruff: noqa: E501  code in one line
"""Code against tests: the shared cases, every format of tests, steps, and what no test may be fooled by."""

import contextlib
import json
import time

import pytest
from sandboxes import cpython_engine

from labeling.errors import NotGradedError, RecordError
from labeling.records import Problem, Solution
from labeling.sources.jsonl import read_problems
from labeling.verifiers._code_tests import CallTest, ProgramTest, ScriptTest, defined_in, names_in, read_tests
from labeling.verifiers._code_text import code_blocks, code_of_steps, code_of_text
from labeling.verifiers.code import NO_CODE, NO_TEST_FOR_IT, NO_TESTS, CodeVerifier
from labeling.verifiers.sandbox import Limits
from labeling.verifiers.verdict import Outcome

RIGHT, WRONG, UNDECIDED = Outcome.RIGHT, Outcome.WRONG, Outcome.UNDECIDED


@pytest.fixture(scope="module")
def verifiers():
    cpython_engine(warm=0).close()
    made = {name: CodeVerifier(name, limits=Limits(seconds=2)) for name in ("auto", "cpython", "monty")}
    yield made
    for verifier in made.values():
        verifier.close()


@pytest.fixture(params=["auto", "cpython"])
def verifier(request, verifiers):
    return verifiers[request.param]


@pytest.fixture
def auto(verifiers):
    return verifiers["auto"]


def problem(**meta):
    return Problem(id="p", text="Write it.", meta=meta)


def outcomes(verifier, steps, **meta):
    solution = Solution.from_steps(steps, id="s", problem=problem(**meta))
    verdicts = verifier.verify(solution.problem, solution)
    assert len(verdicts) == len(steps)
    return [verdict.outcome for verdict in verdicts]


def fenced(code):
    return f"So the code is\n```python\n{code}\n```"


def test_sb_01_and_02_a_test_is_passed_by_a_value_that_came_back(golden, verifiers):
    cases = golden("sandbox.json")
    for case in (cases["sb-01"], cases["sb-02"]):
        for part in (case["input"], case["input"].get("second_problem", {"candidates": []})):
            for candidate in part["candidates"]:
                wanted = case["expected"]["verdicts"][candidate["name"]] == "passed"
                for name in ("auto", "cpython"):
                    found = verifiers[name].grade(problem(tests=part["tests"]), candidate["code"])
                    assert found is wanted, (candidate["name"], name)
                # Alone, Monty cannot tell what it does not know; it passes nobody who is wrong.
                with contextlib.suppress(NotGradedError):
                    assert verifiers["monty"].grade(problem(tests=part["tests"]), candidate["code"]) is wanted


SORT = "def order(xs):\n    return sorted(xs, reverse=True)"
HUMAN_EVAL = {
    "test": (
        "METADATA = {'author': 'x'}\n\ndef check(candidate):\n    assert candidate([1, 3, 2]) == [3, 2, 1]\n"
        "    assert candidate([]) == []\n    assert len(candidate([1, 2])) == 2\n"
    ),
    "entry_point": "order",
}
MBPP = {
    "test_list": ["assert order([1, 3, 2]) == [3, 2, 1]", "assert order((1,))[0] == 1"],
    "test_setup_code": "",
}
UNITTEST = {
    "unittest": (
        "import unittest\n\nclass TestOrder(unittest.TestCase):\n    def test_some(self):\n"
        "        self.assertEqual(order([1, 3, 2]), [3, 2, 1])\n    def test_error(self):\n"
        "        with self.assertRaises(TypeError):\n            order([1, 'a'])\n"
    )
}
APPS_CALL = {
    "input_output": json.dumps({"fn_name": "order", "inputs": [[[1, 3, 2]]], "outputs": [[[3, 2, 1]]]})
}
OWN = {"tests": [{"call": "order([1, 3, 2])", "expected": [3, 2, 1]}, {"assert": "assert order([]) == []"}]}


@pytest.mark.parametrize(
    ("meta", "n"), [(HUMAN_EVAL, 3), (MBPP, 2), (UNITTEST, 2), (APPS_CALL, 1), (OWN, 2)], ids=str
)
def test_every_format_passes_the_right_code_and_fails_the_wrong(verifier, meta, n):
    right = verifier.grade_tests(problem(**meta), SORT)
    assert (right.n_passed, right.share, right.outcome, len(right.results)) == (n, 1.0, RIGHT, n)
    wrong = verifier.grade_tests(problem(**meta), "def order(xs):\n    return list(xs)")
    assert wrong.outcome is WRONG
    assert wrong.share < 1
    missing = verifier.grade_tests(problem(**meta), "def other(xs):\n    return xs")
    assert (missing.share, missing.outcome) == (0.0, WRONG)


HOSTILE = {
    "agreeing object": "class Yes:\n    def __eq__(self, o):\n        return True\n    def __len__(self):\n        return 2\n"
    "    def __getitem__(self, k):\n        return 1\n    def __mod__(self, o):\n        return 0\n    def __bool__(self):\n"
    "        return True\ndef order(xs):\n    return Yes()",
    "patched builtins": "import builtins\nbuiltins.len = lambda x: 2\nbuiltins.sorted = lambda *a, **k: [3, 2, 1]\n"
    "def order(xs):\n    return [1]",
    "patched unittest": "import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n"
    "unittest.TestResult.wasSuccessful = lambda s: True\ndef order(xs):\n    return None",
    "left the process": "import os\ndef order(xs):\n    os._exit(0)",
    "skipped": "import unittest\ndef order(xs):\n    raise unittest.SkipTest('x')",
    "swallowed": "def order(xs):\n    raise KeyboardInterrupt",
    "import error": "def order(xs):\n    raise ImportError('not my fault')",
    "syntax error": "def order(xs):\n    raise SyntaxError('not my fault')",
}


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("meta", [HUMAN_EVAL, MBPP, UNITTEST], ids=["human_eval", "mbpp", "unittest"])
def test_no_test_of_any_format_is_fooled(verifier, meta, name):
    grade = verifier.grade_tests(problem(**meta), HOSTILE[name])
    assert grade.outcome is WRONG
    assert all(r.outcome is WRONG for r in grade.results), grade.results


def test_an_expected_exception_is_not_met_by_leaving(auto):
    meta = {"tests": ["try:\n    f(-1)\nexcept Exception:\n    pass\nelse:\n    assert False"]}
    assert auto.grade(problem(**meta), "def f(x):\n    raise ValueError(x)") is True
    assert auto.grade(problem(**meta), "import os\ndef f(x):\n    os._exit(0)") is False
    assert auto.grade(problem(**meta), "def f(x):\n    return x") is False


def test_programs_are_compared_line_by_line_without_blanks_at_the_ends(verifier):
    tests = [{"stdin": "3\n", "stdout": "0\n1\n2"}, {"stdin": "1", "stdout": "0\n"}]
    right = (
        "n = int(input())\nif __name__ == '__main__':\n    for k in range(n):\n        print(k, end=' \\n')"
    )
    assert verifier.grade_tests(problem(tests=tests), right).share == 1
    assert verifier.grade_tests(problem(tests=tests), "print(0)").share == 0.5
    assert verifier.grade_tests(problem(tests=tests), "import sys\nsys.exit()").share == 0
    apps = {"input_output": {"inputs": ["3\n", ["1"]], "outputs": ["0\n1\n2\n", ["0"]]}}
    assert verifier.grade_tests(problem(**apps), right).share == 1


def test_a_test_that_ends_the_process_leaves_the_others_their_chance(auto):
    tests = [{"call": f"f({k})", "expected": k} for k in range(4)]
    code = "import os\ndef f(k):\n    return os._exit(0) if k == 1 else k"
    grade = auto.grade_tests(problem(tests=tests), code)
    assert [r.outcome for r in grade.results] == [RIGHT, WRONG, RIGHT, RIGHT]
    slow = auto.grade_tests(problem(tests=tests), "def f(k):\n    while k == 1:\n        pass\n    return k")
    assert [r.outcome for r in slow.results] == [RIGHT, WRONG, WRONG, WRONG]
    assert "it took over" in slow.results[1].reason


def test_monty_has_the_last_word_only_where_it_passes(verifiers):
    tests = [{"call": "f(3)", "expected": 6}]
    assert (
        verifiers["auto"].grade_tests(problem(tests=tests), "def f(x):\n    return 2 * x").engine == "monty"
    )
    heap = "import heapq\ndef f(x):\n    return heapq.nlargest(1, [x, 2 * x])[0]"
    assert verifiers["auto"].grade_tests(problem(tests=tests), heap).engine == "cpython"
    assert verifiers["auto"].grade(problem(tests=tests), heap) is True
    with pytest.raises(NotGradedError, match="no result"):
        verifiers["monty"].grade(problem(tests=tests), heap)
    assert verifiers["monty"].grade(problem(tests=tests), "def f(x):\n    return x") is False


def test_each_step_is_judged_by_the_tests_of_what_it_defines(verifier):
    tests = [{"call": "double(4)", "expected": 8}, {"call": "quad(4)", "expected": 16}]
    steps = [
        "We need two functions.",
        fenced("def double(x):\n    return 2 * x"),
        fenced("LIMIT = 10"),
        fenced("def quad(x):\n    return double(double(x))"),
        "That is all.",
    ]
    assert outcomes(verifier, steps, tests=tests) == [UNDECIDED, RIGHT, UNDECIDED, RIGHT, UNDECIDED]
    steps[1] = fenced("def double(x):\n    return x + 2")
    assert outcomes(verifier, steps, tests=tests) == [UNDECIDED, WRONG, UNDECIDED, WRONG, UNDECIDED]


def test_reasons_and_evidence_tell_why(auto):
    solution = Solution.from_steps(
        ["Text.", fenced("def f(x):\n    return x"), fenced("y = 1")],
        id="s",
        problem=problem(tests=[{"call": "f(2)", "expected": 4}, {"call": "f(0)", "expected": 0}]),
    )
    first, second, third = auto.verify(solution.problem, solution)
    assert first.reason == NO_CODE
    assert second.reason == "1 of 2 tests passed; f(2): another value came back"
    evidence = second.evidence[0]
    assert (evidence.text, evidence.left, evidence.right, evidence.outcome) == ("f(2)", "2", "4", "WRONG")
    assert solution.steps[1].text[evidence.start : evidence.end] == "def f(x):\n    return x\n"
    assert third.outcome is WRONG


def test_what_no_test_decides_is_undecided(auto):
    def reason(steps, **meta):
        solution = Solution.from_steps(steps, id="s", problem=problem(**meta))
        verdict = auto.verify(solution.problem, solution)[0]
        assert verdict.outcome is UNDECIDED
        return verdict.reason

    assert reason([fenced("def f():\n    return 1")]) == NO_TESTS
    two = [fenced("def g():\n    return 1"), fenced("def f():\n    return 1")]
    assert reason(two, tests=[{"call": "f()", "expected": 1}]) == NO_TEST_FOR_IT
    assert "cannot be read" in reason([fenced("x = 1")], tests=[{"call": "f("}])
    # Tests that break by themselves, or hand over what cannot cross, say nothing of the candidate.
    f = fenced("def f(x):\n    return x")
    assert "nowhere" in reason([f], tests=["import nowhere\nassert f(1) == 1"])
    assert "no plain data" in reason([f], tests=["assert f(lambda: 1)() == 1"])
    assert "tests:" in reason([f], tests=["while True:\n    pass\nf(1)"])


def test_code_that_is_no_python_is_wrong_with_and_without_tests(auto):
    assert outcomes(auto, [fenced("def f(:\n    pass")], tests=[{"call": "f()", "expected": 1}]) == [WRONG]
    assert outcomes(auto, [fenced("def f(:\n    pass")]) == [WRONG]


def test_a_function_may_be_completed_from_its_beginning_in_the_problem(auto):
    beginning = 'def add(a, b):\n    """Add.\n\n    >>> add(1, 2)\n    3\n    """\n'
    asked = Problem(id="p", text=beginning, meta={"tests": [{"call": "add(2, 3)", "expected": 5}]})
    assert auto.grade(asked, "```python\n    return a + b\n```") is True
    assert auto.grade(asked, "```python\n    return a - b\n```") is False


def test_the_last_block_may_stand_for_itself(auto):
    text = "```python\nraise ValueError('a try')\n```\nBetter:\n```python\ndef f(x):\n    return x\n```"
    assert auto.grade(problem(tests=[{"call": "f(1)", "expected": 1}]), text) is True


def test_texts_without_code_have_no_grade(auto):
    tests = [{"call": "f(1)", "expected": 1}]
    for text in ("The answer is 3.", "", "```text\nf(1)\n```", "a = b = c, so it is right"):
        assert auto.grade(problem(tests=tests), text) is None


def test_a_problem_without_tests_grades_nothing(auto):
    assert not auto.can_grade(problem())
    assert auto.can_grade(problem(tests=[{"call": "f(1)", "expected": 1}]))
    with pytest.raises(NotGradedError, match="has no tests"):
        auto.grade(problem(), "```python\ndef f(x):\n    return x\n```")


def test_blocks_are_found_with_their_place():
    text = "a\n```python\nx = 1\n```\nb\n~~~\ny = 2\n~~~\n```js\nlet z\n```\n   ```py\n>>> q = 3\n>>> q\n3\n"
    assert [block.code for block in code_blocks(text)] == ["x = 1\n", "y = 2\n", "q = 3\nq"]
    first = code_blocks(text)[0]
    assert text[first.start : first.end] == "x = 1\n"
    assert code_of_text("def f():\n    return 1") == ["def f():\n    return 1"]
    assert code_of_text("nothing here") == []
    assert [len(blocks) for blocks in code_of_steps(["def f():", "    return 1"])] == [1, 1]
    assert [len(blocks) for blocks in code_of_steps(["Text.", "```\nx = 1\n```"])] == [0, 1]


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("assert f(x) == 1", ("f", "x")),
        ("def check(c):\n    assert c(1) == g(2)\ncheck(f)", ("f", "g")),
        ("import math\nassert math.isclose(f(1), 1)", ("f",)),
        ("class T(B):\n    def test(self):\n        self.x = f()", ("B", "f")),
        ("xs = [f(k) for k in range(3)]\nassert sum(xs)", ("f",)),
        ("def helper():\n    return later()\ndef later():\n    return f()", ("f",)),
    ],
)
def test_the_names_that_tests_take_from_the_candidate(code, names):
    assert names_in(code) == names


def test_what_code_defines():
    code = "import os\ndef f(): pass\nclass C: pass\na, (b, c) = 1, (2, 3)\nd: int = 4\nif a:\n    e = 5"
    assert defined_in(code) == {"f", "C", "a", "b", "c", "d"}
    assert defined_in("def (") == set()


def test_only_calls_of_the_candidate_are_taken_apart():
    def read(text):
        return read_tests(problem(tests=[text]))[0]

    assert read("assert f(1, k='a') == (1, {2})") == CallTest("f(1, k='a')", {"tuple": [1, {"set": [2]}]})
    assert read("assert f(g(1), [1] * 3) == 2") == CallTest("f(g(1), [1] * 3)", 2)
    assert read("assert S(1).f(2) == 2") == CallTest("S(1).f(2)", 2)
    for whole in (
        "assert len(f(1)) == 2",
        "assert len(S(1).f(2)) == 2",
        "assert f(1)(2) == 2",
        "assert [1].index(f(1)) == 0",
        "assert sorted([2, 1]) == [1, 2]",
        "assert f(1).x == 2",
        "assert f(1) == g(1)",
        "assert f(1) == 2 == 2",
        "assert f(1) != 2",
        "assert f(1)",
        "x = 1\nassert f(x) == 2",
    ):
        assert isinstance(read(whole), ScriptTest), whole
    assert isinstance(read_tests(problem(tests=[{"stdin": "", "stdout": "x"}]))[0], ProgramTest)


@pytest.mark.parametrize(
    "meta",
    [
        {"tests": "f(1)"},
        {"tests": [3]},
        {"tests": [{"call": "f(1)"}]},
        {"tests": [{"call": "f(", "expected": 1}]},
        {"tests": [{"call": "f(1)", "expected": 1, "tolerance": -1}]},
        {"tests": [{"call": "f(1)", "expected": 1, "tolerance": True}]},
        {"tests": ["assert f("]},
        {"tests": [{"stdin": 3, "stdout": "x"}]},
        {"test_list": "assert f(1)"},
        {"test_list": [3]},
        {"test": "def check(candidate): pass"},
        {"test": "x = 1", "entry_point": "f"},
        {"test": "def check(candidate): pass", "entry_point": "f("},
        {"unittest": "x = 1"},
        {"unittest": 3},
        {"input_output": "{"},
        {"input_output": "[]"},
        {"input_output": {"inputs": ["1"], "outputs": []}},
        {"input_output": {"inputs": "1", "outputs": []}},
        {"input_output": {"fn_name": "f(", "inputs": [[1]], "outputs": [1]}},
        {"input_output": {"inputs": [3], "outputs": [3]}},
    ],
    ids=str,
)
def test_tests_that_cannot_be_read_are_named(meta):
    with pytest.raises(RecordError, match=r"record p.*a test cannot be read"):
        read_tests(problem(**meta))


def test_rows_of_known_data_sets_keep_their_tests(tmp_path):
    rows = [
        {"id": "1", "prompt": "a", **HUMAN_EVAL, "canonical_solution": "x"},
        {"id": "2", "question": "b", **APPS_CALL, "difficulty": "easy"},
        {"id": "3", "problem": "c", **MBPP, "meta": {"kept": 1}},
        {"id": "4", "problem": "d", "test": "validation", "tests": 3},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    first, second, third, fourth = read_problems(file, "stop").items
    assert [len(read_tests(p)) for p in (first, second, third)] == [3, 1, 2]
    assert third.meta["kept"] == 1
    assert fourth.meta == {}


def test_the_verifier_is_known_by_name_and_labels_a_file(tmp_path, capsys):
    from prm.cli import main

    cpython_engine(warm=0).close()
    rows = [
        {
            "id": str(k),
            "problem": f"p{k}",
            "tests": [{"call": "f(2)", "expected": 4}],
            "steps": ["Text.", fenced(code)],
        }
        for k, code in enumerate(
            ["def f(x):\n    return 2 * x", "def f(x):\n    return x", "import os\nos._exit(0)"]
        )
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    output = tmp_path / "out" / "labels.jsonl"
    assert main(["label", "--input", str(file), "--output", str(output), "--verifier", "code"]) == 0
    labelled = {row["id"]: row["verdicts"] for row in map(json.loads, output.read_text().splitlines())}
    assert labelled == {
        "0": ["UNDECIDED", "RIGHT"],
        "1": ["UNDECIDED", "WRONG"],
        "2": ["UNDECIDED", "WRONG"],
    }


ASKS_BACK = (
    "import fcntl, os\ndef f(x):\n    for fd in range(3, 200):\n        try:\n            flags = fcntl.fcntl(fd, fcntl.F_GETFL)\n"
    "        except OSError:\n            continue\n        if flags & 3 == 1:\n"
    '            os.write(fd, b\'{"remote":"f","data":[[],{"dict":[]}]}\\n\')\n    return 1'
)
EVEN = "class E:\n    def __eq__(self, o):\n        return True\n    def __len__(self):\n        return 2\ndef f(x):\n    return E()"


@pytest.mark.parametrize(
    ("code", "meta"),
    [
        (ASKS_BACK, {"test_list": ["assert len(f(1)) > 0"]}),
        (EVEN, {"tests": [{"call": "f(2) == 4", "expected": True}, {"call": "len(f(3))", "expected": 2}]}),
        ("def f(x):\n    raise StopIteration", {"test_list": ["assert all(map(f, [2, 3, 5]))"]}),
        ("def pow(a, b):\n    return 0", {"test_list": ["assert pow(2, 3) == 8"]}),
        ("def f(x):\n    return '__import__(\"sys\").exit()'", {"test_list": ["assert eval(f(2)) == 4"]}),
        ("def f(x):\n    return '('", {"test_list": ["import ast\nassert ast.literal_eval(f(2)) == 4"]}),
        (
            "def f(x):\n    return list(set(x))",
            {"test_list": ["assert f(['b', 'a', 'c', 'b', 'q', 'z']) == ['b', 'a', 'c', 'q', 'z']"]},
        ),
        ("def f(x):\n    return round(x, 2)", {"test_list": ["assert f(2.675) == 2.68"]}),
        ("def f(x: List[int]):\n    return x", {"test_list": ["assert f(1) == 1"]}),
        (
            "def g(x):\n    return 1",
            {
                "test": "def eq(a, b):\n    assert a == b\ndef check(candidate):\n    assert candidate(1) == 1\n    eq(candidate(2), 4)",
                "entry_point": "g",
            },
        ),
        (
            "def f(x):\n    return 0",
            {
                "unittest": "import unittest\nclass T(unittest.TestCase):\n    @unittest.expectedFailure\n    def test_x(self):\n        self.assertEqual(f(1), 0)"
            },
        ),
    ],
)
def test_wrong_code_that_once_passed_is_wrong(verifier, code, meta):
    grade = verifier.grade_tests(problem(**meta), code)
    assert grade.outcome is WRONG, grade
    assert grade.results[-1].outcome is WRONG


def test_helpers_of_the_tests_come_from_the_problem():
    verifier = CodeVerifier("cpython")
    asked = Problem(
        id="p",
        text="def poly(xs, x):\n    return sum(c * x**k for k, c in enumerate(xs))\n\ndef zero(xs):\n    '''Find it.'''\n",
        meta={
            "test": "def check(candidate):\n    assert abs(poly([-2, 1], candidate([-2, 1]))) < 1e-6",
            "entry_point": "zero",
        },
    )
    assert verifier.grade(asked, "def poly(xs, x):\n    return 0\ndef zero(xs):\n    return 0") is False
    assert verifier.grade(asked, "def zero(xs):\n    return -xs[0] / xs[1]") is True
    verifier.close()


@pytest.mark.parametrize(
    ("code", "meta"),
    [
        ("def sum(a, b):\n    return a - b", {"test_list": ["assert sum(10, 4) == 6"]}),
        (
            "class Solution:\n    def f(self, x):\n        return [x]",
            {"tests": [{"call": "Solution().f(2)", "expected": [2]}]},
        ),
        (
            "class E(ValueError):\n    pass\ndef f(x):\n    raise E(x)",
            {"tests": ["try:\n    f(1)\nexcept ValueError:\n    pass\nelse:\n    assert False"]},
        ),
        ("def f(x):\n    return [x]", {"input_output": {"fn_name": "f", "inputs": [[1]], "outputs": [[1]]}}),
        ("def f(x):\n    return x", {"input_output": {"fn_name": "f", "inputs": [[1]], "outputs": [[1]]}}),
        (
            "import threading\ndef main():\n    print(input())\nthreading.Thread(target=main).start()",
            {"tests": [{"stdin": "x", "stdout": "x"}]},
        ),
        ("import atexit\natexit.register(print, 'x')", {"tests": [{"stdin": "", "stdout": "x"}]}),
        ("print('x')\nexit()", {"tests": [{"stdin": "", "stdout": "x"}]}),
        ("```python\r\ndef f(x):\r\n    return x\r\n```\r\nDone.", {"test_list": ["assert f(1) == 1"]}),
        ("1. So:\n   ```python\n   def f(x):\n       return x\n   ```", {"test_list": ["assert f(1) == 1"]}),
        (
            "<think>\n```python\ndef f(\n```\n</think>\n```python\ndef f(x):\n    return x\n```",
            {"test_list": ["assert f(1) == 1"]},
        ),
    ],
)
def test_right_code_that_once_failed_is_right(verifier, code, meta):
    assert verifier.grade(problem(**meta), code) is True


def test_a_test_that_asks_nothing_says_nothing(verifier):
    grade = verifier.grade_tests(
        problem(tests=["assert True", "assert f(1) == 2"]), "def f(x):\n    return 1"
    )
    assert [r.outcome for r in grade.results] == [UNDECIDED, WRONG]
    assert grade.share == 0
    skipped = {
        "unittest": "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('')\n    def test_x(self):\n        f()"
    }
    with pytest.raises(NotGradedError):
        verifier.grade(problem(**skipped), "def f():\n    return 1")


def test_programs_share_one_time_for_all_tests(verifiers):
    tests = [{"stdin": "", "stdout": "x"}] * 20
    started = time.monotonic()
    grade = verifiers["cpython"].grade_tests(problem(tests=tests), "while True:\n    pass")
    assert time.monotonic() - started < 10
    assert {r.outcome for r in grade.results} == {WRONG}


def test_nested_sets_cost_the_parent_no_more_than_their_size(verifiers):
    code = (
        "def f(x):\n    s = (1,) * 100_000\n    for _ in range(60):\n        s = frozenset([s])\n    return s"
    )
    started = time.process_time()
    assert verifiers["cpython"].grade(problem(tests=[{"call": "f(1)", "expected": 1}]), code) is False
    assert time.process_time() - started < 2
