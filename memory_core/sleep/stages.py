"""One sleep from beginning to end: pages → plan → persisted → applied, read back → catalogue → heartbeat → closed.

The plan is a flush's (memory_core.flush.plans): whoever finds it open finishes it, undo takes it back as one step,
byte for byte where the lines still stand, and the heartbeat then tells the sleep before it (forms/heartbeat). A run
that finds nothing to do saves no plan and writes the heartbeat alone. Planning is work for the processor and is done
in a thread, on texts.

A sleep wants a flushed scope: as long as messages wait that were deleted or edited since the last flush, it does
nothing and says so, because a statement that is about to leave must not be promoted. Like a flush it runs alone
(memory_core.flush.engine.Flushing.alone), and without an index nothing is read or written (NoIndex).

Stuck upkeep looks alive. Deep sleep keeps fingerprints of the notes and of what of them could be read; after
IDLE_RUNS runs that met new notes and could read nothing new of them, its report warns.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import date, tzinfo

from memory_core.clock import day_in
from memory_core.errors import NoIndex, RememError
from memory_core.flush.apply import apply, finish
from memory_core.flush.draft import Draft
from memory_core.flush.engine import read_state, resume
from memory_core.flush.gathering import draft_on
from memory_core.flush.plans import Body, Receipt, Step, Trigger, dump, told_by
from memory_core.flush.standing import Standing
from memory_core.flush.steps import MOST, last_step
from memory_core.forms import heartbeat as heartbeats
from memory_core.forms.heartbeat import Heartbeat
from memory_core.forms.patches import hunks, wide_hunks
from memory_core.handle import Handle
from memory_core.ids import DirectScope, PageId
from memory_core.index import parse as parse_index
from memory_core.layouts import FLUSH_STATE, HEARTBEAT, INDEX, Form
from memory_core.ledger.base import Plan
from memory_core.operations import Operation
from memory_core.operations.pages import Patch, Unmake, text_hash
from memory_core.operations.sleep import PutHeartbeat, Restore
from memory_core.sleep.deep import Diary, plan_deep, read_journals
from memory_core.sleep.lines import heard, read_day
from memory_core.sleep.night import Night
from memory_core.sleep.rem import plan_rem
from memory_core.sleep.report import SAID, Caps, Report, Stage

IDLE_RUNS = 3
"""After so many runs that could read nothing of new notes a report warns."""
_LINES_DIFFED = 300
"""Longer pages are compared heading by heading."""
_UNHEARD = "messages were deleted or edited since the last flush; flush first, then sleep"


async def sleep(
    handle: Handle, stage: Stage, zone: tzinfo | None = None, *, caps: Caps | None = None, dry_run: bool = False
) -> Report:
    """Do one stage now; everything in the report was read back. `zone`: instead of the one that the index
    names, or the host's.

    A failure of the store or the ledger stands in the report's `problem`; what was begun is finished at the next
    start. `dry_run` writes nothing. No flush of the scope may run meanwhile. Raises NoIndex.
    """
    at = handle.clock.now().astimezone(zone or handle.host_zone)
    try:
        if not dry_run:
            await resume(handle)
        if await handle.ledger.changed():
            return Report(stage, 0, at, problem=_UNHEARD, lines=(f"{SAID}{_UNHEARD}",), dry_run=dry_run)
        standing = await _standing(handle)
        zone = zone or parse_index(standing.pages[INDEX].text, handle.table).zone or handle.host_zone
        night = _night(handle, standing, zone, caps or Caps())
        old = heartbeats.parse(_text(standing, HEARTBEAT))
        beat = await asyncio.to_thread(_planned, night, stage, old, _place(handle))
        return await _done(handle, stage, standing, night, beat, dry_run=dry_run)
    except NoIndex:
        raise
    except RememError as refused:
        return Report(stage, 0, at, problem=str(refused), lines=(f"{SAID}{refused}",), dry_run=dry_run)


async def read_heartbeat(handle: Handle) -> Heartbeat:
    """When the scope slept last. Raises StoreError."""
    page = await handle.store.read(HEARTBEAT)
    return heartbeats.parse(page.text if page else None)


async def undigested(handle: Handle, zone: tzinfo, heartbeat: Heartbeat | None = None) -> int:
    """How many journals hold lines that no deep sleep has seen: of the day of the last one, and later.

    Raises StoreError.
    """
    beat = heartbeat or await read_heartbeat(handle)
    since = day_in(zone, beat.last_deep) if beat.last_deep else date.min
    found = 0
    for page in await handle.store.pages():
        name = page.partition("/")[2]
        if handle.table.rule(page).form is Form.JOURNAL and name >= since.isoformat():
            text = await handle.store.read(page)
            found += bool(text and await asyncio.to_thread(_has_lines, page, text.text, _place(handle)))
    return found


def _has_lines(page: PageId, text: str, place: str) -> bool:
    """`place` as the sleep that may follow gives it, which then finds the journal read."""
    return bool(read_day(page, text, place).lines)


async def _standing(handle: Handle) -> Standing:
    """Every page that a sleep looks at or may write. Raises NoIndex, StoreError."""
    listed = await handle.store.pages()
    if INDEX not in listed:
        raise NoIndex(f"{handle.scope.key} has no index yet, so there is nothing to look after.")
    table = handle.table
    wanted = [page for page in listed if not table.rule(page).shared and table.rule(page).form is not Form.STATE]
    return await Standing(listed).reading(handle, [*wanted, *(p for p in (FLUSH_STATE, HEARTBEAT) if p in listed)])


def _text(standing: Standing, page: PageId) -> str:
    """What stands on the page; '' where there is none."""
    return standing.pages[page].text if page in standing.pages else ""


def _night(handle: Handle, standing: Standing, zone: tzinfo, caps: Caps) -> Night:
    now = handle.clock.now().astimezone(zone)
    pages = {page: one for page, one in standing.pages.items() if page != HEARTBEAT}
    draft = draft_on(handle, zone, now, Standing(standing.listed, pages))
    begun = handle.clock.monotonic_s()
    return Night(
        draft,
        day_in(zone, now),
        caps,
        frozenset(page for page, one in pages.items() if one.bad_bytes),
        _late(handle.clock.monotonic_s, begun + caps.max_seconds),
        frozenset(page for page, one in pages.items() if one.bom),
    )


def _late(clock: Callable[[], float], until: float) -> Callable[[], bool]:
    return lambda: clock() > until


def _place(handle: Handle) -> str:
    """Where something was said, of which the journal only tells who and when."""
    return "DM" if isinstance(handle.scope, DirectScope) else handle.scope.name


def _planned(night: Night, stage: Stage, old: Heartbeat, place: str) -> PutHeartbeat:
    """Plan the stage on the night's draft; what the heartbeat will say."""
    now = night.draft.now
    if stage is Stage.REM:
        plan_rem(night)
        return PutHeartbeat(HEARTBEAT, now, False, True, 0, "", "")
    diary = read_journals(night, place)
    notes, read = _notes(night.draft), _read(diary)
    plan_deep(night, diary)
    idle = _idle(old, notes, read)
    if idle >= IDLE_RUNS:
        told = f"warning: {idle} runs met new notes and could read nothing new of them; look at the journals"
        night.tally.lines.insert(0, told)
    return PutHeartbeat(HEARTBEAT, now, True, False, idle, _notes(night.draft), _read(read_journals(night, place)))


