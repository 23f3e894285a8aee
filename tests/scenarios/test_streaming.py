"""Whole program, a platform without its wire: an answer that is written bit by bit, to whatever end."""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from itertools import count
from pathlib import Path

import pytest

from adapters.base import Taken
from adapters.messages import Author, Delivery, Incoming, Outgoing, Room, Sent
from bot.app import App
from bot.models.failures import Failure, ModelFailed
from bot.streaming import grown
from bot.wording import INTERRUPTED
from memory_core.clock import ManualClock
from memory_core.ids import Conversation, EventKey, MessageKey, PersonKey, RoomKey, RoomKind
from memory_core.messages import Voice
from tests.scenarios.recording import Events, RecordingAdapter, Spot
from tests.scenarios.terminal import START
from tests.scenarios.writing import Writer, growing, running, until

pytestmark = pytest.mark.asyncio

ANA = Author(PersonKey("discord:1"), "ana")
US = Author(PersonKey("discord:999"), "remem", Voice.SELF)
BUILD = Spot(Room(RoomKey("discord:8"), RoomKind.CHANNEL, "#build"))
TEXT = "We chose Redis because sessions must survive a restart, and Ben runs it."

_ids = count(1)


class Platform(RecordingAdapter):
    """Keeps what is said; `echo`: it tells of it as platforms do.

    `open` holds every sending while it is clear, `saying` tells of it.
    """

    def __init__(self, workspace: Path) -> None:
        super().__init__("discord", lambda: str(next(_ids)))
        self.workspace = workspace
        self.revise_s = 0.0
        self.open = asyncio.Event()
        self.open.set()
        self.saying = asyncio.Event()
        self.owed_at: list[int] = []
        self.typed = 0

    async def send(self, outgoing: Outgoing) -> Sent:
        """Say it, and note how many questions the ledger's file says are owed at this moment."""
        counted = await asyncio.to_thread(rows, self.workspace, "SELECT count(*) FROM messages WHERE owed = 1")
        self.owed_at.append(counted[0][0])
        sent = await super().send(outgoing)
        await self.open.wait()
        return sent

    async def typing(self, conversation: Conversation, message: MessageKey | None = None) -> None:
        """Count it."""
        self.typed += 1


def rows(workspace: Path, question: str) -> list[tuple[int, ...]]:
    """A question to the ledger's file, as another process sees it."""
    with closing(sqlite3.connect(f"file:{workspace}/.remem/ledger.db?mode=ro", uri=True)) as ledger:
        return ledger.execute(question).fetchall()


class Talk:
    """Ana's talk with the bot in #build."""

    def __init__(self, app: App, platform: Platform, writer: Writer, events: Events) -> None:
        self.app = app
        self.platform = platform
        self.writer = writer
        self.events = events

    async def asks(self, text: str) -> Incoming:
        """Ana asks."""
        said = self.events.said(BUILD, ANA, text, addressed=True)
        await self.platform.happens(said)
        return said

    async def begins(self, text: str = "write about Redis") -> Incoming:
        """Ana asks for an answer that takes its time; the writer was asked."""
        said = await self.asks(text)
        await self.writer.asked()
        return said

    async def shows(self, text: str) -> None:
        """The writer writes, and the room sees it."""
        await self.writer.writes(text)
        await until(lambda: grown(text) in "\n".join(self.platform.stands.values()), f"{text!r} on the screen")

    async def echoes(self, key: MessageKey, text: str) -> Taken:
        """The platform tells of one of our own messages."""
        said = self.events.said(BUILD, US, text)
        return await self.platform.happens(_of(said, key))

    async def settled(self) -> None:
        """All is worked off."""
        await self.app.parts.conversations.settled()

    def transcript(self) -> list[str]:
        """What the ledger keeps of us, in order."""
        kept = "SELECT texts.text FROM messages JOIN texts ON texts.id = messages.text_id WHERE voice = 'self'"
        return [str(text) for (text,) in rows(self.platform.workspace, f"{kept} ORDER BY seq")]

    def owed(self) -> int:
        """How many questions wait for an answer."""
        return rows(self.platform.workspace, "SELECT count(*) FROM messages WHERE owed = 1")[0][0]

    def timers(self) -> int:
        """How many answers the ledger says are being written."""
        return rows(self.platform.workspace, "SELECT count(*) FROM timers WHERE key GLOB 'writing:*'")[0][0]


