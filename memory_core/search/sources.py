"""What is searched, cut into sources: a page each, and pieces of what was said. Pure.

A source is replaced as a whole when its mark changes. Searched are the pages, journals and archive of a scope, never
the program's own files, never SOUL.md (every scope has it), and the transcript as long as it is kept. A talk is what
was said in one conversation without a pause of `PAUSE`; it is cut after `PIECE` lines, which stay one talk.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta, tzinfo
from functools import lru_cache

from memory_core.asking import is_question
from memory_core.clock import day_in
from memory_core.forms.units import Unit, cut, said_on, units_of
from memory_core.ids import Conversation, PageId
from memory_core.layouts import Form, Table
from memory_core.ledger.transcript import Line, Said
from memory_core.messages import Voice
from memory_core.search.parts import Placed
from memory_core.store.base import PageText, State

PAUSE = timedelta(minutes=30)
_PAUSE_US = PAUSE // timedelta(microseconds=1)
PIECE = 64
TALK = PageId("talk")
"""What results name as the page of what was said; it is no page that could be opened."""
_TALK_PREFIX = ":"
"""How the places of talk begin; no page is called so."""
_UNSEARCHED = frozenset({Form.STATE, Form.INDEX})
_DAY_SECONDS = 86_400
_INDENTED = "\n  "
"""Lines of one message hang together in a list."""


@dataclass(frozen=True, slots=True)
class Source:
    """One source as it stands in the index: what it is called, and in which state.

    `placed` takes it apart, into its units in order: when it is its turn, since of a large memory all units at once
    are many.
    """

    place: str
    page: PageId
    mark: str
    placed: Callable[[], Iterable[Placed]]


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a talk: the places in the ledger of its lines, in order."""

    place: str
    talk: str
    mark: str
    seqs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Begun:
    """The last piece of a conversation that is known: the seq of its first line, and its talk."""

    seq: int
    talk: str


def last_begun(marks: Mapping[str, str], conversation: Conversation) -> Begun | None:
    """The last piece of the conversation of those whose marks are known; None for a new one."""
    head = f"{_TALK_PREFIX}{conversation}/"
    last = max((place for place in marks if place.startswith(head) and "/" not in place[len(head) :]), default="")
    return Begun(int(last[len(head) :]), marks[last].rpartition(" ")[0]) if last else None


def searchable(table: Table, pages: Iterable[PageId]) -> tuple[PageId, ...]:
    """Those of `pages` that a search looks through."""
    return tuple(page for page in pages if not (rule := table.rule(page)).shared and rule.form not in _UNSEARCHED)


def mark_of(state: State) -> str:
    """A page's state in a few characters."""
    return f"{state.size}.{state.modified_ns}.{state.changed_ns}.{state.inode}"


def page_source(read: PageText, form: Form, mark: str) -> Source:
    """A page as a source."""
    taken_apart = (
        cut if form is Form.ARCHIVE else units_of
    )  # loading, for which units are remembered, reads no archive

    def placed() -> Iterator[Placed]:
        units = taken_apart(read.page, form, read.text).units
        return (Placed(read.page, unit, read.stamp.sha256) for unit in units)

    return Source(read.page, read.page, mark, placed)


def is_talk(place: str) -> bool:
    """Is it a piece of talk, not a page?"""
    return place.startswith(_TALK_PREFIX)


def pieces(lines: Sequence[Line], begun: Begun | None = None) -> tuple[Piece, ...]:
    """The transcript cut into talks and these into pieces; `lines` are ordered by conversation, then as they came.

    They may be those of one conversation from the first line on of its last piece, which was `begun` already.
    """
    found: list[Piece] = []
    for talk in _talks(lines):
        name = begun.talk if begun is not None and talk[0].seq == begun.seq else _place(talk[0])
        for at in range(0, len(talk), PIECE):
            part = talk[at : at + PIECE]
            lines_of_it = ",".join([f"{seq}.{text_id}.{sent_us}" for seq, _, text_id, sent_us in part])
            sha256 = hashlib.sha256(lines_of_it.encode()).hexdigest()
            found.append(Piece(_place(part[0]), name, f"{name} {sha256}", tuple([line.seq for line in part])))
    return tuple(found)


def talk_source(piece: Piece, said: Mapping[int, Said], zone: tzinfo) -> Source:
    """A piece of a talk as a source: what persons and other bots said in it."""

    def placed() -> Iterator[Placed]:
        kept = (said[seq] for seq in piece.seqs if seq in said)
        return (_line(one, piece.talk, zone) for one in kept if _tells(one))

    return Source(piece.place, TALK, piece.mark, placed)


def _tells(one: Said) -> bool:
    """Could it be what somebody looks for? What remem said is no memory, nor is what it was asked."""
    return one.voice is not Voice.SELF and not (one.addressed and is_question(one.text))


def _talks(lines: Iterable[Line]) -> Iterator[list[Line]]:
    talk: list[Line] = []
    for line in lines:
        if talk and (line.sent_us - talk[-1].sent_us >= _PAUSE_US or _is_elsewhere(line, talk[-1])):
            yield talk
            talk = []
        talk.append(line)
    if talk:
        yield talk


def _is_elsewhere(line: Line, before: Line) -> bool:
    """Do they stand in different conversations? Most lines of one outline share theirs as one object: sooner seen."""
    return line.conversation is not before.conversation and line.conversation != before.conversation


def _place(line: Line) -> str:
    return f"{_TALK_PREFIX}{line.conversation}/{line.seq:012}"


def _line(one: Said, talk: str, zone: tzinfo) -> Placed:
    """One message, as a journal's line would tell it. Its day is the scope's; what was said has no title."""
    at = one.sent_at.astimezone(zone)
    day, source = day_in(zone, at), f"@{one.author_name}, {at.hour:02}:{at.minute:02}"
    told = _INDENTED.join(filter(None, map(str.strip, one.text.split("\n"))))
    unit = Unit(
        text=f"- {told} ({source})",
        context=_context(day),
        body=one.text,
        day=day,
        source=source,
        said_by=one.author_name,
        close=True,
    )
    return Placed(TALK, unit, "", one.key, talk, _days(one.sent_at))


@lru_cache(maxsize=64)  # few days at a time, and the units of one share it
def _context(day: date) -> tuple[str, ...]:
    return (said_on(day),)


def _days(moment: datetime) -> float:
    """A moment on the same scale as a date's ordinal."""
    return moment.toordinal() + (moment.hour * 3600 + moment.minute * 60 + moment.second) / _DAY_SECONDS
