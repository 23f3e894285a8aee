"""The loading plans ask for what they need as values, and so stay pure.

A plan is a generator: it yields an `Ask`, is sent the answer, and returns when its tally is complete. What drives it
(driver.py) does the I/O through the gate. Pages are asked for one at a time, and only when the step before has shown
that they are needed: what a plan does not ask for is not read. A driver whose answer does not fit its question is a
fault of the program and gets a TypeError.

    Read(page)      → PageText, or Missing with the reason (not there, refused, unreadable)
    States(pages)   → the hash of each page as it is now, '' for one that is gone
    Look(pages)     → the parts of these pages that a search goes through
    Seek(words)     → what fits the words in the whole scope, but for the archive and old journals

Here are the questions, their answers, and the view of the scope that every plan begins with.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from typing import TypeAlias, TypeVar

from memory_core.forms.units import Units, units_of
from memory_core.ids import PageId
from memory_core.index import Index
from memory_core.index_lines import Part, outline
from memory_core.layouts import INDEX, Layout, Slot, Table
from memory_core.routing import Match
from memory_core.search import Hit, Placed
from memory_core.store.base import PageText


@dataclass(frozen=True, slots=True)
class Read:
    """Open a page through the gate."""

    page: PageId


@dataclass(frozen=True, slots=True)
class States:
    """In which state are these pages now?"""

    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True)
class Look:
    """The parts of these pages."""

    pages: tuple[PageId, ...]


@dataclass(frozen=True, slots=True)
class Seek:
    """What fits the words, best first."""

    words: str


@dataclass(frozen=True, slots=True)
class Sought:
    """What was found: the best hits. Not a bare tuple, so that it is no answer to a Look by mistake."""

    hits: tuple[Hit, ...]


@dataclass(frozen=True, slots=True)
class Missing:
    """A page that could not be had, and why. `broken`: it is there and cannot be read."""

    why: str
    broken: bool = False


Ask: TypeAlias = Read | States | Look | Seek
Answer: TypeAlias = PageText | Missing | Mapping[PageId, str] | tuple[Placed, ...] | Sought | None
T = TypeVar("T")
Plan: TypeAlias = Generator[Ask, Answer, T]


def read(page: PageId) -> Plan[PageText | Missing]:
    """Ask for a page."""
    answer = yield Read(page)
    if isinstance(answer, PageText | Missing):
        return answer
    raise TypeError(f"Reading {page!r} was answered with {type(answer).__name__}.")


def states(pages: tuple[PageId, ...]) -> Plan[Mapping[PageId, str]]:
    """Ask in which state pages are."""
    answer = yield States(pages)
    if isinstance(answer, Mapping):
        return answer
    raise TypeError(f"The states of {len(pages)} pages were answered with {type(answer).__name__}.")


def seek(words: str) -> Plan[tuple[Hit, ...]]:
    """Ask for what fits the words in the whole scope."""
    answer = yield Seek(words)
    if isinstance(answer, Sought):
        return answer.hits
    raise TypeError(f"A search was answered with {type(answer).__name__}.")


def look(pages: tuple[PageId, ...]) -> Plan[tuple[Placed, ...]]:
    """Ask for the parts that a search goes through."""
    answer = yield Look(pages)
    if isinstance(answer, tuple):
        return answer
    raise TypeError(f"The parts of {len(pages)} pages were answered with {type(answer).__name__}.")


@dataclass(frozen=True, slots=True)
class View:
    """What is known when a plan begins: the index as read, the layout's table, the message and where it routes.

    `matches` are best first and never a convention: those are loaded only where a page names them.
    """

    index: Index
    index_page: PageText
    layout: Layout
    table: Table
    message: str
    matches: tuple[Match, ...]
    pleasantry: bool
    today: date
    """The scope's day, from which the days that the message names are seen."""
    journals: Mapping[Slot, PageId] = field(default_factory=dict)


def units(view: View, page: PageText) -> Units:
    """The parts of a page; of the index only what is authored: its catalogue changes with every write."""
    text = authored(page.text) if page.page == INDEX else page.text
    return units_of(page.page, view.table.rule(page.page).form, text)


@lru_cache(maxsize=2048)
def authored(index: str) -> str:
    """An index without its catalogue."""
    return "".join(line.whole for line in outline(index) if line.part is not Part.CATALOGUE)
