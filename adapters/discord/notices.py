"""What happens beside messages, as `Incoming`: rooms left and renamed, servers joined, commands, buttons. Pure.

Event keys: an interaction is `discord:interaction:<id>`; joins, leaves and renames carry their room or server and
their time, so that a later one is another event.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta

import discord

from adapters.discord.normalise import Own, person, somebody
from adapters.discord.places import Channel, conversation_of, kind_of, room_of
from adapters.discord.readable import named
from adapters.messages import Author, Happening, Incoming
from memory_core.ids import EventKey, RoomKind, message_key
from memory_core.text import one_line

NEW_SERVER = timedelta(days=1)
"""An invitation of this age is still new at the start; the event's key keeps it from being told twice."""


def changed(what: Happening, channel: Channel, own: Own, at: datetime) -> Incoming:
    """JOINED, LEFT or RENAMED: something happened to the room of `channel`."""
    place = conversation_of(channel)
    event = EventKey(f"{place.room}!{what}@{at.isoformat()}")
    return Incoming(what, event, room_of(channel), place, somebody(own), at)


def joined(guild: discord.Guild, channel: Channel, own: Own, at: datetime) -> Incoming:
    """The bot was added to a server; `channel` is where it may greet."""
    me = guild.get_member(own.me)
    since = me.joined_at if me is not None and me.joined_at is not None else at
    event = EventKey(f"discord:server:{guild.id}@{since.isoformat()}")
    place = conversation_of(channel)
    return Incoming(Happening.JOINED_SERVER, event, room_of(channel), place, somebody(own), at)


def is_new(guild: discord.Guild, now: datetime) -> bool:
    """Was the bot invited here within NEW_SERVER?"""
    me: discord.Member | None = guild.me
    return me is not None and me.joined_at is not None and now - me.joined_at < NEW_SERVER


def greeting_place(guild: discord.Guild) -> discord.TextChannel | None:
    """The system channel, else the first channel where we may speak; None in a server without text channels."""
    me: discord.Member | None = guild.me
    open_to_us = [channel for channel in guild.text_channels if me is not None and _may_speak(channel, me)]
    if guild.system_channel in open_to_us:
        return guild.system_channel
    return next(iter(open_to_us), guild.system_channel)


def _may_speak(channel: discord.TextChannel, me: discord.Member) -> bool:
    may = channel.permissions_for(me)
    return may.view_channel and may.send_messages


def interaction(given: discord.Interaction[discord.Client], channel: Channel, own: Own) -> Incoming:
    """A slash command (`words` is what stands after /remem) or a button (`words` is its id)."""
    place = conversation_of(channel)
    button = given.type is discord.InteractionType.component
    admin = given.permissions.manage_channels or given.permissions.manage_guild
    under = given.message if button else None
    return Incoming(
        Happening.BUTTON if button else Happening.COMMAND,
        EventKey(f"discord:interaction:{given.id}"),
        room_of(channel),
        place,
        Author(
            person(given.user.id),
            one_line(given.user.display_name, 80),
            admin=admin if given.guild_id else kind_of(channel) is RoomKind.DIRECT,
        ),
        given.created_at,
        message=message_key(place.room, str(under.id)) if under else None,
        addressed=True,
        words=words_of(given, own),
        answer_to=str(given.id),
        member=not given.guild_id or given.app_permissions.view_channel,
    )


def words_of(given: discord.Interaction[discord.Client], own: Own) -> str:
    """`status`, `note decision: Redis` …, empty for a bare /remem; the custom id of a button."""
    data: Mapping[str, object] = {**(given.data or {})}
    if given.type is discord.InteractionType.component:
        return str(data.get("custom_id", ""))
    options = data.get("options")
    found: dict[str, str] = {}
    for option in options if isinstance(options, list) else ():
        found[str(option.get("name"))] = str(option.get("value", ""))
    words = " ".join(found[name].strip() for name in ("action", "text") if found.get(name, "").strip())
    return named(words, {own.me: "remem"}, given.guild, own.names)
