"""Structured Text: semantics by cases worked out by hand, and what is refused."""

import pytest
from controllers_engine import ToySession
from hypothesis import given, settings
from hypothesis import strategies as st

from labeling.simulators.controllers.families import FAMILIES
from labeling.simulators.controllers.st import (
    StructuredTextError,
    UnsupportedTextError,
    compile_program,
    grammar,
)

CYCLE = 100


def stepped(text, inputs, outputs, rows):
    """Run a program written here on rows of inputs; one tuple of outputs a row."""
    session = ToySession()
    code = compile_program(text, inputs=inputs, outputs=outputs, cycle_ms=CYCLE)
    assert session.execute(code).status == "value"
    step, state = session.names["step"], {}
    found = []
    for row in rows:
        values = dict(zip(inputs, row, strict=True))
        found.append(tuple(step(values, state)[name] for name in outputs))
    return found


def bits(text):
    return [(sign == "1",) for sign in text]


def signal(text, given):
    """Outputs of one BOOL output for a string of one BOOL input, as a string."""
    rows = stepped(text, {"i": "BOOL"}, {"o": "BOOL"}, bits(given))
    return "".join(str(int(value)) for (value,) in rows)


def value_of(expression, kind="DINT", **variables):
    """Value of an expression in which a, b are INT and x is REAL."""
    inputs = dict.fromkeys(variables, "INT")
    text = f"VAR x : REAL; r : {kind}; END_VAR\nr := {expression};\no := r;"
    return stepped(text, inputs, {"o": "INT"}, [tuple(variables.values())])[0][0]


@pytest.mark.parametrize(
    ("block", "given", "expected"),
    [
        # PT is 300 ms, a cycle 100 ms: begun in cycle k, over in cycle k + 3.
        ("TON", "01111100", "00001100"),
        ("TON", "01110111", "00000000"),
        ("TON", "0111101111", "0000100001"),
        ("TOF", "0110000000", "0111110000"),
        ("TOF", "0110010000", "0111111110"),
        ("TOF", "00000", "00000"),
        ("TP", "0100000", "0111000"),
        ("TP", "0111111", "0111000"),
        ("TP", "0101010100", "0111011100"),
    ],
)
def test_timers(block, given, expected):
    text = f"VAR t : {block}; END_VAR\nt(IN := i, PT := T#300ms);\no := t.Q;"
    assert signal(text, given) == expected


def test_a_timer_tells_its_elapsed_time_up_to_its_preset():
    text = "VAR t : TON; END_VAR\nt(IN := i, PT := T#250ms);\no := TIME_TO_INT(t.ET);"
    assert stepped(text, {"i": "BOOL"}, {"o": "INT"}, bits("011111")) == [
        (0,),
        (0,),
        (100,),
        (200,),
        (250,),
        (250,),
    ]


def test_a_pulse_keeps_its_elapsed_time_as_long_as_its_input_is_on():
    text = "VAR t : TP; END_VAR\nt(IN := i, PT := T#200ms);\no := TIME_TO_INT(t.ET);"
    found = stepped(text, {"i": "BOOL"}, {"o": "INT"}, bits("0111101"))
    assert found == [(0,), (0,), (100,), (200,), (200,), (0,), (0,)]


def test_a_timer_called_twice_or_not_at_all_in_a_cycle_keeps_time():
    twice = "VAR t : TON; END_VAR\nt(IN := i, PT := T#300ms);\nt(IN := i);\no := t.Q;"
    assert signal(twice, "111111") == "000111"
    rarely = "VAR t : TON; END_VAR\nIF i THEN t(IN := TRUE, PT := T#300ms); END_IF\no := t.Q;"
    assert signal(rarely, "100001") == "000001"


@pytest.mark.parametrize(
    ("block", "given", "expected"),
    [("R_TRIG", "011010", "010010"), ("R_TRIG", "110", "100"), ("F_TRIG", "110100", "001010")],
)
def test_edges(block, given, expected):
    assert signal(f"VAR e : {block}; END_VAR\ne(CLK := i);\no := e.Q;", given) == expected


def test_a_falling_edge_at_the_first_call_is_as_in_the_standard():
    assert signal("VAR e : F_TRIG; END_VAR\ne(CLK := i);\no := e.Q;", "000") == "100"


