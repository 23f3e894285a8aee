"""What a new page says before anything was remembered.

Pages that hold records begin with their title alone: what stands there is data, and a sentence of ours would be one
more record. The pages that a person writes (SOUL.md, MEMORY.md) explain themselves.
"""

from __future__ import annotations

from functools import cache

from memory_core.ids import PageId
from memory_core.layouts import INDEX, LAYOUTS, Form, PageRule, Table

_SOUL = """\
# Soul

You are remem: a calm, friendly colleague with a good memory.

- Answer in the language you are addressed in, briefly.
- Answer from memory where it knows, and say where it stands; say so when you do not know.
- What is said in one room stays in that room.
- Never claim that something was saved unless it was.
"""

_MEMORY = """\
# Memory

What rarely changes, in at most 50 lines. A person writes this page; remem only reads it.

## Identity

- Agent: remem; how it speaks stands in SOUL.md
- Owner: stands in USER.md

## Environment

## Projects

| Project | Page |
|---|---|

## Where the rest is

- Direct conversations: {index}
- Groups: memory/groups/, each for its own room only
- Daily notes: memory/YYYY-MM-DD.md
"""

_ATTENTION = """\
# Attention

## Active Tasks

| Task | Status | Who | Notes |
|---|---|---|---|

## Blockers

## Environment Snapshot
"""

_TITLES = {
    "user": "User",
    "memory": "Memory",
    "active_context": "Active Context",
    "channel_context": "Channel Context",
    "longterm": "Long-term",
    "daily-synced": "Daily",
    "project": "Project",
    "experience": "Experience",
    "people": "People",
}


def new_page(table: Table, page: PageId, name: str = "") -> str | None:
    """The text of a new page of `table`; None for one that has no template (the index, states, journals, archives).

    `name` is the group's, for a page that begins with it. Raises UnknownPage.
    """
    rule = table.rule(page)
    match rule.form:
        case Form.PROSE:
            return _SOUL if rule.shared else _MEMORY.format(index=table.rule(INDEX).file)
        case Form.ATTENTION:
            return _ATTENTION
        case Form.SECTIONS | Form.ACTIVE | Form.CHANNEL:
            title = name if name and rule.form is Form.CHANNEL else _title(rule, page)
            return "\n\n".join([f"# {title}", *(f"## {section}" for section in rule.sections)]) + "\n"
        case Form.NEWEST_FIRST | Form.ADDED | Form.DAILY_LINES:
            return f"# {_title(rule, page)}\n"
        case _:
            return None


def _title(rule: PageRule, page: PageId) -> str:
    if rule.form is Form.SECTIONS:
        return "Long-Term Memory"
    return _TITLES.get(page) or (rule.name_in(page) or page).replace("-", " ").capitalize()


def is_ours(line: str) -> bool:
    """Is it a line that a new page explains itself with? Where nobody changed it, it tells nothing of anybody."""
    return line.strip() in _explaining()


@cache
def _explaining() -> frozenset[str]:
    tables = [table for layout in LAYOUTS.values() for table in (layout.group, layout.direct)]
    pages = [new_page(table, rule.page) for table in tables for rule in table.rules if rule.form is Form.PROSE]
    return frozenset(line.strip() for page in pages if page for line in page.splitlines() if line.strip())
