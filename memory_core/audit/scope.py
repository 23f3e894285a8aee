"""The audit of one scope: its snapshot is taken by reading every page once, then the pure checks are asked.

Whether the catalogue is stale is found by making it anew on a copy in memory: so what the audit calls stale is what
the next flush would change, in every layout. Between a page that was written at once and the flush that follows it is
not stale yet: every "decision: …" would be a finding.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from memory_core.audit.findings import Finding, Severity
from memory_core.audit.index_page import index_findings
from memory_core.audit.memory_page import memory_findings
from memory_core.audit.pages import page_findings
from memory_core.audit.snapshot import Catalogue, Snapshot
from memory_core.audit.upkeep import upkeep_findings
from memory_core.catalogue import rebuild_catalogue
from memory_core.errors import StoreError
from memory_core.handle import Handle
from memory_core.ids import PageId
from memory_core.index_lines import CATALOGUE_END, CATALOGUE_START, Part, outline
from memory_core.layouts import INDEX
from memory_core.ledger.memory import MemoryLedger
from memory_core.store.base import PageText
from memory_core.store.encoding import encode
from memory_core.store.memory import MemoryStores

SAVE_COMES = timedelta(days=1)
"""At the latest the change of the day saves what was said."""


async def audit(handle: Handle) -> tuple[Finding, ...]:
    """Every finding of the scope, the worst first, then by page and line. Reads only; no file makes it raise."""
    return await asyncio.to_thread(judged, await look(handle))


def judged(seen: Snapshot) -> tuple[Finding, ...]:
    """Every finding of what was seen, the worst first, then by page and line. Pure, but long: for a thread."""
    checks = (memory_findings, page_findings, index_findings, upkeep_findings)
    found = dict.fromkeys(finding for check in checks for finding in check(seen))
    return in_order(tuple(found))


def in_order(found: Sequence[Finding]) -> tuple[Finding, ...]:
    """The worst first, then by file and line."""
    return tuple(sorted(found, key=lambda one: (-one.severity.rank, one.file, one.line, one.code)))


async def look(handle: Handle) -> Snapshot:
    """All that stands in the scope now."""
    pages: dict[PageId, PageText] = {}
    unread: dict[PageId, str] = {}
    listed = {rule.page for rule in handle.table.rules if not rule.page.endswith("*")}
    try:
        listed |= set(await handle.store.pages())
    except StoreError as refused:
        unread[INDEX] = str(refused)
    for page in sorted(listed):
        try:
            read = await handle.store.read(page)
        except StoreError as refused:
            unread[page] = str(refused)
            continue
        if read is not None:
            pages[page] = read
    seen = Snapshot(handle.layout, handle.scope, handle.clock.now(), handle.host_zone, pages, unread)
    return replace(seen, catalogue=await _catalogue(handle, seen))


async def _catalogue(handle: Handle, seen: Snapshot) -> Catalogue:
    """Would the catalogue be another, were it made now? Asked of a copy."""
    index = seen.pages.get(INDEX)
    if index is None or seen.unread or any(page.bad_bytes for page in seen.pages.values()):
        return Catalogue.UNKNOWN
    if sum(line.part is Part.CATALOGUE for line in outline(index.text)) <= len((CATALOGUE_START, CATALOGUE_END)):
        return Catalogue.UNKNOWN  # none was written yet, or nobody wants one
    stores = MemoryStores(handle.layout)
    for page, text in seen.pages.items():
        file = handle.layout.file(handle.scope, page)
        stores.files[file] = (encode(text.text, bom=text.bom), text.stamp.mtime_ns)
    copy = replace(handle, store=stores.open(handle.scope), ledger=MemoryLedger(handle.clock).open(handle.scope))
    await rebuild_catalogue(copy)
    made = await copy.store.read(INDEX)
    if made is not None and made.text == index.text:
        return Catalogue.FRESH
    return Catalogue.AWAITED if _is_awaited(seen, index) else Catalogue.STALE


def _is_awaited(seen: Snapshot, index: PageText) -> bool:
    """Was a page written after the index, so lately that no flush is overdue? What is said at once is written so."""
    written_ns = [text.stamp.mtime_ns for page, text in seen.pages.items() if page != INDEX]
    newest_ns = max(written_ns, default=0)
    age_s = seen.now.timestamp() - newest_ns / 1e9
    return newest_ns > index.stamp.mtime_ns and age_s < SAVE_COMES.total_seconds()


def counts(found: Sequence[Finding]) -> dict[Severity, int]:
    """How many there are of each severity, all four named."""
    return {severity: sum(one.severity is severity for one in found) for severity in Severity}
