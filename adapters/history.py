"""What a file of messages of the past holds, told in our terms: one room after the other, each in its own order.

A history is read twice and more (to count, to take in), so a reader keeps places, not messages. What becomes of a
line of the file is told to a `Counted`:

    message     somebody said it; also what bots said, which is context (Voice.BOT), and the bot's own words (SELF)
    notice      the platform's own words: joins, pins, topics
    malformed   no message as the platform writes one; named by its place, the first few

Which account of the file is the bot's own is told by a name or id, else it is a bot called remem: what was said to it
then is `addressed`, as live, so that search does not take an old question to the bot for a memory.

Private conversations of one or several persons are no rooms of a history: nobody invited the bot there. They are
named in `skipped`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from adapters.messages import Author, Incoming, Room
from memory_core.ids import PersonKey
from memory_core.messages import Voice

NAMED = 5
"""How many malformed lines are named."""

EARLIEST, LATEST = datetime(1970, 1, 1, tzinfo=UTC), datetime(2200, 1, 1, tzinfo=UTC)
"""A message of another time is a fault of the file; near the ends of the calendar no day can be counted on from."""

OWN_NAME = "remem"
"""How the bot's own account is called in a file of the past, where nobody says otherwise (`remem import --bot`)."""

DELETED = "Deleted User"
"""How Discord calls who is gone; who has no name any more is called so, with the id."""


@dataclass(slots=True)
class Counted:
    """What one room of a history holds. `known`: what the workspace knew before."""

    messages: int = 0
    bots: int = 0
    attachments: int = 0
    notices: int = 0
    malformed: int = 0
    known: int = 0
    first: datetime | None = None
    last: datetime | None = None
    people: set[PersonKey] = field(default_factory=set)
    threads: set[str] = field(default_factory=set)
    deleted: dict[PersonKey, str] = field(default_factory=dict)
    where: list[str] = field(default_factory=list)
    """Where the first malformed lines stand, and what is wrong with them."""

    def said(self, message: Incoming, *, gone: bool = False) -> None:
        """Count a message; `gone`: its author was deleted on the platform."""
        self.messages += 1
        self.first = min(self.first or message.sent_at, message.sent_at)
        self.last = max(self.last or message.sent_at, message.sent_at)
        self.attachments += len(message.attachments)
        if message.conversation.thread:
            self.threads.add(message.conversation.thread)
        if message.author.voice is not Voice.PERSON:
            self.bots += 1
            return
        self.people.add(message.author.key)
        if gone:
            self.deleted[message.author.key] = message.author.name

    def broken(self, where: str) -> None:
        """Count a malformed line."""
        self.malformed += 1
        if len(self.where) < NAMED:
            self.where.append(where)


class History(Protocol):
    """An opened file, or folder of files. Everything here blocks."""

    @property
    def path(self) -> Path:
        """The file or folder."""
        ...

    @property
    def platform(self) -> str:
        """`discord` or `slack`."""
        ...

    @property
    def sha256(self) -> str:
        """The fingerprint of all that it holds."""
        ...

    @property
    def rooms(self) -> Sequence[Room]:
        """The rooms that may be taken in, sorted by title."""
        ...

    @property
    def skipped(self) -> Sequence[str]:
        """A line for each thing that is not: a private conversation, a file of something else."""
        ...

    def messages(self, room: Room, counted: Counted | None = None) -> Iterator[Incoming]:
        """What was said in the room and its threads, in the order of time, each once. Raises BadInput."""
        ...

    def is_gone(self, author: Author) -> bool:
        """Was this author deleted on the platform?"""
        ...


def several(wanted: str, path: Path, ids: Iterable[str]) -> str:
    """What is wrong where more than one account could be the bot's own."""
    return (
        f"Several accounts are called {wanted[:80]!r} in {path}; give the bot's id: {', '.join(sorted(ids)[:NAMED])}."
    )
