"""Opening the ledger file: made, checked, set aside.

    no file, nothing set aside   → a new ledger, made under another name and renamed when it is whole
    no file, one set aside       → LedgerDamaged, until the caller says `begin_anew`
    a file that fails its check  → set aside under a dated name with its -wal and -shm, LedgerDamaged
    a link, a newer remem's file → LedgerFailed, untouched
    a file of an older remem     → brought up to date in one transaction
    else                         → opened

Losing the ledger in silence would mean answering old messages again and forgetting what waits for a flush, so a
person decides. The check runs on a connection that cannot write: the damaged file and its log stay as they are.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from memory_core.errors import LedgerDamaged, LedgerFailed
from memory_core.ledger.database import BUSY_MS, Database, Faults, Trace, no_faults
from memory_core.ledger.failures import translated
from memory_core.ledger.log_check import fault_in_log
from memory_core.ledger.rows import unreadable
from memory_core.ledger.schema import MIGRATIONS, VERSION
from memory_core.ledger.values import utc
from memory_core.store.disk import Disk

_PRAGMAS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA secure_delete = ON",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA trusted_schema = OFF",
)


def open_database(
    path: Path,
    now: datetime,
    *,
    begin_anew: bool = False,
    trace: Trace | None = None,
    faults: Faults = no_faults,
    disk: Disk | None = None,
) -> Database:
    """The ledger at `path`, whose folder exists. Blocks. Raises LedgerDamaged, LedgerFailed (see above)."""
    disk = disk or Disk()
    try:
        if os.path.lexists(path):
            _check(path, now, disk)
        else:
            _refuse_silent_start(path, now, begin_anew, disk)
            _make(path, faults, disk)
        database = _connect(path, trace, faults, disk.token())
        _migrate(database)
    except (sqlite3.Error, OSError) as error:
        raise translated(error) from error
    database.purge()
    database.compact()
    return database


def _connect(path: Path, trace: Trace | None = None, faults: Faults = no_faults, opening: str = "") -> Database:
    connection = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None)
    database = Database(connection, trace, faults, path, opening)
    for pragma in _PRAGMAS:
        database.run(pragma)
    return database


def _version(database: Database) -> int:
    return int(database.rows("PRAGMA user_version")[0][0])


def _migrate(database: Database) -> None:
    version = _version(database)
    if version == VERSION:
        return
    database.run("BEGIN IMMEDIATE")
    for statement in (statement for step in MIGRATIONS[version:] for statement in step):
        database.run(statement)
    database.run(f"PRAGMA user_version = {VERSION}")
    database.run("COMMIT")


def _make(path: Path, faults: Faults, disk: Disk) -> None:
    """A new ledger appears whole or not at all: an empty file at `path` is always damage."""
    draft = path.with_name(f"{path.name}.new")
    with _folder_of(path, disk) as folder:
        for left_over in _files(draft):
            with suppress(FileNotFoundError):
                disk.unlink(left_over.name, folder)
        disk.close(disk.create_file(draft.name, folder))
        database = _connect(draft, faults=faults)
        try:
            _migrate(database)
        finally:
            database.close()
        disk.rename(draft.name, path.name, folder)
        disk.sync_folder(folder)


@contextmanager
def _folder_of(path: Path, disk: Disk) -> Iterator[int]:
    folder = disk.open_root(path.parent)
    try:
        yield folder
    finally:
        disk.close(folder)


def _check(path: Path, now: datetime, disk: Disk) -> None:
    fault = fault_in(path)
    if fault:
        aside = _set_aside(path, now, disk)
        raise LedgerDamaged(
            f"The ledger {path} is damaged ({fault}) and was set aside as {aside.name}; put a backup in its place, "
            "or begin anew: what was not flushed yet is then only in the file set aside."
        )


def fault_in(path: Path) -> str:
    """What is wrong with the file, in few words; empty for a sound one. Raises LedgerFailed for a newer schema."""
    if path.is_symlink():  # its log would be looked for beside the file that it leads to
        raise LedgerFailed(f"The ledger {path} is a symbolic link, which is never followed; put the real file there.")
    if path.stat().st_size == 0:
        return "the file is empty"
    if fault := fault_in_log(path):
        return fault
    # Without a log nobody has the file open, and it can be read without laying -wal and -shm beside it.
    unopened = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{unopened}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000, isolation_level=None)) as connection:
            database = Database(connection)
            version = _version(database)
            findings = database.rows("PRAGMA integrity_check(1)")
            sound = findings == [("ok",)] and 0 < version <= VERSION
            strange = (_another_schema(database, version) or unreadable(database)) if sound else ""
    except sqlite3.Error as error:
        problem = translated(error)
        if isinstance(problem, LedgerDamaged):
            return getattr(error, "sqlite_errorname", "") or "not readable"
        raise problem from error
    if version > VERSION:
        raise LedgerFailed(
            f"The ledger {path} was written by a newer remem (schema {version}, this one knows {VERSION}); "
            "update remem. The file was not touched."
        )
    if version == 0:
        return "it has no schema of remem"
    return strange if findings == [("ok",)] else "its check failed"


def _another_schema(database: Database, version: int) -> str:
    """Are its tables not those of the version that it names?"""
    with closing(sqlite3.connect(":memory:")) as connection:
        expected = Database(connection)
        for statement in (statement for step in MIGRATIONS[:version] for statement in step):
            expected.run(statement)
        question = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name"
        return "" if database.rows(question) == expected.rows(question) else "its tables are others"


def _files(path: Path) -> tuple[Path, ...]:
    return tuple(path.with_name(f"{path.name}{suffix}") for suffix in ("", "-wal", "-shm"))


def _set_aside(path: Path, now: datetime, disk: Disk) -> Path:
    stamp = utc(now).strftime("%Y-%m-%dT%H%M%SZ")
    name, again = f"{path.name}.damaged-{stamp}", 2
    while any(os.path.lexists(taken) for taken in _files(path.with_name(name))):
        name, again = f"{path.name}.damaged-{stamp}-{again}", again + 1
    aside = path.with_name(name)
    with _folder_of(path, disk) as folder:
        for source, target in zip(_files(path), _files(aside), strict=True):
            if os.path.lexists(source):
                disk.rename(source.name, target.name, folder)
    return aside


def _refuse_silent_start(path: Path, now: datetime, begin_anew: bool, disk: Disk) -> None:
    if any(os.path.lexists(rest) for rest in _files(path)):  # a log without its file would be taken into the new one
        _set_aside(path, now, disk)
    aside = sorted(found.name for found in path.parent.glob(f"{path.name}.damaged-*"))
    if aside and not begin_anew:
        raise LedgerDamaged(
            f"The ledger {path} is missing and {aside[-1]} was set aside; put a backup in its place, or begin anew: "
            "what was not flushed yet is then only in the file set aside."
        )
