"""The vectors of one scope's units, in its search index: who has none yet, what comes and goes. Blocking.

    vectors    of a unit (its source and number) what the embedder made of its text

A vector is as private as its text: it lies in the same file and goes in the same transaction. It is put in later than
the unit, from outside the file's lock, so it is put in only where the unit still stands as it was read. A source that
is replaced (a line was added to its page or its talk) keeps the vectors of the units that stay as they are.

Vectors of another embedder cannot be here: its name is a part of what made the file (IndexFile).
"""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from memory_core.errors import EmbeddingFailed
from memory_core.ids import PageId
from memory_core.ranking import Score
from memory_core.search.embedding import Embedder, Vector
from memory_core.search.fusion import NEAREST, near, order, shares
from memory_core.search.index_rows import UnitRow, placed_of
from memory_core.search.parts import Placed

_TABLE = """CREATE TABLE IF NOT EXISTS vectors (
    source INTEGER NOT NULL, number INTEGER NOT NULL, vector BLOB NOT NULL, PRIMARY KEY (source, number)
)"""
_LACKING = """SELECT * FROM units AS u WHERE NOT EXISTS (
    SELECT 1 FROM vectors AS v WHERE v.source = u.source AND v.number = u.number
) ORDER BY source DESC, number DESC LIMIT ?"""
_NO_WORDS = Score(0.0, 0)


@dataclass(frozen=True, slots=True)
class Due:
    """A unit that has no vector yet: where it stands, its row as it was read, and what its vector is made of."""

    source: int
    number: int
    row: UnitRow
    text: str


class Vectors:
    """The vectors in one index file. Every method works in its caller's connection, under the file's lock."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.is_lacking = True
        """May there be units without a vector?"""

    def begin(self, connection: sqlite3.Connection) -> None:
        """Let there be the table."""
        connection.execute(_TABLE)
        self.is_lacking = True

    def take_away(self, connection: sqlite3.Connection, sources: Sequence[int]) -> dict[UnitRow, bytes]:
        """Remove the vectors of sources that go or are replaced; they are given by the rows of their units."""
        taken = dict[UnitRow, bytes]()
        for source in sources:
            vectors = dict(connection.execute("SELECT number, vector FROM vectors WHERE source = ?", (source,)))
            if vectors:
                for _, number, *row in _rows(connection, source):
                    if number in vectors:
                        taken[tuple(row)] = vectors[number]
                connection.execute("DELETE FROM vectors WHERE source = ?", (source,))
        return taken

    def put_back(self, connection: sqlite3.Connection, taken: Mapping[UnitRow, bytes], places: Sequence[str]) -> None:
        """Give the units of new sources the vectors that were taken from the same units; others may lack one."""
        self.is_lacking = self.is_lacking or bool(places)
        for place in places if taken else ():
            (source,) = connection.execute("SELECT id FROM sources WHERE place = ?", (place,)).fetchone()
            back = [
                (source, number, taken[same])
                for _, number, *row in _rows(connection, source)
                if (same := tuple(row)) in taken
            ]
            connection.executemany("INSERT INTO vectors VALUES (?, ?, ?)", back)

    def lacking(self, connection: sqlite3.Connection, most: int) -> tuple[Due, ...]:
        """Up to `most` units that have no vector, the newest first."""
        rows = connection.execute(_LACKING, (most,)).fetchall()
        self.is_lacking = bool(rows)
        return tuple(Due(source, number, tuple(row), _meant(tuple(row))) for source, number, *row in rows)

    def keep(self, connection: sqlite3.Connection, due: Sequence[Due], vectors: Sequence[Vector]) -> None:
        """Put in the vectors of these units, of those that still stand where they stood."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            standing = {
                (source, number): row
                for one in {one.source for one in due}
                for source, number, *row in _rows(connection, one)
            }
            connection.executemany(
                "INSERT OR IGNORE INTO vectors VALUES (?, ?, ?)",
                [
                    (one.source, one.number, vector.tobytes())
                    for one, vector in zip(due, vectors, strict=True)
                    if standing.get((one.source, one.number)) == list(one.row)
                ],
            )
            connection.execute("COMMIT")
        except BaseException:
            connection.execute("ROLLBACK")
            raise

    def order(
        self, connection: sqlite3.Connection, asked: Vector, start: Mapping[int, int], sessions: Sequence[object]
    ) -> tuple[int, ...]:
        """The numbers of all units that have a vector, nearest first; none where the embedder fails.

        `start` is the number of each source's first unit, `sessions` tells of every number what it stands in.
        """
        numbers, vectors = list[int](), list[Vector]()
        for source, number, stored in connection.execute("SELECT source, number, vector FROM vectors"):
            vector = array("f")
            vector.frombytes(stored)
            numbers.append(start[source] + number)
            vectors.append(vector)
        try:
            told = self._embedder.similar(asked, vectors)
        except EmbeddingFailed:
            return ()
        similar: list[float | None] = [None] * len(sessions)
        for number, one in zip(numbers, told, strict=True):
            similar[number] = one
        return order(near(similar, sessions))

    @staticmethod
    def fused(words: Mapping[int, Score], nearest: Sequence[int], most: int) -> list[tuple[int, float, Score, int]]:
        """The best `most` of both orders: number, what it gets of both, its score by words, its place by meaning."""
        places = {number: place for place, number in enumerate(nearest[:NEAREST], 1)}
        return [
            (number, share, words.get(number, _NO_WORDS), places.get(number, 0))
            for number, share in islice(shares(words, nearest).items(), most)
        ]


def meaning_of(placed: Placed) -> str:
    """What a unit's vector is made of: who says it, or under which title it stands, and what it says."""
    unit = placed.unit
    before = unit.title if placed.message is None else unit.said_by.lstrip("@")
    body = unit.body or unit.text
    return body if not before or before in body else f"{before}: {body}"


def _meant(row: UnitRow) -> str:
    return meaning_of(placed_of(PageId(""), "", row))


def _rows(connection: sqlite3.Connection, source: int) -> sqlite3.Cursor:
    """The units of a source: source, number, and the row of each."""
    return connection.execute("SELECT * FROM units WHERE source = ?", (source,))
