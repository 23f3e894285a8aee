"""What we say that is no part of the conversation: that there was no answer, and why.

Discord and Slack tell us of our own messages as of anybody's, and that is recorded. A line about a failure
must not be: the next request would hand it to the model as an answer of its own, again and again.
"""

from __future__ import annotations

import structlog

from adapters.messages import Sent
from bot.parts import Parts
from memory_core.errors import LedgerFailed
from memory_core.ids import EventKey
from memory_core.ledger.base import Deleted

_log = structlog.get_logger()


async def unsay(parts: Parts, sent: Sent) -> None:
    """Keep `sent` out of the transcript, whether the platform has told us of it already, will do so, or never does.

    To the ledger it is deleted, which counts before the message came, too; in the room it stands.
    """
    try:
        await parts.intake.record([Deleted(EventKey(f"unsaid:{message}"), message) for message in sent.messages])
    except LedgerFailed as refused:
        _log.error("a line about a failure stays in the transcript", why=str(refused))
