"""The two rules of every operation: done twice is done once, and what was done can be taken back."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import TypeAdapter

from memory_core.forms import attention, daily, journal, listed, records, sections, tasks
from memory_core.forms.board import board
from memory_core.forms.channel import DECISIONS, TOPICS
from memory_core.forms.more import more_in
from memory_core.forms.patches import hunks
from memory_core.forms.records import Record, Source, render, struck
from memory_core.ids import MessageKey, PageId
from memory_core.index import new_index
from memory_core.layouts import APM, Form, Priority
from memory_core.operations import Operation
from memory_core.operations.attention import (
    DropBlocker,
    DropRow,
    DropTask,
    MendTasks,
    PutBlocker,
    PutFact,
    PutMore,
    PutRow,
    PutTask,
    RaiseRows,
)
from memory_core.operations.journal import AddNotes, AddPoints, DropNotes, DropPoints
from memory_core.operations.messages import DropRaw, Withdraw
from memory_core.operations.pages import Patch, Unmake, text_hash
from memory_core.operations.records import (
    AddRecord,
    DropRecord,
    LowerRecord,
    ReviseRecord,
    StrikeRecord,
    TouchRecord,
    UnstrikeRecord,
    words_hash,
)
from memory_core.operations.routes import AddLine, AddRoute, DeprecateRoute, DropLine
from memory_core.operations.sleep import (
    AbsorbLines,
    AddBlocks,
    DropBlocks,
    EditRecords,
    PutHeartbeat,
    ReleaseLines,
    Restore,
    TakeHeartbeat,
)
from tests.scale import scale

OPERATION: TypeAdapter[Operation] = TypeAdapter(Operation)
AT = datetime(2026, 4, 6, 14, 30, tzinfo=UTC)
DAY = "2026-04-06"
# Few of each, so that operations meet what earlier ones left.
TITLES = ["Redis for sessions", "# no heading", "a | b", "x: y", "漢字 --> <!--", "~~struck~~"]


def _source(number: int) -> Source:
    return Source("console:ana", "ana", "#build", f"{DAY} 14:0{number}", (MessageKey(f"console:build:{number}"),))


def _record(title: str, number: int) -> Record:
    day = date(2026, 4, number + 1)
    return Record(day, title, f"because of {number}", last_referenced=day, sources=(_source(number),))


RECORDS = [_record(title, number) for number, title in enumerate(TITLES)]
NOTES = [
    journal.Note(part.value, title, "ana", f"14:0{number} +00:00", "console:ana", _source(number).keys)
    for number, (part, title) in enumerate(zip(journal.Part, TITLES, strict=True))
]
BLOCKS = [render(record).removesuffix("\n") for record in RECORDS]
USED = [render(replace(record, hit_count=7)).removesuffix("\n") for record in RECORDS]
LINES = [f"- line {number} (@ana, 14:0{number}) <!-- console:ana; console:build:{number} -->" for number in range(3)]
NOTED = f"# {DAY} (+00:00)\n\n## 14:30 Notes\n\n### Decisions\n" + "\n".join(LINES) + "\n"
ROWS = [attention.TaskRow(title, status) for title in TITLES for status in ("pending", "done")]
TASKS = [tasks.Task(f"t-{number}", title, created_at=AT.isoformat()) for number, title in enumerate(TITLES)]


@dataclass(frozen=True)
class Kind:
    """One form of page: how it may begin, what may be done to it, and what of it must come back."""

    form: Form
    texts: tuple[str, ...]
    operations: tuple[Operation, ...]
    content: Callable[[str], Hashable]


def _records_in(text: str) -> Hashable:
    return frozenset(placed.record for placed in records.parse(text).records)


def _attention_in(text: str, form: Form = Form.ATTENTION) -> Hashable:
    found = board(form).parse(text)
    return frozenset(found.tasks), frozenset(found.blockers), frozenset(found.snapshot), more_in(text, form)


def _on_board(form: Form) -> tuple[Operation, ...]:
    """What may be done to a board of that form."""
    one, two = _source(1).keys, _source(2).keys
    return (
        *(PutRow(BOARD, row, keys=keys, board=form) for row in ROWS for keys in ((), one)),
        *(DropRow(BOARD, title, board=form) for title in TITLES),
        *(PutMore(BOARD, count, form) for count in (0, 1, 23)),
        RaiseRows(BOARD, tuple(TITLES[2:4]), form),
        RaiseRows(BOARD, (TITLES[0],), form),
        *(PutBlocker(BOARD, title, keys, board=form) for title in TITLES for keys in ((), one, two)),
        *(DropBlocker(BOARD, title, keys, board=form) for title in TITLES for keys in ((), one)),
        *(PutFact(BOARD, "host", value, one, "a", board=form) for value in ("", "a", "c")),
        *(PutFact(BOARD, key, value, board=form) for key in ("host", "last flush") for value in ("", "a", "b | c")),
    )


ARCHIVE = PageId("archive/2026-04")
EXPERIENCE, BOARD, FILE = PageId("experience"), PageId("attention"), PageId("state/tasks")
TODAY, DAILY, INDEX, PROJECT = PageId(f"journal/{DAY}"), PageId("daily-synced"), PageId("index"), PageId("project")
PROSE = ("a\nb\nc\n", "a\nx\nc\n", "a\n", "c", "a\n\na\nb\n", "a\r\nb\r\n")
KINDS = (
    Kind(
        Form.NEWEST_FIRST,
        (
            "",
            "# Experience\n",
            "# Experience\n\nBy hand.\n\n## A heading\n\ntext\n",
            "# Experience\r\n\r\nBy hand.\r\n",
        ),
        (
            *(AddRecord(EXPERIENCE, render(record)) for record in RECORDS),
            *(DropRecord(EXPERIENCE, record.identity) for record in RECORDS),
            *(DropRecord(EXPERIENCE, record.identity, words_hash(record)) for record in RECORDS),
            *(ReviseRecord(EXPERIENCE, record.identity, record.title, "now so", ("a",)) for record in RECORDS),
            *(TouchRecord(EXPERIENCE, record.identity, 2, date(2026, 5, 1), (_source(7),)) for record in RECORDS),
            *(LowerRecord(EXPERIENCE, record.identity, 0, None, _source(7).keys) for record in RECORDS),
            *(
                StrikeRecord(EXPERIENCE, record.identity, render(record).rstrip("\n"), f"~~{struck(record)}~~")
                for record in RECORDS[:2]
            ),
            *(
                UnstrikeRecord(EXPERIENCE, f"~~{struck(record)}~~", render(record).rstrip("\n"))
                for record in RECORDS[:2]
            ),
            *(EditRecords(EXPERIENCE, (((BLOCKS[at], USED[at]),),)) for at in range(len(BLOCKS))),
            *(EditRecords(EXPERIENCE, (((BLOCKS[at], USED[at]), (BLOCKS[at - 1], "")),)) for at in range(3)),
            EditRecords(EXPERIENCE, (((BLOCKS[0], f"~~{struck(RECORDS[0])}~~"), (BLOCKS[2], USED[2])),)),
            EditRecords(EXPERIENCE, (((USED[1], ""),), ((BLOCKS[1], ""),), ((BLOCKS[3], ""),))),
        ),
        _records_in,
    ),
    Kind(
        Form.ARCHIVE,
        ("", "# Archive 2026-04\n", "# Archive 2026-04\r\n\r\nBy hand.\r\n"),
        (
            *(AddBlocks(ARCHIVE, "# Archive 2026-04", tuple(BLOCKS[:count])) for count in (1, 2, 3)),
            *(DropBlocks(ARCHIVE, tuple(BLOCKS[:count]), "# Archive 2026-04") for count in (1, 2)),
        ),
        _records_in,
    ),
    Kind(
        Form.JOURNAL,
        (NOTED, NOTED.replace("\n", "\r\n"), f"# {DAY} (+00:00)\n\nBy hand.\n"),
        (
            *(AbsorbLines(TODAY, tuple(LINES[at : at + 2])) for at in range(3)),
            *(ReleaseLines(TODAY, tuple(LINES[at : at + 2])) for at in range(3)),
        ),
        lambda text: None,  # an absorbed line stays so when it is absorbed again: see test_deep
    ),
    Kind(
        Form.ATTENTION,
        ("", "# Attention\n", "## Active Tasks\r\n\r\n| Prio | Task |\r\n|---|---|\r\n| 1 | by hand |\r\n"),
        _on_board(Form.ATTENTION),
        _attention_in,
    ),
    Kind(
        Form.ACTIVE,
        (
            "",
            "# Active Context\n\n## In Progress\n\n## Blocked / Waiting\n\n## Recently Completed\n",
            "## In Progress\r\n- **By hand**: half done\r\n  - next\r\n- also by hand\r\n\r\n## Own\r\ntext\r\n",
        ),
        _on_board(Form.ACTIVE),
        lambda text: _attention_in(text, Form.ACTIVE),
    ),
    Kind(
        Form.CHANNEL,
        (
            "",
            "# build\n\n## Current Topics\n\n## Recent Decisions\n\n## Unresolved\n",
            "## Unresolved\r\n- By hand\r\n- **Also**: by hand\r\n\r\n## Own\r\ntext",
        ),
        (
            *_on_board(Form.CHANNEL),
            *(PutBlocker(BOARD, title, _source(1).keys, TOPICS, Form.CHANNEL) for title in TITLES),
            *(DropBlocker(BOARD, title, section=TOPICS, board=Form.CHANNEL) for title in TITLES),
            *(AddRecord(BOARD, render(record), DECISIONS) for record in RECORDS),
            *(DropRecord(BOARD, record.identity) for record in RECORDS),
        ),
        lambda text: (
            _attention_in(text, Form.CHANNEL),
            frozenset(listed.items(text, TOPICS)),
            frozenset(placed.record for placed in records.on_page(text, Form.CHANNEL)),
        ),
    ),
    Kind(
        Form.SECTIONS,
        ("", "# Memory\n\n## Lessons Learned\n1. By hand\n\n## Key Decisions\n\n- By hand\n", "## key decisions\r\n"),
        (
            *(AddRecord(EXPERIENCE, render(record), "Key Decisions") for record in RECORDS[:4]),
            *(AddRecord(EXPERIENCE, render(record), "Lessons Learned") for record in RECORDS[4:]),
            *(DropRecord(EXPERIENCE, record.identity) for record in RECORDS),
            *(TouchRecord(EXPERIENCE, record.identity, 2, date(2026, 5, 1), (_source(7),)) for record in RECORDS),
        ),
        lambda text: frozenset(
            (placed.record, sections.section_at(text, placed.start))
            for placed in records.on_page(text, Form.SECTIONS)
        ),
    ),
    Kind(
        Form.STATE,
        ("", '{"tasks": [{"title": "by hand"}], "own": 1}', "[]", '{"tasks": [{"title": "by hand"}, {"title": '),
        (
            *(PutTask(FILE, task, AT) for task in TASKS),
            *(DropTask(FILE, task.id, AT) for task in TASKS),
            MendTasks(FILE, AT),
        ),
        lambda text: frozenset(tasks.parse(text).tasks),
    ),
    Kind(
        Form.JOURNAL,
        ("", f"# {DAY} (+00:00)\n\nBy hand.\n", f"# {DAY} (+08:00)\r\n"),
        (
            *(AddNotes(TODAY, DAY, "+00:00", "14:30 +00:00", (note,)) for note in NOTES),
            AddNotes(TODAY, DAY, "+00:00", "15:30 +00:00", tuple(NOTES)),
            *(DropNotes(TODAY, (note,)) for note in NOTES),
        ),
        lambda text: frozenset((note.text, note.keys) for note in journal.parse(text).notes),
    ),
    Kind(
        Form.DAILY_LINES,
        ("", "# Daily\n", "# Daily\r\n\r\n- 2026-04-05: by hand\r\n"),
        (
            *(AddPoints(DAILY, day, (title,)) for title in TITLES for day in (DAY, "2026-04-04")),
            *(AddPoints(DAILY, DAY, (title, "last"), (_source(1).keys, ())) for title in TITLES),
            *(DropPoints(DAILY, DAY, (title,)) for title in TITLES),
        ),
        lambda text: frozenset((day.day, point) for day in daily.parse(text) for point in day.points),
    ),
    Kind(
        Form.ADDED,
        ("", "# Project\n", "# Project\r\n\r\nBy hand.\r\n", "By hand.\n"),
        (
            *(AddLine(PROJECT, f"Conventions: see conventions/{name}.md") for name in "ab"),
            *(DropLine(PROJECT, f"Conventions: see conventions/{name}.md") for name in "ab"),
        ),
        lambda text: frozenset(line for line in text.split() if line.startswith("conventions/")),
    ),
    Kind(
        Form.PROSE,
        ("a\nb\nc\n", "a\r\nb\r\n", "c", "a\n\na\nb\n"),
        (
            *(Patch(PROJECT, hunks(one, other)) for one in PROSE for other in PROSE if one != other),
            *(Unmake(PROJECT, text_hash(text)) for text in PROSE),
            *(Restore(PROJECT, text_hash(one), other) for one in PROSE for other in PROSE if one != other),
        ),
        lambda text: None,  # byte for byte, as long as the lines stand: test_undo
    ),
    Kind(
        Form.INDEX,
        (
            new_index(APM.direct, name="main", rooms=(), purpose="", created=date(2026, 4, 6), zone="UTC"),
            "# By hand\r\n",
        ),
        (
            *(AddRoute(INDEX, name, PageId(f"projects/{name}"), Priority.P3) for name in ("atlas", "漢字")),
            *(DeprecateRoute(INDEX, PageId(f"projects/{name}")) for name in ("atlas", "漢字")),
        ),
        lambda text: None,  # the index is append-only: what is taken back there stays, marked
    ),
)


def test_every_operation_is_tried() -> None:
    union = get_args(get_args(Operation)[0])
    tried = {type(operation) for kind in KINDS for operation in kind.operations}
    apart = {Withdraw, DropRaw, PutHeartbeat, TakeHeartbeat}  # test_withdrawal, test_undone_sleep
    assert tried | apart == set(union)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.form)
@settings(max_examples=scale(2000), deadline=None)
@given(data=st.data())
def test_done_twice_is_done_once_and_what_was_done_is_taken_back(kind: Kind, data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(kind.texts))
    for operation in data.draw(st.lists(st.sampled_from(kind.operations), max_size=8)):
        done = operation.apply(text, kind.form)
        assert operation.apply(done, kind.form) == done
        inverse = operation.undo(text)
        back = inverse.apply(done, kind.form)
        assert inverse.apply(back, kind.form) == back
        if done != text:
            assert kind.content(back) == kind.content(text)
        text = done


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.form)
def test_an_operation_is_written_down_and_read_back(kind: Kind) -> None:
    for operation in kind.operations:
        assert OPERATION.validate_json(OPERATION.dump_json(operation)) == operation
        inverse = operation.undo(kind.texts[0])
        assert OPERATION.validate_json(OPERATION.dump_json(inverse)) == inverse
