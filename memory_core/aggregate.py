"""memory/groups/flush-state.json: when each group was saved last, for a person's eyes. Derived; nothing reads it.

    {"groups": {"build": {"last_flush_time": "2026-04-06T14:30:00+08:00", "flush_number": 6, "count": 3}}}

Made anew from the groups' own state files; `count` is how many things the last flush kept (null: neither known since
the start nor told by the file). It holds no content and no pending items, so that one file of all groups tells
nothing of any.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import TypedDict

from memory_core.errors import BadInput
from memory_core.forms import flush_state
from memory_core.ids import GroupScope
from memory_core.layouts import FLUSH_STATE, Layout
from memory_core.store.disk import Disk, EntryKind
from memory_core.store.tree import Tree

FILE = PurePosixPath("memory/groups/flush-state.json")


class _Line(TypedDict):
    """What the file says of a group."""

    last_flush_time: str | None
    flush_number: int
    count: int | None


class Aggregate:
    """Writes the file of one workspace. Blocking: call it in a thread."""

    def __init__(self, workspace: Path, layout: Layout, disk: Disk | None = None) -> None:
        self._tree = Tree(workspace, disk)
        self._layout = layout

    def write(self, counts: Mapping[str, int]) -> dict[str, int]:
        """Write the file anew; `counts` by group. The groups whose count is not known, with the flush that counted.

        Raises StoreFailed, PageChanged (somebody else wrote it).
        """
        standing = self._tree.read(FILE)
        told = _told(standing.content) if standing is not None else {}
        groups = self._groups(counts, told)
        text = json.dumps({"groups": groups}, ensure_ascii=False, indent=2) + "\n"
        content = text.encode("utf-8", "replace")
        if standing is None:
            self._tree.create(FILE, content)
        elif standing.content != content:
            self._tree.replace(FILE, content, standing.stamp)
        return {name: one["flush_number"] for name, one in groups.items() if one["count"] is None}

    def _groups(self, counts: Mapping[str, int], told: Mapping[tuple[str, int], int]) -> dict[str, _Line]:
        found: dict[str, _Line] = {}
        for name in self._tree.names(FILE.parent, EntryKind.FOLDER):
            try:
                read = self._tree.read(self._layout.file(GroupScope(name), FLUSH_STATE))
            except BadInput:
                continue
            if read is None:
                continue
            state = flush_state.parse(read.content.decode("utf-8", "replace"))
            time = state.last_flush_time.isoformat(timespec="seconds") if state.last_flush_time else None
            found[name] = {
                "last_flush_time": time,
                "flush_number": state.flush_number,
                "count": counts.get(name, told.get((name, state.flush_number))),
            }
        return found


def _told(content: bytes) -> dict[tuple[str, int], int]:
    """The counts that a standing file tells, by group and flush; a broken one tells none, it is written anew."""
    try:
        groups = json.loads(content)["groups"].items()
        counts = {(name, one["flush_number"]): one["count"] for name, one in groups}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {flush: count for flush, count in counts.items() if isinstance(count, int)}
