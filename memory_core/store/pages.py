"""Which file a page of a scope is, which page a file is, and when a page may be written: the same for both stores.

A page id names a file only through the layout's table. What the table allows must still be one that a file system can
hold; so a name beyond 255 bytes, or with half a surrogate pair, is no page. A group's name comes from the mapping,
which the operator may write: it is checked here once more, so that no name can lead out of the groups' folder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeAlias, TypeVar

from memory_core.errors import BadInput, PageChanged, PageDamaged, PageExists, UnknownPage
from memory_core.ids import GroupScope, PageId, Scope
from memory_core.layouts import NAME_PATTERN, Layout, PageRule
from memory_core.store.base import Change, PageText
from memory_core.store.encoding import same
from memory_core.text import counted

NAME_LIMIT_BYTES = 255
"""How long a file's name may be on the file systems in use (ext4, APFS, NTFS count alike or more)."""

FilesIn = Callable[[PurePosixPath], Iterable[str]]
"""Gives the names of the ordinary files in a folder; none where the folder does not exist."""

HasFile = Callable[[PurePosixPath], bool]
"""Tells whether an ordinary file of that name stands there."""

T = TypeVar("T")

NamedFiles: TypeAlias = Callable[[PurePosixPath], Mapping[str, T]]
"""Gives the ordinary files in a folder by their names, with what is told of each."""

OneFile: TypeAlias = Callable[[PurePosixPath], T | None]
"""What is told of one ordinary file; None where there is none."""

_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


def is_file_name(name: str) -> bool:
    """Can a file system hold this name, and a line of text show it?"""
    return not _UNFIT.search(name) and len(name.encode("utf-8")) <= NAME_LIMIT_BYTES


def is_group_name(name: str) -> bool:
    """May this be a group's name on disk: one name, no path, no hidden file, room for `.md`?

    One that ends in `.md` would have its folder where another group has its index.
    """
    plain = NAME_PATTERN.fullmatch(name) is not None and not name.lower().endswith(".md")
    return plain and is_file_name(f"{name}.md")


@dataclass(frozen=True, slots=True)
class ScopePages:
    """The pages of one scope under one layout. Raises BadInput for a group's name that is no file name."""

    layout: Layout
    scope: Scope

    def __post_init__(self) -> None:
        if isinstance(self.scope, GroupScope) and not is_group_name(self.scope.name):
            raise BadInput(
                f"{self.scope.name[:80]!r} cannot be a group's name; use one plain file name in the mapping."
            )

    def file(self, page: PageId) -> PurePosixPath:
        """The page's file, relative to the workspace. Raises UnknownPage."""
        file = self.layout.file(self.scope, page)
        if not is_file_name(file.name):
            raise UnknownPage(
                f"{page[:80]!r} is no page of this memory: its name is too long or holds control characters."
            )
        return file

    def writable(self, page: PageId) -> PurePosixPath:
        """The page's file, if this scope may write it. Raises UnknownPage, and BadInput for what all scopes share."""
        if self.layout.table(self.scope).rule(page).shared:
            raise BadInput(f"{page!r} is shared by every memory and is changed by hand only; write to another page.")
        return self.file(page)

    def existing(self, files_in: FilesIn, has_file: HasFile | None = None) -> tuple[PageId, ...]:
        """The pages that stand on disk, sorted.

        With `has_file` no folder is listed for one file's sake: the one with all groups' indexes may hold thousands.
        """
        one = (lambda file: has_file(file) or None) if has_file else None
        return tuple(self.found(lambda folder: dict.fromkeys(files_in(folder), True), one))

    def found(self, files_in: NamedFiles[T], one: OneFile[T] | None = None) -> dict[PageId, T]:
        """The pages that stand on disk, sorted, each with what `files_in` (or `one`, see `existing`) tells of it."""
        found: dict[PageId, T] = {}
        listed: dict[str, Mapping[str, T]] = {}
        rules = self.layout.table(self.scope).rules
        places = [self.layout.path(self.scope, rule, "*").rpartition("/") for rule in rules]
        wanted = Counter([folder for folder, _, _ in places])
        for rule, (folder, slash, name) in zip(rules, places, strict=True):
            fixed = not rule.page.endswith("*")
            if one and fixed and wanted[folder] == 1:
                told = one(PurePosixPath(f"{folder}{slash}{name}"))
            else:
                if folder not in listed:
                    listed[folder] = files_in(PurePosixPath(folder))
                told = listed[folder].get(name) if fixed else None
            if not fixed:
                found.update(_matching(rule, name, listed[folder]))
            elif told is not None:
                found[rule.page] = told
        return dict(sorted(found.items()))


def _matching(rule: PageRule, pattern: str, files: Mapping[str, T]) -> Iterator[tuple[PageId, T]]:
    """The pages of a rule for many, among the files of its folder; `pattern` is their name with `*`."""
    before, after = pattern.split("*")
    for name, told in files.items():
        page = PageId(rule.page[:-1] + name.removeprefix(before).removesuffix(after))
        fits = name.startswith(before) and name.endswith(after) and rule.name_in(page) is not None
        if fits and is_file_name(name):
            yield page, told


def check(change: Change, standing: PageText | None) -> None:
    """May `change` be made to the page that stands there? Raises PageExists, PageChanged, PageDamaged."""
    if standing is None:
        if change.expect is not None:
            raise PageChanged(f"{change.page} is gone since it was read; read it again.")
        return
    if change.expect is None:
        raise PageExists(f"{change.page} exists already; it was not changed.")
    if standing.bad_bytes:
        raise PageDamaged(
            f"{change.page} is not UTF-8 in {counted(len(standing.bad_bytes), 'byte')}, the first at offset "
            f"{standing.bad_bytes[0].offset}; save it as UTF-8, then it can be written again."
        )
    if not same(standing.stamp, change.expect):
        raise PageChanged(f"{change.page} was changed since it was read; read it again, merge, and write again.")
