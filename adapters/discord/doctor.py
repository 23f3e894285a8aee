"""`remem doctor`: what Discord says of our token, intents and permissions.

It connects to the Web API only, never to the gateway, so it costs no session and can run beside `remem run`.
"""

from __future__ import annotations

import discord

from adapters.base import Check
from adapters.discord.errors import REFUSALS, intent_off, refusal, why
from adapters.discord.invite import invite_url

_WORDS = {
    "view_channel": "View Channels",
    "send_messages": "Send Messages",
    "send_messages_in_threads": "Send Messages in Threads",
    "read_message_history": "Read Message History",
    "embed_links": "Embed Links",
    "attach_files": "Attach Files",
}
_GUILDS = 20
"""How many servers are looked at one by one: three calls each."""


def content_granted(flags: discord.ApplicationFlags) -> bool:
    """Is the message content intent switched on, for a verified bot or for a small one?"""
    return flags.gateway_message_content or flags.gateway_message_content_limited


async def application_id(client: discord.Client, token: str) -> int:
    """The client id of the token's application. Raises RememError when Discord refuses."""
    try:
        await client.login(token)
    except REFUSALS as error:
        raise refusal(error) from None
    finally:
        await client.close()
    return client.application_id or 0


async def examine(client: discord.Client, token: str) -> tuple[Check, ...]:
    """Every finding, in the order in which a person would mend them. Never raises for a refusal."""
    try:
        await client.login(token)
        return (_identity(client), _intent(client), *await _servers(client))
    except REFUSALS as error:
        step = str(refusal(error)).removeprefix(f"{why(error)}: ")
        return (Check("Discord token", ok=False, found=why(error), next_step=step[:1].upper() + step[1:]),)
    finally:
        await client.close()


def _identity(client: discord.Client) -> Check:
    return Check("Discord token", ok=True, found=f"accepted, the bot is {client.user}")


def _intent(client: discord.Client) -> Check:
    if content_granted(client.application_flags):
        return Check("Discord message content intent", ok=True, found="on")
    return Check("Discord message content intent", ok=False, found="off", next_step=str(intent_off()))


async def _servers(client: discord.Client) -> tuple[Check, ...]:
    guilds = [guild async for guild in client.fetch_guilds(limit=200)]
    if not guilds:
        url = invite_url(client.application_id or 0)
        return (Check("Discord servers", ok=False, found="none", next_step=f"Open {url} and add the bot to one."),)
    count = Check("Discord servers", ok=True, found=str(len(guilds)))
    return (count, *[await _server(client, guild.id, guild.name) for guild in guilds[:_GUILDS]])


async def _server(client: discord.Client, guild_id: int, name: str) -> Check:
    """May the bot do its work in this server, and in which channels may it see but not speak?"""
    title = f"Discord server {name}"
    try:
        guild = await client.fetch_guild(guild_id, with_counts=False)
        me = await guild.fetch_member(client.user.id if client.user else 0)
        channels = await guild.fetch_channels()
    except REFUSALS as error:
        return Check(title, ok=False, found=why(error), next_step="Invite the bot again: remem discord-invite.")
    missing = [word for name, word in _WORDS.items() if not getattr(me.guild_permissions, name)]
    if missing:
        step = "Server Settings, Roles, the bot's role: allow " + ", ".join(missing) + "."
        return Check(title, ok=False, found="missing: " + ", ".join(missing), next_step=step)
    mute = [
        channel.name for channel in channels if isinstance(channel, discord.TextChannel) and _is_mute(channel, me)
    ]
    if mute:
        rooms = ", ".join(f"#{room}" for room in mute[:10])
        return Check(
            title,
            ok=False,
            found=f"may read but not answer in {rooms}",
            next_step=f"Edit Channel, Permissions: allow the bot Send Messages in {rooms}, or hide them from it.",
        )
    return Check(title, ok=True, found="all permissions are there")


def _is_mute(channel: discord.TextChannel, me: discord.Member) -> bool:
    may = channel.permissions_for(me)
    return may.view_channel and not may.send_messages
