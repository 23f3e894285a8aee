"""What stands now on the pages of a conversation that the bot itself wrote since they were loaded.

Such a page is not loaded again: what the bot wrote stands in the conversation (Session.wrote). But what was loaded
before may no longer be true (a task that is done), and who quotes it must know.
"""

from __future__ import annotations

from collections.abc import Mapping

from memory_core.errors import Denied, StoreError
from memory_core.forms.units import units_of
from memory_core.gate import open_index
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.layouts import TASKS
from memory_core.session import Session


async def standing(handle: Handle, session: Session) -> Mapping[PageId, frozenset[str]]:
    """The marks (forms/units) of what stands on each page that was loaded and that the bot wrote since.

    The list of tasks is one of them once anything was written. A page that cannot be read is left out. Raises
    StoreError where the index cannot be read.
    """
    written = {TASKS, *(page for page, _ in session.written)} if session.written else set[PageId]()
    pages = [page for page in session.loaded if page in written]
    opened = await open_index(handle) if pages else None
    if opened is None:
        return {}
    found: dict[PageId, frozenset[str]] = {}
    for page in pages:
        try:
            read = await opened.read(page)
        except (Denied, StoreError):
            continue
        parts = units_of(page, handle.table.rule(page).form, read.text).units if read is not None else ()
        found[page] = frozenset(unit.mark for unit in parts)
    return found
