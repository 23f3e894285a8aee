"""A look at the ledger from another process: per scope its conversations, what waits, its timers, what models cost.

For commands that take no lock and change nothing (read only): no file is made beside the ledger where nobody has it
open, and no text of a message is read. What it shows is a moment of a running program, whole in itself. Blocking.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from pathlib import Path
from urllib.parse import quote

from memory_core.errors import LedgerFailed
from memory_core.ids import Conversation, MessageKey, RoomKey, Scope, scope_of_key
from memory_core.ledger.database import BUSY_MS, Database
from memory_core.ledger.failures import translated
from memory_core.ledger.rows import moment_of, spent_in, spent_of
from memory_core.ledger.schema import VERSION
from memory_core.ledger.timers import Timer
from memory_core.ledger.usage import Spent
from memory_core.messages import Voice


@dataclass(frozen=True, slots=True)
class Waits:
    """A conversation: how many messages of persons are not saved yet, and when the newest one was sent."""

    conversation: Conversation
    messages: int
    newest_at: datetime | None


@dataclass(frozen=True, slots=True)
class Look:
    """One scope. `changed`: messages that were edited or deleted since its last flush; `open_plans`: begun ones."""

    scope: Scope
    conversations: tuple[Waits, ...] = ()
    timers: tuple[Timer, ...] = field(default=())
    changed: int = 0
    open_plans: int = 0

    @property
    def messages(self) -> int:
        """How many messages of persons are not saved yet."""
        return sum(one.messages for one in self.conversations)


_CONVERSATIONS = """SELECT c.scope, c.room, c.thread,
    (SELECT count(*) FROM messages m WHERE m.scope = c.scope AND m.room = c.room AND m.thread = c.thread
        AND m.seq > c.cursor AND m.voice = ?),
    (SELECT max(m.sent_us) FROM messages m WHERE m.scope = c.scope AND m.room = c.room AND m.thread = c.thread)
    FROM conversations c ORDER BY c.scope, c.room, c.thread"""


_KNOWN = "SELECT 1 FROM known WHERE message = ? AND posted = 1"
_SCOPES = "SELECT scope, owner FROM scopes ORDER BY scope"
_USAGE = "SELECT scope, {spent} WHERE day >= ? ORDER BY scope, day, purpose, model"


def look_at(path: Path) -> tuple[Look, ...]:
    """Every scope that the ledger at `path` knows, by its key; none where there is no ledger.

    Raises LedgerDamaged, LedgerFailed.
    """
    if not path.exists():
        return ()
    with _open(path) as database:
        return _looks(database)


def usage_at(path: Path, since: date) -> Mapping[Scope, tuple[Spent, ...]]:
    """What models cost each scope on `since` and after, by day, purpose and model; scopes by their key, without those
    that had no model. Nothing where there is no ledger, or one of a remem that knew no models.

    Raises LedgerDamaged, LedgerFailed.
    """
    if not path.exists():
        return {}
    with _open(path) as database:
        spent = spent_in(database)
        if spent is None:
            return {}
        meant = {key: scope_of_key(key, owner=bool(owner)) for key, owner in database.rows(_SCOPES)}
        found: dict[Scope, list[Spent]] = {}
        for key, *row in database.rows(_USAGE.format(spent=spent), (since.isoformat(),)):
            scope = meant[key] if key in meant else scope_of_key(key)
            found.setdefault(scope, []).append(spent_of(tuple(row)))
        return {scope: tuple(spent) for scope, spent in found.items()}


def known_at(path: Path, messages: Iterable[MessageKey]) -> int:
    """How many of these messages the ledger at `path` knows, with or without their text; 0 where there is no ledger.

    `messages` is gone through to its end in any case: whoever counts them while they come by may rely on that.
    Raises LedgerDamaged, LedgerFailed.
    """
    if not path.exists():
        for _ in messages:
            pass
        return 0
    with _open(path) as database:
        return sum(database.row(_KNOWN, (message,)) is not None for message in messages)


@contextmanager
def _open(path: Path) -> Iterator[Database]:
    # Without a log nobody has the file open, and it can be read without laying -wal and -shm beside it.
    unopened = "" if path.with_name(f"{path.name}-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{unopened}"
    try:
        with closing(sqlite3.connect(uri, uri=True, timeout=BUSY_MS / 1000, isolation_level=None)) as connection:
            database = Database(connection)
            database.run("BEGIN")
            version = int(database.rows("PRAGMA user_version")[0][0])
            if not 0 < version <= VERSION:
                raise LedgerFailed(
                    f"The ledger {path} is of another version of remem (schema {version}); update remem."
                )
            yield database
    except sqlite3.Error as error:
        raise translated(error) from error


def _looks(database: Database) -> tuple[Look, ...]:
    found = {key: Look(scope_of_key(key, owner=bool(owner))) for key, owner in database.rows(_SCOPES)}
    for key, room, thread, messages, newest_us in database.rows(_CONVERSATIONS, (Voice.PERSON,)):
        if key in found:
            newest = moment_of(newest_us) if newest_us is not None else None
            waits = Waits(Conversation(RoomKey(room), thread), messages, newest)
            found[key] = replace(found[key], conversations=(*found[key].conversations, waits))
    for name, due_us, about in database.rows("SELECT key, due_us, about FROM timers ORDER BY due_us, key"):
        if (key := _scope_in(about)) in found:
            timer = Timer(name, moment_of(due_us), about)
            found[key] = replace(found[key], timers=(*found[key].timers, timer))
    for key, changed in database.rows("SELECT scope, count(*) FROM changes GROUP BY scope"):
        if key in found:
            found[key] = replace(found[key], changed=changed)
    for key, plans in database.rows("SELECT scope, count(*) FROM plans WHERE closed = 0 GROUP BY scope"):
        if key in found:
            found[key] = replace(found[key], open_plans=plans)
    return tuple(found.values())


def _scope_in(about: str) -> str:
    """The key of the scope that a timer belongs to; '' where it tells none."""
    try:
        told = json.loads(about)
    except ValueError:
        return ""
    return str(told.get("scope", "")) if isinstance(told, dict) else ""
