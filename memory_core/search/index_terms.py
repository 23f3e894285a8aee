"""Where the terms of a question stand in a search index: read from its postings (search/index_file.py). Blocking."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from memory_core.ranking import Places, Question, holding_of, pairs_of
from memory_core.search.index_rows import POSITION_BITS, WEIGHT_BITS

_MOST_TERMS = 400
"""How many terms one statement asks for."""


def places_of(connection: sqlite3.Connection, start: Mapping[int, int], asked: Question) -> Places:
    """Where the terms of a question stand; `start` is the number of each source's first unit."""
    counts: dict[str, dict[int, int]] = {}
    stands: dict[str, set[int]] = {}
    for term, source, places in _rows_of(connection, tuple(dict.fromkeys((*asked.terms, *asked.kin)))):
        own, at = counts.setdefault(term, defaultdict(int)), stands.setdefault(term, set())
        read = array("Q")
        read.frombytes(places)
        for place in read:
            number = start[source] + (place >> (POSITION_BITS + WEIGHT_BITS))
            own[number] += place & ((1 << WEIGHT_BITS) - 1)
            at.add(number << POSITION_BITS | place >> WEIGHT_BITS & (1 << POSITION_BITS) - 1)
    together: dict[int, int] = defaultdict(int)
    for first, second in pairs_of(asked.terms):
        if first in stands and second in stands:
            ends = stands[second]
            for number in {place >> POSITION_BITS for place in stands[first] if place + 1 in ends}:
                together[number] += 1
    return Places(holding_of(asked.terms, counts), together, holding_of(asked.kin, counts))


def _rows_of(connection: sqlite3.Connection, terms: Sequence[str]) -> Iterator[tuple[str, int, bytes]]:
    for at in range(0, len(terms), _MOST_TERMS):
        some = json.dumps(terms[at : at + _MOST_TERMS])
        yield from connection.execute(
            "SELECT term, source, places FROM postings WHERE term IN (SELECT value FROM json_each(?))", (some,)
        )
