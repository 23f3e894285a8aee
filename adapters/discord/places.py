"""What a Discord channel is in our terms: pure.

    channel type                          kind             room            thread
    text, news, voice, stage              CHANNEL          the channel     –
    public or news thread                 PUBLIC_THREAD    its channel     the thread
    thread of a forum or media channel    FORUM_POST       the forum       the post
    private thread                        PRIVATE_THREAD   the thread      –
    group                                 GROUP_DM         the group       –
    private                               DIRECT           the DM          –
    anything else, or not to be learnt    UNKNOWN          the channel     –

The kind is Discord's own channel type, never a name or a form of id. discord.py takes every message without a guild
for a 1:1 DM without having seen its channel: a message's channel goes through channels.Channels first, which asks.
"""

from __future__ import annotations

from typing import TypeAlias

import discord
from discord import ChannelType

from adapters.messages import Room
from memory_core.ids import Conversation, RoomKey, RoomKind
from memory_core.text import one_line

Channel: TypeAlias = (
    discord.abc.GuildChannel | discord.Thread | discord.DMChannel | discord.GroupChannel | discord.PartialMessageable
)
"""Whatever discord.py puts into `message.channel`, or gives for an id."""

_KINDS = {
    ChannelType.text: RoomKind.CHANNEL,
    ChannelType.news: RoomKind.CHANNEL,
    ChannelType.voice: RoomKind.CHANNEL,
    ChannelType.stage_voice: RoomKind.CHANNEL,
    ChannelType.forum: RoomKind.CHANNEL,
    ChannelType.media: RoomKind.CHANNEL,
    ChannelType.public_thread: RoomKind.PUBLIC_THREAD,
    ChannelType.news_thread: RoomKind.PUBLIC_THREAD,
    ChannelType.private_thread: RoomKind.PRIVATE_THREAD,
    ChannelType.group: RoomKind.GROUP_DM,
    ChannelType.private: RoomKind.DIRECT,
}


def kind_of(channel: Channel | None) -> RoomKind:
    """The kind by Discord's own type; UNKNOWN for a channel that nobody has looked at."""
    if channel is None or isinstance(channel, discord.PartialMessageable):
        return RoomKind.UNKNOWN
    kind = _KINDS.get(channel.type, RoomKind.UNKNOWN)
    if kind is RoomKind.PUBLIC_THREAD and isinstance(channel, discord.Thread):
        return RoomKind.FORUM_POST if isinstance(channel.parent, discord.ForumChannel) else kind
    return kind


def key(native: int) -> RoomKey:
    """The room key of a channel id."""
    return RoomKey(f"discord:{native}")


def conversation_of(channel: Channel) -> Conversation:
    """Where what is said in `channel` belongs; a public thread is a part of its channel's room."""
    if kind_of(channel) in {RoomKind.PUBLIC_THREAD, RoomKind.FORUM_POST} and isinstance(channel, discord.Thread):
        return Conversation(key(channel.parent_id), str(channel.id))
    return Conversation(key(channel.id))


def channel_id(conversation: Conversation) -> int:
    """The channel or thread that messages of `conversation` are posted to."""
    return int(conversation.thread or conversation.room.native)


def room_of(channel: Channel) -> Room:
    """The room of `channel` as Discord describes it now; names are cleaned to one line, never trusted."""
    kind = kind_of(channel)
    place: object = channel
    if kind in {RoomKind.PUBLIC_THREAD, RoomKind.FORUM_POST} and isinstance(channel, discord.Thread):
        place = channel.parent
    topic = getattr(place, "topic", None) or ""
    guild = getattr(channel, "guild", None)
    server, server_id = (guild.name, str(guild.id)) if isinstance(guild, discord.Guild) else ("", "")
    return Room(
        conversation_of(channel).room,
        kind,
        one_line(_title(kind, place)),
        one_line(topic, 1024),
        one_line(server),
        server_id=server_id,
    )


def _title(kind: RoomKind, place: object) -> str:
    if isinstance(place, discord.DMChannel | discord.GroupChannel):
        name = place.name if isinstance(place, discord.GroupChannel) else None
        return name or ", ".join(user.display_name for user in place.recipients)
    if kind is RoomKind.UNKNOWN:
        return ""
    return f"#{getattr(place, 'name', None) or ''}".rstrip("#")
