"""Layouts: three memory systems, a table each (base.py says what a table is).

    apm          index → one best page → at most one convention                 the default
    adaptive     daily notes → active context → curated MEMORY.md; channel context in groups
    dreaming     records by category, an index of hot and on-demand files

Flush, first join, loading, /remem, sleep, audit and search ask the table and nothing else: a new layout is one table
more, here and in `LAYOUTS`.
"""

from __future__ import annotations

from collections.abc import Mapping

from memory_core.errors import BadInput
from memory_core.layouts.adaptive import ADAPTIVE
from memory_core.layouts.apm import APM
from memory_core.layouts.base import (
    FLUSH_STATE,
    HEARTBEAT,
    INDEX,
    NAME_PATTERN,
    TASKS,
    Form,
    IndexForm,
    Kind,
    Layout,
    PageRule,
    Place,
    Priority,
    Slot,
    Table,
    backup_page,
    journal_page,
)
from memory_core.layouts.dreaming import DREAMING

LAYOUTS: Mapping[str, Layout] = {layout.name: layout for layout in (APM, ADAPTIVE, DREAMING)}

READY = tuple(LAYOUTS)
"""The layouts that REMEM_LAYOUT takes."""

__all__ = [
    "ADAPTIVE", "APM", "DREAMING", "FLUSH_STATE", "HEARTBEAT", "INDEX", "LAYOUTS", "NAME_PATTERN", "TASKS", "Form",
    "IndexForm", "Kind", "Layout", "PageRule", "Place", "Priority", "Slot", "Table", "backup_page", "journal_page",
    "layout_named",
]  # fmt: skip


def layout_named(name: str) -> Layout:
    """The layout of that name. Raises BadInput that lists the names there are."""
    if name not in READY:
        raise BadInput(f"REMEM_LAYOUT is {name[:40]!r}; it must be one of: {', '.join(READY)}.")
    return LAYOUTS[name]
