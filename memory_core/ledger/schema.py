"""The tables of the ledger file.

    events          one row an event, by its platform identity: what was seen once is never taken again
    known           one row a message key, kept after its text went: whose it is, its place, did it come, did it go
    messages        one row a message that still has its text; `seq` is the order of arrival, never used twice
    texts           every text that a person wrote (see below)
    early_edits     edits whose message did not come yet
    conversations   per scope and conversation: the flush's cursor, the newest message, the newest that was heard
    scopes          what a scope key means; the newest seq that arrived in it, how often a text of it was revised, and
                    by which openings of the file, each with the state that it found
    rooms           what is known of a room beyond its name
    plans           open plans, and each scope's last closed one
    hits, written, changes   what the next flush takes account of, by a growing number
    timers          what is due when
    usage           per scope, day, purpose and model: what runs of models cost; numbers, no text
    usage_reports   per scope and model its last runs: the provider's count of tokens beside ours

Times are microseconds since 1970 in UTC.

Deleted text must leave no byte. `secure_delete` zeroes what a deletion frees, but when rows move between pages SQLite
leaves copies behind in unallocated space, which nothing zeroes any more (measured: 1 in 1,000 deleted texts was
found again). So texts stand in a table of their own whose rows never move: they are only appended, and emptied by
overwriting them in place with as many zero bytes (`text` and `emptied` keep their size). What is emptied is given
back by compaction (memory_core.ledger.database), which rebuilds the whole file. The write-ahead log is truncated
after every emptying.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE events (event TEXT PRIMARY KEY, seq INTEGER) WITHOUT ROWID",
        """CREATE TABLE known (
            message TEXT PRIMARY KEY, scope TEXT NOT NULL, seq INTEGER, posted INTEGER NOT NULL, gone INTEGER NOT NULL
        ) WITHOUT ROWID""",
        """CREATE TABLE texts (
            id INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, text TEXT NOT NULL, emptied INTEGER NOT NULL
        )""",
        "CREATE INDEX texts_emptied ON texts (emptied) WHERE emptied = 1",
        """CREATE TABLE messages (
            seq INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, room TEXT NOT NULL, thread TEXT NOT NULL,
            message TEXT NOT NULL, author TEXT NOT NULL, author_name TEXT NOT NULL, text_id INTEGER NOT NULL,
            sent_us INTEGER NOT NULL, voice TEXT NOT NULL, room_title TEXT NOT NULL, addressed INTEGER NOT NULL,
            reply_to TEXT, edited_us INTEGER, owed INTEGER NOT NULL
        )""",
        "CREATE INDEX messages_place ON messages (scope, room, thread)",
        "CREATE INDEX messages_owed ON messages (owed) WHERE owed = 1",
        """CREATE TABLE early_edits (
            message TEXT PRIMARY KEY, text_id INTEGER NOT NULL, edited_us INTEGER NOT NULL, seen_us INTEGER NOT NULL
        ) WITHOUT ROWID""",
        "CREATE INDEX early_edits_seen ON early_edits (seen_us)",
        """CREATE TABLE conversations (
            scope TEXT NOT NULL, room TEXT NOT NULL, thread TEXT NOT NULL, cursor INTEGER NOT NULL,
            newest INTEGER NOT NULL, PRIMARY KEY (scope, room, thread)
        ) WITHOUT ROWID""",
        "CREATE INDEX conversations_unflushed ON conversations (scope) WHERE newest > cursor",
        "CREATE TABLE scopes (scope TEXT PRIMARY KEY, owner INTEGER NOT NULL) WITHOUT ROWID",
        """CREATE TABLE rooms (
            room TEXT PRIMARY KEY, recorded INTEGER NOT NULL, stopped INTEGER NOT NULL, greeted_us INTEGER,
            purpose_question TEXT
        ) WITHOUT ROWID""",
        """CREATE TABLE plans (
            place INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,
            text_id INTEGER NOT NULL, cursors TEXT NOT NULL, closed INTEGER NOT NULL, hit INTEGER NOT NULL,
            mark INTEGER NOT NULL, change INTEGER NOT NULL, UNIQUE (scope, id)
        )""",
        "CREATE INDEX plans_open ON plans (scope) WHERE closed = 0",
        """CREATE TABLE hits (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, page TEXT NOT NULL, record TEXT NOT NULL,
            at_us INTEGER NOT NULL
        )""",
        "CREATE INDEX hits_scope ON hits (scope)",
        """CREATE TABLE written (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, message TEXT NOT NULL, page TEXT NOT NULL,
            record TEXT NOT NULL, UNIQUE (scope, message)
        )""",
        """CREATE TABLE changes (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, message TEXT NOT NULL,
            deleted INTEGER NOT NULL, UNIQUE (scope, message)
        )""",
        "CREATE TABLE timers (key TEXT PRIMARY KEY, due_us INTEGER NOT NULL, about TEXT NOT NULL) WITHOUT ROWID",
        "CREATE INDEX timers_due ON timers (due_us, key)",
    ),
    (
        # What the bot says is in the ledger before what was said meanwhile: only others' words tell where we stand.
        "ALTER TABLE conversations ADD COLUMN heard TEXT",
        """UPDATE conversations SET heard = (SELECT m.message FROM messages m
            WHERE m.scope = conversations.scope AND m.room = conversations.room AND m.thread = conversations.thread
                AND m.voice <> 'self' ORDER BY m.seq DESC LIMIT 1)""",
        "CREATE INDEX conversations_room ON conversations (room, thread)",
    ),
    (
        """CREATE TABLE usage (
            scope TEXT NOT NULL, day TEXT NOT NULL, purpose TEXT NOT NULL, model TEXT NOT NULL, runs INTEGER NOT NULL,
            requests INTEGER NOT NULL, tool_calls INTEGER NOT NULL, input_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cost_micro_usd INTEGER NOT NULL,
            unpriced_runs INTEGER NOT NULL, PRIMARY KEY (scope, day, purpose, model)
        ) WITHOUT ROWID""",
        """CREATE TABLE usage_reports (
            number INTEGER PRIMARY KEY AUTOINCREMENT, scope TEXT NOT NULL, model TEXT NOT NULL,
            counted_tokens INTEGER NOT NULL, input_tokens INTEGER NOT NULL
        )""",
        "CREATE INDEX usage_reports_model ON usage_reports (scope, model)",
    ),
    (
        # What is written at once can be taken back: how, and after which plan it was written.
        "ALTER TABLE written ADD COLUMN after_plan TEXT",
        "ALTER TABLE written ADD COLUMN text_id INTEGER",
    ),
    (
        # What is derived from a transcript (the search index) asks whether it still is what it was made from.
        "ALTER TABLE scopes ADD COLUMN arrived INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE scopes ADD COLUMN revised INTEGER NOT NULL DEFAULT 0",
        """UPDATE scopes SET arrived = coalesce(
            (SELECT max(newest) FROM conversations c WHERE c.scope = scopes.scope), 0)""",
    ),
    (
        # Servers that report no usage: their runs are counted by our own estimate, and marked.
        "ALTER TABLE usage ADD COLUMN estimated_runs INTEGER NOT NULL DEFAULT 0",
    ),
    (
        # A ledger that was replaced by another (a backup, one begun anew) is told from the one that was there by each
        # opening with the state in which it found the scope, since a backup may be made while one goes on writing.
        "ALTER TABLE scopes ADD COLUMN openings TEXT NOT NULL DEFAULT ''",
    ),
)
"""What each version of the schema adds to the one before; a version is never changed once it was released."""

VERSION = len(MIGRATIONS)
"""The version that this program writes (`PRAGMA user_version`)."""
