"""Saving: the one way from what was said to memory, whoever asks for it (/remem, silence, a full context, a new day).

An index is made before a scope's first flush, from what is known, and never written over. A flush whose extraction
failed is tried again with the same messages (bot.retries), before whatever came since. Undo, corrections and sleep
are no flushes, and never run beside one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import tzinfo

import structlog

from bot.conversations import Conversations
from bot.retries import Retries
from bot.schedule import Waiting
from bot.sleeping import Sleeping
from bot.troubles import Troubles
from bot.upkeep import Upkeep
from memory_core.candidates import Candidate, Extractor
from memory_core.errors import NoIndex, RememError
from memory_core.first_join import ensure_index
from memory_core.flush.correct import Corrected, correct
from memory_core.flush.engine import Flushing, Receipt, Trigger, resume, write_all
from memory_core.flush.plans import joined
from memory_core.flush.undo import Undone, undo
from memory_core.forms.records import Record
from memory_core.handle import Handle, Handles
from memory_core.ids import Conversation, GroupScope, PageId, RoomKey, Scope
from memory_core.messages import Message, Voice
from memory_core.sleep.report import SAID, Report, Stage
from memory_core.sleep.stages import sleep
from memory_core.zone import zone_of

_log = structlog.get_logger()


class Saving:
    """Flushes of all scopes, one at a time each."""

    def __init__(self, handles: Handles, extractor: Extractor, conversations: Conversations) -> None:
        self._handles = handles
        self._extractor = extractor
        self._conversations = conversations
        self._flushing = Flushing()
        self.retries = Retries()
        self.upkeep: Upkeep | None = None
        self.sleeping: Sleeping | None = None
        self.troubles: Troubles | None = None

    async def save(self, scope: Scope, trigger: Trigger, *, past: bool = False) -> Receipt:
        """Flush the scope and end its sessions. A failure stands in the receipt. Raises StoreError for its index.

        `past`: what was said is history (memory_core.flush.engine.flush).
        """
        try:
            receipt = await self._flush(scope, trigger, past)
        except RememError as refused:
            await self._troubled(scope, str(refused))
            raise
        if receipt.problem:
            await self._troubled(scope, receipt.problem)
            _log.error("save failed", scope=scope.key, trigger=trigger.value, why=receipt.why or receipt.problem)
        elif not receipt.running:
            self._conversations.end_sessions(scope)
            _log.info(
                "saved", scope=scope.key, trigger=trigger.value, number=receipt.number, messages=receipt.messages
            )
            await self._troubled(scope, "")
            if self.upkeep is not None:
                await self.upkeep.saved(scope, receipt)
            if self.sleeping is not None:
                await self.sleeping.arm(scope)
        if receipt.waits:
            why = tuple(receipt.blocked.values()) or ("they hold bytes that are not UTF-8",)
            _log.error("pages wait until they are mended", scope=scope.key, pages=receipt.waits, why=why)
        return receipt

    async def _troubled(self, scope: Scope, why: str) -> None:
        """Keep why the flush failed, for `remem status`; '' where it did not."""
        if self.troubles is not None:
            await self.troubles.note(scope, why)

    async def _flush(self, scope: Scope, trigger: Trigger, past: bool) -> Receipt:
        """What could not be read through before is tried first, alone; then whatever came since."""
        until = self.retries.until(scope)
        first: list[Receipt] = []
        if until is not None:
            receipt = await self._try(scope, trigger, until, past)
            if receipt.problem or receipt.running:
                return receipt
            first.append(receipt)
        return joined(first, await self._try(scope, trigger, None, past))

    async def _try(
        self, scope: Scope, trigger: Trigger, until: Mapping[Conversation, int] | None, past: bool
    ) -> Receipt:
        handle, raw = self._handles.open(scope), self.retries.is_last(scope)
        try:
            receipt = await self._flushing.flush(handle, self._extractor, trigger, until=until, raw=raw, past=past)
        except NoIndex:
            await self._index(handle)
            receipt = await self._flushing.flush(handle, self._extractor, trigger, until=until, raw=raw, past=past)
        await self.retries.note(scope, receipt)
        return receipt

    def trouble(self, scope: Scope) -> str:
        """What a status says of saves that keep failing; '' where none does."""
        return self.retries.trouble(scope)

    async def undo(self, scope: Scope) -> Undone | None:
        """Take the newest step back; None while a flush runs. Raises StoreError, LedgerError."""
        handle = self._handles.open(scope)
        undone = await self._flushing.alone(handle, undo(handle))
        if undone is not None and not undone.nothing:
            self._conversations.end_sessions(scope)
            await self.revise(scope)
            _log.info("undone", scope=scope.key, number=undone.number, correction=undone.correction)
        return undone

    async def sleep(self, scope: Scope, stage: Stage) -> Report | None:
        """Do one stage of sleep now; None while a flush runs. Raises RememError (NoIndex where there is no memory).

        What was edited or deleted since the last flush is saved first: memory must not digest what it is to lose.
        """
        if await self._handles.open(scope).ledger.changed():
            await self.save(scope, Trigger.IDLE)
        handle = self._handles.open(scope)
        report = await self._flushing.alone(handle, sleep(handle, stage))
        if report is None or report.problem:
            return report
        if report.pages:
            self._conversations.end_sessions(scope)
        for line in report.lines:
            if line.startswith(f"{SAID}warning:"):
                _log.warning("sleep", scope=scope.key, stage=stage.value, why=line)
        _log.info("slept", scope=scope.key, stage=stage.value, number=report.number, pages=report.pages)
        return report

    async def correct(self, scope: Scope, words: str, said: Message) -> Corrected | None:
        """Supersede the record that the words find by what was said; None while a flush runs. Raises RememError."""
        handle = self._handles.open(scope)
        corrected = await self._flushing.alone(handle, correct(handle, words, said, await zone_of(handle)))
        if corrected is not None and corrected.new is not None:
            self._conversations.end_sessions(scope)  # what was disclosed holds the old words
            await self.revise(scope)
        return corrected

    async def write(
        self, scope: Scope, candidate: Candidate, *, rooms: Iterable[RoomKey] = (), told: Message | None = None
    ) -> tuple[PageId, Record]:
        """Write one thing now; it was read back when this returns. Raises RememError.

        `rooms`: where it was said, for an index that this makes; a command alone leaves no conversation to tell it.
        `told`: the command.
        """
        ((_, page, record),) = await self.write_all(scope, (candidate,), rooms=rooms, told=told)
        return page, record

    async def write_all(
        self,
        scope: Scope,
        candidates: Sequence[Candidate],
        *,
        rooms: Iterable[RoomKey] = (),
        told: Message | None = None,
    ) -> tuple[tuple[Candidate, PageId, Record], ...]:
        """Write all that one message says, as `write` (memory_core.flush.write_now.write_all). Raises RememError."""
        handle = self._handles.open(scope)
        await self._index(handle, rooms)
        written = await write_all(handle, candidates, await zone_of(handle), told)
        if any(record.supersedes for _, _, record in written):
            self._conversations.end_sessions(scope)  # what was disclosed holds what is taken back
        return written

    async def revise(self, scope: Scope) -> None:
        """Something was taken back: it leaves the index of search."""
        if self.upkeep is not None:
            await self.upkeep.revise(scope)

    async def zone_of(self, scope: Scope) -> tzinfo:
        """Where the scope lives. Raises StoreError."""
        return await zone_of(self._handles.open(scope))

    async def finish_plans(self, scopes: Iterable[Scope]) -> None:
        """At start: what a crash left half done is finished, scope by scope; what cannot be is logged and kept."""
        for scope in scopes:
            try:
                for receipt in await resume(self._handles.open(scope)):
                    if self.upkeep is not None:
                        await self.upkeep.saved(scope, receipt)
            except RememError as refused:
                _log.error("an unfinished save waits", scope=scope.key, why=str(refused))

    async def waiting(self, scopes: Iterable[Scope]) -> list[Waiting]:
        """At start: the conversations in which a person said something that is not saved. Raises LedgerFailed."""
        found = []
        for scope in scopes:
            ledger = self._handles.open(scope).ledger
            for conversation in await ledger.unflushed():
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
