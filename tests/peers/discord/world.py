"""What the local Discord knows: users, guilds, channels, messages, and what each looks like on the wire.

Ids are snowflakes (a time in their upper bits, so that a client reads a message's time from its id). Payloads hold
what discord.py reads and what Discord's reference documents; optional parts that nobody reads are left out.
Permissions are resolved by Discord's own rule: @everyone, then roles, then the overwrites of everyone, roles and
member (https://discord.com/developers/docs/topics/permissions#permission-overwrites).
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

TEXT, DM, VOICE, GROUP_DM, CATEGORY, NEWS = 0, 1, 2, 3, 4, 5
NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD, STAGE, FORUM, MEDIA = 10, 11, 12, 13, 15, 16
THREADS = frozenset({NEWS_THREAD, PUBLIC_THREAD, PRIVATE_THREAD})
PRIVATE = frozenset({DM, GROUP_DM})

MANAGE_CHANNELS, MANAGE_GUILD, ADMINISTRATOR = 1 << 4, 1 << 5, 1 << 3
VIEW, SEND, READ_HISTORY, SEND_IN_THREADS = 1 << 10, 1 << 11, 1 << 16, 1 << 38
ATTACH, EMBED = 1 << 15, 1 << 14
DEFAULT_PERMISSIONS = VIEW | SEND | READ_HISTORY | SEND_IN_THREADS | ATTACH | EMBED

CHAT_INPUT_REPLY, REPLY = 20, 19
EPHEMERAL, LOADING = 1 << 6, 1 << 7

_EPOCH_MS = 1_420_070_400_000
_serial = itertools.count(1)


def snowflake() -> int:
    """A fresh id, growing with time as Discord's do."""
    return ((int(time.time() * 1000) - _EPOCH_MS) << 22) | (next(_serial) & 0x3FFFFF)


def iso(moment: datetime) -> str:
    """Discord's form of a time."""
    return moment.astimezone(UTC).isoformat()


@dataclass(eq=False)
class User:
    """An account; `bot` for applications. `webhook` marks the author of a webhook's post."""

    name: str
    display: str = ""
    bot: bool = False
    webhook: bool = False
    id: int = field(default_factory=snowflake)

    @property
    def mention(self) -> str:
        """What a client types to mention this user."""
        return f"<@{self.id}>"

    def payload(self) -> Json:
        """The user object."""
        return {
            "id": str(self.id),
            "username": self.name,
            "global_name": self.display or None,
            "discriminator": "0000",
            "avatar": None,
            "bot": self.bot,
        }


@dataclass(eq=False)
class Role:
    """A role of a guild with its permission bits; `of`: Discord made it for that bot, when it was invited."""

    name: str
    permissions: int = 0
    id: int = field(default_factory=snowflake)
    of: User | None = None

    def payload(self, position: int) -> Json:
        """The role object."""
        return {
            "id": str(self.id),
            "name": self.name,
            "permissions": str(self.permissions),
            "position": position,
            "color": 0,
            "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
            "hoist": False,
            "managed": self.of is not None,
            "mentionable": False,
            "flags": 0,
        } | ({"tags": {"bot_id": str(self.of.id)}} if self.of else {})