def _idle(old: Heartbeat, notes: str, read: str) -> int:
    """How many runs in a row met new notes and nothing new to read."""
    if old.last_deep is None or read != old.read:
        return 0
    return old.idle_runs + (1 if notes != old.notes else 0)


def _notes(draft: Draft) -> str:
    """The fingerprint of all that stands in the journals where it should be readable: a room may have only tasks."""
    journals = ((page, text) for page, text in draft.texts.items() if _is_note(draft, page) and text)
    return _digest(f"{page}\n{line}" for page, text in journals for line in heard(text))


def _read(diary: Diary) -> str:
    """The fingerprint of what of the journals can be promoted and was not."""
    return _digest(f"{line.page}\n{line.raw}" for day in diary.days.values() for line in day.lines)


def _is_note(draft: Draft, page: PageId) -> bool:
    return draft.table.rule(page).form is Form.JOURNAL


def _digest(parts: Iterable[str]) -> str:
    found = hashlib.sha256()
    for part in sorted(parts):
        found.update(part.encode("utf-8", "replace") + b"\0")
    return found.hexdigest()[:16]


async def _done(
    handle: Handle, stage: Stage, standing: Standing, night: Night, beat: PutHeartbeat, *, dry_run: bool
) -> Report:
    """Persist and apply what was planned; the report."""
    draft = night.draft
    last = await last_step(handle.ledger)
    state = await read_state(handle)
    plain = max(state.flush_number, last.plan.number if last.plan else 0)
    number = plain + 1 if draft.operations else plain
    if dry_run:  # no ledger to ask for the last number, and what is saved meanwhile takes the next one
        return replace(_report(night, stage, 0), dry_run=True)
    report = _report(night, stage, number)
    if not draft.operations:
        await apply(handle, [beat])
        return report
    trigger = Trigger.DEEP if stage is Stage.DEEP else Trigger.REM
    receipt = Receipt(
        number,
        trigger,
        dict(draft.kinds),
        report.pages,
        pending=len(state.pending_items),
        at=draft.now,
        written=True,
    )
    exact = await asyncio.to_thread(way_back, draft)
    told, made = told_by(state), last.id_of(number)
    inverses = (*draft.inverses, beat.undo(_text(standing, HEARTBEAT)))
    step = Step(number, dict(draft.kinds), exact, inverses, told, state.pending_items, sleep=stage.value, plan=made)
    steps = (step, *last.steps)[:MOST]
    operations = (*draft.operations, beat)
    body = Body(receipt, state.pending_items, None, True, operations, steps=steps, told=told)
    body = replace(body, waiting=last.waiting, passed=last.passed, results=draft.results())
    plan = Plan(made, number, dump(body))
    await handle.ledger.save_plan(plan)
    done = await finish(handle, plan, standing)
    waits = tuple(f"{page} holds bytes that are no text; what belongs there waits" for page in done.waits)
    return replace(report, held_back=(*report.held_back, *waits), pages=done.pages)


