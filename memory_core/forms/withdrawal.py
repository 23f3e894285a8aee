"""What a message said leaves memory when the message does: deleted or edited on its platform, or taken back.

    record              came from it alone: goes; has other sources: stays without it
    superseded record   its struck line, and the copy of it in the record that took its place, go
    journal line, blocker, fact of the environment, day's point         as records, by the keys of their marks
    task                goes with its row when the message stated it

Pure: texts in, texts out. Messages are known by their keys, and a task's row by the hash of its title, so that no
plan has to hold what it takes out.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from dataclasses import replace
from datetime import datetime

from memory_core.forms import daily, journal, tasks
from memory_core.forms.blocks import lines_of, newline_of
from memory_core.forms.board import BOARDS, TaskRow, board
from memory_core.forms.escape import unescape_comment
from memory_core.forms.marks import unmarked, without_key
from memory_core.forms.records import Record, on_page, parse, remove
from memory_core.forms.records import replace as replace_record
from memory_core.forms.sections import WITH_RECORDS
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS, Form, Table


def without_message(
    text: str, form: Form, key: MessageKey, at: datetime, *, rows: Collection[str] = (), kept: Collection[str] = ()
) -> str:
    """A page of that form without what came from the message; the arguments as in operations.messages.Withdraw."""
    match form:
        case Form.NEWEST_FIRST | Form.ADDED | Form.SECTIONS:
            return _without_struck(_without_records(text, form, key, kept), key) if key in text else text
        case Form.JOURNAL:
            return journal.without_message(text, key)
        case Form.ARCHIVE if key in text:
            left = _without_struck(_without_records(text, form, key, kept), key)
            return daily.without_message(journal.without_message(left, key), key)
        case Form.DAILY_LINES:
            return daily.without_message(text, key)
        case Form.ATTENTION | Form.ACTIVE | Form.CHANNEL:
            on = board(form)
            if key in text:
                if form is Form.CHANNEL:
                    text = _without_struck(_without_records(text, form, key, kept), key)
                text = on.without_message(text, key)
            for row in on.parse(text).tasks if rows else ():
                text = on.without_task(text, row.task) if row_hash(row.task) in rows else text
            return text
        case Form.STATE:
            for task in tasks.parse(text).tasks:
                text = tasks.without_task(text, task.id, at) if stated_by(task, key) else text
            return text
    return text


def row_hash(title: str) -> str:
    """By what a task's row is named without its words."""
    return hashlib.sha256(TaskRow(title).key.encode()).hexdigest()[:16]


def stated_by(task: tasks.Task, key: MessageKey) -> bool:
    """Was the task stated by that message?"""
    return task.source.endswith(f", {key}")


def touched(key: MessageKey, texts: Mapping[PageId, str], table: Table) -> dict[PageId, tuple[str, ...]]:
    """The pages that name the message, and the hashes of the task rows that go with it."""
    found = {page: () for page, text in texts.items() if key in text and _is_ours(table, page)}
    rows = tuple(row_hash(task.title) for task in tasks.parse(texts.get(TASKS, "")).tasks if stated_by(task, key))
    on = next((page for page in texts if table.rule(page).form in BOARDS), None)
    return {**found, on: rows} if on is not None and rows else dict(found)


def _is_ours(table: Table, page: PageId) -> bool:
    return page == TASKS or table.rule(page).form in WITH_RECORDS | BOARDS | {
        Form.JOURNAL,
        Form.DAILY_LINES,
        Form.ARCHIVE,
    }


def _without_records(text: str, form: Form, key: MessageKey, kept: Collection[str]) -> str:
    for placed in on_page(text, form):
        record = placed.record
        if key in record.messages and record.identity not in kept:
            left = _without_source(record, key)
            gone = not left.sources
            text = remove(text, record.identity) if gone else replace_record(text, record.identity, left)
    return text


def _without_source(record: Record, key: MessageKey) -> Record:
    sources = [
        replace(one, keys=tuple(k for k in one.keys if k != key)) for one in record.sources if one.keys != (key,)
    ]
    return replace(record, sources=tuple(sources))


def _without_struck(text: str, key: MessageKey) -> str:
    """The text without the struck lines that came from the message, and without their copies in other records."""
    gone: list[str] = []
    for line in reversed(lines_of(text)):
        if line.inert or key not in line.text or not line.text.startswith("~~"):
            continue
        left = without_key(line.text, key)
        if left is not None:
            text = text[: line.start] + left + text[line.end :]
            continue
        newline = newline_of(text)
        gone.append(unescape_comment(unmarked(line.text)[0].removeprefix("~~").removesuffix("~~")))
        text = text[: line.start] + text[line.end :].removeprefix(newline).removeprefix(newline)
    for placed in parse(text).records if gone else ():
        superseded = tuple(one for one in placed.record.supersedes if one not in gone)
        if superseded != placed.record.supersedes:
            text = replace_record(text, placed.record.identity, replace(placed.record, supersedes=superseded))
    return text
