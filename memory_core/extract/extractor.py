"""The default extractor: rules only, pure, the same answer for the same messages.

`candidates_in` reads a conversation (memory_core.extract.talk) and turns what stands at its end into candidates:
settled where the bar of its kind is met, unsettled where a proposal found no answer, nothing else. `at_once` looks at
one message alone and answers only for what cannot wait: explicit decisions, wishes to remember, changes of tasks.
`retracted_in` tells which messages were taken back, for whoever wrote them down at once.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from memory_core.candidates import Candidate, Request, Value
from memory_core.extract import cues_talk
from memory_core.extract.addressing import unaddressed
from memory_core.extract.cue import Firmness
from memory_core.extract.finding import DECIDING, WORKING, Finding, finding_in
from memory_core.extract.item import Item, new_item
from memory_core.extract.talk import Talk, read
from memory_core.extract.text import one_line, sentences, title_of
from memory_core.extract.words import tags_of
from memory_core.ids import MessageKey
from memory_core.layouts import Kind
from memory_core.messages import Message, Voice

_PROJECT = re.compile(
    r"(?:\bproject|\bprojekt|项目|プロジェクト)\s*[:：“\"'`「]?\s*((?-i:[A-Z0-9])[\w-]{1,39})", re.IGNORECASE
)
_MENTION = re.compile(r"\s*(?<!\w)@[^\s,.:;，。：；、]{1,40}")
_MENTIONS_FIRST = re.compile(r"^(?:\s*@[^\s,.:;，。：；、]{1,40}[\s,:，：、]+)+(?=\w)")
_AT_ONCE = frozenset({Kind.DECISION, Kind.TASK})


class RulesExtractor:
    """The rules as an `Extractor`; never raises."""

    async def extract(self, request: Request) -> Sequence[Candidate]:
        """The candidates of one conversation, in the order in which they were said."""
        return candidates_in(request)


def candidates_in(request: Request) -> tuple[Candidate, ...]:
    """The candidates of one conversation, in the order in which they were said.

    Only messages of persons in `request.messages` are cited. A fact that `request.before` stated and `messages`
    settled, changed or corrected cites the messages that did so.
    """
    talk = _read(request)
    first = len(request.before)
    found = [_candidate(item, talk, first) for item in sorted(talk.items, key=lambda item: item.at)]
    return tuple(candidate for candidate in found if candidate is not None)


def retracted_in(request: Request) -> tuple[MessageKey, ...]:
    """The messages whose statement was taken back or replaced later in the conversation, in their order."""
    talk = _read(request)
    return tuple(talk.messages[position].key for position in sorted(set(talk.retracted)))


def at_once(message: Message, *, direct: bool) -> tuple[Candidate, ...]:
    """What `message` alone says that cannot wait, in its order: explicit decisions, `remember …`, changes of tasks.

    Fast: most messages of a group cost one search. `direct`: said in a 1:1 DM.
    """
    if message.voice is not Voice.PERSON or not (direct or _URGENT.search(message.text)):
        return ()
    return urgent_in(message, direct=direct)


def urgent_in(message: Message, *, direct: bool) -> tuple[Candidate, ...]:
    """What `at_once` answers, without its first quick look."""
    said = (finding_in(sentence, message, direct=direct) for sentence in sentences(message.text))
    items = [new_item(found, 0, message.author) for found in said if found is not None and _cannot_wait(found)]
    talk = Talk((message,), direct)
    urgent = [one for item in items if item.settled and (one := _candidate(item, talk, 0)) is not None]
    return _as_heard(urgent, candidates_in(Request((message,), direct=direct))) if urgent else ()


def _as_heard(urgent: Sequence[Candidate], every: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The urgent statements as the flush will say them (words of a retraction cut off): one record each, not two.

    What the message itself takes back, or says again, is none of `every`. Whether the flush tells it in other words
    is asked where they are the first to be told of the message, or a part of its own.
    """
    found = {every.index(one) for one in urgent if one in every}
    for one in urgent:
        if one not in every:
            alike = [at for at, other in enumerate(every) if at not in found and other.kind is one.kind]
            part = next((at for at in alike if every[at].body.casefold() in one.body.casefold()), None)
            if part is None and not found:
                part = next(iter(alike), None)
            if part is not None:
                found.add(part)
    return tuple(every[at] for at in sorted(found))


