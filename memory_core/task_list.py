"""The open tasks of a scope as a short list, as a conversation begins with them. Pure.

    - Move the runner (in progress, due 2026-04-03, overdue since 2026-04-03; waits for the licence)
    - Renew the certificate (pending)

Overdue ones first, the longest overdue before the others (forms.tasks); then by urgency, then what is in progress,
blocked, not begun; the earliest day first. At most `LISTED` of them, and a line that says how many more there are:
`/remem status` tells all.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from memory_core.forms.escape import escape, escape_comment
from memory_core.forms.tasks import Task, TaskStatus, Urgency, overdue
from memory_core.text import one_line

LISTED = 20
"""How many tasks are listed at most."""
_TITLE_CHARACTERS = 160
_NOTE_CHARACTERS = 120
_URGENCY = (Urgency.CRITICAL, Urgency.HIGH, Urgency.NORMAL, Urgency.LOW)
_STATUS = (TaskStatus.IN_PROGRESS, TaskStatus.BLOCKED, TaskStatus.PENDING, TaskStatus.DONE)


def task_list(tasks: Sequence[Task], today: date) -> str:
    """The open ones of `tasks` as Markdown; '' where none is open."""
    wanted = sorted(
        (task for task in tasks if task.status is not TaskStatus.DONE), key=lambda one: _place(one, today)
    )
    if not wanted:
        return ""
    more = len(wanted) - LISTED
    rest = [f"- … and {more} more open tasks; `/remem status` tells them."] if more > 0 else []
    return "\n".join(["# Open tasks", "", *(_line(task, today) for task in wanted[:LISTED]), *rest]) + "\n"


def _place(task: Task, today: date) -> tuple[date, int, int, str]:
    return (
        overdue(task, today) or date.max,
        _URGENCY.index(task.priority),
        _STATUS.index(task.status),
        task.due or "9999",
    )


def _line(task: Task, today: date) -> str:
    since = overdue(task, today)
    facts = [task.status.value.replace("_", " ")]
    facts += [task.priority.value] if task.priority in (Urgency.CRITICAL, Urgency.HIGH) else []
    facts += [f"due {one_line(task.due, 20)}"] if task.due else []
    facts += [f"overdue since {since.isoformat()}"] if since else []
    note = f"; {one_line(task.note, _NOTE_CHARACTERS)}" if task.note.strip() else ""
    return f"- {escape(one_line(task.title, _TITLE_CHARACTERS))} ({', '.join(facts)}{escape_comment(note)})"
