"""The workspace beyond its pages: files that no page is. Blocking; reads and lists only.

Files under memory/ and people/ that no page of any scope is are told by folder, once, since another tool may have
many; they are looked through for secrets and damaged bytes all the same. Files at the root are other tools' business.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.pages import damage_of, secret_message, secrets_in
from memory_core.errors import StoreError
from memory_core.ids import PageId, Scope
from memory_core.index import page_named
from memory_core.layouts import LAYOUTS, Layout
from memory_core.names_file import NAMES
from memory_core.scopes import GROUPS, PEOPLE
from memory_core.store.disk import EntryKind
from memory_core.store.encoding import decode
from memory_core.store.pages import ScopePages
from memory_core.store.tree import Tree

_AGGREGATE = GROUPS / "flush-state.json"
_MOST_FILES = 5_000
_DEEPEST = 6
_NAMED = 4
_TEXTS = (".md", ".markdown", ".txt")


def mapping_finding(tree: Tree, why: str) -> Finding:
    """What is to say about a mapping of rooms that cannot be used; another tool has none. Raises StoreFailed."""
    severity = Severity.ERROR if NAMES.name in tree.names(NAMES.parent) else Severity.WATCH
    return Finding("names-damaged", why, file=str(NAMES), severity=severity)


def stranger_findings(tree: Tree, layout: Layout, scopes: Sequence[Scope]) -> tuple[Finding, ...]:
    """What is to say about files that no page is. Raises StoreFailed where a folder cannot be listed."""
    known = {_AGGREGATE, NAMES}
    for scope in scopes:
        pages = ScopePages(layout, scope)
        known |= {pages.file(page) for page in pages.existing(tree.names)}
    strange: dict[PurePosixPath, list[PurePosixPath]] = {}
    for file in _files(tree):
        if file not in known and not file.name.startswith("."):
            strange.setdefault(file.parent, []).append(file)
    return (*_unlisted(layout, strange), *_looked_through(tree, strange))


def _files(tree: Tree) -> Iterator[PurePosixPath]:
    """The files below memory/ and people/, folder by folder, at most 5,000."""
    folders, count = [PurePosixPath("memory"), PEOPLE], 0
    while folders and count < _MOST_FILES:
        folder = folders.pop(0)
        for name in tree.names(folder):
            count += 1
            yield folder / name
        if len(folder.parts) < _DEEPEST:
            folders += [folder / name for name in tree.names(folder, EntryKind.FOLDER) if not name.startswith(".")]


def _unlisted(layout: Layout, strange: Mapping[PurePosixPath, Sequence[PurePosixPath]]) -> Iterator[Finding]:
    for folder, files in strange.items():
        named = ", ".join(file.name for file in files[:_NAMED])
        more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
        other = _of_another(layout, files)
        hint = f" The layout {other} knows them: `--layout {other}`." if other else ""
        what = f"{folder}/ holds what is no page of the layout {layout.name}, so it is not read: {named}{more}.{hint}"
        yield Finding("page-unlisted", what, file=f"{folder}/", severity=Severity.WATCH)


def _of_another(layout: Layout, files: Sequence[PurePosixPath]) -> str:
    """The layout whose DM has a page for the first of these files, '' for none."""
    for other in LAYOUTS.values():
        if other is not layout and any(page_named(str(file).removesuffix(".md"), other.direct) for file in files):
            return other.name
    return ""


def _looked_through(tree: Tree, strange: Mapping[PurePosixPath, Sequence[PurePosixPath]]) -> Iterator[Finding]:
    for file in [file for files in strange.values() for file in files if file.suffix.lower() in _TEXTS]:
        try:
            raw = tree.read(file)
        except StoreError as refused:
            yield Finding("page-unreadable", str(refused), file=str(file), severity=Severity.WATCH)
            continue
        if raw is None:
            continue
        text = decode(PageId("stranger"), raw.content, raw.mtime_ns)
        if text.bad_bytes:
            line, what = damage_of(text)
            yield Finding("page-damaged", what, file=str(file), line=line, severity=Severity.WATCH)
        for line, kind in secrets_in(text.text):
            yield Finding("secret", secret_message(kind), file=str(file), line=line, severity=Severity.ERROR)
