"""One scope's search index: an SQLite file that can be thrown away at any time. Blocking: call it in a thread.

    meta       what made it (anything else begins it anew), its version, the state of the transcript that it holds
    sources    a page or a piece of talk: its state, what ranking must know of each unit (Spot, as JSON), its terms, a
               line each, and which units of which segment of the postings are its own; an id is never used twice
    units      each unit; read only for what is shown
    postings   per term where it stands (search/index_postings.py)
    vectors    only with an embedder: what each unit means (search/vectors.py)

Nothing here is the only copy of anything: a file that cannot be read, or that another version of remem made, is
removed and filled again; where none can be had, memory does. It is written without waiting for the disk. When units
go, it is rebuilt without them. Who asks says of which version (`as_of`): a file that was begun anew meanwhile, or
that somebody else changed, does not answer (Moved).
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from memory_core.errors import StoreFailed
from memory_core.ids import PageId
from memory_core.ledger.transcript import TranscriptState
from memory_core.ranking import Question, best
from memory_core.search.hits import Hit
from memory_core.search.index_meta import keep, meta, one_moment, require
from memory_core.search.index_place import IndexPlace
from memory_core.search.index_postings import POSTINGS, Extent, NewSegment, places_of, take_away
from memory_core.search.index_reading import LastReading
from memory_core.search.index_rows import UNIT, UnitRow, spot_row, unit_row
from memory_core.search.parts import part_of
from memory_core.search.sources import Source
from memory_core.store.base import State
from memory_core.store.disk import Disk
from memory_core.uncollected import uncollected

if TYPE_CHECKING:  # there is none, unless an embedder is set
    from memory_core.search.embedding import Vector
    from memory_core.search.vectors import Due, Vectors

T = TypeVar("T")

_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    """CREATE TABLE IF NOT EXISTS sources (
        id INTEGER PRIMARY KEY AUTOINCREMENT, place TEXT NOT NULL UNIQUE, page TEXT NOT NULL, mark TEXT NOT NULL,
        sha256 TEXT NOT NULL, spots TEXT NOT NULL, terms TEXT NOT NULL,
        segment INTEGER NOT NULL, first INTEGER NOT NULL, units INTEGER NOT NULL
    )""",
    f"CREATE TABLE IF NOT EXISTS units (source, number, {UNIT}, PRIMARY KEY (source, number)) WITHOUT ROWID",
    POSTINGS,
)
_NAMES = ("sources", "units", "postings")
_SETTINGS = ("journal_mode = DELETE", "synchronous = OFF", "secure_delete = ON", "temp_store = MEMORY")
# Put together from our own constant only (hence the noqa's).
_PUT_UNIT = f"INSERT INTO units VALUES (?, ?{', ?' * len(UNIT.split(','))})"  # noqa: S608
_UNITS = f"SELECT {UNIT} FROM units WHERE source = ?"  # noqa: S608
_PUT_SOURCE = """INSERT INTO sources (place, page, mark, sha256, spots, terms, segment, first, units)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_EXTENT = "SELECT segment, first, units, terms FROM sources WHERE id = ?"
_BUSY_S = 5.0
_UNUSABLE = (
    *(sqlite3.Error, OSError, StoreFailed),
    *(ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError),
)
"""What comes of a file that cannot be used. Damage that SQLite does not see makes anything of a value: a number or
bytes where a text is expected, a day that no calendar has, a place in a unit that there is not."""


@dataclass(frozen=True, slots=True)
class Contents:
    """What the index holds: the mark of every source by its place, the state of the transcript, its `version`."""

    marks: Mapping[str, str]
    transcript: TranscriptState
    version: str = field(default="", compare=False)


