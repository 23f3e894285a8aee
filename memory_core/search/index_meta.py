"""What a search index says of itself, and that it stays so while it is read (search/index_file.py). Blocking."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Moved(Exception):
    """The index is of another version than it was asked for."""


@contextmanager
def one_moment(connection: sqlite3.Connection) -> Iterator[None]:
    """What is read in the block is of one moment."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")


def require(connection: sqlite3.Connection, version: str | None) -> None:
    """Raise Moved where the index is of another version; None: any will do."""
    if version is not None and meta(connection, "version") != version:
        raise Moved


def meta(connection: sqlite3.Connection, name: str) -> str:
    """What is kept under a name; '' for nothing."""
    row = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row is not None else ""


def keep(connection: sqlite3.Connection, name: str, value: str) -> None:
    """Keep a value under a name."""
    connection.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))
