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

from memory_core.errors import BadInput, StoreError
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
        groups = self._groups(counts, _lines(standing.content) if standing is not None else {})
        text = json.dumps({"groups": groups}, ensure_ascii=False, indent=2) + "\n"
        content = text.encode("utf-8", "replace")
        if standing is None:
            self._tree.create(FILE, content)
        elif standing.content != content:
            self._tree.replace(FILE, content, standing.stamp)
        return {name: one["flush_number"] for name, one in groups.items() if one["count"] is None}

    def _groups(self, counts: Mapping[str, int], standing: Mapping[str, _Line]) -> dict[str, _Line]:
        """A line for each group; where its state file cannot be read, or is none, the line that stands."""
        found: dict[str, _Line] = {}
        for name in self._tree.names(FILE.parent, EntryKind.FOLDER):
            old = standing.get(name)
            try:
                read = self._tree.read(self._layout.file(GroupScope(name), FLUSH_STATE))
            except BadInput:
                continue
            except StoreError:
                found |= {name: old} if old is not None else {}
                continue
            if read is not None:
                found[name] = _line(read.content, counts.get(name), old)
        return found


def _line(content: bytes, count: int | None, old: _Line | None) -> _Line:
    """What is said of a group, from its state file; the count from the line that stands where it is of that flush."""
    state = flush_state.parse(content.decode("utf-8", "replace"))
    time = state.last_flush_time.isoformat(timespec="seconds") if state.last_flush_time else None
    if count is None and old is not None and old["flush_number"] == state.flush_number:
        count = old["count"]
    return {"last_flush_time": time, "flush_number": state.flush_number, "count": count}


def _lines(content: bytes) -> dict[str, _Line]:
    """What a standing file tells of each group; a broken one tells nothing, it is written anew."""
    try:
        groups = json.loads(content)["groups"].items()
        told = [(name, one["last_flush_time"], one["flush_number"], one["count"]) for name, one in groups]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}
    return {
        name: {"last_flush_time": time, "flush_number": number, "count": count if _is_number(count) else None}
        for name, time, number, count in told
        if (time is None or isinstance(time, str)) and _is_number(number)
    }


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
