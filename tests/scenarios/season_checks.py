"""What must be true after a season: of the files, of the chat's answers, of the audit. Each check names a promise.

Every check asks the layout's table, and knows no layout. Where a statement stands is found by its word of its own
(season.py), in the files as they are on disk.
"""

from __future__ import annotations

import asyncio
import difflib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import PurePosixPath

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.scope import audit
from memory_core.audit.strangers import stranger_findings
from memory_core.candidates import Value
from memory_core.clock import day_in
from memory_core.forms.records import PlacedRecord
from memory_core.forms.records import parse as records_in
from memory_core.ids import DirectScope, PageId, PersonKey, Scope
from memory_core.index import parse as index_in
from memory_core.layouts import INDEX, TASKS, Form, IndexForm, Kind, PageRule
from memory_core.sleep.report import Stage
from memory_core.store.tree import Tree
from tests.scenarios.season import LETTERS, Fate, Place, Season, Statement
from tests.scenarios.season_world import World

IDLE = timedelta(minutes=31)
"""After so much silence a conversation is saved, and a question begins a new session."""
QUESTIONS = 3
"""So many are asked in a session."""
_CODE = re.compile(r"kanari([a-z])\d+")
_RECORDS = frozenset({Form.NEWEST_FIRST, Form.ADDED, Form.SECTIONS, Form.CHANNEL})
JOURNAL_DAYS = 14
"""By the design, not by the program."""
_BOARDS = frozenset({Form.ATTENTION, Form.ACTIVE, Form.CHANNEL})


@dataclass(slots=True)
class Seen:
    """One memory as it stands on disk: the text of each page."""

    on: World
    place: Place
    pages: dict[PageId, str] = field(default_factory=dict)

    @property
    def scope(self) -> Scope:
        """Whose it is."""
        return self.on.scope(self.place)

    @property
    def today(self) -> date:
        """The day of the moved clock."""
        return day_in(self.on.app.parts.handles.host_zone, self.on.clock.now())

    def rule(self, page: PageId) -> PageRule:
        """The page's row in the table."""
        return self.on.layout.table(self.scope).rule(page)

    def of_form(self, *forms: Form) -> dict[PageId, str]:
        """The pages of these forms."""
        return {page: text for page, text in self.pages.items() if self.rule(page).form in forms}

    def with_code(self, code: str, *forms: Form) -> list[PageId]:
        """The pages (of these forms) on which a statement's word stands."""
        pages = self.of_form(*forms) if forms else self.pages
        return [page for page, text in pages.items() if re.search(rf"{code}(?!\d)", text)]

    def records(self, code: str, *forms: Form) -> list[tuple[PageId, PlacedRecord]]:
        """The records whose title or body has the word."""
        return [
            (page, placed)
            for page, text in self.of_form(*(forms or _RECORDS)).items()
            for placed in records_in(text).records
            if re.search(rf"{code}(?!\d)", f"{placed.record.title} {placed.record.body}")
        ]

    def count_records(self) -> int:
        """How many records stand on its pages, the archive not counted."""
        return sum(len(records_in(text).records) for text in self.of_form(*_RECORDS).values())


async def seen(on: World, place: Place) -> Seen:
    """The memory as it stands on disk now."""
    found = Seen(on, place)
    for page in await on.handle(place).store.pages():
        if not found.rule(page).shared:
            found.pages[page] = (on.workspace / on.layout.file(found.scope, page)).read_bytes().decode()
    return found


def snapshot(on: World, place: Place) -> Mapping[PurePosixPath, bytes]:
    """The bytes of a memory's files, but for the program's side files of states."""
    scope, table = on.scope(place), on.layout.table(on.scope(place))
    kept = {}
    for path in sorted(path for path in on.workspace.rglob("*") if path.is_file()):
        file = PurePosixPath(path.relative_to(on.workspace))
        for rule in table.rules:
            if rule.shared or rule.form is Form.STATE:
                continue
            pattern = re.escape(str(on.layout.place(scope, rule, "\0"))).replace("\0", r"[^/]+")
            if re.fullmatch(pattern, str(file)):
                kept[file] = path.read_bytes()
    return kept


