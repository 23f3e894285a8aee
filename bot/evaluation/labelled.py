"""Labelled conversations: short ones, made up, in several languages, with the facts that should be kept of each.

conversations.jsonl stands beside this file and is part of the program, so that whoever runs remem can measure the
rules and a model (`remem eval extraction`). Its first line is about the file; each further line is one conversation.
Half of them is kept out: no rule may be tuned on those, and nobody who tunes looks at what is missed there.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from memory_core.candidates import Request
from memory_core.errors import BadInput
from memory_core.ids import Conversation, PersonKey, RoomKey, message_key
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice

LABELLED = Path(__file__).parent / "conversations.jsonl"
_ACCEPTED = "give a file with one conversation as JSON a line, as docs/how-to/measure-extraction.md shows"
MONDAY = datetime(2026, 4, 6, 9, 0, tzinfo=UTC)
ROOM = RoomKey("console:build")


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a labelled conversation."""

    who: str
    text: str
    voice: Voice = Voice.PERSON


@dataclass(frozen=True, slots=True)
class Fact:
    """One labelled fact: acceptable kinds, words of the body, positions of the messages that state it."""

    kinds: tuple[Kind, ...]
    words: tuple[str, ...]
    sources: tuple[int, ...]
    settled: bool = True
    optional: bool = False
    due: date | None = None


@dataclass(frozen=True, slots=True)
class Labelled:
    """One labelled conversation."""

    id: str
    lang: str
    held_out: bool
    direct: bool
    messages: tuple[Said, ...]
    facts: tuple[Fact, ...]

    @property
    def request(self) -> Request:
        """The conversation as an extractor gets it: one message a minute from Monday 2026-04-06 09:00 UTC."""
        return Request(tuple(self._message(at, said) for at, said in enumerate(self.messages)), direct=self.direct)

    def _message(self, at: int, said: Said) -> Message:
        return Message(
            key=message_key(ROOM, str(at)),
            conversation=Conversation(ROOM),
            author=PersonKey(f"console:{said.who}"),
            author_name=said.who,
            text=said.text,
            sent_at=MONDAY + timedelta(minutes=at),
            voice=said.voice,
        )


def load(path: Path = LABELLED) -> tuple[Labelled, ...]:
    """The labelled conversations of a file; its first line is about the file.

    Raises BadInput for a file that cannot be read, or a line that is no labelled conversation.
    """
    try:
        # Only at line feeds: U+2028 may stand in a text.
        first, *lines = path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as refused:
        why = refused.strerror if isinstance(refused, OSError) else "it is no UTF-8 text"
        raise BadInput(f"{path} cannot be read as labelled conversations ({why}); {_ACCEPTED}.") from None
    found = tuple(_labelled(path, number, line) for number, line in enumerate(lines, 2) if line.strip())
    if '"messages"' in first or not found:
        raise BadInput(
            f"{path}: the first line is about the file, each later one is a labelled conversation, and there must be "
            f"one at least; begin with a line such as {{}}."
        )
    return found


_READER = TypeAdapter(Labelled)


def _labelled(path: Path, number: int, line: str) -> Labelled:
    try:
        found = _READER.validate_python(json.loads(line))
    except (ValueError, RecursionError) as refused:
        why = refused.errors()[0]["msg"] if isinstance(refused, ValidationError) else "no JSON"
        raise BadInput(f"Line {number} of {path} is no labelled conversation ({why}); {_ACCEPTED}.") from None
    wrong = [at for fact in found.facts for at in fact.sources if not 0 <= at < len(found.messages)]
    if wrong:
        raise BadInput(f"Line {number} of {path} cites message {wrong[0]} of {len(found.messages)}; the first is 0.")
    return found
