"""What must be known besides a payload: who we are, the room, people's names. Values; `directory` looks them up."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from adapters.messages import Room
from adapters.payload import Json, flag, string
from memory_core.ids import RoomKey, RoomKind
from memory_core.text import one_line

_KINDS = {
    "channel": RoomKind.CHANNEL,
    "group": RoomKind.CHANNEL,
    "im": RoomKind.DIRECT,
    "app_home": RoomKind.DIRECT,
    "mpim": RoomKind.GROUP_DM,
}


def kind_of_type(channel_type: str) -> RoomKind:
    """The kind that an event's `channel_type` tells."""
    return _KINDS.get(channel_type, RoomKind.UNKNOWN)


@dataclass(frozen=True, slots=True)
class Me:
    """The bot in its workspace, from auth.test: `team_name` is the workspace's friendly name."""

    team: str
    user: str
    bot: str = ""
    team_name: str = ""


@dataclass(frozen=True, slots=True)
class RoomFacts:
    """A conversation as conversations.info describes it. `member`: may the bot speak there?"""

    kind: RoomKind = RoomKind.UNKNOWN
    name: str = ""
    topic: str = ""
    shared: bool = False
    member: bool = True
    creator: str = ""
    partner: str = ""

    @classmethod
    def of(cls, channel: Json) -> RoomFacts:
        """The facts of a conversation object, by its flags alone.

        Rule: https://docs.slack.dev/reference/objects/conversation-object.
        """
        kind = RoomKind.UNKNOWN
        if flag(channel, "is_im"):
            kind = RoomKind.DIRECT
        elif flag(channel, "is_mpim"):
            kind = RoomKind.GROUP_DM
        elif flag(channel, "is_channel") or flag(channel, "is_group"):
            kind = RoomKind.CHANNEL
        return cls(
            kind=kind,
            name=one_line(string(channel, "name"), 100),
            topic=one_line(string(channel, "purpose", "value") or string(channel, "topic", "value"), 250),
            shared=flag(channel, "is_ext_shared"),
            member=kind is RoomKind.DIRECT or flag(channel, "is_member") or kind is RoomKind.GROUP_DM,
            creator=string(channel, "creator"),
            partner=string(channel, "user"),
        )


NOT_THERE = RoomFacts(member=False)
"""A conversation that Slack says we cannot see."""


@dataclass(frozen=True, slots=True)
class Known:
    """Everything that `normalise` may use besides the payload.

    `room` None: could not be learnt now. `threads`: the roots of threads in this room that the bot was called into.
    """

    me: Me
    room: RoomFacts | None = None
    names: Mapping[str, str] = field(default_factory=dict)
    threads: Set[str] = frozenset()

    def room_at(self, channel: str, *, team: str = "", channel_type: str = "", shared: bool = False) -> Room:
        """The room `channel` in our terms; an event's own `channel_type` comes before what was looked up."""
        facts = self.room or RoomFacts()
        kind = kind_of_type(channel_type)
        kind = facts.kind if kind is RoomKind.UNKNOWN else kind
        title = f"#{facts.name}" if facts.name and kind is RoomKind.CHANNEL else facts.name
        if kind is RoomKind.DIRECT:
            title = f"DM with {self.names.get(facts.partner) or 'one person'}"
        return Room(
            key=RoomKey(f"slack:{team or self.me.team}:{channel}"),
            kind=kind,
            title=title,
            topic=facts.topic,
            server=self.me.team_name,
            shared=shared or facts.shared,
            server_id=team or self.me.team,
        )
