"""The files of a migration, written so that it may be killed anywhere. Blocking; the caller holds the workspace.

    backup     every page as it stands, to .remem/backups/migrate-<time>/, under its own path
    stage      every file that will be new or other, to .remem/migrating/
    plan       .remem/migrate.json: what is written, what is removed, what the ledger forgets.  From here on it goes
               through: killed, it is finished by the next run, and nothing else starts before
    write      each staged file to its place;  then each is read back
    ledger     memory_core.migration.ledger
    remove     the files that only the old layout had
    end        .remem/layout names the new layout; plan and staged files go

Before the plan stands nothing has changed. A file is written or removed only while it has the bytes that the plan
was made from: one that a person changed since stops the run with its name, and nothing is lost.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count
from pathlib import PurePosixPath

from pydantic import TypeAdapter, ValidationError

from memory_core.errors import PageChanged, StoreFailed
from memory_core.ids import Scope, scope_of_key
from memory_core.layout_note import MIGRATING, NOTE, note_layout
from memory_core.layouts import LAYOUTS
from memory_core.lock import PROGRAM
from memory_core.names_file import NAMES
from memory_core.store.disk import EntryKind, translated
from memory_core.store.tree import Tree

BACKUPS = PROGRAM / "backups"
STAGING = PROGRAM / "migrating"


@dataclass(frozen=True, slots=True)
class Write:
    """A file that is new or other: the hash of its new bytes, and of those that it has now ('': it is not there)."""

    file: str
    sha256: str
    was: str = ""


@dataclass(frozen=True, slots=True)
class Gone:
    """A file that only the old layout has, with the hash of its bytes."""

    file: str
    was: str


@dataclass(frozen=True, slots=True)
class Closing:
    """What the ledger forgets and keeps of a scope: the id of the plan that closes its undo chain ('': there is
    none), and what was written at once, by message, new page and mark."""

    scope: str
    owner: bool
    plan: str
    marks: tuple[tuple[str, str, str], ...] = ()

    @property
    def of(self) -> Scope:
        """The scope itself."""
        return scope_of_key(self.scope, owner=self.owner)


@dataclass(frozen=True, slots=True)
class Plan:
    """A migration as it is persisted."""

    old: str
    new: str
    backup: str
    writes: tuple[Write, ...]
    removes: tuple[Gone, ...]
    closings: tuple[Closing, ...] = ()
    version: int = 1


_PLAN = TypeAdapter(Plan)


def backup_folder(tree: Tree, now: datetime) -> PurePosixPath:
    """Where the copies of a migration at that moment go: a folder that is not there yet. Raises StoreFailed."""
    name = f"migrate-{now:%Y%m%d-%H%M%S}"
    taken = tree.names(BACKUPS, EntryKind.FOLDER)
    again = (f"{name}-{number}" for number in count(2))
    return BACKUPS / (name if name not in taken else next(one for one in again if one not in taken))


def digest(content: bytes) -> str:
    """The hash that a plan knows bytes by."""
    return hashlib.sha256(content).hexdigest()


def standing(tree: Tree) -> Plan | None:
    """The migration that was begun and not finished. Raises StoreFailed for a plan that cannot be read."""
    raw = tree.read(MIGRATING)
    if raw is None:
        return None
    try:
        return _PLAN.validate_json(raw.content)
    except ValidationError:
        raise StoreFailed(
            f"{MIGRATING} cannot be read; copy the newest {BACKUPS}/migrate-… over the workspace, then delete "
            f"{MIGRATING}."
        ) from None


def back_up(tree: Tree, folder: PurePosixPath, files: Iterable[PurePosixPath], old: str) -> int:
    """Copy every file as it stands, the mapping of rooms, and the note of the layout; how many.

    So copying the folder back restores the memory. Raises StoreError.
    """
    copied = 0
    for file in sorted({*files, NAMES}):
        raw = tree.read(file)
        if raw is not None:
            tree.create(folder / file, raw.content)
            copied += 1
    tree.create(folder / NOTE, f"{old}\n".encode())
    return copied


def stage(tree: Tree, plan: Plan, contents: Mapping[PurePosixPath, bytes]) -> None:
    """Keep what will be written, then the plan: the migration is begun. Raises StoreError."""
    clear_staged(tree)
    for write in plan.writes:
        tree.create(STAGING / write.file, contents[PurePosixPath(write.file)])
    tree.create(MIGRATING, _PLAN.dump_json(plan, indent=2))


def write_all(tree: Tree, plan: Plan) -> None:
    """Put every staged file into its place, and read each back. Raises StoreError."""
    for write in plan.writes:
        _write(tree, write)
    for write in plan.writes:
        raw = tree.read(PurePosixPath(write.file))
        if raw is None or digest(raw.content) != write.sha256:
            raise StoreFailed(f"{write.file} was not read back as it was written; look at the disk and run again.")


def _write(tree: Tree, write: Write) -> None:
    file = PurePosixPath(write.file)
    raw = tree.read(file)
    if raw is not None and digest(raw.content) == write.sha256:
        return
    staged = tree.read(STAGING / file)
    if staged is None or digest(staged.content) != write.sha256:
        raise StoreFailed(f"{STAGING / file} is not as it was staged; copy the backup over the workspace.")
    if raw is None:
        tree.create(file, staged.content)
    elif digest(raw.content) == write.was:
        tree.replace(file, staged.content, raw.stamp)
    else:
        raise PageChanged(f"{file} was changed during the migration; move it out of the workspace and run again.")


def remove_all(tree: Tree, plan: Plan) -> None:
    """Remove what only the old layout had. Raises StoreError."""
    for gone in plan.removes:
        file = PurePosixPath(gone.file)
        raw = tree.read(file)
        if raw is None:
            continue
        if digest(raw.content) != gone.was:
            raise PageChanged(f"{file} was changed during the migration; move it out of the workspace and run again.")
        tree.remove(file, raw.stamp)


def end(tree: Tree, plan: Plan) -> None:
    """Note the new layout, and forget the plan and what was staged. Raises StoreError."""
    note_layout(tree, LAYOUTS[plan.new])
    raw = tree.read(MIGRATING)
    if raw is not None:
        tree.remove(MIGRATING, raw.stamp)
    clear_staged(tree)


def clear_staged(tree: Tree) -> None:
    """Remove what is staged; it is the program's own folder. Raises StoreFailed."""
    folder = tree.root / STAGING
    with translated(STAGING):
        if folder.is_dir() and not folder.is_symlink():
            shutil.rmtree(folder)