def test_counters():
    up = "VAR c : CTU; END_VAR\nc(CU := u, R := r, PV := 2);\no := c.CV;\nq := c.Q;"
    rows = [(True, False), (True, False), (False, False), (True, False), (False, True), (True, True)]
    assert stepped(up, {"u": "BOOL", "r": "BOOL"}, {"o": "INT", "q": "BOOL"}, rows) == [
        (1, False), (1, False), (1, False), (2, True), (0, False), (0, False),
    ]  # fmt: skip
    down = "VAR c : CTD; END_VAR\nc(CD := d, LD := l, PV := 2);\no := c.CV;\nq := c.Q;"
    rows = [(False, True), (True, False), (False, False), (True, False), (True, False)]
    assert stepped(down, {"d": "BOOL", "l": "BOOL"}, {"o": "INT", "q": "BOOL"}, rows) == [
        (2, False), (1, False), (1, False), (0, True), (0, True),
    ]  # fmt: skip
    both = "VAR c : CTUD; END_VAR\nc(CU := u, CD := d, PV := 1);\no := c.CV;\nq := c.QU;"
    rows = [(True, True), (False, False), (True, False), (False, True)]
    assert stepped(both, {"u": "BOOL", "d": "BOOL"}, {"o": "INT", "q": "BOOL"}, rows) == [
        (0, False), (0, False), (1, True), (0, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("call", "both"), [("SR(S1 := s, RESET := r", True), ("RS(SET := s, R1 := r", False)]
)
def test_latches_differ_when_both_inputs_are_on(call, both):
    kind, _, arguments = call.partition("(")
    text = f"VAR l : {kind}; END_VAR\nl({arguments});\no := l.Q1;"
    rows = [(True, False), (False, False), (False, True), (False, False), (True, True)]
    found = stepped(text, {"s": "BOOL", "r": "BOOL"}, {"o": "BOOL"}, rows)
    assert found == [(True,), (True,), (False,), (False,), (both,)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("2 + 3 * 4", 14),
        ("(2 + 3) * 4", 20),
        ("10 - 3 - 2", 5),
        ("7 / 2", 3),
        ("-7 / 2", -3),
        ("7 / -2", -3),
        ("-7 MOD 2", -1),
        ("7 MOD -2", 1),
        ("7 MOD 0", 0),
        ("16#FF", 255),
        ("2#1010_0001", 161),
        ("8#17", 15),
        ("1_000", 1000),
        ("INT#5", 5),
        ("MAX(3, 9, 4)", 9),
        ("MIN(3, 9, 4)", 3),
        ("LIMIT(0, 12, 10)", 10),
        ("ABS(-4)", 4),
        ("SEL(TRUE, 1, 2)", 2),
        ("REAL_TO_INT(2.5)", 2),
        ("REAL_TO_INT(3.5)", 4),
        ("REAL_TO_INT(-1.2)", -1),
        ("BOOL_TO_INT(TRUE)", 1),
        ("TIME_TO_INT(T#1s500ms + T#20ms)", 1520),
        ("TIME_TO_INT(2 * T#1.5s)", 3000),
        ("TIME_TO_DINT(TIME#1m_2s) / 100", 620),
        ("REAL_TO_INT(7 / 2.0 * 2)", 7),
    ],
)
def test_arithmetic(expression, expected):
    assert value_of(expression) == expected


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    [
        ("SINT", "127 + 1", -128),
        ("INT", "32767 + 1", -32768),
        ("USINT", "255 + 2", 1),
        ("UINT", "0 - 1", 65535 - 65536),
        ("SINT", "-128 - 1", 127),
        ("DINT", "32767 + 1", -32768),  # kept by the DINT, wrapped by the INT output
    ],
)
def test_an_integer_wraps_around_where_it_is_stored(kind, value, expected):
    assert value_of(value, kind=kind) == expected


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("a OR b AND NOT c", "a or (b and not c)"),
        ("a XOR b OR c", "(a ^ b) or c"),
        ("a = b AND c", "(a == b) and c"),
        ("NOT a = b", "(not a) == b"),
        ("a AND_THEN b OR_ELSE c", "(a and b) or c"),
        ("(a OR b) AND c", "(a or b) and c"),
        ("a <> b XOR c", "(a != b) ^ c"),
        ("a & b", None),
    ],
)
def test_precedence_of_logic(condition, expected):
    inputs = {"a": "BOOL", "b": "BOOL", "c": "BOOL"}
    rows = [(bool(i & 4), bool(i & 2), bool(i & 1)) for i in range(8)]
    if expected is None:
        with pytest.raises(StructuredTextError):
            stepped(f"o := {condition};", inputs, {"o": "BOOL"}, rows)
        return
    wanted = [(bool(eval(expected, dict(zip("abc", row, strict=True)))),) for row in rows]
    assert stepped(f"o := {condition};", inputs, {"o": "BOOL"}, rows) == wanted


OPERATORS = {"+": 4, "-": 4, "*": 5, "<": 3, ">=": 3, "=": 2, "<>": 2, "AND": 1.5, "XOR": 1.2, "OR": 1}
PYTHON = {"=": "==", "<>": "!=", "AND": "&", "XOR": "^", "OR": "|"}


