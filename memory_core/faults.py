"""What a person should mend in a scope's files. Nothing of it stops the work: what can be read is read.

Told are: files that cannot be read, bytes that are not UTF-8, lines of the index that were not understood, state
files that had to be taken for empty. Pages over their budget are memory_core.over_budget's.
"""

from __future__ import annotations

from memory_core.errors import StoreError
from memory_core.forms import flush_state, tasks
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.index import parse
from memory_core.layouts import FLUSH_STATE, INDEX, TASKS
from memory_core.store.base import PageText
from memory_core.text import counted


async def faults_in(handle: Handle) -> tuple[str, ...]:
    """A sentence for each fault in this scope's files, the index first. Never raises for the files."""
    told: list[str] = []
    pages = {rule.page for rule in handle.table.rules if not rule.page.endswith("*")}
    try:
        pages.update(await handle.store.pages())
    except StoreError as refused:
        told.append(str(refused))
    for page in sorted(pages, key=lambda page: (page != INDEX, page)):
        told += await _faults_of(handle, page)
    return tuple(dict.fromkeys(told))


async def _faults_of(handle: Handle, page: PageId) -> list[str]:
    try:
        read = await handle.store.read(page)
    except StoreError as refused:
        return [str(refused)]
    if read is None:
        return []
    if read.bad_bytes:
        more = f" and {len(read.bad_bytes) - 1} more" if len(read.bad_bytes) > 1 else ""
        file, at = handle.layout.file(handle.scope, page), read.bad_bytes[0].offset
        return [f"{file}: the byte at offset {at}{more} is not UTF-8; save it as UTF-8, until then I only read it."]
    return list(_misread(handle, page, read))


def _misread(handle: Handle, page: PageId, read: PageText) -> tuple[str, ...]:
    """What in a readable page was not understood."""
    if page == INDEX:
        index = parse(read.text, handle.table)
        _, warning = index.budget(handle.table.default_budget_tokens)
        return tuple(f"index: {problem}" for problem in (*index.problems, *filter(None, [warning])))
    if page == TASKS and (broken := (file := tasks.parse(read.text)).broken):
        read_of_it = f"{counted(len(file.tasks), 'task')} of it" if file.tasks else "no task of it"
        return (f"{page}: {broken}; {read_of_it} could be read. The next flush keeps a copy and writes it anew.",)
    if page == TASKS and not tasks.keeps_all(read.text):
        return (f"{page}: not all of it is in my form; a copy is kept at the next write.",)
    if page == FLUSH_STATE and (unread := flush_state.parse(read.text).broken):
        what = ", ".join(unread)
        return (f"{page}: not understood ({what}); a copy is kept and it is written anew at the next flush.",)
    return ()
