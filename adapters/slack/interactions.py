"""A slash command or a pressed button → Incoming, pure.

Both carry what they need (names, channel) except the room's kind and whether the bot is in it: that comes as `Known`.
The handle for a private answer is `<user id> <response URL>`; the URL takes five answers within 30 minutes
(https://docs.slack.dev/interactivity/handling-user-interaction), the user id serves when it is used up.
"""

from __future__ import annotations

from datetime import datetime

from adapters.messages import Author, Happening, Incoming
from adapters.payload import Json, flag, part, parts, string
from adapters.slack.entities import readable
from adapters.slack.facts import Known
from memory_core.ids import Conversation, EventKey, PersonKey, message_key
from memory_core.text import one_line


def is_interaction(body: Json) -> bool:
    """Is this request a slash command or a button?"""
    return bool(string(body, "command")) or string(body, "type") == "block_actions"


def channel_of(body: Json) -> str:
    """Where it happened; empty where it has no place (a home tab)."""
    return string(body, "channel_id") or string(body, "channel", "id") or string(body, "container", "channel_id")


def answer_handle(body: Json) -> str:
    """The opaque handle for private answers."""
    user = string(body, "user_id") or string(body, "user", "id")
    return f"{user} {string(body, 'response_url')}"


def opened(handle: str) -> tuple[str, str]:
    """(user id, response URL) of an answer handle; empty where it holds none."""
    user, _, url = handle.partition(" ")
    return user, url


def names_in(body: Json) -> dict[str, str]:
    """The name of who acts, as the payload tells it."""
    user = string(body, "user_id") or string(body, "user", "id")
    name = string(body, "user_name") or string(body, "user", "username") or string(body, "user", "name")
    return {user: one_line(name, 80)} if user and name else {}


def interaction(body: Json, known: Known, now: datetime) -> Incoming | None:
    """The command or button in our terms; None where it has no place or nothing was pressed."""
    channel = channel_of(body)
    action = next((action for action in parts(body, "actions") if string(action, "type") == "button"), None)
    if not channel or not (string(body, "command") or action):
        return None
    facts = known.room
    room = known.room_at(channel, shared=flag(body, "is_ext_shared_channel"))
    user = string(body, "user_id") or string(body, "user", "id")
    team = string(body, "user", "team_id") or string(body, "team_id") or known.me.team
    message, ts = part(body, "message"), string(body, "message", "ts") or string(body, "container", "message_ts")
    root = string(message, "thread_ts") or string(body, "container", "thread_ts")
    in_thread = bool(root) and root != ts
    return Incoming(
        happening=Happening.BUTTON if action else Happening.COMMAND,
        event=EventKey(f"slack:trigger:{string(body, 'trigger_id')}"),
        room=room,
        conversation=Conversation(room.key, root if in_thread else ""),
        author=Author(PersonKey(f"slack:{team}:{user}"), known.names.get(user) or user),
        sent_at=now,
        message=message_key(room.key, ts) if ts else None,
        addressed=True,
        words=string(action, "value") if action else readable(string(body, "text"), known.names).strip(),
        answer_to=answer_handle(body),
        member=facts.member if facts is not None else True,
    )
