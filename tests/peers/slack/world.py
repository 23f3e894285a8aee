"""The state of the local Slack: people, channels, messages, and what the bot posted."""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Kind: TypeAlias = Literal["channel", "group", "im", "mpim"]
Json: TypeAlias = dict[str, object]

_PINGS = re.compile(r"<!(?:channel|here|everyone)[^>]*>|<!subteam\^[^>]*>|<@[UW][A-Z0-9]+[^>]*>")


class SlackRefuses(Exception):
    """What Slack's own client tells a person, such as: no slash commands in threads."""


@dataclass(frozen=True, slots=True)
class User:
    """A person or an app's bot user."""

    id: str
    name: str
    team: str
    admin: bool = False
    guest: bool = False


@dataclass(slots=True)
class Channel:
    """A conversation; `kind` is what its flags say, whatever letter its id begins with."""

    id: str
    name: str
    kind: Kind
    members: set[str] = field(default_factory=set)
    topic: str = ""
    purpose: str = ""
    shared: bool = False
    archived: bool = False
    creator: str = ""
    partner: str = ""
    messages: dict[str, Json] = field(default_factory=dict)

    def shown_to(self, bot: str) -> Json:
        """The conversation object that conversations.info gives."""
        flags = {f"is_{name}": self.kind == name for name in ("im", "mpim")}
        flags |= {"is_channel": self.kind == "channel", "is_group": self.kind in {"group", "mpim"}}
        base: Json = {
            "id": self.id,
            "name": self.name,
            "creator": self.creator,
            "is_archived": self.archived,
            **flags,
        }
        if self.kind == "im":
            return {"id": self.id, "is_im": True, "user": self.partner, "is_archived": self.archived}
        return base | {
            "is_private": self.kind != "channel",
            "is_member": bot in self.members,
            "is_ext_shared": self.shared,
            "topic": {"value": self.topic},
            "purpose": {"value": self.purpose},
        }


@dataclass(frozen=True, slots=True)
class Post:
    """Something that the bot said: in a channel, to one person (`to`), or as a file.

    `cut`: it was longer than Slack shows. `pings`: what in it would notify somebody.
    """

    channel: str
    text: str
    ts: str = ""
    thread_ts: str = ""
    to: str = ""
    blocks: tuple[Json, ...] = ()
    file: str = ""
    cut: bool = False
    via: Literal["message", "ephemeral", "response", "file"] = "message"

    @property
    def pings(self) -> tuple[str, ...]:
        """Every mention in its text and blocks that notifies."""
        return tuple(_PINGS.findall(f"{self.text} {self.blocks}"))

    @property
    def buttons(self) -> tuple[Json, ...]:
        """The buttons under it."""
        found: list[Json] = []
        for block in self.blocks:
            elements = block.get("elements")
            if block.get("type") == "actions" and isinstance(elements, list):
                found.extend(elements)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class Edit:
    """One edit of a message of the bot, and when. `parse` None: Slack reads it as if a person had typed it."""

    channel: str
    ts: str
    text: str
    at_s: float
    parse: str | None = None
    link_names: bool = False

    @property
    def pings(self) -> tuple[str, ...]:
        """Every mention that notifies: marked ones, and typed ones where they are looked for."""
        typed = re.findall(r"@\w+", self.text) if self.parse != "none" or self.link_names else []
        return (*_PINGS.findall(self.text), *typed)


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the Web API and what it was answered (`ok` or the error)."""

    method: str
    arguments: Json
    answer: str


class World:
    """Everything there is, and a bell that rings when something is added."""

    def __init__(self, team: str, team_name: str) -> None:
        self.team = team
        self.team_name = team_name
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.posts: list[Post] = []
        self.calls: list[Call] = []
        self.edits: list[Edit] = []
        self._numbers = itertools.count(1)
        self._bell = asyncio.Event()

    def number(self) -> int:
        """A number that was not used before."""
        return next(self._numbers)

    def ts(self) -> str:
        """The next message time stamp."""
        return f"{1_712_412_120 + self.number()}.000100"

    def add(self, post: Post) -> None:
        """Note what the bot said, and wake who waits for it."""
        self.posts.append(post)
        self.ring()

    def ring(self) -> None:
        """Something happened: whoever waits looks again."""
        self._bell.set()
        self._bell = asyncio.Event()

    async def until(self, done: Callable[[], bool], deadline_s: float, what: str) -> None:
        """Wait until `done()`; raises TimeoutError that tells what was waited for."""
        try:
            async with asyncio.timeout(deadline_s):
                while not done():
                    await self._bell.wait()
        except TimeoutError:
            raise TimeoutError(f"{what} did not come within {deadline_s} s; posted: {self.posts}") from None

    def sees(self, bot: str, channel_id: str) -> Channel | None:
        """The channel if the bot may know that it exists."""
        channel = self.channels.get(channel_id)
        if channel is None or (channel.kind != "channel" and bot not in channel.members):
            return None
        return channel

    def dm(self, bot: str, users: Iterable[str]) -> Channel:
        """The DM of the bot with one person, or its group DM with several; made where it is missing."""
        members = {bot, *users}
        for channel in self.channels.values():
            if channel.kind in {"im", "mpim"} and channel.members == members:
                return channel
        single = len(members) == 2
        partner = next(iter(members - {bot}))
        kind: Kind = "im" if single else "mpim"
        # Slack gives new group DMs ids that begin with C, like channels.
        made = Channel(
            f"{'D' if single else 'C'}{self.number():04}X", "" if single else "mpdm-people-1", kind, members
        )
        made.partner = partner if single else ""
        self.channels[made.id] = made
        return made
