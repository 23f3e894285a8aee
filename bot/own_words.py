"""What we said, kept in the ledger as a part of the conversation: once, as it stands in the end."""

from __future__ import annotations

import structlog

from adapters.messages import Incoming, Sent
from bot.heard import own_events
from bot.parts import Parts
from memory_core.errors import LedgerFailed
from memory_core.ids import Scope

_log = structlog.get_logger()


async def record_own(parts: Parts, incoming: Incoming, text: str, sent: Sent, scope: Scope) -> None:
    """Keep our answer to `incoming`; one that cannot be kept stands in the room all the same."""
    me, now = parts.me(incoming.room.key.platform), parts.clock.now()
    try:
        await parts.intake.record(own_events(incoming, text, sent, scope, me=me, now=now))
    except LedgerFailed as refused:
        _log.error("own answer not recorded", room=incoming.room.key, why=str(refused))
