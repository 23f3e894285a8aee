"""Layouts are tables: each is sound, and a new one is one table and one test parameter.

`TOY` is such a layout, known to nobody but this file: everything here runs for it as for the three that ship.
"""

from __future__ import annotations

import asyncio
from datetime import UTC
from itertools import combinations
from pathlib import Path, PurePosixPath
from typing import cast

import pytest

from memory_core.clock import ManualClock
from memory_core.conventions import is_convention
from memory_core.first_join import answer_purpose, ensure_index
from memory_core.flush.engine import Trigger, flush
from memory_core.gate import open_index
from memory_core.handle import Handles
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, RoomKey, Scope
from memory_core.index import page_asked, parse
from memory_core.layouts import (
    FLUSH_STATE,
    HEARTBEAT,
    INDEX,
    LAYOUTS,
    READY,
    TASKS,
    Form,
    IndexForm,
    Kind,
    Layout,
    PageRule,
    Priority,
    Slot,
    Table,
    layout_named,
)
from memory_core.layouts.base import SOUL, side_files
from memory_core.lexicon import lexicons
from memory_core.loading import Mode, disclose
from memory_core.names_file import NamesFile
from memory_core.session import Session
from memory_core.store.files import FileStores
from memory_core.templates import new_page
from memory_core.tokens import EstimatingCounter
from memory_core.workspace import initialise
from tests.memory_core.flush_kit import GROUP, ROOM, START, World
from tests.memory_core.loading_parts import shown


def _toy(base: str) -> tuple[PageRule, ...]:
    return (
        SOUL,
        PageRule(INDEX, f"{base}.md", Form.INDEX),
        PageRule(
            PageId("facts"), f"{base}/facts.md", Form.NEWEST_FIRST, Priority.P1, 50,
            triggers=("decision", "why", "lesson"), hint="what is known", lexicon="experience",
        ),
        PageRule(PageId("topics/*"), f"{base}/topics/{{name}}.md", Form.ADDED, Priority.P3, 50, hint="a topic"),
        *side_files(base, f"{base}/days", f"{base}/old"),
    )  # fmt: skip


TOY = Layout(
    "toy",
    Table(
        rules=_toy("memory/groups/{group}"),
        kinds={Kind.DECISION: PageId("facts"), Kind.LESSON: PageId("facts")},
        start=(INDEX, Slot.TODAY, Slot.ROUTED, TASKS),
        default_budget_tokens=3000,
        not_kept=frozenset({Kind.CONTACT}),
    ),
    Table(
        rules=_toy("memory/toy"),
        kinds={Kind.DECISION: PageId("facts"), Kind.LESSON: PageId("facts")},
        start=(INDEX, Slot.ROUTED),
        default_budget_tokens=3000,
    ),
    IndexForm.FILES,
)
ALL = (*LAYOUTS.values(), TOY)
TABLES = [
    pytest.param(layout, table, id=f"{layout.name}-{name}")
    for layout in ALL
    for name, table in (("group", layout.group), ("direct", layout.direct))
]
each_layout = pytest.mark.parametrize("layout", ALL, ids=lambda layout: layout.name)
each_table = pytest.mark.parametrize(("layout", "table"), TABLES)
SCOPES: tuple[Scope, ...] = (
    GroupScope("build"),
    GroupScope("build-2"),
    GroupScope("main"),
    GroupScope("channel_context"),
    DirectScope(PersonKey("console:me"), owner=True),
    DirectScope(PersonKey("console:ana")),
    DirectScope(PersonKey("slack:T1:U2")),
)


def _rule_of(table: Table, page: PageId) -> PageRule | None:
    return next((rule for rule in table.rules if rule.page == page or rule.name_in(page) is not None), None)


def _pages(table: Table) -> list[PageId]:
    """One page for each rule."""
    names = {Form.JOURNAL: "2026-04-06", Form.ARCHIVE: "2026-04"}
    return [PageId(rule.page.replace("*", names.get(rule.form, "x"))) for rule in table.rules]


# -- each table is sound ----------------------------------------------------------------------------------------


