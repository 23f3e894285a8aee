"""Which room has which name: the content of group_names.json, and the port to it.

    { "<room key>": { "name": "build", "channel": "slack", "title": "#build", … } }

Read leniently: a bare platform id may be the key, then `channel` must say the platform; unknown fields are kept; a
value may be the name alone. Several rooms have one name only where the operator wrote it so; what is claimed here is
always new. A bare Slack id does not say the team, and ids repeat over teams: it belongs to the team that claims it
first, which then gets an entry of its own.

A file that is no such object gives no names at all (NamesDamaged). One broken entry shuts out its own room only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from memory_core.errors import BadInput, NamesDamaged
from memory_core.friendly_name import Taken, friendly_name
from memory_core.ids import RoomKey
from memory_core.store.pages import is_group_name
from memory_core.text import one_line

TITLE_CHARACTERS = 200


class Names(Protocol):
    """Names of rooms. Every method raises NamesDamaged when no name may be given out, StoreFailed for the disk."""

    async def lookup(self, room: RoomKey) -> str | None:
        """The room's name; None where it has none. Writes nothing."""
        ...

    async def claim(self, room: RoomKey, title: str, server: str) -> str:
        """The room's name, chosen now if it has none; durable when this returns. A new title is noted."""
        ...

    async def retitle(self, room: RoomKey, title: str) -> None:
        """Note the title of a room that has a name; the name stays."""
        ...

    async def rooms(self, name: str) -> tuple[RoomKey, ...]:
        """The rooms that have this name, sorted."""
        ...

    async def faults(self) -> tuple[str, ...]:
        """A sentence for each thing about the mapping that a person should mend; it changes nothing."""
        ...


@dataclass(frozen=True, slots=True)
class RoomName:
    """What is known of one room. `own`: the entry stands under the room's full key."""

    name: str
    title: str
    own: bool


class NamesTable:
    """The entries, in the order of the file. `changed` says whether something is to be written."""

    def __init__(self, entries: dict[str, object] | None = None) -> None:
        self.entries = entries or {}
        self.changed = False
        self._taken: Taken | None = None

    def find(self, room: RoomKey) -> RoomName | None:
        """The room's entry. Raises NamesDamaged for an entry without a usable name."""
        if room in self.entries:
            return _entry(room, self.entries[room], own=True)
        bare = self.entries.get(room.native)
        if not isinstance(bare, dict) or str(bare.get("channel", "")).strip().lower() != room.platform:
            return None
        found = _entry(room, bare, own=False)
        return None if self._of_another_team(room, found.name) else found

    def knows(self, room: RoomKey, title: str) -> bool:
        """Would a claim change nothing? So it is for nearly every message."""
        entry = self.entries.get(room)
        title = one_line(title, TITLE_CHARACTERS)
        return isinstance(entry, dict) and _name(entry) is not None and title in ("", entry.get("title"))

    def claim(self, room: RoomKey, title: str, server: str) -> str:
        """The room's name, chosen now if it has none: no name of the table, and none that was reserved."""
        found = self.find(room)
        if found and (found.own or room.platform != "slack"):
            self.retitle(room, title)
            return found.name
        name = found.name if found else friendly_name(title, room, server, self._in_use())
        self._add(room, name, title, server)
        return name

    def reserve(self, names: Iterable[str]) -> None:
        """Never give out these names either."""
        for name in names:
            self._in_use().add(name)

    def restore(self, room: RoomKey, name: str) -> None:
        """Give back a name that memory on disk says the room has."""
        if self.find(room) is None:
            self._add(room, name)

    def retitle(self, room: RoomKey, title: str) -> None:
        """Note the title in the room's own entry, if it has one and the title is new."""
        entry = self.entries.get(room)
        title = one_line(title, TITLE_CHARACTERS)
        if isinstance(entry, dict) and title and entry.get("title") != title:
            self.entries[room] = {**entry, "title": title}
            self.changed = True

    def names(self) -> tuple[str, ...]:
        """Every name that some entry gives, usable or not for a room."""
        found = (value.get("name") if isinstance(value, dict) else value for value in self.entries.values())
        return tuple(name for name in found if isinstance(name, str) and name)

    def rooms(self, name: str) -> tuple[RoomKey, ...]:
        """The rooms with a full key that have this name, sorted."""
        found = (_room(key, value) for key, value in self.entries.items() if _name(value) == name)
        return tuple(sorted(room for room in found if room))

    def all_rooms(self) -> tuple[RoomKey, ...]:
        """Every room that has an entry, with a name or without, sorted."""
        return tuple(sorted(room for key, value in self.entries.items() if (room := _room(key, value))))

    def copy(self) -> NamesTable:
        """A table that can be changed without this one: entries are replaced, never changed in place."""
        table = NamesTable(dict(self.entries))
        table.changed = self.changed
        return table

    def _in_use(self) -> Taken:
        if self._taken is None:
            self._taken = Taken(self.names())
        return self._taken

    def _add(self, room: RoomKey, name: str, title: str = "", server: str = "") -> None:
        fields = {"title": one_line(title, TITLE_CHARACTERS), "server": one_line(server, TITLE_CHARACTERS)}
        given = {field: text for field, text in fields.items() if text}
        self.entries[room] = {"name": name, "channel": room.platform, **given}
        self._in_use().add(name)
        self.changed = True

    def _of_another_team(self, room: RoomKey, name: str) -> bool:
        if room.platform != "slack":
            return False
        return any(other.platform == "slack" and other.native == room.native for other in self.rooms(name))


