"""Room and author → scope: whose memory a message belongs to, the same for every platform.

A 1:1 DM is the person's; the keys of `REMEM_OWNER` are one human, whose memory is the owner's whichever of them
speaks. Everything else with a known kind is a group, under its friendly name: a thread or forum post comes with its
parent's key, a private thread with its own. What we cannot be sure of has no memory at all, and never the DM's: a
room of unknown kind, a mapping that cannot be trusted, a room shared with another organisation unless that is
switched on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from adapters.messages import Author, Room
from memory_core.errors import NamesDamaged, StoreError
from memory_core.ids import DirectScope, GroupScope, PersonKey, RoomKey, RoomKind, Scope
from memory_core.messages import Voice
from memory_core.names import Names

UNKNOWN_KIND = "I cannot tell what kind of place this is, so I read and keep nothing here."
SHARED = (
    "This channel is shared with another organisation, so I read and keep nothing here; "
    "REMEM_SLACK_CONNECT=on switches it on."
)
NO_PARTNER = "I do not know yet whose conversation this is, so I read and keep nothing here."


@dataclass(frozen=True, slots=True)
class Placed:
    """The scope of a message; where it is None, `why` is a sentence that can be said to the asker."""

    scope: Scope | None
    why: str = ""


class Rooms:
    """Finds scopes. `owners`: the owner's keys, the first one is whose name the memory bears.

    `shared_rooms` lets rooms of Slack Connect have a memory.
    """

    def __init__(self, names: Names, owners: Sequence[PersonKey], *, shared_rooms: bool = False) -> None:
        self._names = names
        self._owners = tuple(owners)
        self._shared_rooms = shared_rooms
        self._partners: dict[RoomKey, PersonKey] = {}

    async def place(self, room: Room, author: Author, *, spoke: bool = True) -> Placed:
        """The scope, or why there is none; the room gets its name at its first use.

        Never raises for a damaged mapping or a refused write: it fails closed.
        `spoke` False: the author may only stand in for somebody whom the platform does not tell (a deletion).
        """
        if room.kind is RoomKind.UNKNOWN:
            return Placed(None, UNKNOWN_KIND)
        if room.shared and not self._shared_rooms:
            return Placed(None, SHARED)
        if room.kind is RoomKind.DIRECT:
            return self._direct(room, author, spoke)
        try:
            return Placed(GroupScope(await self._names.claim(room.key, room.title, room.server)))
        except NamesDamaged as error:
            return Placed(None, str(error))
        except StoreError as error:
            # A new title that cannot be written now takes no memory away: what is said must not be lost for it.
            scope = await self.known(room.key)
            return Placed(scope, "" if scope else str(error))

    async def known(self, room: RoomKey) -> Scope | None:
        """The scope of a room that has one already; None for a DM or a room without a name. Never raises."""
        try:
            name = await self._names.lookup(room)
        except (NamesDamaged, StoreError):
            return None
        return GroupScope(name) if name is not None else None

    async def renamed(self, room: Room) -> None:
        """Note a room's new title; its name and memory stay. Raises NamesDamaged, StoreFailed."""
        if room.kind not in {RoomKind.DIRECT, RoomKind.UNKNOWN}:
            await self._names.retitle(room.key, room.title)

    def person(self, person: PersonKey) -> DirectScope:
        """The scope of a person's 1:1 DM."""
        if person in self._owners:
            return DirectScope(self._owners[0], owner=True)
        return DirectScope(person)

    def _direct(self, room: Room, author: Author, spoke: bool) -> Placed:
        # What the bot says in a DM belongs to the person it talks with, who spoke there before.
        if spoke and author.voice is Voice.PERSON:
            self._partners[room.key] = author.key
        partner = self._partners.get(room.key)
        return Placed(self.person(partner)) if partner else Placed(None, NO_PARTNER)
