"""Much is made in one go, and stays: the collector would walk through all of it, and all else, again and again.

Each such walk holds every thread, so the event loop too. What is garbage by cycles waits for the end of the block.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_AT_IT = threading.Lock()
"""Else who asks whether it is out just before somebody lets it in, and keeps it out just after, does so for ever."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Without the collector of cycles, in all threads; of several blocks at once the first that ends lets it in."""
    with _AT_IT:
        enabled = gc.isenabled()
        gc.disable()
    try:
        yield
    finally:
        if enabled:
            with _AT_IT:
                gc.enable()