class IndexFile:
    """The index of one scope; `place` None keeps it in memory. `made_by` tells what its contents depend on, `disk`
    makes the names of versions.
    """

    def __init__(
        self, place: IndexPlace | None, made_by: str, vectors: Vectors | None = None, disk: Disk | None = None
    ) -> None:
        self._place = place
        self._vectors = vectors
        self._made_by = made_by
        self._token = (disk or Disk()).token
        self._connection: sqlite3.Connection | None = None
        self._last_reading = LastReading()
        self._rests: State | None = None
        """How the file was left when `rest` closed it."""
        self._lock = threading.Lock()

    def contents(self) -> Contents:
        """What it holds now."""
        return self._tried(self._contents)

    def update(
        self, gone: Collection[str], new: Iterable[Source], transcript: TranscriptState, as_of: str | None = None
    ) -> None:
        """Take sources away by their places, put new ones in the place of what was called so, all or nothing.

        Raises Moved.
        """
        new = tuple(new)
        with uncollected():
            self._tried(lambda connection: self._update(connection, gone, new, transcript, as_of))

    def search(
        self,
        asked: Question,
        wanted: Callable[[PageId], bool],
        most: int,
        as_of: str | None = None,
        meant: Vector | None = None,
    ) -> tuple[Hit, ...]:
        """The best `most` hits on pages that are `wanted`, best first; `meant` is the vector of the question.

        Raises Moved.
        """

        def search(connection: sqlite3.Connection) -> tuple[Hit, ...]:
            with one_moment(connection):
                require(connection, as_of)
                return self._ranked(connection, asked, wanted, most, meant)

        return self._tried(search)

    @property
    def lacks_vectors(self) -> bool:
        """May units have no vector yet, and should have one?"""
        return self._vectors is not None and self._vectors.is_lacking

    def without_vectors(self, most: int) -> tuple[Due, ...]:
        """Units that have no vector yet; none of a file that is closed, or that only the next search can mend."""
        with self._lock, suppress(*_UNUSABLE):
            if self._connection is not None and self._vectors is not None:
                return self._vectors.lacking(self._connection, most)
        return ()

    def keep_vectors(self, due: Sequence[Due], vectors: Sequence[Vector]) -> bool:
        """Keep the vectors of units that still stand there; False where the file is closed, or it fails."""
        with self._lock, suppress(*_UNUSABLE):
            if self._connection is not None and self._vectors is not None:
                self._vectors.keep(self._connection, due, vectors)
                return True
        return False

    @property
    def units(self) -> int:
        """Of so many units something is kept in memory."""
        return self._last_reading.units

    @property
    def is_kept(self) -> bool:
        """Does it stand on the disk? Else it is lost when it is closed."""
        return self._place is not None

    def close(self) -> None:
        """Close the file; the next call opens it again."""
        with self._lock:
            self._shut()

    def rest(self) -> bool:
        """Close the file, but keep what is known of it for as long as it stays as it is; False while it is in use."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._connection is not None and self._place is not None:
                with suppress(sqlite3.Error):
                    self._connection.close()
                self._connection, self._rests = None, self._place.state()
        except StoreFailed:
            self._shut()  # all is looked at anew
        finally:
            self._lock.release()
        return True

    def _tried(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; a file that cannot be used is begun anew, then given up for the memory of this process."""
        with self._lock:
            for _ in range(2):
                try:
                    return work(self._opened())
                except _UNUSABLE:
                    self._shut()
                    self._remove()
            self._place = None
            return work(self._opened())

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None:
            return self._connection
        # What nobody touched since we closed it is as whole as it was, and stands as safely.
        rested = self._place is not None and self._rests is not None and self._place.state() == self._rests
        if self._place is not None and not rested:
            self._place.make()
        path = self._place.path if self._place is not None else ":memory:"
        connection = sqlite3.connect(path, timeout=_BUSY_S, isolation_level=None, check_same_thread=False)
        self._connection = connection
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        if not rested:
            self._last_reading.clear()
            self._look_over(connection)
        made_by = meta(connection, "made_by")
        if made_by not in (self._made_by, ""):
            raise sqlite3.DatabaseError("another version made the index")
        if not made_by:
            keep(connection, "made_by", self._made_by)
        return connection

    def _look_over(self, connection: sqlite3.Connection) -> None:
        """Let the file be whole, and have its tables."""
        if connection.execute("PRAGMA quick_check").fetchone() != ("ok",):
            raise sqlite3.DatabaseError("the index is damaged")
        had = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
        for table in _TABLES:
            connection.execute(table)
        if meta(connection, "made_by") and not had.issuperset(_NAMES):  # an empty one would hide what there is
            raise sqlite3.DatabaseError("the index lacks a table")
        if self._vectors is not None:
            self._vectors.begin(connection)

    def _shut(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._rests = None
        self._last_reading.clear()

    def _remove(self) -> None:
        if self._place is not None:
            with suppress(OSError, StoreFailed):
                self._place.remove()

    def _contents(self, connection: sqlite3.Connection) -> Contents:
        version = meta(connection, "version")  # first: what changes meanwhile is another version
        marks = dict(connection.execute("SELECT place, mark FROM sources"))
        return Contents(marks, TranscriptState.of(meta(connection, "transcript")), version)

    def _update(
        self,
        connection: sqlite3.Connection,
        gone: Collection[str],
        new: Sequence[Source],
        transcript: TranscriptState,
        as_of: str | None,
    ) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            require(connection, as_of)
            before = dict(connection.execute("SELECT place, id FROM sources"))
            replaced = [before[place] for place in {*gone, *(one.place for one in new)} if place in before]
            taken = self._vectors.take_away(connection, replaced) if self._vectors is not None else {}
            went = self._take_away(connection, replaced)
            came = set[UnitRow]()
            for written in self._put(connection, new):
                came.update(written if went else ())
            if self._vectors is not None:
                self._vectors.put_back(connection, taken, [one.place for one in new])
            keep(connection, "transcript", str(transcript))
            keep(connection, "version", self._token())
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if went - came:
            connection.execute("VACUUM")

    def _take_away(self, connection: sqlite3.Connection, sources: Sequence[int]) -> set[UnitRow]:
        """Remove sources with all that is known of them; the units that went."""
        went, gone = set[UnitRow](), list[Extent]()
        for source in sources:
            went.update(connection.execute(_UNITS, (source,)))
            segment, first, units, terms = connection.execute(_EXTENT, (source,)).fetchone()
            gone.append(Extent(segment, first, units, terms.split("\n") if terms else ()))
            connection.execute("DELETE FROM units WHERE source = ?", (source,))
            connection.execute("DELETE FROM sources WHERE id = ?", (source,))
        take_away(connection, gone)
        return went

    def _put(self, connection: sqlite3.Connection, new: Sequence[Source]) -> Iterator[Sequence[UnitRow]]:
        """Add sources; the units of each in turn. When all were taken, their terms are written as one segment."""
        segment, name = NewSegment(), 0
        for source in new:
            placed, first = tuple(source.placed()), segment.units
            parts = [part_of(one) for one in placed]
            spots, terms = json.dumps([spot_row(part.spot) for part in parts]), "\n".join(segment.add(parts))
            told = (source.place, source.page, source.mark, placed[0].sha256 if placed else "", spots, terms)
            row = connection.execute(_PUT_SOURCE, (*told, name, first, len(parts))).lastrowid or 0
            if not name:  # the id of the first source, which is known only now
                name = row
                connection.execute("UPDATE sources SET segment = id WHERE id = ?", (row,))
            written = [unit_row(one) for one in placed]
            connection.executemany(_PUT_UNIT, [(row, at, *unit) for at, unit in enumerate(written)])
            yield written
        segment.write(connection, name)

    def _ranked(
        self,
        connection: sqlite3.Connection,
        asked: Question,
        wanted: Callable[[PageId], bool],
        most: int,
        meant: Vector | None,
    ) -> tuple[Hit, ...]:
        reading = self._last_reading.of(connection)
        places = places_of(connection, reading.numbers, asked)
        sources, talks = reading.sources, reading.talks
        allowed = {source for source, (page, _) in reading.pages.items() if wanted(page)}

        def fits(number: int, holds: bool) -> bool:
            return (holds or sources[number] in talks) and sources[number] in allowed

        by_meaning = meant is not None and self._vectors is not None
        words = best(reading.shelf, places, asked, len(sources) if by_meaning else most, fits)
        first = [(number, score.value, score, 0) for number, score in words]
        if meant is not None and self._vectors is not None:
            nearest = self._vectors.order(connection, meant, reading.start, reading.shelf.first)
            nearest = tuple(number for number in nearest if sources[number] in allowed)
            first = self._vectors.fused(dict(words), nearest, most)
        placed = reading.placed(connection, [number for number, *_ in first])
        return tuple(
            Hit(placed[number], number, value, score.shared, score.kin, score.value, near)
            for number, value, score, near in first
        )