# -- files -----------------------------------------------------------------------------------------------------------


async def files_stand_where_the_layout_says(on: World, everything: Mapping[Place, Seen]) -> None:
    """Every file is a page of one of the memories, or one of the few that the workspace itself has."""
    homes = {on.scope(place) for place in Place} | {_owner(on)}
    listed: set[PurePosixPath] = {
        PurePosixPath("memory/groups", name) for name in ("group_names.json", "flush-state.json")
    }
    for scope in homes:
        store = on.app.parts.handles.open(scope).store
        listed |= {on.layout.file(scope, page) for page in await store.pages()}
    there = {PurePosixPath(path.relative_to(on.workspace)) for path in on.workspace.rglob("*") if path.is_file()}
    strange = {file for file in there if file.parts[0] != ".remem"} - listed
    assert not strange, strange
    for one in everything.values():
        assert INDEX in one.pages
        for rule in one.on.layout.table(one.scope).rules:
            if rule.form in _BOARDS:
                assert rule.page in one.pages, rule.page
        assert TASKS in one.pages
        assert one.of_form(Form.ARCHIVE)


def _owner(on: World) -> DirectScope:
    return DirectScope(PersonKey(str(on.given.get("owner", "console:me"))), owner=True)


def pages_are_within_their_budgets(one: Seen) -> list[str]:
    """No page is longer than its budget, unless the last report says so, and why; what it says."""
    (last,) = one.on.reports_of(one.place, Stage.REM)[-1:]
    told = []
    for page, text in one.pages.items():
        budget, lines = one.rule(page).budget_lines, len(text.splitlines())
        if budget is not None and lines > budget:
            why = [line for line in last.over_budget if line.startswith(f"{page}:")]
            assert why, f"{page} of {one.place} has {lines} of {budget} lines, and nobody says why"
            told += why
    return told


def no_word_is_in_another_memory(on: World, script: Season, everything: Mapping[Place, Seen]) -> int:
    """A memory holds its own words only; so do answers, and jokes stand nowhere. How many were looked at."""
    looked = 0
    for place, one in everything.items():
        for page, text in one.pages.items():
            found = _CODE.findall(text)
            looked += len(found)
            assert set(found) <= {LETTERS[place]}, f"{page} of {place}"
        for joke in script.of(place, Fate.JOKE):
            assert not one.with_code(joke.code), (
                f"{joke.code} was small talk, and stands in {one.with_code(joke.code)}"
            )
    for place, text in on.seat.said():
        assert set(_CODE.findall(text)) <= {LETTERS[place]}, text
    for path in on.workspace.rglob("*"):
        if path.is_file() and ".remem" not in path.parts:
            assert len(set(_CODE.findall(path.read_text("utf-8")))) <= 1, path
    return looked


# -- what became of what was said ------------------------------------------------------------------------------------


def proven_ones_are_kept(one: Seen, script: Season) -> None:
    """What was asked about in six sessions is PROVEN, on the page where decisions stand at last."""
    (used,) = script.of(one.place, Fate.USED)
    home = one.on.layout.table(one.scope).home_of(Kind.DECISION)
    ((page, placed),) = one.records(used.code)
    assert page == home
    assert placed.record.proven, placed.record
    assert placed.record.hit_count >= 5
    assert "[PROVEN]" in one.pages[page]