@each_table
def test_every_page_that_a_kind_goes_to_exists_and_can_hold_it(layout: Layout, table: Table) -> None:
    for kind, page in [*table.kinds.items(), *table.promoted.items()]:
        rule = _rule_of(table, page)
        assert rule is not None, (kind, page)
        assert rule.form not in (Form.STATE, Form.PROSE, Form.INDEX, Form.JOURNAL, Form.ARCHIVE), (kind, page)
    assert not table.kinds.keys() & table.promoted.keys()
    assert not table.not_kept & (table.kinds.keys() | table.promoted.keys())
    for kind, section in table.section_of.items():
        home = table.home_of(kind)
        rule = _rule_of(table, home) if home else None
        assert rule is not None
        assert section in rule.sections, (kind, section)


@each_table
def test_the_start_order_names_pages_that_exist_and_everything_gets_room(layout: Layout, table: Table) -> None:
    assert len(set(table.start)) == len(table.start)
    assert set(table.in_need) == set(table.start)
    assert INDEX in table.start
    assert Slot.ROUTED in table.start
    assert table.keeps in table.start
    for place in table.start:
        if isinstance(place, Slot):
            continue
        rule = _rule_of(table, place)
        assert rule is not None, place
        assert "*" not in place
        assert rule.form is not Form.STATE or place == TASKS


@each_table
def test_what_can_be_routed_to_has_words_a_hint_and_a_word_list(layout: Layout, table: Table) -> None:
    for rule in table.routed():
        assert rule.hint, rule.page
        assert rule.triggers or rule.page.endswith("*"), rule.page
        assert not rule.lexicon or rule.lexicon in lexicons(), rule.page
        assert rule.budget_lines, rule.page
        assert rule.page.endswith("*") or new_page(table, rule.page), rule.page
    assert any(rule.priority in (Priority.P0, Priority.P1) for rule in table.routed())


@each_table
def test_every_scope_has_the_side_files_and_no_two_rules_share_a_file(layout: Layout, table: Table) -> None:
    pages = {rule.page for rule in table.rules}
    assert {FLUSH_STATE, TASKS, HEARTBEAT, "journal/*", "archive/*"} <= pages
    files = [rule.file.lower() for rule in table.rules]
    assert len(set(files)) == len(files)
    assert len(pages) == len(table.rules)


def test_a_file_of_one_scope_is_never_another_scopes() -> None:
    for layout in ALL:
        owners: dict[str, tuple[Scope, PageId]] = {}
        for scope in SCOPES:
            for page in _pages(layout.table(scope)):
                if layout.table(scope).rule(page).shared:
                    continue
                file = str(layout.file(scope, page)).lower()
                assert file not in owners, (layout.name, file, scope, owners.get(file))
                owners[file] = (scope, page)


@each_layout
def test_no_page_of_a_scope_lies_where_another_scope_has_its_own(layout: Layout) -> None:
    """The owner's tree is the root; nothing of it may lie among the groups or in a person's home."""
    for scope in SCOPES:
        for page in _pages(layout.table(scope)):
            if layout.table(scope).rule(page).shared:
                continue
            file = layout.file(scope, page)
            if isinstance(scope, GroupScope):
                assert scope.name in (file.stem, *file.parts), file
                assert file.parts[0] == "memory"
            elif scope.owner:
                assert file.parts[:2] != ("memory", "groups"), file
                assert file.parts[:2] != ("memory", "channel_context"), file
                assert file.parts[0] != "people", file
            else:
                assert file.parts[:2] == ("people", scope.person.folder), file


@each_layout
def test_two_scopes_have_no_folder_in_common_but_those_that_hold_one_file_each(layout: Layout) -> None:
    """A file that two groups would keep side by side is told by its name; a folder of pages belongs to one group."""
    for one, other in combinations([scope for scope in SCOPES if isinstance(scope, GroupScope)], 2):
        homes = [_folders(layout, scope) for scope in (one, other)]
        for folder in homes[0] & homes[1]:
            files = [layout.file(scope, page) for scope in (one, other) for page in _pages(layout.table(scope))]
            inside = [file for file in files if file.parent == folder and file.parent != PurePosixPath()]
            assert all(file.stem in (one.name, other.name) for file in inside), (folder, inside)