def trees(kind):
    """Random expressions as (text, how tightly its last operator binds, the same in Python)."""
    if kind == "INT":
        leaf = st.sampled_from("ab").map(lambda n: (n, 9, n)) | st.integers(0, 9).map(
            lambda n: (str(n), 9, str(n))
        )
        return st.recursive(leaf, lambda inner: _joined(inner, inner, ["+", "-", "*"]), max_leaves=6)
    compared = _joined(trees("INT"), trees("INT"), ["<", ">=", "=", "<>"])
    negated = compared.map(lambda x: (f"NOT ({x[0]})", 8, f"(not {x[2]})"))
    return st.recursive(
        compared | negated, lambda x: _joined(x, x, ["AND", "OR", "XOR", "=", "<>"]), max_leaves=6
    )


def _joined(left, right, operators):
    def join(left, operator, right):
        binding = OPERATORS[operator]
        texts = [
            f"({text})" if bound < binding or (side and bound == binding) else text
            for side, (text, bound, _) in enumerate((left, right))
        ]
        python = f"({left[2]} {PYTHON.get(operator, operator)} {right[2]})"
        return f"{texts[0]} {operator} {texts[1]}", binding, python

    return st.builds(join, left, st.sampled_from(operators), right)


@settings(max_examples=150, deadline=None)
@given(trees("BOOL"), st.integers(-9, 9), st.integers(-9, 9))
def test_expressions_without_needless_parentheses_mean_what_their_trees_mean(tree, a, b):
    text, _, python = tree
    found = stepped(f"o := {text};", {"a": "INT", "b": "INT"}, {"o": "BOOL"}, [(a, b)])
    assert found == [(bool(eval(python, {"a": a, "b": b})),)]


def test_precedence_of_comparison_and_sum():
    inputs, outputs = {"a": "INT", "b": "INT"}, {"o": "BOOL"}
    rows = [(1, 2), (2, 1), (3, 3), (-1, 0)]
    found = stepped("o := a + 1 < b * 2 OR a >= b;", inputs, outputs, rows)
    assert found == [(a + 1 < b * 2 or a >= b,) for a, b in rows]


def test_if_case_and_loops():
    text = """
    VAR n, k : INT; END_VAR
    n := 0;
    CASE a OF
        0: n := 10;
        1, 2: n := 20; n := n + 1;
        3..5, 9: n := 30;
        -2: n := 40;
    ELSE
        n := 50;
    END_CASE
    FOR k := 1 TO 4 DO
        IF k = 2 THEN CONTINUE; END_IF
        n := n + 100;
        IF k = 3 THEN EXIT; END_IF
    END_FOR
    WHILE n > 1000 DO n := 0; END_WHILE
    REPEAT n := n + 1; UNTIL n MOD 10 = 0 END_REPEAT
    o := n;
    """
    # Of k = 1..4 the second is passed over and the fourth never comes: 200 is added, then up to a ten.
    expected = {0: 220, 1: 230, 2: 230, 3: 240, 5: 240, 6: 260, 9: 240, -2: 250}
    found = stepped(text, {"a": "INT"}, {"o": "INT"}, [(a,) for a in expected])
    assert dict(zip(expected, (o for (o,) in found), strict=True)) == expected


def test_for_counts_down_and_does_nothing_when_it_is_done_before_it_begins():
    text = "VAR k : INT; END_VAR\no := 0;\nFOR k := 5 TO a BY -2 DO o := o * 10 + k; END_FOR"
    assert stepped(text, {"a": "INT"}, {"o": "INT"}, [(1,), (2,), (6,)]) == [(531,), (53,), (0,)]


def test_return_leaves_the_cycle_and_outputs_keep_their_value():
    assert signal("IF i THEN RETURN; END_IF\no := NOT o;", "00110") == "10001"


def test_names_have_no_case_and_declarations_may_stand_anywhere():
    text = """
    PROGRAM Main
    VAR_INPUT I : BOOL; END_VAR
    VAR_OUTPUT o : BOOL; END_VAR
    VAR CONSTANT limit : INT := 2; END_VAR
    VAR count, unused : INT := 1; END_VAR
    (* a comment (with parentheses; and a semicolon *)
    IF i THEN Count := COUNT + 1; END_IF; // to the end of the line
    O := count > LIMIT;
    END_PROGRAM
    """
    assert signal(text, "0101") == "0001"


