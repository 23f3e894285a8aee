"""What time does to a memory: stale boards, tasks past their day, journals that nobody digested or put away.

board        open tasks or blockers, unchanged for 3 days: watch; for 14 days: warning
tasks        an open one past its day; done ones that stay longer than 7 days
journals     3 or more that came after the last distillation, which is 48 hours ago or never was; or any at all when
             it is 7 days ago. A journal of today does not count yet, nor one that was written within the last day,
             whatever its date: an import writes journals of long ago, and no sleep could have gone through them
archive      journals older than 14 days
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.snapshot import Snapshot
from memory_core.clock import day_in
from memory_core.forms import heartbeat, journal, tasks
from memory_core.forms.board import BOARDS, board
from memory_core.forms.tasks import Task, TaskFile, TaskStatus
from memory_core.ids import PageId
from memory_core.layouts import HEARTBEAT, TASKS, Form, PageRule
from memory_core.sleep.due import DEEP_SOONER, REM_EVERY, SOONER_JOURNALS
from memory_core.store.base import PageText
from memory_core.text import counted

STALE, OLD = timedelta(days=3), timedelta(days=14)
DONE_STAYS = timedelta(days=7)
ARCHIVED_AFTER = timedelta(days=14)
A_NIGHT = timedelta(days=1)
"""Within it a night comes, and with it the first sleep that can go through what was written."""
_NAMED = 3


def upkeep_findings(seen: Snapshot) -> Iterator[Finding]:
    """Everything that is overdue in this scope."""
    for rule, text in seen.of_form(*BOARDS):
        yield from _stale(seen, rule, text)
    yield from _tasks(seen)
    yield from _distillation(seen)
    late = [day for day in journal_days(seen) if seen.today - day > ARCHIVED_AFTER]
    if late:
        what = (
            f"{counted(len(late), 'journal')} older than {ARCHIVED_AFTER.days} days, the first of {late[0]}: deep "
            "sleep moves them to the archive."
        )
        yield seen.finding("journal-archive-due", what, _journal(late[0]), severity=Severity.WATCH)


def journal_days(seen: Snapshot) -> tuple[date, ...]:
    """The days that have a journal, oldest first."""
    days = (_day(text.page.partition("/")[2]) for _, text in seen.of_form(Form.JOURNAL))
    return tuple(sorted(day for day in days if day))


def left_done(file: TaskFile, now: datetime) -> tuple[Task, ...]:
    """The tasks that were done more than 7 days ago; one whose day of completion is unknown stays."""
    done = (task for task in file.tasks if task.status is TaskStatus.DONE)
    return tuple(task for task in done if (at := _moment(task.completed_at, now)) and now - at > DONE_STAYS)


def _stale(seen: Snapshot, rule: PageRule, text: PageText) -> Iterator[Finding]:
    read = board(rule.form).parse(text.text)
    finished = {"done", "completed", "已完成", "erledigt"}
    open_tasks = [row for row in read.tasks if row.status.strip().lower() not in finished]
    if not open_tasks and not read.blockers:
        return
    flushed = _day(read.fact("last flush")[:10])
    written = day_in(seen.zone, datetime.fromtimestamp(text.stamp.mtime_ns / 1e9, seen.now.tzinfo))
    age = seen.today - (flushed or written)
    if age < STALE:
        return
    what = (
        f"Nothing changed for {age.days} days, though tasks or blockers stand open: say what is done, or drop "
        "what is not true any more."
    )
    yield seen.finding("context-stale", what, text.page, severity=Severity.WARNING if age >= OLD else Severity.WATCH)


def _tasks(seen: Snapshot) -> Iterator[Finding]:
    standing = seen.pages.get(TASKS)
    file = tasks.parse(standing.text if standing else "")
    late = [task for task in file.open if (day := _day(task.due)) and day < seen.today]
    if late:
        named = "; ".join(f"{task.title[:60]!r} since {task.due}" for task in late[:_NAMED])
        more = f" and {len(late) - _NAMED} more" if len(late) > _NAMED else ""
        yield seen.finding(
            "task-overdue", f"Overdue: {named}{more}. Finish, move or drop them.", TASKS, severity=Severity.WATCH
        )
    if done := left_done(file, seen.now):
        what = (
            f"{len(done)} done for more than {DONE_STAYS.days} days: they leave the list at the next flush, "
            "or by `--fix`."
        )
        yield seen.finding("tasks-done-left", what, TASKS, severity=Severity.WATCH, fixable=True)


def _distillation(seen: Snapshot) -> Iterator[Finding]:
    state = seen.pages.get(HEARTBEAT)
    beat = heartbeat.parse(state.text if state else None)
    last = max(filter(None, (beat.last_consolidated_at, beat.last_deep)), default=None)
    since = day_in(seen.zone, last) if last else date.min
    past = [day for day in journal_days(seen) if since < day < seen.today]
    waiting = [day for day in past if _has_notes(seen, day) and not _is_new(seen, day)]
    age = seen.now - last if last else None
    many = len(waiting) >= SOONER_JOURNALS and (age is None or age > DEEP_SOONER)
    if not many and not (waiting and age is not None and age > REM_EVERY):
        return
    ago = f"was {age.days} days ago" if age is not None else "never was"
    what = (
        f"The last distillation {ago}, and {counted(len(waiting), 'journal')} came since ({waiting[0]} to "
        f"{waiting[-1]}): run `/remem sleep`."
    )
    yield seen.finding("distillation-overdue", what, _journal(waiting[0]))


def _has_notes(seen: Snapshot, day: date) -> bool:
    text = seen.pages[_journal(day)].text
    return any(not note.absorbed for note in journal.parse(text).notes)


def _is_new(seen: Snapshot, day: date) -> bool:
    """Was the journal written within the last day? One that bears a time to come was not."""
    age_s = seen.now.timestamp() - seen.pages[_journal(day)].stamp.mtime_ns / 1e9
    return 0 <= age_s < A_NIGHT.total_seconds()


def _journal(day: date) -> PageId:
    return PageId(f"journal/{day.isoformat()}")


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text[:10])
    except ValueError:
        return None


def _moment(text: str, now: datetime) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)
