"""A scope's life over months, on its messages' own clock, with its sleep; and what is measured of it.

    life = await lived(events, workspace, "apm", scope)
    life.months      one row a month: what stood there after everything that was due by its end
    life.nights      one entry a run of deep sleep or REM: its report, and every page of records before and after it
    life.answers     what was said to each event that was addressed to the bot

The way in is that of `remem replay` (bot/replay.py): the same loop takes the events in and stops at every timer. A
month ends where the clock says so, not where somebody speaks.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

from adapters.messages import Incoming, Outgoing, Sent
from bot import replay
from bot.app import App, opened
from bot.message_clock import Figures, time_passes
from memory_core.clock import ManualClock
from memory_core.forms.records import Record, parse
from memory_core.forms.sections import WITH_RECORDS
from memory_core.handle import Handle
from memory_core.ids import MessageKey, PageId, Scope
from memory_core.layouts import Form, PageRule
from memory_core.loading import disclose
from memory_core.session import Session
from memory_core.sleep.fitness import archivable, is_kept, is_proven
from memory_core.sleep.likeness import Alike, said, same
from memory_core.sleep.report import Report, Stage
from memory_core.sleep.sheet import counted_lines
from tests.scenarios.terminal import settings

LOADS = 5
"""How often the loading is timed at a month's end; the fastest counts."""

LEAST, SHARE = 3, 10
"""A run may take three records of a page by merging and score, or a tenth of them."""


class Listener(replay.Silent):
    """An adapter that keeps what is said, by the message that is answered."""

    def __init__(self) -> None:
        self.answers: dict[MessageKey, str] = {}

    async def send(self, outgoing: Outgoing) -> Sent:
        """Keep it."""
        if outgoing.reply_to is not None:
            self.answers[outgoing.reply_to] = outgoing.text
        return await super().send(outgoing)


@dataclass(frozen=True, slots=True)
class Seen:
    """A page of records at one moment."""

    records: Mapping[str, Record]
    lines: int
    """As they count against the budget."""


@dataclass(frozen=True, slots=True)
class Night:
    """One run of sleep, and the pages of records around it."""

    at: datetime
    report: Report
    took_s: float
    before: Mapping[PageId, Seen]
    after: Mapping[PageId, Seen]


@dataclass(frozen=True, slots=True)
class Month:
    """A month's end. `pages`: counted lines and budget of each page but journals and archives that has one."""

    name: str
    messages: int
    records: int
    proven: int
    tokens: int
    pages: Mapping[PageId, tuple[int, int]]
    archived: int
    archive_tokens: int
    duplicates: int
    sleeps: Counter[str]
    sleep_s: float
    load_tokens: int
    load_ms: float

    @property
    def over(self) -> dict[PageId, tuple[int, int]]:
        """The pages that are longer than their budget."""
        return {page: (lines, budget) for page, (lines, budget) in self.pages.items() if lines > budget}


@dataclass(slots=True)
class Life:
    """What a life left."""

    workspace: Path
    months: list[Month] = field(default_factory=list)
    nights: list[Night] = field(default_factory=list)
    answers: dict[MessageKey, str] = field(default_factory=dict)
    records: dict[PageId, list[Record]] = field(default_factory=dict)
    """At the end, archives too."""
    budgets: dict[PageId, int] = field(default_factory=dict)
    took_s: float = 0.0

    @property
    def standing(self) -> list[Record]:
        """The records that are on a page at the end."""
        return [one for page, found in self.records.items() if not page.startswith("archive/") for one in found]

    def table(self) -> str:
        """The months for a person."""
        head = (
            f"{'month':8}{'msgs':>6}{'records':>8}{'proven':>7}{'tokens':>7}{'archived':>9}"
            f"{'arch.tok':>9}{'dup':>4}"
            f"{'promoted':>9}{'merged':>7}{'supers.':>8}{'confl.':>7}{'to arch.':>9}{'back':>5}{'held':>5}"
            f"{'sleep s':>8}{'load tok':>9}{'load ms':>8}  fullest page"
        )
        return "\n".join([head, *map(_row, self.months), f"{self.took_s:.1f} s in all"])


def _row(month: Month) -> str:
    full = max(month.pages.items(), key=lambda one: one[1][0] / one[1][1], default=(PageId("-"), (0, 1)))
    slept = month.sleeps
    over = (
        "" if not month.over else "  OVER: " + ", ".join(f"{page} {n}/{of}" for page, (n, of) in month.over.items())
    )
    return (
        f"{month.name:8}{month.messages:>6}{month.records:>8}{month.proven:>7}{month.tokens:>7}{month.archived:>9}"
        f"{month.archive_tokens:>9}{month.duplicates:>4}{slept['promoted']:>9}{slept['merged']:>7}"
        f"{slept['superseded']:>8}{slept['conflicts']:>7}{slept['archived']:>9}{slept['returned']:>5}"
        f"{slept['held_back']:>5}{month.sleep_s:>8.2f}{month.load_tokens:>9}{month.load_ms:>8.1f}"
        f"  {full[0]} {full[1][0]}/{full[1][1]}{over}"
    )


