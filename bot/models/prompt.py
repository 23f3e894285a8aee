"""The request to a model: from a question to its messages, in an order of which only the end changes. Pure.

    head      persona · our rules · the protocol of the tools · the place        stable (sent as the instructions)
    items     a thread's root; then the conversation as it is recorded; the message that is answered comes last

A person's message is an item, with its time in the scope's zone and its author; what we answered stands behind the
message that it answers, so that the order is the same whoever spoke meanwhile. What was disclosed stands at the turn
that loaded it: the turn's own before its message, what tools brought behind it. So the items of a turn begin with
those of the turn before, and a provider's cache hits.

Everything that people or pages say is data. It stands in lines of its own: each line of a page begins with `| `,
the lines of a message after its first are indented, and what looks like one of our marks is broken
(bot.models.marks). Only the rules of an index are a group's own rules; they are told again between their own marks.

Everything is counted with the scope's counter times the provider's factor. What does not fit is cut (`fitted`):
oldest conversation first, then the oldest memory, at last the message itself; a line says so. The cut moves in steps
of a quarter of the room, so that it does not move at every turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelRequestPart, ModelResponse, TextPart, UserPromptPart

from bot.agent import Ask
from bot.models.marks import MEMORY, RULES, block, data, indented, label
from bot.models.words import DEFAULT_PERSONA, OUR_RULES, PROTOCOL
from memory_core.disclosure import Disclosure, Loaded
from memory_core.ids import MessageKey, PersonKey
from memory_core.index_lines import Part, outline
from memory_core.layouts import INDEX
from memory_core.loading.budget import SMALLEST_TOKENS
from memory_core.messages import Message, Voice
from memory_core.text import counted
from memory_core.tokens import Counter, cut

PER_ITEM_TOKENS = 6
"""What a provider adds to each message: its role, its ends."""
PERSONA_SHARE = 0.25
"""Which part of the window SOUL.md may take."""
PERSONA_GOES_ON = "[SOUL.md goes on; it does not fit into the model's window]"
STEPS = 4
"""In so many steps of the room the cut moves."""
GOES_ON = "[the conversation goes on]"
_MESSAGE_GOES_ON = "\n  [the message goes on; the rest does not fit into the request]"
_LARGE = 9_999
"""A number as long as those in our lines become."""
_LEFT_OUT_LINES = 6


class ItemKind(StrEnum):
    """What an item is: who says it, and when it may be cut."""

    SAID = "said"
    OURS = "ours"
    MEMORY = "memory"
    RULES = "rules"
    NOTE = "note"
    """A word of ours that is true for this turn only."""


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a request."""

    kind: ItemKind
    text: str


@dataclass(frozen=True, slots=True)
class Measure:
    """Counts as the provider does: our counter times its factor, rounded up."""

    counter: Counter
    factor: float = 1.0

    def text(self, text: str) -> int:
        """The tokens of a text."""
        return math.ceil(self.counter.count(text) * self.factor)

    def item(self, item: Item) -> int:
        """The tokens of an item, its role included."""
        return self.text(item.text) + PER_ITEM_TOKENS

    def cut(self, text: str, limit_tokens: int) -> str:
        """The beginning of a text that has at most so many tokens."""
        return cut(text, max(0, math.floor(limit_tokens / self.factor)), self.counter)


def head(ask: Ask, measure: Measure, persona_tokens: int) -> str:
    """Persona, our rules, the protocol, the place: stable. A persona that is too long is cut, and says so."""
    persona = ask.persona.strip() or DEFAULT_PERSONA
    if measure.text(persona) > persona_tokens:
        kept = measure.cut(persona, persona_tokens - measure.text(PERSONA_GOES_ON) - 1)
        persona = f"{kept}\n{PERSONA_GOES_ON}".strip()
    title = label(ask.title)
    place = "This is a private conversation with one person." if ask.direct else f"This is the group {title}."
    return framed(persona, place)


def framed(persona: str, place: str) -> str:
    """Our rules and the protocol between a persona and a place."""
    return "\n\n".join([persona, OUR_RULES, PROTOCOL, place])


def items(ask: Ask, missing: set[str] | None = None) -> tuple[Item, ...]:
    """The conversation with its disclosures, oldest first; the message that is answered is the last.

    `missing` takes up what is said not to be shown.
    """
    names, missing = _Names(), set[str]() if missing is None else missing
    told: list[Item] = []
    at = _shown(ask)
    if (root := _root(ask)) is not None:
        told.append(_item(ask, root, names))
    told += _all_shown(at.get(None, ()), missing)
    for message in _in_order(ask):
        own, *brought = at.get(message.key, ()) or (None,)
        told += shown(own, missing) if own is not None else ()
        told.append(_item(ask, message, names))
        told += _all_shown(brought, missing)
    told += _all_shown(at.get(ask.message.key, ()), missing)
    told += _notes(ask, root, names)
    return (*told, _item(ask, ask.message, names))