@dataclass(eq=False)
class Channel:
    """A channel, thread or DM. `overwrites` maps a user's or role's id to (allowed, denied) bits."""

    type: int
    name: str = ""
    guild: Guild | None = None
    parent: Channel | None = None
    topic: str | None = None
    recipients: list[User] = field(default_factory=list)
    members: set[int] = field(default_factory=set)
    owner: User | None = None
    overwrites: dict[int, tuple[int, int]] = field(default_factory=dict)
    archived: bool = False
    id: int = field(default_factory=snowflake)
    messages: dict[int, Message] = field(default_factory=dict)

    @property
    def mention(self) -> str:
        """What a client types to name this channel."""
        return f"<#{self.id}>"

    def deny(self, who: User | Role, bits: int) -> None:
        """Take `bits` from `who` in this channel."""
        allowed, denied = self.overwrites.get(who.id, (0, 0))
        self.overwrites[who.id] = (allowed & ~bits, denied | bits)

    def payload(self, viewer: User | None = None) -> Json:
        """The channel object; a thread tells `viewer` whether it is a member."""
        base: Json = {"id": str(self.id), "type": self.type, "flags": 0}
        base["last_message_id"] = str(max(self.messages)) if self.messages else None
        if self.type in PRIVATE:
            others = [user.payload() for user in self.recipients if viewer is None or user.id != viewer.id]
            base |= {"recipients": others}
            return base | (
                {"name": self.name or None, "icon": None, "owner_id": "1"} if self.type == GROUP_DM else {}
            )
        assert self.guild is not None
        base |= {"guild_id": str(self.guild.id), "name": self.name}
        if self.type in THREADS:
            return base | self._thread_part(viewer)
        return base | {
            "topic": self.topic,
            "position": 0,
            "nsfw": False,
            "parent_id": None,
            "rate_limit_per_user": 0,
            "bitrate": 64_000,
            "user_limit": 0,
            "available_tags": [],
            "permission_overwrites": [
                {
                    "id": str(target),
                    "type": 0 if any(role.id == target for role in self.guild.roles) else 1,
                    "allow": str(allowed),
                    "deny": str(denied),
                }
                for target, (allowed, denied) in self.overwrites.items()
            ],
        }

    def _thread_part(self, viewer: User | None) -> Json:
        assert self.parent is not None
        part: Json = {
            "parent_id": str(self.parent.id),
            "owner_id": str(self.owner.id if self.owner else 1),
            "message_count": len(self.messages),
            "member_count": len(self.members),
            "thread_metadata": {
                "archived": self.archived,
                "auto_archive_duration": 1440,
                "archive_timestamp": iso(datetime.now(UTC)),
                "locked": False,
            },
        }
        if viewer is not None and viewer.id in self.members:
            part["member"] = self.member_payload(viewer)
        return part

    def member_payload(self, user: User) -> Json:
        """The thread member object of `user`."""
        return {
            "id": str(self.id),
            "user_id": str(user.id),
            "join_timestamp": iso(datetime.now(UTC)),
            "flags": 0,
        }


@dataclass(eq=False)
class Guild:
    """A server: its first role is @everyone and has the guild's own id."""

    name: str
    owner: User
    id: int = field(default_factory=snowflake)
    roles: list[Role] = field(default_factory=list)
    channels: list[Channel] = field(default_factory=list)
    members: dict[int, tuple[User, list[Role]]] = field(default_factory=dict)
    nicks: dict[int, str] = field(default_factory=dict)
    system_channel: Channel | None = None
    joined_at: datetime = datetime(2024, 1, 1, tzinfo=UTC)

    def __post_init__(self) -> None:
        self.roles.insert(0, Role("@everyone", DEFAULT_PERMISSIONS, self.id))
        self.members[self.owner.id] = (self.owner, [])

    @property
    def everyone(self) -> Role:
        """The role that every member has."""
        return self.roles[0]

    def channel(self, name: str) -> Channel:
        """The channel or thread of that name."""
        return next(channel for channel in self.channels if channel.name == name)

    def member_payload(self, user: User, *, with_user: bool = True) -> Json:
        """The member object of `user`."""
        roles = self.members.get(user.id, (user, []))[1]
        part: Json = {
            "roles": [str(role.id) for role in roles],
            "nick": self.nicks.get(user.id),
            "joined_at": iso(self.joined_at),
            "deaf": False,
            "mute": False,
            "flags": 0,
            "permissions": str(self.base_permissions(user)),
        }
        return part | ({"user": user.payload()} if with_user else {})

    def base_permissions(self, user: User) -> int:
        """What `user` may do in this guild, before any channel's overwrites."""
        if user.id == self.owner.id:
            return (1 << 50) - 1
        bits = self.everyone.permissions
        for role in self.members.get(user.id, (user, []))[1]:
            bits |= role.permissions
        return (1 << 50) - 1 if bits & ADMINISTRATOR else bits

    def payload(self, viewer: User, *, rest: bool = False) -> Json:
        """The guild object as the gateway (`rest`: the Web API) shows it to `viewer`."""
        part: Json = {
            "id": str(self.id),
            "name": self.name,
            "owner_id": str(self.owner.id),
            "icon": None,
            "features": [],
            "emojis": [],
            "stickers": [],
            "roles": [role.payload(place) for place, role in enumerate(self.roles)],
            "verification_level": 0,
            "default_message_notifications": 0,
            "explicit_content_filter": 0,
            "mfa_level": 0,
            "nsfw_level": 0,
            "premium_tier": 0,
            "afk_timeout": 300,
            "preferred_locale": "en-US",
            "system_channel_id": str(self.system_channel.id) if self.system_channel else None,
            "system_channel_flags": 0,
        }
        if rest:
            return part
        return part | {
            "joined_at": iso(self.joined_at),
            "large": False,
            "member_count": len(self.members),
            "members": [self.member_payload(viewer)],
            "channels": [channel.payload() for channel in self.channels if channel.type not in THREADS],
            "threads": [
                channel.payload(viewer)
                for channel in self.channels
                if channel.type in THREADS and not channel.archived and may(viewer, channel, VIEW)
            ],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }


