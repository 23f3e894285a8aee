"""memory/groups/group_names.json: the names of rooms on disk.

The file is the operator's as much as ours: it is looked at again before every answer and every write, and only the
entries of rooms that were claimed or renamed are touched. Everything happens in one thread, so two rooms cannot be
given one name; what is claimed while a write runs is written together by the next.

No name is given out that memory on disk already has, be it in the mapping or not. And none at all from a mapping that
lost rooms: damaged, or missing or empty although there is memory of groups. Then it is rebuilt from what is readable
of it and from the `rooms:` of the indexes, if that gives every group on disk a room; the next claim writes it, and
keeps the broken file beside it. If some group stays without a room, NamesDamaged says which, until a person adds it.

The mapping alone opens no group's memory to a room of another one: where it names one group and only another group's
index names the room, a person decides (NamesDamaged, for that room). A room that the mapping does not know, but one
index does, gets its memory back instead of a new name. What was mended is told to `tell`, and which file was kept.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from memory_core.clock import Clock, SystemClock
from memory_core.errors import NamesDamaged, PageChanged, PageExists, StoreFailed
from memory_core.ids import PageId, RoomKey
from memory_core.layouts import Layout
from memory_core.names import NamesTable, parse, render, salvage
from memory_core.names_indexes import NamesIndexes
from memory_core.scopes import GROUPS
from memory_core.store.base import PageText
from memory_core.store.disk import Disk
from memory_core.store.encoding import decode, encode
from memory_core.store.files import finished
from memory_core.store.tree import Mark, Raw, Tree

NAMES = GROUPS / "group_names.json"
_TRIES = 5
_REBUILD_EVERY_S = 30.0
"""A rebuilding that failed reads every index; it is not tried again for each message."""


@dataclass(frozen=True, slots=True)
class _Claim:
    """One asker: a room with its title; `server` None asks for a new title only."""

    room: RoomKey
    title: str
    server: str | None
    outcome: Future[str] = field(default_factory=Future)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The file at the last look: its bytes and what they say. A rebuilt table is `changed`: it is still to write."""

    raw: Raw | None
    bom: bool
    table: NamesTable
    broken: bool = False
    why: str = ""
    """Why it was rebuilt."""


