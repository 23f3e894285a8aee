"""The port to one scope's pages.

A store is bound to ONE scope when it is made; no call takes a scope or a path. A page id that the layout does
not list raises UnknownPage. What a store promises:

* `read` gives what is on disk at this moment, or None where there is no page. Text keeps its line ends; a BOM is
  told apart (`bom`) and put back by every commit. Undecodable bytes show as U+FFFD and are listed.
* `commit` takes changes in order; each one is atomic and durable when the call returns. A change names the stamp
  of the text it was made from (`expect`), or None for a page that must not exist yet. If the page is another by
  now, PageChanged (or PageExists) is raised and that change and all after it have not happened. A change
  without text removes its page (undo, of a page that a flush made). What the layout shares among all scopes
  (SOUL.md) is read here and never written.
* Nothing is created by reading.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_core.ids import PageId, Scope


@dataclass(frozen=True, slots=True)
class Stamp:
    """What tells one state of a page from another. Times alone miss changes: two writes in one second are common."""

    mtime_ns: int
    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class BadByte:
    """One undecodable byte: its offset in the file (the value is not repeated)."""

    offset: int


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as read: its text (line ends untouched, BOM removed), its stamp, and what could not be decoded."""

    page: PageId
    text: str
    stamp: Stamp
    bom: bool = False
    bad_bytes: tuple[BadByte, ...] = ()


@dataclass(frozen=True, slots=True)
class Change:
    """The new text of a page, None to remove it. `expect`: the stamp that it replaces; None creates, exclusively."""

    page: PageId
    text: str | None
    expect: Stamp | None


TICK_NS = 2_000_000_000
"""The coarsest tick of a file's time in use (FAT: 2 s)."""


@dataclass(frozen=True, slots=True)
class State:
    """What the system tells of a page without reading it: size, times (ns since 1970) and the file's number.

    Another state is another writing; the same one is the same content, except after a write in the very tick of the
    clock that gave `changed_ns`: a state that is not settled is no proof yet.
    """

    size: int
    modified_ns: int
    changed_ns: int
    inode: int

    def is_settled(self, now_ns: int) -> bool:
        """Would a write from `now_ns` on show in the times?"""
        return now_ns - max(self.modified_ns, self.changed_ns) >= TICK_NS


class Store(Protocol):
    """The pages of one scope, by page id."""

    @property
    def scope(self) -> Scope:
        """The one scope whose pages these are."""
        ...

    async def read(self, page: PageId) -> PageText | None:
        """The page as it is now; None where there is none. Raises UnknownPage, StoreFailed."""
        ...

    async def stamp(self, page: PageId) -> Stamp | None:
        """The page's stamp, without its text. Raises UnknownPage, StoreFailed."""
        ...

    async def pages(self) -> tuple[PageId, ...]:
        """The ids of all pages that exist, sorted; files of other names are not pages. Raises StoreFailed."""
        ...

    async def states(self) -> Mapping[PageId, State]:
        """The same pages with their states, in the same order; none of them is read. Raises StoreFailed."""
        ...

    async def commit(self, changes: Sequence[Change]) -> tuple[Stamp, ...]:
        """Write the changes in order, each atomic and durable; the stamps of what now stands there (none: removed).

        Raises UnknownPage and BadInput (a shared page) before anything is written; PageExists, PageChanged,
        PageDamaged (the standing page has undecodable bytes), StoreFailed (the old content stands; after a failure of
        the very last step, the folder's sync, it may be the new).
        """
        ...


class Stores(Protocol):
    """Hands out the store of a scope."""

    def open(self, scope: Scope) -> Store:
        """The store bound to `scope`; opening reads and creates nothing.

        Raises BadInput for a group's name that is no file name.
        """
        ...
