"""One message, from the platform's event to the answer. Read this file top to bottom and you have read the program.

    take_in    event → whose memory → masked → durable      before the platform hears that we have it
    serve      one event at a time for each room: joins, commands, edits, messages
    said       a command in words? the answer to our question? something that cannot wait? addressed to us?
    answer     disclose → ask the agent → mark as answered → send → record what we said

After a start or an absence, `take_up` and `answer_owed` send what is owed an answer the same way (bot/owed.py). What
an event is to the ledger stands in bot/heard.py, who is turned away in bot/admission.py.

What is recorded: DMs, rooms to which we were invited by name, rooms where we were once addressed. What is answered:
DMs, mentions, replies to us, threads that we were called into. Other bots are context, our own words are never a
source, a room that we cannot place has no memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import structlog

from adapters.base import Taken
from adapters.messages import Button, Delivery, Happening, Incoming, Outgoing, Sent
from adapters.rooms import Placed
from bot.admission import Admission, asks
from bot.agent import Ask, Reply
from bot.commands import Answer, Commands, gives
from bot.conversations import Talk, to_its_end
from bot.doors import Doors, in_context
from bot.heard import concerns_us, event_of, masked, message_of
from bot.joining import Joining
from bot.models.failures import reason
from bot.owed import Late, Owed
from bot.own_words import record_own
from bot.parts import Parts
from bot.saving import Saving
from bot.schedule import Schedule
from bot.streaming import Streaming
from bot.unfinished import Unfinished
from bot.unsaid import unsay
from bot.wording import (
    NOT_A_MEMBER,
    SHORT_HELP,
    UNFORESEEN,
    answer_failed,
    at_breaker,
    command_failed,
    last_flush,
    not_answered,
    noted,
    secret_seen,
    server_greeting,
    unread,
    write_failed,
)
from memory_core.candidates import Candidate
from memory_core.commands import is_public, text_command
from memory_core.disclosure import Disclosure
from memory_core.errors import LedgerError, LedgerFailed, RememError, StoreError
from memory_core.extract import at_once
from memory_core.flush.engine import Trigger, unkept
from memory_core.gate import fingerprint, persona
from memory_core.handle import Handle
from memory_core.ids import MessageKey, RoomKind, Scope
from memory_core.ledger.base import Hit
from memory_core.loading import disclose, standing
from memory_core.messages import Message, Voice

FULL = 0.8
"""The share of the context at which a conversation is saved before anything of it is cut (design section 9)."""

TALK = frozenset({Happening.MESSAGE, Happening.EDIT, Happening.DELETE})
"""What only a person's voice makes us work on; other bots are context."""

_log = structlog.get_logger()