def _of(said: Incoming, key: MessageKey) -> Incoming:
    """The same event, of that message."""
    return replace(said, message=key, event=EventKey(key))


@asynccontextmanager
async def talk(
    workspace: Path, platform: Platform | None = None, clock: ManualClock | None = None
) -> AsyncIterator[Talk]:
    """The program, in which Ana has said hello."""
    writer, clock = Writer(), clock or ManualClock(START)
    fresh = platform is None
    platform = platform or Platform(workspace)
    platform.workspace = workspace
    async with running(workspace, platform, writer, clock=clock) as app:
        await until(lambda: platform.running, "the platform")
        on = Talk(app, platform, writer, Events(clock, last=next(_ids) * 1000))
        if fresh:
            await on.asks("hello")
            await on.settled()
            platform.sent.clear()
            platform.owed_at.clear()
        yield on


async def test_an_answer_is_one_message_that_grows_by_whole_words_and_is_recorded_once(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        asked = await on.begins()
        for part in growing(TEXT):
            await on.shows(part)
        await on.writer.ends(TEXT)
        await on.settled()
        (sent,) = on.platform.sent
        shown = [sent.text, *(one.text for one in on.platform.revised)]
        assert sent.reply_to == asked.message
        assert shown[-1] == TEXT
        assert all(TEXT.startswith(text) and TEXT[len(text)] == " " for text in shown[:-1]), shown
        assert shown == sorted(set(shown), key=len), "nothing is said twice, nothing shrinks"
        assert [one.growing for one in (sent, *on.platform.revised)] == [*[True] * (len(shown) - 1), False]
        assert on.transcript()[-1] == TEXT
        assert len(on.transcript()) == 2, "hello, and this"
        assert on.timers() == 0


async def test_nothing_is_shown_before_the_claim_is_durable(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        assert on.owed() == 1
        await on.shows("The first words ")
        assert on.platform.owed_at == [0]
        await on.writer.ends("The first words and more.")
        await on.settled()
        assert on.platform.owed_at == [0]


async def test_an_answer_that_comes_at_once_is_sent_as_one(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.asks("how are you?")
        await on.settled()
        on.platform.revise_s = 3600.0
        await on.begins()
        await on.writer.writes(*growing(TEXT))
        await on.writer.ends(TEXT)
        await on.settled()
        assert [one.text for one in on.platform.sent] == ["to: how are you?", TEXT]
        assert not any(one.growing for one in on.platform.sent)
        assert on.platform.revised == []
        assert on.transcript()[-2:] == ["to: how are you?", TEXT]


async def test_the_newest_text_wins_and_the_writer_never_waits(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        on.platform.open.clear()
        await on.writer.writes("one ")
        await until(lambda: on.platform.sent, "the first words")
        await asyncio.wait_for(on.writer.writes("one two ", "one two three ", "one two three four "), 5)
        assert on.platform.revised == [], "the platform has not answered yet"
        on.platform.open.set()
        await until(lambda: on.platform.revised, "a revision")
        await on.writer.ends("one two three four five")
        await on.settled()
        assert [one.text for one in on.platform.revised] == ["one two three four", "one two three four five"]


async def test_what_was_written_stands_above_the_answer_from_its_first_word(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins("decision: we write everything in Rust")
        await on.shows("Good to know ")
        assert on.platform.sent[-1].text.startswith("Noted as a decision")
        await on.writer.ends("Good to know that.")
        await on.settled()
        text = on.platform.revised[-1].text
        assert text.startswith("Noted as a decision")
        assert text.endswith("Good to know that.")
        assert text.count("Noted as") == 1
        assert on.transcript()[-1] == text


async def test_typing_is_shown_until_the_first_word(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        before = on.platform.typed
        await on.begins()
        assert on.platform.typed == before + 1
        await on.writer.ends("all")
        await on.settled()
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith(("typing", "answer in"))]


async def test_the_platform_s_own_news_of_an_answer_is_not_recorded_beside_it(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        (key,) = on.platform.last.values()
        await on.echoes(key, "The first words")
        edit = on.events.edited(on.events.said(BUILD, US, "x"), "The first words and")
        await on.platform.happens(_of(edit, key))
        assert not any("first words" in text for text in on.transcript())
        await on.writer.ends("The first words and the last.")
        await on.settled()
        await on.echoes(key, "The first words")
        edit = on.events.edited(on.events.said(BUILD, US, "x"), "a piece of it")
        await on.platform.happens(_of(edit, key))
        assert on.transcript()[-1] == "The first words and the last."
        assert len(on.transcript()) == 2


@pytest.mark.parametrize("word", ["", "The first words "], ids=["before the first word", "after it"])
async def test_case_13_a_question_that_is_deleted_meanwhile_gets_no_answer(tmp_path: Path, word: str) -> None:
    async with talk(tmp_path / "w") as on:
        said = await on.begins()
        if word:
            await on.shows(word)
        await on.platform.happens(on.events.deleted(said, ANA))
        if word:
            await until(lambda: on.platform.revised, "the taking back")
            await on.writer.writes("The first words and then some ")
        await on.writer.ends("The first words and the last.")
        await on.settled()
        assert [one.text for one in on.platform.revised] == ([""] if word else [])
        assert len(on.platform.sent) == (1 if word else 0)
        assert not any("first words" in text for text in on.transcript())
        assert on.timers() == 0


@pytest.mark.parametrize("word", ["", "The first words "], ids=["sent as one", "being revised"])
async def test_case_25_a_question_that_is_deleted_while_its_answer_is_being_said_takes_it_along(
    tmp_path: Path, word: str
) -> None:
    class Slow(Platform):
        async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
            if outgoing.text:
                self.saying.set()
                await self.open.wait()
            return await super().revise(sent, outgoing)

        async def send(self, outgoing: Outgoing) -> Sent:
            if not self.open.is_set():
                self.saying.set()
            return await super().send(outgoing)

    workspace = tmp_path / "w"
    async with talk(workspace) as first:
        pass
    async with talk(workspace, Slow(workspace)) as on:
        on.platform.saying.clear()
        said = await on.begins("write about the door code 4417")
        if word:
            await on.shows(word)
        on.platform.open.clear()
        await on.writer.ends("The first words and 4417.")
        await asyncio.wait_for(on.platform.saying.wait(), 20)
        await on.platform.happens(on.events.deleted(said, ANA))
        on.platform.open.set()
        await on.settled()
        assert not any("4417" in text for text in on.platform.stands.values())
        assert not any("4417" in text for text in on.transcript())
        assert on.timers() == 0
    assert first.app is not on.app


async def test_a_model_that_fails_after_the_first_words_ends_them_with_a_line(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("```py\nprint('first words') ")
        await on.writer.breaks(ModelFailed(Failure.DOWN, "The model cannot be reached."))
        await on.settled()
        (text,) = (
            on.platform.stands.values() if len(on.platform.stands) == 1 else list(on.platform.stands.values())[-1:]
        )
        head, line = text.rsplit("\n\n", 1)
        assert head == "```py\nprint('first words')\n```", "what was left open is closed"
        assert "The model cannot be reached." in line
        assert len(on.platform.sent) == 1, "it is said there, and nowhere else"
        assert on.transcript()[-1] == head, "the line is no part of the conversation"
        assert (on.owed(), on.timers()) == (0, 0)
        await on.begins("write on")
        await on.writer.ends("The conversation goes on.")
        await on.settled()
        assert on.platform.sent[-1].text == "The conversation goes on."


async def test_a_model_that_fails_before_the_first_word_is_told_as_before(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.writer.breaks(ModelFailed(Failure.DOWN, "The model cannot be reached."))
        await on.settled()
        (sent,) = on.platform.sent
        assert "The model cannot be reached." in sent.text
        assert (on.owed(), on.timers()) == (0, 0)


async def test_a_fault_that_nobody_foresaw_leaves_no_half_message_without_a_note(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        await on.writer.breaks(ZeroDivisionError("a bug"))
        await on.settled()
        assert on.platform.revised[-1].text == f"The first words\n\n{INTERRUPTED}"


async def test_sigterm_ends_what_stands_with_a_note_and_answers_the_rest_after_the_start(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace) as on:
        await on.begins()
        await on.shows("The first words ")
        platform = on.platform
        later = await on.asks("and then?")
    assert platform.revised[-1].text == f"The first words\n\n{INTERRUPTED}"
    platform.revised.clear()
    platform.sent.clear()
    async with talk(workspace, platform) as on:
        await on.settled()
        assert [one.text for one in platform.sent] == ["to: and then?"]
        assert platform.sent[0].reply_to == later.message
        assert platform.revised == []
        assert on.transcript()[-2:] == [f"The first words\n\n{INTERRUPTED}", "to: and then?"]
        assert on.writer.questions == ["and then?"]


async def test_sigterm_while_the_first_words_are_being_posted(tmp_path: Path) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace) as on:
        await on.begins()
        platform = on.platform
        platform.open.clear()
        await on.writer.writes("The first words ")
        await until(lambda: platform.sent, "the first words")
        asyncio.get_running_loop().call_later(0.2, platform.open.set)
    assert platform.revised[-1].text == f"The first words\n\n{INTERRUPTED}"


async def _killed(on: Talk, to: Path) -> Platform:
    """A copy of the workspace as a kill leaves it, and a platform on which stands what stands now."""
    await asyncio.to_thread(shutil.copytree, on.platform.workspace, to)
    left = Platform(to)
    left.stands = dict(on.platform.stands)
    return left


async def test_after_a_kill_the_next_start_puts_the_note_under_what_stands(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        await until(lambda: "first words" in str(_about(on)), "the timer")
        (key,) = on.platform.last.values()
        left = await _killed(on, tmp_path / "killed")
        await on.writer.ends("all")
    for _ in range(2):
        async with talk(tmp_path / "killed", left) as on:
            await on.settled()
            assert [one.text for one in left.revised] == [f"The first words\n\n{INTERRUPTED}"]
            assert left.stands[key] == f"The first words\n\n{INTERRUPTED}"
            assert left.sent == []
            assert on.transcript()[-1] == left.stands[key]
            assert (on.owed(), on.timers(), on.writer.questions) == (0, 0, [])


def _about(on: Talk) -> list[tuple[int, ...]]:
    return rows(on.platform.workspace, "SELECT about FROM timers WHERE key GLOB 'writing:*'")


async def test_after_a_kill_while_the_first_words_were_posted_a_line_says_so(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        said = await on.begins()
        on.platform.open.clear()
        await on.writer.writes("The first words ")
        await until(lambda: on.platform.sent, "the first words")
        left = await _killed(on, tmp_path / "killed")
        on.platform.open.set()
        await on.writer.ends("all")
    async with talk(tmp_path / "killed", left) as on:
        await on.settled()
        (line,) = left.sent
        assert "interrupted" in line.text
        assert line.reply_to == said.message
        assert (on.owed(), on.timers(), on.writer.questions) == (0, 0, [])


async def test_after_a_kill_in_the_last_revision_the_whole_answer_stands(tmp_path: Path) -> None:
    class Slow(Platform):
        async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
            await self.open.wait()
            return await super().revise(sent, outgoing)

    workspace = tmp_path / "w"
    async with talk(workspace) as first:
        pass
    async with talk(workspace, Slow(workspace)) as on:
        await on.begins()
        await on.shows("The first words ")
        on.platform.open.clear()
        await on.writer.ends("The first words and the last.")
        await until(lambda: "and the last" in str(_about(on)), "the timer")
        left = await _killed(on, tmp_path / "killed")
        on.platform.open.set()
        await on.settled()
    async with talk(tmp_path / "killed", left) as on:
        await on.settled()
        assert [one.text for one in left.revised] == ["The first words and the last."]
        assert on.transcript()[-1] == "The first words and the last."
    assert first.app is not on.app


async def test_after_a_kill_between_the_note_and_the_claim_the_question_is_answered(tmp_path: Path) -> None:
    async with talk(tmp_path / "w") as on:
        await on.begins()
        await on.shows("The first words ")
        left = await _killed(on, tmp_path / "killed")
        await on.writer.ends("all")
    with closing(sqlite3.connect(tmp_path / "killed/.remem/ledger.db")) as ledger:
        ledger.execute("UPDATE messages SET owed = 1 WHERE seq = (SELECT max(seq) FROM messages)")
        ledger.commit()
    async with talk(tmp_path / "killed", left) as on:
        await on.writer.asked()
        await on.writer.ends("The answer.")
        await on.settled()
        assert [one.text for one in left.sent] == ["The answer."]
        assert left.revised == []
        assert on.timers() == 0


async def test_a_platform_that_refuses_edits_gets_the_whole_answer_anew(tmp_path: Path) -> None:
    class NoEdits(Platform):
        async def revise(self, sent: Sent, outgoing: Outgoing) -> Sent:
            if outgoing.text:
                return Sent(Delivery.FAILED, sent.messages, "edit_window_closed")
            del self.stands[sent.messages[0]]
            return Sent(Delivery.SENT)

    workspace = tmp_path / "w"
    async with talk(workspace, NoEdits(workspace)) as on:
        await on.begins()
        await on.shows("The first words ")
        await on.writer.writes("The first words and ")
        await on.writer.ends("The first words and the last.")
        await on.settled()
        _, *answers = on.platform.stands.values()
        assert answers == ["The first words and the last."], "under the greeting"
        assert on.transcript() == ["The first words and the last."]
        assert on.timers() == 0


@pytest.mark.parametrize("refusal", [Delivery.NOT_ALLOWED, Delivery.GONE])
async def test_where_we_may_not_speak_it_is_tried_once(tmp_path: Path, refusal: Delivery) -> None:
    workspace = tmp_path / "w"
    async with talk(workspace) as on:
        await on.begins()
        on.platform.outcome = refusal
        await on.writer.writes(*growing(TEXT))
        await until(lambda: on.platform.owed_at, "the try")
        await on.writer.ends(TEXT)
        await on.settled()
        assert len(on.platform.owed_at) == 1
        assert (on.owed(), on.timers()) == (0, 0)


async def test_what_comes_during_a_call_of_three_minutes_is_answered_in_order(tmp_path: Path) -> None:
    clock = ManualClock(START)
    async with talk(tmp_path / "w", clock=clock) as on:
        first = await on.begins("write a long one")
        asked = [first]
        for minute in range(18):
            clock.advance(10)
            await on.app.schedule.ring()
            await on.shows(f"{'word ' * (minute + 1)}")
            asked.append(await on.asks(f"question {minute}"))
            await on.platform.happens(asked[-1])
        await on.writer.ends("word " * 18 + "and the last")
        await on.settled()
        answers = list(on.platform.sent)
        assert [one.reply_to for one in answers] == [one.message for one in asked], "in order, each once"
        assert [one.text for one in answers[1:]] == [f"to: question {minute}" for minute in range(18)]
        assert on.writer.questions[1:] == ["write a long one", *(f"question {minute}" for minute in range(18))]
        assert on.platform.revised[-1].text.endswith("and the last")
        kept = on.transcript()[1:]
        assert [text.split()[0] for text in kept] == ["word", *["to:"] * 18]
        assert len(rows(on.platform.workspace, "SELECT 1 FROM messages WHERE voice = 'person'")) == 20


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("", ""),
        ("Red", ""),
        ("We chose Red", "We chose"),
        ("We chose ", "We chose"),
        ("line\nnex", "line"),
        ("我们选择了Red", "我们选择了"),
        ("会話は再起", "会話は再起"),
        ("か\u3099", "か\u3099"),
        ("한국어 문", "한국어"),
    ],
)
async def test_a_growing_text_ends_with_a_whole_word(text: str, shown: str) -> None:
    assert grown(text) == shown