def way_back(draft: Draft) -> tuple[Operation, ...]:
    """The way back from a draft, page by page; tried here, so that it is byte for byte whatever stands there."""
    found: list[Operation] = []
    for page in dict.fromkeys(operation.page for operation in draft.inverses):
        after = draft.texts[page]
        if page not in draft.base:
            found.append(Unmake(page, text_hash(after)))
        elif draft.base[page] != after:
            found.append(_back(page, draft.base[page], after))
    return tuple(found)


def _back(page: PageId, before: str, after: str) -> Operation:
    differ = hunks if before.count("\n") + after.count("\n") < _LINES_DIFFED else wide_hunks
    patch = Patch(page, differ(before, after))
    fits = patch.apply(after, Form.STATE) == before and patch.apply(before, Form.STATE) == before
    return patch if fits else Restore(page, text_hash(after), before)


def _report(night: Night, stage: Stage, number: int) -> Report:
    tally = night.tally
    pages = tuple(dict.fromkeys(operation.page for operation in night.draft.operations))
    report = Report(
        stage,
        number,
        night.draft.now,
        promoted=tally.promoted,
        absorbed=tally.absorbed,
        merged=tally.merged,
        superseded=tally.superseded,
        conflicts=tally.conflicts,
        proven=tally.proven,
        archived=tally.archived,
        returned=tally.returned,
        journals=tally.journals,
        pages=pages,
        over_budget=tuple(tally.over_budget),
        held_back=tuple(tally.held_back),
    )
    return replace(report, lines=_lines(report, tally.lines))


def _lines(report: Report, told: list[str]) -> tuple[str, ...]:
    """The report for a person, what stays to be done first; how much of it is shown is another's business."""
    left = [
        *(f"over budget: {one}" for one in report.over_budget),
        *(f"held back: {one}" for one in report.held_back),
    ]
    return tuple(f"{SAID}{line}" for line in (*left, *told))