@dataclass(eq=False)
class Attached:
    """A file of a message, served by the CDN; one that is `stuck` is asked for and never comes."""

    name: str
    body: bytes
    media_type: str
    stuck: bool = False
    id: int = field(default_factory=snowflake)

    @property
    def path(self) -> str:
        """The file's path on the CDN."""
        return f"/attachments/1/{self.id}/{self.name}"

    def payload(self) -> Json:
        """The attachment object."""
        url = f"https://cdn.discordapp.com{self.path}"
        size = len(self.body)
        return {
            "id": str(self.id),
            "filename": self.name,
            "size": size,
            "url": url,
            "proxy_url": url,
            "content_type": self.media_type or None,
        }


@dataclass(eq=False)
class Message:
    """A message that stands (or stood) in a channel."""

    channel: Channel
    author: User
    text: str
    type: int = 0
    files: tuple[Attached, ...] = ()
    stickers: tuple[str, ...] = ()
    embeds: tuple[Json, ...] = ()
    components: tuple[Json, ...] = ()
    reply_to: Message | None = None
    flags: int = 0
    edited_at: datetime | None = None
    application: int | None = None
    nonce: str | None = None
    id: int = field(default_factory=snowflake)

    def payload(self, users: dict[int, User], *, content: bool = True, resolve: bool = True) -> Json:
        """The message object; without `content` the parts are empty that need the message content intent."""
        guild = self.channel.guild
        mentioned = [users[int(found)] for found in re.findall(r"<@!?(\d+)>", self.text) if int(found) in users]
        part: Json = {
            "id": str(self.id),
            "channel_id": str(self.channel.id),
            "author": self.author.payload(),
            "content": self.text if content else "",
            "timestamp": iso(datetime.fromtimestamp(((self.id >> 22) + _EPOCH_MS) / 1000, UTC)),
            "edited_timestamp": iso(self.edited_at) if self.edited_at else None,
            "tts": False,
            "mention_everyone": "@everyone" in self.text,
            "mentions": [self._mentioned(user) for user in dict.fromkeys(mentioned)],
            "mention_roles": re.findall(r"<@&(\d+)>", self.text),
            "attachments": [file.payload() for file in self.files] if content else [],
            "embeds": list(self.embeds) if content else [],
            "components": list(self.components) if content else [],
            "sticker_items": [
                {"id": str(number), "name": name, "format_type": 1} for number, name in enumerate(self.stickers, 1)
            ],
            "pinned": False,
            "type": self.type,
            "flags": self.flags,
            "nonce": self.nonce,
        }
        if guild is not None:
            part["guild_id"] = str(guild.id)
            if not self.author.webhook:
                part["member"] = guild.member_payload(self.author, with_user=False)
        if self.author.webhook:
            part["webhook_id"] = str(self.author.id)
        if self.application is not None:
            part |= {"application_id": str(self.application), "webhook_id": str(self.application)}
        if self.reply_to is not None and resolve:
            there = self.reply_to.id in self.reply_to.channel.messages
            part["message_reference"] = {
                "type": 0,
                "message_id": str(self.reply_to.id),
                "channel_id": str(self.channel.id),
            } | ({"guild_id": str(guild.id)} if guild else {})
            part["referenced_message"] = self.reply_to.payload(users, resolve=False) if there else None
        return part

    def _mentioned(self, user: User) -> Json:
        guild = self.channel.guild
        member = {"member": guild.member_payload(user, with_user=False)} if guild else {}
        return user.payload() | member


def may(user: User, channel: Channel, bits: int) -> bool:
    """May `user` do all of `bits` in `channel`? A private thread is seen by its members only."""
    if channel.type in PRIVATE:
        return any(one.id == user.id for one in channel.recipients)
    if channel.type == PRIVATE_THREAD and user.id not in channel.members:
        return False
    return permissions(user, channel) & bits == bits


def permissions(user: User, channel: Channel) -> int:
    """The bits that `user` has in `channel`; none outside its guild; all in a DM."""
    guild = channel.guild
    if guild is None:
        return (1 << 50) - 1
    if user.id not in guild.members:
        return 0
    place = channel.parent if channel.parent is not None else channel
    bits = guild.base_permissions(user)
    if bits & ADMINISTRATOR:
        return bits
    roles = guild.members[user.id][1]
    for targets in ([guild.id], [role.id for role in roles], [user.id]):
        allowed = denied = 0
        for target in targets:
            more_allowed, more_denied = place.overwrites.get(target, (0, 0))
            allowed, denied = allowed | more_allowed, denied | more_denied
        bits = (bits & ~denied) | allowed
    return bits if bits & VIEW else 0
