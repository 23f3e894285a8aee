"""Discord's message markup as people read it: pure.

`<@1>` becomes `@Ana`, `<#2>` `#ops`, `<@&3>` `@Ops team`, `<:tick:4>` `:tick:`, `<t:1712412120:R>` a time in UTC,
`</remem:5>` `/remem`. Ids decide elsewhere (authors, rooms); in text they would be unreadable, and an id that is
quoted later would ping someone. What has no name any more is told as such, without its id. `@everyone` stays as it
was written: no message of ours can ping (render.NO_PINGS).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime

import discord

from memory_core.text import one_line

_MARKUP = re.compile(
    r"<(?:@!?(?P<user>\d{1,20})|@&(?P<role>\d{1,20})|\#(?P<channel>\d{1,20})"
    r"|a?:(?P<emoji>\w{1,32}):\d{1,20}|t:(?P<time>-?\d{1,13})(?::[A-Za-z])?|/(?P<command>[^:<>\n]{1,100}):\d{1,20})>"
)
_NOBODY: Mapping[int, str] = {}


def readable(message: discord.Message, me: int, known: Mapping[int, str]) -> str:
    """The text of `message` with names for ids, without the mention of the bot (`me`) or its role at its start."""
    names = {user.id: user.display_name for user in message.mentions}
    return named(without_address(message.content, me, own_role(message)), names, message.guild, known)


def own_role(message: discord.Message) -> int:
    """The role that Discord made for the bot alone and offers beside it under the same name; 0 if there is none."""
    role = message.guild.self_role if message.guild else None
    return role.id if role else 0


def without_address(content: str, me: int, role: int = 0) -> str:
    """`content` without the mentions of `me`, or of our own `role`, at its start: they address, they say nothing."""
    return re.sub(rf"\A(?:\s*<@(?:!?{me}|&{role})>[,:]?)+\s*", "", content)


def named(
    text: str, users: Mapping[int, str], guild: discord.Guild | None, known: Mapping[int, str] = _NOBODY
) -> str:
    """`text` with a name for every id that Discord's markup holds; no markup is left, nor made by a name.

    People are looked up in `users`, then in `known`.
    """

    def replace(found: re.Match[str]) -> str:
        kind, value = found.lastgroup or "", found[found.lastgroup or 0]
        match kind:
            case "user":
                return f"@{_plain(users.get(int(value)) or known.get(int(value), 'someone'))}"
            case "role":
                role = guild.get_role(int(value)) if guild else None
                return f"@{_plain(role.name if role else 'some role')}"
            case "channel":
                channel = guild.get_channel_or_thread(int(value)) if guild else None
                return f"#{_plain(channel.name if channel else 'some-room')}"
            case "time":
                return _moment(value)
            case "command":
                return f"/{value}"
        return f":{value}:"

    while _MARKUP.search(text):  # each round takes away one `<` at least, and names bring none
        text = _MARKUP.sub(replace, text)
    return text


def _plain(name: str) -> str:
    return one_line(name.replace("<", "(").replace(">", ")"), 100)


def _moment(seconds: str) -> str:
    """`2026-04-06 14:02 UTC`, or what a moment is called that no calendar has."""
    try:
        return datetime.fromtimestamp(int(seconds), UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (OverflowError, ValueError, OSError):
        return "some time"
