"""The offline agent: rules only, no model. It quotes what was disclosed, with its source, and says what it is.

It looks for the parts of the disclosed pages, and of this conversation, that share the question's words, and quotes
the best. Where the question only named a topic ("what is open?"), it shows the beginning of the page that the index
led to. It never guesses: what it does not find it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.agent import Ask, Doors, Reply, Show
from memory_core.answers import quoted
from memory_core.asking import is_question
from memory_core.disclosure import Disclosure, Loaded, Step
from memory_core.errors import Denied
from memory_core.forms.units import Unit, units_of
from memory_core.ids import PageId
from memory_core.layouts import INDEX, Form
from memory_core.loading.later import CHANGED, is_gone_line
from memory_core.messages import Message, Voice
from memory_core.pleasantry import is_pleasantry
from memory_core.search import QUESTION, TALK, Hit, Placed, rank, strong
from memory_core.terms import asked, terms
from memory_core.text import one_line

QUOTED = 3
"""How many parts of memory one answer quotes at most."""
SHOWN = 6
"""How many parts of a page are shown where the question names only the topic."""
_SHARE = 0.34
"""Which part of the question's words a quoted part must hold, where it holds but one of them."""
_SAID = PageId("conversation")
_ASKS_WHAT_WE_SAID = re.compile(
    r"\b(?:did|have) you (?:just )?(?:say|said|list|listed|write|written|answer|answered|tell|told)\b"
    r"|\byou (?:just )?(?:said|listed|wrote|answered|told|mean|meant)\b|\byour (?:last )?(?:answer|list|words)\b",
    re.IGNORECASE,
)
_OWN_LINE = re.compile(r"- (?:last flush|pending): ")
"""What remem itself notes in the environment snapshot: no fact of the room."""
_ASIDE = re.compile(r"\n\((?:@|replaces: |in conflict with: )[^\n]*\)|[ \t]\(@[^()\n]*\)$", re.MULTILINE)
"""The source of a part, and what it replaces or contradicts, as they are disclosed."""
_BOARDS = frozenset({Form.ATTENTION, Form.ACTIVE, Form.CHANNEL})
"""The pages of what is being done, in which remem notes its own flushes."""
_OPEN = _BOARDS | {Form.STATE}
"""The pages of what is open, the list of tasks too."""
_ROUTED = frozenset({Step.PAGE, Step.LAYER_1, Step.OPEN, Step.CONVENTION, Step.TASKS})

_QUESTION = re.compile(
    r"[?？]|^(?:who|what|when|where|why|how|which|wer|was|wann|wo|warum|wie)\b|[吗呢]", re.IGNORECASE
)

WHAT_I_AM = "I am remem's offline agent: I quote what I remember, word for word, and think no further."
UNKNOWN = "I don't know: nothing that I remember here speaks of that."
NOT_ASKED = (
    "Nothing that I remember here speaks of that. If it is to be kept: the next flush reads it, and `/remem note …` "
    "notes it now. (I answer questions, with quotations.)"
)
"""For what is no question and was not noted: nobody asked what I know."""
_GREETING = "Hello! Ask me what was decided, planned or learned here; `/remem help` shows what else I can do."
_THANKS = "You're welcome."


@dataclass(frozen=True, slots=True)
class _Quotable:
    """A part that can be quoted, and the identity of its record ('' for other text)."""

    placed: Placed
    record: str = ""
    form: Form | None = None
    """The form of its page; None for what was said here."""
    mark: str = ""
    """Its mark as it was disclosed, '' where that is not known."""

    @property
    def bare(self) -> bool:
        """Is it a line of a day's summary? It tells neither who said it nor why."""
        return self.form is Form.DAILY_LINES


