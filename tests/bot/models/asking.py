"""Questions for the tests of bot.models: a conversation that goes on, and what was disclosed in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from bot.agent import Ask
from memory_core.candidates import Candidate
from memory_core.disclosure import Disclosure, LeftOut, Loaded, Step
from memory_core.errors import BadInput, Denied
from memory_core.ids import Conversation, GroupScope, MessageKey, PageId, PersonKey, RoomKey
from memory_core.layouts import INDEX, Form
from memory_core.ledger.base import Context
from memory_core.messages import Entry, Message, Voice

ROOM = RoomKey("slack:T1:C1")
SCOPE = GroupScope("build")
START = datetime(2026, 11, 30, 14, 2, tzinfo=UTC)
ANA, BEN = PersonKey("slack:T1:U1"), PersonKey("slack:T1:U2")
US = PersonKey("slack:remem:remem")


def disclosure(
    text: str = "Redis holds the sessions.",
    page: str = "experience",
    *,
    step: Step = Step.PAGE,
    left_out: Sequence[LeftOut] = (),
) -> Disclosure:
    """One page, disclosed."""
    form = Form.INDEX if page == INDEX else Form.NEWEST_FIRST
    part = Loaded(PageId(page), step, text, tokens=max(1, len(text) // 4), why="asked for", form=form)
    return Disclosure(SCOPE, "#build", (part,), tuple(left_out))


@dataclass(slots=True)
class Talk:
    """A conversation while it goes on. `thread`: the thread that it is."""

    thread: str = ""
    entries: list[Entry] = field(default_factory=list)
    disclosures: list[Disclosure] = field(default_factory=list)
    shown_at: list[MessageKey] = field(default_factory=list)

    def said(
        self,
        text: str,
        author: PersonKey = ANA,
        *,
        name: str = "",
        voice: Voice = Voice.PERSON,
        reply_to: MessageKey | None = None,
    ) -> Message:
        """Somebody says something."""
        number = len(self.entries) + 1
        message = Message(
            MessageKey(f"{ROOM}:{number}"),
            Conversation(ROOM, self.thread),
            author,
            name or {ANA: "Ana", BEN: "Ben"}.get(author, "remem"),
            text,
            START + timedelta(minutes=number),
            voice,
            reply_to=reply_to,
        )
        self.entries.append(Entry(number, message))
        return message

    def answered(self, message: Message, text: str) -> Message:
        """We answer."""
        return self.said(text, US, voice=Voice.SELF, reply_to=message.key)

    def shows(self, message: Message, *found: Disclosure) -> None:
        """Memory is disclosed at the turn of a message."""
        self.disclosures += found
        self.shown_at += [message.key] * len(found)

    def ask(
        self,
        message: Message | None = None,
        *,
        persona: str = "",
        root: Message | None = None,
        noted: bool = False,
        direct: bool = False,
    ) -> Ask:
        """The question that `message` (the newest without it) is now."""
        message = message or self.entries[-1].message
        return Ask(
            scope=SCOPE,
            message=message,
            disclosures=tuple(self.disclosures),
            shown_at=tuple(self.shown_at),
            context=Context((), tuple(self.entries)),
            title="#build",
            now=message.sent_at,
            root=root,
            noted=noted,
            direct=direct,
            persona=persona,
        )


@dataclass(slots=True)
class Shut:
    """Doors that are shut; they note who knocked. `found`: what a search and a page bring in their order."""

    found: list[Disclosure] = field(default_factory=list)
    knocked: list[tuple[str, str]] = field(default_factory=list)

    async def search(self, words: str) -> Disclosure:
        """What is found next."""
        self.knocked.append(("search", words))
        if not self.found:
            raise Denied("over_budget", "the budget is used up")
        return self.found.pop(0)

    async def open(self, page: PageId) -> Disclosure:
        """What is found next."""
        self.knocked.append(("open", page))
        if not self.found:
            raise Denied("no_route", f"{page!r} is not opened")
        return self.found.pop(0)

    async def tasks(self) -> Disclosure:
        """None is open."""
        self.knocked.append(("tasks", ""))
        raise Denied("missing", "'state/tasks' is not opened: the page does not exist or is empty.")

    async def remember(self, kind: str, text: str) -> Candidate:
        """Nobody said that."""
        self.knocked.append(("remember", text))
        raise BadInput("Nobody here said that.")
