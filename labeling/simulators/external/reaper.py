"""Ends the processes of a pool when the program that started them is gone, however it went.

Reads "+NUMBER" and "-NUMBER", one a line, from standard input; at its end, kills the process groups that are
left. A program of its own, without imports of this package: it outlives a SIGKILL of its parent, and starts
at once.
"""

import contextlib
import os
import signal
import sys


def main() -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        number = int(line[1:])
        if line[0] == "+":
            groups.add(number)
        else:
            groups.discard(number)
    for number in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(number, signal.SIGKILL)


if __name__ == "__main__":
    main()