class OfflineAgent:
    """Answers from the disclosures alone (bot.agent.Agent)."""

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """Quote what fits the question; say so where nothing does."""
        text = ask.message.text
        if is_pleasantry(text):
            return Reply(_THANKS if "than" in text.lower() or "谢" in text else _GREETING)
        if ask.noted and not _QUESTION.search(text):
            return Reply("")
        if _asks_who_i_am(text):
            return Reply(f"{WHAT_I_AM} {_GREETING.removeprefix('Hello! ')}")
        if meant := _own_words(ask) or _thread_root(ask):
            return meant
        memory = list(_standing(ask.disclosures))
        hits = _fitting(memory, text)
        if not _is_answer(memory, hits, text) and ask.disclosures[-1].indexed:
            memory += await _searched(doors, text)
            hits = _fitting(memory, text)
        said = list(_in_conversation(ask))
        here = _fitting(said, text)
        if hits and not (here and _is_talk(hits[0]) and here[0].shared > hits[0].shared):
            return _quoting(memory, hits)
        if here:
            lines = [f"- {_line(said[number].placed)}" for number in _with_answers(said, here)[:QUOTED]]
            return Reply("It was said here:\n" + "\n".join(lines))
        return _page_shown(ask.disclosures[-1:]) or Reply(
            UNKNOWN if _QUESTION.search(text) or is_question(text) else NOT_ASKED
        )


def _is_talk(hit: Hit) -> bool:
    """Was it said elsewhere in the room? What was said here, and holds more of the question, goes before that."""
    return hit.placed.page == TALK


def _with_answers(said: Sequence[_Quotable], hits: Sequence[Hit]) -> list[int]:
    """The numbers of what was said and fits; after a question also what came next, which may repeat none of it."""
    numbers: list[int] = []
    for hit in hits:
        asks = said[hit.number].placed.unit.body.rstrip().endswith(QUESTION)
        numbers += range(hit.number, min(hit.number + (2 if asks else 1), len(said)))
    return list(dict.fromkeys(numbers))


async def _searched(doors: Doors, question: str) -> list[_Quotable]:
    """What a search of the whole scope finds, where the disclosed pages hold no answer."""
    try:
        return list(_in_disclosure(await doors.search(question)))
    except Denied:
        return []


def _asks_who_i_am(text: str) -> bool:
    folded = " ".join(text.lower().strip(" ?!？！").split())
    return folded in {
        "who are you",
        "what are you",
        "are you a bot",
        "你是谁",
        "are you an ai",
        "who is remem",
        "what is remem",
    }


def _fitting(quotable: Sequence[_Quotable], question: str) -> tuple[Hit, ...]:
    """The parts that fit the question, best first: two of its words, or one of few."""
    words = len(dict.fromkeys(asked(question)))
    hits = strong(rank([one.placed for one in quotable], question))
    return tuple(hit for hit in hits if hit.shared >= 2 or hit.shared >= _SHARE * words)


def _is_answer(memory: Sequence[_Quotable], hits: Sequence[Hit], question: str) -> bool:
    """Do these hits answer, so that no search is needed?

    A line that tells no source does not. What holds but two thirds of the question's words may be about another
    matter of the kind (another thing that was decided), while what is meant is in the archive; no archive holds what
    is open.
    """
    best = next((hit for hit in hits if not memory[hit.number].bare), None)
    if best is None:
        return False
    one = memory[best.number]
    is_open = one.form in _OPEN and not one.placed.unit.record
    return is_open or 3 * best.shared > 2 * len(dict.fromkeys(asked(question)))


def _quoting(memory: Sequence[_Quotable], hits: Sequence[Hit]) -> Reply:
    """An answer that quotes the best parts, each fact once: a record rather than the journal's copy of it."""
    best = hits[0].score
    good = [memory[hit.number] for hit in hits if hit.score >= best / 2]
    chosen: list[_Quotable] = []
    good = [one for one in good if not one.bare] or good
    for one in good:
        record = one if one.record else next((other for other in good if other.record and _same(one, other)), one)
        if len(chosen) < QUOTED and not any(_same(record, other) for other in chosen):
            chosen.append(record)
    lines = [f"- {_line(one.placed)}" for one in chosen]
    quoted = tuple((one.placed.page, one.record) for one in chosen if one.record)
    return Reply("From memory:\n" + "\n".join(lines), quoted)


