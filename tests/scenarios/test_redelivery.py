"""Events that come again: out of order within what platforms do, up to four times, over restarts and crashes.

What a platform may do: deliver an event again later (Slack up to four times, Discord after a RESUME), also after a
restart of ours, and out of order among conversations; of one message an edit or a delete may overtake the message.
A stop here is as rude as SIGTERM is: what is queued is dropped, and only the ledger is left.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import pytest

from adapters.messages import Author, Happening, Incoming
from bot.agent import Ask, Doors, Reply, Show
from memory_core.clock import ManualClock
from memory_core.ids import PersonKey
from tests.scale import scale
from tests.scenarios.recording import Events
from tests.scenarios.stage import ANA, channel, rows, stage
from tests.scenarios.terminal import START

pytestmark = pytest.mark.asyncio

ROOMS = tuple(channel(100 + number, f"room-{number}") for number in range(20))
PEOPLE = tuple(Author(PersonKey(f"discord:{number}"), f"p{number}") for number in range(1, 9))
AHEAD = 60
"""How far an event may be overtaken, in events."""

BURST = 50


class Echo:
    """An agent that answers each message with its own words, and is quick."""

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """The message's text, marked."""
        return Reply(f"heard {ask.message.text}")


@dataclass(frozen=True, slots=True)
class Sent:
    """A message as it was said, and what became of it: the text that must be kept, None where it was taken back."""

    said: Incoming
    kept: str | None
    events: tuple[Incoming, ...]


def _sent(events: Events, random: Random, number: int) -> Sent:
    """Every third is addressed; of ten, one is edited; of twenty, one is deleted."""
    spot, author = random.choice(ROOMS), random.choice(PEOPLE)
    said = events.said(spot, author, f"word{number} is what I say", addressed=random.random() < 0.3)
    drawn = random.random()
    if drawn < 0.1:
        edited = events.edited(said, f"word{number} is what I meant")
        return Sent(said, edited.text, (said, edited))
    if drawn < 0.15:
        return Sent(said, None, (said, events.deleted(said, author)))
    return Sent(said, said.text, (said,))


def _deliveries(events: Sequence[Incoming], random: Random) -> Iterator[Incoming]:
    """All events, 30 % of them two to four times, each delivery a little earlier or much later than its turn."""
    at: list[tuple[float, int, Incoming]] = []
    for number, incoming in enumerate(events):
        at.append((number + random.uniform(0, AHEAD), len(at), incoming))
        if random.random() < 0.3:
            for _ in range(random.randint(1, 3)):
                again = number + random.choice((random.uniform(0, AHEAD), random.uniform(0, len(events))))
                at.append((again, len(at), incoming))
    return (incoming for _, _, incoming in sorted(at, key=lambda row: row[:2]))


async def test_every_event_is_kept_once_and_answered_at_most_once_over_restarts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    count, restarts, random = scale(10_000), max(3, scale(20)), Random(3)
    workspace, clock, agent = tmp_path / "w", ManualClock(START), Echo()
    events = Events(clock)
    async with stage(workspace, clock=clock, events=events, agent=agent) as on:
        for spot in ROOMS:
            await on.hears(events.about_room(Happening.JOINED, spot, ANA))
    every = [_sent(events, random, number) for number in range(count)]
    deliveries = list(_deliveries([event for one in every for event in one.events], random))
    answers: Counter[str] = Counter()
    began, at = time.perf_counter(), 0
    for stop in [*sorted(random.sample(range(len(deliveries)), restarts)), len(deliveries), len(deliveries)]:
        async with stage(workspace, clock=clock, events=events, agent=agent) as on:
            while at < stop:
                burst = deliveries[at : min(at + BURST, stop)]
                assert all(taken.durable for taken in await on.takes(*burst))
                at += len(burst)
                clock.advance(1)
                if random.random() < 0.5:
                    await on.settled()
            if stop == len(deliveries):
                await on.settled()
            # else the end of the block drops what is queued, in the middle of its work
        answers.update(number for outgoing in on.sent() for number in re.findall(r"heard word(\d+) ", outgoing.text))
    took_s = time.perf_counter() - began
    question = "SELECT message, text FROM messages JOIN texts ON texts.id = text_id WHERE voice = 'person'"
    kept = {message: text for message, text in rows(workspace, question)}  # noqa: C416  # dict() takes no wider rows
    assert kept == {one.said.message: one.kept for one in every if one.kept is not None}
    assert rows(workspace, "SELECT count(*) FROM messages WHERE voice = 'person'") == [(len(kept),)]
    assert max(answers.values()) == 1, [number for number, times in answers.items() if times > 1]
    addressed = {str(number) for number, one in enumerate(every) if one.said.addressed}
    assert set(answers) <= addressed
    assert rows(workspace, "SELECT count(*) FROM messages WHERE owed = 1") == [(0,)]
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(deliveries)} deliveries, {count} messages, {restarts} restarts: {took_s:.1f} s, "
            f"{len(addressed)} addressed, {len(answers)} answered\n"
        )
