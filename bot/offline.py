"""The offline agent: rules only, no model. It quotes what was disclosed, with its source, and says what it is.

It looks for the parts of the disclosed pages, and of this conversation, that share what the question is about, and
quotes the best (bot/quotable.py). Where the question asks for what is open, it lists that (bot/open_things.py); where
it only named a topic, it shows the beginning of the page that the index led to. It never guesses: what it does not
find it does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from bot.agent import Ask, Doors, Reply, Show
from bot.open_things import asks_blocked, asks_open, is_done, names_open, open_things
from bot.quotable import Quotable, fitting, held, in_disclosure, in_part, line, same, standing
from memory_core.asking import about, is_question
from memory_core.disclosure import Disclosure, Step
from memory_core.errors import Denied
from memory_core.forms.board import BOARDS
from memory_core.forms.units import Unit
from memory_core.ids import PageId
from memory_core.layouts import Form
from memory_core.messages import Message, Voice
from memory_core.pleasantry import is_pleasantry
from memory_core.search import QUESTION, TALK, Hit, Placed
from memory_core.terms import asked, terms

QUOTED = 3
"""How many parts of memory one answer quotes at most."""
SHOWN = 6
"""How many parts of a page are shown where the question names only the topic."""
LISTED = 20
"""How many open tasks and blockers are told at most."""
_SAID = PageId("conversation")
_ASKS_WHAT_WE_SAID = re.compile(
    r"\b(?:did|have) you (?:just )?(?:say|said|list|listed|write|written|answer|answered|tell|told)\b"
    r"|\byou (?:just )?(?:said|listed|wrote|answered|told|mean|meant)\b|\byour (?:last )?(?:answer|list|words)\b",
    re.IGNORECASE,
)
_OPEN = BOARDS | {Form.STATE}
"""The pages of what is open, the list of tasks too."""
_ROUTED = frozenset({Step.PAGE, Step.LAYER_1, Step.OPEN, Step.CONVENTION, Step.TASKS})

_QUESTION = re.compile(
    r"[?？]|^(?:who|what|when|where|why|how|which|wer|was|wann|wo|warum|wie)\b|[吗呢]", re.IGNORECASE
)

_FORGET = re.compile(
    r"^\W*(?:please |pls |(?:can|could|would) you (?:please )?|bitte |kannst du )*"
    r"(?:(?:forget|vergiss|vergesst)\b(?! to\b)|"
    r"(?:delete|remove|erase|lösche?) (?:that|this|it|das|es)(?: again| wieder)?\W*$|"
    r"(?:das|es) (?:wieder )?(?:vergessen|löschen)\b)|"
    r"^[请請你把]*(?:这个|那个|它|這個|那個)?(?:忘掉|忘了(?![吗嗎])|忘[记記](?![了吗嗎])|删掉|删除|刪除)(?:[它这那這吧刚剛我掉吗嗎]|\W*$)",
    re.IGNORECASE,
)
WHAT_I_AM = "I am remem's offline agent: I quote what I remember, word for word, and think no further."
UNKNOWN = "I don't know: nothing that I remember here speaks of that."
NOT_ASKED = (
    "Nothing that I remember here speaks of that. If it is to be kept: the next flush reads it, and `/remem note …` "
    "notes it now. (I answer questions, with quotations.)"
)
"""For what is no question and was not noted: nobody asked what I know."""
NOTHING_OPEN = "I don't know of anything that is open here."
NOTHING_BLOCKED = "I don't know of anything that is blocked here."
CANNOT_FORGET = (
    "I cannot forget on request yet. `/remem undo` takes back my newest note or save; for anything else delete the "
    "message, or edit the file that it stands in."
)
_GREETING = "Hello! Ask me what was decided, planned or learned here; `/remem help` shows what else I can do."
_THANKS = "You're welcome."


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
        if _FORGET.search(text):
            return Reply(CANNOT_FORGET)
        if meant := _own_words(ask) or _thread_root(ask):
            return meant
        memory = list(standing(ask.disclosures, ask.standing))
        wants_open = asks_open(text)
        if wants_open and (found := await open_things(memory, doors, text)):
            return _listing(found)
        if wants_open:
            memory = [one for one in memory if not is_done(one)]
        return await _found(ask, doors, memory) or Reply(_unknown(text, wants_open=wants_open))


async def _found(ask: Ask, doors: Doors, memory: list[Quotable]) -> Reply | None:
    """What memory and the conversation say to the question; None where they say nothing."""
    text = ask.message.text
    hits = fitting(memory, text)
    if not _is_answer(memory, hits, text) and ask.disclosures[-1].indexed:
        memory += await _searched(doors, text)
        hits = fitting(memory, text)
    said = list(_in_conversation(ask))
    here = fitting(said, text)
    if hits and not (here and _is_loose(memory[hits[0].number]) and _holds_more(here[0], hits[0], text)):
        return _quoting(memory, hits)
    if here:
        lines = [f"- {line(said[number].placed)}" for number in _with_answers(said, here)[:QUOTED]]
        return Reply("It was said here:\n" + "\n".join(lines))
    return _page_shown(ask.disclosures[-1:], memory)


def _unknown(text: str, *, wants_open: bool) -> str:
    if wants_open:
        return NOTHING_BLOCKED if asks_blocked(text) else NOTHING_OPEN
    return UNKNOWN if _QUESTION.search(text) or is_question(text) else NOT_ASKED


def _is_loose(one: Quotable) -> bool:
    """Was it said elsewhere in the room, or does it stand on a board? What was said here, and holds more of the
    question, goes before that."""
    return one.placed.page == TALK or (one.form in BOARDS and not one.record)


def _holds_more(one: Hit, other: Hit, question: str) -> bool:
    wanted = about(question)
    return held(one.placed, wanted) > held(other.placed, wanted)


def _with_answers(said: Sequence[Quotable], hits: Sequence[Hit]) -> list[int]:
    """The numbers of what was said and fits; after a question also what came next, which may repeat none of it."""
    numbers: list[int] = []
    for hit in hits:
        asks = said[hit.number].placed.unit.body.rstrip().endswith(QUESTION)
        numbers += range(hit.number, min(hit.number + (2 if asks else 1), len(said)))
    return list(dict.fromkeys(numbers))


async def _searched(doors: Doors, question: str) -> list[Quotable]:
    """What a search of the whole scope finds, where the disclosed pages hold no answer."""
    try:
        return list(in_disclosure(await doors.search(question)))
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


def _is_answer(memory: Sequence[Quotable], hits: Sequence[Hit], question: str) -> bool:
    """Do these hits answer, so that no search is needed?

    A line that tells no source does not. What holds but two thirds of the question's words may be about another
    matter of the kind (another thing that was decided), while what is meant is in the archive; no archive holds what
    is open, where the question asks for that.
    """
    best = next((hit for hit in hits if not memory[hit.number].bare), None)
    if best is None:
        return False
    one = memory[best.number]
    is_open = one.form in _OPEN and not one.placed.unit.record and names_open(question)
    return is_open or 3 * best.shared > 2 * len(dict.fromkeys(asked(question)))


def _quoting(memory: Sequence[Quotable], hits: Sequence[Hit]) -> Reply:
    """An answer that quotes the best parts, each fact once: a record rather than the journal's copy of it."""
    best = hits[0].score
    good = [memory[hit.number] for hit in hits if hit.score >= best / 2]
    chosen: list[Quotable] = []
    good = [one for one in good if not one.bare] or good
    for one in good:
        record = one if one.record else next((other for other in good if other.record and same(one, other)), one)
        if len(chosen) < QUOTED and not any(same(record, other) for other in chosen):
            chosen.append(record)
    lines = [f"- {line(one.placed)}" for one in chosen]
    quoted = tuple((one.placed.page, one.record) for one in chosen if one.record)
    return Reply("From memory:\n" + "\n".join(lines), quoted)


