"""Saving: the one way from what was said to memory, whoever asks for it (/remem, silence, a full context, a new day).

An index is made before a scope's first save, from what is known, and never written over.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import tzinfo

import structlog

from bot.conversations import Conversations
from bot.schedule import Waiting
from memory_core.candidates import Candidate, Extractor
from memory_core.errors import NoIndex, RememError
from memory_core.first_join import ensure_index
from memory_core.flush import Flushing, Receipt, Trigger, resume, write_now
from memory_core.handle import Handle, Handles
from memory_core.ids import GroupScope, PageId, RoomKey, Scope
from memory_core.messages import Voice
from memory_core.records import Record
from memory_core.zone import zone_of

_log = structlog.get_logger()


class Saving:
    """Flushes of all scopes, one at a time each."""

    def __init__(self, handles: Handles, extractor: Extractor, conversations: Conversations) -> None:
        self._handles = handles
        self._extractor = extractor
        self._conversations = conversations
        self._flushing = Flushing()

    async def save(self, scope: Scope, trigger: Trigger) -> Receipt:
        """Flush the scope and end its sessions. A failure stands in the receipt. Raises StoreError for its index."""
        handle = self._handles.open(scope)
        try:
            receipt = await self._flushing.flush(handle, self._extractor, trigger)
        except NoIndex:
            await self._index(handle)
            receipt = await self._flushing.flush(handle, self._extractor, trigger)
        if receipt.problem:
            _log.error("save failed", scope=scope.key, trigger=trigger.value, why=receipt.problem)
        else:
            self._conversations.end_sessions(scope)
            _log.info(
                "saved", scope=scope.key, trigger=trigger.value, number=receipt.number, messages=receipt.messages
            )
        return receipt

    async def write(
        self, scope: Scope, candidate: Candidate, *, rooms: Iterable[RoomKey] = ()
    ) -> tuple[PageId, Record]:
        """Write one thing now; it was read back when this returns. Raises RememError.

        `rooms`: where it was said, for an index that this makes; a command alone leaves no conversation to tell it.
        """
        handle = self._handles.open(scope)
        await self._index(handle, rooms)
        return await write_now(handle, candidate, await zone_of(handle))

    async def zone_of(self, scope: Scope) -> tzinfo:
        """Where the scope lives. Raises StoreError."""
        return await zone_of(self._handles.open(scope))

    async def finish_plans(self, scopes: Iterable[Scope]) -> None:
        """At start: what a crash left half done is finished, scope by scope; what cannot be is logged and kept."""
        for scope in scopes:
            try:
                await resume(self._handles.open(scope))
            except RememError as refused:
                _log.error("an unfinished save waits", scope=scope.key, why=str(refused))

    async def waiting(self, scopes: Iterable[Scope]) -> list[Waiting]:
        """At start: the conversations in which a person said something that is not saved. Raises LedgerFailed."""
        found = []
        for scope in scopes:
            ledger = self._handles.open(scope).ledger
            for conversation in await ledger.conversations():
                said = [entry.message for entry in (await ledger.context(conversation, tail=0)).fresh]
                if any(message.voice is Voice.PERSON for message in said):
                    last = max(message.sent_at for message in said if message.voice is not Voice.BOT)
                    found.append(Waiting(conversation, scope, last))
        return found

    async def _index(self, handle: Handle, rooms: Iterable[RoomKey] = ()) -> None:
        """The index, from what is known, where nobody has answered the purpose question yet."""
        group = isinstance(handle.scope, GroupScope)
        known = [talk.room for talk in await handle.ledger.conversations()] if group else []
        await ensure_index(handle, handle.host_zone, rooms=tuple(dict.fromkeys([*rooms, *known])))
