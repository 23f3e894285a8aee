"""Who, where and what: the identities that everything else is bound to.

A room is known by its platform id, never by its name; a person likewise. Keys are plain strings with a
checked form, so that they can stand in a file, a database row and a log line unchanged:

    room key      discord:<channel id> | slack:<team id>:<channel id> | console:<name>
    person key    discord:<user id>    | slack:<team id>:<user id>    | console:<name>
    message key   <room key>:<the platform's message id>
    scope key     group:<name> | direct:<person key>

A page id (`attention`, `conventions/api`) names a page inside ONE scope. It is not a path: which file it
means is the layout's business, and only ids that the layout lists are ever opened.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType, Self, TypeAlias

from memory_core.errors import BadInput

_KEY_PART = re.compile(r"[^\s:/\\\x00]+")
_PLATFORM_PARTS = {"discord": 2, "slack": 3, "console": 2}


class _Key(str):
    """A checked string; `what` names it in errors."""

    __slots__ = ()
    what = "key"

    def __new__(cls, text: str) -> Self:
        parts = text.split(":")
        expected = _PLATFORM_PARTS.get(parts[0])
        if expected != len(parts) or not all(_KEY_PART.fullmatch(part) for part in parts):
            raise BadInput(
                f"{text[:80]!r} is no {cls.what}; it has the form discord:<id>, slack:<team>:<id> or console:<name>."
            )
        return super().__new__(cls, text)

    @property
    def platform(self) -> str:
        """`discord`, `slack` or `console`."""
        return self.split(":", 1)[0]

    @property
    def native(self) -> str:
        """The platform's own id, the last part."""
        return self.rsplit(":", 1)[1]


class RoomKey(_Key):
    """The stable id of a room. Raises BadInput when the form is wrong."""

    __slots__ = ()
    what = "room key"


class PersonKey(_Key):
    """The stable id of a person on a platform. Raises BadInput when the form is wrong."""

    __slots__ = ()
    what = "person key"

    @property
    def folder(self) -> str:
        """The person's folder under people/: the key, lower case, `-` for `:`."""
        return self.lower().replace(":", "-")


MessageKey = NewType("MessageKey", str)
"""`<room key>:<message id>`: one message, whatever its edits."""

EventKey = NewType("EventKey", str)
"""One event of a platform: a message key, with `@<edit time>` for an edit, `!deleted` for a removal; or an
interaction (`discord:interaction:<id>`, `slack:trigger:<id>`)."""

PageId = NewType("PageId", str)
"""A page of a scope: `index`, `attention`, `conventions/api`, `journal/2026-04-06`, `state/flush`."""


def message_key(room: RoomKey, native: str) -> MessageKey:
    """The key of the message that `room`'s platform knows as `native`."""
    return MessageKey(f"{room}:{native}")


class RoomKind(StrEnum):
    """What a place is, told by the platform's own flags. UNKNOWN fails closed: no memory is read or written."""

    CHANNEL = "channel"
    PUBLIC_THREAD = "public_thread"
    PRIVATE_THREAD = "private_thread"
    FORUM_POST = "forum_post"
    GROUP_DM = "group_dm"
    DIRECT = "direct"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A room's main line (`thread` is empty) or one thread of it; has a tail and a flush cursor."""

    room: RoomKey
    thread: str = ""

    def __str__(self) -> str:
        return f"{self.room}#{self.thread}" if self.thread else str(self.room)


@dataclass(frozen=True, slots=True)
class GroupScope:
    """The memory of a group, under its friendly name (the file name, chosen once)."""

    name: str

    @property
    def key(self) -> str:
        """`group:<name>`."""
        return f"group:{self.name}"


@dataclass(frozen=True, slots=True)
class DirectScope:
    """The memory of one person's 1:1 DM; `owner` puts it at the root of the workspace."""

    person: PersonKey
    owner: bool = False

    @property
    def key(self) -> str:
        """`direct:<person key>`."""
        return f"direct:{self.person}"


Scope: TypeAlias = GroupScope | DirectScope


def scope_of_key(key: str, *, owner: bool = False) -> Scope:
    """The scope that `key` (`group:<name>` or `direct:<person key>`) names. Raises BadInput."""
    kind, _, rest = key.partition(":")
    if kind == "group" and rest:
        return GroupScope(rest)
    if kind == "direct":
        return DirectScope(PersonKey(rest), owner=owner)
    raise BadInput(f"{key[:80]!r} is no scope key; it has the form group:<name> or direct:<person key>.")
