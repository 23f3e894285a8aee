"""A board within its line budget: the tasks that matter most stand on it, and one line says how many more there are.

No task is lost by it: the task list (pending_tasks.json) has them all, and the board only mirrors it. Shown first are
overdue tasks, then blocked ones, then by priority, then the newest. They get the room that the rest of the page
leaves, and a third of the budget in any case. Who does a task, and what was noted of it, goes along into the list and
comes back with the row.

Facts of the environment leave before them, as far as they take more than the tasks' third leaves (fact_budget).

A row stays, whatever the budget says, that the list does not bear out: a person's own task, a status that a person
changed, a row with more columns or lines than ours. Blockers stay too; what is too long then is told by REM. At most
AT_ONCE rows move in one flush.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from memory_core.flush.fact_budget import hold_facts
from memory_core.flush.target import TimedTarget
from memory_core.forms import tasks
from memory_core.forms.board import TaskRow, board
from memory_core.forms.more import more_in
from memory_core.forms.tasks import Task, TaskStatus, Urgency
from memory_core.ids import MessageKey, PageId
from memory_core.layouts import TASKS
from memory_core.operations.attention import DropRow, PutMore, PutRow, PutTask

AT_ONCE = 40
_LEAST = 3
"""One part of so many of the budget is the tasks', whatever else stands on the page."""
_TOLD_LINES = 2
"""The line that tells of more tasks, and the blank one after it."""
_URGENCY = {Urgency.CRITICAL: 0, Urgency.HIGH: 1, Urgency.NORMAL: 2, Urgency.LOW: 3}


def by_importance(open_tasks: Iterable[Task], today: date) -> list[Task]:
    """The tasks, each title once, the most important first."""
    newest = sorted(open_tasks, key=lambda task: task.touched or date.min, reverse=True)
    newest.sort(key=lambda task: _rank(task, today))
    return list({_key(task): task for task in reversed(newest)}.values())[::-1]


def row_of(task: Task, *, who: str = "", done: str = "") -> TaskRow:
    """The row of a task; who does it, and what was noted, as the list has kept it where `who` does not say."""
    kept = json.loads(task.extra)
    notes = kept.get("notes") if isinstance(kept.get("notes"), str) else ""
    due = f"due {task.due}" if task.due and not done else ""
    known = kept.get("who") if isinstance(kept.get("who"), str) else ""
    return TaskRow(task.title, task.status.value, who or known, f"done {done}" if done else notes or due)


def hold_board(draft: TimedTarget, page: PageId, today: date) -> None:
    """Bring the board within its budget, and back on it what finds room again."""
    rule, text = draft.table.rule(page), draft.texts.get(page, "")
    lines, told = len(text.splitlines()), more_in(text, rule.form)
    if not rule.budget_lines or (lines <= rule.budget_lines and not told):
        return
    ranked = by_importance(tasks.parse(draft.texts.get(TASKS, "")).open, today)
    rows = {row.key: row for row in board(rule.form).parse(text).tasks}
    shown = [task for task in ranked if _key(task) in rows]
    if lines > rule.budget_lines:
        hold_facts(draft, page, len(ranked), len(shown))
    lines = len(draft.texts[page].splitlines())
    others = lines - len(shown) - (_TOLD_LINES if told else 0)
    room = len(ranked)
    if others + room > rule.budget_lines:
        room = max(rule.budget_lines - others - _TOLD_LINES, rule.budget_lines // _LEAST)
    room -= _hide_behind(draft, page, ranked, room, rows)
    for task in [one for one in ranked[:room] if _key(one) not in rows][:AT_ONCE]:
        draft.do(PutRow(page, row_of(task), keys=_stated(task), board=rule.form))
    left = {row.key for row in board(rule.form).parse(draft.texts[page]).tasks}
    draft.do(PutMore(page, sum(_key(task) not in left for task in ranked), rule.form))


def _hide_behind(
    draft: TimedTarget, page: PageId, ranked: Sequence[Task], room: int, rows: Mapping[str, TaskRow]
) -> int:
    """Take the tasks behind the first `room` off the board; how many of those must make room for rows that stay."""
    hidden: set[str] = set()
    stay: set[str] = set()
    for at in reversed(range(len(ranked))):
        key = _key(ranked[at])
        if at < room - len(stay) or len(hidden) == AT_ONCE:
            break
        if key in rows:
            (hidden if _hide(draft, page, ranked[at], rows[key]) else stay).add(key)
    return len(stay)


def _rank(task: Task, today: date) -> tuple[date, bool, int]:
    late = tasks.overdue(task, today) or date.max
    return late, task.status is not TaskStatus.BLOCKED, _URGENCY[task.priority]


def _hide(draft: TimedTarget, page: PageId, task: Task, row: TaskRow) -> bool:
    """Take the row off the board; False where something of it would be lost."""
    form, text = draft.table.rule(page).form, draft.texts[page]
    on = board(form)
    mark = on.keys_of(text, task=row.task)
    without = on.without_task(text, row.task)
    if tasks.status_of(row.status) not in (None, task.status) or not _same_lines(
        on.with_task(without, row, mark, whole=True), text
    ):
        return False
    kept = json.loads(task.extra) | {name: said for name, said in _noted(row, task).items() if said}
    at = draft.now.astimezone(draft.zone)
    draft.do(PutTask(TASKS, replace(task, extra=json.dumps(kept, ensure_ascii=False)), at))
    return draft.do(DropRow(page, row.task, keys=tuple(dict.fromkeys((*_stated(task), *mark))), board=form))


def _noted(row: TaskRow, task: Task) -> dict[str, str]:
    """What the row says and the task does not."""
    return {"who": row.who, "notes": row.notes if row.notes != row_of(replace(task, extra="{}")).notes else ""}


def _same_lines(one: str, other: str) -> bool:
    """Do both texts have the same lines, in whatever order?"""
    return sorted(filter(str.strip, one.splitlines())) == sorted(filter(str.strip, other.splitlines()))


def _stated(task: Task) -> tuple[MessageKey, ...]:
    """The messages that the task's source names."""
    last = task.source.rpartition(", ")[2]
    return tuple(MessageKey(key) for key in last.split())


def _key(task: Task) -> str:
    return TaskRow(task.title).key