def _room(key: str, value: object) -> RoomKey | None:
    """The room that an entry is for; None where a bare id leaves the team open."""
    channel = value.get("channel") if isinstance(value, dict) and ":" not in key else None
    try:
        return RoomKey(f"{channel.strip().lower()}:{key}" if isinstance(channel, str) else key)
    except BadInput:
        return None


def _name(value: object) -> str | None:
    name = value.get("name") if isinstance(value, dict) else value
    return name if isinstance(name, str) and is_group_name(name) else None


def _entry(room: RoomKey, value: object, *, own: bool) -> RoomName:
    name = _name(value)
    if name is None:
        raise NamesDamaged(f"The entry of {room} in group_names.json has no usable name; correct it there.")
    title = value.get("title") if isinstance(value, dict) else ""
    return RoomName(name, title if isinstance(title, str) else "", own)


def parse(text: str) -> NamesTable:
    """The table in this JSON; blank text is an empty one. Raises NamesDamaged."""
    if not text.strip():
        return NamesTable()
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise NamesDamaged(f"group_names.json is no valid JSON ({error}); correct it or restore it.") from None
    if not isinstance(value, dict):
        raise NamesDamaged("group_names.json holds no object; it must be { room key: { name, channel, title } }.")
    return NamesTable(value)


def _once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands in it twice")
    return found


def render(table: NamesTable) -> str:
    """The table as JSON for people: one field a line, any script as it is."""
    return json.dumps(table.entries, ensure_ascii=False, indent=2) + "\n"


_KEY = re.compile(r'[\s{,]*("(?:[^"\\]|\\.)*")\s*:\s*')


def salvage(text: str) -> NamesTable:
    """The entries before the place where a torn file breaks. Never raises."""
    decoder = json.JSONDecoder()
    entries: dict[str, object] = {}
    place = 0
    while match := _KEY.match(text, place):
        try:
            value, place = decoder.raw_decode(text, match.end())
            entries[json.loads(match[1])] = value
        except (ValueError, RecursionError):
            break
    return NamesTable({key: value for key, value in entries.items() if _name(value)})


class MemoryNames:
    """The twin of NamesFile: a table in memory."""

    def __init__(self, table: NamesTable | None = None) -> None:
        self.table = table or NamesTable()

    async def lookup(self, room: RoomKey) -> str | None:
        """The room's name; None where it has none."""
        found = self.table.find(room)
        return found.name if found else None

    async def claim(self, room: RoomKey, title: str, server: str) -> str:
        """The room's name, chosen now if it has none."""
        return self.table.claim(room, title, server)

    async def retitle(self, room: RoomKey, title: str) -> None:
        """Note the title of a room that has a name."""
        self.table.retitle(room, title)

    async def rooms(self, name: str) -> tuple[RoomKey, ...]:
        """The rooms that have this name, sorted."""
        return self.table.rooms(name)

    async def faults(self) -> tuple[str, ...]:
        """None: nobody edits it by hand."""
        return ()
