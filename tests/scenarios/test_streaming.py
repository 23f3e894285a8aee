"""Whole program, a platform without its wire: an answer that is written bit by bit, to whatever end."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from adapters.messages import Delivery, Outgoing, Sent
from bot.models.failures import Failure, ModelFailed
from bot.streaming import grown
from bot.wording import INTERRUPTED
from memory_core.clock import ManualClock
from tests.scenarios.growing_talk import ANA, BUILD, TEXT, US, Platform, of_message, rows, talk
from tests.scenarios.terminal import START
from tests.scenarios.writing import growing, until

pytestmark = pytest.mark.asyncio


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
        await on.platform.happens(of_message(edit, key))
        assert not any("first words" in text for text in on.transcript())
        await on.writer.ends("The first words and the last.")
        await on.settled()
        await on.echoes(key, "The first words")
        edit = on.events.edited(on.events.said(BUILD, US, "x"), "a piece of it")
        await on.platform.happens(of_message(edit, key))
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
