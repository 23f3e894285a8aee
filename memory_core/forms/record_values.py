"""The values of a record: who said it, and what stands in one entry of a page. No text form here (records.py)."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from memory_core.candidates import Value
from memory_core.ids import MessageKey
from memory_core.text import flat, one_line, plain

_STRUCK_CHARACTERS = 160
_SEPARATORS = re.compile("[();,]")


@dataclass(frozen=True, slots=True)
class Source:
    """Who said it, where and when (local time of the scope), in which messages. `text` holds an unreadable source."""

    person: str = ""
    name: str = ""
    place: str = ""
    at: str = ""
    keys: tuple[MessageKey, ...] = ()
    text: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", source_name(self.name))
        object.__setattr__(self, "place", source_name(self.place))

    @property
    def short(self) -> str:
        """For a disclosure: name, place and time, without ids."""
        return self.text or f"@{self.name} in {self.place}, {self.at}"

    def __str__(self) -> str:
        by = f" ({self.person})" if self.person else ""
        return self.text or f"@{self.name}{by} in {self.place}, {self.at}, {' '.join(self.keys)}"


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a page, its text cleaned: no `\\r`, no control characters, title and tags on one line.

    `extra` are lines of the block that are no known field, as they stand. `last_referenced` None: never.
    """

    day: date | None
    title: str
    body: str = ""
    tags: tuple[str, ...] = ()
    last_referenced: date | None = None
    hit_count: int = 0
    value: Value = Value.MEDIUM
    sources: tuple[Source, ...] = ()
    proven: bool = False
    supersedes: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    archived: str = ""
    extra: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "title", flat(self.title) or flat(self.body) or "untitled")
        put(self, "body", plain(self.body))
        if self.tags:
            tags = [flat(tag.replace(",", " ")) for tag in self.tags]
            put(self, "tags", tuple(dict.fromkeys(filter(None, tags))))
        if self.supersedes:
            put(self, "supersedes", tuple(filter(None, map(flat, self.supersedes))))
        if self.conflicts:
            put(self, "conflicts", tuple(filter(None, map(flat, self.conflicts))))
        if self.archived:
            put(self, "archived", flat(self.archived))

    @property
    def people(self) -> tuple[str, ...]:
        """The person keys of all sources, each once, in order."""
        return tuple(dict.fromkeys(source.person for source in self.sources if source.person))

    @property
    def messages(self) -> tuple[MessageKey, ...]:
        """The message keys of all sources, each once, first the one that states the record."""
        return tuple(dict.fromkeys(key for source in self.sources for key in source.keys))

    @property
    def text(self) -> str:
        """All that the record says besides its title: the body, and a person's own lines."""
        if not self.extra:
            return self.body
        return "\n".join([part for part in (self.body, *self.extra) if part.strip()])

    @property
    def identity(self) -> str:
        """16 hexadecimal digits, stable over hits, tags, body and further sources."""
        firsts = [source.keys[0] for source in self.sources if source.keys]
        stating = firsts[0] if firsts else ""
        return _identity(stating or (self.day.isoformat() if self.day else "undated"), self.title)

    @property
    def label(self) -> str:
        """`[2026-04-06] title`: how other records name this one."""
        return f"[{self.day.isoformat() if self.day else 'undated'}] {self.title}"


@lru_cache(maxsize=4096)  # a look for one record of a page asks all that stand before it
def _identity(base: str, title: str) -> str:
    # NFKC makes three dots of the … with which titles are cut, and leaves ASCII as it is.
    name = title.replace("…", "...")
    name = name.lower() if name.isascii() else unicodedata.normalize("NFKC", title).casefold()
    return hashlib.sha256(f"{base}\n{name}".encode()).hexdigest()[:16]


def with_sources(known: tuple[Source, ...], more: tuple[Source, ...]) -> tuple[Source, ...]:
    """The sources with those of `more` whose messages (without any: whose words) are not among them yet."""
    keys = {key for source in known for key in source.keys}
    new = (source for source in more if not keys.issuperset(source.keys) or not (source.keys or source in known))
    return (*known, *new)


def struck(record: Record) -> str:
    """`[2026-01-09] title: body` on one line: what remains of a superseded record.

    A title that only begins the text (titles are cut from their text) is not told twice.
    """
    text, begins = flat(record.text), record.title.rstrip("…. ")
    if begins and text.startswith(begins):
        return one_line(record.label.removesuffix(record.title) + text, _STRUCK_CHARACTERS)
    return one_line(f"{record.label}: {text}" if text else record.label, _STRUCK_CHARACTERS)


def shortened(text: str, limit: int) -> str:
    """`text`, cut with … to at most `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


@lru_cache(maxsize=4096)  # few people in few rooms say everything
def source_name(text: str) -> str:
    """A name or room title as part of a Source line: none of its separators, on one line."""
    return " ".join(_SEPARATORS.sub(" ", flat(text)).split()).lstrip("@ ")
