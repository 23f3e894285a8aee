"""What answers: a protocol, and the values that it is asked with and answers with.

An agent sees what was disclosed and the conversation, nothing else. The offline agent (bot/offline.py) needs no
model; a model-based one lives in bot/models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure
from memory_core.ids import MessageKey, PageId, Scope
from memory_core.ledger.base import Context
from memory_core.messages import Message


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: the message, everything that the session disclosed (oldest first), and the conversation.

    `shown_at` names for each disclosure the message at whose turn it was made, in the same order. `now` is the moment
    in the scope's zone. `root` is the message that a thread hangs on, which stands in the room's main line. `direct`:
    a 1:1 DM. `persona` is the text of SOUL.md as it stood when the session began.
    """

    scope: Scope
    message: Message
    disclosures: tuple[Disclosure, ...]
    shown_at: tuple[MessageKey, ...]
    context: Context
    title: str
    now: datetime
    root: Message | None = None
    direct: bool = False
    noted: bool = False
    """Something of the message was written into memory already, and the answer will say so."""
    persona: str = ""
    standing: Mapping[PageId, frozenset[str]] = field(default_factory=dict)
    """The marks of what stands now on the disclosed pages that the bot wrote since (memory_core.loading.standing)."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer, in Markdown, and the records that it quotes: page and identity."""

    text: str
    quoted: tuple[tuple[PageId, str], ...] = ()


class Doors(Protocol):
    """What an agent may ask of the scope's memory beyond what was disclosed; all of it goes through the gate.

    There is no door to a path, to another scope, or to a page that the index does not lead to.
    """

    async def search(self, words: str) -> Disclosure:
        """The best matches that the conversation does not hold yet. Raises Denied, StoreError."""
        ...

    async def open(self, page: PageId) -> Disclosure:
        """One more page that the index leads to. Raises Denied, StoreError."""
        ...

    async def tasks(self) -> Disclosure:
        """The scope's open tasks, counted like a page. Raises Denied (`missing` where none is open), StoreError."""
        ...

    async def remember(self, kind: str, text: str) -> Candidate:
        """Wish that a fact be kept; it is written after the answer. Raises BadInput where it may not be, LedgerError.

        `kind` is the word of a memory_core.layouts.Kind; `text` says what a person said here, in their words.
        """
        ...


class Show(Protocol):
    """Where an agent shows its answer while it grows."""

    async def __call__(self, text: str) -> None:
        """Show the answer as far as it is written, from its first character. May be called as often as text comes."""
        ...


class Agent(Protocol):
    """Answers a message from what was disclosed. Raises RememError when it cannot; the message says why."""

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """The answer to `ask.message`; `doors` lead to more of this scope's memory.

        An agent that writes bit by bit tells `show`; what it returns is the whole answer in any case.
        """
        ...
