"""Much is made in one go, and stays: the collector would walk through all of it, and all else, again and again.

Each such walk holds every thread, so the event loop too. What is garbage by cycles waits for the end of the block,
and where very much was made, for the collector's next full walk.
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_MUCH = 20_000
"""So many new objects are not walked through at once after the block, but count as old. It puts off the next full
walk, so it must be rare: a rebuild of an index makes so many, a change of one does not."""
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
                if gc.get_count()[0] > _MUCH and not gc.get_freeze_count():
                    gc.freeze()  # with the next line: all is old; what somebody else froze stays so
                    gc.unfreeze()
                gc.enable()