def what_is_worth_little_is_in_the_archive(one: Seen, script: Season) -> None:
    """A decision that nobody mentioned since, and a tool: no record on any page; in the archive, with its score."""
    for old in script.of(one.place, Fate.OLD, Fate.TOOL):
        assert not one.records(old.code), (old.code, one.records(old.code))
        assert one.with_code(old.code, Form.ARCHIVE), old.code
    for fate, kind, value in ((Fate.OLD, Kind.DECISION, Value.MEDIUM), (Fate.TOOL, Kind.TOOL, Value.LOW)):
        table = one.on.layout.table(one.scope)
        home = table.home_of(kind)
        for old in script.of(one.place, fate):
            if kind in table.kinds or (home and kind is Kind.DECISION):  # a tool that is named once is not promoted
                ((page, placed),) = one.records(old.code, Form.ARCHIVE)
                block = one.pages[page][placed.start : placed.end]
                assert re.search(
                    rf"^- Archived: \d{{4}}-\d\d-\d\d, score=\d+, page={home}(?:, section=.+)?$", block, re.MULTILINE
                ), block
                assert placed.record.value is value


def a_fact_that_was_told_twice_stands_once(one: Seen, script: Season) -> None:
    """By whom it was told is kept for both."""
    (told,) = script.of(one.place, Fate.TOLD_TWICE)
    ((_, placed),) = one.records(told.code, *_RECORDS, Form.ARCHIVE)
    assert len(placed.record.sources) == (1 if one.place is Place.DM else 2) or len(placed.record.messages) == 2


def what_was_taken_back_does_not_hold(one: Seen, script: Season) -> None:
    """The old decision is no record of a page any more, other than struck; unless it had left for the archive before.

    A retraction reaches pages, not the archive; there the answer's day tells that it is old.
    """
    (turned,) = script.of(one.place, Fate.TURNED)
    left = [line for report in one.on.reports_of(one.place) for line in report.lines if "archived" in line]
    if not any(turned.code in line for line in left):
        standing = [placed.record for _, placed in one.records(turned.code) if turned.text in placed.record.body]
        assert not standing, standing


def conflicts_are_listed(one: Seen, script: Season) -> None:
    """Both sides say so, neither left; an index in the form of files lists the pair."""
    for conflict in script.of(one.place, Fate.CONFLICT):
        sides = one.records(conflict.code)
        assert len(sides) == 2, sides
        labels = {placed.record.label for _, placed in sides}
        for _, placed in sides:
            assert set(placed.record.conflicts) == labels - {placed.record.label}
        if one.on.layout.index_form is IndexForm.FILES:
            section = one.pages[INDEX].partition("## Conflicts")[2]
            assert all(label in section for label in labels), section


def tasks_age(one: Seen, script: Season, status: str) -> None:
    """What was done in April is gone; what was due in June and is not done stands first, on the board too."""
    (done,), (late,) = script.of(one.place, Fate.DONE), script.of(one.place, Fate.LATE)
    tasks = json.loads(one.pages[TASKS])["tasks"]
    assert [task["title"] for task in tasks if late.code in task["title"]]
    assert done.code not in one.pages[TASKS]
    assert not one.with_code(done.code, Form.ATTENTION, Form.ACTIVE)
    for page in one.of_form(*_BOARDS):
        assert page in one.with_code(late.code)
    line = next(line for line in status.splitlines() if "tasks:" in line)
    assert late.code in line
    assert "overdue" in line


# -- journals and the index ------------------------------------------------------------------------------------------


def old_journals_are_in_the_archive(one: Seen, script: Season) -> None:
    """A journal is archived 14 days after its date, with all that it said."""
    for page in one.of_form(Form.JOURNAL):
        day = date.fromisoformat(page.partition("/")[2])
        assert (one.today - day).days <= JOURNAL_DAYS, page
    archive = "\n".join(one.of_form(Form.ARCHIVE).values())
    days = re.findall(r"^## Journal (\d{4}-\d\d-\d\d)", archive, re.MULTILINE)
    assert len(days) == len(set(days))
    for statement in script.of(one.place):
        if statement.decision and statement.day < 40:
            assert re.search(rf"^- .*{statement.code}(?!\d).*<!-- .* -->", archive, re.MULTILINE), statement.code


