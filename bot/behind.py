"""Which rooms are to be caught up with after an absence, and from where: the ledger knows."""

from __future__ import annotations

from collections.abc import Sequence

from adapters.base import Behind
from memory_core.ids import DirectScope, MessageKey, RoomKey
from memory_core.ledger.base import Intake


async def rooms_behind(intake: Intake, platform: str) -> Sequence[Behind]:
    """A platform's rooms that are recorded, unless a member stopped that, and its 1:1 DMs. Raises LedgerFailed."""
    states = dict(await intake.rooms(platform))
    newest: dict[RoomKey, dict[str, MessageKey]] = {room: {} for room, state in states.items() if state.recorded}
    for reached in await intake.reached(platform):
        place = reached.conversation
        if isinstance(reached.scope, DirectScope):
            newest.setdefault(place.room, {})
        if place.room in newest and reached.message is not None:
            newest[place.room][place.thread] = reached.message
    stopped = {room for room, state in states.items() if state.stopped}
    since = {room: state.greeted_at for room, state in states.items()}
    return [Behind(room, heard, since.get(room)) for room, heard in newest.items() if room not in stopped]
