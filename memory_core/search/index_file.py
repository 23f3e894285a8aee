"""One scope's search index: an SQLite file that can be thrown away at any time. Blocking: call it in a thread.

    meta       what made it (anything else begins it anew), its version, the state of the transcript that it holds
    sources    a page or a piece of talk: its state, what ranking must know of each unit (Spot, as JSON), and its
               terms, a line each; an id is never used twice
    units      each unit; read only for what is shown
    postings   per term and source where it stands: for each place one number of 64 bits, unit, position and weight
    vectors    only with an embedder: what each unit means (search/vectors.py)

Nothing here is the only copy of anything: a file that cannot be read, or that another version of remem made, is
removed and filled again; where none can be had, memory does. It is written without waiting for the disk. When units
go, it is rebuilt without them. Who asks says of which version (`as_of`): a file that was begun anew meanwhile, or
that somebody else changed, does not answer (Moved).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from memory_core.errors import StoreFailed
from memory_core.ids import PageId
from memory_core.ledger.transcript import TranscriptState
from memory_core.ranking import Question, best
from memory_core.search.hits import Hit
from memory_core.search.index_meta import keep, meta, one_moment, require
from memory_core.search.index_place import IndexPlace
from memory_core.search.index_rows import UNIT, UnitRow, postings, spot_row, unit_row
from memory_core.search.index_shelf import Shelving
from memory_core.search.index_terms import places_of
from memory_core.search.parts import part_of
from memory_core.search.sources import Source
from memory_core.store.base import State
from memory_core.uncollected import uncollected

if TYPE_CHECKING:  # there is none, unless an embedder is set
    from memory_core.search.embedding import Vector
    from memory_core.search.vectors import Due, Vectors

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
_DELETE_POSTING = "DELETE FROM postings WHERE term = ? AND source = ?"
_BUSY_S = 5.0


@dataclass(frozen=True, slots=True)
class Known:
    """What the index holds: the mark of every source by its place, the state of the transcript, its `version`."""

    marks: Mapping[str, str]
    transcript: TranscriptState
    version: str = field(default="", compare=False)


class IndexFile:
    """The index of one scope; `place` None keeps it in memory. `made_by` tells what its contents depend on."""

    def __init__(self, place: IndexPlace | None, made_by: str, vectors: Vectors | None = None) -> None:
        self._place = place
        self._vectors = vectors
        self._made_by = made_by
        self._connection: sqlite3.Connection | None = None
        self._shelving = Shelving()
        self._rests: State | None = None
        """How the file was left when `rest` closed it."""
        self._lock = threading.Lock()

    def known(self) -> Known:
        """What it holds now."""
        return self._tried(self._known)

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
        with self._lock, suppress(sqlite3.Error):
            if self._connection is not None and self._vectors is not None:
                return self._vectors.lacking(self._connection, most)
        return ()

    def keep_vectors(self, due: Sequence[Due], vectors: Sequence[Vector]) -> bool:
        """Keep the vectors of units that still stand there; False where the file is closed, or it fails."""
        with self._lock, suppress(sqlite3.Error):
            if self._connection is not None and self._vectors is not None:
                self._vectors.keep(self._connection, due, vectors)
                return True
        return False

    @property
    def units(self) -> int:
        """Of so many units something is kept in memory."""
        return self._shelving.units

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
                except (sqlite3.Error, OSError, ValueError, StoreFailed):
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
            self._shelving.clear()
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
        for table in _TABLES:
            connection.execute(table)
        if self._vectors is not None:
            self._vectors.begin(connection)

    def _shut(self) -> None:
        if self._connection is not None:
            with suppress(sqlite3.Error):
                self._connection.close()
        self._connection = self._rests = None
        self._shelving.clear()

    def _remove(self) -> None:
        if self._place is not None:
            with suppress(OSError, StoreFailed):
                self._place.remove()

    def _known(self, connection: sqlite3.Connection) -> Known:
        version = meta(connection, "version")  # first: what changes meanwhile is another version
        marks = dict(connection.execute("SELECT place, mark FROM sources"))
        return Known(marks, TranscriptState.of(meta(connection, "transcript")), version)

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
            came, standing = set[UnitRow](), _Standing(dict)
            for one in new:
                written = self._put(connection, one, standing)
                came.update(written if went else ())
            # In the order of their key: a tree that is filled from one end is not split and mended all over.
            rows = ((term, *one) for term in sorted(standing) for one in standing[term].items())
            connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows)
            if self._vectors is not None:
                self._vectors.put_back(connection, taken, [one.place for one in new])
            keep(connection, "transcript", str(transcript))
            keep(connection, "version", secrets.token_hex(8))
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        if went - came:
            connection.execute("VACUUM")

    def _take_away(self, connection: sqlite3.Connection, sources: Sequence[int]) -> set[UnitRow]:
        """Remove sources with all that is known of them; the units that went."""
        went = set[UnitRow]()
        for source in sources:
            went.update(connection.execute(_UNITS, (source,)))
            (terms,) = connection.execute("SELECT terms FROM sources WHERE id = ?", (source,)).fetchone()
            connection.executemany(_DELETE_POSTING, ((term, source) for term in terms.split("\n")))
            connection.execute("DELETE FROM units WHERE source = ?", (source,))
            connection.execute("DELETE FROM sources WHERE id = ?", (source,))
        return went

    def _put(self, connection: sqlite3.Connection, source: Source, standing: _Standing) -> Sequence[UnitRow]:
        """Add a source; its units. Where its terms stand is told in `standing`."""
        placed = tuple(source.placed())
        parts = [part_of(one) for one in placed]
        sha256 = placed[0].sha256 if placed else ""
        spots, stands = json.dumps([spot_row(part.spot) for part in parts]), postings(parts)
        row = (
            connection.execute(
                "INSERT INTO sources (place, page, mark, sha256, spots, terms) VALUES (?, ?, ?, ?, ?, ?)",
                (source.place, source.page, source.mark, sha256, spots, "\n".join(stands)),
            ).lastrowid
            or 0
        )
        written = [unit_row(one) for one in placed]
        connection.executemany(_PUT_UNIT, [(row, at, *unit) for at, unit in enumerate(written)])
        for term, places in stands.items():
            standing[term][row] = places
        return written

    def _ranked(
        self,
        connection: sqlite3.Connection,
        asked: Question,
        wanted: Callable[[PageId], bool],
        most: int,
        meant: Vector | None,
    ) -> tuple[Hit, ...]:
        shelved = self._shelving.of(connection)
        places = places_of(connection, shelved.start, asked)
        sources, talks = shelved.sources, shelved.talks
        allowed = {source for source, (page, _) in shelved.pages.items() if wanted(page)}

        def fits(number: int, holds: bool) -> bool:
            return (holds or sources[number] in talks) and sources[number] in allowed

        by_meaning = meant is not None and self._vectors is not None
        words = best(shelved.shelf, places, asked, len(sources) if by_meaning else most, fits)
        first = [(number, score.value, score, 0) for number, score in words]
        if meant is not None and self._vectors is not None:
            nearest = self._vectors.order(connection, meant, shelved.start, shelved.shelf.first)
            nearest = tuple(number for number in nearest if sources[number] in allowed)
            first = self._vectors.fused(dict(words), nearest, most)
        return tuple(
            Hit(shelved.placed(connection, number), number, value, score.shared, score.kin, score.value, near)
            for number, value, score, near in first
        )
