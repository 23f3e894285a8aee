"""What the audit's tests share: one scope in memory, laid out by a table, and its findings by code."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from memory_core.audit.findings import Finding
from memory_core.audit.scope import audit
from memory_core.clock import ManualClock
from memory_core.handle import Handle
from memory_core.ids import DirectScope, GroupScope, PageId, PersonKey, Scope
from memory_core.layouts import APM, Layout
from memory_core.ledger.memory import MemoryLedger
from memory_core.store.memory import MemoryStores
from memory_core.store.pages import ScopePages
from memory_core.tokens import EstimatingCounter

NOW = datetime(2026, 4, 20, 12, 0, tzinfo=UTC)
OWNER = DirectScope(PersonKey("console:me"), owner=True)
GROUP = GroupScope("build")


def placed(
    files: Mapping[str, str | bytes], layout: Layout = APM, scope: Scope = OWNER, *, age: timedelta = timedelta()
) -> Handle:
    """A handle on a scope that holds those pages, last written `age` before NOW."""
    stores, clock = MemoryStores(layout), ManualClock(NOW)
    written_ns = int((NOW - age).timestamp() * 1e9)
    for page, text in files.items():
        file = ScopePages(layout, scope).file(PageId(page))
        stores.files[file] = (text.encode() if isinstance(text, str) else text, written_ns)
    ledger = MemoryLedger(clock).open(scope)
    return Handle(stores.open(scope), ledger, layout, EstimatingCounter(), clock, UTC)


async def found(
    files: Mapping[str, str | bytes], layout: Layout = APM, scope: Scope = OWNER, *, age: timedelta = timedelta()
) -> dict[str, list[Finding]]:
    """The findings of a scope that holds those pages, by code."""
    told: dict[str, list[Finding]] = {}
    for one in await audit(placed(files, layout, scope, age=age)):
        told.setdefault(one.code, []).append(one)
    return told
