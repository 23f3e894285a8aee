"""Files of DiscordChatExporter as a history: one, or a folder of them (channels, threads, partitions, in any order).

Each file is gone through once when it is opened. Kept of each message are its id, its times and its place: 40 bytes.
Then a room's messages are read one by one, in the order of time, wherever they stand. So the memory that this needs
grows with the number of messages, not with the size of the files.
"""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

from adapters.discord.exported import is_gone, native, normalise, place_of, sent_at, wrong_with
from adapters.discord.own import Own, in_thread
from adapters.entries import Entries
from adapters.history import Counted
from adapters.messages import Author, Incoming, Room
from adapters.payload import Json, string
from memory_core.errors import BadInput
from memory_core.ids import Conversation, RoomKey, RoomKind
from memory_core.text import one_line

_ACCEPTED = (
    "a Slack export (ZIP), or what DiscordChatExporter writes with `--format Json`: a file, or a folder of them"
)
_PRIVATE = {RoomKind.DIRECT: "a DM", RoomKind.GROUP_DM: "a group DM"}


@dataclass(slots=True)
class _File:
    """One file: its channel or thread, and where its messages stand."""

    path: Path
    own: Own
    header: Json = field(default_factory=dict)
    ids: array[int] = field(default_factory=lambda: array("Q"))
    times: array[int] = field(default_factory=lambda: array("q"))
    """Microseconds since 1970."""
    edited: array[int] = field(default_factory=lambda: array("q"))
    """When each was edited last; 0 for never."""
    starts: array[int] = field(default_factory=lambda: array("Q"))
    lengths: array[int] = field(default_factory=lambda: array("L"))
    broken: list[str] = field(default_factory=list)
    """Where its malformed messages stand, and what is wrong with them."""

    def read(self) -> str:
        """Go through it; its fingerprint. Raises BadInput."""
        digest = hashlib.sha256()
        try:
            with self.path.open("rb") as file:
                entries = Entries(file, str(self.path), "messages", _ACCEPTED, digest.update)
                for entry in entries:
                    self._keep(entry.value, entry.start, entry.length, f"{self.path.name}, message {entry.number}")
        except OSError as error:
            raise BadInput(f"{self.path} cannot be read ({error.strerror}); give a file that you may read.") from None
        self.header = entries.header
        return digest.hexdigest()

    def _keep(self, message: object, start: int, length: int, where: str) -> None:
        wrong, at = wrong_with(message), sent_at(message)
        number = int(native(message, "id") or 0)
        if not wrong and number >= 1 << 64:
            wrong = "an id that Discord does not give"
        if wrong or at is None:
            self.broken.append(f"{where}: {wrong}")
            return
        if isinstance(message, dict):
            self.own.see(message)
        self.ids.append(number)
        self.times.append(int(at.timestamp() * 1_000_000))
        last = sent_at(message, "timestampEdited")
        self.edited.append(int(last.timestamp() * 1_000_000) if last is not None else 0)
        self.starts.append(start)
        self.lengths.append(length)


@dataclass(frozen=True, slots=True)
class DiscordExport:
    """An opened export."""

    path: Path
    sha256: str
    rooms: Sequence[Room]
    skipped: Sequence[str]
    platform = "discord"
    _files: dict[RoomKey, list[tuple[_File, Conversation]]]
    _own: Own

    @classmethod
    def open(cls, path: Path, bot: str = "") -> DiscordExport:
        """Go through the files. `bot`: the name or id of the bot's account in them; '' for a bot called remem.

        Raises BadInput where none of them is one of DiscordChatExporter's, or that account is nobody or several.
        """
        own = Own(bot)
        rooms: dict[RoomKey, Room] = {}
        files: dict[RoomKey, list[tuple[_File, Conversation]]] = {}
        skipped, digests, private = list[str](), list[str](), False
        for one in _json_files(path):
            file = _File(one, own)
            digests.append(file.read())
            place = place_of(file.header) if _is_export(file.header) else None
            if place is None:
                skipped.append(f"{one.name} (no channel of DiscordChatExporter's)")
            elif (kind := _PRIVATE.get(place[0].kind)) is not None:
                title = one_line(string(file.header, "channel", "name"), 80)
                skipped.append(f"{one.name} ({kind}: {title})")
                private = True
            else:
                room, conversation = place
                rooms[room.key] = _fuller(rooms.get(room.key), room, conversation)
                files.setdefault(room.key, []).append((file, conversation))
        if not rooms and not private:
            raise BadInput(f"{path} is no export of DiscordChatExporter; give {_ACCEPTED}.")
        own.settle(path)
        whole = digests[0] if len(digests) == 1 else hashlib.sha256("".join(sorted(digests)).encode()).hexdigest()
        return cls(path, whole, sorted(rooms.values(), key=attrgetter("title", "key")), skipped, files, own)

    def messages(self, room: Room, counted: Counted | None = None) -> Iterator[Incoming]:
        """What was said in the room and its threads, in the order of time, each once. Raises BadInput."""
        files = self._files.get(room.key, [])
        counted = counted or Counted()
        for file, _ in files:
            for where in file.broken:
                counted.broken(where)
        called = set[str]()
        with ExitStack() as stack:
            opened = [stack.enter_context(_again(file.path)) for file, _ in files]
            for number, at in _ordered([file for file, _ in files]):
                file, place = files[number]
                message = _entry(opened[number], file, at)
                incoming = normalise(message, room, place, self._own)
                if incoming is not None:
                    yield in_thread(incoming, called)
                else:
                    counted.notices += 1

    def is_gone(self, author: Author) -> bool:
        """Was this author deleted on Discord?"""
        return is_gone(author.name)


def _json_files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(one for one in path.rglob("*.json") if one.is_file())
    if not found:
        raise BadInput(f"{path} holds no .json file; give the folder that DiscordChatExporter wrote to.")
    return found


def _is_export(header: Json) -> bool:
    return bool(string(header, "channel", "type")) and "guild" in header


def _fuller(known: Room | None, room: Room, place: Conversation) -> Room:
    """The room as its own file describes it; a thread knows less of it."""
    return room if known is None or not place.thread else known


def _ordered(files: Sequence[_File]) -> list[tuple[int, int]]:
    """Every message as (file, place in it), by time and id; what stands twice comes once, as it was edited last."""
    places = [(number, at) for number, file in enumerate(files) for at in range(len(file.ids))]

    def order(one: tuple[int, int]) -> tuple[int, int, int]:
        number, at = one
        return files[number].times[at], files[number].ids[at], -files[number].edited[at]

    places.sort(key=order)
    kept, before = [], -1
    for number, at in places:
        if files[number].ids[at] != before:
            kept.append((number, at))
        before = files[number].ids[at]
    return kept


def _again(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise BadInput(f"{path} cannot be read any more ({error.strerror}); put it back.") from None


def _entry(opened: BinaryIO, file: _File, at: int) -> Json:
    opened.seek(file.starts[at])
    try:
        message = json.loads(opened.read(file.lengths[at]))
    except ValueError:
        message = None
    if not isinstance(message, dict) or int(native(message, "id") or -1) != file.ids[at]:
        raise BadInput(f"{file.path} was changed while it was read; give a file that stays as it is.")
    return message
