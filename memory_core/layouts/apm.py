"""APM: a group's memory is read through its index, then one best page; a DM's in three layers."""

from __future__ import annotations

from memory_core.ids import PageId
from memory_core.layouts.base import INDEX, SOUL, Form, Kind, Layout, PageRule, Priority, Slot, Table, side_files

GROUP = Table(
    rules=(
        SOUL,
        PageRule(INDEX, "memory/groups/{group}.md", Form.INDEX),
        PageRule(
            PageId("attention"), "memory/groups/{group}/attention.md", Form.ATTENTION, Priority.P0, 60,
            triggers=("tasks", "status", "blocked", "in progress", "today", "next", "todo", "deadline"),
            hint="active tasks, blockers, environment", lexicon="attention",
        ),
        PageRule(
            PageId("project"), "memory/groups/{group}/project.md", Form.ADDED, Priority.P1, 150,
            triggers=("tech stack", "architecture", "agreement", "deploy", "repository", "how we work"),
            hint="stack, architecture, agreements", lexicon="project",
        ),
        PageRule(
            PageId("experience"), "memory/groups/{group}/experience.md", Form.NEWEST_FIRST, Priority.P2, 200,
            triggers=("decision", "decided", "why", "lesson", "bug", "root cause", "workaround"),
            hint="decisions with reasons, lessons learned", lexicon="experience",
        ),
        PageRule(
            PageId("people"), "memory/groups/{group}/people.md", Form.ADDED, Priority.P3, 100,
            triggers=("who", "owner", "contact", "responsible", "role"),
            hint="roles, contacts, preferences", lexicon="people",
        ),
        PageRule(
            PageId("conventions/*"), "memory/groups/{group}/conventions/{name}.md", Form.ADDED, budget_lines=150),
        *side_files("memory/groups/{group}", "memory/groups/{group}/journal", "memory/groups/{group}/archive"),
    ),
    kinds={
        Kind.DECISION: PageId("experience"),
        Kind.LESSON: PageId("experience"),
        Kind.TASK: PageId("attention"),
        Kind.STATUS: PageId("attention"),
        Kind.BLOCKER: PageId("attention"),
        Kind.AGREEMENT: PageId("project"),
        Kind.STACK: PageId("project"),
        Kind.ARCHITECTURE: PageId("project"),
        Kind.ROLE: PageId("people"),
        Kind.PREFERENCE: PageId("people"),
        Kind.CONTACT: PageId("people"),
        Kind.ENVIRONMENT: PageId("attention"),
        Kind.TOOL: PageId("conventions/tools"),
    },
    start=(INDEX, Slot.ROUTED),
    default_budget_tokens=6000,
)  # fmt: skip

DIRECT = Table(
    rules=(
        SOUL,
        PageRule(PageId("user"), "USER.md", Form.ADDED),
        PageRule(PageId("memory"), "MEMORY.md", Form.PROSE, budget_lines=50),
        PageRule(INDEX, "memory/main/index.md", Form.INDEX),
        PageRule(
            PageId("attention"), "memory/main/attention.md", Form.ATTENTION, Priority.P0, 60,
            triggers=("tasks", "status", "blocked", "in progress", "today", "next", "todo", "deadline"),
            hint="active tasks, blockers, environment", lexicon="attention",
        ),
        PageRule(
            PageId("longterm"), "memory/main/longterm.md", Form.NEWEST_FIRST, Priority.P1, 200,
            triggers=("decision", "decided", "why", "lesson", "background", "remember"),
            hint="decisions, lessons, lasting facts", lexicon="experience",
        ),
        PageRule(
            PageId("daily-synced"), "memory/main/daily-synced.md", Form.DAILY_LINES, Priority.P2, 100,
            triggers=("yesterday", "last week", "recently", "what happened", "which day"),
            hint="one line a day", lexicon="daily",
        ),
        PageRule(
            PageId("projects/*"), "memory/main/projects/{name}.md", Form.ADDED, Priority.P3, 150,
            hint="one project's context", lexicon="project",
        ),
        *side_files("memory", "memory", "memory/archive"),
    ),
    kinds={
        Kind.DECISION: PageId("longterm"),
        Kind.LESSON: PageId("longterm"),
        Kind.TASK: PageId("attention"),
        Kind.STATUS: PageId("attention"),
        Kind.BLOCKER: PageId("attention"),
        Kind.AGREEMENT: PageId("projects/*"),
        Kind.STACK: PageId("projects/*"),
        Kind.ARCHITECTURE: PageId("projects/*"),
        Kind.ROLE: PageId("user"),
        Kind.PREFERENCE: PageId("user"),
        Kind.CONTACT: PageId("user"),
        Kind.ENVIRONMENT: PageId("attention"),
        Kind.TOOL: PageId("longterm"),
    },
    start=(
        PageId("soul"), PageId("user"), PageId("memory"), INDEX, PageId("attention"), Slot.ROUTED,
        Slot.TODAY, Slot.YESTERDAY,
    ),
    room=(
        PageId("memory"), INDEX, PageId("soul"), PageId("user"), PageId("attention"), Slot.ROUTED,
        Slot.TODAY, Slot.YESTERDAY,
    ),
    default_budget_tokens=8000,
)  # fmt: skip

APM = Layout("apm", GROUP, DIRECT)
