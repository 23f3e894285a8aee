"""The doors that an agent has to memory, bound to one conversation: every disclosure counts in its session."""

from __future__ import annotations

from dataclasses import replace

from bot.conversations import Talk
from memory_core.disclosure import Disclosure
from memory_core.handle import Handle
from memory_core.ids import MessageKey, PageId
from memory_core.loading import open_page, search_memory


class Doors:
    """memory_search and memory_open for one conversation (bot.agent.Doors)."""

    def __init__(self, handle: Handle, talk: Talk, title: str, message: MessageKey) -> None:
        self._handle = handle
        self._talk = talk
        self._title = title
        self._message = message

    async def search(self, words: str) -> Disclosure:
        """The best matches that the conversation does not hold yet. Raises Denied, StoreError."""
        return self._counted(await search_memory(self._handle, self._talk.session, words, title=self._title))

    async def open(self, page: PageId) -> Disclosure:
        """One more page that the index leads to. Raises Denied, StoreError."""
        return self._counted(await open_page(self._handle, self._talk.session, page, title=self._title))

    def _counted(self, disclosure: Disclosure) -> Disclosure:
        """Count it in the session, and as a part of what this message disclosed, so that /remem why tells it."""
        talk, first = self._talk, self._talk.last_disclosure
        talk.disclosed(disclosure, self._message)
        talk.last_disclosure = disclosure if first is None else _joined(first, disclosure)
        return disclosure


def _joined(first: Disclosure, more: Disclosure) -> Disclosure:
    """One message's disclosures as one."""
    return replace(
        more,
        loaded=(*first.loaded, *more.loaded),
        left_out=(*first.left_out, *more.left_out),
        notes=tuple(dict.fromkeys((*first.notes, *more.notes))),
        breaker=first.breaker or more.breaker,
        trail=(*first.trail, *more.trail),
    )
