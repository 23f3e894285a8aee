"""Which scopes a workspace has, by its folders. Blocking; lists only.

Found on disk, not in the mapping or the ledger, so that a workspace of another tool, or one whose mapping is lost, is
seen too: the owner's, every group that has an index, a folder or a page of its own, every person's home. A folder
tells a person's key in lower case only.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from memory_core.errors import BadInput
from memory_core.ids import DirectScope, GroupScope, PersonKey, Scope
from memory_core.layouts import Layout
from memory_core.store.disk import EntryKind
from memory_core.store.pages import is_group_name
from memory_core.store.tree import Tree

GROUPS = PurePosixPath("memory/groups")
PEOPLE = PurePosixPath("people")


def scopes_in(tree: Tree, layout: Layout, owner: PersonKey) -> tuple[Scope, ...]:
    """The owner's scope, every group, every other person's, in that order. Raises StoreFailed."""
    groups: set[str] = set(tree.names(GROUPS, EntryKind.FOLDER))
    for rule in layout.group.rules:
        file = PurePosixPath(rule.file)
        if file.name == "{group}.md":
            groups |= {name.removesuffix(".md") for name in tree.names(file.parent) if name.endswith(".md")}
    people = [key for name in tree.names(PEOPLE, EntryKind.FOLDER) if (key := _person(name)) and key != owner]
    found: list[Scope] = [DirectScope(owner, owner=True)]
    found += [GroupScope(name) for name in sorted(groups) if is_group_name(name)]
    return (*found, *(DirectScope(key) for key in people))


def _person(folder: str) -> PersonKey | None:
    """The person whose home that folder is: `slack-t1-u2` is `slack:t1:u2`."""
    parts = folder.split("-", 2 if folder.startswith("slack-") else 1)
    try:
        return PersonKey(":".join(parts))
    except BadInput:
        return None
