"""Replies by the content of their requests: in memory, and in a file when one is named."""

import json
import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Any

from labeling.errors import StoreError

SECONDS_FOR_LOCK = 30.0


class ReplyCache:
    """Keeps results, which are JSON data; any thread may ask, and any process where it is a file.

    Args:
        most: Replies kept in memory; the least recently used goes first. 0 keeps none.
        file: A file that outlives the process; None: memory alone.

    Raises:
        StoreError: The file cannot be opened, or is none of ours.
    """

    def __init__(self, *, most: int, file: Path | None = None) -> None:
        self._most = most
        self._memory: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()
        self._file = file
        self._database = None if file is None else _opened(file)

    def get(self, key: str) -> Any:
        """Return what is kept under a key, None when nothing is; null is not kept."""
        with self._lock:
            text = self._memory.get(key)
            if text is not None:
                self._memory.move_to_end(key)
            elif self._database is not None:
                try:
                    row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
                    text = None if row is None else row[0]
                    json.loads("null" if text is None else text)
                except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:
                    raise _unusable(self._file, error) from error
                if text is not None:
                    self._keep(key, text)
        return None if text is None else json.loads(text)

    def put(self, key: str, result: Any) -> None:
        """Keep a result."""
        text = json.dumps(result)
        with self._lock:
            self._keep(key, text)
            if self._database is None:
                return
            try:
                with self._database:
                    self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, text))
            except sqlite3.Error as error:
                raise _unusable(self._file, error) from error

    def close(self) -> None:
        """Close the file; memory stays."""
        with self._lock:
            if self._database is not None:
                self._database.close()
                self._database = None

    def _keep(self, key: str, reply: str) -> None:
        self._memory[key] = reply
        self._memory.move_to_end(key)
        while len(self._memory) > self._most:
            self._memory.popitem(last=False)


def _opened(file: Path) -> sqlite3.Connection:
    database = None
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(file, timeout=SECONDS_FOR_LOCK, check_same_thread=False)
        # Several processes write: none waits for another one's reading.
        database.execute("PRAGMA journal_mode=WAL")
        with database:
            database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    except (sqlite3.Error, OSError) as error:
        if database is not None:
            database.close()
        raise _unusable(file, error) from error
    return database


def _unusable(file: Path | None, error: Exception) -> StoreError:
    return StoreError(
        f"the cache of a simulator cannot be used ({error}).",
        remedy="Name another file as its cache, or remove this one.",
        file=file,
    )
