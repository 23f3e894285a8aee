"""A burst in every room at once while the model is down: all of it is durable, none of it waits for the model.

Absolute times depend on the machine: they are printed. What is asserted is the platforms' own deadline (3 s), under
which every event must be acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest

from adapters.messages import Happening
from bot.agent import Ask, Doors, Reply, Show
from memory_core.errors import RememError
from tests.scale import scale
from tests.scenarios.recording import Spot
from tests.scenarios.stage import ANA, BEN, channel, rows, stage

pytestmark = pytest.mark.asyncio

A_ROOM = 20
"""Messages in each room."""

ADDRESSED = 5
"""Every fifth of them is addressed to the bot."""

DEADLINE_S = 3.0
"""Discord's for an interaction, Slack's for every event."""


class Provider:
    """An agent whose model can be down."""

    def __init__(self) -> None:
        self.down = False
        self.asked = 0

    async def reply(self, ask: Ask, doors: Doors, show: Show) -> Reply:
        """An answer; while it is down a refusal, as of a provider that does not answer."""
        self.asked += 1
        await asyncio.sleep(0)
        if self.down:
            raise RememError("The model does not answer (503); it is tried again with your next message.")
        return Reply(f"{ask.message.author_name} said: {ask.message.text}")


async def test_a_burst_with_the_model_down_is_durable_and_replies_resume(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spots = [channel(1000 + number, f"room-{number}") for number in range(scale(500))]
    provider, took_s = Provider(), list[float]()
    async with stage(tmp_path / "w", agent=provider) as on:
        await on.hears(*(on.events.about_room(Happening.JOINED, spot, ANA) for spot in spots))
        provider.down, before = True, len(on.sent())
        burst = {
            spot: [
                on.events.said(spot, ANA, f"line {number} of {spot.room.title}", addressed=number % ADDRESSED == 0)
                for number in range(A_ROOM)
            ]
            for spot in spots
        }

        async def speaks(spot: Spot) -> None:
            """The adapters hand in one event of a room at a time, so that its order stays."""
            for incoming in burst[spot]:
                began = time.perf_counter()
                (taken,) = await on.takes(incoming)
                took_s.append(time.perf_counter() - began)
                assert taken.durable

        began = time.perf_counter()
        await asyncio.gather(*(speaks(spot) for spot in spots))
        all_s = time.perf_counter() - began
        assert rows(tmp_path / "w", "SELECT count(*) FROM messages WHERE voice = 'person'") == [(len(took_s),)]
        await on.settled()
        refused = [one.text for one in on.sent(before)]
        assert len(refused) == provider.asked == len(took_s) // ADDRESSED
        assert all("The model does not answer (503)" in text and "What you said is kept" in text for text in refused)
        assert all("Traceback" not in text for text in refused)
        provider.down, before = False, len(on.sent())
        await on.hears(*(on.events.said(spot, BEN, "are you back?", addressed=True) for spot in spots))
        assert [one.text for one in on.sent(before)] == ["ben said: are you back?"] * len(spots)
    texts = {str(text) for (text,) in rows(tmp_path / "w", "SELECT text FROM texts")}
    assert {incoming.text for said in burst.values() for incoming in said} <= texts
    order = rows(tmp_path / "w", "SELECT room, text FROM messages JOIN texts ON texts.id = text_id ORDER BY seq")
    for spot in spots:
        said = [str(text) for room, text in order if room == spot.room.key and str(text).startswith("line ")]
        assert said == [f"line {number} of {spot.room.title}" for number in range(A_ROOM)], "in the order of the room"
    async with stage(tmp_path / "w", agent=provider) as on:
        await on.settled()
        assert not on.sent(), "nobody is answered twice"
    p50, p99 = (sorted(took_s)[int(len(took_s) * share)] for share in (0.5, 0.99))
    with capsys.disabled():
        sys.stdout.write(
            f"\n{len(took_s)} events in {len(spots)} rooms: {len(took_s) / all_s:.0f} events/s, acknowledged "
            f"p50 {p50 * 1000:.0f} ms, p99 {p99 * 1000:.0f} ms\n"
        )
    assert p99 < DEADLINE_S
