"""What the tests of sleep share: a scope whose pages are written by hand or by flushes, and which then sleeps."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

from memory_core.candidates import Value
from memory_core.clock import ManualClock
from memory_core.flush.undo import Undone, undo
from memory_core.forms import journal
from memory_core.forms.records import Record, Source, parse, render
from memory_core.ids import MessageKey, PageId, Scope
from memory_core.index import new_index
from memory_core.layouts import APM, INDEX, Layout
from memory_core.sleep.report import Caps, Report, Stage
from memory_core.sleep.stages import sleep
from memory_core.store.memory import MemoryStores
from tests.memory_core.flush_kit import GROUP, ROOM, Disk, World

TODAY = date(2026, 9, 1)
NOON = datetime(2026, 9, 1, 12, tzinfo=UTC)
_UPDATED = re.compile(rb"^last_updated: .*\n", re.MULTILINE)
ALL = Caps(max_changes_share=1.0, min_changes=10_000)


def source(number: int, by: str = "ana", day: date = TODAY) -> Source:
    """Where one message came from."""
    key = MessageKey(f"slack:T1:C9:{number}.000100")
    return Source(f"slack:T1:{by.upper()}", by, "#build", f"{day.isoformat()} 10:00", (key,))


def record(
    title: str,
    days_ago: int = 0,
    *,
    body: str = "",
    hits: int = 0,
    value: Value = Value.MEDIUM,
    number: int = 0,
    by: str = "ana",
    said_ago: int | None = None,
    today: date = TODAY,
) -> Record:
    """A record that was last used `days_ago`, and stated then or `said_ago`."""
    day = today - timedelta(days=days_ago)
    stated = day if said_ago is None else today - timedelta(days=said_ago)
    sources = (source(number, by, stated),) if number else ()
    return Record(stated, title, body, last_referenced=day, hit_count=hits, value=value, sources=sources)


def page_of(title: str, records: Sequence[Record]) -> str:
    """A page of those records, in that order."""
    return f"# {title}\n\n" + "\n".join(render(one) for one in records)


class Bed(World):
    """A world that sleeps; `layout` is the scope's."""

    def __init__(
        self, layout: Layout = APM, *, now: datetime = NOON, disk: Disk | None = None, scope: Scope = GROUP
    ) -> None:
        self.layout = layout
        super().__init__(scope, clock=ManualClock(now), disk=disk, indexed=False)
        if layout is not APM:
            self.stores = MemoryStores(layout)
            self.handle = replace(self.handle, store=self.stores.open(self.scope), layout=layout)
        text = new_index(self.handle.table, name="build", rooms=[ROOM], purpose="", created=TODAY, zone="")
        if disk is None:
            self.stores.put(self.scope, INDEX, text.encode())

    async def sleep(self, stage: Stage = Stage.REM, caps: Caps = ALL, *, dry_run: bool = False) -> Report:
        """One stage, a minute later."""
        self.clock.advance(60)
        return await sleep(self.handle, stage, self.zone, caps=caps, dry_run=dry_run)

    async def undo(self) -> Undone:
        """Take the last step back."""
        return await undo(self.handle)

    def records(self, page: str = "experience") -> list[Record]:
        """The records of a page."""
        return [placed.record for placed in parse(self.text(page)).records]

    def note(self, day: str, *notes: journal.Note, at: str = "14:30 +00:00") -> None:
        """Append a flush's notes to a journal."""
        page = PageId(f"journal/{day}")
        text = self.text(page) or journal.new_journal(day, "+00:00")
        self.put(page, journal.append(text, at, notes))

    def pages(self) -> Mapping[str, bytes]:
        """Every file with content that a person reads: all but states, the catalogue and the day of its making."""
        return {
            str(file): _UPDATED.sub(b"", content.partition(b"<!-- remem:catalogue")[0])
            for file, (content, _) in self.stores.files.items()
            if not str(file).endswith(".json")
        }


def note(
    text: str,
    number: int = 0,
    *,
    part: journal.Part = journal.Part.DECISIONS,
    by: str = "ana",
    at: str = "14:02 +00:00",
) -> journal.Note:
    """One line of a flush's notes."""
    keys = (MessageKey(f"slack:T1:C9:{number}.000100"),) if number else ()
    return journal.Note(part.value, text, by, at, f"slack:T1:{by.upper()}" if number else "", keys)
