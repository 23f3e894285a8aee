"""Answers that are owed: to what was durable and not answered when the program ended, and to what was said meanwhile.

    take_up     at the start, before anything new comes in: what the ledger says is owed
    add         an adapter delivers a message late: it was said while the adapter was away
    to_answer   the adapter can speak again and has delivered all that it missed: one answer a conversation, to the
                newest; the older ones are marked as answered, silently, and so is everything older than STALE.
                Before them comes what first told a room's purpose, however old: nobody says it a second time

Nothing is answered twice, however often this is run: an answer is marked in the ledger before it is sent. One that is
refused for good is marked all the same; one that was not made when the program ended again is owed at the next start.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import timedelta

from adapters.messages import Author, Happening, Incoming, Room
from adapters.rooms import Placed
from bot.parts import Parts
from memory_core.ids import Conversation, DirectScope, EventKey, MessageKey, RoomKey, RoomKind, Scope
from memory_core.messages import Message

STALE = timedelta(hours=24)
"""Nobody waits for an answer any more to a message of this age."""


@dataclass(frozen=True, slots=True)
class Late:
    """A message that is owed an answer, as it was taken in."""

    incoming: Incoming
    placed: Placed
    secrets: tuple[str, ...] = ()


class Owed:
    """What is owed on all platforms."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._waiting: dict[MessageKey, Late] = {}

    async def take_up(self) -> None:
        """Take up what the ledger says is owed. Raises LedgerFailed."""
        for scope, entry in await self._parts.intake.owed():
            incoming = rebuilt(entry.message, scope)
            if await still_has(self._parts, scope, incoming):
                self._waiting[entry.message.key] = Late(incoming, Placed(scope))
            else:
                await self._parts.intake.answered(entry.message.key)

    def add(self, late: Late) -> None:
        """A message came late."""
        if late.incoming.message is not None:
            self._waiting[late.incoming.message] = late

    async def to_answer(self, platform: str, tells_purpose: Callable[[Incoming], Awaitable[bool]]) -> list[Late]:
        """What shall be answered now on a platform, in order; the rest of it is marked. Raises LedgerFailed.

        `tells_purpose`: is it a reply to the question for a room's purpose?
        """
        mine = {key: late for key, late in self._waiting.items() if late.incoming.room.key.platform == platform}
        in_order = sorted(mine.items(), key=lambda one: one[1].incoming.sent_at)
        fresh_from = self._parts.clock.now() - STALE
        newest: dict[Conversation, MessageKey] = {}
        purposes: dict[RoomKey, MessageKey] = {}
        for key, late in in_order:
            newest[late.incoming.conversation] = key
            if late.incoming.room.key not in purposes and await tells_purpose(late.incoming):
                purposes[late.incoming.room.key] = key
        fresh = {key for key in newest.values() if mine[key].incoming.sent_at >= fresh_from}
        chosen = fresh.union(purposes.values())
        for key in mine:
            if key not in chosen:
                await self._parts.intake.answered(key)
            del self._waiting[key]
        return [late for key, late in in_order if key in chosen]


async def still_has(parts: Parts, scope: Scope, incoming: Incoming) -> bool:
    """Does the room still have the memory that it had? (A name, an owner may have been changed by a hand.)"""
    if isinstance(scope, DirectScope):
        return (await parts.rooms.place(incoming.room, incoming.author)).scope == scope
    return await parts.rooms.known(incoming.room.key) == scope


def rebuilt(message: Message, scope: Scope) -> Incoming:
    """The event of a message in the ledger. What it does not tell (topic, server) an answer does not need."""
    kind = RoomKind.DIRECT if isinstance(scope, DirectScope) else RoomKind.CHANNEL
    return Incoming(
        Happening.MESSAGE,
        EventKey(message.key),
        Room(message.conversation.room, kind, message.room_title),
        message.conversation,
        Author(message.author, message.author_name, message.voice),
        message.sent_at,
        message.text,
        message.key,
        message.addressed,
        message.reply_to,
    )
