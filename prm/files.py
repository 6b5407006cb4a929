"""JSON Lines out, in one piece or not at all."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from labeling.files import written_whole
from labeling.report import plain


def write_jsonl(path: str | Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    """Write one row a line, in one piece; return the path."""
    with written_whole(path) as file:
        for row in rows:
            file.write(json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n")
    return Path(path)
