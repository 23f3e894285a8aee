"""The in-memory ledger and the SQLite one agree under random operations, restarts of the SQLite one included.

Beside every answer, the statements that SQLite ran are looked at: those of a scope's ledger that name a table bind
that scope's key, and hold no other scope's key or text.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from datetime import date, timedelta, timezone
from pathlib import Path
from typing import TypeAlias, TypeVar

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from memory_core.clock import ManualClock
from memory_core.errors import LedgerFailed
from memory_core.ids import (
    Conversation,
    DirectScope,
    EventKey,
    GroupScope,
    MessageKey,
    PageId,
    PersonKey,
    RoomKey,
    Scope,
)
from memory_core.ledger.base import Deleted, Edited, Event, Hit, Noted, Plan, Posted, RoomState, ScopeLedger
from memory_core.ledger.memory import MemoryLedger
from memory_core.ledger.schema import MIGRATIONS
from memory_core.ledger.sqlite import OpenLedger, SqliteLedger
from memory_core.ledger.timers import Timer
from memory_core.ledger.transcript import Line, Said, TranscriptState
from memory_core.ledger.usage import Purpose, Usage
from memory_core.messages import Message
from tests.memory_core.ledger_values import ANA, START, at, key
from tests.scale import scale

T = TypeVar("T")
Ledger: TypeAlias = MemoryLedger | OpenLedger

_BEN = PersonKey("discord:7")
SCOPES: tuple[Scope, ...] = (
    GroupScope("ops"),
    GroupScope("ops-2"),
    DirectScope(_BEN),
    DirectScope(_BEN, owner=True),
)
_ROOM = RoomKey("slack:T1:C1")
_PLACES = (Conversation(_ROOM), Conversation(_ROOM, "T9"))
_KEYS = tuple(key(native, _ROOM) for native in range(1, 4))
_TABLE = re.compile(r"\b(" + "|".join(re.findall(r"CREATE TABLE (\w+)", " ".join(sum(MIGRATIONS, ())))) + r")\b")

scopes = st.sampled_from(SCOPES)
places = st.sampled_from(_PLACES)
minutes = st.integers(0, 6)
keys = st.sampled_from(_KEYS)
moments = st.builds(
    lambda when, hours: at(when).astimezone(timezone(timedelta(hours=hours))), minutes, st.sampled_from((0, 8, -7))
)
words = st.sampled_from(("deploy at 14:00", "部署在三点", "half \ud83d", "x" * 5000, "", "it's\nquoted", "🎉"))
event_keys = st.one_of(
    st.none(), st.none(), st.sampled_from([EventKey("slack:trigger:1"), EventKey("discord:interaction:2")])
)


def canary(scope: Scope | None) -> str:
    """A text that belongs to one scope; the owner and the same person without that right share one."""
    return f"<canary {scope.key if scope is not None else 'nowhere'}>"


@st.composite
def events(draw: st.DrawFn) -> Event:
    """Any event, often about a message that another event is about too."""
    kind, about, when = draw(st.integers(0, 5)), draw(keys), draw(moments)
    odd = draw(event_keys)
    if kind <= 2:
        scope = draw(st.one_of(st.none(), scopes, scopes, scopes))
        said = Message(
            key=about,
            # A message belongs to one conversation.
            conversation=_PLACES[_KEYS.index(about) // 2],
            author=ANA,
            author_name="Ana \udfff",
            text=draw(words) + canary(scope),
            sent_at=when,
            addressed=draw(st.booleans()),
            reply_to=draw(st.one_of(st.none(), keys)),
            edited_at=draw(st.one_of(st.none(), moments)),
        )
        return Posted(odd or EventKey(about), said, scope, draw(st.booleans()), past=draw(st.booleans()))
    if kind == 3:
        return Edited(odd or EventKey(f"{about}@{when.timestamp()}"), about, draw(words), when)
    if kind == 4:
        return Deleted(odd or EventKey(f"{about}!deleted"), about)
    return Noted(odd or EventKey(f"noted:{about}"))


cursors = st.dictionaries(places, st.integers(0, 8), max_size=2)
plans = st.builds(
    Plan,
    id=st.sampled_from(("p1", "p2")),
    number=st.integers(1, 3),
    operations=words,
    cursors=cursors,
    receipt=words,
)
hits = st.builds(Hit, page=st.just(PageId("experience")), record=st.sampled_from(("r1", "r2")), at=moments)
states = st.builds(
    RoomState,
    recorded=st.booleans(),
    stopped=st.booleans(),
    greeted_at=st.one_of(st.none(), moments),
    purpose_question=st.one_of(st.none(), keys),
)
counts = st.integers(0, 3)
usages = st.builds(
    Usage,
    day=st.sampled_from((date(2026, 4, 5), date(2026, 4, 6))),
    purpose=st.sampled_from(Purpose),
    model=st.sampled_from(("openai:a", "it's:b", "half:\ud83d", "openai:A")),
    requests=counts,
    tool_calls=counts,
    input_tokens=st.sampled_from((0, 7, 10**12)),
    cached_tokens=counts,
    output_tokens=counts,
    counted_tokens=st.sampled_from((0, 5)),
    cost_micro_usd=st.one_of(st.none(), st.integers(0, 2)),
    estimated=st.booleans(),
)
timers = st.builds(Timer, key=st.sampled_from(("a", "b", "c")), due_at=moments, about=words)


class Agreement(RuleBasedStateMachine):
    """Does everything twice and compares."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock(START)
        self.statements: list[tuple[str | None, str]] = []
        self.memory = MemoryLedger(self.clock)
        self.sqlite = self.opened()
        self.editions: dict[tuple[str, int], object] = {}
        self.told: dict[tuple[str, str, TranscriptState], object] = {}
        self.ledgers: dict[str, tuple[ScopeLedger, ScopeLedger]] = {}

    def opened(self) -> OpenLedger:
        path = Path(self.folder.name) / "ledger.db"
        return self.runner.run(
            SqliteLedger.open(path, self.clock, trace=lambda scope, said: self.statements.append((scope, said)))
        )

    def teardown(self) -> None:
        self.runner.run(self.sqlite.close())
        self.runner.close()
        self.folder.cleanup()

    def both(self, ask: Callable[[Ledger], Awaitable[T]]) -> None:
        """Ask both ledgers and compare their answers."""
        assert self.runner.run(_answer(ask(self.memory))) == self.runner.run(_answer(ask(self.sqlite)))

    def scope(self, scope: Scope, ask: Callable[[ScopeLedger], Awaitable[T]]) -> None:
        """The same for one scope's ledgers, which live until the restart: they remember what they handed out."""
        pair = self.ledgers.setdefault(repr(scope), (self.memory.open(scope), self.sqlite.open(scope)))
        self.both(lambda ledger: ask(pair[0] if ledger is self.memory else pair[1]))

    @rule(batch=st.lists(events(), min_size=1, max_size=5))
    def record(self, batch: list[Event]) -> None:
        self.both(lambda ledger: ledger.intake.record(batch))

    @rule(about=keys)
    def answered(self, about: MessageKey) -> None:
        self.both(lambda ledger: ledger.intake.answered(about))

    @rule(state=states)
    def keep_room(self, state: RoomState) -> None:
        self.both(lambda ledger: ledger.intake.keep_room(_ROOM, state))

    @rule(scope=scopes, plan=plans)
    def save_plan(self, scope: Scope, plan: Plan) -> None:
        self.scope(scope, lambda ledger: ledger.save_plan(plan))

    @rule(scope=scopes, plan=plans)
    def close_plan(self, scope: Scope, plan: Plan) -> None:
        self.scope(scope, lambda ledger: ledger.close_plan(plan))

    @rule(scope=scopes, moved=cursors)
    def move_cursors(self, scope: Scope, moved: dict[Conversation, int]) -> None:
        self.scope(scope, lambda ledger: ledger.move_cursors(moved))

    @rule(scope=scopes, about=keys, back=st.sampled_from(("", "b\ud800")))
    def mark_written(self, scope: Scope, about: MessageKey, back: str) -> None:
        self.scope(scope, lambda ledger: ledger.mark_written(about, PageId("attention"), "r\ud800", back))

    @rule(scope=scopes, used=st.lists(hits, max_size=3))
    def add_hits(self, scope: Scope, used: list[Hit]) -> None:
        self.scope(scope, lambda ledger: ledger.add_hits(used))

    @rule(scope=scopes, which=st.integers(1, 7))
    def see_what_waits(self, scope: Scope, which: int) -> None:
        if which & 1:
            self.scope(scope, lambda ledger: ledger.written())
        if which & 2:
            self.scope(scope, lambda ledger: ledger.hits())
        if which & 4:
            self.scope(scope, lambda ledger: ledger.changed())

    @rule(scope=scopes, plan=plans, which=st.integers(1, 7), used=st.lists(hits, max_size=2), about=keys)
    def flush(self, scope: Scope, plan: Plan, which: int, used: list[Hit], about: MessageKey) -> None:
        self.see_what_waits(scope, which)
        self.save_plan(scope, plan)
        self.add_hits(scope, used)
        self.mark_written(scope, about, "the way back")
        self.close_plan(scope, plan)

    @rule(scope=scopes, when=minutes)
    def erase(self, scope: Scope, when: int) -> None:
        self.scope(scope, lambda ledger: ledger.erase(at(when)))

    @rule(scope=scopes)
    def put_in_order(self, scope: Scope) -> None:
        self.scope(scope, lambda ledger: ledger.put_in_order())

    @rule(scope=scopes, seqs=st.lists(st.integers(-1, 9), max_size=6))
    def transcript(self, scope: Scope, seqs: list[int]) -> None:
        self.scope(scope, lambda ledger: ledger.transcript(seqs))

    @rule(scope=scopes, used=usages, times=st.sampled_from((1, 1, 1, 40)))
    def spend(self, scope: Scope, used: Usage, times: int) -> None:
        """Often enough at once that old reports go."""
        self.scope(scope, lambda ledger: _at_once(ledger.usage.spend(used) for _ in range(times)))

    @rule(timer=timers)
    def set_timer(self, timer: Timer) -> None:
        self.both(lambda ledger: ledger.timers.set(timer))

    @rule(name=st.sampled_from(("a", "b", "c")))
    def cancel_timer(self, name: str) -> None:
        self.both(lambda ledger: ledger.timers.cancel(name))

    @rule(hours=st.sampled_from((1, 23, 25)))
    def wait(self, hours: int) -> None:
        self.clock.advance(hours * 3600)

    @rule()
    def restart(self) -> None:
        self.runner.run(self.sqlite.close())
        self.sqlite = self.opened()
        self.ledgers.clear()

    @invariant()
    def they_hold_the_same(self) -> None:
        assert self.runner.run(_all_of(self.memory)) == self.runner.run(_all_of(self.sqlite))

    @invariant()
    def a_text_is_another_after_every_edit_and_the_state_tells_of_it(self) -> None:
        for kind, ledger in (("memory", self.memory), ("sqlite", self.sqlite)):
            for scope in SCOPES[:3]:
                own = ledger.open(scope)
                state, lines = self.runner.run(_looked(own))
                said = self.runner.run(own.transcript([line.seq for line in lines]))
                assert [line.seq for line in sorted(lines, key=lambda line: line.seq)] == [one.seq for one in said]
                entries = {one.seq: self.runner.run(own.find(one.key)) for one in said}
                assert [Said.of(entry) for entry in entries.values() if entry is not None] == list(said)
                texts = {line.seq: line.text_id for line in lines}
                told = tuple((texts[seq], entry) for seq, entry in entries.items() if entry is not None)
                for text_id, one in told:
                    edition = (one.message.text, one.message.edited_at)
                    assert self.editions.setdefault((kind, text_id), edition) == edition
                assert self.told.setdefault((kind, scope.key, state), told) == told, (
                    "the same state is the same transcript"
                )

    @invariant()
    def each_ledger_names_its_own_scope_alone(self) -> None:
        keys_of_all = {scope.key for scope in SCOPES}
        for own, statement in self.statements:
            if own is None or not _TABLE.search(statement):
                continue
            assert f"'{own}'" in statement, statement
            for other in keys_of_all - {own}:
                assert f"'{other}'" not in statement, statement
                assert f"<canary {other}>" not in statement, statement
        self.statements.clear()


