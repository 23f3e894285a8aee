"""Slash commands and buttons: taken in, acknowledged in time, waiting for their answer.

    asked ── acknowledged in time ──→ alive: answers go through the interaction's webhook for 15 min
      └───── 404 10062, network ────→ dead:  the answer goes to the room, as an ordinary message

The event is handed in first, which takes milliseconds, and acknowledged once it is durable, at the latest after
ACKNOWLEDGE_S whatever happens. An answer waits until the acknowledgement is through, however fast it was made. What
the asker alone may see is never said in the room: when the token is dead, the room hears only that it came too late.
"""

from __future__ import annotations

import asyncio
import logging
import time

import discord
from discord.utils import MISSING

from adapters.base import ACKNOWLEDGE_S
from adapters.discord.channels import Recent
from adapters.discord.door import Door
from adapters.discord.errors import ALREADY_ACKNOWLEDGED, REFUSALS, TRANSPORT, why
from adapters.discord.render import NO_PINGS
from adapters.messages import Incoming
from memory_core.commands import is_public

TOKEN_S = 15 * 60.0
"""How long an interaction's token lives (reference: "Interaction Responses")."""

TOO_LATE = "A private answer came too late for Discord to show it. Please ask again."
NOT_KEPT = "I could not take this down, so nothing was done. Please try again in a moment."
NO_PLACE = "I cannot work in this kind of place."
_log = logging.getLogger(__name__)


class Asked:
    """One interaction."""

    def __init__(self, interaction: discord.Interaction[discord.Client]) -> None:
        self._interaction = interaction
        self._ends_s = time.monotonic() + TOKEN_S
        self._alive: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def acknowledge(self, *, private: bool) -> None:
        """The first call that leaves: a command shows "thinking…" (`private`: to the asker), a button nothing."""
        alive = False
        try:
            await self._interaction.response.defer(ephemeral=private)
            alive = True
        except discord.HTTPException as error:
            alive = error.code == ALREADY_ACKNOWLEDGED
        except TRANSPORT:
            alive = False
        finally:
            self._alive.set_result(alive)

    async def alive(self) -> bool:
        """Was it acknowledged, and does its token still live?"""
        return await asyncio.shield(self._alive) and time.monotonic() < self._ends_s

    async def say(
        self, text: str, view: discord.ui.View = MISSING, *, private: bool = True
    ) -> discord.WebhookMessage:
        """One piece of the answer. Raises what discord.py raises; a dead token is a 401 or 404."""
        return await self._interaction.followup.send(
            text, ephemeral=private, allowed_mentions=NO_PINGS, view=view, wait=True
        )

    async def refuse(self, text: str) -> None:
        """Tell the asker that nothing was done, if they can still be told. Never raises."""
        if await self.alive():
            try:
                await self.say(text)
            except REFUSALS as error:
                _log.warning("A command could not be answered: %s", why(error))


class AskedTable:
    """The interactions of the last 15 minutes, by id; at most 1,000."""

    def __init__(self) -> None:
        self._rows: Recent[Asked] = Recent(1_000)

    async def take(
        self, interaction: discord.Interaction[discord.Client], incoming: Incoming | None, deliver: Door
    ) -> None:
        """Hand `incoming` in and acknowledge it; None: it comes from a place that we cannot work in."""
        asked = Asked(interaction)
        self._rows.put(interaction.id, asked)
        if incoming is None:
            await asked.acknowledge(private=True)
            await asked.refuse(NO_PLACE)
            return
        taking = asyncio.ensure_future(deliver(incoming))
        done, _ = await asyncio.wait({taking}, timeout=ACKNOWLEDGE_S)
        decided = bool(done) and taking.exception() is None
        await asked.acknowledge(private=taking.result().private if decided else not is_public(incoming.words))
        try:
            durable = (await taking).durable
        except Exception:  # nobody foresaw it: the asker is told, discord.py logs it
            await asked.refuse(NOT_KEPT)
            raise
        if not durable:
            await asked.refuse(NOT_KEPT)

    async def alive(self, answer_to: str) -> Asked | None:
        """The interaction of `Incoming.answer_to`, if an answer can still go through it."""
        asked = self._rows.get(int(answer_to)) if answer_to.isdecimal() else None
        return asked if asked is not None and await asked.alive() else None
