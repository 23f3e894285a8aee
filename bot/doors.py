"""The doors that an agent has to memory, bound to one conversation: every disclosure counts in its session.

An agent may knock at several doors at once; they are opened one after the other, so that each sees what the one
before has cost. What it wishes to be remembered is collected (`wishes`) and written by the turn, after the answer.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.agent import Ask
from bot.conversations import Talk
from bot.wishes import messages_of, wish
from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure
from memory_core.errors import BadInput
from memory_core.flush.engine import unkept
from memory_core.handle import Handle
from memory_core.ids import Conversation, MessageKey, PageId
from memory_core.layouts import TASKS, Kind
from memory_core.loading import open_page, search_memory
from memory_core.script import fold

WISHES = 5
"""So many facts may be remembered for one answer."""


class Doors:
    """The doors of one conversation for the answer to one message (bot.agent.Doors)."""

    def __init__(self, handle: Handle, talk: Talk, ask: Ask, may_keep: Callable[[Kind], bool]) -> None:
        self.wishes: list[Candidate] = []
        """What the agent wishes to be kept, in order."""
        self._handle = handle
        self._talk = talk
        self._ask = ask
        self._may_keep = may_keep
        self._one = asyncio.Lock()

    async def search(self, words: str) -> Disclosure:
        """The best matches that the conversation does not hold yet. Raises Denied, StoreError."""
        return await self._counted(
            lambda: search_memory(
                self._handle, self._talk.session, words, title=self._ask.title, in_context=self._in_context
            )
        )

    async def open(self, page: PageId) -> Disclosure:
        """One more page that the index leads to. Raises Denied, StoreError."""
        return await self._counted(lambda: open_page(self._handle, self._talk.session, page, title=self._ask.title))

    async def tasks(self) -> Disclosure:
        """The scope's open tasks. Raises Denied, StoreError."""
        return await self.open(TASKS)

    async def remember(self, kind: str, text: str) -> Candidate:
        """Collect one fact that a person of this conversation said. Raises BadInput, LedgerError."""
        async with self._one:
            if len(self.wishes) >= WISHES:
                raise BadInput(f"{WISHES} facts are noted for this answer already; the next flush takes the rest.")
            candidate = wish(kind, text, self._ask)
            if not self._may_keep(candidate.kind):
                raise BadInput(f"Here nothing of the kind {candidate.kind.value!r} is kept about people.")
            if (refused := unkept(self._handle, candidate.kind)) is not None:
                raise refused
            await self._is_new(candidate)
            self.wishes.append(candidate)
            return candidate

    async def standing_wishes(self) -> list[Candidate]:
        """The wishes whose messages still read as they did when the agent saw them. Raises LedgerError."""
        read = messages_of(self._ask)
        standing = []
        for one in self.wishes:
            found = [await self._handle.ledger.find(key) for key in one.sources]
            now = {entry.message.key: entry.message.text for entry in found if entry is not None}
            if all(now.get(key) == read[key].text for key in one.sources):
                standing.append(one)
        return standing

    async def _in_context(self) -> frozenset[MessageKey]:
        return frozenset(messages_of(self._ask))

    async def _is_new(self, candidate: Candidate) -> None:
        """One message gives an agent one fact, and none where something of it was written at once: it has one mark
        (memory_core.flush.marks). Raises BadInput where it gave one."""
        if any(fold(one.body) == fold(candidate.body) for one in self.wishes):
            raise BadInput("That is noted already.")
        states = candidate.sources[0]
        written = {message for message, _, _ in await self._handle.ledger.written()}
        if states in written or any(one.sources[0] == states for one in self.wishes):
            raise BadInput("Something of that message is noted already; the next flush takes what else it says.")

    async def _counted(self, disclosing: Callable[[], Awaitable[Disclosure]]) -> Disclosure:
        """Count it in the session, and as a part of what this message disclosed, so that /remem why tells it."""
        async with self._one:
            disclosure = await disclosing()
            talk, first = self._talk, self._talk.last_disclosure
            talk.disclosed(disclosure, self._ask.message.key)
            talk.last_disclosure = disclosure if first is None else _joined(first, disclosure)
            return disclosure


async def in_context(handle: Handle, conversation: Conversation) -> frozenset[MessageKey]:
    """What was said and stands in the conversation as it is recorded. Raises LedgerError."""
    context = await handle.ledger.context(conversation)
    return frozenset(entry.message.key for entry in (*context.tail, *context.fresh))


def _joined(first: Disclosure, more: Disclosure) -> Disclosure:
    """One message's disclosures as one."""
    return replace(
        more,
        loaded=(*first.loaded, *more.loaded),
        left_out=(*first.left_out, *more.left_out),
        notes=tuple(dict.fromkeys((*first.notes, *more.notes))),
        breaker=first.breaker or more.breaker,
        trail=(*first.trail, *more.trail),
    )
