"""What the forms of /remem do. Their words and rights are memory_core.commands, what they say memory_core.answers."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import tzinfo

from adapters.messages import Incoming
from bot.conversations import Talk
from bot.joining import Joining
from bot.parts import Parts
from bot.profiles import is_profile
from bot.saving import Saving
from bot.wording import FLUSHING_NOW, TOPIC_BUTTON, noted
from memory_core import answers
from memory_core.answers_sleep import NO_MEMORY, rest_text, sleep_notes, slept_text, trouble_text
from memory_core.answers_usage import usage_text
from memory_core.candidates import Candidate, Request, Value
from memory_core.clock import day_in
from memory_core.commands import Call, Right, Unknown, note_kind, parse
from memory_core.errors import Denied, NoIndex, StoreError
from memory_core.extract import candidates_in
from memory_core.faults import faults_in
from memory_core.first_join import ensure_index, set_front, set_rule
from memory_core.flush.correct import split
from memory_core.flush.engine import Trigger, read_state
from memory_core.gate import OpenIndex, open_index, open_tasks
from memory_core.handle import Handle
from memory_core.ids import GroupScope, MessageKey, RoomKey, RoomKind, Scope
from memory_core.index import page_asked
from memory_core.layouts import Form, Kind
from memory_core.messages import Message, Voice
from memory_core.over_budget import over_budget
from memory_core.sleep.report import Stage
from memory_core.terms import terms
from memory_core.text import one_line
from memory_core.zone import zone_of
from memory_core.zone_names import zone_named

TITLE_CHARACTERS = 80
BODY_CHARACTERS = 2000
FAULTS = 5
"""How many faults of its files a status tells."""
_DAYS = frozenset({Form.JOURNAL, Form.ARCHIVE, Form.STATE})


@dataclass(frozen=True, slots=True)
class Answer:
    """What a command says; `public`: the room may see it; `wrote`: it saved something, or would have."""

    text: str
    public: bool = False
    wrote: bool = False


def gives(words: str) -> bool:
    """Do the words bring something that would be lost if they were not heard (`note …`, `rule …`)?"""
    call = parse(words)
    return isinstance(call, Call) and call.form.writes and call.form.needs


class Commands:
    """Runs calls for one room at a time; every read and write is bound to the scope that it is given."""

    def __init__(self, parts: Parts, saving: Saving, joining: Joining) -> None:
        self._parts = parts
        self._saving = saving
        self._joining = joining
        self._actions = {
            "": self._flush,
            "status": self._status,
            "why": self._why,
            "show": self._show,
            "search": self._search,
            "note": self._note,
            "correct": self._correct,
            "undo": self._undo,
            "sleep": self._sleep,
            "purpose": self._purpose,
            "zone": self._zone,
            "rule": self._rule,
            "help": self._help,
        }

    async def run(self, words: str, incoming: Incoming, scope: Scope, talk: Talk) -> Answer:
        """Do what the words say. Raises RememError where memory or ledger refuse."""
        if words == TOPIC_BUTTON:
            words = f"purpose {incoming.room.topic}"
        call = parse(words)
        if isinstance(call, Unknown):
            return Answer(answers.unknown_text(call))
        if call.form.needs and not call.argument:
            return Answer(answers.missing_text(call.form))
        if call.form.right is Right.ADMIN and not await self._is_admin(incoming):
            return Answer(answers.NOT_ADMIN)
        text = await self._actions[call.form.word](call, incoming, scope, talk)
        return Answer(text, public=call.form.public, wrote=call.form.writes)

    async def _is_admin(self, incoming: Incoming) -> bool:
        """A room admin (design section 1); in a 1:1 DM the person."""
        if incoming.room.kind is RoomKind.DIRECT:
            return True
        if incoming.author.admin is not None:
            return incoming.author.admin
        return await self._parts.adapters[incoming.room.key.platform].is_admin(incoming.room.key, incoming.author.key)

    async def _flush(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        receipt = await self._saving.save(scope, Trigger.COMMAND)
        notes = await over_budget(self._parts.handles.open(scope), receipt.pages)
        return "\n".join([answers.receipt_text(receipt), *(f"Note: {note}" for note in notes)])

    async def _help(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        return answers.help_text()

    async def _why(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        return answers.why_text(talk.last_disclosure)

    async def _search(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        opened = await open_index(self._parts.handles.open(scope))
        found = await opened.search(call.argument, 5) if opened else ()
        return answers.search_text(one_line(call.argument, 80), found)

    async def _show(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        opened = await open_index(self._parts.handles.open(scope))
        if opened is None:
            return answers.pages_text(())
        if not call.argument:
            return answers.pages_text(await self._sizes(opened))
        page = page_asked(call.argument, self._parts.handles.layout.table(scope))
        try:
            shown = await opened.show(page)
        except Denied as refused:
            return f"{refused} " + answers.pages_text(await self._sizes(opened))
        return answers.page_text(page, shown.text if shown is not None else "")

    async def _sizes(self, opened: OpenIndex) -> tuple[answers.PageSize, ...]:
        """The pages in numbers, without the days (journals, archive), which are many."""
        sizes = []
        for page in await opened.pages():
            rule = self._parts.handles.layout.table(opened.scope).rule(page)
            shown = await opened.show(page) if rule.form not in _DAYS else None
            if shown is not None:
                lines, tokens = len(shown.text.splitlines()), self._parts.counter.count(shown.text)
                sizes.append(answers.PageSize(page, lines, tokens, rule.budget_lines))
        return tuple(sizes)

    async def _status(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        handle = self._parts.handles.open(scope)
        opened, state, zone = await open_index(handle), await read_state(handle), await zone_of(handle)
        sizes = await self._sizes(opened) if opened else ()
        budget = handle.table.default_budget_tokens
        if opened is not None:
            budget, _ = opened.index.budget(budget)
        room = await self._joining.state(incoming.room.key)
        sleep, wrong = await self._rest(scope, zone)
        over = await over_budget(handle, [size.page for size in sizes])
        return answers.status_text(
            answers.Status(
                title=incoming.room.title or "This conversation",
                purpose=opened.index.purpose if opened else "",
                zone=str(zone),
                last_flush=answers.flush_time(state.last_flush_time, zone),
                flush_number=state.flush_number,
                unsaved=await _unsaved(handle),
                pending=len(state.pending_items),
                tasks=answers.task_lines(await open_tasks(handle), day_in(zone, handle.clock.now())),
                pages=sizes,
                budget_tokens=budget,
                spent_tokens=talk.session.spent_tokens,
                loaded=talk.session.loaded,
                recorded=room.recorded or incoming.room.kind is RoomKind.DIRECT,
                sleep=sleep,
                usage=await self._usage(handle, zone),
                notes=[*wrong, *(await faults_in(handle))[:FAULTS], *over],
            )
        )

    async def _usage(self, handle: Handle, zone: tzinfo) -> str:
        """What models cost this memory today; nothing to tell without one."""
        if not self._parts.has_model:
            return ""
        today = day_in(zone, handle.clock.now())
        return usage_text([spent for spent in await handle.ledger.usage.spent(today) if spent.day == today])

    async def _rest(self, scope: Scope, zone: tzinfo) -> tuple[str, list[str]]:
        """How the scope's sleep stands, and what is wrong with its last flush and with its sleep."""
        sleeping, troubles = self._saving.sleeping, self._saving.troubles
        trouble = await troubles.of(scope) if troubles is not None else None
        failed = self._saving.trouble(scope) or (trouble_text(trouble.at, trouble.why, zone) if trouble else "")
        notes = [failed] if failed else []
        if sleeping is None:
            return "", notes
        try:
            rest = await sleeping.rest(scope)
        except StoreError as refused:
            return "", [*notes, f"when this memory slept cannot be read: {refused}"]
        times = (rest.last_deep, rest.last_rem, rest.next_at)
        told = rest_text(*times, rest.undigested, zone, on=sleeping.on, undone=rest.undone)
        return told, [*notes, *sleep_notes(rest.trouble, rest.stuck)]

    async def _note(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        kind, text = note_kind(call.argument)
        told = _command_message(incoming, text)
        candidate = _noted_by(told, kind, text)
        if not self.may_keep(candidate.kind, incoming):
            return "On Discord I keep no profiles of people (REMEM_DISCORD_PEOPLE is off), so I wrote nothing."
        page, record = await self._saving.write(scope, candidate, rooms=_rooms(incoming, scope), told=told)
        return noted(candidate, page, record)

    async def _correct(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        parts = split(call.argument)
        if parts is None:
            return answers.missing_text(call.form)
        corrected = await self._saving.correct(scope, parts[0], _command_message(incoming, parts[1]))
        return FLUSHING_NOW if corrected is None else answers.corrected_text(corrected, one_line(parts[0], 80))

    async def _undo(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        undone = await self._saving.undo(scope)
        return FLUSHING_NOW if undone is None else answers.undone_text(undone)

    async def _sleep(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        if self._saving.sleeping is None:
            return NO_MEMORY
        try:
            report = await self._saving.sleeping.now(scope, Stage.DEEP)
        except NoIndex:
            return NO_MEMORY
        return FLUSHING_NOW if report is None else slept_text(report)

    def may_keep(self, kind: Kind, incoming: Incoming) -> bool:
        """What people on Discord say of themselves is kept only if that is switched on (bot.profiles)."""
        return self._parts.people_on_discord or not is_profile(kind, incoming.author.key)

    async def _purpose(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        admin = await self._is_admin(incoming)
        return await self._joining.take_purpose(incoming, scope, call.argument, admin=admin)

    async def _zone(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        zone = zone_named(call.argument)
        if zone is None:
            return f"I know no time zone {one_line(call.argument, 40)!r}; give one such as Europe/Berlin."
        handle = self._parts.handles.open(scope)
        await ensure_index(handle, zone, rooms=_rooms(incoming, scope))
        named = await set_front(handle, "timezone", str(zone))
        if self._saving.sleeping is not None:
            await self._saving.sleeping.moved(scope)
        return f"This memory's time zone is now {named}."

    async def _rule(self, call: Call, incoming: Incoming, scope: Scope, talk: Talk) -> str:
        handle = self._parts.handles.open(scope)
        await ensure_index(handle, handle.host_zone, rooms=_rooms(incoming, scope))
        rule = await set_rule(handle, one_line(call.argument, 300))
        return f"Added to the hard rules: {rule}"


async def _unsaved(handle: Handle) -> int:
    """How many messages of people wait for the next flush."""
    contexts = [await handle.ledger.context(one, tail=0) for one in await handle.ledger.unflushed()]
    return sum(entry.message.voice is Voice.PERSON for context in contexts for entry in context.fresh)


def _rooms(incoming: Incoming, scope: Scope) -> list[RoomKey]:
    """The room that a group's index shall name; a DM's names none."""
    return [incoming.room.key] if isinstance(scope, GroupScope) else []


def _command_message(incoming: Incoming, text: str) -> Message:
    """What a command brings, as the message that it is a source by."""
    return Message(
        key=incoming.message or MessageKey(incoming.event),
        conversation=incoming.conversation,
        author=incoming.author.key,
        author_name=incoming.author.name,
        text=text,
        sent_at=incoming.sent_at,
        room_title=incoming.room.title,
    )


def _noted_by(message: Message, kind: Kind | None, text: str) -> Candidate:
    """The candidate of a note. Without a kind the extraction rules name it; else it is an agreement."""
    guessed = next(iter(candidates_in(Request((message,), direct=True))), None) if kind is None else None
    if guessed is not None and guessed.settled:
        return guessed
    return Candidate(
        kind=kind or Kind.AGREEMENT,
        title=one_line(text, TITLE_CHARACTERS),
        body=one_line(text, BODY_CHARACTERS),
        author=message.author,
        sources=(message.key,),
        value=Value.HIGH if kind is Kind.ARCHITECTURE else Value.MEDIUM,
        tags=tuple(terms(text)[:4]),
        who=message.author_name,
    )
