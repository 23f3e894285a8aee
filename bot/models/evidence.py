"""A model's draft as a candidate: what it claims is held against the messages that it cites, by code.

    sources    only messages of persons that the model was shown with an id; an id that does not exist is dropped, a
               draft without one is left out. First stands the message that states the fact: the first that was
               cited, unless only another one shares a word with it. Its author is the author
    text       must be borne by the cited messages: most telling words and every number stand in them. Where they do
               not (translated, embellished, invented), the first message's own words are taken, unsettled; a message
               that says nothing itself (a quotation, a paste) bears nothing
    due        from memory_core.extract.dates alone, seen from the day of the message: the model may point at the
               words, never name the day
    who        somebody of the conversation, or a name that stands in the cited messages
    value      HIGH by the same words as for the rules
    replaces, project    only words that somebody said
    all text   one line, capped, printable, secrets masked (again: the ledger has masked what people wrote)

The bars of the flush (memory_core.flush.bars) come after this, for whoever extracted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date

from bot.models.schema import Draft
from memory_core.candidates import TITLE_CHARACTERS, Candidate, Request, Value
from memory_core.extract import cues_talk
from memory_core.extract.addressing import unaddressed
from memory_core.extract.dates import due_in
from memory_core.extract.finding import DECIDING, WORKING
from memory_core.extract.text import one_line, sentences, title_of
from memory_core.extract.words import overlap, shared, tags_of, topic
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice
from memory_core.redact.mask import mask
from memory_core.script import fold

BODY_CHARACTERS = 600
_OWN_CHARACTERS = 300
_NAME_CHARACTERS = 80
SOURCES = 5
"""So many messages one candidate cites at most."""
_BORNE = 0.4
"""The share of a text's telling words that must stand in the cited messages."""
_NUMBER = re.compile(r"\d+")
_SELF = frozenset({"me", "i", "myself", "speaker", "ich", "mich", "我", "私", "僕", "俺"})
_NAMES = re.compile(r"\s*(?:[,，、/&]|\band\b|\bund\b|和|と)\s*")
_STATUS = {Kind.TASK: "pending", Kind.BLOCKER: "blocked", Kind.STATUS: "in_progress"}


def candidate_of(draft: Draft, shown: Mapping[str, Message], request: Request) -> Candidate | None:
    """The draft as a candidate; None where nothing that was shown bears it. `shown`: what the ids stand for."""
    said = _cited(draft, shown)
    if not said:
        return None
    body, borne = _body(draft, said, request)
    if not body:
        return None
    working = draft.kind in WORKING
    status = (draft.status or _STATUS[draft.kind]) if working else ""
    return Candidate(
        kind=draft.kind,
        title=_title(draft, body, said),
        body=body,
        author=said[0].author,
        sources=tuple(message.key for message in said),
        value=_value(draft.kind, body),
        tags=tags_of(body),
        settled=draft.settled and borne,
        who=_who(draft, said, request),
        status=status,
        due=due_of(draft.due, body, said) if working and status != "done" else None,
        project=_project(draft, said),
        corrects=_replaced(draft, request),
    )


def _cited(draft: Draft, shown: Mapping[str, Message]) -> list[Message]:
    """The cited messages, first the one that states the fact."""
    said = [shown[handle] for handle in dict.fromkeys(draft.sources) if handle in shown][:SOURCES]
    words = topic(draft.text)
    if said and not shared(topic(said[0].text), words):
        said.sort(key=lambda message: shared(topic(message.text), words) == 0)
    return said


def _body(draft: Draft, said: Sequence[Message], request: Request) -> tuple[str, bool]:
    """What is kept as text, and whether the cited messages bear what the model said."""
    names = frozenset(message.author_name.casefold() for message in (*request.before, *request.messages))
    text = unaddressed(draft.text, names).lstrip("@ ")
    if text and _is_borne(text, said):
        return one_line(mask(text).text, BODY_CHARACTERS), True
    own = " ".join(sentence.text for sentence in sentences(said[0].text) if not sentence.question)
    return one_line(mask(unaddressed(own, names).lstrip("@ ")).text, _OWN_CHARACTERS), False


def _is_borne(text: str, said: Sequence[Message]) -> bool:
    """Do most telling words of `text` stand in the messages, and all its numbers, dates told out included?"""
    there = " ".join(f"{message.author_name} {message.text}" for message in said)
    words = topic(text)
    if not words:
        return fold(text) in fold(there)
    numbers = set(_NUMBER.findall(fold(text))) - set(_NUMBER.findall(fold(there)))
    for day in _dates(said):
        numbers -= {f"{day.year}", f"{day.month}", f"{day.month:02}", f"{day.day}", f"{day.day:02}"}
    return not numbers and shared(words, topic(there)) >= _BORNE * len(words)


def _dates(said: Sequence[Message]) -> list[date]:
    """The dates that the messages name, each seen from its message's day."""
    found = (due_in(part.text, message.sent_at.date()) for message in said for part in sentences(message.text))
    return [day for day in found if day is not None]


def due_of(told: str, body: str, said: Sequence[Message]) -> date | None:
    """By when: a date that the cited messages name, the one that `told` points at; None where they name none."""
    named = _dates(said)
    if not named:
        return None
    if told:
        # `told` may be the message's words, or the day that the model made of them: it only chooses.
        pointed = next(
            (due_in(told, message.sent_at.date()) for message in said if fold(told) in fold(message.text)), None
        )
        chosen = pointed or due_in(told, said[0].sent_at.date())
        return chosen if chosen in named else named[0]
    here = due_in(body, said[0].sent_at.date())
    return here if here in named else None


def _title(draft: Draft, body: str, said: Sequence[Message]) -> str:
    title = mask(draft.title).text
    if title and len(title) <= TITLE_CHARACTERS and _is_borne(title, said):
        return title_of(title)
    return title_of(body)


def _value(kind: Kind, body: str) -> Value:
    if kind in {Kind.ENVIRONMENT, Kind.TOOL}:
        return Value.LOW
    heavy = kind is Kind.ARCHITECTURE or cues_talk.IMPORTANT.search(body) or cues_talk.ARCHITECTURAL.search(body)
    return Value.HIGH if kind in DECIDING and heavy else Value.MEDIUM


def _who(draft: Draft, said: Sequence[Message], request: Request) -> str:
    """The persons that the draft names, as the conversation calls them; nobody whom nobody named."""
    known = {fold(message.author_name): message.author_name for message in (*request.before, *request.messages)}
    there = fold(" ".join(message.text for message in said))
    found: dict[str, None] = {}
    for name in _NAMES.split(mask(draft.who).text[: 2 * _NAME_CHARACTERS]):
        name = name.strip().lstrip("@")
        folded = fold(name)
        if folded in _SELF:
            found[said[0].author_name] = None
        elif folded in known:
            found[known[folded]] = None
        elif folded and folded in there:
            found[name] = None
    if not found and request.direct and draft.kind in WORKING:
        return said[0].author_name
    return ", ".join(found)[:_NAME_CHARACTERS]


def _project(draft: Draft, said: Sequence[Message]) -> str:
    name = mask(draft.project).text[:40]
    return name if name and fold(name) in fold(" ".join(message.text for message in said)) else ""


def _replaced(draft: Draft, request: Request) -> str:
    words = topic(draft.replaces)
    persons = (one for one in (*request.before, *request.messages) if one.voice is Voice.PERSON)
    if not words or not any(overlap(words, topic(message.text)) >= 0.5 for message in persons):
        return ""
    return title_of(mask(draft.replaces).text)
