"""The reading side of a search index (search/index_file.py): its units ready for questions. Blocking.

What every question needs of all units is made once for a version of the index and kept until another one is read;
what an unchanged source has of it is kept still longer. It holds no text of a unit.

A unit is numbered three times: in its source, where it is stored; in the segment of the postings that it came with;
and in the whole index, the sources in the order of their places, which is how ranking knows it. Only this last one is
called its number without more; it is another one in the next version, so it is stored nowhere.
"""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat

from memory_core.ids import PageId
from memory_core.ranking import Shelf, Spot, shelf
from memory_core.search.index_meta import meta
from memory_core.search.index_postings import Numbers
from memory_core.search.index_rows import UNIT, placed_of, spots_of
from memory_core.search.parts import Placed
from memory_core.search.sources import TALK

_BITS = 24
"""So many bits tell a unit of its source, which has fewer."""
_MOST_UNITS = 1 << 26
"""More than a segment can have: all that one update puts in stands in memory at once."""
_GONE = (1 << 32) - 1
"""No unit has this number: who finds a term in one that is gone has a damaged file."""
_UNITS = f"""SELECT value, source, {UNIT} FROM json_each(?)
CROSS JOIN units ON source = value >> {_BITS} AND number = value & {(1 << _BITS) - 1}"""  # noqa: S608  # our own constant


@dataclass(frozen=True, slots=True)
class Reading:
    """What every question needs, as of one version: the shelf, and which numbers belong to which source."""

    version: str
    shelf: Shelf
    start: Mapping[int, int]
    """The number of each source's first unit."""
    numbers: Numbers
    sources: Sequence[int]
    """Of every number its source."""
    pages: Mapping[int, tuple[PageId, str]]
    """Of every source its page, and in which state it was read."""
    talks: frozenset[int]
    """The sources that are no pages, but what was said."""

    def placed(self, connection: sqlite3.Connection, numbers: Iterable[int]) -> dict[int, Placed]:
        """The units of these numbers, each once."""
        wanted = {
            source << _BITS | number - self.start[source]: number
            for number in numbers
            for source in [self.sources[number]]
        }
        return {
            wanted[one]: placed_of(*self.pages[source], row)
            for one, source, *row in connection.execute(_UNITS, (json.dumps(list(wanted)),))
        }


class LastReading:
    """The reading of the version that was asked for last."""

    def __init__(self) -> None:
        self._reading: Reading | None = None
        # Of the last reading, by source and mark: most stay as they are. A copy of the file that somebody put back
        # may have another source under the same number.
        self._spots: dict[tuple[int, str], list[Spot]] = {}

    @property
    def units(self) -> int:
        """Of so many units something is kept."""
        return len(self._reading.sources) if self._reading is not None else 0

    def clear(self) -> None:
        """Keep nothing."""
        self._reading, self._spots = None, {}

    def of(self, connection: sqlite3.Connection) -> Reading:
        """The reading of this version, kept until the next."""
        version = meta(connection, "version")
        if self._reading is None or self._reading.version != version:
            before, self._spots = self._spots, {}
            spots: list[Spot] = []
            start: dict[int, int] = {}
            numbers: defaultdict[int, array[int]] = defaultdict(partial(array, "I"))
            sources: list[int] = []
            pages: dict[int, tuple[PageId, str]] = {}
            for row, page, sha256, mark, segment, first in connection.execute(
                "SELECT id, page, sha256, mark, segment, first FROM sources ORDER BY place"
            ):
                own = before[row, mark] if (row, mark) in before else _spots(connection, row)
                self._spots[row, mark] = own
                start[row], pages[row] = len(spots), (PageId(page), sha256)
                _number(numbers[segment], first, len(spots), len(own))
                spots += own
                sources += [row] * len(own)
            talks = frozenset(source for source, (page, _) in pages.items() if page == TALK)
            self._reading = Reading(version, shelf(spots), start, dict(numbers), sources, pages, talks)
        return self._reading


def _number(numbers: array[int], first: int, start: int, units: int) -> None:
    """Let the units of a segment from `first` on have the numbers from `start` on; units that are gone have none.

    Raises ValueError for a number that only damage can have made, before memory is filled with it.
    """
    if not 0 <= first < _MOST_UNITS:
        raise ValueError(f"the index knows no unit {first}")
    numbers.extend(repeat(_GONE, first + units - len(numbers)))
    numbers[first : first + units] = array("I", range(start, start + units))


def _spots(connection: sqlite3.Connection, source: int) -> list[Spot]:
    (told,) = connection.execute("SELECT spots FROM sources WHERE id = ?", (source,)).fetchone()
    return spots_of(json.loads(told))
