"""Discord's refusals in our terms: the one table of this edge.

    what discord.py raises                                        a sending becomes        a start becomes
    403/400 codes of _NOT_ALLOWED (50013 missing permission …)    NOT_ALLOWED              –
    codes of _GONE (50001 lost access, 10003 unknown channel …)   GONE                     –
    any other 403                                                 NOT_ALLOWED              –
    any other 404                                                 GONE                     –
    401 / LoginFailure / close code 4004                          FAILED                   the token is refused
    PrivilegedIntentsRequired (close code 4014)                   –                        the intent is off
    everything else, and the network                              FAILED                   Discord cannot be reached

Codes: https://discord.com/developers/docs/topics/opcodes-and-status-codes.
"""

from __future__ import annotations

import aiohttp
import discord

from adapters.messages import Delivery
from memory_core.errors import RememError

TRANSPORT = (aiohttp.ClientError, OSError, TimeoutError)
"""What the network raises through discord.py."""

REFUSALS = (discord.DiscordException, *TRANSPORT)
"""Everything that a call of discord.py may raise."""

UNKNOWN_INTERACTION, ALREADY_ACKNOWLEDGED, UNKNOWN_MESSAGE = 10062, 40060, 10008

_NOT_ALLOWED = frozenset({50013, 50007, 50009, 50083, 160005, 20022, 20028})
_GONE = frozenset({50001, 10003, 10004, 50278})

_INTENT_OFF = (
    "The message content intent is off, so every message in servers would look empty: open "
    "https://discord.com/developers/applications, choose the application, Bot, Privileged Gateway Intents, and "
    "switch on MESSAGE CONTENT INTENT; then start remem again."
)
_NOT_OURS = (
    "DISCORD_TOKEN is refused by Discord: open https://discord.com/developers/applications, choose the application, "
    "Bot, Reset Token, and set DISCORD_TOKEN to the new one."
)


def delivery(error: Exception) -> Delivery:
    """What a sending that ended in `error` became."""
    if not isinstance(error, discord.HTTPException):
        return Delivery.FAILED
    if error.code in _GONE:
        return Delivery.GONE
    if error.code in _NOT_ALLOWED:
        return Delivery.NOT_ALLOWED
    return {403: Delivery.NOT_ALLOWED, 404: Delivery.GONE}.get(error.status, Delivery.FAILED)


def why(error: Exception) -> str:
    """The reason for a log line: Discord's code and words, never a header or a token."""
    if isinstance(error, discord.HTTPException):
        return f"Discord answered {error.status} (code {error.code}): {error.text[:200]}"
    return f"Discord could not be reached ({type(error).__name__})"


def refusal(error: Exception) -> RememError:
    """The sentence for a start that ended in `error`: what is wrong and what to do next."""
    if isinstance(error, discord.PrivilegedIntentsRequired):
        return intent_off()
    closed = isinstance(error, discord.ConnectionClosed) and error.code == 4004
    denied = isinstance(error, discord.HTTPException) and error.status == 401
    if closed or denied or isinstance(error, discord.LoginFailure):
        return RememError(_NOT_OURS)
    if isinstance(error, discord.ConnectionClosed):
        return RememError(f"Discord closed the connection for good (code {error.code}); start remem again later.")
    return RememError(
        f"{why(error)}: check the network, REMEM_DISCORD_PROXY and https://discordstatus.com, then start remem again."
    )


def intent_off() -> RememError:
    """The message content intent is not granted."""
    return RememError(_INTENT_OFF)
