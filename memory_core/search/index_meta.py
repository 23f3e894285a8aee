"""What a search index says of itself, and that it stays so while it is read (search/index_file.py). Blocking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Moved(Exception):
    """The index is of another version than it was asked for."""


@contextmanager
def one_moment(held: sqlite3.Connection) -> Iterator[None]:
    """What is read in the block is of one moment."""
    held.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            held.execute("ROLLBACK")


def require(held: sqlite3.Connection, version: str | None) -> None:
    if version is not None and meta(held, "version") != version:
        raise Moved


def meta(held: sqlite3.Connection, name: str) -> str:
    row = held.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row is not None else ""


def keep(held: sqlite3.Connection, name: str, value: str) -> None:
    held.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))
