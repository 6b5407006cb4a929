"""Code blocks in a solution, and the program that a solution has written so far."""

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Language = Literal["python", "st"]

_FENCE = re.compile(r"^[ \t]*```[ \t]*([\w+#.-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.MULTILINE | re.DOTALL)
_LANGUAGES: dict[str, Language] = {
    "python": "python",
    "py": "python",
    "python3": "python",
    "st": "st",
    "iecst": "st",
    "iec": "st",
    "scl": "st",
    "pascal": "st",
    "structured-text": "st",
    "structured_text": "st",
    "structuredtext": "st",
    "iec61131": "st",
}
_STRUCTURED_TEXT = re.compile(
    r"\b(?:END_(?:IF|VAR|PROGRAM|CASE|FOR|FUNCTION_BLOCK)|PROGRAM)\b|:=", re.IGNORECASE
)


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    language: Language
    code: str


@dataclass(frozen=True)
class Program:
    """What can be run: a Python module, or one Structured Text program."""

    language: Language
    code: str


def blocks_of(text: str) -> list[Block]:
    """Return the code blocks of a text in order; blocks of other languages are left out."""
    found = []
    for match in _FENCE.finditer(text):
        label, code = match[1].lower(), match[2]
        language = _LANGUAGES.get(label)
        if not label:
            language = "st" if _STRUCTURED_TEXT.search(code) and "def " not in code else "python"
        if language is not None and code.strip():
            found.append(Block(language, code))
    return found


def program_of(blocks: Sequence[Block]) -> Program | None:
    """Return the program that blocks in this order make, None when they make none.

    Python blocks are one module, as if typed in one after another: a later `step` replaces an earlier one.
    A Structured Text block is a program by itself, and the last one counts. The language of the last block
    is the language of the program.
    """
    if not blocks:
        return None
    language = blocks[-1].language
    if language == "st":
        return Program("st", blocks[-1].code)
    code = "\n".join(block.code for block in blocks if block.language == "python")
    return Program("python", code) if _may_define_step(code) else None


def _may_define_step(code: str) -> bool:
    return re.search(r"\bstep\b", code) is not None


def names_in(program: Program, names: Sequence[str]) -> set[str]:
    """Return those of the names that the program seems to give a value.

    In Python these are the texts that stand in it (keys of the returned dict), in Structured Text the
    variables on the left of an assignment or behind `=>`.
    """
    if program.language == "st":
        assigned = re.findall(r"\b([A-Za-z_]\w*)\s*:=|=>\s*([A-Za-z_]\w*)", program.code)
        written = {name.lower() for pair in assigned for name in pair if name}
        return {name for name in names if name.lower() in written}
    try:
        tree = ast.parse(program.code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    keywords = {node.arg for node in ast.walk(tree) if isinstance(node, ast.keyword)}
    return {name for name in names if name in texts or name in keywords}
