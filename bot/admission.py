"""The doorkeeper: asks the platform what the rules of bot/limits.py need to know, and remembers who was told what.

    turned_away   before anything is kept: a DM of somebody who may not write one, a server that may not have us
    too_much      before an answer is made: the person, then the room, has had its share

Both give the line to say; an empty one is silence. What is remembered here is a bounded table in the process's
memory: after a restart a refusal may be told once more.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

from adapters.messages import Happening, Incoming
from bot.limits import Answered, Bucket, Dm, Quiet
from bot.parts import Parts
from bot.wording import CANNOT_TELL, DM_NOT_NAMED, DM_NOT_SHARED, SERVER_NOT_NAMED, too_much_here, too_much_of_you
from memory_core.errors import StoreError
from memory_core.gate import has_index
from memory_core.ids import PersonKey, RoomKey, RoomKind
from memory_core.messages import Voice

KEPT = 10_000
"""How many persons, and how many rooms, are remembered: those of whom we heard last."""

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")


class _Recent(OrderedDict[_Key, _Value], Generic[_Key, _Value]):
    """A table that forgets what was not touched for longest."""

    def put(self, key: _Key, value: _Value) -> None:
        self[key] = value
        self.move_to_end(key)
        while len(self) > KEPT:
            self.popitem(last=False)


def asks(incoming: Incoming) -> bool:
    """A slash command or a button: its platform waits for an answer."""
    return incoming.happening in {Happening.COMMAND, Happening.BUTTON}


class Admission:
    """Who comes in, and who is answered."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._strangers: _Recent[PersonKey, Quiet] = _Recent()
        self._persons: _Recent[PersonKey, Bucket] = _Recent()
        self._rooms: _Recent[RoomKey, Bucket] = _Recent()

    async def turned_away(self, incoming: Incoming) -> str | None:
        """None: come in. Else nothing of the event may be kept, and this is said (empty: nothing)."""
        welcome = self._parts.welcome
        if not welcome.serves(incoming.room.key.platform, incoming.room.server_id):
            return SERVER_NOT_NAMED if asks(incoming) else ""
        if incoming.room.kind is not RoomKind.DIRECT or incoming.author.voice is not Voice.PERSON:
            return None
        # Who deleted is not told; and what is deleted goes, whoever may not write any more.
        if incoming.happening is Happening.DELETE:
            return None
        line = await self._dm_refused(incoming.author.key)
        if not line or (incoming.happening is Happening.EDIT and await self._stands(incoming)):
            return None
        return self._once(incoming, line)

    async def _dm_refused(self, person: PersonKey) -> str:
        """Why this person may not write a DM; empty: they may."""
        admitted = self._parts.welcome.admits(person)
        if admitted is None:
            admitted = await self._parts.adapters[person.platform].shares_server(person)
            if admitted is None:
                return "" if await self._is_known(person) else CANNOT_TELL
        if admitted:
            return ""
        return DM_NOT_SHARED if self._parts.welcome.dm is Dm.SHARED else DM_NOT_NAMED

    async def _is_known(self, person: PersonKey) -> bool:
        """Has the person a memory of their own? One that cannot be read counts as theirs."""
        try:
            return await has_index(self._parts.handles.open(self._parts.rooms.person(person)))
        except StoreError:
            return True

    async def _stands(self, incoming: Incoming) -> bool:
        """Is this an edit of what we kept when its author was still welcome? Then it is corrected."""
        ledger = self._parts.handles.open(self._parts.rooms.person(incoming.author.key)).ledger
        return incoming.message is not None and await ledger.find(incoming.message) is not None

    def _once(self, incoming: Incoming, line: str) -> str:
        """The line, if it is to be told now; an edit is no occasion."""
        if asks(incoming):
            return line
        if incoming.happening is not Happening.MESSAGE:
            return ""
        quiet, tell = self._strangers.get(incoming.author.key, Quiet()).tell(self._parts.clock.monotonic_s())
        self._strangers.put(incoming.author.key, quiet)
        return line if tell else ""

    def too_much(self, incoming: Incoming, *, recorded: bool) -> str | None:
        """None: answer. Else this is said in its place (empty: nothing). `recorded`: what was said is kept."""
        person, room = incoming.author.key, incoming.room.key
        if room.platform == "console":
            return None  # whoever sits at the console runs us
        now_s, parts = self._parts.clock.monotonic_s(), self._parts
        theirs = self._persons.get(person) or Bucket.full(parts.answers_per_person, now_s)
        ours = self._rooms.get(room) or Bucket.full(parts.answers_per_room, now_s)
        theirs_after, answered = theirs.take(now_s)
        line = too_much_of_you(recorded=recorded)
        if answered is Answered.YES:
            ours_after, answered = ours.take(now_s)
            self._rooms.put(room, ours_after)
            line = too_much_here(recorded=recorded)
            if answered is not Answered.YES:
                theirs_after = theirs  # the room's refusal costs the person nothing
        self._persons.put(person, theirs_after)
        if answered is Answered.YES:
            return None
        return line if answered is Answered.TOLD or asks(incoming) else ""