def _same(one: _Quotable, other: _Quotable) -> bool:
    """Does one of two parts say all that the other says? Who said it, and what it replaces, is not what it says."""
    first, second = (set(terms(_ASIDE.sub("", part.placed.unit.body))) for part in (one, other))
    shorter = min(len(first), len(second))
    return shorter > 0 and len(first & second) >= 0.9 * shorter


def _line(placed: Placed) -> str:
    """One quotation: date, title, text, page and source."""
    unit = placed.unit
    day = f"[{unit.day.isoformat()}] " if unit.day else ""
    title = unit.title if unit.record else ""
    return quoted(placed.page, one_line(unit.body, 600), day=day, title=title, source=unit.source)


def _page_shown(last: Sequence[Disclosure]) -> Reply | None:
    """The beginning of the page that the index led to, where the question named only its topic."""
    for disclosure in last:
        for part in disclosure.loaded:
            units = [one.placed for one in _in_part(part)]
            if part.step in _ROUTED and units and part.matched:
                lines = [f"- {_line(placed)}" for placed in units[:SHOWN]]
                more = f"\n({len(units) - SHOWN} more in {part.page})" if len(units) > SHOWN else ""
                return Reply(f"This is what {part.page} says:\n" + "\n".join(lines) + more)
    return None


def _standing(disclosures: Sequence[Disclosure]) -> Iterator[_Quotable]:
    """What was disclosed, without what a hand changed or took away since: that is no memory any more."""
    parts = [part for disclosure in disclosures for part in disclosure.loaded if part.page != INDEX]
    for number, part in enumerate(parts):
        later = [one for one in parts[number + 1 :] if one.page == part.page and one.why == CHANGED]
        now = {*later[-1].shown, *later[-1].rest} if later else None
        yield from (one for one in _in_part(part) if now is None or not one.mark or one.mark in now)


def _in_disclosure(disclosure: Disclosure) -> Iterator[_Quotable]:
    for part in disclosure.loaded:
        if part.page != INDEX:
            yield from _in_part(part)


def _in_part(part: Loaded) -> Iterator[_Quotable]:
    """The parts of a disclosed text. Its records are named in order, so that a quotation counts for the right one."""
    units = units_of(part.page, part.form, part.text).units
    dated = [unit for unit in units if unit.record]
    names = iter(part.records) if len(dated) == len(part.records) else iter(())
    marks = part.shown if len(part.shown) == len(units) else ("",) * len(units)
    for unit, mark in zip(units, marks, strict=True):
        if (part.form in _BOARDS and _OWN_LINE.match(unit.body)) or is_gone_line(unit.body):
            continue
        name = next(names, "") if unit.record else ""
        yield _Quotable(Placed(part.page, unit), name, part.form, mark)


def _said_here(ask: Ask) -> list[Message]:
    """What was said here before, oldest first; in a thread its root too."""
    said = [ask.root] if ask.root else []
    said += [entry.message for entry in (*ask.context.tail, *ask.context.fresh)]
    return [message for message in said if message.key != ask.message.key]


def _in_conversation(ask: Ask) -> Iterator[_Quotable]:
    """What others said here before, apps too (their names tell). No source: our own words, questions put to us."""
    for message in _said_here(ask):
        asked_us = message.addressed and _QUESTION.search(message.text)
        if message.voice is not Voice.SELF and not asked_us:
            yield _Quotable(Placed(_SAID, _said_unit(message)))


def _thread_root(ask: Ask) -> Reply | None:
    """What the thread hangs on, where the question has no word of its own: "what is this?"."""
    if ask.root is None or terms(ask.message.text):
        return None
    return Reply(f"This thread is about:\n- {_line(Placed(_SAID, _said_unit(ask.root)))}")


def _own_words(ask: Ask) -> Reply | None:
    """What the bot said last in this conversation, where it is asked about just that."""
    own = [message for message in _said_here(ask) if message.voice is Voice.SELF]
    if not own or not _ASKS_WHAT_WE_SAID.search(ask.message.text):
        return None
    return Reply(f"I said here: {own[-1].text}")


def _said_unit(message: Message) -> Unit:
    return Unit(text=message.text, body=message.text, day=message.sent_at.date(), source=f"@{message.author_name}")
