"""A Slack event → Incoming, pure. What a payload does not hold comes in as `Known`; `needs` says what that is.

* Identity: team + channel + ts, whatever the event id, so that a retry, and the app_mention and message events of one
  mention, are one event. An edit adds its time, a removal `!deleted`.
* The team is ours (authorizations[0]), whoever writes: in Slack Connect the event's own team_id may be the other
  company's. The author's own team stays in the person key.
* Messages of the main line belong to the room's conversation, also a mention that is answered in a thread under it;
  messages in a thread belong to the thread's, with its root as `reply_to` (docs/explanation/threads.md).
* System messages (joins, topics, renames, pins) are no messages. An edit is one only if its text changed: unfurls and
  edits of our own posts are not.

Event shapes: https://docs.slack.dev/reference/events.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from adapters.messages import Attachment, Author, Happening, Incoming, Room
from adapters.payload import Json, flag, part, parts, string, whole
from adapters.slack.entities import MENTIONS_LOOKED_UP, described, mentioned, mentions, readable, shown
from adapters.slack.facts import Known
from adapters.slack.moment import moment
from memory_core.ids import Conversation, EventKey, PersonKey, RoomKind, message_key
from memory_core.messages import Voice

SPOKEN = frozenset({"", "bot_message", "file_share", "me_message", "thread_broadcast"})
"""The subtypes of `message` that somebody said; every other one is Slack's own notice."""

PREVIEW_CHARACTERS = 4000
"""So much of a text file's preview is read; more is marked as cut."""

_LEFT = frozenset({"channel_left", "group_left", "channel_deleted", "group_deleted"})


@dataclass(frozen=True, slots=True)
class Needs:
    """What must be looked up before an event can be told: its conversation, and the names of people."""

    channel: str
    channel_type: str = ""
    people: tuple[str, ...] = ()


def needs(body: Json) -> Needs | None:
    """What `normalise` will need for this event; None: it is nothing to us."""
    event = part(body, "event")
    kind, channel = string(event, "type"), string(event, "channel") or string(event, "channel", "id")
    if not channel:
        return None
    if kind in {"message", "app_mention"}:
        said = part(event, "message") or part(event, "previous_message") or event
        people = (string(said, "user"), *mentioned(shown(said))[:MENTIONS_LOOKED_UP])
        return Needs(channel, string(event, "channel_type"), tuple(user for user in people if user))
    if kind in {"member_joined_channel", "member_left_channel"}:
        return Needs(channel, people=tuple(filter(None, [string(event, "inviter")])))
    return Needs(channel) if kind in _LEFT or kind in {"channel_rename", "group_rename"} else None


def normalise(body: Json, known: Known) -> Incoming | None:
    """The event in our terms; None for what is nothing to us."""
    event = part(body, "event")
    match string(event, "type"):
        case "message":
            match string(event, "subtype"):
                case "message_changed":
                    return _edited(body, event, known)
                case "message_deleted":
                    return _deleted(body, event, part(event, "previous_message"), string(event, "deleted_ts"), known)
                case subtype if subtype in SPOKEN:
                    return _said(body, event, known)
            return None
        case "app_mention":
            return _said(body, event, known)
        case "member_joined_channel" if string(event, "user") == known.me.user:
            return _about_room(body, event, known, Happening.JOINED)
        case "member_left_channel" if string(event, "user") == known.me.user:
            return _about_room(body, event, known, Happening.LEFT)
        case "channel_rename" | "group_rename":
            return _about_room(body, event, known, Happening.RENAMED)
        case kind if kind in _LEFT:
            return _about_room(body, event, known, Happening.LEFT)
    return None


def _said(body: Json, event: Json, known: Known) -> Incoming | None:
    """A message; an app_mention that an edit caused is that edit."""
    ts = string(event, "ts")
    if not ts:
        return None
    key = message_key(_room(body, event, known).key, ts)
    if string(event, "type") == "app_mention" and string(event, "edited", "ts"):
        edit = EventKey(f"{key}@{string(event, 'edited', 'ts')}")
        return _message(body, event, event, known, Happening.EDIT, edit)
    return _message(body, event, event, known, Happening.MESSAGE, EventKey(key))


def _edited(body: Json, event: Json, known: Known) -> Incoming | None:
    """An edit whose text changed, by somebody else; a deleted root with answers is edited into a tombstone."""
    after, before = part(event, "message"), part(event, "previous_message")
    ts, edited = string(after, "ts"), string(after, "edited", "ts")
    if string(after, "subtype") == "tombstone":
        return _deleted(body, event, before or after, ts, known)
    unchanged = bool(before) and shown(after) == shown(before)
    if not ts or unchanged or string(after, "subtype") not in SPOKEN or _voice(after, known) is Voice.SELF:
        return None
    key = message_key(_room(body, event, known).key, ts)
    edit = EventKey(f"{key}@{edited or string(event, 'event_ts') or string(event, 'ts')}")
    return _message(body, event, after, known, Happening.EDIT, edit)


