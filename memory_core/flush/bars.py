"""The bars of the flush, checked by code whoever extracted: what a candidate must show to be written.

    not from this request, not from a person, not by its author     dropped: invented or nobody's word
    decision        an explicit form, or another person's part in it; in a DM the person's own word
    agreement, stack, architecture      said in two messages, or an explicit form
    task            with who; status, blocker: the speaker's own where nobody is named
    role            about the speaker, else kept as the speaker's claim ("@ana says: …"), never in place of another
    everything      not unsettled by the extractor itself

What misses its bar is unsettled and goes to the pending items. The bot's words, other bots' words and messages before
the cursor are never a source. The weight is ours too: LOW for environment and tools, HIGH only for what decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, tzinfo

from memory_core.candidates import Candidate, Request, Value
from memory_core.clock import day_in
from memory_core.extract.finding import finding_in
from memory_core.extract.text import sentences
from memory_core.flush.sameness import best, stated, words
from memory_core.forms.records import Source
from memory_core.ids import DirectScope, Scope
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice
from memory_core.pleasantry import is_pleasantry
from memory_core.script import fold

_SHARED = frozenset({Kind.AGREEMENT, Kind.STACK, Kind.ARCHITECTURE})
_WEIGHTY = frozenset({Kind.DECISION, Kind.LESSON, *_SHARED})
_SPEAKERS = frozenset({Kind.STATUS, Kind.BLOCKER})


@dataclass(frozen=True, slots=True)
class Fact:
    """A candidate whose sources were checked. `day` (in the scope's zone) and `said_at` are its first message's.

    `claimed`: somebody says it of another person; it never takes the place of what that person said.
    """

    kind: Kind
    title: str
    body: str
    value: Value
    sources: tuple[Source, ...]
    day: date
    said_at: datetime
    settled: bool
    tags: tuple[str, ...] = ()
    who: str = ""
    status: str = ""
    due: date | None = None
    project: str = ""
    corrects: str = ""
    claimed: bool = False

    @property
    def text(self) -> str:
        """Title and body, for comparing."""
        return stated(self.title, self.body)


def checked(candidate: Candidate, request: Request, zone: tzinfo, scope: Scope) -> Fact | None:
    """The candidate as a fact, settled if it meets its bar; None for one that nobody here said."""
    known = {message.key: message for message in request.messages if message.voice is Voice.PERSON}
    said = [known[key] for key in dict.fromkeys(candidate.sources) if key in known]
    if not said or said[0].key != candidate.sources[0] or said[0].author != candidate.author:
        return None
    if is_pleasantry(candidate.body):
        return None
    return fact_of(candidate, said, zone, scope, settled=_meets(candidate, said, request))


def fact_of(candidate: Candidate, said: list[Message], zone: tzinfo, scope: Scope, *, settled: bool) -> Fact:
    """The candidate with the messages that carry it, the first one its author's."""
    first = said[0]
    who = candidate.who or (first.author_name if candidate.kind in _SPEAKERS else "")
    claimed = candidate.kind is Kind.ROLE and bool(who) and fold(who.lstrip("@")) != fold(first.author_name)
    body = candidate.body
    if claimed and not body.startswith("@"):
        body = f"@{first.author_name} says: {body}"
    return Fact(
        kind=candidate.kind,
        title=candidate.title or candidate.body,
        body=body,
        value=Value.LOW if claimed else _value(candidate),
        sources=tuple(source_of(message, zone, scope) for message in said),
        day=day_in(zone, first.sent_at),
        said_at=first.sent_at,
        settled=settled,
        tags=candidate.tags,
        who=who,
        status=candidate.status,
        due=candidate.due,
        project=candidate.project,
        corrects=candidate.corrects,
        claimed=claimed or body.startswith("@"),
    )


def source_of(message: Message, zone: tzinfo, scope: Scope) -> Source:
    """The source line of one message: who, where, when in the scope's zone, and its key."""
    place = "DM" if isinstance(scope, DirectScope) else message.room_title or message.conversation.room
    if message.conversation.thread and not isinstance(scope, DirectScope):
        place += f" thread {message.conversation.thread}"
    at = f"{message.sent_at.astimezone(zone):%Y-%m-%d %H:%M}"
    return Source(message.author, message.author_name or message.author.native, place, at, (message.key,))


def _meets(candidate: Candidate, said: list[Message], request: Request) -> bool:
    """Does a candidate that its extractor calls settled meet the bar of its kind?"""
    if not candidate.settled:
        return False
    if candidate.kind is Kind.TASK:
        return bool(candidate.who)
    if request.direct or candidate.kind not in (Kind.DECISION, *_SHARED):
        return True
    borne = len(said) if candidate.kind in _SHARED else len({message.author for message in said})
    return borne > 1 or _explicit(said, request) or _joined(candidate, said[0], request)


def _explicit(said: list[Message], request: Request) -> bool:
    """Does one of the messages have a form that settles by itself ("we decided", "decision:", 决定 …)?"""
    return any(
        found.settles
        for message in said
        for sentence in sentences(message.text)
        if (found := finding_in(sentence, message, direct=request.direct)) is not None
    )


def _joined(candidate: Candidate, message: Message, request: Request) -> bool:
    """Did another person speak of the same matter before this message, or is it an answer to one?

    A proposal may lie before the cursor, where it cannot be cited, and its acceptance after it.
    """
    earlier: list[Message] = []
    for one in (*request.before, *request.messages):
        if one.key == message.key:
            break
        if one.voice is Voice.PERSON and one.author != message.author:
            earlier.append(one)
    if any(one.key == message.reply_to for one in earlier):
        return True
    return best(words(candidate.body), ((one, words(one.text)) for one in earlier)) is not None


def _value(candidate: Candidate) -> Value:
    if candidate.kind in {Kind.ENVIRONMENT, Kind.TOOL}:
        return Value.LOW
    if candidate.kind is Kind.ARCHITECTURE and candidate.value is not Value.LOW:
        return Value.HIGH
    return candidate.value if candidate.kind in _WEIGHTY or candidate.value is Value.LOW else Value.MEDIUM
