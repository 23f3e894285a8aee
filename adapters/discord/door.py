"""The door between a connection and the bot: what is being handed in, and the end of it.

An event that the bot cannot keep costs one line in the log, and nothing else is harmed by it. Whoever closes the door
waits until what was being handed in is durable: the bot's ledger may be closed after that.
"""

from __future__ import annotations

import asyncio
import logging

from adapters.base import Deliver, Taken
from adapters.messages import Incoming
from memory_core.errors import RememError

_log = logging.getLogger(__name__)


class Door:
    """`deliver`, counted; itself a Deliver that does not raise RememError."""

    def __init__(self, deliver: Deliver) -> None:
        self._deliver = deliver
        self._inside: set[asyncio.Future[Taken]] = set()
        self.closed = False

    async def __call__(self, incoming: Incoming) -> Taken:
        """Hand one event in. What comes after the closing, or cannot be kept, is told as not durable."""
        if self.closed:
            return Taken(durable=False)
        handing = asyncio.ensure_future(self._deliver(incoming))
        self._inside.add(handing)
        try:
            return await handing
        except RememError as error:
            _log.warning("An event was not kept: %s", error)
            return Taken(durable=False)
        finally:
            self._inside.discard(handing)

    async def close(self) -> None:
        """Let nothing in any more, and wait for what is inside."""
        self.closed = True
        if self._inside:
            await asyncio.wait(tuple(self._inside))
