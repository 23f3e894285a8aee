"""Where the terms of an index stand: written in segments, read for a question, cut when units go. Blocking.

A segment is what one update put in: one row per term, so that a large memory is a few rows per word, not one for
every page. A place in it is one number of 64 bits: the number of the unit in the segment, and the position in the
unit. A term that counts more than once in a unit has its place as often. The places of a row are in the order of
their units. The segment is named by its first source, whose id is never used again; what a source that goes had of
it is cut out, and the numbers of the other units stay. Segments are not merged: an update writes its own, and
cuts those whose sources it replaces.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import partial
from itertools import count, repeat
from operator import add
from typing import NamedTuple, TypeAlias

from memory_core.ranking import Places, Question, holding_of, pairs_of
from memory_core.search.parts import Part

POSTINGS = """CREATE TABLE IF NOT EXISTS postings (
    term TEXT NOT NULL, segment INTEGER NOT NULL, places BLOB NOT NULL, PRIMARY KEY (term, segment)
) WITHOUT ROWID"""

Numbers: TypeAlias = Mapping[int, "array[int]"]
"""Of every segment: the number in the index of each of its units (search/index_reading.py)."""

_POSITION_BITS = 32
_UNIT_HALF = 1 if sys.byteorder == "little" else 0
"""Which half of a place tells the unit."""
_MOST_TERMS = 400
"""How many terms one statement asks for."""


class NewSegment:
    """Where the terms of new units stand, put together before it is written."""

    def __init__(self) -> None:
        self._found: defaultdict[str, array[int]] = defaultdict(partial(array, "Q"))
        self.units = 0
        """So many units are in it: the next one has this number."""

    def add(self, parts: Sequence[Part]) -> set[str]:
        """Add units; their terms are the answer.

        Between two runs, and in one that is not joined, a position is left out, so that no pair is made of what does
        not stand together.
        """
        own, found = set[str](), self._found
        for number, part in enumerate(parts, self.units):
            position = number << _POSITION_BITS
            for terms, weight, joined in part.runs:
                if not terms:
                    continue
                step = 1 if joined else 2
                own.update(terms)
                for _ in range(weight):
                    for term, place in zip(terms, count(position, step), strict=False):
                        found[term].append(place)
                position += step * len(terms) + 1
        self.units += len(parts)
        return own

    def write(self, connection: sqlite3.Connection, segment: int) -> None:
        """Write it under its name, in the order of the key: a tree that is filled from one end is not split again."""
        rows = ((term, segment, self._found[term]) for term in sorted(self._found))
        connection.executemany("INSERT INTO postings VALUES (?, ?, ?)", rows)


class Extent(NamedTuple):
    """What of the postings is a source's own: so many `units` of a segment from its `first` on, and their terms."""

    segment: int
    first: int
    units: int
    terms: Sequence[str]


def take_away(connection: sqlite3.Connection, gone: Collection[Extent]) -> None:
    """Remove the places of sources that go; a term that stands nowhere else in their segment has no row left."""
    spans: defaultdict[tuple[str, int], list[tuple[int, int]]] = defaultdict(list)
    for segment, first, units, terms in gone:
        span = first << _POSITION_BITS, (first + units) << _POSITION_BITS
        for term in terms:
            spans[term, segment].append(span)
    for key, own in spans.items():
        row = connection.execute("SELECT places FROM postings WHERE term = ? AND segment = ?", key).fetchone()
        if row is None:
            raise sqlite3.DatabaseError("the index lacks a term of its own source")
        left = array("Q", row[0])
        for begin, end in own:
            del left[bisect_left(left, begin) : bisect_left(left, end)]
        if left:
            connection.execute("UPDATE postings SET places = ? WHERE term = ? AND segment = ?", (left, *key))
        else:
            connection.execute("DELETE FROM postings WHERE term = ? AND segment = ?", key)


def places_of(connection: sqlite3.Connection, numbers: Numbers, asked: Question) -> Places:
    """Where the terms of a question stand."""
    counts: dict[str, Counter[int]] = {}
    stands: dict[str, dict[int, array[int]]] = {}
    pairs = pairs_of(asked.terms)
    paired = frozenset(term for pair in pairs for term in pair)
    for term, segment, places in _rows_of(connection, tuple(dict.fromkeys((*asked.terms, *asked.kin)))):
        units = array("I", places)[_UNIT_HALF::2]
        counts.setdefault(term, Counter()).update(map(numbers[segment].__getitem__, units))
        if term in paired:
            stands.setdefault(term, {})[segment] = array("Q", places)
    together = Counter[int]()
    for first, second in pairs:
        for segment in stands.get(first, {}).keys() & stands.get(second, {}).keys():
            ends = set(map(add, stands[first][segment], repeat(1))).intersection(stands[second][segment])
            together.update({numbers[segment][end >> _POSITION_BITS] for end in ends})
    return Places(holding_of(asked.terms, counts), together, holding_of(asked.kin, counts))


def _rows_of(connection: sqlite3.Connection, terms: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
    for at in range(0, len(terms), _MOST_TERMS):
        some = json.dumps(terms[at : at + _MOST_TERMS])
        yield from connection.execute(
            "SELECT term, segment, places FROM postings WHERE term IN (SELECT value FROM json_each(?))", (some,)
        )
