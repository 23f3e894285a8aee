"""The least that keeps and finds text, without a program around it: what benches hold remem against.

One append to a file with fsync, and one insert into SQLite's FTS5 that is committed as durably as the ledger commits
(write-ahead log, synchronous FULL). Blocking.
"""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path

_WORD = re.compile(r"\w+")


class Bare:
    """A text file and an FTS5 table in `folder`. `durable` False: as an index that could be built again."""

    def __init__(self, folder: Path, *, durable: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._file = os.open(folder / "bare.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._base = sqlite3.connect(folder / "bare.db", isolation_level=None)
        self._base.execute("PRAGMA journal_mode = WAL")
        self._base.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
        self._base.execute("CREATE VIRTUAL TABLE kept USING fts5 (text)")

    def fill(self, texts: Iterable[str]) -> None:
        """Keep many in one go."""
        texts = tuple(texts)
        os.write(self._file, "".join(f"{text}\n" for text in texts).encode())
        os.fsync(self._file)
        self._base.execute("BEGIN")
        self._base.executemany("INSERT INTO kept VALUES (?)", [(text,) for text in texts])
        self._base.execute("COMMIT")

    def add(self, text: str) -> None:
        """Keep one, durably, and let it be found."""
        os.write(self._file, f"{text}\n".encode())
        os.fsync(self._file)
        self._base.execute("INSERT INTO kept VALUES (?)", (text,))

    def search(self, words: str, limit: int = 10) -> Sequence[str]:
        """The best matches, any word, by FTS5's own rank."""
        asked = " OR ".join(f'"{word}"' for word in _WORD.findall(words))
        rows = self._base.execute("SELECT text FROM kept WHERE kept MATCH ? ORDER BY rank LIMIT ?", (asked, limit))
        return [row[0] for row in rows]

    def close(self) -> None:
        """Close both."""
        self._base.close()
        os.close(self._file)
