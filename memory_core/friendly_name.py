"""Friendly names: what a room's file is called, chosen once and for ever.

Identity is the room's id; the name is only the file's. It is made of the room's title when the room is first used,
must be safe on every file system, and must not be any other room's. So:

* NFKC and case-folding, until nothing changes: two titles that a case-folding or normalising file system takes for
  the same give the same text, and the second one is told apart below.
* Letters, combining marks and digits of any script stay; every run of anything else becomes one `-`. A mark stays
  only on a letter or digit, and what has no shape (variation selectors, fillers) goes: no name is invisible.
* 1 to 60 bytes of UTF-8, suffix included, cut between characters with their marks.
* Nothing left (a title of emojis): `room-` and the last six characters of the id.
* Taken, a Windows device name, or a name of the tree's own: `-<server>` behind it, then `-2`, `-3`, …

A dot never stays, so no name is hidden, ends in `.md`, or is a device name with an extension; neither does a slash,
so no name is a path.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import count

from memory_core.ids import RoomKey

LIMIT_BYTES = 60
_SERVER_LIMIT_BYTES = 24
_ID_CHARACTERS = 6

RESERVED = frozenset(
    {"group-names", "group_names", "flush-state", "heartbeat-state", "pending-tasks", "pending_tasks"}
    | {"con", "prn", "aux", "nul", "conin$", "conout$", "clock$"}
    | {f"{device}{number}" for device in ("com", "lpt") for number in range(10)}
)
"""The tree's own names, and Windows's device names (learn.microsoft.com, "Naming Files, Paths, and Namespaces")."""

# Letters and marks by category that show nothing (Unicode 15, DerivedCoreProperties: Default_Ignorable_Code_Point).
_SHAPELESS = frozenset(
    {0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0}
    | {*range(0x180B, 0x1810), *range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)}
)


def fold_name(name: str) -> str:
    """The form under which two names are the same: NFKC and case-folded until that changes nothing.

    (Words are compared by script.fold, once: a file system is stricter than a reader.)
    """
    while (folded := unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())) != name:
        name = folded
    return name


def _compared(name: str) -> str:
    # Some file systems compare in capitals, and a few letters (the dotless ı) meet another one only there.
    return fold_name(fold_name(name).upper())


class Taken:
    """Names that are in use, compared as file systems may compare them: whatever the case and normalisation."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._folded = {_compared(name) for name in names}

    def add(self, name: str) -> None:
        """Take one more name."""
        self._folded.add(_compared(name))

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _compared(name) in self._folded


def friendly_name(title: str, room_key: RoomKey, server: str, taken: Taken) -> str:
    """The name for a room with this title on this server: none of `taken`, 1 to 60 bytes. Never raises."""
    base = slug(title) or f"room-{slug(room_key.native[-_ID_CHARACTERS:])}".rstrip("-")
    return next(name for name in _tries(base, server) if name not in taken and name not in RESERVED)


def _tries(base: str, server: str) -> Iterator[str]:
    yield base
    if told_apart := slug(server, _SERVER_LIMIT_BYTES):
        yield _with_suffix(base, told_apart)
    for number in count(2):
        yield _with_suffix(base, str(number))


def _with_suffix(base: str, suffix: str) -> str:
    return f"{_cut(base, LIMIT_BYTES - len(suffix.encode()) - 1)}-{suffix}"


def slug(text: str, limit_bytes: int = LIMIT_BYTES) -> str:
    """The rule's text form of a title, at most `limit_bytes` long; empty where nothing of it can stay."""
    kept: list[str] = []
    for character in fold_name(text):
        category = unicodedata.category(character)
        if ord(character) in _SHAPELESS:
            continue
        stays = category[0] == "L" or category == "Nd" or (category[0] == "M" and bool(kept) and kept[-1] != "-")
        if stays:
            kept.append(character)
        elif kept and kept[-1] != "-":
            kept.append("-")
    # Taking a character out can bring two together that normalise to a third one.
    return _cut(fold_name("".join(kept)), limit_bytes)


def _cut(name: str, limit_bytes: int) -> str:
    """The longest start of `name` within the limit that splits no character from its marks; no `-` at its ends."""
    end = len(name.encode("utf-8")[:limit_bytes].decode("utf-8", "ignore"))
    while 0 < end < len(name) and unicodedata.category(name[end])[0] == "M":
        end -= 1
    return name[:end].strip("-")
