"""What was said and may be worth keeping, and the protocol that finds it.

Extraction is the one place where memory_core needs an outside answer: it hands out a `Request` and takes
`Candidate`s back. The rules-based extractor in memory_core.extract is the default; a model-based one lives in bot.
Whoever answers, the bars of the flush are checked by code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from typing import Protocol

from memory_core.errors import BadInput
from memory_core.ids import MessageKey, PersonKey, Scope
from memory_core.layouts import Kind
from memory_core.messages import Message

TITLE_CHARACTERS = 80
"""How long the title of a candidate, and of the record that it becomes, may be."""


class Value(StrEnum):
    """A decision's weight (`decision_value` on disk)."""

    HIGH = "HIGH"
    MEDIUM = "MEDIUM"
    LOW = "LOW"


@dataclass(frozen=True, slots=True)
class Candidate:
    """One fact that was said. `title` (at most TITLE_CHARACTERS) and `body` are one line, in the speaker's language.

    `sources` are the messages that carry it, first the one that states it, never empty; `author` wrote that one.
    `settled` False: promising, but it misses its bar (it goes to the pending items). `corrects`: words of the
    fact that this one replaces. Raises BadInput for an empty body or no source.
    """

    kind: Kind
    title: str
    body: str
    author: PersonKey
    sources: tuple[MessageKey, ...]
    value: Value = Value.MEDIUM
    tags: tuple[str, ...] = ()
    settled: bool = True
    who: str = ""
    """Whose task, blocker or role this is, by display name."""
    status: str = ""
    """For a task: pending, in_progress, blocked or done."""
    due: date | None = None
    project: str = ""
    corrects: str = ""

    def __post_init__(self) -> None:
        if not self.body.strip():
            raise BadInput(f"A candidate of kind {self.kind} has no text; say what was stated.")
        if not self.sources:
            raise BadInput(f"A candidate of kind {self.kind} cites no message; cite the message that states it.")


@dataclass(frozen=True, slots=True)
class Request:
    """What an extractor is asked: one conversation's messages, oldest first.

    `before` is context only and never a source; `messages` may be cited. `direct`: a 1:1 DM, where the person's own
    word settles a decision. `scope` is whose account an extractor charges that costs something; nobody is told it.
    """

    messages: tuple[Message, ...]
    before: tuple[Message, ...] = ()
    direct: bool = False
    scope: Scope | None = None


class Extractor(Protocol):
    """Finds candidates. Raises RememError when it cannot; the caller keeps the text and tries again."""

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The candidates of one conversation, in the order they were said."""
        ...
