"""One scope's search index: an SQLite file that can be thrown away at any time. Blocking: call it in a thread.

    meta       `made_by`: what made it (anything else begins it anew); `version`, which grows with every update;
               the state of the transcript that it holds
    sources    a page or a piece of talk: its state, of every unit what ranking must know (Spot), and its terms, as
               JSON; an id is never used twice
    units      each unit; read only for what is shown
    postings   per term and source where it stands: for each place one number of 64 bits, unit, position and weight

Nothing here is the only copy of anything: a file that SQLite cannot read, or that another version made, is removed
and filled again. Where no file can be had (a full or read-only disk) it is kept in memory. It is written without
waiting for the disk. When units go, the file is rebuilt without them, so that no term of theirs stays behind.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from heapq import nsmallest
from typing import TypeAlias, TypeVar

from memory_core.errors import StoreFailed
from memory_core.ids import PageId
from memory_core.ledger.transcript import TranscriptState
from memory_core.ranking import Places, Shelf, Spot, pairs_of, scores, shelf
from memory_core.search.hits import Hit
from memory_core.search.index_place import IndexPlace
from memory_core.search.index_rows import (
    POSITION_BITS,
    UNIT,
    WEIGHT_BITS,
    UnitRow,
    placed_of,
    postings,
    spot_of,
    spot_row,
    unit_row,
)
from memory_core.search.parts import part_of
from memory_core.search.sources import TALK, Source

T = TypeVar("T")
_Standing: TypeAlias = defaultdict[str, dict[int, bytes]]
"""Where each term stands in the sources, by their ids."""

_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS sources (
        id INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT NOT NULL UNIQUE, page TEXT NOT NULL, mark TEXT NOT NULL,
        sha256 TEXT NOT NULL, spots TEXT NOT NULL, terms TEXT NOT NULL
    )""",
    f"CREATE TABLE IF NOT EXISTS units (source, number, {UNIT}, PRIMARY KEY (source, number)) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS postings (
        term TEXT NOT NULL, source INTEGER NOT NULL, places BLOB NOT NULL, PRIMARY KEY (term, source)
    ) WITHOUT ROWID""",
)
_SETTINGS = ("journal_mode = DELETE", "synchronous = OFF", "secure_delete = ON", "temp_store = MEMORY")
# Put together from our own constant only (hence the noqa's).
_PUT_UNIT = f"INSERT INTO units VALUES (?, ?{', ?' * len(UNIT.split(','))})"  # noqa: S608
_UNITS = f"SELECT {UNIT} FROM units WHERE source = ?"  # noqa: S608
_DELETE_POSTINGS = """DELETE FROM postings WHERE source = ?1 AND term IN (
    SELECT value FROM json_each((SELECT terms FROM sources WHERE id = ?1)))"""
_MOST_TERMS = 400
"""How many terms one statement asks for."""
_BUSY_S = 5.0


@dataclass(frozen=True, slots=True)
class Known:
    """What the index holds: the mark of every source by its place, and the state of the transcript; at `version`."""

    marks: Mapping[str, str]
    transcript: TranscriptState
    version: int = 0


@dataclass(frozen=True, slots=True)
class _Shelved:
    """What every question needs, as of one version: the shelf, and which numbers belong to which source."""

    version: int
    shelf: Shelf
    start: Mapping[int, int]
    """The number of each source's first unit."""
    sources: Sequence[int]
    """Of every number its source."""
    pages: Mapping[int, tuple[PageId, str]]
    """Of every source its page, and in which state it was read."""


