"""Which pages have outgrown their budgets: said when they are written, not when they are found cut.

A page over its line budget is whole on disk and is cut for the conversation, with a line that says so; an index over
the memory budget loses its catalogue first. Neither is repaired here: that is for a person, and for sleep.
"""

from __future__ import annotations

from collections.abc import Iterable

from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.index import parse, within
from memory_core.layouts import INDEX


async def over_budget(handle: Handle, pages: Iterable[PageId]) -> tuple[str, ...]:
    """A sentence for each of `pages`, and for the index, that is over its budget. Raises StoreError."""
    told: list[str] = []
    for page in pages:
        budget = handle.table.rule(page).budget_lines
        read = await handle.store.read(page) if budget is not None else None
        lines = len(read.text.splitlines()) if read is not None else 0
        if budget is not None and lines > budget:
            told.append(
                f"{page} has {lines} lines, its budget is {budget}: shorten it by hand, or part of it stays unread."
            )
    return (*told, *await _index(handle))


async def _index(handle: Handle) -> tuple[str, ...]:
    """What the index leaves out of a conversation because it is over the memory budget."""
    read = await handle.store.read(INDEX)
    if read is None:
        return ()
    budget_tokens, _ = parse(read.text, handle.table).budget(handle.table.default_budget_tokens)
    _, left_out = within(read.text, budget_tokens, handle.counter)
    if not left_out:
        return ()
    return (f"the index is over its budget of {budget_tokens} tokens and is shown without: {', '.join(left_out)}.",)
