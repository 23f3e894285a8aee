"""The workspace as a whole: found, held, laid down, opened. Blocking: called at start, before or beside the loop.

What is there is never changed; what is missing is created, exclusively, so that two processes that start at once lay
down one workspace. A workspace that should be there and is not (a disk that is not mounted) is refused, since a new
one in its place would greet everyone as a stranger. Two signs tell it:

* `known`, a file outside the workspace (the user's state folder), lists every workspace that was opened. A listed
  path without `.remem/key` is gone.
* `.remem/key` is there, but the folder `memory` is not: the memory was moved away, or is a mount of its own.

`initialise` asks for neither: `remem init` is how the operator says that he wants a new one. Where `known` cannot be
kept (no home, read-only), only the second sign is left.
"""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import Self

from memory_core.clock import Clock
from memory_core.errors import PageChanged, PageExists, StoreError, StoreFailed, WorkspaceGone
from memory_core.ids import DirectScope, PageId, PersonKey
from memory_core.index import new_index
from memory_core.layout_note import NOTE, require_layout
from memory_core.layouts import INDEX, Layout
from memory_core.lock import PROGRAM, Lock, hold
from memory_core.names_file import NAMES
from memory_core.store.disk import FOLDER_MODE, Disk, EntryKind, translated
from memory_core.store.encoding import encode
from memory_core.store.pages import ScopePages
from memory_core.store.tree import Tree
from memory_core.templates import new_page

KEY = PROGRAM / "key"
KEY_BYTES = 32
LEDGER = PROGRAM / "ledger.db"
OWNER_PURPOSE = "The owner's own conversations with remem."
# Whose key stands in the owner's scope does not matter for where the owner's files are.
_OWNER = DirectScope(PersonKey("console:owner"), owner=True)


@dataclass(frozen=True, slots=True)
class Workspace:
    """An open, held workspace: its folder, its key (32 bytes), what was created and what was swept at this start."""

    path: Path
    key: bytes
    lock: Lock
    created: tuple[PurePosixPath, ...] = ()
    swept: tuple[PurePosixPath, ...] = ()

    @classmethod
    def open(
        cls,
        path: Path,
        layout: Layout,
        *,
        day: date,
        zone: str = "UTC",
        known: Path | None = None,
        clock: Clock | None = None,
        disk: Disk | None = None,
    ) -> Self:
        """Hold the workspace, sweep it and lay down what is missing; `day` and `zone` are for a new index,
        `disk` makes the system's calls. Raises WorkspaceGone, WorkspaceHeld, StoreFailed, and BadInput for a
        workspace that is in another layout.
        """
        require(path, known)
        _make_root(path)
        lock = hold(path, clock, disk)
        try:
            tree = Tree(path, disk)
            require_layout(tree, layout)
            swept = tree.sweep()
            created = initialise(path, layout, day=day, zone=zone, disk=disk)
            key = workspace_key(path)
        except BaseException:
            lock.release()
            raise
        if known is not None:
            _remember(known, path, disk)
        return cls(path, key, lock, created, swept)

    @property
    def ledger(self) -> Path:
        """Where the ledger's database stands."""
        return self.path / LEDGER

    def close(self) -> None:
        """Give the workspace back; may be called twice."""
        self.lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def initialise(
    path: Path, layout: Layout, *, day: date, zone: str = "UTC", disk: Disk | None = None
) -> tuple[PurePosixPath, ...]:
    """Create what is missing of the owner's tree and the program's own; what was created, in that order.

    No existing byte changes, whoever else does the same at the same time. Raises StoreFailed.
    """
    _make_root(path)
    tree = Tree(path, disk)
    created = [
        file for file, text in _wanted(tree, layout, day, zone) if _create(tree, file, encode(text, bom=False))
    ]
    created += [KEY] if _create(tree, KEY, secrets.token_bytes(KEY_BYTES)) else []
    return tuple(created)


def workspace_key(path: Path) -> bytes:
    """The workspace's key, 32 bytes. Raises StoreFailed if it is missing or cut."""
    raw = Tree(path).read(KEY)
    if raw is None or len(raw.content) != KEY_BYTES:
        raise StoreFailed(
            f"{KEY} must hold {KEY_BYTES} bytes; restore it from a backup: it tells what was forgotten."
        )
    return raw.content


def require(path: Path, known: Path | None = None) -> None:
    """Refuse a workspace that should be there and is not. Raises WorkspaceGone, StoreFailed."""
    has_key = path.is_dir() and Tree(path).read(KEY) is not None
    if not has_key and known is not None and str(path.resolve()) in _known(known):
        raise WorkspaceGone(
            f"The workspace {path} was here before and is gone; mount it, or lay down a new one with `remem init`."
        )
    if has_key and "memory" not in Tree(path).names(PurePosixPath(), EntryKind.FOLDER):
        raise WorkspaceGone(
            f"The workspace {path} has lost its folder memory; mount it, or lay down a new one with `remem init`."
        )


def _make_root(path: Path) -> None:
    with translated(path):
        path.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)


def _wanted(tree: Tree, layout: Layout, day: date, zone: str) -> list[tuple[PurePosixPath, str]]:
    """Every file of a new workspace with its text: the owner's pages, the mapping, the program's folder."""
    table = layout.direct
    pages = ScopePages(layout, _OWNER)
    wanted: list[tuple[PurePosixPath, str]] = []
    for rule in table.rules:
        if rule.page.endswith("*"):
            continue
        text = new_page(table, rule.page)
        if rule.page == INDEX:
            text = new_index(
                table,
                name="main",
                rooms=(),
                purpose=OWNER_PURPOSE,
                created=day,
                zone=zone,
                pages=_own_routes(pages, tree),
                form=layout.index_form,
            )
        if text is not None:
            wanted.append((pages.file(rule.page), text))
    # Kept out of version control: the ledger holds what was said, the key what was forgotten.
    return [*wanted, (NAMES, "{}\n"), (NOTE, f"{layout.name}\n"), (PROGRAM / ".gitignore", "*\n")]


def _own_routes(pages: ScopePages, tree: Tree) -> tuple[PageId, ...]:
    """Pages with names of their own that stand there already and may be routed to (a project of before)."""
    table = pages.layout.direct
    return tuple(
        page
        for page in pages.existing(tree.names)
        if (rule := table.rule(page)).page.endswith("*") and rule.priority is not None
    )


def _create(tree: Tree, file: PurePosixPath, content: bytes) -> bool:
    # Looking first spares a temporary file for each of what is there; the creation itself is what is exclusive.
    if file.name in tree.names(file.parent):
        return False
    try:
        tree.create(file, content)
    except PageExists:
        return False
    return True


def _known(known: Path) -> list[str]:
    raw = Tree(known.parent).read(PurePosixPath(known.name)) if known.parent.is_dir() else None
    try:
        listed = json.loads(raw.content) if raw else []
    except ValueError:
        return []
    return [entry for entry in listed if isinstance(entry, str)] if isinstance(listed, list) else []


def _remember(known: Path, path: Path, disk: Disk | None) -> None:
    """List the workspace as known. Without a place to write to there is one sign less, which stops nobody's work."""
    with suppress(StoreError, OSError):
        listed = _known(known)
        if str(path.resolve()) in listed:
            return
        known.parent.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        tree, file = Tree(known.parent, disk), PurePosixPath(known.name)
        content = json.dumps([*listed, str(path.resolve())], indent=2).encode()
        with suppress(PageChanged, PageExists):
            raw = tree.read(file)
            _ = tree.replace(file, content, raw.stamp) if raw else tree.create(file, content)