async def lived(
    events: Sequence[Incoming],
    workspace: Path,
    layout: str,
    scope: Scope,
    *,
    asking: str = "what did we decide?",
    on_day: Callable[[date, Path], None] | None = None,
    **given: object,
) -> Life:
    """Live through the events, which must be in the order of their times, and all of one scope.

    `on_day` hears of each day before its first event; loading is timed by the question `asking`.
    """
    life, began = Life(workspace), time.perf_counter()
    clock, seat = ManualClock(events[0].sent_at), Listener()
    made = settings(workspace, layout=layout, **given)
    idle = timedelta(seconds=made.idle_s)
    async with opened(made, clock=clock, zone=UTC) as app:
        app.add(seat)
        _watch(app, life)
        done = 0
        for day, end in _days(events):
            if on_day is not None:
                on_day(day, workspace)
            await replay.go_through(app, clock, events[:end], idle, Figures(), lambda done, total: None)
            last = end == len(events)
            following = events[end].sent_at.date() if not last else day + timedelta(days=32)
            if (following.year, following.month) != (day.year, day.month):
                await time_passes(app.schedule, clock, _month_end(day) if not last else clock.now() + 2 * idle)
                if last:
                    await replay.save_rest(app)
                life.months.append(await _measured(app, life, scope, day, end - done, asking))
                done = end
        handle = app.parts.handles.open(scope)
        life.records = await _records(handle)
        life.budgets = {page: budget for page in life.records if (budget := handle.table.rule(page).budget_lines)}
    life.answers, life.took_s = seat.answers, time.perf_counter() - began
    return life


def _days(events: Sequence[Incoming]) -> list[tuple[date, int]]:
    """Each day that has events, and how many there are up to its end."""
    counted = Counter(event.sent_at.date() for event in events)
    found, end = [], 0
    for day in sorted(counted):
        end += counted[day]
        found.append((day, end))
    return found


def _month_end(day: date) -> datetime:
    first = (day.replace(day=1) + timedelta(days=32)).replace(day=1)
    return datetime(first.year, first.month, 1, tzinfo=UTC) - timedelta(seconds=1)


def _watch(app: App, life: Life) -> None:
    """Note every sleep of the program, with the pages around it."""
    sleep: Callable[[Scope, Stage], Awaitable[Report | None]] = app.sleeping._sleep

    async def noted(scope: Scope, stage: Stage) -> Report | None:
        handle, at = app.parts.handles.open(scope), app.parts.clock.now()
        before, began = await _seen(handle), time.perf_counter()
        report = await sleep(scope, stage)
        if report is not None:
            took_s = time.perf_counter() - began
            life.nights.append(Night(at, report, took_s, before, await _seen(handle)))
        return report

    app.sleeping._sleep = noted


async def _texts(handle: Handle) -> dict[PageId, str]:
    found = {}
    for page in sorted(await handle.store.pages()):
        read = await handle.store.read(page)
        if read is not None:
            found[page] = read.text
    return found


def _kept(text: str) -> list[Record]:
    return [placed.record for placed in parse(text).records if is_kept(placed.record)]


async def _seen(handle: Handle) -> dict[PageId, Seen]:
    return {
        page: Seen({record.identity: record for record in _kept(text)}, _counted(text, handle.table.rule(page)))
        for page, text in (await _texts(handle)).items()
        if handle.table.rule(page).form in WITH_RECORDS
    }


async def _records(handle: Handle) -> dict[PageId, list[Record]]:
    forms = {*WITH_RECORDS, Form.ARCHIVE}
    texts = await _texts(handle)
    return {page: _kept(text) for page, text in texts.items() if handle.table.rule(page).form in forms}


async def _measured(app: App, life: Life, scope: Scope, day: date, messages: int, asking: str) -> Month:
    handle = app.parts.handles.open(scope)
    count = app.parts.counter.count
    records: list[Record] = []
    tokens = archived = archive_tokens = duplicates = 0
    pages: dict[PageId, tuple[int, int]] = {}
    for page, text in (await _texts(handle)).items():
        rule = handle.table.rule(page)
        if rule.form is Form.ARCHIVE:
            archived += sum(1 for placed in parse(text).records if placed.record.archived)
            archive_tokens += count(text)
        elif rule.form is not Form.JOURNAL and str(rule.file).endswith(".md"):
            tokens += count(text)
            if rule.budget_lines:
                pages[page] = _counted(text, rule), rule.budget_lines
            if rule.form in WITH_RECORDS:
                here = _kept(text)
                records += here
                duplicates += _duplicates(here)
    load_tokens, load_ms = await _load(handle, asking)
    nights = [one for one in life.nights if (one.at.year, one.at.month) == (day.year, day.month)]
    return Month(
        f"{day:%Y-%m}",
        messages,
        len(records),
        sum(map(is_proven, records)),
        tokens,
        pages,
        archived,
        archive_tokens,
        duplicates,
        _sleeps(nights),
        sum(one.took_s for one in nights),
        load_tokens,
        load_ms,
    )


