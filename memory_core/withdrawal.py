"""What a message said leaves memory when the message does: deleted on its platform, or taken back by its author.

A record, task or journal line that came from that message alone goes; one with other sources stays without it. This
has no inverse: undo must not bring deleted text back.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from memory_core import attention, journal, tasks
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS, Form, Table
from memory_core.operations import Operation
from memory_core.operations.attention import DropRow, DropTask
from memory_core.operations.journal import DropNotes
from memory_core.operations.records import DropRecord, LowerRecord
from memory_core.records import parse


def withdraw(key: MessageKey, texts: Mapping[PageId, str], table: Table, at: datetime) -> list[Operation]:
    """The operations that take out what came from message `key`, for pages with these texts."""
    found: list[Operation] = []
    for page, text in texts.items():
        if key not in text:
            continue
        match table.rule(page).form:
            case Form.NEWEST_FIRST | Form.ADDED:
                found += _records(key, page, text)
            case Form.JOURNAL:
                notes = tuple(note for note in journal.parse(text).notes if set(note.keys) == {key})
                found += [DropNotes(page, notes)] if notes else []
            case _ if page == TASKS:
                found += _tasks(key, text, texts, table, at)
    return found


def _records(key: MessageKey, page: PageId, text: str) -> list[Operation]:
    found: list[Operation] = []
    for placed in parse(text).records:
        record = placed.record
        if key not in record.messages:
            continue
        if set(record.messages) == {key}:
            found.append(DropRecord(page, record.identity))
        else:
            found.append(LowerRecord(page, record.identity, record.hit_count, record.last_referenced, (key,)))
    return found


def _tasks(key: MessageKey, text: str, texts: Mapping[PageId, str], table: Table, at: datetime) -> list[Operation]:
    page = next((rule.page for rule in table.rules if rule.form is Form.ATTENTION), None)
    found: list[Operation] = []
    for task in tasks.parse(text).tasks:
        if task.source.endswith(f", {key}"):
            found.append(DropTask(TASKS, task.id, at))
            if page and attention.parse(texts.get(page, "")).row(task.title):
                found.append(DropRow(page, task.title))
    return found