def _cannot_wait(found: Finding) -> bool:
    if found.marked:
        return True
    if found.kind is Kind.TASK:
        return found.label or found.status == "done"
    return found.kind in _AT_ONCE and found.settles


def _read(request: Request) -> Talk:
    return read((*request.before, *request.messages), direct=request.direct, first=len(request.before))


def _candidate(item: Item, talk: Talk, first: int) -> Candidate | None:
    """The candidate of an item; None where it misses its bar or nothing in `messages` bears it."""
    sources = tuple(talk.messages[at].key for at in item.sources if at >= first)
    if item.dropped or not sources or not _worth(item):
        return None
    found = item.finding
    author = next(m.author for m in talk.messages if m.key == sources[0])
    names = frozenset(message.author_name.casefold() for message in talk.messages)
    body = one_line(unaddressed(found.text, names), 600).rstrip(" ;；") or one_line(found.text, 600)
    if found.kind is Kind.TASK:
        body = _MENTIONS_FIRST.sub("", body)
    title = title_of(_MENTION.sub("", body) if found.kind is Kind.TASK else body)
    tags = tags_of(_MENTION.sub("", body))
    if found.claimed:
        body = f"@{talk.messages[item.at].author_name} says: {body}"
    return Candidate(
        kind=found.kind,
        title=title or title_of(body),
        body=body,
        author=author,
        sources=sources,
        value=_value(found),
        tags=tags,
        settled=item.settled,
        who=found.who,
        status=found.status,
        due=_due(found),
        project=_project(found.text),
        corrects=title_of(item.corrects) if item.corrects else "",
    )


def _worth(item: Item) -> bool:
    """Settled, or promising: an open proposal that nobody objected to, a task whose owner is not named yet."""
    if item.settled:
        return True
    found = item.finding
    if item.objections or len(item.words) < 2:
        return False
    if found.kind in WORKING:
        return found.label or found.due is not None
    return found.firmness in {Firmness.PROPOSED, Firmness.COMMITTED}


def _value(found: Finding) -> Value:
    if found.kind in {Kind.ENVIRONMENT, Kind.TOOL} or found.claimed:
        return Value.LOW
    heavy = cues_talk.IMPORTANT.search(found.text) or found.kind is Kind.ARCHITECTURE
    if found.kind in DECIDING and (heavy or cues_talk.ARCHITECTURAL.search(found.text)):
        return Value.HIGH
    return Value.HIGH if found.marked and cues_talk.IMPORTANT.search(found.text) else Value.MEDIUM


def _due(found: Finding) -> date | None:
    return found.due if found.kind in WORKING else None


def _project(text: str) -> str:
    named = _PROJECT.search(text)
    return named[1] if named else ""


_URGENT = re.compile(
    r"decid|decision|approved|confirmed|moved|moves to|changes to|changed to|pushed|postponed|shifted|"
    r"scheduled|set to|set for|is now"
    r"|resolved|settled|voted|chose|going with|sticking with|staying with|final answer|remember|"
    r"note|keep in mind"
    r"|forget|to-?do|task|action|done|finish|complete|deployed|migrated|shipped|released|merged|live|fixed"
    r"|决|定|拍板|结论|改到|改为|推迟|提前|调整|延期|批|记|备忘|忘|牢记|待办|待辦|任务|待处理|行动项|完成|搞定|"
    r"上线|发布|做完|"
    r"改完|修好|发给|提交|合并|部署|迁移"
    r"|決|結論|覚え|メモ|タスク|やること|宿題|完了|終わ|対応しました|にしました|リリース"
    r"|beschl|entsch|festgelegt|wir nehmen|bleiben bei|merk|vergessen|denk|notier|aufgabe|zu tun|erledigt|"
    r"fertig|umgestellt|ausgerollt|genehmigt|verschoben|gelegt|gesetzt|live",
    re.IGNORECASE,
)
"""In a group nothing is told at once without one of these."""
