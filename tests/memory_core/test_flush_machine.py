"""Random talk, flushes, crashes, hand edits, hits, deletes and restarts: every fact once, everything by hand kept."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from memory_core.flush.engine import resume, write_all
from memory_core.forms import journal, records
from memory_core.ids import MessageKey
from tests.memory_core.flush_kit import Stop, World, all_labelled
from tests.scale import scale

T = TypeVar("T")


class FlushMachine(RuleBasedStateMachine):
    """Facts are numbered, so that none repeats another; `facts` holds title and message of those that must stand."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.world = World()
        self.facts: dict[str, MessageKey] = {}
        self.hand: list[str] = []
        self.uses: dict[str, int] = {}
        self.number = 0

    def teardown(self) -> None:
        """Everything is flushed at the end, and everything is there, once."""
        self.world.faults.at = 0
        self._run(self.world.flush())
        assert sorted(self.world.titles()) == sorted(self.facts)
        notes = [note.text for note in journal.parse(self.world.text("journal/2026-04-06")).notes]
        assert sorted(notes) == sorted(self.facts)
        for title, uses in self.uses.items():
            if title in self.facts:
                assert self.world.record(title).hit_count == uses
        self._run(self.world.flush())
        assert not self._run(self.world.handle.ledger.open_plans())
        self.loop.close()

    def _run(self, work: Coroutine[None, None, T]) -> T:
        return self.loop.run_until_complete(work)

    async def _write(self, key: MessageKey) -> None:
        entry = await self.world.handle.ledger.find(key)
        assert entry is not None
        await write_all(self.world.handle, all_labelled(entry.message), self.world.zone)

    @rule(
        by=st.sampled_from(["ana", "bo"]),
        thread=st.sampled_from(["", "T1"]),
        several=st.integers(1, 3),
        at_once=st.booleans(),
        crash_at=st.integers(0, 2),
    )
    def say(self, by: str, thread: str, several: int, crash_at: int, *, at_once: bool) -> None:
        """New decisions in one message; some are written at once, or a crash comes in between."""
        titles = [f"decided: topic{self.number + at} gets colour{self.number + at}" for at in range(several)]
        self.number += several
        text = " ||\n".join(f"decision: {title}" for title in titles)
        key = self._run(self.world.say(text, by=by, thread=thread))[0]
        self.facts.update(dict.fromkeys(titles, key))
        if at_once:
            self.world.faults.calls, self.world.faults.at, self.world.faults.after = 0, crash_at, True
            with suppress(Stop):
                self._run(self._write(key))
            self.world.faults.at = 0

    @rule(crash_at=st.integers(0, 9), after=st.booleans())
    def flush(self, crash_at: int, *, after: bool) -> None:
        """A flush; with a crash it is followed by a restart."""
        self.world.faults.calls, self.world.faults.at, self.world.faults.after = 0, crash_at, after
        try:
            receipt = self._run(self.world.flush())
            assert receipt.problem == ""
        except Stop:
            self.world.faults.at = 0
            self.world.handle = self.world.open()
            self._run(resume(self.world.handle))
        self.world.faults.at = 0

    @rule()
    def edit(self) -> None:
        """A person writes under the page's title."""
        self.hand.append(f"by hand {len(self.hand)}")
        head, _, rest = (self.world.text("experience") or "# Experience\n").partition("\n")
        self.world.put("experience", f"{head}\n\n{self.hand[-1]}\n{rest}")

    @precondition(lambda self: self.world.titles())
    @rule(data=st.data())
    def use(self, data: st.DataObject) -> None:
        """A record is quoted."""
        title = data.draw(st.sampled_from(self.world.titles()))
        self.uses[title] = self.uses.get(title, 0) + 1
        self._run(self.world.use(title))

    @precondition(lambda self: self.facts)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        """A message is deleted on its platform."""
        key = self.facts[data.draw(st.sampled_from(sorted(self.facts)))]
        self._run(self.world.delete(key))
        self.facts = {title: said for title, said in self.facts.items() if said != key}

    @invariant()
    def nothing_by_hand_is_lost_and_pages_are_sound(self) -> None:
        """What a person wrote stands, and the page parses."""
        text = self.world.text("experience")
        assert all(line in text for line in self.hand)
        assert records.parse(text).problems == ()
        assert len(set(self.world.titles())) == len(self.world.titles())


FlushMachine.TestCase.settings = settings(max_examples=scale(500), stateful_step_count=25, deadline=None)
TestFlushMachine = FlushMachine.TestCase