def _deleted(body: Json, event: Json, gone: Json, ts: str, known: Known) -> Incoming | None:
    if not ts:
        return None
    key = message_key(_room(body, event, known).key, ts)
    return _message(body, event, {**gone, "ts": ts}, known, Happening.DELETE, EventKey(f"{key}!deleted"))


def _message(body: Json, event: Json, said: Json, known: Known, what: Happening, key: EventKey) -> Incoming:
    """What all three have in common: place, author, text."""
    room, author = _room(body, event, known), _author(said, known)
    text, ts, root = shown(said), string(said, "ts"), string(said, "thread_ts")
    in_thread = bool(root) and root != ts
    in_channel = room.kind is RoomKind.CHANNEL
    called = in_thread and (root in known.threads or string(said, "parent_user_id") == known.me.user)
    meant = string(event, "type") == "app_mention" or mentions(text, known.me.user)
    deleted = what is Happening.DELETE
    return Incoming(
        happening=what,
        event=key,
        room=replace(room, kind=RoomKind.PUBLIC_THREAD) if in_thread and in_channel else room,
        conversation=Conversation(room.key, root if in_thread else ""),
        author=author,
        sent_at=moment(ts),
        text="" if deleted else readable(text, known.names, known.me.user),
        message=message_key(room.key, ts),
        addressed=not deleted and author.voice is Voice.PERSON and (room.kind is RoomKind.DIRECT or meant or called),
        reply_to=message_key(room.key, root) if in_thread else None,
        attachments=() if deleted else tuple(_attachment(file) for file in parts(said, "files")),
    )


def _about_room(body: Json, event: Json, known: Known, what: Happening) -> Incoming:
    """Joins, removals, renames: identified by the room and the event's time. Slack sends them for channels only."""
    room = _room(body, event, known)
    who = string(event, "inviter") or known.me.user
    name = string(event, "channel", "name")
    kind = RoomKind.CHANNEL if room.kind is RoomKind.UNKNOWN else room.kind
    room = replace(room, kind=kind, title=f"#{name}" if name else room.title)
    ts = string(event, "event_ts") or str(whole(body, "event_time"))
    return Incoming(
        happening=what,
        event=EventKey(f"{room.key}!{what.value}@{ts}"),
        room=room,
        conversation=Conversation(room.key),
        author=Author(_person(who, "", known), known.names.get(who) or who),
        sent_at=moment(ts),
    )


def _room(body: Json, event: Json, known: Known) -> Room:
    authorized = parts(body, "authorizations")
    return known.room_at(
        string(event, "channel") or string(event, "channel", "id"),
        team=string(authorized[0], "team_id") if authorized else "",
        channel_type=string(event, "channel_type") if string(event, "type") in {"message", "app_mention"} else "",
        shared=flag(body, "is_ext_shared_channel"),
    )


def _voice(said: Json, known: Known) -> Voice:
    user, bot = string(said, "user"), string(said, "bot_id")
    if (user and user == known.me.user) or (bot and bot == known.me.bot):
        return Voice.SELF
    return Voice.BOT if bot or string(said, "subtype") == "bot_message" or user == "USLACKBOT" else Voice.PERSON


def _author(said: Json, known: Known) -> Author:
    """Who said it, with the author's own team; an app without a user is known by its bot id."""
    voice, user = _voice(said, known), string(said, "user")
    key = _person(user or string(said, "bot_id"), string(said, "user_team") or string(said, "team"), known)
    name = described(said) if voice is Voice.BOT else known.names.get(user) or user or "someone"
    return Author(key, name, voice)


def _person(user: str, team: str, known: Known) -> PersonKey:
    return PersonKey(f"slack:{team or known.me.team}:{user or 'unknown'}")


def _attachment(file: Json) -> Attachment:
    """A file by name, type and size; of a text snippet as much as Slack shows of it."""
    preview = string(file, "preview")[:PREVIEW_CHARACTERS]
    return Attachment(
        name=string(file, "name") or string(file, "title") or string(file, "id"),
        media_type=string(file, "mimetype"),
        size_bytes=whole(file, "size"),
        text=preview,
        cut=bool(preview) and (flag(file, "preview_is_truncated") or len(string(file, "preview")) > len(preview)),
    )
