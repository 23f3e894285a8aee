"""What a model answers when it is asked what is worth keeping, and how its answer is read, whatever shape it has.

The schema that the model is given is `Answer`. What comes back is read leniently, because models answer in prose, put
JSON into a fence or behind a sentence, think aloud first, stop in the middle, or use the right keys with wrong types:

    a list under `candidates` (or a name like it), a bare list, one object, objects one a line     read
    JSON that is cut                                     its complete objects are read, `whole` is False
    an optional field of the wrong type                  left empty
    no kind, no text, no source, or of the wrong type    the object is left out and counted
    prose, a refusal, `NO_REPLY`, HTML, nothing          `found` is False: the answer is of no use

Nothing here judges what an answer says: that is bot.models.evidence. Reading never raises, and takes time in
proportion to the length of the text, which is cut at TEXT_LIMIT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, TypeGuard

from pydantic import AliasChoices, BaseModel, BeforeValidator, Field, ValidationError

from bot.models.frames import unframed
from memory_core.layouts import Kind

TEXT_LIMIT = 200_000
DRAFTS = 80
"""So many candidates one answer may hold; what comes after is left out and counted."""
_FAILURES = 64
_FIELD_LIMIT = 2000

_LISTS = ("candidates", "entries", "facts", "items", "memories", "records", "results")
_WRAPPERS = ("arguments", "parameters", "input", "output")
_KINDS = {
    "todo": "task", "to-do": "task", "action": "task", "action_item": "task", "action item": "task",
    "lesson_learned": "lesson", "learning": "lesson", "tech": "stack", "env": "environment", "person": "role",
    "progress": "status", "blocked": "blocker", "convention": "agreement", "rule": "agreement",
}  # fmt: skip
_STATUSES = {
    "open": "pending", "todo": "pending", "doing": "in_progress", "in progress": "in_progress",
    "started": "in_progress", "finished": "done", "complete": "done", "completed": "done", "closed": "done",
}  # fmt: skip
_THOUGHT = re.compile(r"<(think(?:ing)?|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_END = re.compile(r"</(?:think(?:ing)?|reasoning)>", re.IGNORECASE)
"""Chat templates that open the thought themselves leave only its end in the answer."""
_START = re.compile(r"[{\[]")


def _text(given: object) -> str:
    """Printable text on one line; of anything but text, nothing: `{'text': 'x'}` is no statement."""
    if not isinstance(given, str):
        return ""
    line = " ".join(given[:_FIELD_LIMIT].split())
    return "".join(char for char in line if char.isprintable())


def _kind(given: object) -> object:
    name = _text(given).casefold().strip()
    return _KINDS.get(name, name)


def _status(given: object) -> str:
    name = _text(given).casefold()
    name = _STATUSES.get(name, name)
    return name if name in {"pending", "in_progress", "blocked", "done"} else ""


def _sources(given: object) -> list[str]:
    if isinstance(given, str):
        given = re.split(r"[,;\s]+", given[:_FIELD_LIMIT])
    if not isinstance(given, list):
        return []
    return [text.strip("[]()").casefold() for one in given[:20] if (text := _text(one))]


def _settled(given: object) -> bool:
    """Only what says so is settled."""
    return given is True or (isinstance(given, str) and given.strip().casefold() == "true")


_Text = Annotated[str, BeforeValidator(_text)]


class Draft(BaseModel):
    """One fact, as a model tells it; nothing of it is believed."""

    kind: Annotated[Kind, BeforeValidator(_kind)] = Field(description="What sort of fact it is.")
    text: Annotated[str, BeforeValidator(_text), Field(min_length=1)] = Field(
        validation_alias=AliasChoices("text", "body", "content", "fact", "statement"),
        description="The fact in one sentence, in the language and the words of the person who said it.",
    )
    sources: Annotated[list[str], BeforeValidator(_sources), Field(min_length=1)] = Field(
        validation_alias=AliasChoices("sources", "source", "messages", "message_ids", "ids"),
        description="Ids of the messages that carry it (m1, m2, …), first the one that states it.",
    )
    title: _Text = Field("", description="A title of at most 80 characters, in the same language.")
    who: _Text = Field("", description="Whose task, blocker or role it is, by name.")
    status: Annotated[str, BeforeValidator(_status)] = Field(
        "", description="Of a task: pending, in_progress, blocked or done."
    )
    due: _Text = Field("", description="By when, in the words of the message (`by Friday`), or YYYY-MM-DD.")
    project: _Text = Field("", description="The project that is named, if one is.")
    replaces: _Text = Field("", description="Words of the earlier fact that this one takes the place of.")
    settled: Annotated[bool, BeforeValidator(_settled)] = Field(
        True, description="false for a proposal that nobody has agreed to yet, or a task that nobody has taken."
    )


class Answer(BaseModel):
    """The facts of a conversation that are worth keeping; an empty list where there is none."""

    candidates: list[Draft]


@dataclass(frozen=True, slots=True)
class Reading:
    """What was made of an answer. `found`: there was an answer of the asked kind, be it an empty list; `whole`: it
    was not cut; `left_out`: objects that could not be used."""

    drafts: tuple[Draft, ...] = ()
    left_out: int = 0
    found: bool = False
    whole: bool = False


def read(answer: object) -> Reading:
    """An answer of any shape: text, or what a tool was called with. Never raises."""
    if isinstance(answer, str):
        return _read_text(answer)
    listed = _listed(answer)
    return _reading(listed, whole=True) if listed is not None else Reading()


def _read_text(text: str) -> Reading:
    """The first list of candidates in a text; where there is none, its single objects that look like one."""
    text = text[:TEXT_LIMIT]
    text = _THOUGHT.sub("", unframed(text).strip() or text)  # no final frame: the answer may be a call in another
    for end in list(_THOUGHT_END.finditer(text))[-1:]:
        text = text[end.end() :]
    objects: list[object] = []
    empty = broken = False
    for value in _values(text):
        if value is _BROKEN:
            broken = True
        elif (listed := _listed(value)) is None:
            continue
        elif isinstance(value, dict) and _is_draft(value):
            objects.append(value)
        elif listed or isinstance(value, dict):
            return _reading(listed, whole=True)
        else:
            empty = True
    if objects:
        return _reading(objects, whole=not broken)
    return Reading(found=True, whole=True) if empty and not broken else Reading()


_BROKEN = object()


def _values(text: str) -> Iterator[object]:
    """The JSON objects and lists in a text, outermost first; `_BROKEN` for one that does not end."""
    decoder = json.JSONDecoder()
    at, failures = 0, 0
    while failures < _FAILURES and (start := _START.search(text, at)) is not None:
        try:
            value, at = decoder.raw_decode(text, start.start())
            yield value
        except (ValueError, RecursionError):
            at = start.end()
            failures += 1
            yield _BROKEN


def _is_draft(value: Mapping[str, object]) -> bool:
    return "kind" in value and not any(isinstance(value.get(name), list) for name in _LISTS)


def _listed(value: object) -> list[object] | None:
    """The list of candidates in a value; None where it holds none."""
    if isinstance(value, list):
        return value if not value or any(_is_object(one) for one in value) else None
    if not _is_object(value):
        return None
    for name in _LISTS:
        if isinstance(found := value.get(name), list):
            return found
    if _is_draft(value):
        return [value]
    for name in _WRAPPERS:
        if _is_object(inner := value.get(name)):
            return _listed(inner)
    return None


def _is_object(value: object) -> TypeGuard[dict[str, object]]:
    return isinstance(value, dict)


def _reading(listed: list[object], *, whole: bool) -> Reading:
    drafts: list[Draft] = []
    for one in listed[:DRAFTS]:
        try:
            drafts.append(Draft.model_validate(one))
        except ValidationError:
            continue
    return Reading(tuple(drafts), len(listed) - len(drafts), found=True, whole=whole)
