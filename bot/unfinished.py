"""Answers that stand in a room while they are still being written, and what becomes of them after a crash.

    writing:<question>   a timer that never rings; it tells where the answer stands and what it says (masked), from
                         before its first word is shown until all of it stands

    a start finds                              it does
    the question is still owed                 nothing: no word was shown, and it will be answered
    the keys of messages, a part of the text   the messages say that part, and that the answer was interrupted
    the keys of messages, all of the text      the messages say all of it
    no keys (it died while it was posting)     a line under the question: the answer was interrupted
    the question was deleted                   what stands of the answer is deleted, too

What we say comes back from the platform as events. Our edits are never news, and neither are our messages in a room
in which an answer is being written: what it says in the end is recorded when it stands (bot/own_words.py).
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from adapters.messages import Delivery, Happening, Incoming, Outgoing, Sent
from bot.owed import STALE, rebuilt, still_has
from bot.own_words import record_own
from bot.parts import Parts
from bot.wording import interrupted, interrupted_unseen
from memory_core.errors import LedgerFailed
from memory_core.ids import Conversation, DirectScope, MessageKey, RoomKey, Scope, scope_of_key
from memory_core.ledger.timers import NEVER, Timer
from memory_core.messages import Voice
from memory_core.redact.mask import mask

WRITING = "writing:"
"""How the keys of these timers begin."""

_log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Half:
    """An answer as far as it is written. `place`: where it stands, if that is not `conversation`."""

    question: MessageKey
    scope: Scope
    conversation: Conversation
    begun_at: datetime
    text: str = ""
    keys: tuple[MessageKey, ...] = ()
    place: Conversation | None = None
    whole: bool = False

    @property
    def timer(self) -> Timer:
        """As the ledger keeps it: no secret, like everything in it."""
        about = {
            "scope": self.scope.key,
            "owner": isinstance(self.scope, DirectScope) and self.scope.owner,
            "conversation": [self.conversation.room, self.conversation.thread],
            "place": [self.place.room, self.place.thread] if self.place else None,
            "begun_at": self.begun_at.isoformat(),
            "text": mask(self.text).text,
            "keys": self.keys,
            "whole": self.whole,
        }
        return Timer(f"{WRITING}{self.question}", NEVER, json.dumps(about))


def half_in(timer: Timer) -> Half:
    """The answer that such a timer tells of."""
    about = json.loads(timer.about)
    return Half(
        MessageKey(timer.key.removeprefix(WRITING)),
        scope_of_key(about["scope"], owner=about["owner"]),
        _place(about["conversation"]),
        datetime.fromisoformat(about["begun_at"]),
        about["text"],
        tuple(MessageKey(key) for key in about["keys"]),
        _place(about["place"]) if about["place"] else None,
        about["whole"],
    )


def _place(told: list[str]) -> Conversation:
    return Conversation(RoomKey(told[0]), told[1])


class Unfinished:
    """The answers that are being written, in this run and in those that ended before they stood."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._writing: dict[MessageKey, RoomKey] = {}
        self._left: dict[MessageKey, Half] = {}

    async def keep(self, half: Half) -> None:
        """Keep what stands, or is about to, of an answer. Raises LedgerFailed."""
        await self._parts.timers.set(half.timer)
        self._writing[half.question] = half.conversation.room

    def leave(self, half: Half) -> None:
        """It cannot be finished now: it is, as it was kept, when the platform has caught up again."""
        self._left[half.question] = half

    async def done(self, question: MessageKey) -> None:
        """All of the answer stands, or nothing."""
        self._writing.pop(question, None)
        self._left.pop(question, None)
        try:
            await self._parts.timers.cancel(f"{WRITING}{question}")
        except LedgerFailed as refused:
            _log.error("an answer is looked at again at the next start", question=question, why=str(refused))

    def is_echo(self, incoming: Incoming) -> bool:
        """Does the platform only tell us of what we are saying?"""
        if incoming.author.voice is not Voice.SELF:
            return False
        written = incoming.happening is Happening.MESSAGE and incoming.room.key in self._writing.values()
        return written or incoming.happening is Happening.EDIT

    async def take_up(self) -> None:
        """At a start: what an earlier run left half. Raises LedgerFailed."""
        owed = {entry.message.key for _, entry in await self._parts.intake.owed()}
        for timer in await self._parts.timers.due(NEVER):
            if timer.key.startswith(WRITING):
                half = half_in(timer)
                if half.question in owed:
                    await self.done(half.question)
                else:
                    self._left[half.question] = half
                    self._writing[half.question] = half.conversation.room

    async def complete(self, platform: str) -> None:
        """A platform can be spoken to: no answer stays half there without a word. Raises LedgerFailed."""
        for half in [one for one in self._left.values() if one.conversation.room.platform == platform]:
            sent = await self._completed(half)
            if sent.delivery is Delivery.FAILED and half.begun_at > self._parts.clock.now() - STALE:
                _log.warning("an answer stays half", room=half.conversation.room, why=sent.why)
            else:
                await self.done(half.question)

    async def _completed(self, half: Half) -> Sent:
        ledger = self._parts.handles.open(half.scope).ledger
        deleted = any(one.deleted and one.message == half.question for one in await ledger.changed())
        adapter = self._parts.adapters[half.conversation.room.platform]
        outgoing = Outgoing(half.conversation, "", reply_to=half.question)
        if not half.keys:
            if deleted or half.begun_at <= self._parts.clock.now() - STALE:
                return Sent(Delivery.SENT)
            return await adapter.send(replace(outgoing, text=interrupted_unseen()))
        text = "" if deleted else half.text if half.whole else interrupted(half.text)
        stood = Sent(Delivery.SENT, half.keys, conversation=half.place)
        sent = await adapter.revise(stood, replace(outgoing, text=text))
        question = await ledger.find(half.question)
        if sent.delivery is Delivery.SENT and text and question is not None:
            incoming = rebuilt(question.message, half.scope)
            if await still_has(self._parts, half.scope, incoming):
                await record_own(self._parts, incoming, text, sent, half.scope)
        return sent