def shown(disclosure: Disclosure, missing: set[str]) -> tuple[Item, ...]:
    """What a disclosure shows, as data with page, step and source; a group's rules for themselves.

    What it could not show is said once: `missing` is what was said before, and takes up what is said now.
    """
    found = [item for part in disclosure.loaded for item in _part(disclosure, part)]
    left = _left_out(disclosure, missing)
    return (*found, *([Item(ItemKind.MEMORY, left)] if left else []))


def _all_shown(disclosures: Sequence[Disclosure], missing: set[str]) -> list[Item]:
    return [item for disclosure in disclosures for item in shown(disclosure, missing)]


def _part(disclosure: Disclosure, part: Loaded) -> Iterator[Item]:
    marks = {"page": part.page, "step": part.step.value, "source": disclosure.title}
    yield Item(ItemKind.MEMORY, block(MEMORY, part.text, marks | ({"shown": "in part"} if part.cut else {})))
    if part.page == INDEX and (rules := _rules(part.text)):
        yield Item(ItemKind.RULES, block(RULES, rules, {"source": disclosure.title}))


def _rules(index: str) -> str:
    """The hard rules of an index, as they stand; '' where it has none."""
    lines = [line.text for line in outline(index) if line.part is Part.RULES and line.live and line.text.strip()]
    return "\n".join(lines)


def _left_out(disclosure: Disclosure, missing: set[str]) -> str:
    """What was not shown for want of room, in a few lines, but for what was said to be missing; '' for nothing."""
    lines = [f"{part.page}: {part.what}: {part.why}" for part in disclosure.left_out]
    lines = [line for line in dict.fromkeys(lines) if line not in missing]
    missing.update(lines)
    more = [f"and {len(lines) - _LEFT_OUT_LINES} more"] if len(lines) > _LEFT_OUT_LINES else []
    told = "\n".join(["[not shown:", *lines[:_LEFT_OUT_LINES], *more, "]"])
    return block(MEMORY, told, {"source": disclosure.title}) if lines else ""


def _shown(ask: Ask) -> dict[MessageKey | None, list[Disclosure]]:
    """The disclosures by the message at whose turn they were made; one whose message is gone stays in its order."""
    standing = {message.key for message in _in_order(ask)} | {ask.message.key}
    at: dict[MessageKey | None, list[Disclosure]] = {}
    last: MessageKey | None = None
    for disclosure, key in zip(ask.disclosures, ask.shown_at, strict=False):
        last = key if key in standing else last
        at.setdefault(last, []).append(disclosure)
    return at


def _in_order(ask: Ask) -> list[Message]:
    """What was said before the message, ours behind what it answers."""
    entries = [*ask.context.tail, *ask.context.fresh]
    until = next((entry.seq for entry in entries if entry.message.key == ask.message.key), math.inf)
    before = [e.message for e in entries if e.seq < until and e.message.voice is not Voice.SELF]
    standing = {message.key for message in before}
    answers: dict[MessageKey, list[Message]] = {}
    order: list[Message] = []
    for entry in entries:
        message = entry.message
        if message.voice is Voice.SELF and message.reply_to in standing and message.reply_to is not None:
            answers.setdefault(message.reply_to, []).append(message)
    for entry in entries:
        message = entry.message
        if message.key in standing:
            order += [message, *answers.get(message.key, ())]
        elif message.voice is Voice.SELF and message.reply_to not in standing and entry.seq < until:
            order.append(message)
    return [message for message in order if message.text.strip()]


def _root(ask: Ask) -> Message | None:
    """What a thread hangs on, where the thread does not hold it itself."""
    root = ask.root
    if root is None or not ask.message.conversation.thread or root.conversation == ask.message.conversation:
        return None
    return root


def _notes(ask: Ask, root: Message | None, names: _Names) -> Iterator[Item]:
    """What is true for this turn only: what the message replies to, where that is out of sight; what was noted."""
    replied = ask.root
    if replied is not None and root is None and replied.key not in {message.key for message in _in_order(ask)}:
        said = _item(ask, replied, names).text
        yield Item(ItemKind.NOTE, f"[the next message replies to this one:\n{indented(said)}\n]")
    if ask.noted:
        yield Item(
            ItemKind.NOTE, "[remem has noted what the next message asks it to keep; the answer says so by itself]"
        )