def the_index_is_right(one: Seen) -> None:
    """What it leads to exists, every page that messages route to is led to, and the catalogue tells what is there."""
    index = index_in(one.pages[INDEX], one.on.layout.table(one.scope))
    assert index.problems == (), index.problems
    routes = {route.page for route in index.routes}
    assert routes <= one.pages.keys() | {rule.page for rule in one.on.layout.table(one.scope).rules}, routes
    catalogue = one.pages[INDEX].partition("<!-- remem:catalogue")[2]
    for page, text in one.pages.items():
        rule = one.rule(page)
        if rule in one.on.layout.table(one.scope).routed():
            assert page in routes, f"no row leads to {page}"
            name = PurePosixPath(one.on.layout.file(one.scope, page)).name
            row = next(
                (line for line in catalogue.splitlines() if line.startswith((f"| {page} |", f"| {name} |"))), ""
            )
            assert f"| {len(text.splitlines())} |" in row, f"{page} has {len(text.splitlines())} lines; {row!r}"
    told = set(re.findall(r"^- (\d{4}-\d\d-\d\d):|^\| (\d{4}-\d\d-\d\d) \| ✅", catalogue, re.MULTILINE))
    days = {plain or ticked for plain, ticked in told}
    there = {page.partition("/")[2] for page in one.of_form(Form.JOURNAL)}
    assert days <= there, f"{days - there} are listed and not there"


# -- the chat and the audit ------------------------------------------------------------------------------------------


async def decisions_are_found(on: World, place: Place, wanted: list[Statement]) -> int:
    """Asked in the chat, a few in a session: the answer quotes it, with its day and who said it."""
    for at, statement in enumerate(wanted):
        if at % QUESTIONS == 0:
            await on.time_passes(on.clock.now() + IDLE)
        answer = await on.asks(place, "ana", statement.question)
        code = statement.other or statement.code
        (line, *_) = [line for line in answer.splitlines() if re.search(rf"{code}(?!\d)", line)] or [""]
        assert line, f"{statement.question} ({code}): {answer}"
        assert re.search(r"\(@\w+ in |\(@\w+, ", line), f"no source: {line}"
        assert re.search(r"\d{4}-\d\d", line), f"no day: {line}"
    return len(wanted)


async def what_was_archived_is_searched(on: World, one: Seen, script: Season) -> None:
    """`/remem search` finds what no page holds any more."""
    for old in script.of(one.place, Fate.OLD, Fate.TOOL):
        found = await on.command(one.place, "ana", f"search {old.words}")
        assert old.code in found, found
        assert "archive/" in found, found


async def the_audit_finds_no_error(on: World) -> list[Finding]:
    """Of every memory and of the workspace; what else it found."""
    found = [finding for place in Place for finding in await audit(on.handle(place))]
    scopes = tuple({on.scope(place) for place in Place} | {_owner(on)})
    found += await asyncio.to_thread(stranger_findings, Tree(on.workspace), on.layout, scopes)
    errors = [finding for finding in found if finding.severity is Severity.ERROR]
    assert not errors, errors
    return found


async def the_last_sleep_can_be_undone(on: World, place: Place) -> None:
    """`/remem sleep`, and `/remem undo` gives back the bytes of every page; slept again, it is as it was."""
    before = snapshot(on, place)
    slept = await on.command(place, "ana", "sleep")
    after = snapshot(on, place)
    assert "absorbed" in slept, slept
    assert after != before
    undone = await on.command(place, "ana", "undo")
    again = snapshot(on, place)
    differ = [_difference(file, before.get(file, b""), again.get(file, b"")) for file in sorted({*before, *again})]
    assert not any(differ), "\n".join([undone, *differ])
    await on.command(place, "ana", "sleep")
    assert {str(file) for file in snapshot(on, place)} == {str(file) for file in after}


def _difference(file: PurePosixPath, before: bytes, after: bytes) -> str:
    """What is not as it was, for the one who reads the failure."""
    lines = difflib.unified_diff(
        before.decode().splitlines(), after.decode().splitlines(), str(file), n=0, lineterm=""
    )
    return "\n".join(lines) or ("" if before == after else f"{file}: other bytes")
