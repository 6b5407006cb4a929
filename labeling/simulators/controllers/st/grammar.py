"""Parsing with the grammar of blark: the subset's rules, made fast, and the whole grammar to settle faults.

blark's grammar is read with an Earley parser, which takes about 8 ms a line. Here its rules for
declarations, statements and expressions are imported into a grammar for an LALR parser, a hundred times
faster, in which only those rules are replaced that are ambiguous without context (literals, calls,
declarations). What this parser cannot read goes to blark's own: what that one can read is a program
outside the subset, and what neither can is a syntax error.
"""

import functools
import importlib
import re
from typing import Any

from labeling.errors import MissingExtraError
from labeling.simulators.controllers.st.errors import StructuredTextError, UnsupportedTextError

MOST_CHARACTERS = 12_000
"""Longer programs are not read: a parser's time must have a bound."""
MOST_SETTLED = 1500
"""A longer statement that the fast parser cannot read is undecided; see `_around`."""
MOST_PARENTHESES = 25
"""Deeper expressions are not translated: each level takes a dozen of Python's thousand frames."""

_IMPORTED = (
    "program_declaration, function_block_type_declaration, statement_list, expression, constant, "
    "simple_spec_init, var_init_decl, _var_input_body_item, var1, case_list_element, symbolic_variable, "
    "variable_name, IDENTIFIER, function_call, param_assignment, program_var_declaration, "
    "fb_var_declaration, multi_element_variable, _statement, _case_element_statement, if_statement, "
    "else_if_clause, else_clause, case_statement, case_elements, case_element, case_list, "
    "case_element_statement_list, for_statement, while_statement, repeat_statement, "
    "function_call_statement, assignment_statement, exit_statement, return_statement, "
    "continue_statement, LOGICAL_NOT, ASSIGNMENT, assignment_expression, or_else_expression, "
    "and_then_expression, xor_expression, and_expression, comparison_expression, equality_expression, "
    "add_expression, expression_term, unary_expression, primary_expression, parenthesized_expression, "
    "input_declarations, output_declarations, var_declarations, variable_attributes, var_body, "
    "program_var_declarations, EQUALS_OP, COMPARE_OP, VAR_ATTRIB"
)

_GRAMMAR = rf"""
%import iec ({_IMPORTED})
%import common.WS
%ignore WS
COMMENT: /\(\*(.|\n)*?\*\)|\/\/[^\n]*|\{{[^}}]*\}}/
%ignore COMMENT

TIME_LITERAL.5: /(TIME|T)#-?[0-9][0-9_.]*(D|H|MS|M|S)(_?[0-9][0-9_.]*(D|H|MS|M|S))*/i
REAL_LITERAL.5: /(L?REAL#-?)?[0-9](_?[0-9])*(\.[0-9](_?[0-9])*(E[+-]?[0-9]+)?|E[+-]?[0-9]+)/i
INTEGER_LITERAL.4: /(U?[SDL]?INT#-?)?(2#[01](_?[01])*|8#[0-7](_?[0-7])*|(10#)?[0-9](_?[0-9])*)/i
                 | /(U?[SDL]?INT#-?)?16#[0-9A-F](_?[0-9A-F])*/i
BOOLEAN_LITERAL.5: /(BOOL#)?(TRUE|FALSE)\b|BOOL#[01]/i
CASE_NUMBER: /-?[0-9](_?[0-9])*/

%override EQUALS_OP.3: "<>" | "="
%override VAR_ATTRIB.3: /(RETAIN|NON_RETAIN|PERSISTENT|CONSTANT)\b/i
_ARROW.4: "=>"
%override COMPARE_OP.2: "<=" | ">=" | "<" | ">"
%override constant: TIME_LITERAL | REAL_LITERAL | INTEGER_LITERAL | BOOLEAN_LITERAL
%override expression: assignment_expression
%override primary_expression: parenthesized_expression | function_call | symbolic_variable | constant
%override variable_name: IDENTIFIER
%override multi_element_variable: variable_name "." variable_name
%override function_call: variable_name "(" [ param_assignment ( "," param_assignment )* ","? ] ")"
%override param_assignment: variable_name _ARROW symbolic_variable -> output_parameter_assignment
                          | variable_name ASSIGNMENT expression -> input_parameter_assignment
                          | expression
%override simple_spec_init: IDENTIFIER [ ":=" expression ]
%override var_init_decl: var1 ("," var1)* ":" simple_spec_init
%override _var_input_body_item: var_init_decl
%override var1: variable_name
%override assignment_statement: symbolic_variable ASSIGNMENT expression ";"+
%override case_list_element: CASE_NUMBER [".." CASE_NUMBER]
%override _statement: ";" | assignment_statement | function_call_statement | if_statement
                    | case_statement | for_statement | while_statement | repeat_statement
                    | exit_statement | return_statement | continue_statement
%override _case_element_statement: _statement
%override program_var_declaration: input_declarations | output_declarations | var_declarations
%override fb_var_declaration: input_declarations | output_declarations | var_declarations
"""

