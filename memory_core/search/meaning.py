"""Search by meaning, where there is an embedder: questions get vectors, and units get theirs in the background.

One embedder serves all scopes, and one call after the other. Units are embedded in slices of some tenths of a second,
outside of every lock of an index; a question waits for one slice at most. Until a unit has its vector it is found by
its words. Everything begins with a search, or with whoever catches an index up: `fill` tells that units may lack
vectors. What the embedder cannot do is left to the next search; that it failed is known to whoever made it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from memory_core.errors import EmbeddingFailed
from memory_core.search.embedding import Embedder, Vector
from memory_core.search.vectors import Due, Vectors

if TYPE_CHECKING:
    from memory_core.search.index_file import IndexFile

FETCH = 256
"""So many units are read from an index at once."""
SLICE = 32
SLICE_CHARACTERS = 4000
"""So many units, and characters, are embedded by one call."""


class Meaning:
    """What the indexes of all scopes share: the embedder, and who waits for it."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._turn = asyncio.Lock()
        self._due: dict[IndexFile, None] = {}
        self._task: asyncio.Task[None] | None = None
        self._at: IndexFile | None = None

    @property
    def name(self) -> str:
        """The embedder's: vectors of another one are worth nothing."""
        return self._embedder.name

    def vectors(self) -> Vectors:
        """The vectors of one more index."""
        return Vectors(self._embedder)

    async def asked(self, words: str) -> Vector | None:
        """The vector of a question; None for what says nothing, and where the embedder fails."""
        if not any(map(str.isalnum, words)):
            return None
        try:
            [vector] = await self._embedded([words])
        except EmbeddingFailed:
            return None
        return vector if any(vector) else None

    def fill(self, file: IndexFile) -> None:
        """Let the units of an index have their vectors, as soon as may be; nothing is waited for."""
        if file.lacks_vectors:
            self._due[file] = None
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._filled(), name="embedding")

    def needs(self, file: IndexFile) -> bool:
        """Is it given its vectors now, or waits for them?"""
        return file is self._at or file in self._due

    async def settled(self) -> None:
        """Wait until nothing is being embedded."""
        while self._task is not None and not self._task.done():
            await asyncio.shield(self._task)

    async def _filled(self) -> None:
        """Give every index that waits its vectors, some of each in turn. A closed one is left alone."""
        while self._due:
            file = next(iter(self._due))
            del self._due[file]  # whoever asks while it is at work asks anew
            self._at = file
            try:
                kept = await self._fetched(file)
            except EmbeddingFailed:
                self._due.clear()
                return
            finally:
                self._at = None
            if kept and file.lacks_vectors:
                self._due[file] = None

    async def _fetched(self, file: IndexFile) -> bool:
        """Give some units of an index their vectors; False where there is nothing (more) to do."""
        due = await asyncio.to_thread(file.without_vectors, FETCH)
        for some in slices(due):
            vectors = await self._embedded([one.text for one in some])
            if not await asyncio.to_thread(file.keep_vectors, some, vectors):
                return False
        return bool(due)

    async def _embedded(self, texts: list[str]) -> Sequence[Vector]:
        """Each has its turn: those who wait do so here, and not in a thread that others need."""
        async with self._turn:
            return await asyncio.to_thread(self._embedder.embed, texts)


def slices(due: Sequence[Due]) -> Iterator[tuple[Due, ...]]:
    """Cut into what one call embeds."""
    some, characters = list[Due](), 0
    for one in due:
        if some and (len(some) == SLICE or characters + len(one.text) > SLICE_CHARACTERS):
            yield tuple(some)
            some, characters = [], 0
        some.append(one)
        characters += len(one.text)
    if some:
        yield tuple(some)