def _item(ask: Ask, message: Message, names: _Names) -> Item:
    if message.voice is Voice.SELF:
        return Item(ItemKind.OURS, data(message.text))
    at = message.sent_at.astimezone(ask.now.tzinfo)
    name = names.of(message)
    return Item(ItemKind.SAID, f"[{at:%Y-%m-%d %H:%M}] {name}: {indented(data(message.text))}")


class _Names:
    """Names are for eyes, ids decide: a second person of the same name is told with its id."""

    def __init__(self) -> None:
        self._holders: dict[str, PersonKey] = {}

    def of(self, message: Message) -> str:
        """The name under which the author of a message is told."""
        name = label(message.author_name) or "somebody"
        told = (
            name if self._holders.setdefault(name, message.author) == message.author else f"{name} ({_id(message)})"
        )
        return f"{told} (an app)" if message.voice is Voice.BOT else told


def _id(message: Message) -> str:
    return label(message.author.native)


# -- what fits ------------------------------------------------------------------------------------------------------


def fitted(told: Sequence[Item], room_tokens: int, measure: Measure) -> tuple[Item, ...]:
    """As much of the items as `room_tokens` hold, with a line for what is left out; the last is cut at its end.

    Nothing where not even a word of the last one fits: such a room is too small for any question.
    """
    counted = [measure.item(item) for item in told]
    over = sum(counted) - room_tokens
    if over <= 0:
        return tuple(told)
    talk = [at for at, item in enumerate(told[:-1]) if item.kind in (ItemKind.SAID, ItemKind.OURS, ItemKind.NOTE)]
    memory = [at for at, item in enumerate(told[:-1]) if item.kind is ItemKind.MEMORY]
    rules = [at for at, item in enumerate(told[:-1]) if item.kind is ItemKind.RULES]
    line_tokens = measure.item(_cut_line(len(told), len(told)))
    step = max(1, room_tokens // STEPS)
    gone = _oldest(talk, counted, math.ceil((over + line_tokens) / step) * step)
    over += line_tokens - sum(counted[at] for at in gone)
    for more in (memory, rules):
        dropped = _oldest(more, counted, over)
        gone |= dropped
        over -= sum(counted[at] for at in dropped)
    left = [item for at, item in enumerate(told) if at not in gone]
    if over > 0:
        left[-1] = _shortened(told[-1], counted[-1] - over, measure)
        if not left[-1].text:
            return ()
    if gone:
        missing = sum(at in gone for at in talk)
        left.insert(min(gone), _cut_line(missing, len(gone) - missing))  # in the place of the first
    return tuple(left)


def _oldest(of: Sequence[int], counted: Sequence[int], tokens: int) -> set[int]:
    """The first of `of` that have so many tokens together; all of them where they have not."""
    gone: set[int] = set()
    for at in of:
        if tokens <= 0:
            break
        gone.add(at)
        tokens -= counted[at]
    return gone


def least_question_tokens(measure: Measure) -> int:
    """The room of a conversation in which a question can be asked: a cut message, and the line for what is gone."""
    cut_tokens = SMALLEST_TOKENS + measure.text(_MESSAGE_GOES_ON) + PER_ITEM_TOKENS
    return measure.item(_cut_line(_LARGE, _LARGE)) + cut_tokens


def _cut_line(messages: int, pages: int) -> Item:
    what = [counted(messages, "earlier message")] if messages else []
    what += [counted(pages, "piece of memory shown earlier")] if pages else []
    return Item(ItemKind.NOTE, f"[left out here, because the request would be too long: {' and '.join(what)}]")


def _shortened(item: Item, room_tokens: int, measure: Measure) -> Item:
    text = measure.cut(item.text, room_tokens - PER_ITEM_TOKENS - measure.text(_MESSAGE_GOES_ON) - 1)
    return replace(item, text=f"{text}{_MESSAGE_GOES_ON}" if text else "")


def messages(told: Sequence[Item]) -> list[ModelMessage]:
    """The items as the library's messages: ours are the assistant's turns, everything else is said to it."""
    found: list[ModelMessage] = []
    parts: list[ModelRequestPart] = []
    if told and told[0].kind is ItemKind.OURS:  # providers want a request first
        parts.append(UserPromptPart(GOES_ON))
    for item in told:
        if item.kind is not ItemKind.OURS:
            parts.append(UserPromptPart(item.text))
            continue
        if parts:
            found.append(ModelRequest(parts=parts))
            parts = []
        found.append(ModelResponse(parts=[TextPart(item.text)]))
    return [*found, ModelRequest(parts=parts)] if parts else found
