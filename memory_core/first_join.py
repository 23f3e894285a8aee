"""First join: how a scope gets its index. The only creator besides the flush, and it never overwrites.

A new room is greeted once and asked for its purpose. The answer, the name and the platform's topic make the index;
with no answer the first flush makes it from what is known. States of a group's memory:

    nothing            → index from name, rooms, purpose
    folder, no index   → index that routes to the pages that are there (somebody's memory: nothing of it is touched)
    index              → left as it is; a first purpose goes into its front matter, later ones are an admin's

A DM's index is made from what its home holds (MEMORY.md, projects). Creation is exclusive: of two racing creators one
wins and the other finds the index there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import tzinfo

from memory_core.clock import day_in
from memory_core.errors import NoIndex, PageChanged, PageExists
from memory_core.handle import Handle
from memory_core.ids import GroupScope, RoomKey
from memory_core.index import Index, new_index, parse, with_front, with_rule
from memory_core.layouts import INDEX, Form
from memory_core.store.base import Change
from memory_core.text import one_line

PURPOSE_CHARACTERS = 300
"""A purpose is one line; what is longer belongs into a page."""

EDIT_TRIES = 5
"""How often an edit of the index is made anew when a hand changes the file at the same moment."""

_UNROUTED = frozenset({Form.STATE, Form.JOURNAL, Form.ARCHIVE})
"""What no row of a new index leads to: the program's files; days, which are read by search."""


@dataclass(frozen=True, slots=True)
class Birth:
    """What `ensure_index` found: `created` by us now, and the purpose that the index holds ('' if none)."""

    created: bool
    purpose: str


async def ensure_index(handle: Handle, zone: tzinfo, *, rooms: Sequence[RoomKey] = (), purpose: str = "") -> Birth:
    """Make sure that the scope has an index; an existing one is not changed. Raises StoreError."""
    standing = await handle.store.read(INDEX)
    if standing is not None:
        return Birth(created=False, purpose=parse(standing.text, handle.table).purpose)
    scope = handle.scope
    text = new_index(
        handle.table,
        name=scope.name if isinstance(scope, GroupScope) else "main",
        rooms=[str(room) for room in rooms],
        purpose=one_line(purpose, PURPOSE_CHARACTERS),
        created=day_in(zone, handle.clock.now()),
        zone=str(zone) if "/" in str(zone) else "",
        pages=[page for page in await handle.store.pages() if handle.table.rule(page).form not in _UNROUTED],
        form=handle.layout.index_form,
    )
    try:
        await handle.store.commit([Change(INDEX, text, expect=None)])
    except PageExists:
        return await ensure_index(handle, zone)
    return Birth(created=True, purpose=one_line(purpose, PURPOSE_CHARACTERS))


async def set_front(handle: Handle, key: str, value: str) -> str:
    """Write one value of the index's front matter and read it back; gives what now stands there.

    The index must exist (`ensure_index`). Raises StoreError.
    """
    index = await _edit_index(handle, lambda text: with_front(text, key, value))
    return index.front.get(key, "")


async def set_rule(handle: Handle, rule: str) -> str:
    """Add a hard rule, unless it stands there, and give it as it was read back; '' for an empty one.

    The index must exist. Raises StoreError.
    """
    index = await _edit_index(handle, lambda text: with_rule(text, rule))
    alone = parse(with_rule("", rule), handle.table).rules
    return next((one for one in index.rules if one in alone), "")


async def _edit_index(handle: Handle, edit: Callable[[str], str]) -> Index:
    """Edit the index as it stands now, again if a hand was faster; the index as it was read back."""
    for _ in range(EDIT_TRIES):
        standing = await handle.store.read(INDEX)
        if standing is None:
            raise NoIndex(f"{handle.scope.key} has no index yet; answer the purpose question first.")
        try:
            await handle.store.commit([Change(INDEX, edit(standing.text), standing.stamp)])
        except PageChanged:
            continue
        written = await handle.store.read(INDEX)
        if written is not None:
            return parse(written.text, handle.table)
    raise PageChanged(f"The index was changed by somebody else {EDIT_TRIES} times in a row; try again.")


async def answer_purpose(
    handle: Handle, zone: tzinfo, purpose: str, *, rooms: Sequence[RoomKey], admin: bool
) -> str | None:
    """Take an answer to the purpose question: the first one from anybody, later ones from an admin only.

    Gives the purpose as it was read back, None when the asker may not change it. Raises StoreError.
    """
    wanted = one_line(purpose, PURPOSE_CHARACTERS)
    birth = await ensure_index(handle, zone, rooms=rooms, purpose=wanted)
    if birth.created:
        standing = await handle.store.read(INDEX)
        return parse(standing.text, handle.table).purpose if standing else ""

    def answered(text: str) -> str:
        standing = parse(text, handle.table).purpose
        return text if standing and not admin else with_front(text, "purpose", wanted)

    if birth.purpose and not admin:
        return None
    # Looked at again with the text that is edited: of two first answers at once, only one is the first.
    kept = (await _edit_index(handle, answered)).purpose
    return kept if admin or kept == wanted else None
