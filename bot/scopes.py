"""Which scopes a workspace has, for commands that go through all of them or through one that a person names.

Folders tell less than the ledger does: a person's home is named in lower case, the key of a Slack person is not. So
where the ledger knows whose home it is, its word counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.settings import Settings
from bot.show_context import scope_named
from bot.welcoming import owners
from memory_core.errors import BadInput
from memory_core.ids import DirectScope, GroupScope, Scope
from memory_core.layouts import layout_named
from memory_core.ledger.overview import Look
from memory_core.names import Names
from memory_core.scopes import scopes_in
from memory_core.store.tree import Tree

NAMED = 8
"""How many scopes are named to somebody who asked for one that is not there."""


def every_scope(settings: Settings, looks: Sequence[Look]) -> tuple[Scope, ...]:
    """The owner's scope, the groups', the other persons': those on disk and those of the ledger. Blocking.

    Raises StoreFailed.
    """
    owner = owners(settings)[0]
    known = [look.scope for look in looks if not is_former_owner(look.scope, settings)]
    homes = {scope.person.folder: scope for scope in known if isinstance(scope, DirectScope)}
    on_disk = scopes_in(Tree(settings.workspace), layout_named(settings.layout), owner)
    told = [homes.get(one.person.folder, one) if isinstance(one, DirectScope) else one for one in on_disk]
    return tuple(dict.fromkeys([*told, *known]))


def is_former_owner(scope: Scope, settings: Settings) -> bool:
    """A DM that was the owner's when REMEM_OWNER named somebody else: its pages are another person's by now."""
    return isinstance(scope, DirectScope) and scope.owner and scope.person != owners(settings)[0]


async def chosen(every: Sequence[Scope], wanted: str, settings: Settings, names: Names) -> tuple[Scope, ...]:
    """All of them, or the one that is wanted: `dm`, a group's name, a room key, a person key.

    Raises BadInput, NamesDamaged.
    """
    if not wanted:
        return tuple(every)
    groups = tuple(scope.name for scope in every if isinstance(scope, GroupScope))
    scope = await scope_named(wanted, names, settings, groups)
    found = [one for one in every if one == scope or _same_home(one, scope)]
    if not found:
        known = ", ".join(map(named, every[:NAMED])) + (", …" if len(every) > NAMED else "")
        raise BadInput(f"There is no memory for {wanted[:80]!r} in {settings.workspace}; there is: {known}.")
    return tuple(found[:1])


def _same_home(one: Scope, other: Scope) -> bool:
    if not (isinstance(one, DirectScope) and isinstance(other, DirectScope)):
        return False
    return one.owner == other.owner and one.person.folder == other.person.folder


def named(scope: Scope) -> str:
    """The scope for people."""
    if isinstance(scope, GroupScope):
        return f"group {scope.name}"
    return "dm" if scope.owner else f"dm of {scope.person}"
