"""What a replay leaves behind, and whether it is in order: every page parsed, every key looked up in the ledger."""

from __future__ import annotations

import json
import re
import sqlite3
import zipfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path

from adapters.slack.export import Export
from memory_core import index
from memory_core.forms import attention, flush_state, journal, records, tasks
from memory_core.ids import PageId
from memory_core.layouts import APM, Form

_ENTRY = re.compile(r"^## \d\d:\d\d.* Notes", re.MULTILINE)
_MTIME = re.compile(r'^ *"[^"]+_mtime": \d+,?$', re.MULTILINE)


def pages(workspace: Path) -> dict[str, str]:
    """Every file of memory by its path, without what only the machine tells (file times)."""
    files = (file for file in sorted(workspace.rglob("*")) if file.is_file() and ".remem" not in file.parts)
    return {str(file.relative_to(workspace)): _MTIME.sub("", file.read_text("utf-8")) for file in files}


def events_in(workspace: Path) -> list[str]:
    """The event keys in the ledger."""
    with closing(sqlite3.connect(workspace / ".remem/ledger.db")) as ledger:
        return [key for (key,) in ledger.execute("SELECT event FROM events ORDER BY event")]


def keys_of(export: Path) -> list[str]:
    """The event keys of an export."""
    return sorted(event.event for event in Export.open(export).messages())


def waiting(workspace: Path) -> int:
    """How many conversations have messages after their cursor, and how many plans are open."""
    with closing(sqlite3.connect(workspace / ".remem/ledger.db")) as ledger:
        (behind,) = ledger.execute("SELECT count(*) FROM conversations WHERE newest > cursor").fetchone()
        (open_plans,) = ledger.execute("SELECT count(*) FROM plans WHERE closed = 0").fetchone()
        return int(behind) + int(open_plans)


def cut(export: Path, to: Path, messages: int) -> Path:
    """The first messages of an export as an export of its own."""
    with zipfile.ZipFile(export) as whole, zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as part:
        days = sorted((name for name in whole.namelist() if name.count("/") == 1), key=lambda name: Path(name).name)
        for name in whole.namelist():
            if "/" not in name:
                part.writestr(name, whole.read(name))
        for name in (name for name in days if name.endswith(".json")):
            said = json.loads(whole.read(name))[: max(0, messages)]
            messages -= len(said)
            part.writestr(name, json.dumps(said))
    return to


@dataclass(slots=True)
class Memory:
    """One group's memory as it was read; `problems` is what is wrong with it."""

    records: list[tuple[str, records.Record]] = field(default_factory=list)
    notes: list[journal.Note] = field(default_factory=list)
    days: list[str] = field(default_factory=list)
    entries: int = 0
    flushes: int = 0
    tasks: int = 0
    problems: list[str] = field(default_factory=list)


def memory_of(workspace: Path, group: str, known: frozenset[str]) -> Memory:
    """Read one group's pages and check them; `known` are the messages that may be cited."""
    root = workspace / "memory/groups"
    found = Memory()
    for file in [root / f"{group}.md", *sorted((root / group).rglob("*.*"))]:
        text = file.read_text("utf-8")
        name = str(file.relative_to(root / group).with_suffix("")) if file.parent != root else "index"
        if name == "index":
            _index(found, text, root / group)
        elif name == "flush-state":
            state = flush_state.parse(text)
            found.flushes = state.flush_number
            found.problems += [f"state: {one}" for one in state.broken]
        elif name == "pending_tasks":
            _tasks(found, text)
        else:
            _page(found, PageId(name), text)
    cited = {key for _, record in found.records for key in record.messages}
    cited |= {key for note in found.notes for key in note.keys}
    found.problems += [f"{key} is no message of the export" for key in cited - known]
    found.problems += [
        f"no journal of {day}" for day in {str(record.day) for _, record in found.records} - {*found.days}
    ]
    return found


def _index(found: Memory, text: str, folder: Path) -> None:
    parsed = index.parse(text, APM.group)
    found.problems += [f"index: {problem}" for problem in parsed.problems]
    catalogue = text.partition("remem:catalogue")[2]
    for row in re.findall(r"^\| ([\w/-]+) \| (\d+) \| \d+ \| (\S+) \|", catalogue, re.MULTILINE):
        page, lines, changed = row
        if len((folder / f"{page}.md").read_text("utf-8").splitlines()) != int(lines):
            found.problems.append(f"catalogue: {page} has not {lines} lines")
        if date.fromisoformat(changed) > date.fromisoformat(parsed.front["last_updated"]):
            found.problems.append(f"catalogue: {page} changed after the index")


def _tasks(found: Memory, text: str) -> None:
    parsed = tasks.parse(text)
    found.tasks = len(parsed.tasks)
    found.problems += [f"tasks: {one}" for one in parsed.broken]
    found.problems += _twice("task", (task.id for task in parsed.tasks))


def _page(found: Memory, page: PageId, text: str) -> None:
    form = APM.group.rule(page).form
    if form is Form.JOURNAL:
        parsed = journal.parse(text)
        found.days.append(parsed.day)
        found.notes += parsed.notes
        found.entries += len(_ENTRY.findall(text))
        found.problems += [f"{page}: a line without a source: {note.text}" for note in parsed.notes if not note.keys]
        found.problems += _twice(page, (f"{note.part} {note.text} {note.keys}" for note in parsed.notes))
    elif form is Form.ATTENTION:
        seen = attention.parse(text)
        found.problems += _twice(page, (row.key for row in seen.tasks)) + _twice(page, seen.blockers)
    else:
        read = records.parse(text)
        found.problems += [f"{page}: {problem}" for problem in read.problems]
        found.records += [(page, placed.record) for placed in read.records if placed.record.day]
        for placed in read.records:
            again = records.parse(records.render(placed.record)).records[0].record
            if placed.record.day and again != placed.record:
                found.problems.append(f"{page}: {placed.record.title} is another record when it is rendered")
        found.problems += _twice(page, (one.record.identity for one in read.records if one.record.day))


def _twice(where: str, values: object) -> list[str]:
    assert not isinstance(values, str)
    counted = Counter(values)  # type: ignore[call-overload]
    return [f"{where}: twice: {value}" for value, count in counted.items() if count > 1]