class NamesFile:
    """The names of a workspace (implements Names). `close` ends its thread."""

    def __init__(
        self,
        workspace: Path,
        layout: Layout,
        *,
        disk: Disk | None = None,
        clock: Clock | None = None,
        tell: Callable[[str], None] = lambda mended: None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._tree = Tree(workspace, disk)
        self._indexes = NamesIndexes(self._tree, layout)
        self._agreed: set[RoomKey] = set()
        """Rooms whose entry no index contradicts, since the file was read last."""
        self._tell = tell
        self._thread = ThreadPoolExecutor(1, "remem-names")
        self._waiting: deque[_Claim] = deque()
        self._seen: _Seen | None = None
        self._mark: Mark | None = None
        self._damage: tuple[bytes | None, float, NamesDamaged] | None = None

    def close(self) -> None:
        """End the thread; what it is at is finished first."""
        self._thread.shutdown()

    async def lookup(self, room: RoomKey) -> str | None:
        """The room's name; None where it has none. Raises NamesDamaged, StoreFailed."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._named, room)

    async def claim(self, room: RoomKey, title: str, server: str) -> str:
        """The room's name, chosen now if it has none; durable when this returns. Raises NamesDamaged, StoreFailed."""
        return await self._ask(_Claim(room, title, server))

    async def retitle(self, room: RoomKey, title: str) -> None:
        """Note the title of a room that has a name; the name stays. Raises NamesDamaged, StoreFailed."""
        await self._ask(_Claim(room, title, None))

    async def rooms(self, name: str) -> tuple[RoomKey, ...]:
        """The rooms that have this name, sorted. Raises NamesDamaged, StoreFailed."""
        return (await self._table()).rooms(name)

    async def faults(self) -> tuple[str, ...]:
        """A sentence for each thing in the file that a person should mend; it changes nothing. Raises StoreFailed."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._faults)

    async def rebuild(self) -> tuple[RoomKey, ...]:
        """Rebuild the mapping from the indexes where it lost rooms, and write it (a `claim` does so too).

        The rooms that are in it now. Raises NamesDamaged naming what is missing, StoreFailed.
        """
        await finished(asyncio.get_running_loop().run_in_executor(self._thread, self._answer, ()))
        table = await self._table()
        return tuple(room for name in sorted(set(table.names())) for room in table.rooms(name))

    async def _table(self) -> NamesTable:
        return (await asyncio.get_running_loop().run_in_executor(self._thread, self._look)).table

    async def _ask(self, claim: _Claim) -> str:
        self._waiting.append(claim)
        self._thread.submit(self._answer_waiting)
        return await finished(asyncio.wrap_future(claim.outcome))

    # What follows runs in the one thread.

    def _named(self, room: RoomKey) -> str | None:
        table = self._look().table
        found = table.find(room)
        if found is not None:
            self._agree(room, found.name)
        return found.name if found else None

    def _agree(self, room: RoomKey, name: str) -> None:
        """Raise NamesDamaged where only another group's index names the room."""
        if room in self._agreed:
            return
        if self._contradicted(room, name):
            # What a room is told names no other group.
            raise NamesDamaged(
                f"The name of {room} in {NAMES.name} is not the one that the indexes say; a person must decide "
                "which it is: `remem doctor` tells both."
            )
        self._agreed.add(room)

    def _contradicted(self, room: RoomKey, name: str) -> tuple[str, ...]:
        """The groups whose indexes name the room, where that of its own group does not."""
        return () if room in self._indexes.rooms(name) else self._indexes.groups_of(room)

    def _faults(self) -> tuple[str, ...]:
        try:
            seen = self._look()
        except NamesDamaged as damage:
            return (str(damage),)
        told = [f"{seen.why} It is rebuilt from the indexes, and written anew at the next start."] if seen.why else []
        for room in seen.table.all_rooms():
            try:
                found = seen.table.find(room)
            except NamesDamaged as damage:
                told.append(str(damage))
                continue
            if found and (others := self._contradicted(room, found.name)):
                told.append(
                    f"{room} has the name {found.name!r} in {NAMES}, but stands in the index of {others[0]!r}; "
                    f"correct the name there, or move the room to the `rooms:` of {found.name}.md."
                )
        return tuple(told)

    def _answer_waiting(self) -> None:
        batch: list[_Claim] = []
        while self._waiting:
            batch.append(self._waiting.popleft())
        try:
            answers = self._answer(batch) if batch else []
        except BaseException as error:
            for claim in batch:
                claim.outcome.set_exception(error)
            raise
        for claim, answer in zip(batch, answers, strict=True):
            if isinstance(answer, NamesDamaged):
                claim.outcome.set_exception(answer)
            else:
                claim.outcome.set_result(answer)

    def _answer(self, batch: Sequence[_Claim]) -> list[str | NamesDamaged]:
        for _ in range(_TRIES):
            with suppress(PageChanged, PageExists), self._indexes.still():
                seen = self._look()
                known = not seen.table.changed and all(
                    claim.room in self._agreed and seen.table.knows(claim.room, claim.title) for claim in batch
                )
                if known:
                    return [_decide_one(seen.table, claim) for claim in batch]
                table = seen.table.copy()
                answers, mended = self._decide(table, batch)
                if table.changed:
                    self._save(seen, table, mended)
                return answers
        raise _busy()

    def _decide(self, table: NamesTable, batch: Sequence[_Claim]) -> tuple[list[str | NamesDamaged], list[str]]:
        answers: list[str | NamesDamaged] = []
        mended: list[str] = []
        reserved = False
        for claim in batch:
            try:
                found = table.find(claim.room)
                if found is not None:
                    self._agree(claim.room, found.name)
                elif claim.server is not None and not self._restored(table, claim.room, mended) and not reserved:
                    table.reserve(self._indexes.groups())
                    reserved = True
                answers.append(_decide_one(table, claim))
            except NamesDamaged as damage:
                answers.append(damage)
        return answers, mended

    def _restored(self, table: NamesTable, room: RoomKey, mended: list[str]) -> bool:
        """Give a room the name of the index that names it; False where none does. Raises NamesDamaged for two."""
        groups = self._indexes.groups_of(room)
        if len(groups) > 1:
            raise NamesDamaged(f"{room} stands in the indexes of {groups[0]!r} and {groups[1]!r}; decide which.")
        for name in groups:
            table.restore(room, name)
            mended.append(f"{room} was missing in {NAMES} and has its name {name!r} again, as its index says.")
        return bool(groups)

    def _look(self) -> _Seen:
        mark = self._tree.mark(NAMES)
        if self._seen and mark and mark == self._mark:
            return self._seen
        # Taken before the read: what is written meanwhile makes the next mark differ.
        self._mark = mark
        raw = self._tree.read(NAMES)
        if self._seen and self._seen.raw and raw and raw.content == self._seen.raw.content:
            return self._seen
        self._seen = None
        self._agreed.clear()
        self._still_damaged(raw)
        page = decode(PageId("names"), raw.content, raw.mtime_ns) if raw else None
        try:
            table = _parse(page)
        except NamesDamaged as damage:
            return self._rebuild(raw, salvage(page.text if page else ""), damage)
        seen = _Seen(raw, bool(page and page.bom), table)
        if table.entries:
            self._seen = seen
        elif self._indexes.groups():
            return self._rebuild(raw, table, NamesDamaged(f"{NAMES} is empty although there is memory of groups."))
        return seen

    def _still_damaged(self, raw: Raw | None) -> None:
        """Raise what the last rebuilding said, if nothing changed in the file and it was a short while ago."""
        if self._damage is None:
            return
        content, until_s, damage = self._damage
        if content == (raw.content if raw else None) and self._clock.monotonic_s() < until_s:
            raise NamesDamaged(str(damage))
        self._damage = None

    def _rebuild(self, raw: Raw | None, readable: NamesTable, damage: NamesDamaged) -> _Seen:
        try:
            table = self._rebuilt(readable, damage)
        except NamesDamaged as found:
            again_s = self._clock.monotonic_s() + _REBUILD_EVERY_S
            self._damage = (raw.content if raw else None, again_s, found)
            raise
        broken = raw is not None and raw.content.strip() not in {b"", b"{}"}
        self._seen = _Seen(raw, False, table, broken, why=str(damage))
        return self._seen

    def _rebuilt(self, readable: NamesTable, damage: NamesDamaged) -> NamesTable:
        table = readable.copy()
        groups = self._indexes.groups()
        for name in groups:
            for room in self._indexes.rooms(name):
                found = table.find(room)
                if found and found.name != name:
                    raise NamesDamaged(f"{damage} {room} stands in {found.name!r} and in {name!r}; decide which.")
                table.restore(room, name)
        if missing := sorted(set(groups) - set(table.names())):
            named = ", ".join(missing[:5]) + (", …" if len(missing) > 5 else "")
            raise NamesDamaged(f"{damage} No room is known for: {named}. Add their rooms to {NAMES.name} again.")
        table.changed = True
        return table

    def _save(self, seen: _Seen, table: NamesTable, mended: Sequence[str]) -> None:
        content = encode(render(table), seen.bom)
        told = [f"{seen.why} It was rebuilt from the indexes."] if seen.why else []
        if seen.raw and seen.broken:
            kept = NAMES.with_name(f"{NAMES.name}.broken-{hashlib.sha256(seen.raw.content).hexdigest()[:8]}")
            with suppress(PageExists):
                self._tree.create(kept, seen.raw.content)
            told.append(f"The broken file is kept as {kept.name}.")
        if seen.raw is None:
            stamp = self._tree.create(NAMES, content)
        else:
            stamp = self._tree.replace(NAMES, content, seen.raw.stamp)
        self._seen = _Seen(Raw(content, stamp.mtime_ns), seen.bom, NamesTable(table.entries))
        for line in (*filter(None, [" ".join(told)]), *mended):
            self._tell(line)


def _decide_one(table: NamesTable, claim: _Claim) -> str:
    if claim.server is not None:
        return table.claim(claim.room, claim.title, claim.server)
    table.retitle(claim.room, claim.title)
    found = table.find(claim.room)
    return found.name if found else ""


def _parse(page: PageText | None) -> NamesTable:
    if page and page.bad_bytes:
        raise NamesDamaged(f"{NAMES} holds bytes that are not UTF-8; save it as UTF-8.")
    return parse(page.text if page else "")


def _busy() -> StoreFailed:
    return StoreFailed(f"{NAMES} keeps changing while it is written; close what else writes it.")
