"""Adaptive Memory: daily notes (raw), active context (working memory), MEMORY.md (curated by sleep).

What a DM decides or learns stands in the journal until deep sleep takes it to a section of MEMORY.md. A group has one
page, its channel context; everything else of it stands in its journal and archive.
"""

from __future__ import annotations

from memory_core.ids import PageId
from memory_core.layouts.base import (
    INDEX,
    SOUL,
    TASKS,
    Form,
    Kind,
    Layout,
    PageRule,
    Priority,
    Slot,
    Table,
    side_files,
)

_KEY_DECISIONS, _LESSONS, _SYSTEMS, _ENVIRONMENT = "Key Decisions", "Lessons Learned", "Systems Built", "Environment"
_TOPICS, _RECENT, _UNRESOLVED = "Current Topics", "Recent Decisions", "Unresolved"

GROUP = Table(
    rules=(
        SOUL,
        PageRule(INDEX, "memory/groups/{group}.md", Form.INDEX),
        PageRule(
            PageId("channel_context"), "memory/channel_context/{group}.md", Form.CHANNEL, Priority.P0, 100,
            triggers=("topics", "decision", "decided", "why", "unresolved", "tasks", "status", "blocked", "next"),
            hint="current topics, recent decisions, unresolved points", lexicon="experience",
            sections=(_TOPICS, _RECENT, _UNRESOLVED),
        ),
        *side_files("memory/groups/{group}", "memory/groups/{group}/journal", "memory/groups/{group}/archive"),
    ),
    kinds={
        Kind.DECISION: PageId("channel_context"),
        Kind.TASK: PageId("channel_context"),
        Kind.STATUS: PageId("channel_context"),
        Kind.BLOCKER: PageId("channel_context"),
        Kind.AGREEMENT: PageId("channel_context"),
        Kind.STACK: PageId("channel_context"),
        Kind.ARCHITECTURE: PageId("channel_context"),
    },
    section_of={
        Kind.DECISION: _RECENT,
        Kind.TASK: _UNRESOLVED,
        Kind.STATUS: _UNRESOLVED,
        Kind.BLOCKER: _UNRESOLVED,
        Kind.AGREEMENT: _TOPICS,
        Kind.STACK: _TOPICS,
        Kind.ARCHITECTURE: _TOPICS,
    },
    not_kept=frozenset({Kind.ROLE, Kind.PREFERENCE, Kind.CONTACT}),
    start=(INDEX, PageId("channel_context"), Slot.ROUTED, TASKS),
    room=(INDEX, TASKS, PageId("channel_context"), Slot.ROUTED),
    default_budget_tokens=6000,
)  # fmt: skip

DIRECT = Table(
    rules=(
        SOUL,
        PageRule(PageId("user"), "USER.md", Form.ADDED),
        PageRule(INDEX, "memory/index.md", Form.INDEX),
        PageRule(
            PageId("active_context"), "memory/active_context.md", Form.ACTIVE, Priority.P0, 80,
            triggers=("tasks", "status", "blocked", "waiting", "in progress", "today", "next", "todo", "deadline"),
            hint="what is in progress, what waits, what was done", lexicon="attention",
            sections=("In Progress", "Blocked / Waiting", "Recently Completed"),
        ),
        PageRule(
            PageId("memory"), "MEMORY.md", Form.SECTIONS, Priority.P1, 200,
            triggers=("decision", "decided", "why", "lesson", "system", "environment", "remember", "background"),
            hint="systems built, lessons learned, key decisions, environment", lexicon="experience",
            sections=(_SYSTEMS, _LESSONS, _KEY_DECISIONS, _ENVIRONMENT),
        ),
        *side_files("memory", "memory", "memory/archive"),
    ),
    kinds={
        Kind.TASK: PageId("active_context"),
        Kind.STATUS: PageId("active_context"),
        Kind.BLOCKER: PageId("active_context"),
        Kind.ROLE: PageId("user"),
        Kind.PREFERENCE: PageId("user"),
        Kind.CONTACT: PageId("user"),
    },
    promoted={
        Kind.DECISION: PageId("memory"),
        Kind.LESSON: PageId("memory"),
        Kind.AGREEMENT: PageId("memory"),
        Kind.STACK: PageId("memory"),
        Kind.ARCHITECTURE: PageId("memory"),
        Kind.ENVIRONMENT: PageId("memory"),
        Kind.TOOL: PageId("memory"),
    },
    section_of={
        Kind.DECISION: _KEY_DECISIONS,
        Kind.LESSON: _LESSONS,
        Kind.AGREEMENT: _SYSTEMS,
        Kind.STACK: _SYSTEMS,
        Kind.ARCHITECTURE: _SYSTEMS,
        Kind.ENVIRONMENT: _ENVIRONMENT,
        Kind.TOOL: _ENVIRONMENT,
        Kind.BLOCKER: "Blocked / Waiting",
        Kind.TASK: "In Progress",
        Kind.STATUS: "In Progress",
    },
    start=(
        PageId("soul"), PageId("user"), INDEX, PageId("active_context"), Slot.TODAY, Slot.YESTERDAY,
        PageId("memory"), TASKS, Slot.ROUTED,
    ),
    room=(
        INDEX, PageId("soul"), PageId("user"), TASKS, PageId("active_context"), Slot.TODAY, Slot.YESTERDAY,
        PageId("memory"), Slot.ROUTED,
    ),
    keeps=PageId("memory"),
    default_budget_tokens=8000,
)  # fmt: skip

ADAPTIVE = Layout("adaptive", GROUP, DIRECT)
