"""A Slack export as a history: room by room, day by day, so that never more than one day of one room is in memory."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from adapters.history import DELETED, EARLIEST, LATEST, Counted
from adapters.messages import Author, Incoming, Room
from adapters.payload import Json, string
from adapters.slack.export import Export
from adapters.slack.facts import Known
from adapters.slack.normalise import SPOKEN
from memory_core.errors import BadInput
from memory_core.ids import RoomKey
from memory_core.messages import Voice
from memory_core.text import one_line

_TS = re.compile(r"[0-9]{1,11}\.[0-9]{1,6}")


@dataclass(frozen=True, slots=True)
class SlackHistory:
    """An opened export."""

    path: Path
    sha256: str
    rooms: Sequence[Room]
    skipped: Sequence[str]
    platform = "slack"
    _export: Export
    _folders: dict[RoomKey, str]

    @classmethod
    def open(cls, path: Path, bot: str = "") -> SlackHistory:
        """Read what describes the export. `bot`: name or id of the bot's account in it; '' for a bot called remem.

        Raises BadInput when it is no Slack export, or has no such account.
        """
        export = Export.open(path, bot)
        told, strange = dict[Room, str](), list[str]()
        for folder, (channel, _) in export.rooms.items():
            try:
                told |= {export.known(folder).room_at(channel): folder} if channel else {}
            except BadInput:
                strange.append(f"#{one_line(folder, 80)} (an id that Slack does not give)")
        rooms = sorted(told, key=lambda room: (room.title, room.key))
        folders = {room.key: folder for room, folder in told.items()}
        return cls(path, export.sha256, rooms, (*export.private, *strange), export, folders)

    def messages(self, room: Room, counted: Counted | None = None) -> Iterator[Incoming]:
        """What was said in the room and its threads, in the order of time, each once. Raises BadInput."""
        folder = self._folders[room.key]
        counted, threads = counted or Counted(), set[str]()
        for name in self._export.files:
            if name.rpartition("/")[0] == folder:
                said = {event.event: event for event in self._of_day(folder, name, counted, threads)}
                yield from sorted(said.values(), key=lambda event: (event.sent_at, event.event))

    def is_gone(self, author: Author) -> bool:
        """Was this author's account deactivated, or is it in no list any more?"""
        return author.key.native in self._export.deleted or author.name.startswith(DELETED)

    def _of_day(self, folder: str, name: str, counted: Counted, threads: set[str]) -> Iterator[Incoming]:
        """What was said on a day; it may call the bot into `threads`."""
        known = self._export.known(folder, threads)
        for number, message in enumerate(self._export.day(name), 1):
            if not isinstance(message, dict) or not _is_time(string(message, "ts")):
                wrong = "no time" if isinstance(message, dict) else "no object"
                counted.broken(f"{name}, message {number}: {wrong}")
            elif string(message, "subtype") not in SPOKEN:
                counted.notices += 1
            elif (event := self._event(folder, message, known)) is None:
                counted.broken(f"{name}, message {number}: an id that Slack does not give")
            else:
                if event.addressed and event.message is not None:  # as live: the thread under it, or around it
                    threads.add(event.conversation.thread or event.message.rpartition(":")[2])
                yield replace(event, author=self._named(event.author))

    def _event(self, folder: str, message: Json, known: Known) -> Incoming | None:
        try:
            return self._export.event(folder, message, known)
        except BadInput:
            return None

    def _named(self, author: Author) -> Author:
        """Who stands in no list of people any more is called so."""
        user = author.key.native
        if author.voice is not Voice.PERSON or user in self._export.names or user == "unknown":
            return author
        return replace(author, name=f"{DELETED} {user}")


def _is_time(ts: str) -> bool:
    """Is it a time that a message can have?"""
    return bool(_TS.fullmatch(ts)) and EARLIEST.timestamp() <= float(ts) < LATEST.timestamp()
