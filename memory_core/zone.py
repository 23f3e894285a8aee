"""Which zone a scope lives in: the one its index names, else the host's."""

from __future__ import annotations

from datetime import tzinfo

from memory_core.handle import Handle
from memory_core.index import parse
from memory_core.layouts import INDEX


async def zone_of(handle: Handle) -> tzinfo:
    """The scope's zone. Raises StoreError where the index cannot be read."""
    index = await handle.store.read(INDEX)
    named = parse(index.text, handle.table).zone if index is not None else None
    return named or handle.host_zone
