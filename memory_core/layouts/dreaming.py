"""Dreaming: records by category, each with its fitness; an index that is the only file to be loaded whole.

A message opens at most two categories: coding and planning decisions and project context, debugging the lessons, a
person people, the environment tools. Tasks and blockers stand in the journal and in pending_tasks.json: there is no
page of what is being done, so the list of open tasks is a part of the start, where there are any.
"""

from __future__ import annotations

from memory_core.ids import PageId
from memory_core.layouts.base import (
    INDEX,
    SOUL,
    TASKS,
    Form,
    IndexForm,
    Kind,
    Layout,
    PageRule,
    Priority,
    Slot,
    Table,
    side_files,
)

_KINDS = {
    Kind.DECISION: PageId("decisions"),
    Kind.LESSON: PageId("lessons"),
    Kind.AGREEMENT: PageId("project-context"),
    Kind.STACK: PageId("project-context"),
    Kind.ARCHITECTURE: PageId("project-context"),
    Kind.ROLE: PageId("people"),
    Kind.PREFERENCE: PageId("people"),
    Kind.CONTACT: PageId("people"),
    Kind.ENVIRONMENT: PageId("tools-config"),
    Kind.TOOL: PageId("tools-config"),
}


def _categories(base: str) -> tuple[PageRule, ...]:
    """The five category pages below `base`."""
    return (
        PageRule(
            PageId("decisions"), f"{base}/decisions.md", Form.NEWEST_FIRST, Priority.P0, 200,
            triggers=("decision", "decided", "why", "plan", "planning", "write code", "implement", "design"),
            hint="decisions with reasons", lexicon="decisions",
        ),
        PageRule(
            PageId("lessons"), f"{base}/lessons.md", Form.NEWEST_FIRST, Priority.P1, 300,
            triggers=("lesson", "bug", "debug", "error", "root cause", "workaround"),
            hint="root causes, workarounds, lessons learned", lexicon="lessons",
        ),
        PageRule(
            PageId("project-context"), f"{base}/project-context.md", Form.NEWEST_FIRST, Priority.P1, 150,
            triggers=(
                "tech stack", "architecture", "agreement", "deploy", "repository", "plan", "planning", "write code",
                "implement",
            ),
            hint="stack, architecture, agreements", lexicon="context",
        ),
        PageRule(
            PageId("people"), f"{base}/people.md", Form.NEWEST_FIRST, Priority.P2, 100,
            triggers=("who", "owner", "contact", "responsible", "role", "prefers"),
            hint="roles, contacts, preferences", lexicon="people",
        ),
        PageRule(
            PageId("tools-config"), f"{base}/tools-config.md", Form.NEWEST_FIRST, Priority.P3, 100,
            triggers=("environment", "tool", "setup", "config", "command", "proxy"),
            hint="commands, environment, settings", lexicon="tools",
        ),
    )  # fmt: skip


GROUP = Table(
    rules=(
        SOUL,
        PageRule(INDEX, "memory/groups/{group}.md", Form.INDEX, budget_lines=80),
        *_categories("memory/groups/{group}"),
        *side_files("memory/groups/{group}", "memory/groups/{group}/journal", "memory/groups/{group}/archive"),
    ),
    kinds=_KINDS,
    start=(INDEX, Slot.ROUTED, TASKS),
    room=(INDEX, TASKS, Slot.ROUTED),
    default_budget_tokens=6000,
    routed_pages=2,
)  # fmt: skip

DIRECT = Table(
    rules=(
        SOUL,
        PageRule(PageId("user"), "USER.md", Form.ADDED),
        PageRule(PageId("memory"), "MEMORY.md", Form.PROSE, budget_lines=50),
        PageRule(INDEX, "memory/INDEX.md", Form.INDEX, budget_lines=80),
        *_categories("memory"),
        *side_files("memory", "memory", "memory/archive"),
    ),
    kinds=_KINDS,
    start=(
        PageId("soul"), PageId("user"), PageId("memory"), INDEX, Slot.TODAY, Slot.YESTERDAY, Slot.ROUTED, TASKS,
    ),
    room=(
        PageId("memory"), INDEX, PageId("soul"), PageId("user"), TASKS, Slot.ROUTED, Slot.TODAY, Slot.YESTERDAY,
    ),
    default_budget_tokens=8000,
    routed_pages=2,
)  # fmt: skip

DREAMING = Layout("dreaming", GROUP, DIRECT, IndexForm.FILES)
