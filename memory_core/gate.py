"""The gate: the only way from a conversation to memory.

Reading a scope's index gives an `OpenIndex`; pages and search results exist only through it. It holds the handle of
ONE scope, so that there is nothing to ask another scope's page with, and it opens a page for one of these reasons:

    the index leads there       a row of the routing table that is not [DEPRECATED]
    the layout always loads it  what its start order names (Table.start): pages, two journals
    it is the list of tasks     what is open is no secret of any conversation of the scope
    a convention was named      a page that this OpenIndex opened before names `conventions/<name>`

Everything else is Denied, with a reason of `DENIALS` that the model sees and the log counts. What text says, whoever
wrote it, opens nothing. SOUL.md is for every scope (`persona`); in a group it is a part of the agent's prompt, like
its rules, and counts in no memory budget. `show` and `pages` are for a person's own command (/remem show), which is
not held to the routes, only to the scope; program files are shown to nobody, but of pending_tasks.json a
conversation may get the list of what is open (task_list). `has_index`, `open_tasks`, `fingerprint` tell the bot what
it must know of a memory besides: is there one, what is to be done, is a page as it was written.

Not here: how much may be disclosed (memory_core.loading, session, budget).
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta, tzinfo
from types import MappingProxyType

from memory_core import zone_names
from memory_core.clock import day_in
from memory_core.conventions import conventions_in, is_convention
from memory_core.errors import Denied, PageBlocked, StoreError, UnknownPage
from memory_core.forms.tasks import Task
from memory_core.forms.tasks import parse as parse_tasks
from memory_core.handle import Handle
from memory_core.ids import GroupScope, MessageKey, PageId, Scope
from memory_core.index import Index, Route, parse
from memory_core.layouts import INDEX, TASKS, Form, PageRule, Slot, Table, journal_page
from memory_core.search import TALK, Found, Hit, Placed, ScopeSearch, found, gather, telling
from memory_core.store.base import PageText, Stamp
from memory_core.task_list import task_list

__all__ = [
    "DENIALS",
    "Denied",
    "Found",
    "OpenIndex",
    "fingerprint",
    "has_index",
    "open_index",
    "open_tasks",
    "persona",
    "revise_search",
]

DENIALS: Mapping[str, str] = MappingProxyType(
    {
        "no_route": "the index has no row that leads there",
        "deprecated": "the rows that lead there are marked [DEPRECATED]",
        "not_in_layout": "this memory has no such page",
        "not_named": "no page that is open names this convention",
        "search_only": "journals and the archive are read by search",
        "program_file": "it is the program's own file",
        "already_loaded": "it is in the conversation already",
        "over_ceiling": "the session has disclosed as many pages of that kind as it may",
        "over_budget": "the session's memory budget is used up",
        "missing": "the page does not exist or is empty",
        "no_index": "this memory has no index yet",
    }
)
"""Every reason of a refusal, and what it means."""

_DAYS_BACK = {Slot.TODAY: 0, Slot.YESTERDAY: 1}
RECENT_DAYS = 14
"""After so many days a journal belongs to the archive (design: sleep); what lasts of it stands on the pages."""


async def open_index(handle: Handle) -> OpenIndex | None:
    """Read the scope's index; None where there is none on disk (then nothing may be read). Raises StoreError."""
    read = await handle.store.read(INDEX)
    if read is None:
        return None
    if zone_names.must_read(read.text):  # files, and so no work for the event loop
        return OpenIndex(read, await asyncio.to_thread(parse, read.text, handle.table), handle)
    return OpenIndex(read, parse(read.text, handle.table), handle)


async def has_index(handle: Handle) -> bool:
    """Does the scope have a memory already? Raises StoreError."""
    return await handle.store.stamp(INDEX) is not None


async def open_tasks(handle: Handle) -> tuple[Task, ...]:
    """The scope's tasks that are not done; none where the file is broken or is no file, which `faults_in` tells.

    Raises StoreError.
    """
    try:
        read = await handle.store.read(TASKS)
    except PageBlocked:
        return ()
    return parse_tasks(read.text).open if read is not None else ()


