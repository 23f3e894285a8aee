"""Much is made in one go, and stays: the collector would walk through all of it, and all else, again and again.

Each such walk holds every thread, so the event loop too. What is garbage by cycles waits for the end of the block.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles, in all threads; of several blocks at once the first that ends lets it in."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()
