"""How what is derived from a scope's transcript (the search index) keeps up with it.

    state     how far it came: what it tells is unchanged, is unchanged (one row by its key)
    outline   which messages still have their text, and which text: what differs must be read again (no text); all,
              or what came after a seq, which is all that is new as long as nothing was revised
    said      those messages with their text

A message that was deleted or erased is in none of them. Seqs and ids of texts belong to one ledger file: after
another one was put in its place (a backup, one begun anew) they say nothing about what was derived from the first. So
a state names by which openings of the ledger (one each time a program opens the file) the transcript was written, and
from where on: a backup that was made while the first was still written to shares the name of its opening, and what
the first said after it is told by where the next one began.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from memory_core.ids import Conversation, MessageKey
from memory_core.messages import Entry, Voice

_DIGITS = 12


@dataclass(frozen=True, slots=True)
class Opening:
    """An opening of the ledger's file that wrote: its random name, and the state in which it found the transcript."""

    name: str
    arrived: int = 0
    revised: int = 0

    def __str__(self) -> str:
        return f"{self.name}{self.arrived:0{_DIGITS}}{self.revised:0{_DIGITS}}"

    @classmethod
    def of(cls, text: str) -> Opening:
        """The one whose text form this is. Raises ValueError."""
        name, arrived, revised = text[: -2 * _DIGITS], text[-2 * _DIGITS : -_DIGITS], text[-_DIGITS:]
        return cls(name, int(arrived), int(revised))


@dataclass(frozen=True, slots=True)
class TranscriptState:
    """`arrived`: the newest seq that was ever kept in the scope, 0 at first. `revised` grows whenever a kept text was
    edited, deleted, erased or put elsewhere. `openings`: the last ones that wrote either, random, oldest first."""

    arrived: int = 0
    revised: int = 0
    openings: tuple[Opening, ...] = ()

    def __str__(self) -> str:
        return " ".join((str(self.arrived), str(self.revised), *map(str, self.openings)))

    @classmethod
    def of(cls, text: str) -> TranscriptState:
        """The state whose text form this is; of an empty text the one without any message. Raises ValueError."""
        arrived, revised, *openings = text.split() or ("0", "0")
        return cls(int(arrived), int(revised), tuple(map(Opening.of, openings)))

    def follows(self, earlier: TranscriptState) -> bool:
        """Did the same ledger tell `earlier` before? Else nothing that was derived by it may be kept."""
        until = self._until(earlier)
        return until is not None and earlier.arrived <= until[0] and earlier.revised <= until[1]

    def _until(self, earlier: TranscriptState) -> tuple[int, int] | None:
        """How far the opening that wrote `earlier` came, as this state knows it; None where it does not."""
        if not (earlier.arrived or earlier.revised):
            return self.arrived, self.revised
        if not earlier.openings or earlier.openings[-1] not in self.openings:
            return None
        after = self.openings[self.openings.index(earlier.openings[-1]) + 1 :]
        return (after[0].arrived, after[0].revised) if after else (self.arrived, self.revised)


class Line(NamedTuple):
    """A message that still has its text. `text_id` is another after every edit; it is not counted from anything.

    `sent_us`: when it was sent, in microseconds since 1970; to make a moment of it takes a fifth of a line's time.
    """

    seq: int
    conversation: Conversation
    text_id: int
    sent_us: int


class Said(NamedTuple):
    """What a kept message says, without what only its conversation needs to know: many are read at once.

    `sent_at` is in UTC.
    """

    seq: int
    key: MessageKey
    author_name: str
    text: str
    sent_at: datetime
    voice: Voice
    addressed: bool

    @classmethod
    def of(cls, entry: Entry) -> Said:
        """What the message of the entry says."""
        one = entry.message
        return cls(entry.seq, one.key, one.author_name, one.text, one.sent_at, one.voice, one.addressed)


class Transcript(Protocol):
    """One scope's transcript; a part of ScopeLedger."""

    async def transcript_state(self) -> TranscriptState:
        """How far it came, and how often it was revised. Raises LedgerFailed."""
        ...

    async def transcript_outline(self, after: int = 0, of: Conversation | None = None) -> tuple[Line, ...]:
        """Every message that has its text and a seq beyond `after`, also only `of` one conversation; by the text form
        of its conversation and by seq. Raises LedgerFailed."""
        ...

    async def transcript(self, seqs: Sequence[int]) -> tuple[Said, ...]:
        """What these messages say, in the order of seq, each once; those that are unknown, another scope's or gone
        are left out. Raises LedgerFailed."""
        ...
