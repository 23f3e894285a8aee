"""First-Join, as the bot lives it: greet a room once, ask for its purpose, take the answer.

    unknown room       invited or first addressed → greeted, asked; recorded from now on
    asked              a reply to the question, the topic's button, or /remem purpose → the index is made
    memory stands      (a hand or /remem made it) greeted, asked nothing
    known              asked nothing; back after a removal it says so in one line

What is known of a room (greeted, asked, recorded) stands in the ledger, and is kept here while the program runs.
"""

from __future__ import annotations

from dataclasses import replace

from adapters.messages import Button, Incoming
from bot.parts import Parts
from bot.wording import HELLO_AGAIN, RECORDED, greeting, topic_button
from memory_core.first_join import answer_purpose
from memory_core.gate import has_index
from memory_core.ids import MessageKey, RoomKey, Scope
from memory_core.ledger.base import RoomState
from memory_core.zone import zone_of


class Joining:
    """The states of all rooms, and the two steps of a first join."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._states: dict[RoomKey, RoomState] = {}
        self._mute: set[RoomKey] = set()

    async def state(self, room: RoomKey) -> RoomState:
        """What is known of the room."""
        if room not in self._states:
            self._states[room] = await self._parts.intake.room(room)
        return self._states[room]

    async def keep(self, room: RoomKey, state: RoomState) -> None:
        """Replace what is known of the room, durably. Raises LedgerFailed."""
        await self._parts.intake.keep_room(room, state)
        self._states[room] = state

    async def is_known(self, room: RoomKey) -> bool:
        """Was the room greeted (or its memory found), and is it recorded?"""
        state = await self.state(room)
        return state.recorded and state.greeted_at is not None

    def mute(self, room: RoomKey) -> None:
        """We may not speak there: only who addresses us makes us try again."""
        self._mute.add(room)

    def is_mute(self, room: RoomKey) -> bool:
        """Was a greeting refused there, and none given since?"""
        return room in self._mute

    async def words(self, incoming: Incoming, scope: Scope, *, invited: bool) -> tuple[str, tuple[Button, ...], bool]:
        """What to say to a room that was joined or first addressed: text, buttons, does it ask for the purpose?"""
        state = await self.state(incoming.room.key)
        if await has_index(self._parts.handles.open(scope)):
            if state.greeted_at is None:
                return (RECORDED, (), False)
            return (HELLO_AGAIN if invited else "", (), False)
        if state.greeted_at is not None:
            return ("", (), False)
        return (greeting(incoming.room), topic_button(incoming.room), True)

    async def greeted(self, incoming: Incoming, question: MessageKey | None) -> None:
        """The room was greeted; `question` is the message that asked for the purpose, if one did."""
        self._mute.discard(incoming.room.key)
        state = await self.state(incoming.room.key)
        await self.keep(
            incoming.room.key,
            replace(
                state,
                recorded=True,
                greeted_at=self._parts.clock.now(),
                purpose_question=question or state.purpose_question,
            ),
        )

    async def is_answer(self, incoming: Incoming) -> bool:
        """Is this message a reply to the question for the purpose?"""
        if incoming.reply_to is None or not incoming.text:
            return False
        return incoming.reply_to == (await self.state(incoming.room.key)).purpose_question

    async def take_purpose(self, incoming: Incoming, scope: Scope, purpose: str, *, admin: bool) -> str:
        """Write the purpose and say what now stands there. Raises StoreError."""
        handle = self._parts.handles.open(scope)
        zone = await zone_of(handle)
        kept = await answer_purpose(handle, zone, purpose, rooms=[incoming.room.key], admin=admin)
        if kept is None:
            return "This group has a purpose already; an admin of the room can change it."
        state = await self.state(incoming.room.key)
        if state.purpose_question is not None:  # answered: from now on a reply to the greeting is talk
            await self.keep(incoming.room.key, replace(state, purpose_question=None))
        return f"Thank you. This group's purpose is now: {kept}"
