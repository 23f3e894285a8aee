"""Holes: rooms in which the bot could not keep a message, because its ledger refused it (a full disk, say).

Discord delivers a message once. So such a room is read anew, from what is known of it on, until all of it is kept;
until then what comes live is not let in, because what is known would then lie behind the hole: it is read with the
rest. A room that is not recorded is never read.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from adapters.base import Behind, CaughtUp, WhatIsBehind
from memory_core.errors import RememError

AGAIN_S = 10.0
"""How long after a message could not be kept its room is read anew; twice as long each time, up to LATEST_S."""
LATEST_S = 300.0

_log = logging.getLogger(__name__)


class Holes:
    """The rooms of one connection that miss something. `read_room` reads one of them and tells `read` or `missed`."""

    def __init__(
        self,
        behind: WhatIsBehind,
        read_room: Callable[[Behind], Awaitable[None]],
        caught_up: CaughtUp,
        again_s: float = AGAIN_S,
    ) -> None:
        self._behind = behind
        self._read_room = read_room
        self._caught_up = caught_up
        self._again_s = again_s
        self._rooms: set[int] = set()
        self._mending: asyncio.Task[None] | None = None

    def __contains__(self, room: int) -> bool:
        """Does the room miss something?"""
        return room in self._rooms

    async def missed(self, room: int) -> None:
        """A message of the room could not be kept."""
        if room in self._rooms or not await self._is_recorded(room):
            return
        self._rooms.add(room)
        if self._mending is None or self._mending.done():
            self._mending = asyncio.create_task(self._mend(), name="reading again what Discord said")

    async def _is_recorded(self, room: int) -> bool:
        """Will it be read? A ledger that cannot even be asked may know it."""
        try:
            return any(int(one.room.native) == room for one in await self._behind())
        except RememError:
            return True

    def read(self, room: int) -> None:
        """The room misses nothing any more, or nothing of it can be read."""
        self._rooms.discard(room)

    async def close(self) -> None:
        """Stop; what is missing is read at the next start."""
        if self._mending is not None:
            self._mending.cancel()
            with suppress(asyncio.CancelledError):
                await self._mending

    async def _mend(self) -> None:
        """Read the rooms until none misses anything; then what is owed there may be answered."""
        pause_s = self._again_s
        while self._rooms:
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, LATEST_S)
            try:
                recorded = {int(room.room.native): room for room in await self._behind()}
            except RememError as error:
                _log.warning("What could not be kept is not read yet: %s", error)
                continue
            self._rooms &= recorded.keys()
            await asyncio.gather(*(self._read_room(recorded[native]) for native in tuple(self._rooms)))
        await self._caught_up()
