"""A session: what was disclosed to a conversation, and at what cost, since its last flush, compaction or idle end.

A frozen value; the owner of the conversation keeps it and replaces it. A new `Session()` is the start anew: budget
and ceilings are fresh, and what the old one disclosed has left the prompt.

    with_(disclosure)   after every disclosure that the agent was shown
    wrote(page, sha)    after the bot itself wrote a page: what it wrote stands in the conversation, so the page is
                        not loaded again because of it. A hand edit after that is told by its hash.

Ceilings count whole pages, not excerpts of a search: two pages of P0 to P2 (twice as many as the layout lets one
message route to: four in dreaming), one of P3, one convention. The parts of a DM's layer 0, its journals and the list
of tasks are no routed pages and count only in tokens.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import BadInput
from memory_core.ids import PageId
from memory_core.layouts import Priority, Table
from memory_core.routing import Match

_OPENED = frozenset({Step.PAGE, Step.LAYER_1, Step.OPEN, Step.CONVENTION})


@dataclass(frozen=True, slots=True)
class Ceilings:
    """How many pages of a kind one session may disclose. Raises BadInput for a negative number."""

    pages: int = 2
    """Of P0 to P2."""
    p3_pages: int = 1
    conventions: int = 1

    def __post_init__(self) -> None:
        for name, limit in (("pages", self.pages), ("p3_pages", self.p3_pages), ("conventions", self.conventions)):
            if limit < 0:
                raise BadInput(f"The ceiling {name} is {limit}; it must be 0 or more.")


@dataclass(frozen=True, slots=True)
class Session:
    """What was disclosed so far, oldest first. `written` are pages that the bot wrote since, with their hash."""

    disclosures: tuple[Disclosure, ...] = ()
    written: tuple[tuple[PageId, str], ...] = ()
    ceilings: Ceilings = field(default_factory=Ceilings)

    def with_(self, disclosure: Disclosure) -> Session:
        """The session after the agent was shown `disclosure`. What was not indexed leaves no trace."""
        return replace(self, disclosures=(*self.disclosures, disclosure)) if disclosure.indexed else self

    def wrote(self, page: PageId, sha256: str) -> Session:
        """The session after the bot wrote `page`, whose bytes now have that hash."""
        return replace(self, written=(*(one for one in self.written if one[0] != page), (page, sha256)))

    @property
    def started(self) -> bool:
        """Was anything disclosed yet?"""
        return bool(self.disclosures)

    @property
    def parts(self) -> tuple[Loaded, ...]:
        """Everything that was disclosed, in order."""
        return tuple(part for disclosure in self.disclosures for part in disclosure.loaded)

    @property
    def spent_tokens(self) -> int:
        """What all disclosures cost together."""
        return sum(disclosure.tokens for disclosure in self.disclosures)

    @property
    def loaded(self) -> tuple[PageId, ...]:
        """The pages that stand in the conversation, whole or in part, each once, in order of loading."""
        return tuple(dict.fromkeys(part.page for part in self.parts))

    @property
    def opened(self) -> dict[PageId, Priority | None]:
        """The pages that count against the ceilings, with their priority (None: a convention)."""
        return {part.page: part.priority for part in self.parts if part.step in _OPENED}

    @property
    def shown(self) -> frozenset[tuple[PageId, str]]:
        """Every part of a page that stands in the conversation, as page and mark."""
        return frozenset((part.page, mark) for part in self.parts for mark in part.shown)

    def known_marks(self, page: PageId) -> frozenset[str]:
        """The marks of all parts of `page` as it stood when it was disclosed, shown or not."""
        return frozenset(mark for part in self.parts if part.page == page for mark in (*part.shown, *part.rest))

    def known_sha256(self, page: PageId) -> frozenset[str]:
        """The states of `page` that hold nothing new: as last disclosed, and as the bot left it."""
        last = [part.sha256 for part in self.parts if part.page == page and part.sha256][-1:]
        return frozenset((*last, *(sha for written, sha in self.written if written == page)))

    def under(self, table: Table) -> Session:
        """The session with the ceilings of its layout, unless it was given others."""
        ours = self.ceilings == Ceilings() and table.session_pages != self.ceilings.pages
        return replace(self, ceilings=Ceilings(pages=table.session_pages)) if ours else self

    def over_ceiling(
        self,
        page: PageId,
        priority: Priority | None,
        more: Iterable[Loaded] = (),
        chosen: Iterable[Match] = (),
    ) -> str:
        """Why one more page of that priority (None: a convention) would be too many, '' if it would not.

        `more` are parts of the disclosure that is being made, `chosen` pages that will be. A page that was opened
        already is never one too many.
        """
        opened = self.opened | {part.page: part.priority for part in more if part.step in _OPENED}
        opened |= {found.page: found.priority for found in chosen}
        if page in opened:
            return ""
        kind, limit = self._kind(priority)
        number = sum(self._kind(one)[0] == kind for one in opened.values())
        return f"{number} of {limit} {kind} disclosed in this session" if number >= limit else ""

    def _kind(self, priority: Priority | None) -> tuple[str, int]:
        """What counts together, and how many of it one session may disclose."""
        if priority is None:
            return "conventions", self.ceilings.conventions
        if priority is Priority.P3:
            return "pages of P3", self.ceilings.p3_pages
        return "pages of P0 to P2", self.ceilings.pages