async def fingerprint(handle: Handle, page: PageId) -> str:
    """The hash of a page's bytes, by which a session knows its own writing again; '' where there is no page.

    Raises UnknownPage, StoreError.
    """
    stamp = await handle.store.stamp(page)
    return stamp.sha256 if stamp is not None else ""


async def revise_search(handle: Handle) -> None:
    """Let the search index of the scope, if it has one, hold nothing that is gone. Raises StoreError, LedgerError.

    One that cannot be brought up to date, because pages cannot be read, is thrown away.
    """
    if not await asyncio.to_thread(handle.searches.has, handle.scope):
        return
    try:
        opened = await open_index(handle)
        if opened is not None:
            await opened.catch_up()
            return
    except StoreError:
        await asyncio.to_thread(handle.searches.remove, handle.scope)
        raise
    await asyncio.to_thread(handle.searches.remove, handle.scope)


async def persona(handle: Handle) -> str:
    """SOUL.md, which every scope may read, also one without an index; '' where there is none. Raises StoreError."""
    page = handle.table.persona
    read = await handle.store.read(page) if page is not None else None
    return read.text if read is not None else ""


@dataclass(slots=True)
class OpenIndex:
    """An index that was read, and with it the right to read what it leads to. Made by `open_index` only."""

    page: PageText
    index: Index
    _handle: Handle = field(repr=False)
    _named: set[PageId] = field(default_factory=set, repr=False)

    @property
    def text(self) -> str:
        """The index as it stands on disk."""
        return self.page.text

    @property
    def stamp(self) -> Stamp:
        """The state of the index that was read."""
        return self.page.stamp

    @property
    def scope(self) -> Scope:
        """The one scope."""
        return self._handle.scope

    @property
    def title(self) -> str:
        """The name in the index, else the scope's own."""
        scope = self._handle.scope
        return self.index.front.get("group_name", "") or (scope.name if isinstance(scope, GroupScope) else "DM")

    @property
    def routes(self) -> tuple[Route, ...]:
        """The rows that lead somewhere."""
        return tuple(route for route in self.index.routes if not route.deprecated)

    @property
    def zone(self) -> tzinfo:
        """The zone of the scope: the index's, else the host's."""
        return self.index.zone or self._handle.host_zone

    @property
    def today(self) -> date:
        """The day that it is in the scope's zone: the writers use the same rule (memory_core.clock.day_in)."""
        return day_in(self.zone, self._handle.clock.now())

    @property
    def journals(self) -> Mapping[Slot, PageId]:
        """The journals that a conversation begins with, by their places in the layout's start order."""
        days = {place: back for place, back in _DAYS_BACK.items() if place in self._handle.table.start}
        return {place: journal_page(str(self.today - timedelta(days=back))) for place, back in days.items()}

    def refusal(self, page: PageId) -> str:
        """Why `page` may not be opened now: a reason of DENIALS, '' if it may."""
        rule = _rule(self._handle.table, page)
        if rule is None:
            return "not_in_layout"
        if page in (INDEX, TASKS) or page in self._handle.table.start or page in self.journals.values():
            return ""
        if rule.form is Form.STATE:
            return "program_file"
        if is_convention(page):
            return "" if page in self._named else "not_named"
        rows = [route for route in self.index.routes if route.page == page]
        if any(not route.deprecated for route in rows):
            return ""
        if rule.form in (Form.JOURNAL, Form.ARCHIVE):
            return "search_only"
        return "deprecated" if rows else "no_route"

    async def read(self, page: PageId) -> PageText | None:
        """The page, None where it does not exist. Raises Denied, StoreError.

        Conventions that it names may be read from now on.
        """
        reason = self.refusal(page)
        if reason:
            raise denied(reason, page)
        if page == INDEX:
            return self.page
        read = await self._handle.store.read(page)
        if page == TASKS and read is not None:
            return replace(read, text=task_list(parse_tasks(read.text).tasks, self.today), bad_bytes=())
        if read is not None and not is_convention(page):
            self._named.update(conventions_in(read.text, self._handle.table))
        return read

    async def stamp_of(self, page: PageId) -> Stamp | None:
        """The page's present state without its text; None where it is gone. Raises StoreError."""
        return await self._handle.store.stamp(page)

    async def search(self, words: str, limit: int = 10) -> tuple[Found, ...]:
        """The best matches in this scope's pages, journals and archive, and in what was said. Raises RememError."""
        return tuple(found(hit) for hit in telling(await self.hits(words, []))[:limit])

    async def hits(
        self, words: str, unread: list[str], *, recent: bool = False, without: Collection[MessageKey] = ()
    ) -> tuple[Hit, ...]:
        """What fits `words`, best first, of the whole scope.

        `recent`: without the archive and the journals that are older than RECENT_DAYS, for searches nobody asked for.
        `without`: messages that the conversation holds. Pages that could not be read are told in `unread`. Raises
        StoreError, LedgerFailed.
        """
        dead, today = self.dead, self.today
        first = journal_page((today - timedelta(days=RECENT_DAYS)).isoformat())

        def wanted(page: PageId) -> bool:
            return page == TALK or (page not in dead and (not recent or self._is_recent(page, first)))

        hits = await self._search.find(words, unread, wanted, today=today)
        return tuple(hit for hit in hits if hit.placed.message is None or hit.placed.message not in without)

    async def units(self, unread: list[str], pages: Sequence[PageId]) -> tuple[Placed, ...]:
        """The parts of `pages`, as far as they may be searched. Pages that could not be read are told in `unread`.

        Conventions that a routed page names may be read from now on.
        """
        store, table = self._handle.store, self._handle.table
        placed = await gather(store, table, [page for page in pages if page not in self.dead], unread)
        for one in placed:
            self._named.update(() if self.refusal(one.page) else conventions_in(one.unit.text, table))
        return placed

    async def catch_up(self) -> None:
        """Make the search index hold what is there now, and nothing else. Raises StoreError, LedgerError."""
        await self._search.catch_up()

    @property
    def _search(self) -> ScopeSearch:
        handle = self._handle
        return ScopeSearch(handle.store, handle.ledger, handle.layout, handle.searches, self.zone)

    @property
    def dead(self) -> frozenset[PageId]:
        """Pages that only [DEPRECATED] rows lead to: neither routed to nor searched."""
        return frozenset(route.page for route in self.index.routes) - frozenset(route.page for route in self.routes)

    async def persona(self) -> str:
        """SOUL.md; '' where there is none. Raises StoreError."""
        return await persona(self._handle)

    async def pages(self) -> tuple[PageId, ...]:
        """Every page of this scope that a person may be shown. Raises StoreError."""
        pages = await self._handle.store.pages()
        return tuple(page for page in pages if self._handle.table.rule(page).form is not Form.STATE)

    async def show(self, page: PageId) -> PageText | None:
        """A page for a person's own command: any page of this scope but the program's. Raises Denied, StoreError."""
        rule = _rule(self._handle.table, page)
        if rule is None:
            raise denied("not_in_layout", page)
        if rule.form is Form.STATE:
            raise denied("program_file", page)
        return await self._handle.store.read(page)

    def _is_recent(self, page: PageId, first: PageId) -> bool:
        """Is it neither the archive nor a journal before the `first`?"""
        form = self._handle.table.rule(page).form
        return form is not Form.ARCHIVE and (form is not Form.JOURNAL or page >= first)


def denied(reason: str, page: PageId) -> Denied:
    """The refusal of `page` for a reason of DENIALS."""
    return Denied(reason, f"{page[:80]!r} is not opened: {DENIALS[reason]}.")


def _rule(table: Table, page: PageId) -> PageRule | None:
    try:
        return table.rule(page)
    except UnknownPage:
        return None
