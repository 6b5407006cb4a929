"""JSON Lines out, in one piece or not at all."""

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from labeling.report import plain


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write rows through a temporary file in the same folder: readers never see half a file.

    Returns:
        The path.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Opened by name, not with mkstemp, whose files only their owner may read.
    temporary = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        with temporary.open("w", encoding="utf-8") as file:
            for row in rows:
                file.write(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n")
        os.replace(temporary, target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return target