def test_inputs_and_outputs_of_blocks_by_name():
    text = "VAR t : TON; q : BOOL; END_VAR\nt.PT := T#100ms;\nt(IN := i, Q => q);\no := q;"
    assert signal(text, "0110") == "0010"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("o := ;", "syntax error near 'o := ;' at line 1"),
        ("o := i;\nIF i THEN o := i;", "syntax error"),
        ("o := i;\n\nEND_IF", "syntax error near 'END_IF' at line 3"),
        ("o := i", "syntax error"),
        ("if i: o = True", "syntax error"),
        ("VAR n : INT END_VAR o := i;", "syntax error"),
        ("o := i;\no := missing;", "missing is not declared at line 2"),
        ("missing := i;", "missing is not declared at line 1"),
        ("i := TRUE;", "i is a constant or an input"),
        ("o := 1;", "a integer is assigned to a BOOL"),
        ("VAR n : INT; END_VAR n := 1.5;", "a LREAL is assigned to a INT"),
        ("VAR n : INT; END_VAR n := T#1s;", "a TIME is assigned to a INT"),
        ("VAR n : INT; END_VAR IF n THEN o := i; END_IF", "the condition of IF is INT"),
        ("VAR n : INT; END_VAR o := n;", "a INT is assigned to a BOOL"),
        ("VAR n : INT; END_VAR o := n AND_THEN i;", "unsupported: AND_THEN of integers"),
        ("VAR n, n : INT; END_VAR o := i;", "n is declared twice"),
        ("VAR t : TON; END_VAR o := t.Z;", "a TON has no member Z"),
        ("VAR t : TON; END_VAR t.Q := i;", "is an output"),
        ("VAR t : TON; END_VAR o := t;", "is a function block, not a value"),
        ("VAR t : TON; END_VAR t(Q := i);", "on the wrong side"),
        ("VAR n : SINT := SINT#200; END_VAR o := i;", "outside the range of SINT"),
        ("VAR o : INT; END_VAR o := 1;", "the problem says BOOL"),
        ("VAR d : TIME := T#5ms3s; END_VAR o := i;", "no duration"),
    ],
)
def test_what_is_no_program_is_told_with_its_line(text, fault):
    with pytest.raises(StructuredTextError, match=r"line|says") as caught:
        compile_program(text, inputs={"i": "BOOL"}, outputs={"o": "BOOL"}, cycle_ms=CYCLE)
    assert fault in str(caught.value)
    assert isinstance(caught.value, UnsupportedTextError) == fault.startswith("unsupported")


@pytest.mark.parametrize(
    "text",
    [
        "VAR a : ARRAY[1..3] OF INT; END_VAR\no := i;",
        "o := i;\nx[1] := 3;",
        "p^ := 1;",
        "VAR s : STRING; END_VAR o := i;",
        "VAR b : BYTE; END_VAR o := i;",
        "o S= i;",
        "o := i = 'a';",
        "FUNCTION f : INT\nf := 1;\nEND_FUNCTION",
        "PROGRAM a\nEND_PROGRAM\nPROGRAM b\nEND_PROGRAM",
        "TYPE t : INT; END_TYPE\nPROGRAM a\no := i;\nEND_PROGRAM",
        "VAR n : INT; END_VAR n := SQRT(4);",
        "VAR n, m : INT; END_VAR n := n AND m;",
        "VAR t : TON; END_VAR t(i, T#1s);",
        "VAR t : TONR; END_VAR o := i;",
        "o := " + "(" * 60 + "i" + ")" * 60 + ";",
        "o := " + " AND ".join(["i"] * 80) + ";",
        "IF i THEN " * 40 + "o := i;" + " END_IF" * 40,
        "o := i;\n" * 2000,
    ],
)
def test_what_the_subset_leaves_out_is_undecided(text):
    with pytest.raises(UnsupportedTextError, match=r"unsupported: .+"):
        compile_program(text, inputs={"i": "BOOL"}, outputs={"o": "BOOL"}, cycle_ms=CYCLE)


@pytest.mark.parametrize(
    "loop", ["WHILE TRUE DO o := i; END_WHILE", "FOR n := 0 TO 30000 DO o := i; END_FOR"]
)
def test_a_loop_without_end_meets_the_watchdog(loop):
    with pytest.raises(RuntimeError, match="watchdog"):
        signal(f"VAR n : DINT; END_VAR\n{loop}", "1")


def test_a_division_by_zero_is_a_fault_of_the_run():
    with pytest.raises(ZeroDivisionError):
        stepped("o := 1 / a;", {"a": "INT"}, {"o": "INT"}, [(0,)])


@pytest.mark.parametrize("name", ["start-stop", "two-hand-press", "batch-sequence"])
def test_what_the_fast_parser_reads_the_whole_grammar_reads_too(name):
    text = FAMILIES[name].structured_text.replace("${", "{").replace("$", "").replace("#{", "#1")
    text = text.replace("}", "").replace("mix_msms", "ms").replace("1mix_ms", "1")
    grammar.parse(text)
    grammar._whole_parser().parse(text, start="program_declaration")


def test_compiled_programs_import_nothing():
    code = compile_program("o := i;", inputs={"i": "BOOL"}, outputs={"o": "BOOL"}, cycle_ms=CYCLE)
    assert "import " not in code.split("def _begin")[1]
    assert not [line for line in code.splitlines() if line.startswith(("import ", "from "))]