def _folders(layout: Layout, scope: Scope) -> set[PurePosixPath]:
    return {layout.file(scope, page).parent for page in _pages(layout.table(scope))}


@each_table
def test_the_document_of_layouts_lists_every_page_with_its_file_and_its_lines(layout: Layout, table: Table) -> None:
    if layout is TOY:
        return
    listed = (Path(__file__).parents[2] / "docs/reference/layouts.md").read_text().partition(f"## {layout.name}\n")[2]
    part = listed.partition("### In a group")[2 if table is layout.group else 0].partition("\n## ")[0]
    for rule in table.rules:
        if rule.form in (Form.JOURNAL, Form.ARCHIVE, Form.STATE):
            continue
        file = rule.file.replace("{", "<").replace("}", ">")
        priority = rule.priority.name if rule.priority is not None else "–"
        assert f"| `{rule.page}` | `{file}` | {priority} | {rule.budget_lines or '–'} |" in part, rule.page


def test_the_layouts_that_may_be_chosen() -> None:
    assert READY == ("apm", "adaptive", "dreaming")
    assert [layout_named(name).name for name in READY] == list(READY)


@each_table
def test_a_person_may_call_a_page_by_its_name_or_its_file(layout: Layout, table: Table) -> None:
    for rule in table.rules:
        if rule.page.endswith("*") or rule.form is Form.STATE:
            continue
        assert page_asked(rule.page, table) == rule.page
        assert page_asked(f"{rule.page.upper()}.md", table) == rule.page
        if "{" not in rule.file and rule.form is not Form.INDEX:
            assert page_asked(rule.file, table) == rule.page
    assert page_asked("no such page.md", table) == "no such page"


# -- a scope's life under each layout ---------------------------------------------------------------------------


@each_layout
def test_a_new_workspace_holds_what_the_owners_dm_needs(layout: Layout, tmp_path: Path) -> None:
    created = {str(file) for file in initialise(tmp_path, layout, day=START.date(), zone="Europe/Berlin")}
    owner = DirectScope(PersonKey("console:me"), owner=True)
    index = parse((tmp_path / layout.file(owner, INDEX)).read_text(), layout.direct)
    assert index.problems == ()
    assert {route.page for route in index.routes} == {
        rule.page for rule in layout.direct.routed() if "*" not in rule.page
    }
    for place in layout.direct.start:
        if not isinstance(place, Slot) and place != TASKS:
            assert str(layout.file(owner, place)) in created, place
    before = {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()}
    assert initialise(tmp_path, layout, day=START.date()) == ()
    assert {file: file.read_bytes() for file in tmp_path.rglob("*") if file.is_file()} == before


def _disk(tmp_path: Path, layout: Layout, clock: ManualClock) -> tuple[FileStores, Handles, World]:
    """A world whose pages are files; the ledger stays in memory."""
    stores = FileStores(tmp_path, layout)
    world = World(indexed=False, clock=clock, layout=layout)
    return stores, Handles(stores, world.ledger, layout, EstimatingCounter(), clock, UTC), world


def _everything(folder: Path) -> str:
    return "".join(file.read_text() for file in folder.rglob("*.md"))


@each_layout
@pytest.mark.asyncio
async def test_first_join_flush_loading_search_and_the_way_back_to_the_rooms(layout: Layout, tmp_path: Path) -> None:
    clock = ManualClock(START)
    stores, handles, world = _disk(tmp_path, layout, clock)
    handle = handles.open(GROUP)
    assert await answer_purpose(handle, UTC, "We run the build servers", rooms=[ROOM], admin=False)
    await world.say(
        "decision: We decided on Redis for the session cache",
        "lesson: The runner died because the disk was full; pruning images fixed it",
        "task: renew the TLS certificate",
        "contact: Ana answers at extension 42",
    )
    clock.advance(60)
    receipt = await flush(handle, world.extractor, Trigger.COMMAND, UTC)
    assert receipt.problem == ""
    assert receipt.kinds[Kind.DECISION] == 1
    for kind in (Kind.DECISION, Kind.LESSON):
        page = layout.group.kinds.get(kind) or PageId("journal/2026-04-06")
        text = (tmp_path / layout.file(GROUP, page)).read_text()
        assert ("Redis" if kind is Kind.DECISION else "disk was full") in text, page
    assert "certificate" in (tmp_path / layout.file(GROUP, TASKS)).read_text()
    everything = await asyncio.to_thread(_everything, tmp_path)
    assert ("extension 42" in everything) == (Kind.CONTACT not in layout.group.not_kept)
    for mode in Mode:
        seen = shown(
            await disclose(handle, Session(), "what did we decide about the session cache?", title="", mode=mode)
        )
        assert "Redis for the session cache" in seen
    opened = await open_index(handle)
    assert opened is not None
    for words in ("Redis", "disk full"):
        assert await opened.search(words), words
    index = parse(opened.text, layout.group)
    assert index.rooms == (ROOM,)
    names = NamesFile(tmp_path, layout)
    assert await names.rebuild() == (ROOM,)
    assert await names.lookup(ROOM) == "build"
    await asyncio.to_thread(names.close)
    await asyncio.to_thread(stores.close)


