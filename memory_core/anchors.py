"""Anchors: the exact things in a conversation that are hard to find again later.

    file paths         src/app/main.py, ~/notes/plan.md, C:\\Temp\\log.txt
    addresses          https://host/path, 10.0.0.9:5432, localhost:8080
    endpoints          GET /v1/users, POST /hooks
    values             KEY=value, --flag=value
    commits, versions  9f2c1ab (after a word like commit), 40 hexadecimal digits, v2.3.1

Found by form, modestly: one line of the journal each, the first mention only, at most `LIMIT` a flush. A masked
secret is no anchor. Text in pasted blocks counts; the same text a second time does not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from memory_core.messages import Message, Voice
from memory_core.script import fold

LIMIT = 12
"""Anchors of one flush; a conversation that pastes a log is not worth more lines than that."""
_LENGTH = 160
"""Characters of an anchor; what is longer is a text, not an address."""

_END = r"(?=[\s)\]}>,;:!?'\"`。，、；）]|\.(?:\s|$)|$)"
_START = r"(?<![\w/@.:%\\-])"
_FORMS = (
    re.compile(r"https?://[^\s<>|)\]}\"'`。，、；）]{3,}"),
    re.compile(rf"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) /[\w./{{}}:?=&%*-]*{_END}"),
    re.compile(rf"{_START}(?:\.{{1,2}}/|~/|/)?(?:[\w.@+-]+/)+[\w@+-][\w.@+-]*\.[A-Za-z]\w{{0,7}}{_END}"),
    re.compile(rf"{_START}(?:~|/(?:etc|var|usr|opt|home|srv|tmp|mnt|data|root|dev|proc))(?:/[\w.@+-]+)+/?"),
    re.compile(r"\b[A-Za-z]:\\(?:[\w.@ +-]+\\)*[\w.@+-]+"),
    re.compile(rf"{_START}(?:localhost|\d{{1,3}}(?:\.\d{{1,3}}){{3}}|[\w-]+(?:\.[\w-]+)+):\d{{2,5}}{_END}"),
    re.compile(rf"{_START}\d{{1,3}}(?:\.\d{{1,3}}){{3}}{_END}"),
    re.compile(r"(?<![\w=&?-])(?:--[a-z][\w-]+|[A-Z][A-Z0-9_]{2,})=[^\s`'\",;]{1,80}"),
    re.compile(r"\b[0-9a-f]{40}\b"),
    re.compile(
        r"(?i:\b(?:commit|revision|rev|sha|cherry-?pick(?:ed)?|reverted?)\b[ :#@`]{1,3})"
        r"((?=[0-9a-f]*\d)[0-9a-f]{7,40})\b"
    ),
    re.compile(r"(?<![\w.])v\d{1,4}\.\d{1,5}(?:\.\d{1,5})?(?:-[\w.]{1,20})?\b"),
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """One anchor, as it was written, and the message that mentions it first."""

    text: str
    message: Message


def anchors(messages: Iterable[Message]) -> tuple[Anchor, ...]:
    """The anchors that people mentioned, first mentions only, in order, at most LIMIT."""
    found: dict[str, Anchor] = {}
    for message in messages:
        if message.voice is not Voice.PERSON:
            continue
        for text in _in_text(message.text):
            found.setdefault(fold(text), Anchor(text, message))
            if len(found) >= LIMIT:
                return tuple(found.values())
    return tuple(found.values())


def _in_text(text: str) -> tuple[str, ...]:
    """The anchors of one text in order; what stands inside another one is not told twice."""
    hits: list[tuple[int, int, str]] = []
    for form in _FORMS:
        for match in form.finditer(text):
            group = form.groups
            hits.append((match.start(group), match.end(group), match.group(group).rstrip(".,:;")))
    kept: list[tuple[int, int, str]] = []
    for hit in sorted(hits, key=lambda one: (one[0], -one[1])):
        if (not kept or hit[0] >= kept[-1][1]) and len(hit[2]) <= _LENGTH and not _masked(hit[2]):
            kept.append(hit)
    return tuple(dict.fromkeys(hit[2] for hit in kept))


def _masked(text: str) -> bool:
    return "[" in text or "***" in text or "█" in text