async def _looked(ledger: ScopeLedger) -> tuple[TranscriptState, tuple[Line, ...]]:
    return await ledger.transcript_state(), await ledger.transcript_outline()


async def _state(ledger: ScopeLedger) -> TranscriptState:
    """Without the openings, which each ledger names in its own way."""
    return replace(await ledger.transcript_state(), openings=())


async def _outline(ledger: ScopeLedger, after: int, of: Conversation | None) -> tuple[Line, ...]:
    """Without the ids of texts, which each ledger counts in its own way."""
    return tuple(line._replace(text_id=0) for line in await ledger.transcript_outline(after, of))


async def _at_once(asked: Iterable[Awaitable[T]]) -> list[T]:
    return await asyncio.gather(*asked)


async def _answer(asked: Awaitable[T]) -> T | str:
    """What was answered, or in what words it was refused."""
    try:
        return await asked
    except LedgerFailed as error:
        return str(error)


async def _all_of(ledger: Ledger) -> list[object]:
    """All that a ledger can tell, asked through fresh scope ledgers: they have handed out nothing."""
    asked: list[Awaitable[object]] = [
        ledger.intake.owed(),
        ledger.intake.scopes(),
        ledger.intake.room(_ROOM),
        ledger.intake.rooms(_ROOM.platform),
        ledger.intake.reached(_ROOM.platform),
        ledger.timers.due(at(3)),
        ledger.timers.next_due(),
        ledger.reports.latest(),
        ledger.intake.known_scopes(),
    ]
    for scope in SCOPES:
        own = ledger.open(scope)
        asked += [own.conversations(), own.unflushed()]
        asked += [own.open_plans(), own.last_plan(), own.written(), own.hits(), own.changed()]
        asked += [own.ways_back(), _state(own), own.transcript(range(-1, 12))]
        asked += [_outline(own, after, of) for after in (0, 3) for of in (None, *_PLACES)]
        asked += [own.usage.spent(date(2026, 4, day)) for day in (5, 6, 7)]
        asked += [asking for place in _PLACES for asking in (own.context(place, 1), own.cursor(place))]
        asked += [own.find(about) for about in _KEYS]
    return await asyncio.gather(*asked)


TestAgreement = Agreement.TestCase
TestAgreement.settings = settings(
    max_examples=scale(1000),
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
