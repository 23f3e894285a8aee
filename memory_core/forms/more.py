"""The line of a board that says how many open tasks more stand in the task list than on the page.

    … and 23 more open tasks; `/remem status` lists all of them.

It stands right under the heading of the board's tasks, as a paragraph: neither a row nor a bullet, so that no reading
of the board takes it for a task. A page without it shows every open task.
"""

from __future__ import annotations

import re

from memory_core.forms import listed
from memory_core.forms.active import IN_PROGRESS
from memory_core.forms.attention import TASKS
from memory_core.forms.blocks import Line, newline_of
from memory_core.forms.channel import UNRESOLVED
from memory_core.layouts import Form

_HEADINGS = {Form.ATTENTION: TASKS, Form.ACTIVE: IN_PROGRESS, Form.CHANNEL: UNRESOLVED}
_LINE = re.compile(r"… and (\d{1,6}) more open tasks?; `/remem status` lists all of them\.")


def more_in(text: str, form: Form) -> int:
    """How many open tasks more the page tells of; 0 where it shows all."""
    line = _told(text, form)
    found = _LINE.fullmatch(line.text) if line else None
    return int(found[1]) if found else 0


def with_more(text: str, form: Form, count: int) -> str:
    """The page with that number told; 0 takes the line out."""
    newline, line = newline_of(text), _told(text, form)
    said = f"… and {count} more open {'task' if count == 1 else 'tasks'}; `/remem status` lists all of them."
    if line is not None and count > 0:
        return text[: line.start] + said + text[line.end :]
    if line is not None:
        end = listed.after(text, line.end)
        return text[: line.start] + text[end:].removeprefix(newline)
    if count <= 0:
        return text
    lines = listed.section(text, _HEADINGS.get(form, TASKS))
    if not lines:
        return listed.append(text, _HEADINGS.get(form, TASKS), said)
    at = listed.after(text, lines[0].end)
    head = text[:at] if text[:at].endswith("\n") else text[:at] + newline
    rest = text[at:]
    blank = newline if rest.startswith(newline) else ""
    return f"{head}{blank}{said}{newline}{newline}{rest.removeprefix(blank) if blank else rest}"


def _told(text: str, form: Form) -> Line | None:
    lines = listed.section(text, _HEADINGS.get(form, TASKS))
    return next((line for line in lines if _LINE.fullmatch(line.text)), None)