def _listing(found: Sequence[Quotable]) -> Reply:
    """What is open, each once."""
    lines = list(dict.fromkeys(f"- {line(one.placed)}" for one in found))
    more = f"\n({len(lines) - LISTED} more; `/remem status` tells them)" if len(lines) > LISTED else ""
    return Reply("This is open:\n" + "\n".join(lines[:LISTED]) + more)


def _page_shown(last: Sequence[Disclosure], memory: Sequence[Quotable]) -> Reply | None:
    """The beginning of the page that the index led to, where the question named only its topic."""
    stands = {(one.placed.page, one.placed.unit) for one in memory if not is_done(one)}
    for disclosure in last:
        for part in disclosure.loaded:
            units = [one.placed for one in in_part(part) if (one.placed.page, one.placed.unit) in stands]
            if part.step in _ROUTED and units and part.matched:
                lines = [f"- {line(placed)}" for placed in units[:SHOWN]]
                more = f"\n({len(units) - SHOWN} more in {part.page})" if len(units) > SHOWN else ""
                return Reply(f"This is what {part.page} says:\n" + "\n".join(lines) + more)
    return None


def _said_here(ask: Ask) -> list[Message]:
    """What was said here before, oldest first; in a thread its root too."""
    said = [ask.root] if ask.root else []
    said += [entry.message for entry in (*ask.context.tail, *ask.context.fresh)]
    return [message for message in said if message.key != ask.message.key]


def _in_conversation(ask: Ask) -> Iterator[Quotable]:
    """What others said here before, apps too (their names tell). No source: our own words, questions put to us."""
    for message in _said_here(ask):
        asked_us = message.addressed and _QUESTION.search(message.text)
        if message.voice is not Voice.SELF and not asked_us:
            yield Quotable(Placed(_SAID, _said_unit(message)))


def _thread_root(ask: Ask) -> Reply | None:
    """What the thread hangs on, where the question has no word of its own: "what is this?"."""
    if ask.root is None or terms(ask.message.text):
        return None
    return Reply(f"This thread is about:\n- {line(Placed(_SAID, _said_unit(ask.root)))}")


def _own_words(ask: Ask) -> Reply | None:
    """What the bot said last in this conversation, where it is asked about just that."""
    own = [message for message in _said_here(ask) if message.voice is Voice.SELF]
    if not own or not _ASKS_WHAT_WE_SAID.search(ask.message.text):
        return None
    return Reply(f"I said here: {own[-1].text}")


def _said_unit(message: Message) -> Unit:
    return Unit(text=message.text, body=message.text, day=message.sent_at.date(), source=f"@{message.author_name}")
