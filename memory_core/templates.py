"""What a new page says before anything was remembered.

Pages that hold records begin with their title alone: what stands there is data, and a sentence of ours would be one
more record. The pages that a person writes (SOUL.md, MEMORY.md) explain themselves.
"""

from __future__ import annotations

from memory_core.ids import PageId
from memory_core.layouts import INDEX, Form, PageRule, Table

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
    "longterm": "Long-term",
    "daily-synced": "Daily",
    "project": "Project",
    "experience": "Experience",
    "people": "People",
}


def new_page(table: Table, page: PageId) -> str | None:
    """The text of a new page of `table`; None for one that has no template (the index, states, journals, archives).

    Raises UnknownPage.
    """
    rule = table.rule(page)
    match rule.form:
        case Form.PROSE:
            return _SOUL if rule.shared else _MEMORY.format(index=table.rule(INDEX).file)
        case Form.ATTENTION:
            return _ATTENTION
        case Form.NEWEST_FIRST | Form.ADDED | Form.DAILY_LINES:
            return f"# {_title(rule, page)}\n"
        case _:
            return None


def _title(rule: PageRule, page: PageId) -> str:
    return _TITLES.get(page) or (rule.name_in(page) or page).replace("-", " ").capitalize()
