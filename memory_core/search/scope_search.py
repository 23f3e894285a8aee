"""Search in one scope, by its index: caught up with the files and the transcript at every search.

What changed is told by the states of the files (one walk, nothing read) and of the transcript (ledger/transcript.py);
only what changed is read again, and of what was said, as long as nothing was revised, only what came since. So what
was written a moment ago is found, also what a hand wrote, and what was removed is not. A file whose times are too
fresh to be trusted (two writes may share one) is read again by every search until they are settled.

`find` searches; `catch_up` is for whoever must know that what was removed is gone. Which indexes are open is the
business of search/searches.py.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, tzinfo
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from memory_core.errors import StoreError, StoreFailed
from memory_core.ids import PageId
from memory_core.layouts import Layout, Table
from memory_core.ledger.base import ScopeLedger
from memory_core.ledger.transcript import TranscriptState
from memory_core.search.hits import Hit, distinct
from memory_core.search.index_file import Contents, IndexFile
from memory_core.search.index_meta import Moved
from memory_core.search.parts import Placed
from memory_core.search.question import question
from memory_core.search.searches import Opened, Searches
from memory_core.search.sources import (
    Piece,
    Source,
    is_talk,
    last_begun,
    mark_of,
    page_source,
    pieces,
    searchable,
    talk_source,
)
from memory_core.store.base import State, Store
from memory_core.terms import terms

T = TypeVar("T")

MOST = 60
"""How many hits one search hands out."""
_PROBE = (
    "Ana chose Redis v2.3 for foo_bar's 部署服务 キャッシュ, geändert am 2026-04-06; running at 15:30 "
    "資料庫移轉 締め切りを決めた サーバー 배포를 정했다 四月六日 下午三点 金曜日 三十天 百分之五 월요일"
)
_RULES = (
    "terms",
    "script",
    "han",
    "loanwords",
    "east_asian",
    "spoken_dates",
    "asking",
    "text",
    "forms/*",
    "layouts/*",
    "search/*",
)
"""Our files that decide what an index holds of a page or a message."""
_TRIES = 3
"""So often what somebody else did to a file in the middle of a search is made up for."""
_UNSURE = TranscriptState(revised=-1)
"""No ledger follows it: all that was said is read again by the next search."""
_conversation = attrgetter("conversation")


class ScopeSearch:
    """Search in the one scope that store and ledger are bound to; `zone` dates what was said."""

    def __init__(self, store: Store, ledger: ScopeLedger, layout: Layout, searches: Searches, zone: tzinfo) -> None:
        self._store, self._ledger, self._layout, self._zone = store, ledger, layout, zone
        self._table = layout.table(store.scope)
        self._searches = searches

    async def find(
        self,
        words: str,
        unread: list[str],
        wanted: Callable[[PageId], bool],
        most: int = MOST,
        today: date | None = None,
    ) -> tuple[Hit, ...]:
        """The best hits on pages that are `wanted`, best first; pages that could not be read are told in `unread`.

        Days that `words` name are seen from `today` (memory_core.days).
        Raises StoreError when the pages cannot be listed, or none can be read; LedgerFailed.
        """
        wants, meaning = question(words, today), self._searches.meaning
        meant = await meaning.asked(words) if meaning is not None else None
        if not wants.terms and meant is None:
            return ()
        hits = await self._current(unread, lambda file, as_of: file.search(wants, wanted, most, as_of, meant))
        return distinct(hits)

    async def catch_up(self) -> None:
        """Make the index hold what is there now, and nothing that is gone. Raises StoreError, LedgerFailed."""
        await self._current([], lambda file, as_of: None)

    async def _current(self, unread: list[str], work: Callable[[IndexFile, str | None], T]) -> T:
        """Catch up, then work on that version; again where the file was begun anew or changed in between."""
        opened, tries = self._opened(), 0
        async with opened.lock:
            while True:
                missed = list[str]()
                try:
                    as_of = await self._catch_up(opened, missed, checked=tries < _TRIES)
                    done = await asyncio.to_thread(self._at_work, work, opened.file, as_of)
                except Moved:
                    opened.contents, tries = None, tries + 1
                    continue
                unread += missed
                self._searches.used(self._store.scope, opened)
                if self._searches.meaning is not None:
                    self._searches.meaning.fill(opened.file)
                return done

    def _at_work(self, work: Callable[[IndexFile, str | None], T], file: IndexFile, as_of: str | None) -> T:
        self._searches.close_idle()
        return work(file, as_of)

    def _opened(self) -> Opened:
        embedder = self._searches.meaning.name if self._searches.meaning is not None else ""
        made_by = f"{_fingerprint()} {self._layout.name} {self._zone} {embedder}"
        return self._searches.index(self._store.scope, made_by)

    async def _catch_up(self, opened: Opened, unread: list[str], *, checked: bool) -> str | None:
        """The version that holds what is there now; None where it is not `checked` that it stays so. Raises Moved."""
        states, transcript = await self._store.states(), await self._ledger.transcript_state()
        before = opened.contents
        if before is None:
            before = await asyncio.to_thread(opened.file.contents)
        pages = searchable(self._table, states)
        new = await self._pages(pages, states, before.marks, unread)
        here: set[str] = {page for page in pages if before.marks.get(page) == mark_of(states[page])}
        here |= await self._talks(before, transcript, new)
        gone = before.marks.keys() - here
        opened.contents = before
        if new or gone or transcript != before.transcript:
            opened.contents = None  # until it is known what stands there
            as_of, holds = (before.version, transcript) if checked else (None, _UNSURE)
            await asyncio.to_thread(opened.file.update, gone, new, holds, as_of)
            opened.contents = await asyncio.to_thread(opened.file.contents)
        if unread and len(unread) == len(pages):
            raise StoreFailed(unread[0])
        return opened.contents.version if checked else None

    async def _pages(
        self, pages: Sequence[PageId], states: Mapping[PageId, State], marks: Mapping[str, str], unread: list[str]
    ) -> list[Source]:
        """The pages that are not as the index knows them, as they are now."""
        new = list[Source]()
        for page in pages:
            mark = mark_of(states[page])
            if marks.get(page) == mark:
                continue
            now_ns = self._searches.now_ns()  # before the page is read
            try:
                read = await self._store.read(page)
            except StoreError as failed:
                unread.append(str(failed))
                continue
            if read is not None:
                unsure = "" if states[page].is_settled(now_ns) else "?"
                form = self._table.rule(page).form
                new.append(page_source(read, form, mark + unsure))
        return new

    async def _talks(self, before: Contents, transcript: TranscriptState, new: list[Source]) -> set[str]:
        """The places of all that was said; pieces that the index does not have as they are now are added to `new`.

        As long as nothing that was said was changed, only what came since is looked at.
        """
        marks = {place: mark for place, mark in before.marks.items() if is_talk(place)}
        if transcript == before.transcript:
            return set(marks)
        if transcript.follows(before.transcript) and transcript.revised == before.transcript.revised:
            talk = await self._since(before.transcript.arrived, marks)
            here = {*marks, *(piece.place for piece in talk)}
        else:
            marks = marks if transcript.follows(before.transcript) else {}
            talk = pieces(await self._ledger.transcript_outline())
            here = {piece.place for piece in talk}
        new += await self._read(piece for piece in talk if marks.get(piece.place) != piece.mark)
        return here

    async def _since(self, arrived: int, marks: Mapping[str, str]) -> tuple[Piece, ...]:
        """What was said since that message, each conversation from its last piece on that is known."""
        talk: list[Piece] = []
        for conversation, lines in groupby(await self._ledger.transcript_outline(arrived), _conversation):
            last = last_begun(marks, conversation)
            if last is None:
                talk += pieces(tuple(lines))
            else:
                talk += pieces(await self._ledger.transcript_outline(last.seq - 1, conversation), last)
        return tuple(talk)

    async def _read(self, due: Iterable[Piece]) -> list[Source]:
        """Pieces of what was said, as the ledger has them now."""
        due = tuple(due)
        said = await self._ledger.transcript([seq for piece in due for seq in piece.seqs])
        by_seq = {one.seq: one for one in said}
        return [talk_source(piece, by_seq, self._zone) for piece in due]


async def gather(store: Store, table: Table, pages: Iterable[PageId], unread: list[str]) -> tuple[Placed, ...]:
    """All units of `pages`, in order, read from their files and not from an index.

    A page that is gone has none; what could not be read is told in `unread`.
    """
    placed: list[Placed] = []
    for page in searchable(table, pages):
        try:
            read = await store.read(page)
        except StoreError as failed:
            unread.append(str(failed))
            continue
        if read is not None:
            placed += page_source(read, table.rule(page).form, "").placed()
    return tuple(placed)


def _rules() -> bytes:
    """The fingerprint of our own rules: after an update of remem no index is left that older ones made."""
    here, digest = Path(__file__).parent.parent, hashlib.sha256()
    for name in _RULES:
        for file in sorted(here.glob(f"{name}.py")):
            digest.update(file.read_bytes())
    return digest.digest()


_OURS = _rules()
"""Read when this module is loaded, not in the middle of a search."""


@lru_cache(maxsize=1)
def _fingerprint() -> str:
    """What the contents of an index depend on besides its sources: our rules, and the stemmer's."""
    return hashlib.sha256(_OURS + repr(terms(_PROBE)).encode()).hexdigest()[:16]