@each_layout
@pytest.mark.asyncio
@pytest.mark.parametrize("scope", [GROUP, DirectScope(PersonKey("console:ana"))], ids=["group", "direct"])
async def test_journals_and_the_archive_are_searched_in_every_layout(layout: Layout, scope: Scope) -> None:
    world = World(scope, layout=layout)
    world.put(
        "journal/2026-02-01",
        "# 2026-02-01 (+00:00)\n\n## 14:30 Notes\n\n### Learned\n- a walrus sang (@ana, 14:02)\n",
    )
    world.put("archive/2026-01", "# 2026-01\n\n## [2026-01-09] Narwhals\n- Body: a narwhal danced\n")
    opened = await open_index(world.handle)
    assert opened is not None
    assert [found.page for found in await opened.search("walrus")] == ["journal/2026-02-01"]
    assert [found.page for found in await opened.search("narwhal")] == ["archive/2026-01"]


@each_layout
@pytest.mark.asyncio
async def test_a_folder_without_an_index_is_led_to_and_its_days_are_left_to_search(layout: Layout) -> None:
    world = World(indexed=False, layout=layout)
    world.put("journal/2026-04-05", "# 2026-04-05\n")
    world.put("archive/2026-01", "# 2026-01\n")
    starred = [rule for rule in layout.group.rules if rule.page.endswith("*") and rule.form is Form.ADDED]
    for rule in starred:
        world.put(rule.page.replace("*", "hand-made"), "# By hand\n\n- of old\n")
    birth = await ensure_index(world.handle, UTC, rooms=[RoomKey("console:build")])
    index = parse(world.text("index"), layout.group)
    assert birth.created
    assert index.problems == ()
    led = {route.page for route in index.routes}
    assert led == {rule.page for rule in layout.group.routed() if "*" not in rule.page} | {
        rule.page.replace("*", "hand-made") for rule in starred
    }
    assert all(not is_convention(page) or page.endswith("hand-made") for page in led)


@each_layout
@pytest.mark.asyncio
async def test_a_conversation_begins_with_what_the_table_says_in_its_order(layout: Layout) -> None:
    for scope in (GROUP, DirectScope(PersonKey("console:ana"))):
        table = layout.table(scope)
        world = World(scope, layout=layout)
        for rule in table.rules:
            if rule.form not in (Form.INDEX, Form.STATE, Form.ARCHIVE, Form.JOURNAL) and "*" not in rule.page:
                world.put(rule.page, f"# A\n\n- something of {rule.page}\n")
        world.put("journal/2026-04-06", "# 2026-04-06\n\n- something of today\n")
        world.put("journal/2026-04-05", "# 2026-04-05\n\n- something of yesterday\n")
        world.put(TASKS, '{"tasks": [{"id": "t-1", "title": "something to do"}]}')
        disclosure = await disclose(world.handle, Session(), "hello!", title="")
        days = {Slot.TODAY: "journal/2026-04-06", Slot.YESTERDAY: "journal/2026-04-05"}
        wanted = [days.get(cast("Slot", place), place) for place in table.start if place is not Slot.ROUTED]
        assert [part.page for part in disclosure.loaded] == wanted
