"""An append-only file of labelled rows: one writer, resume by id, a torn tail never glued to.

Beside `NAME.jsonl` lies `NAME.jsonl.run.json`, the fingerprint of the run that owns it: settings and
the hash of the input. A run with another fingerprint is refused instead of mixing two kinds of label.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from labeling.errors import RecordError, StoreError
from labeling.report import plain, write_json


class LabelStore:
    """Invariant: every line before the end of the file is a complete JSON object with its own id."""

    def __init__(
        self, path: str | Path, fingerprint: Mapping[str, Any], *, is_overwriting: bool = False
    ) -> None:
        """Open or create the store; see `StoreError` for when it refuses.

        Args:
            path: The JSON Lines file.
            fingerprint: What determines the rows: settings and input hash, JSON-serialisable.
            is_overwriting: Start anew even when the file belongs to another run. What it holds stays
                until the first row comes, or the `with` block ends without any.

        Raises:
            StoreError: Another process writes it, it belongs to another run, or a line is damaged.
        """
        self.path = Path(path)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.done: set[str] = set()
        """Ids of the rows that the file holds."""
        self.torn_bytes = 0
        """Bytes of a half-written last line that were cut when the store was opened."""
        self._fingerprint = plain(dict(fingerprint))
        self._is_replacing = is_overwriting
        if self.path.exists() and not self.path.is_file():
            # A folder cannot be opened, and a device such as /dev/full would be read without end.
            raise StoreError("is not a file.", remedy="Give the path of a file.", file=self.path)
        self._file = self.path.open("a+b")
        try:
            self._lock()
            if not is_overwriting:
                self._claim()
                self._recover()
        except BaseException:
            self._file.close()
            raise

    def append(self, row: Mapping[str, Any]) -> None:
        """Append one row; its id must be new.

        Raises:
            StoreError: The id is missing or already stored.
            RecordError: The row holds text that is not Unicode; nothing is written.
        """
        row_id = str(row.get("id") or "")
        if not row_id or row_id in self.done:
            what = f"id {row_id} is already stored." if row_id else "a row without id cannot be stored."
            raise StoreError(what, remedy="Give every record an id of its own.", file=self.path)
        try:
            line = (json.dumps(plain(row), ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")
        except (ValueError, RecursionError) as error:
            raise RecordError(
                f"cannot be written as JSON in UTF-8 ({error}).",
                remedy="Mend what made its text: half a surrogate pair is no Unicode.",
                record_id=row_id,
            ) from error
        self._replace()
        self._file.write(line)
        self._file.flush()
        self.done.add(row_id)

    def close(self) -> None:
        """Flush to disk and release the lock."""
        if not self._file.closed:
            self._file.flush()
            os.fsync(self._file.fileno())
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> None:
        if kind is None:
            self._replace()
        elif not self.done and self._file.seek(0, os.SEEK_END) == 0:
            # A run that failed before its first row leaves nothing behind.
            self.path.unlink(missing_ok=True)
            self.fingerprint_path.unlink(missing_ok=True)
        self.close()

    @property
    def fingerprint_path(self) -> Path:
        """Where the owning run's fingerprint stands."""
        return fingerprint_path(self.path)

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise StoreError(
                "another run is writing this file.",
                remedy="Wait for it, or use another output.",
                file=self.path,
            ) from error

    def _replace(self) -> None:
        """Begin anew, once, when the store is overwriting: only now is something there to replace it."""
        if self._is_replacing:
            self._is_replacing = False
            self._file.truncate(0)
            write_json(self.fingerprint_path, self._fingerprint)

    def _claim(self) -> None:
        held = self._file.seek(0, os.SEEK_END)
        if self.fingerprint_path.is_file():
            try:
                owner = json.loads(self.fingerprint_path.read_text(encoding="utf-8"))
            except (ValueError, RecursionError):
                owner = {}
            owner = owner if isinstance(owner, dict) else {}
            ours = self._fingerprint
            differing = sorted(k for k in {*owner, *ours} if owner.get(k) != ours.get(k))
            if held and differing:
                raise StoreError(
                    f"holds rows of another run, with another {', '.join(differing)}.",
                    remedy="Use another output, or --overwrite to start anew.",
                    file=self.path,
                )
        elif held:
            raise StoreError(
                "exists and was not written by this stage.",
                remedy="Use another output, or --overwrite to replace it.",
                file=self.path,
            )
        write_json(self.fingerprint_path, self._fingerprint)

    def _recover(self) -> None:
        self._file.seek(0)
        complete = 0
        for number, line in enumerate(self._file, 1):
            row_id = _complete_id(line)
            if row_id is None:
                if line.endswith(b"\n"):
                    raise StoreError(
                        "this line is damaged.",
                        remedy="Remove it and run again.",
                        file=self.path,
                        line=number,
                    )
                self.torn_bytes = len(line)
                self._file.truncate(complete)
                break
            complete += len(line)
            self.done.add(row_id)
            if not line.endswith(b"\n"):
                self._file.seek(0, os.SEEK_END)
                self._file.write(b"\n")
                self._file.flush()
        self._file.seek(0, os.SEEK_END)


def fingerprint_path(path: Path) -> Path:
    """Return where the fingerprint of the run that owns a file stands."""
    return path.with_name(path.name + ".run.json")


def hash_file(path: str | Path) -> str:
    """Return the SHA-256 of a file as hexadecimal text."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _complete_id(line: bytes) -> str | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not row.get("id"):
        return None
    return str(row["id"])
