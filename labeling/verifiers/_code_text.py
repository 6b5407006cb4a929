"""The Python in the text of a solution: fenced blocks, or a text that is nothing but code."""

import ast
import re
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass

_FENCE = re.compile(
    r"^(?P<indent>[ \t]{0,12})(?P<mark>`{3,}|~{3,})[ \t]*(?P<language>[\w+#.-]{0,20})[^\n]*\n(?P<code>.*?)"
    r"(?:^[ \t]{0,12}(?P=mark)[`~]*[ \t]*\r?$|\Z)",
    re.MULTILINE | re.DOTALL,
)
_PYTHON = frozenset({"", "py", "python", "python3", "pycon", "ipython"})
_PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?")


@dataclass(frozen=True)
class Block:
    """A piece of code and where it stands in its text, in code points."""

    code: str
    start: int
    end: int


def code_blocks(text: str) -> list[Block]:
    """Return the fenced blocks of Python in a text; an open fence runs to the end."""
    blocks = (
        Block(
            _cleaned(match["code"], is_indented=bool(match["indent"])), match.start("code"), match.end("code")
        )
        for match in _FENCE.finditer(text)
        if match["language"].casefold() in _PYTHON
    )
    return [block for block in blocks if block.code.strip()]


def code_of_steps(steps: Sequence[str]) -> list[list[Block]]:
    """Return the blocks of each step; the steps themselves where no fence stands and all of it is Python."""
    fenced = [code_blocks(step) for step in steps]
    if any(fenced) or not is_code("\n".join(steps)):
        return fenced
    return [[Block(step, 0, len(step))] for step in steps]


def code_of_text(text: str) -> list[str]:
    """Return the blocks of a whole solution; the text itself where no fence stands and it is Python."""
    # What was tried while thinking is no answer.
    text = text.rpartition("</think>")[2]
    found = [block.code for block in code_blocks(text)]
    return found or ([text] if is_code(text) else [])


def is_code(text: str) -> bool:
    """Tell whether a text parses as Python and does something; a word or a number alone does not."""
    return any(
        not isinstance(node, ast.Expr) or isinstance(node.value, ast.Call) for node in parsed(text) or ()
    )


def parsed(code: str) -> list[ast.stmt] | None:
    """Return the statements of code, None when it is no Python."""
    try:
        return ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def _cleaned(code: str, *, is_indented: bool) -> str:
    """Take away the indent of a fence, and the signs of an interactive session with what it answered."""
    code = code.replace("\r\n", "\n").lstrip("\ufeff")
    # Indented code in a fence that is not may be the inside of a function, and stays so.
    code = textwrap.dedent(code) if is_indented else code
    lines = code.splitlines()
    if not lines or not lines[0].lstrip().startswith(">>>"):
        return code
    return "\n".join(_PROMPT.sub("", line) for line in lines if _PROMPT.match(line))
