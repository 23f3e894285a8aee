"""The open ledger file: statements, transactions, and making sure that emptied text is gone.

One thread owns it (memory_core.ledger.worker). Every statement passes through `run`, where tests may let it fail
(`faults`) and watch it with its bound values (`trace`).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from memory_core.errors import LedgerFailed

Trace: TypeAlias = Callable[[str | None, str], None]
"""Hears every statement as SQLite ran it, values in place, after the key of the scope whose ledger ran it (None:
intake, timers, transaction control). Called in the ledger's thread."""

Faults: TypeAlias = Callable[[str], None]
"""Hears every statement before it runs, values not in place; what it raises, the statement raises."""

Bound: TypeAlias = int | str | None
Row: TypeAlias = tuple[Any, ...]  # what a column holds is known to the statement alone

OPENING_NAME = 16
"""The characters of an opening's name, as `Disk.token` makes them."""
BUSY_MS = 5000
"""How long a statement waits for another process."""

_PURGE_WAIT_MS = 50
"""A truncation waits less: it can be made up for, and everyone else waits behind it."""

_COMPACT_FROM = 20_000
"""Emptied texts from which on the file is rebuilt, if they are also the larger part: at most one row in two is
waste, and each row is rewritten a bounded number of times."""

_REBUILD_DUE = 1

_EMPTY = "UPDATE texts SET text = CAST(zeroblob(length(CAST(text AS BLOB))) AS TEXT), emptied = 1 WHERE scope = ?"


def _identity(path: Path | None) -> tuple[int, int] | None:
    """Which file stands at the path; None where there is none. Raises OSError where it cannot be told."""
    if path is None:
        return None
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def no_faults(statement: str) -> None:
    """Let every statement run."""


class Database:
    """One connection, in autocommit mode, with explicit transactions."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        trace: Trace | None = None,
        faults: Faults = no_faults,
        path: Path | None = None,
        opening: str = "",
    ) -> None:
        if len(opening) not in (0, OPENING_NAME):
            raise ValueError(f"The name of an opening has {OPENING_NAME} characters; {opening!r} has {len(opening)}.")
        self._connection = connection
        self._faults = faults
        self._path = path
        self._file = _identity(path)
        self.scope: str | None = None
        """On whose behalf statements run now, for the trace."""
        self.opening = opening
        """Tells what this connection wrote from what any other did (memory_core.ledger.transcript); one that only
        reads needs none."""
        self.purge_due = True
        """Text was emptied, maybe before the last start, that may still stand in the write-ahead log."""
        if trace is not None:
            connection.set_trace_callback(lambda statement: trace(self.scope, statement))

    def run(self, statement: str, values: Sequence[Bound] = ()) -> sqlite3.Cursor:
        """Run one statement; the cursor tells `rowcount` and `lastrowid`. Raises sqlite3.Error."""
        self._faults(statement)
        return self._connection.execute(statement, values)

    def rows(self, statement: str, values: Sequence[Bound] = ()) -> list[Row]:
        """All rows of a query. Raises sqlite3.Error."""
        return self.run(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Bound] = ()) -> Row | None:
        """The first row of a query, or None. Raises sqlite3.Error."""
        rows = self.rows(statement, values)
        return rows[0] if rows else None

    def insert(self, statement: str, values: Sequence[Bound]) -> int:
        """Run an INSERT and give the new row's id. Raises sqlite3.Error."""
        return self.run(statement, values).lastrowid or 0

    def must_stand(self) -> None:
        """Raise LedgerFailed if the file is no longer the one that was opened: SQLite would go on writing into a
        file without a name, and all of it would be gone with the process.
        """
        if _identity(self._path) != self._file:
            raise LedgerFailed(
                f"The ledger {self._path} was removed or replaced while it was open; stop remem, put the file back "
                "and start it again. Nothing was kept."
            )

    @property
    def in_transaction(self) -> bool:
        """Is a transaction open? A full disk ends one by itself."""
        return self._connection.in_transaction

    def abandon(self) -> None:
        """End the transaction, if one is open, without keeping anything. Raises sqlite3.Error."""
        if self.in_transaction:
            self._connection.execute("ROLLBACK")

    def put_text(self, scope: str, text: str) -> int:
        """Keep a text; its id. Raises sqlite3.Error."""
        return self.insert("INSERT INTO texts (scope, text, emptied) VALUES (?, ?, 0)", (scope, text))

    def empty_texts(self, scope: str, which: str, values: Sequence[Bound]) -> None:
        """Overwrite texts of one scope in place, those of the condition `which`; their bytes are gone after the next
        `purge`. Raises sqlite3.Error.
        """
        emptied = self.run(f"{_EMPTY} AND {which}", (scope, *values))
        self.purge_due = self.purge_due or emptied.rowcount > 0

    def purge(self) -> str:
        """Truncate the write-ahead log, where emptied text still stands. What kept it from that, or nothing.

        A reader in another process (a backup, `remem status`) may hold it; then it stays due.
        """
        try:
            self.run(f"PRAGMA busy_timeout = {_PURGE_WAIT_MS}")
            try:
                row = self.row("PRAGMA wal_checkpoint(TRUNCATE)")
            finally:
                self.run(f"PRAGMA busy_timeout = {BUSY_MS}")
        except sqlite3.Error as error:
            return getattr(error, "sqlite_errorname", "") or type(error).__name__
        if row is None or row[0] != 0:
            return "another process is reading it"
        self.purge_due = False
        return ""

    def compact(self, least: int = _COMPACT_FROM) -> bool:
        """Give emptied rows back to the file system if they are many; did it? A failure leaves the file as it is.

        Deleting moves rows about and leaves copies of them behind; only the rebuilt file is free of them. A rebuild
        that is due is noted in the file's application id, so that it is made up for after a failure.
        """
        try:
            if not (self._rebuild_due() or self._is_mostly_emptied(least)):
                return False
            self.run("BEGIN IMMEDIATE")
            self.run("DELETE FROM texts WHERE emptied = 1")
            self.run(f"PRAGMA application_id = {_REBUILD_DUE}")
            self.run("COMMIT")
            self.run("VACUUM")
            self.run("PRAGMA application_id = 0")
        except sqlite3.Error:
            self.abandon()
            return False
        return not self.purge()

    def _rebuild_due(self) -> bool:
        return bool(self.rows("PRAGMA application_id")[0][0] == _REBUILD_DUE)

    def _is_mostly_emptied(self, least: int) -> bool:
        emptied = int(self.rows("SELECT count(*) FROM texts WHERE emptied = 1")[0][0])
        return emptied >= least and emptied * 2 >= int(self.rows("SELECT count(*) FROM texts")[0][0])

    def close(self) -> None:
        """Close the file. Raises sqlite3.Error."""
        self._connection.close()
