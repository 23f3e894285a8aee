"""A Slack export (ZIP) as the events that Slack would have sent: pure but for reading the archive.

Layout (https://slack.com/help/articles/220556107): channels.json, users.json, one folder a channel with one file a
day, each a list of message objects. Groups, DMs and multi-person DMs stand in groups.json, dms.json, mpims.json of
larger exports; here only channels and groups are read: a DM's people did not invite a bot to it.
`adapters.slack.history` reads single rooms.

A message of the export is the `event` of the Events API but for its channel, so it goes through `normalise` like a
live one.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from adapters.history import NAMED, OWN_NAME
from adapters.messages import Incoming
from adapters.payload import Json, flag, string, strings
from adapters.slack.facts import Known, Me, RoomFacts
from adapters.slack.normalise import normalise
from adapters.slack.own import own
from memory_core.errors import BadInput
from memory_core.text import one_line

_LARGEST_FILE_BYTES = 64 * 1024 * 1024
"""One day of one channel; more is no export of Slack's."""

_PRIVATE = {"dms.json": "a DM", "mpims.json": "a group DM"}

# zipfile raises RuntimeError for an encrypted archive, NotImplementedError (one too) for a compression it lacks.
_UNREADABLE = (OSError, EOFError, RuntimeError, KeyError, ValueError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, slots=True)
class Export:
    """An opened export: its fingerprint, its team, rooms by folder name, people's names by id, its message files;
    who was deleted, and a line for each room that is not read: a private one, one of several with the same name."""

    path: Path
    sha256: str
    team: str
    rooms: Mapping[str, tuple[str, RoomFacts]]
    names: Mapping[str, str]
    files: tuple[str, ...]
    me: Me
    deleted: frozenset[str] = frozenset()
    private: tuple[str, ...] = ()

    @classmethod
    def open(cls, path: Path, bot: str | None = None) -> Export:
        """Read what describes the export. `bot`: the name or id of the bot's own account; '' for a bot called remem,
        None for none. Blocking. Raises BadInput when it is no Slack export, or has no such account, or several.
        """
        try:
            with zipfile.ZipFile(path) as archive:
                channels, users = _listed(archive, "channels.json"), _listed(archive, "users.json")
                listed = set(archive.namelist())
                groups = _listed(archive, "groups.json") if "groups.json" in listed else []
                rooms, doubtful = _rooms((*channels, *groups))
                files = tuple(sorted(name for name in listed if _is_day(name, rooms)))
                dms = [(kind, one) for kind in _PRIVATE if kind in listed for one in _listed(archive, kind)]
        except BadInput:
            raise
        except _UNREADABLE as error:
            raise BadInput(
                f"{path} is no Slack export ({_reason(error)}); give the ZIP that Slack's export page gives, "
                "with channels.json and users.json in it."
            ) from None
        names = {string(one, "id"): _name(one) for one in users}
        deleted = frozenset(string(one, "id") for one in users if flag(one, "deleted"))
        private = (*(_told(one, _PRIVATE[kind], names) for kind, one in dms), *doubtful)
        team = _team(users)
        me = Me(team, OWN_NAME) if bot is None else own(users, bot, team, path)
        return cls(path, _sha256(path), team, rooms, names, files, me, deleted, private)

    def messages(self) -> list[Incoming]:
        """Every message as an event, in the order of their times. Blocking. Raises BadInput for a broken day."""
        found = [event for name in self.files for event in self._of_day(name)]
        return sorted(found, key=lambda event: (event.sent_at, event.event))

    def day(self, name: str) -> list[object]:
        """What one of `files` lists, as it stands. Blocking. Raises BadInput for a broken day."""
        try:
            with zipfile.ZipFile(self.path) as archive:
                return _entries(archive, name)
        except BadInput:
            raise
        except _UNREADABLE as error:
            raise BadInput(f"{name} in {self.path} cannot be read ({_reason(error)}); export again.") from None

    def known(self, folder: str, threads: Set[str] = frozenset()) -> Known:
        """What `normalise` needs besides a message of that folder, in whose `threads` the bot was called."""
        return Known(self.me, self.rooms[folder][1], self.names, threads)

    def event(self, folder: str, message: Json, known: Known) -> Incoming | None:
        """A message of that folder as an event; None for Slack's own notices. Raises BadInput for a strange id."""
        return normalise({"event": {**message, "type": "message", "channel": self.rooms[folder][0]}}, known)

    def _of_day(self, name: str) -> Iterator[Incoming]:
        folder = name.rpartition("/")[0]
        known = self.known(folder)
        for message in self.day(name):
            with suppress(BadInput):  # an id that Slack does not give: nobody's message
                event = self.event(folder, message, known) if isinstance(message, dict) else None
                if event is not None:
                    yield event


def _rooms(listed: Sequence[Json]) -> tuple[dict[str, tuple[str, RoomFacts]], tuple[str, ...]]:
    """The rooms by their folders, and a line for each name that several have: whose messages are they?"""
    ids: dict[str, set[str]] = {}
    for one in listed:
        ids.setdefault(string(one, "name"), set()).add(string(one, "id"))
    rooms = {string(one, "name"): (string(one, "id"), _facts(one)) for one in listed}
    doubtful = {name: found for name, found in ids.items() if len(found) > 1}
    told = (
        f"#{one_line(name, 80)} (several rooms have that name: {', '.join(sorted(found)[:NAMED])})"
        for name, found in doubtful.items()
    )
    return {name: room for name, room in rooms.items() if name not in doubtful}, tuple(told)


def _team(users: Sequence[Json]) -> str:
    """The team that most users belong to: with Slack Connect some are another one's."""
    teams = Counter(string(user, "team_id") for user in users if string(user, "team_id"))
    return teams.most_common(1)[0][0] if teams else "TEXPORT"


def _told(channel: Json, kind: str, names: Mapping[str, str]) -> str:
    people = ", ".join(names.get(one, one) for one in strings(channel, "members"))
    return f"{kind} of {people}" if people else f"{kind} {string(channel, 'id')}"


def _listed(archive: zipfile.ZipFile, name: str) -> list[Json]:
    return [one for one in _entries(archive, name) if isinstance(one, dict)]


def _entries(archive: zipfile.ZipFile, name: str) -> list[object]:
    info = archive.getinfo(name)
    if info.file_size > _LARGEST_FILE_BYTES:
        raise BadInput(
            f"{name} has {info.file_size} bytes, more than {_LARGEST_FILE_BYTES}; it is no file of Slack's."
        )
    read = json.loads(archive.read(name))
    if not isinstance(read, list):
        raise KeyError(f"{name} is no list")
    return read


def _facts(channel: Json) -> RoomFacts:
    """An export leaves out the type flags of public channels; the file that lists it says that it is one."""
    return RoomFacts.of({"is_channel": True, "is_member": True, **channel})


def _is_day(name: str, rooms: Mapping[str, object]) -> bool:
    folder, _, file = name.rpartition("/")
    return folder in rooms and file.endswith(".json") and file[:4].isdigit()


def _name(user: Json) -> str:
    return (
        string(user, "profile", "display_name")
        or string(user, "real_name")
        or string(user, "profile", "real_name")
        or string(user, "name")
        or string(user, "id")
    )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _reason(error: Exception) -> str:
    """What was wrong, in the words of who met it, without Python's names for it."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return one_line(str(error.args[0] if error.args else "it is cut or encrypted"), 100)
