"""The servers that we are in: who is in one of them, and those that may not have us.

Who shares a server with us Discord tells a bot without the members intent in two ways: whoever speaks in one or uses
a command there is in it, and `GET /guilds/{guild}/members/{user}` answers 404 for who is not
(https://discord.com/developers/docs/resources/guild#get-guild-member). So a person is asked for server by server, a
few at once, for a bounded time and in a bounded number of servers; what was found is believed for a while. Somebody
found nowhere among more servers than were asked is not known to be a stranger: None.

A server that may not have us hears one line and is left, when we join it and whenever it comes into sight.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import TypeAlias

import discord

from adapters.discord.channels import Recent
from adapters.discord.errors import REFUSALS, why
from adapters.discord.notices import greeting_place

ASKED_SERVERS = 100
"""In how many servers a person is asked for; Discord allows some 50 calls a second to a bot."""

AT_ONCE = 5
LOOK_UP_S = 3.0
"""So long a DM waits; a command in a DM is acknowledged meanwhile."""

SHARED_S, STRANGE_S = 3600.0, 300.0
"""How long it is believed that somebody shares a server, and that they do not."""

RefusedServer: TypeAlias = Callable[[str], str]
"""The one line for a server, by its id, that may not have us; empty: it may."""

_log = logging.getLogger(__name__)


class Servers:
    """The servers of `client`."""

    def __init__(self, client: discord.Client, refused: RefusedServer) -> None:
        self._client = client
        self._refused = refused
        self._known: Recent[tuple[float, bool]] = Recent(10_000)

    def seen(self, user: discord.abc.User, guild: discord.Guild | None) -> None:
        """Somebody spoke or acted in `guild` (None: in a DM)."""
        if guild is not None and not self._refused(str(guild.id)):
            self._keep(user.id, shares=True)

    async def shares(self, user: int) -> bool | None:
        """Is the user in a server of ours? None where it cannot be learnt now. Never raises."""
        until, shares = self._known.get(user, (0.0, False))
        if until > self._now_s():
            return shares
        found = await self._look_up(user)
        if found is not None:
            self._keep(user, shares=found)
        return found

    async def leave_if_refused(self, guild: discord.Guild) -> bool:
        """Leave a server that may not have us, after one line; was it one? Never raises."""
        line = self._refused(str(guild.id))
        if not line:
            self._forget_strangers()
            return False
        place = greeting_place(guild)
        if place is not None:
            with suppress(*REFUSALS):
                await place.send(line)
        try:
            await guild.leave()
            _log.info("Server %s may not have the bot and was left", guild.id)
        except REFUSALS as error:
            _log.warning("Server %s may not have the bot and could not be left: %s", guild.id, why(error))
        return True

    async def _look_up(self, user: int) -> bool | None:
        ours = [guild for guild in self._client.guilds if not self._refused(str(guild.id))]
        if not ours and not self._client.is_ready():
            return None  # Discord has not told yet where we are
        asked = ours[:ASKED_SERVERS]
        answers: list[bool | None] = [None] if len(ours) > len(asked) else []
        try:
            async with asyncio.timeout(LOOK_UP_S):
                for at in range(0, len(asked), AT_ONCE):
                    answers += await asyncio.gather(*(_is_member(one, user) for one in asked[at : at + AT_ONCE]))
                    if True in answers:
                        return True
        except TimeoutError:
            return None
        return None if None in answers else False

    def _keep(self, user: int, *, shares: bool) -> None:
        self._known.put(user, (self._now_s() + (SHARED_S if shares else STRANGE_S), shares))

    def _forget_strangers(self) -> None:
        """A new server: who was a stranger may be in it."""
        for user in [user for user, (_, shares) in self._known.items() if not shares]:
            del self._known[user]

    @staticmethod
    def _now_s() -> float:
        return asyncio.get_running_loop().time()


async def _is_member(guild: discord.Guild, user: int) -> bool | None:
    try:
        await guild.fetch_member(user)
    except discord.NotFound:
        return False
    except REFUSALS:
        return None
    return True
