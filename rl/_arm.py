"""A training run next to others, in a process that ends with the one that started it: `python -m rl._arm`."""

import os
import sys
import threading

STANDARD_INPUT = 0


def _end_with_parent() -> None:
    """End this process when its parent is gone, also by a kill: nobody would wait for the run, or stop it.

    Standard input is a pipe that the parent never writes to; the system closes its other end with the
    parent. What was being written then is torn, as by a kill, and the next run goes on before it.
    """
    os.read(STANDARD_INPUT, 1)
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_parent, daemon=True).start()
    from prm.cli import main

    sys.exit(main())
