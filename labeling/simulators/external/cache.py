"""Replies by the content of their requests: in memory, and in a file when one is named."""

import sqlite3
import threading
from collections import OrderedDict
from pathlib import Path

from labeling.errors import StoreError

SECONDS_FOR_LOCK = 30.0


class ReplyCache:
    """Keeps replies as JSON text; any thread may ask, and any process where it is a file.

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

    def get(self, key: str) -> str | None:
        """Return what is kept under a key, None when nothing is."""
        with self._lock:
            if (found := self._memory.get(key)) is not None:
                self._memory.move_to_end(key)
                return found
            if self._database is None:
                return None
            try:
                row = self._database.execute("SELECT reply FROM replies WHERE key = ?", (key,)).fetchone()
            except sqlite3.Error as error:
                raise _unusable(self._file, error) from error
            if row is None:
                return None
            self._keep(key, row[0])
            return row[0]

    def put(self, key: str, reply: str) -> None:
        """Keep a reply."""
        with self._lock:
            self._keep(key, reply)
            if self._database is None:
                return
            try:
                with self._database:
                    self._database.execute("INSERT OR REPLACE INTO replies VALUES (?, ?)", (key, reply))
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
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        database = sqlite3.connect(file, timeout=SECONDS_FOR_LOCK, check_same_thread=False)
        # Several processes write: none waits for another one's reading.
        database.execute("PRAGMA journal_mode=WAL")
        with database:
            database.execute("CREATE TABLE IF NOT EXISTS replies (key TEXT PRIMARY KEY, reply TEXT NOT NULL)")
    except (sqlite3.Error, OSError) as error:
        raise _unusable(file, error) from error
    return database


def _unusable(file: Path | None, error: Exception) -> StoreError:
    return StoreError(
        f"the cache of a simulator cannot be used ({error}).",
        remedy="Name another file as its cache, or remove this one.",
        file=file,
    )
