"""The doors that an agent has to memory, bound to one conversation: every disclosure counts in its session."""

from __future__ import annotations

from bot.conversations import Talk
from memory_core.disclosure import Disclosure
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.loading import open_page, search_memory


class Doors:
    """memory_search and memory_open for one conversation (bot.agent.Doors)."""

    def __init__(self, handle: Handle, talk: Talk, title: str) -> None:
        self._handle = handle
        self._talk = talk
        self._title = title

    async def search(self, words: str) -> Disclosure:
        """The best matches that the conversation does not hold yet. Raises Denied, StoreError."""
        return self._counted(await search_memory(self._handle, self._talk.session, words, title=self._title))

    async def open(self, page: PageId) -> Disclosure:
        """One more page that the index leads to. Raises Denied, StoreError."""
        return self._counted(await open_page(self._handle, self._talk.session, page, title=self._title))

    def _counted(self, disclosure: Disclosure) -> Disclosure:
        self._talk.session = self._talk.session.with_(disclosure)
        return disclosure