_STARTS = ("program_declaration", "function_block_type_declaration")
_UNITS = re.compile(
    r"\b(?<!END_)(PROGRAM|FUNCTION_BLOCK|FUNCTION|TYPE|INTERFACE|METHOD|PROPERTY|ACTION|CLASS|VAR_GLOBAL)\b",
    re.IGNORECASE,
)
_NOISE = re.compile(r"\(\*.*?\*\)|//[^\n]*|\{[^}]*\}", re.DOTALL)
_SECTION = re.compile(r"\bVAR(?:_[A-Z_]+)?\b.*?(?:\bEND_VAR\b|\Z)", re.IGNORECASE | re.DOTALL)
_LANDMARK = re.compile(
    r"\b(?:(END_(?:IF|CASE|FOR|WHILE|REPEAT))|(IF|CASE|FOR|WHILE|REPEAT)|END_(?:PROGRAM|FUNCTION_BLOCK))\b|;",
    re.IGNORECASE,
)


def parse(text: str) -> Any:
    """Return the tree of a PROGRAM or FUNCTION_BLOCK; bare declarations and statements are wrapped in one.

    Raises:
        StructuredTextError: The text is no program of the language.
        UnsupportedTextError: It is one that the subset leaves out, or longer than MOST_CHARACTERS.
        MissingExtraError: The grammar is not installed.
    """
    lark = _lark()
    bare = _bare(text)
    if len(bare) > MOST_CHARACTERS:
        raise UnsupportedTextError(f"unsupported: a program of more than {MOST_CHARACTERS} characters")
    if _paren_depth(bare) > MOST_PARENTHESES:
        raise UnsupportedTextError(f"unsupported: more than {MOST_PARENTHESES} parentheses in one another")
    units = [match[1].upper() for match in _UNITS.finditer(bare)]
    if len(units) > 1 or not {"PROGRAM", "FUNCTION_BLOCK"}.issuperset(units):
        raise UnsupportedTextError(f"unsupported: program units other than one PROGRAM ({', '.join(units)})")
    # On the first line: line numbers stay those of the text.
    whole = bare if units else f"PROGRAM control {bare}\nEND_PROGRAM"
    start = _STARTS[units == ["FUNCTION_BLOCK"]]
    try:
        return _fast_parser().parse(whole, start=start)
    except lark.exceptions.UnexpectedInput as error:
        at = error.pos_in_stream
    at = len(whole) if at is None or at < 0 else at
    line = whole.count("\n", 0, at) + 1
    quoted = repr(_line_of(bare, line))
    if _is_readable(*_around(whole, at)):
        raise UnsupportedTextError(f"unsupported: {quoted}", line)
    raise StructuredTextError(f"syntax error near {quoted}", line)


def _bare(text: str) -> str:
    """Take out comments and indentation; they cost a parser as much as code does. Line breaks stay."""
    without = _NOISE.sub(lambda match: "\n" * match[0].count("\n") or " ", text)
    return re.sub(r"[ \t\r]+", " ", without)


def _paren_depth(text: str) -> int:
    depth = deepest = 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        deepest = max(deepest, depth)
    return deepest


def _around(text: str, at: int) -> tuple[str, str]:
    """Return the section of declarations or the outermost statement around a place, and its rule.

    blark's own parser takes about 0.3 ms a character, so it gets no more than it needs.
    """
    end_of_declarations = 0
    for section in _SECTION.finditer(text):
        if at < section.end():
            return f"PROGRAM control {section[0]} END_PROGRAM", _STARTS[0]
        end_of_declarations = section.end()
    head = re.match(r"\s*\w+\s+\w+", text)
    begin, depth = end_of_declarations or (head.end() if head else 0), 0
    for mark in _LANDMARK.finditer(text, begin):
        if mark[1]:
            depth = max(0, depth - 1)
        elif mark[2]:
            depth += 1
        elif mark[0] != ";":
            return text[begin : mark.start()], "statement_list"
        elif not depth and mark.end() > at:
            return text[begin : mark.end()], "statement_list"
        elif not depth:
            begin = mark.end()
    return text[begin:], "statement_list"


def _is_readable(part: str, start: str) -> bool:
    if len(part) > MOST_SETTLED:
        # Nobody can tell in the time there is, and undecided is not wrong.
        return True
    try:
        _whole_parser().parse(part, start=start)
    except _lark().exceptions.UnexpectedInput:
        return False
    return True


def _line_of(text: str, line: int) -> str:
    lines = text.splitlines()
    return lines[min(line, len(lines)) - 1].strip()[:60] if lines else ""


def _lark() -> Any:
    return _module("lark")


def _module(name: str) -> Any:
    # By name: an optional extra is not there for whoever checks or runs the toolkit without it.
    try:
        importlib.import_module("blark")
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingExtraError(
            "Structured Text is read with the grammar of blark, which is not installed.",
            remedy="Install it: pip install 'prm-toolkit[st]'.",
        ) from error


@functools.cache
def _fast_parser() -> Any:
    return _lark().Lark(
        _GRAMMAR,
        parser="lalr",
        start=list(_STARTS),
        import_paths=[_module("lark.load_grammar").FromPackageLoader("blark")],
        maybe_placeholders=True,
        propagate_positions=True,
    )


@functools.cache
def _whole_parser() -> Any:
    return _module("blark.parse").new_parser(start=[_STARTS[0], "statement_list"])
