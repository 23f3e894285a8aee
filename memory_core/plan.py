"""The loading plans ask for what they need as values, and so stay pure.

A plan is a generator: it yields an `Ask`, is sent the answer, and returns when its tally is complete. What drives it
(memory_core.loading) does the I/O through the gate; a test drives it with a dictionary. Pages are asked for one at a
time and only when the step before has shown that they are needed: what a plan does not ask for is not read.

    Read(page)      → PageText, or Missing with the reason (not there, refused, unreadable)
    States(pages)   → the hash of each page as it is now, '' for one that is gone
    Look(pages)     → the parts that a search goes through: of these pages; for None of all pages and recent journals

Here are the values and the questions, and what message text may say at all (`spoken`).
"""

from __future__ import annotations

import re
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

from memory_core.errors import RememError
from memory_core.ids import PageId
from memory_core.index import Index
from memory_core.index_lines import Part, outline
from memory_core.layouts import INDEX, Layout, Table
from memory_core.routing import Match
from memory_core.search import Placed
from memory_core.store.base import PageText
from memory_core.text import is_pleasantry
from memory_core.units import Units, units_of


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
    """The parts of these pages, or of the scope's pages and recent journals."""

    pages: tuple[PageId, ...] | None = None


@dataclass(frozen=True, slots=True)
class Missing:
    """A page that could not be had, and why. `broken`: it is there and cannot be read."""

    why: str
    broken: bool = False


Ask: TypeAlias = Read | States | Look
Answer: TypeAlias = PageText | Missing | Mapping[PageId, str] | tuple[Placed, ...] | None
T = TypeVar("T")
Plan: TypeAlias = Generator[Ask, Answer, T]


class WrongAnswer(RememError):
    """The driver of a plan sent an answer that does not fit the question: a fault of the program."""


def read(page: PageId) -> Plan[PageText | Missing]:
    """Ask for a page."""
    answer = yield Read(page)
    if isinstance(answer, PageText | Missing):
        return answer
    raise WrongAnswer(f"Reading {page!r} was answered with {type(answer).__name__}.")


def states(pages: tuple[PageId, ...]) -> Plan[Mapping[PageId, str]]:
    """Ask in which state pages are."""
    answer = yield States(pages)
    if isinstance(answer, Mapping):
        return answer
    raise WrongAnswer(f"The states of {len(pages)} pages were answered with {type(answer).__name__}.")


def look(pages: tuple[PageId, ...] | None = None) -> Plan[tuple[Placed, ...]]:
    """Ask for the parts that a search goes through."""
    answer = yield Look(pages)
    if isinstance(answer, tuple):
        return answer
    raise WrongAnswer(f"A search was answered with {type(answer).__name__}.")


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
    journals: tuple[PageId, ...] = ()


def units(view: View, page: PageText) -> Units:
    """The parts of a page; of the index only what is authored: its catalogue changes with every write."""
    text = authored(page.text) if page.page == INDEX else page.text
    return units_of(page.page, view.table.rule(page.page).form, text)


def authored(index: str) -> str:
    """An index without its catalogue."""
    return "".join(line.whole for line in outline(index) if line.part is not Part.CATALOGUE)


_NOTICE = re.compile(
    r"\s*(?:[\[<(【]\s*/?\s*(?:system|assistant|admin|developer)\b|(?:system|assistant)\b[^.\n]{0,20}[:：])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;:()\[\]<>\"'`、，。：；]+")


def spoken(message: str, names: frozenset[str]) -> str:
    """What of a message may say where to look. `names` are the file names of the memory tree, lower case.

    Naming one of our files opens nothing, so its name is no routing word; a line that poses as a notice of the system
    and names a file of ours has no say at all.
    """
    lines: list[str] = []
    for line in message.splitlines():
        files = [word for word in _WORD.findall(line) if _is_ours(word, names)]
        if files and _NOTICE.match(line):
            continue
        for name in files:
            line = line.replace(name, " ")
        lines.append(line)
    return "\n".join(lines)


def _is_ours(word: str, names: frozenset[str]) -> bool:
    path = word.lower().replace("\\", "/").rstrip(".!?")
    return path.rpartition("/")[2] in names or "memory/" in path or ".remem/" in path


def file_names(layout: Layout) -> frozenset[str]:
    """The names of the tree's own files, lower case; those with a star are told by their folder."""
    files = (rule.file for table in (layout.group, layout.direct) for rule in table.rules)
    return frozenset(file.rpartition("/")[2].lower() for file in files if "{" not in file.rpartition("/")[2])


def asks_nothing(text: str) -> bool:
    """Is there nothing to look for: no text, or only a greeting or thanks?"""
    return not text.strip() or is_pleasantry(text)
