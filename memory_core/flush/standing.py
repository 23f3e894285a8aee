"""Pages as one step read them, so that the next steps need not read them again.

A flush reads its pages once, drafts on them, and writes with their stamps: what a person changed since then is
noticed by the store, and only then is a page read anew. Nothing here outlives its flush.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Coroutine, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar

from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.store.base import PageText

T = TypeVar("T")
Given = ParamSpec("Given")

_BIG_CHARACTERS = 30_000
"""To look through so much takes some ten milliseconds."""


@dataclass(frozen=True, slots=True)
class Standing:
    """Which pages exist, and the text of those that were read."""

    listed: tuple[PageId, ...]
    pages: Mapping[PageId, PageText] = field(default_factory=dict)

    def knows(self, page: PageId) -> bool:
        """Is it known what stands there: its text, or that there is none?"""
        return page in self.pages or page not in self.listed

    async def reading(self, handle: Handle, pages: Iterable[PageId]) -> Standing:
        """These pages with those of `pages` that were not read yet. Raises StoreError."""
        missing = [page for page in pages if page not in self.pages]
        return self.with_(await together(handle.store.read(page) for page in missing))

    def with_(self, pages: Iterable[PageText | None]) -> Standing:
        """These pages with others, which stand in the place of those of the same id."""
        found = {one.page: one for one in pages if one is not None}
        return Standing(tuple(sorted({*self.listed, *found})), {**self.pages, **found})

    def without(self, gone: Collection[PageId]) -> Standing:
        """These pages but for those that exist no more."""
        left = {page: one for page, one in self.pages.items() if page not in gone}
        return Standing(tuple(page for page in self.listed if page not in gone), left)


async def beside(size_characters: int, work: Callable[Given, T], *given: Given.args, **named: Given.kwargs) -> T:
    """What `work` gives: of big texts in a thread, so that the loop answers meanwhile; a hop costs more for small."""
    if size_characters < _BIG_CHARACTERS:
        return work(*given, **named)
    return await asyncio.to_thread(work, *given, **named)


async def together(work: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Do all at once and wait for all; what they gave, in order. Raises the first failure, when none is at work."""
    outcomes = await asyncio.gather(*work, return_exceptions=True)
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return [outcome for outcome in outcomes if not isinstance(outcome, BaseException)]