class Turn:
    """Takes events in and works them off."""

    def __init__(self, parts: Parts, saving: Saving, schedule: Schedule) -> None:
        self._parts = parts
        self._saving = saving
        self._schedule = schedule
        self._joining = Joining(parts)
        self._commands = Commands(parts, saving, self._joining)
        self._admission = Admission(parts)
        self._owed = Owed(parts)
        self._unfinished = Unfinished(parts)
        self._writing: dict[MessageKey, Streaming] = {}

    # -- in: everything that happens before the platform is acknowledged ------------------------------------------

    async def take_in(self, incoming: Incoming, *, again: bool = False) -> Taken:
        """Keep an event, durably, and queue its work. Raises LedgerFailed: the platform must deliver it again.

        `again`: one that is known is worked off once more, because a replay was stopped before it was done with it.
        """
        state = await self._joining.state(incoming.room.key)
        if incoming.author.voice is Voice.PERSON and await self._joining.is_answer(incoming):
            incoming = replace(incoming, addressed=True)  # it waits for our thanks: owed, also after a crash
        if not concerns_us(incoming, state):
            return Taken(durable=True)
        if self._unfinished.is_echo(incoming):
            return Taken(durable=True, new=False)
        turned_away = await self._admission.turned_away(incoming)
        if turned_away is not None:
            return self._turn_away(incoming, turned_away)
        incoming, secrets = masked(incoming)
        placed = await self._place(incoming)
        (accepted,) = await self._parts.intake.record([event_of(incoming, placed.scope, state)])
        if incoming.happening is Happening.DELETE and incoming.message in self._writing:
            self._writing[incoming.message].question_gone()
        if (accepted.new or again) and (incoming.author.voice is Voice.PERSON or incoming.happening not in TALK):
            if incoming.late and incoming.addressed:
                self._owed.add(Late(incoming, placed, secrets))
            self._queue(incoming, placed, secrets)
        return Taken(durable=True, new=accepted.new, private=not is_public(incoming.words))

    def _queue(self, incoming: Incoming, placed: Placed, secrets: tuple[str, ...]) -> None:
        """Put the event behind what its room is working on."""
        work = partial(self._work, incoming, placed, secrets)
        if not self._parts.conversations.put(incoming.room.key, work):
            _log.warning("room is flooded: recorded, not answered", room=incoming.room.key)

    def _turn_away(self, incoming: Incoming, line: str) -> Taken:
        """Nothing of the event is kept; `line` is said to its author, if it is to be said."""
        if line:
            self._parts.conversations.put(incoming.room.key, partial(self._refuse, incoming, line))
        return Taken(durable=True, new=False)

    async def _place(self, incoming: Incoming) -> Placed:
        """Whose memory it is. A server that was joined has none yet: its rooms get theirs when they are addressed."""
        if incoming.happening is Happening.JOINED_SERVER:
            return Placed(None)
        if not incoming.member:
            return Placed(None, NOT_A_MEMBER)
        # Who deleted is not told: the author of a deletion stands in for somebody, and is nobody's partner in a DM.
        spoke = incoming.happening is not Happening.DELETE
        return await self._parts.rooms.place(incoming.room, incoming.author, spoke=spoke)

    async def take_up(self) -> None:
        """At a start, before anything comes in: note what is owed an answer since before. Raises LedgerFailed."""
        await self._unfinished.take_up()
        await self._owed.take_up()

    async def answer_owed(self, platform: str) -> None:
        """A platform can be spoken to and has delivered what it missed: answer what is owed there (bot/owed.py)."""
        try:
            await self._unfinished.complete(platform)
            owed = await self._owed.to_answer(platform, self._joining.is_answer)
        except LedgerFailed as refused:
            _log.error("what is owed waits for the next start", platform=platform, why=str(refused))
            return
        for late in owed:
            self._queue(replace(late.incoming, late=False), late.placed, late.secrets)

    # -- work: one event at a time for each room ------------------------------------------------------------------

    async def _work(self, incoming: Incoming, placed: Placed, secrets: tuple[str, ...]) -> None:
        """Serve; what fails is logged, a fault that nobody foresaw with its trace, and who asked hears of it."""
        try:
            await self.serve(incoming, placed, secrets)
        except RememError as refused:
            # Not marked as answered: a message stays owed, and is answered after a restart at the latest.
            _log.error("event failed", room=incoming.room.key, happening=incoming.happening.value, why=str(refused))
            if asks(incoming) or (incoming.addressed and incoming.happening is Happening.MESSAGE):
                await self._say(incoming, not_answered(refused), private=True)
        except Exception:  # noqa: BLE001  # the end of this event's work; the next one must not suffer
            _log.exception("event failed", room=incoming.room.key, happening=incoming.happening.value)
            if incoming.addressed or asks(incoming):
                await self._claim(incoming)
                await self._say(incoming, UNFORESEEN, private=True)

    async def serve(self, incoming: Incoming, placed: Placed, secrets: tuple[str, ...] = ()) -> None:
        """Work off one event that is durable."""
        scope = placed.scope
        if incoming.happening is Happening.JOINED_SERVER:
            await self._say(incoming, server_greeting(incoming.room.server))
            return
        if scope is None:
            await self._no_memory(incoming, placed.why)
            return
        talk = self._parts.conversations.talk(incoming.conversation, scope)
        match incoming.happening:
            case Happening.MESSAGE:
                await self._said(incoming, scope, talk, secrets)
            case Happening.COMMAND | Happening.BUTTON:
                await self._command(incoming, scope, talk, incoming.words, secrets)
            case Happening.JOINED:
                await self._greet(incoming, scope, invited=True)
            case Happening.RENAMED:
                await self._parts.rooms.renamed(incoming.room)
            case Happening.LEFT:
                await self._saving.save(scope, Trigger.IDLE)
                self._parts.conversations.forget(incoming.conversation)
            case Happening.CLOSED:
                talk.end_session()
            case Happening.EDIT | Happening.DELETE:
                talk.tokens = None
                await self._schedule.active(incoming.conversation, scope)  # what was made of it is to be corrected
                await self._saving.revise(scope)

    async def _no_memory(self, incoming: Incoming, why: str) -> None:
        """A room without memory says so in one line, and only to who addresses us there."""
        if incoming.addressed or asks(incoming):
            too_much = self._admission.too_much(incoming, recorded=False)
            await self._refuse(incoming, why if too_much is None else too_much)

    async def _greet(self, incoming: Incoming, scope: Scope, *, invited: bool) -> bool:
        """Greet a room once and ask for its purpose; one whose memory is there already is asked nothing.

        False where we cannot speak: nobody was told, so nothing is recorded, and the next mention tries again.
        """
        if not invited and await self._joining.is_known(incoming.room.key):
            return True
        try:
            text, buttons, asks_purpose = await self._joining.words(incoming, scope, invited=invited)
        except StoreError as refused:
            _log.error("the greeting waits", room=incoming.room.key, why=str(refused))
            return True
        sent = await self._say(incoming, text, buttons=buttons, to_room=True) if text else None
        question = sent.messages[-1] if sent and sent.messages and asks_purpose else None
        if sent is not None and sent.delivery is not Delivery.SENT:
            self._joining.mute(incoming.room.key)
            if sent.delivery is not Delivery.FAILED:
                await self._claim(incoming)  # where we may not speak nothing is owed, also not after a restart
            return False
        try:
            await self._joining.greeted(incoming, question)
        except LedgerFailed as refused:
            _log.error("the greeting will be repeated", room=incoming.room.key, why=str(refused))
        return True

    async def _command(
        self, incoming: Incoming, scope: Scope, talk: Talk, words: str, secrets: tuple[str, ...] = ()
    ) -> None:
        """A command: an app command, a button, or words in a message."""
        too_much = self._admission.too_much(incoming, recorded=False)
        if too_much is not None:
            await self._refuse(incoming, too_much)
            return
        try:
            answer = await self._commands.run(words, incoming, scope, talk)
        except RememError as refused:
            _log.error("command failed", room=incoming.room.key, why=str(refused))
            answer = Answer(command_failed(refused), public=is_public(words))
        text = "\n\n".join([answer.text, *secret_seen(secrets)])
        await self._say(incoming, text, private=not answer.public)
        group = incoming.room.kind is not RoomKind.DIRECT
        if answer.wrote and group and not self._joining.is_mute(incoming.room.key):
            await self._greet(incoming, scope, invited=False)  # who saves in a room has begun to use us there

    # -- a message ------------------------------------------------------------------------------------------------

    async def _said(self, incoming: Incoming, scope: Scope, talk: Talk, secrets: tuple[str, ...]) -> None:
        """A person said something in a room that is recorded."""
        words = text_command(incoming.text, addressed=incoming.addressed)
        if words is not None:
            if not incoming.late or gives(words):
                await self._command(incoming, scope, talk, words, secrets)
            return
        async with self._schedule.turn(incoming.conversation, scope):
            if incoming.late and incoming.addressed:
                return  # answered with what else is owed, at most one for each conversation
            if await self._joining.is_answer(incoming):
                await self._command(incoming, scope, talk, f"purpose {incoming.text}", secrets)
                await self._claim(incoming)
                return
            group = incoming.room.kind is not RoomKind.DIRECT
            if incoming.addressed and group and not await self._greet(incoming, scope, invited=False):
                return
            written = await self._write_at_once(incoming, scope, talk)
            if incoming.addressed:
                await self._reply(incoming, scope, talk, [*written, *secret_seen(secrets)])
        await self._save_if_full(incoming, scope, talk)

    async def _claim(self, incoming: Incoming) -> bool:
        """Mark a message as answered, durably, before it is: False if it was, or is gone. Raises LedgerFailed."""
        return incoming.message is None or await self._parts.intake.answered(incoming.message)

    async def _write_at_once(self, incoming: Incoming, scope: Scope, talk: Talk) -> list[str]:
        """What cannot wait (explicit decisions, "remember …", task changes) is in its page before we say so."""
        message, handle = message_of(incoming), self._parts.handles.open(scope)
        urgent = self._urgent(incoming, message)
        if not urgent:
            return []
        try:
            if any(one.due is not None for one in urgent):  # "tomorrow" is a day where the scope lives
                zone = await self._saving.zone_of(scope)
                urgent = self._urgent(incoming, replace(message, sent_at=message.sent_at.astimezone(zone))) or urgent
            kept = await handle.ledger.find(message.key)
            if kept is None or kept.message.text != incoming.text:
                return []  # deleted or edited while it waited: what it says now is for the next flush
            refused = {one.kind: why for one in urgent if (why := unkept(handle, one.kind)) is not None}
            wanted = [one for one in urgent if one.kind not in refused]
            lines = await self._write(scope, talk, wanted) if wanted else []
            return [*lines, *map(write_failed, refused.values())]
        except RememError as refused_all:
            _log.error("write failed", scope=scope.key, why=str(refused_all))
            return [write_failed(refused_all)]

    def _urgent(self, incoming: Incoming, message: Message) -> list[Candidate]:
        """What the message says that cannot wait and may be kept here."""
        found = at_once(message, direct=incoming.room.kind is RoomKind.DIRECT)
        return [one for one in found if self._commands.may_keep(one.kind, incoming)]

    async def _write(self, scope: Scope, talk: Talk, candidates: Sequence[Candidate]) -> list[str]:
        """Write what one message says now; a line for each. Raises RememError."""
        lines = []
        for candidate, page, record in await self._saving.write_all(scope, candidates):
            sha256 = await fingerprint(self._parts.handles.open(scope), page)
            talk.session = talk.session.wrote(page, sha256)
            lines.append(noted(candidate, page, record))
        return lines

    async def _grant(self, doors: Doors, scope: Scope, talk: Talk) -> list[str]:
        """Write what the agent wished to be kept; a line for each, also for what could not be written."""
        lines = []
        for wish in await doors.standing_wishes():
            try:
                lines += await self._write(scope, talk, (wish,))
            except RememError as refused:
                _log.error("write failed", scope=scope.key, why=str(refused))
                lines.append(write_failed(refused))
        return lines

    async def _reply(self, incoming: Incoming, scope: Scope, talk: Talk, notes: list[str]) -> None:
        """Answer; that it is too much, or what fails (memory, ledger, model), is told in the answer's place."""
        too_much = self._admission.too_much(incoming, recorded=True)
        if too_much is not None:
            if await self._claim(incoming) and too_much:
                await self._refuse(incoming, "\n\n".join([*notes, too_much]))
            return
        answer = Streaming(self._parts, self._unfinished, incoming, scope, notes)
        self._writing[message_of(incoming).key] = answer
        try:
            await self._answer(incoming, scope, talk, notes, answer)
        except LedgerError as refused:
            # It cannot be marked as answered either: it stays owed, and is answered after a restart at the latest.
            _log.error("not answered", scope=scope.key, why=str(refused))
            if not await answer.fail(not_answered(refused)):
                await self._say(incoming, "\n\n".join([*notes, not_answered(refused)]))
        except RememError as refused:
            _log.error("not answered", scope=scope.key, why=reason(refused))
            line = (answer_failed if isinstance(refused, StoreError) else not_answered)(refused)
            if not await answer.fail(line) and await answer.claim():
                await unsay(self._parts, await self._say(incoming, "\n\n".join([*notes, line])))
        finally:
            await answer.close()
            del self._writing[message_of(incoming).key]

    async def _answer(
        self, incoming: Incoming, scope: Scope, talk: Talk, notes: list[str], answer: Streaming
    ) -> None:
        """Disclose, ask the agent, mark as answered, show it while it grows, send, record."""
        if not incoming.text.strip():
            if await self._claim(incoming):
                await self._say(incoming, SHORT_HELP, scope=scope)
            return
        handle, begins = self._parts.handles.open(scope), not talk.answered
        await answer.begin()
        disclosure = await self._disclose(incoming, handle, talk)
        seen = talk.session.disclosures or (disclosure,)  # a scope without an index leaves none in the session
        ask = await self._ask(incoming, handle, talk, seen, noted=bool(notes))
        doors = Doors(handle, talk, ask, partial(self._commands.may_keep, incoming=incoming))
        reply = await self._parts.agent.reply(ask, doors, answer.show)
        await self._used(handle, talk, reply)
        kept = await self._grant(doors, scope, talk)
        lines = [*notes, reply.text, *kept, *unread(disclosure), *at_breaker(disclosure)]
        if begins and ask.direct:
            lines.append(await last_flush(handle))
        if await answer.finish("\n\n".join(filter(None, lines))):
            talk.answered = True

    async def _disclose(self, incoming: Incoming, handle: Handle, talk: Talk) -> Disclosure:
        """What the agent may see of the scope's memory for this message; it counts in the conversation's session."""
        title, mode = incoming.room.title, self._parts.mode
        disclosure = await disclose(
            handle,
            talk.session,
            message_of(incoming).text,
            title=title,
            mode=mode,
            in_context=partial(in_context, handle, incoming.conversation),
        )
        talk.disclosed(disclosure, message_of(incoming).key)
        talk.last_disclosure = disclosure
        for note in disclosure.notes:
            _log.warning("a note on loading", scope=handle.scope.key, note=note)
        return disclosure

    async def _ask(
        self, incoming: Incoming, handle: Handle, talk: Talk, seen: tuple[Disclosure, ...], *, noted: bool
    ) -> Ask:
        """The question, with all that the session disclosed (`seen`) and the conversation as it is recorded."""
        root = await handle.ledger.find(incoming.reply_to) if incoming.reply_to else None
        message = message_of(incoming)
        if talk.persona is None:
            talk.persona = await self._persona(handle)
        return Ask(
            scope=handle.scope,
            message=message,
            disclosures=seen,
            shown_at=tuple(talk.shown_at) or (message.key,),
            context=await handle.ledger.context(incoming.conversation),
            title=incoming.room.title,
            now=self._parts.clock.now().astimezone(seen[-1].zone or handle.host_zone),
            root=root.message if root else None,
            direct=incoming.room.kind is RoomKind.DIRECT,
            noted=noted,
            persona=talk.persona,
            standing=await standing(handle, talk.session),
        )

    async def _persona(self, handle: Handle) -> str:
        """SOUL.md; one that cannot be read stops no answer."""
        try:
            return await persona(handle)
        except StoreError as refused:
            _log.warning("no persona", scope=handle.scope.key, why=str(refused))
            return ""

    async def _used(self, handle: Handle, talk: Talk, reply: Reply) -> None:
        """Records that the answer quotes are used, once in a session."""
        fresh = [(page, record) for page, record in reply.quoted if record not in talk.used]
        await handle.ledger.add_hits([Hit(page, record, self._parts.clock.now()) for page, record in fresh])
        talk.used.update(record for _, record in fresh)

    async def _save_if_full(self, incoming: Incoming, scope: Scope, talk: Talk) -> None:
        """A conversation that nears its limit is saved before anything of it is cut; if it cannot be, later."""
        count = self._parts.counter.count
        try:
            if talk.tokens is None:
                fresh = (await self._parts.handles.open(scope).ledger.context(incoming.conversation, tail=0)).fresh
                # Not what waits in the queue behind this message: each of those is counted when its turn comes.
                newest = next((entry.seq for entry in fresh if entry.message.key == incoming.message), None)
                counted = [entry for entry in fresh if newest is None or entry.seq <= newest]
                talk.tokens = sum(count(entry.message.text) for entry in counted)
            else:
                talk.tokens += count(incoming.text)
            if talk.tokens >= FULL * self._parts.context_tokens:
                await self._saving.save(scope, Trigger.CONTEXT)
        except RememError as refused:
            _log.error("a full conversation waits", scope=scope.key, why=str(refused))

    async def _refuse(self, incoming: Incoming, line: str) -> None:
        """Say the one line of a refusal; an empty one is silence."""
        if line:
            await self._say(incoming, line, private=asks(incoming))

    # -- out ------------------------------------------------------------------------------------------------------

    async def _say(
        self,
        incoming: Incoming,
        text: str,
        *,
        private: bool = False,
        buttons: tuple[Button, ...] = (),
        to_room: bool = False,
        scope: Scope | None = None,
    ) -> Sent:
        """Answer where it belongs. With `scope` our words become part of the recorded conversation."""
        outgoing = Outgoing(
            conversation=incoming.conversation,
            text=text,
            reply_to=incoming.message,
            private=private and bool(incoming.answer_to),
            answer_to="" if to_room else incoming.answer_to,
            buttons=buttons,
            to_room=to_room,
        )
        sent = await to_its_end(self._parts.adapters[incoming.room.key.platform].send(outgoing))
        if sent.delivery is not Delivery.SENT:
            _log.warning("answer not delivered", room=incoming.room.key, delivery=sent.delivery.value, why=sent.why)
        elif scope is not None:
            await record_own(self._parts, incoming, text, sent, scope)
        return sent
