"""SQLite's errors in remem's terms: one table, by SQLite's primary result code.

Python raises a class of sqlite3.Error for each; the code that it carries tells more than the class, so the table
goes by code (https://sqlite.org/rescode.html). A test proves that every code is in it. Errors that Python's own
module raises carry no code and mean a refused write.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping

from memory_core.errors import LedgerDamaged, LedgerError, LedgerFailed

_BUG = "nothing was kept; please report this"
_RETRY = "nothing was kept; it may be tried again"

TABLE: Mapping[int, tuple[type[LedgerError], str]] = {
    sqlite3.SQLITE_CORRUPT: (LedgerDamaged, "its content is damaged; restart remem, which sets the file aside"),
    sqlite3.SQLITE_NOTADB: (LedgerDamaged, "the file is no database; restart remem, which sets the file aside"),
    sqlite3.SQLITE_FORMAT: (LedgerDamaged, "the file has an unknown form; restart remem, which sets the file aside"),
    sqlite3.SQLITE_FULL: (LedgerFailed, "the disk is full; free some space, nothing was kept"),
    sqlite3.SQLITE_IOERR: (LedgerFailed, "the disk reported an error; check it, nothing was kept"),
    sqlite3.SQLITE_READONLY: (LedgerFailed, "the file may not be written; check its owner and permissions"),
    sqlite3.SQLITE_CANTOPEN: (LedgerFailed, "the file cannot be opened; check its folder, owner and permissions"),
    sqlite3.SQLITE_PERM: (LedgerFailed, "access was refused; check owner and permissions"),
    sqlite3.SQLITE_AUTH: (LedgerFailed, "access was refused; check owner and permissions"),
    sqlite3.SQLITE_BUSY: (LedgerFailed, f"another process holds it; end that one, {_RETRY}"),
    sqlite3.SQLITE_LOCKED: (LedgerFailed, f"it is locked; {_RETRY}"),
    sqlite3.SQLITE_PROTOCOL: (LedgerFailed, f"another process holds it; {_RETRY}"),
    sqlite3.SQLITE_NOMEM: (LedgerFailed, f"memory ran out; {_RETRY}"),
    sqlite3.SQLITE_TOOBIG: (LedgerFailed, "a text is larger than SQLite takes; nothing was kept"),
    sqlite3.SQLITE_INTERRUPT: (LedgerFailed, f"it was interrupted; {_RETRY}"),
    sqlite3.SQLITE_ABORT: (LedgerFailed, f"it was rolled back; {_RETRY}"),
    sqlite3.SQLITE_NOLFS: (LedgerFailed, "this machine cannot hold files so large; nothing was kept"),
    sqlite3.SQLITE_SCHEMA: (LedgerFailed, f"its schema changed meanwhile; {_RETRY}"),
    sqlite3.SQLITE_CONSTRAINT: (LedgerFailed, _BUG),
    sqlite3.SQLITE_MISMATCH: (LedgerFailed, _BUG),
    sqlite3.SQLITE_MISUSE: (LedgerFailed, _BUG),
    sqlite3.SQLITE_RANGE: (LedgerFailed, _BUG),
    sqlite3.SQLITE_ERROR: (LedgerFailed, _BUG),
    sqlite3.SQLITE_INTERNAL: (LedgerFailed, _BUG),
    sqlite3.SQLITE_NOTFOUND: (LedgerFailed, _BUG),
    sqlite3.SQLITE_EMPTY: (LedgerFailed, _BUG),
    sqlite3.SQLITE_NOTICE: (LedgerFailed, _BUG),
    sqlite3.SQLITE_WARNING: (LedgerFailed, _BUG),
}


def translated(error: Exception) -> LedgerError:
    """The error to raise for `error` (of sqlite3, or of the system). It never repeats bound values."""
    if isinstance(error, LedgerError):
        return type(error)(*error.args)
    if isinstance(error, OSError):
        return LedgerFailed(
            f"The ledger could not work ({error.strerror or type(error).__name__}): check its folder."
        )
    if isinstance(error, UnicodeError):
        return LedgerFailed("The ledger could not keep a key that is no text; nothing was kept.")
    code = getattr(error, "sqlite_errorcode", None)
    if not isinstance(code, int):
        return LedgerFailed(f"The ledger could not work ({type(error).__name__}): {_BUG}.")
    kind, sentence = TABLE.get(code & 0xFF, (LedgerFailed, _BUG))
    name = getattr(error, "sqlite_errorname", "") or code
    return kind(f"The ledger could not work ({name}): {sentence}.")