def _counted(text: str, rule: PageRule) -> int:
    """The lines as they count against the page's budget: on a channel's page topics and open points do, too."""
    if rule.form not in WITH_RECORDS:
        return len(text.splitlines())
    return counted_lines(text, rule.sections if rule.form is Form.CHANNEL else ())


def _sleeps(nights: Sequence[Night]) -> Counter[str]:
    found: Counter[str] = Counter()
    for night in nights:
        report = night.report
        found["promoted"] += report.promoted
        found["merged"] += report.merged
        found["superseded"] += report.superseded
        found["conflicts"] += report.conflicts
        found["archived"] += report.archived
        found["returned"] += report.returned
        found["held_back"] += len(report.held_back)
    return found


async def _load(handle: Handle, asking: str) -> tuple[int, float]:
    """What a fresh session loads for a question, in tokens, and how long that takes at best, in ms."""
    tokens, times = 0, []
    for _ in range(LOADS):
        began = time.perf_counter()
        tokens = (await disclose(handle, Session(), asking, title="room")).tokens
        times.append(time.perf_counter() - began)
    return tokens, 1000 * min(times)


def _duplicates(records: Sequence[Record]) -> int:
    """How many records say what another one of the page says."""
    texts = [said(record) for record in records]
    return len({other for one, other in Alike(texts).pairs() if same(texts[one], texts[other])})


# -- what must hold of every run ------------------------------------------------------------------------------------


def beyond_caps(life: Life) -> list[str]:
    """The runs in which a page lost more records to merging and score than it may.

    Superseded ones, which leave a struck line, are no loss by merging or score. A page that was too long loses as
    many more as its budget wants: then it stands full to the budget afterwards.
    """
    found = []
    for night in life.nights:
        for page, seen in night.before.items():
            after = night.after.get(page, Seen({}, 0))
            lost = [record for identity, record in seen.records.items() if identity not in after.records]
            others = night.report.superseded if night.report.stage is Stage.REM else 0
            limit, budget = max(LEAST, len(seen.records) // SHARE), life.budgets.get(page, 10**9)
            largest = max((record_lines(record) for record in lost), default=0)
            full = seen.lines > budget - largest and after.lines > budget - 2 * largest - 2 * others
            if len(lost) - others > limit and not full:
                found.append(f"{night.at:%Y-%m-%d} {night.report.stage}: {page} lost {len(lost)}, may {limit}")
    return found


def record_lines(record: Record) -> int:
    """About how many lines a record takes, with the blank one after it."""
    return 6 + record.body.count("\n") + len(record.extra)


def over_after_rem(life: Life) -> list[str]:
    """The pages that were longer than their budget right after REM, without its report saying so."""
    return [
        f"{night.at:%Y-%m-%d}: {page} has {seen.lines} of {life.budgets[page]} lines"
        for night in life.nights
        if night.report.stage is Stage.REM
        for page, seen in night.after.items()
        if seen.lines > life.budgets.get(page, 10**9)
        and not any(told.startswith(f"{page}:") for told in (*night.report.over_budget, *night.report.held_back))
    ]


def twice_after_rem(life: Life) -> list[str]:
    """The pages that say a thing twice right after REM; what came back in that run is merged by the next one."""
    return [
        f"{night.at:%Y-%m-%d}: {page}"
        for night in life.nights
        if night.report.stage is Stage.REM and not any("more duplicates" in told for told in night.report.held_back)
        for page, seen in night.after.items()
        if _duplicates(list(seen.records.values())) > night.report.returned
    ]


def vanished(life: Life) -> list[str]:
    """Messages that a record cited before a run, and no record, archive or struck line cites at last."""
    cited = {key for night in life.nights for seen in night.before.values() for one in seen.records.values()
             for key in one.messages}  # fmt: skip
    left = "".join(path.read_text("utf-8") for path in life.workspace.rglob("*.md"))
    return sorted(key for key in cited if key not in left)


def immortal(life: Life, today: date) -> list[str]:
    """Records that a rule should have taken from their page long ago: a month of grace, since caps are small.

    A page without a budget is read whole: nothing leaves it by age.
    """
    late = today - timedelta(days=31)
    aged = (one for page in life.budgets for one in life.records[page] if not page.startswith("archive/"))
    return [one.label for one in aged if archivable(one, late)]
