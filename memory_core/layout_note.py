"""Which layout a workspace is written in: `.remem/layout`, one word. Blocking.

The first start writes it. A start, or `remem init`, with another layout is refused: it would not find the pages that
are there, and lay down others beside them. A workspace of before the note is told by its owner's index, where only
one layout's stands. While a migration is not finished (`.remem/migrate.json`), nothing starts.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import PurePosixPath

from memory_core.errors import BadInput, PageExists
from memory_core.layouts import INDEX, LAYOUTS, Layout
from memory_core.lock import PROGRAM
from memory_core.store.tree import Tree

NOTE = PROGRAM / "layout"
MIGRATING = PROGRAM / "migrate.json"
_KEY = PROGRAM / "key"


def layout_of(tree: Tree) -> str:
    """The name of the layout that the workspace is in; '' where nothing tells it. Raises StoreFailed."""
    raw = tree.read(NOTE)
    named = raw.content.decode("utf-8", "replace").strip() if raw else ""
    if named in LAYOUTS:
        return named
    if tree.read(_KEY) is None:
        return ""
    found = [name for name, layout in LAYOUTS.items() if _stands(tree, PurePosixPath(layout.direct.rule(INDEX).file))]
    return found[0] if len(found) == 1 else ""


def require_layout(tree: Tree, layout: Layout) -> None:
    """Refuse a workspace that is in another layout, or between two. Raises BadInput, StoreFailed."""
    if tree.read(MIGRATING) is not None:
        raise BadInput(
            f"A migration of {tree.root} was interrupted; `remem migrate --yes` (with the same --to) finishes it."
        )
    named = layout_of(tree)
    if named and named != layout.name:
        raise BadInput(
            f"The workspace {tree.root} is in the layout {named}, and {layout.name} was asked for; set "
            f"REMEM_LAYOUT={named}, or move the memory with `remem migrate --to {layout.name}`."
        )


def note_layout(tree: Tree, layout: Layout) -> None:
    """Write down the layout, over another one. Raises StoreError."""
    content = f"{layout.name}\n".encode()
    raw = tree.read(NOTE)
    if raw is None:
        with suppress(PageExists):
            tree.create(NOTE, content)
    elif raw.content != content:
        tree.replace(NOTE, content, raw.stamp)


def _stands(tree: Tree, file: PurePosixPath) -> bool:
    return file.name in tree.names(file.parent)
