"""What answers: a protocol, and the values that it is asked with and answers with.

An agent sees what was disclosed and the conversation, nothing else. The offline agent (bot/offline.py) needs no
model; a model-based one lives in bot/models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from memory_core.disclosure import Disclosure
from memory_core.ids import PageId
from memory_core.ledger.base import Context
from memory_core.messages import Message


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: the message, everything that the session disclosed (oldest first), and the conversation.

    `root` is the message that a thread hangs on, which stands in the room's main line. `direct`: a 1:1 DM.
    """

    message: Message
    disclosures: tuple[Disclosure, ...]
    context: Context
    title: str
    root: Message | None = None
    direct: bool = False
    noted: bool = False
    """Something of the message was written into memory already, and the answer will say so."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer, in Markdown, and the records that it quotes: page and identity."""

    text: str
    quoted: tuple[tuple[PageId, str], ...] = ()


class Doors(Protocol):
    """What an agent may ask of the scope's memory beyond what was disclosed; all of it goes through the gate."""

    async def search(self, words: str) -> Disclosure:
        """The best matches that the conversation does not hold yet. Raises Denied, StoreError."""
        ...

    async def open(self, page: PageId) -> Disclosure:
        """One more page that the index leads to. Raises Denied, StoreError."""
        ...


class Agent(Protocol):
    """Answers a message from what was disclosed. Raises RememError when it cannot; the message says why."""

    async def reply(self, ask: Ask, doors: Doors) -> Reply:
        """The answer to `ask.message`; `doors` lead to more of this scope's memory."""
        ...
