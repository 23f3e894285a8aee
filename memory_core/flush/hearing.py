"""What a flush hears: the messages after each cursor, and what the extractor makes of them.

Extraction holds no page and no lock; what is said meanwhile belongs to the next flush. Whatever goes wrong in it is
`ExtractionFailed`, told apart from a failing disk: the words of an extractor are for the operator, never for a room.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta, tzinfo

from memory_core.candidates import TITLE_CHARACTERS, Candidate, Extractor, Request
from memory_core.errors import ExtractionFailed, LedgerError, RememError
from memory_core.extract import candidates_in, retracted_in
from memory_core.flush.bars import Fact, checked
from memory_core.flush.standing import together
from memory_core.handle import Handle
from memory_core.ids import Conversation, DirectScope, MessageKey
from memory_core.ledger.base import Context, ScopeLedger
from memory_core.messages import Message, Voice
from memory_core.text import one_line

ROOTS = 3
"""How many messages outside a thread are read because the thread answers them."""
LATER = timedelta(days=1)
"""What was said so much later does not stand before: history is imported behind it. Clocks that differ are closer."""


@dataclass(frozen=True, slots=True)
class Heard:
    """One conversation's part of a flush: what was asked, what came back, and the last entry that was read."""

    conversation: Conversation
    request: Request
    facts: tuple[Fact, ...]
    last_seq: int

    @property
    def spoken(self) -> tuple[Message, ...]:
        """The messages of persons."""
        return tuple(message for message in self.request.messages if message.voice is Voice.PERSON)


async def fresh(
    ledger: ScopeLedger, until: Mapping[Conversation, int] | None = None
) -> list[tuple[Conversation, Context]]:
    """The conversations in which something was said since their last flush; `until`: only these, only so far."""
    found = await ledger.unflushed()
    contexts = await together(ledger.context(conversation) for conversation in found)
    heard = []
    for conversation, context in zip(found, contexts, strict=True):
        if until is not None:
            last = until.get(conversation, 0)
            context = replace(context, fresh=tuple(entry for entry in context.fresh if entry.seq <= last))
        if context.fresh:
            heard.append((conversation, context))
    return heard


def retracted(heard: Sequence[Heard]) -> dict[MessageKey, frozenset[str]]:
    """The messages that their authors took back, or a part of them, each with the titles of what it states still."""
    found: dict[MessageKey, frozenset[str]] = {}
    for part in heard:
        if keys := retracted_in(part.request):
            said = [(one.sources[0], one_line(one.title or one.body, TITLE_CHARACTERS)) for one in _by_rules(part)]
            found |= {key: frozenset(title for source, title in said if source == key) for key in keys}
    return found


def _by_rules(heard: Heard) -> tuple[Candidate, ...]:
    """What the rules read, which write at once, whoever reads for the flush."""
    return candidates_in(heard.request)


@dataclass(frozen=True, slots=True)
class Ear:
    """Asks the extractor, its times told in the scope's zone: `tomorrow` is reckoned from the people's day."""

    handle: Handle
    extractor: Extractor
    zone: tzinfo

    async def listen(self, conversation: Conversation, context: Context) -> Heard:
        """What one conversation says. Raises ExtractionFailed, LedgerError."""
        said = [entry.message for entry in context.fresh]
        latest = said[0].sent_at + LATER
        before = [entry.message for entry in context.tail if entry.message.sent_at <= latest]
        if conversation.thread:
            before = [*await self._roots([*before, *said]), *before]
        request = self._request(said, before)
        return Heard(conversation, request, await self._facts(request), context.fresh[-1].seq)

    async def again(self, key: MessageKey) -> tuple[Fact, ...]:
        """What a flushed message says as it reads now; nothing where its text is gone. Raises as `listen`."""
        entry = await self.handle.ledger.find(key)
        if entry is None or entry.message.voice is not Voice.PERSON:
            return ()
        context = await self.handle.ledger.context(entry.message.conversation)
        before = [one.message for one in (*context.tail, *context.fresh) if one.seq < entry.seq]
        return await self._facts(self._request([entry.message], before))

    def _request(self, said: Sequence[Message], before: Sequence[Message]) -> Request:
        return Request(
            messages=tuple(map(self._local, said)),
            before=tuple(map(self._local, before)),
            direct=isinstance(self.handle.scope, DirectScope),
            scope=self.handle.scope,
        )

    async def _facts(self, request: Request) -> tuple[Fact, ...]:
        try:
            candidates: Sequence[Candidate] = await self.extractor.extract(request)
        except LedgerError:
            raise
        except RememError as refused:
            raise ExtractionFailed(str(refused)) from refused
        found = (checked(candidate, request, self.zone, self.handle.scope) for candidate in candidates)
        return tuple(fact for fact in found if fact is not None)

    async def _roots(self, messages: Sequence[Message]) -> list[Message]:
        """What a thread's messages answer and that stands outside it: as a rule the one message it began with."""
        known = {message.key for message in messages}
        outside = dict.fromkeys(one.reply_to for one in messages if one.reply_to and one.reply_to not in known)
        found = await together(self.handle.ledger.find(key) for key in list(outside)[:ROOTS])
        return [entry.message for entry in found if entry is not None]

    def _local(self, message: Message) -> Message:
        return replace(message, sent_at=message.sent_at.astimezone(self.zone))
