"""What was heard, in the terms of the ledger."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

from adapters.messages import Attachment, Author, Delivery, Happening, Incoming, Room, Sent
from bot.heard import concerns_us, event_of, masked, own_events
from memory_core.ids import Conversation, EventKey, GroupScope, MessageKey, PersonKey, RoomKey, RoomKind
from memory_core.ledger.base import Deleted, Noted, Posted, RoomState
from memory_core.messages import Voice

ROOM = RoomKey("slack:T1:C1")
KEY = MessageKey("slack:T1:C1:1.0")
NOW = datetime(2026, 4, 6, 14, 2, tzinfo=UTC)
BUILD = GroupScope("build")
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
SAID = Incoming(
    Happening.MESSAGE,
    EventKey(KEY),
    Room(ROOM, RoomKind.CHANNEL, "#build"),
    Conversation(ROOM),
    Author(PersonKey("slack:T1:U1"), "ana"),
    NOW,
    text="hello",
    message=KEY,
)


def test_no_word_that_a_platform_tells_keeps_a_secret() -> None:
    room = Room(ROOM, RoomKind.CHANNEL, f"#{TOKEN}", f"topic {TOKEN}", server=f"server {TOKEN}")
    author = Author(PersonKey("slack:T1:U1"), f"ana {TOKEN}")
    text_file = Attachment("notes.txt", text=f"the key is {TOKEN}")
    full = replace(SAID, room=room, author=author, text=TOKEN, words=f"note {TOKEN}", attachments=(text_file,))

    plain, kinds = masked(full)

    assert TOKEN not in repr(plain)
    assert kinds
    assert plain.author.key == full.author.key
    assert plain.room.key == ROOM


def test_only_what_its_author_said_counts_as_a_secret_of_theirs() -> None:
    room = replace(SAID.room, title=f"#{TOKEN}")
    assert masked(replace(SAID, room=room))[1] == ()


def test_a_room_that_is_merely_seen_is_nothing_to_us() -> None:
    assert not concerns_us(SAID, RoomState())
    assert concerns_us(SAID, RoomState(recorded=True))
    assert concerns_us(replace(SAID, addressed=True), RoomState())
    assert concerns_us(replace(SAID, happening=Happening.COMMAND), RoomState())


def test_a_command_in_words_leaves_only_its_key() -> None:
    command = replace(SAID, text="!remem status")
    posted = event_of(command, BUILD, RoomState(recorded=True))
    assert isinstance(posted, Posted)
    assert posted.scope is None


def test_an_answer_is_owed_to_who_addresses_us_in_a_room_with_memory() -> None:
    addressed = replace(SAID, addressed=True)
    with_memory, without = (event_of(addressed, scope, RoomState()) for scope in (BUILD, None))
    assert isinstance(with_memory, Posted)
    assert with_memory.owed
    assert isinstance(without, Posted)
    assert not without.owed


def test_what_is_deleted_is_deleted_also_where_there_is_no_memory() -> None:
    assert event_of(replace(SAID, happening=Happening.DELETE), None, RoomState()) == Deleted(EventKey(KEY), KEY)


def test_our_answer_is_kept_once_and_its_pieces_are_known() -> None:
    pieces = (MessageKey("slack:T1:C1:2.0"), MessageKey("slack:T1:C1:3.0"))
    me = PersonKey("slack:remem:remem")
    events = own_events(SAID, "Redis.", Sent(Delivery.SENT, pieces), BUILD, me=me, now=NOW)
    first, second = events
    assert isinstance(first, Posted)
    assert (first.message.text, first.message.voice, first.message.author) == ("Redis.", Voice.SELF, me)
    assert second == Noted(EventKey(pieces[1]))
    assert own_events(SAID, "Redis.", Sent(Delivery.SENT), BUILD, me=me, now=NOW) == []