class IndexFile:
    """The index of one scope; `place` None keeps it in memory. `made_by` tells what its contents depend on."""

    def __init__(self, place: IndexPlace | None, made_by: str) -> None:
        self._place = place
        self._made_by = made_by
        self._connection: sqlite3.Connection | None = None
        self._shelved: _Shelved | None = None
        self._spots: dict[int, list[Spot]] = {}  # of the last shelf, by source: most stay as they are
        self.told: Known | None = None
        """What `known` told last, as long as nothing was lost since."""
        self._lock = threading.Lock()

    def known(self) -> Known:
        """What it holds now."""
        return self._tried(self._known)

    def update(self, known: Known, gone: Collection[str], new: Iterable[Source], transcript: TranscriptState) -> bool:
        """Take sources away by their places, put new ones in the place of what was called so, all or nothing.

        False, and nothing is done, if it no longer holds what is `known`: it was begun anew, or another was quicker.
        """
        new = tuple(new)
        return self._tried(lambda held: self._update(held, known, gone, new, transcript))

    def search(self, asked: Sequence[str], wanted: Callable[[PageId], bool], most: int) -> tuple[Hit, ...]:
        """The best `most` hits on pages that are `wanted`, best first."""
        return self._tried(lambda held: self._search(held, asked, wanted, most))

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            self._shut()

    def _tried(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; a file that cannot be used is begun anew, then given up for the memory of this process."""
        with self._lock:
            for _ in range(2):
                try:
                    return work(self._opened())
                except (sqlite3.Error, OSError, ValueError, StoreFailed):
                    self._shut()
                    self._remove()
            self._place = None
            return work(self._opened())

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        if self._place is not None:
            self._place.make()
        path = self._place.path if self._place is not None else ":memory:"
        held = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        self._connection = held
        for setting in _SETTINGS:
            held.execute(f"PRAGMA {setting}")
        if held.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the index is damaged")
        for table in _TABLES:
            held.execute(table)
        if _meta(held, "made_by") not in (self._made_by, ""):
            raise sqlite3.DatabaseError("another version made the index")
        _keep(held, "made_by", self._made_by)
        return held

    def _shut(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._shelved = self.told = None
        self._spots = {}

    def _remove(self) -> None:
        if self._place is not None:
            with suppress(OSError, StoreFailed):
                self._place.remove()

    def _known(self, held: sqlite3.Connection) -> Known:
        marks = dict(held.execute("SELECT place, mark FROM sources"))
        arrived, revised, *openings = _meta(held, "transcript").split() or ("0", "0")
        transcript = TranscriptState(int(arrived), int(revised), tuple(openings))
        known = Known(marks, transcript, _version(held))
        self.told = known
        return known

    def _update(
        self,
        held: sqlite3.Connection,
        known: Known,
        gone: Collection[str],
        new: Sequence[Source],
        transcript: TranscriptState,
    ) -> bool:
        self.told = None
        held.execute("BEGIN IMMEDIATE")
        try:
            if _version(held) != known.version:
                held.execute("ROLLBACK")
                return False
            replaced = _ids(held, {*gone, *(one.place for one in new)} & known.marks.keys())
            went = self._take_away(held, replaced)
            came, standing = set[UnitRow](), _Standing(dict)
            for one in new:
                came |= self._put(held, one, standing)
            # In the order of their key: a tree that is filled from one end is not split and mended all over.
            rows = ((term, *one) for term in sorted(standing) for one in standing[term].items())
            held.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows)
            _keep(
                held, "transcript", " ".join(map(str, (transcript.arrived, transcript.revised, *transcript.openings)))
            )
            _keep(held, "version", str(known.version + 1))
            held.execute("COMMIT")
        except BaseException:
            held.execute("ROLLBACK")
            raise
        if went - came:
            held.execute("VACUUM")
        return True

    def _take_away(self, held: sqlite3.Connection, sources: Sequence[int]) -> set[UnitRow]:
        """Remove sources with all that is known of them; the units that went."""
        went = set[UnitRow]()
        for source in sources:
            went.update(held.execute(_UNITS, (source,)))
            held.execute(_DELETE_POSTINGS, (source,))
            held.execute("DELETE FROM units WHERE source = ?", (source,))
            held.execute("DELETE FROM sources WHERE id = ?", (source,))
        return went

    def _put(self, held: sqlite3.Connection, source: Source, standing: _Standing) -> set[UnitRow]:
        """Add a source; its units. Where its terms stand is told in `standing`."""
        parts = [part_of(one) for one in source.placed]
        sha256 = source.placed[0].sha256 if source.placed else ""
        spots, stands = json.dumps([spot_row(part.spot) for part in parts]), postings(parts)
        row = (
            held.execute(
                "INSERT INTO sources (place, page, mark, sha256, spots, terms) VALUES (?, ?, ?, ?, ?, ?)",
                (source.place, source.page, source.mark, sha256, spots, json.dumps(list(stands))),
            ).lastrowid
            or 0
        )
        written = [unit_row(one) for one in source.placed]
        held.executemany(_PUT_UNIT, [(row, at, *unit) for at, unit in enumerate(written)])
        for term, places in stands.items():
            standing[term][row] = places
        return set(written)

    def _search(
        self, held: sqlite3.Connection, asked: Sequence[str], wanted: Callable[[PageId], bool], most: int
    ) -> tuple[Hit, ...]:
        shelved = self._shelf(held)
        places = _places(held, shelved, asked)
        allowed = {source for source, (page, _) in shelved.pages.items() if wanted(page)}
        talks = {source for source, (page, _) in shelved.pages.items() if page == TALK}
        ranked = [
            (-score.value, -(shelved.shelf.spots[number].at or 0), number, score)
            for number, score in scores(shelved.shelf, places, asked).items()
            if (source := shelved.sources[number]) in allowed and (score.shared or source in talks)
        ]
        hits = []
        for _, _, number, score in nsmallest(most, ranked, key=lambda one: one[:3]):
            source = shelved.sources[number]
            row = held.execute(f"{_UNITS} AND number = ?", (source, number - shelved.start[source])).fetchone()
            hits.append(Hit(placed_of(*shelved.pages[source], row), number, score.value, score.shared))
        return tuple(hits)

    def _shelf(self, held: sqlite3.Connection) -> _Shelved:
        """The shelf of this version, kept until the next."""
        version = _version(held)
        if self._shelved is None or self._shelved.version != version:
            before, self._spots = self._spots, {}
            spots: list[Spot] = []
            start: dict[int, int] = {}
            sources: list[int] = []
            pages: dict[int, tuple[PageId, str]] = {}
            for row, page, sha256 in held.execute("SELECT id, page, sha256 FROM sources ORDER BY place"):
                own = before[row] if row in before else _spots(held, row)
                self._spots[row] = own
                start[row], pages[row] = len(spots), (PageId(page), sha256)
                spots += own
                sources += [row] * len(own)
            self._shelved = _Shelved(version, shelf(spots), start, sources, pages)
        return self._shelved


def _places(held: sqlite3.Connection, shelved: _Shelved, asked: Sequence[str]) -> Places:
    """Where the terms of a question stand."""
    counts: dict[str, dict[int, int]] = {}
    stands: dict[str, set[int]] = {}
    for term, source, places in _rows_of(held, tuple(dict.fromkeys(asked))):
        own, at, start = counts.setdefault(term, defaultdict(int)), stands.setdefault(term, set()), shelved.start
        read = array("Q")
        read.frombytes(places)
        for place in read:
            number = start[source] + (place >> (POSITION_BITS + WEIGHT_BITS))
            own[number] += place & ((1 << WEIGHT_BITS) - 1)
            at.add(number << POSITION_BITS | place >> WEIGHT_BITS & (1 << POSITION_BITS) - 1)
    together: dict[int, int] = defaultdict(int)
    for first, second in pairs_of(asked):
        if first in stands and second in stands:
            ends = stands[second]
            for number in {place >> POSITION_BITS for place in stands[first] if place + 1 in ends}:
                together[number] += 1
    return Places(counts, together)


def _rows_of(held: sqlite3.Connection, terms: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
    for at in range(0, len(terms), _MOST_TERMS):
        some = json.dumps(terms[at : at + _MOST_TERMS])
        yield from held.execute(
            "SELECT term, source, places FROM postings WHERE term IN (SELECT value FROM json_each(?))", (some,)
        )


def _spots(held: sqlite3.Connection, source: int) -> list[Spot]:
    (told,) = held.execute("SELECT spots FROM sources WHERE id = ?", (source,)).fetchone()
    return [spot_of(one) for one in json.loads(told)]


def _ids(held: sqlite3.Connection, places: Collection[str]) -> list[int]:
    asked = "SELECT id FROM sources WHERE place IN (SELECT value FROM json_each(?))"
    return [row[0] for row in held.execute(asked, (json.dumps(list(places)),))]


def _version(held: sqlite3.Connection) -> int:
    return int(_meta(held, "version") or 0)


def _meta(held: sqlite3.Connection, name: str) -> str:
    row = held.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return str(row[0]) if row is not None else ""


def _keep(held: sqlite3.Connection, name: str, value: str) -> None:
    held.execute("INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)", (name, value))
