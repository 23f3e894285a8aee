"""What a pure function yielded for what it was asked last, bounded by size.

functools bounds by number, and a page may be a line or a thousand records. Safe for threads; two that ask at once for
what is not known may both make it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Remembered(Generic[K, V]):
    """Values by their keys, those that were asked for last, of `most` in size together (the unit is the caller's)."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._size = 0
        self._values: OrderedDict[K, tuple[int, V]] = OrderedDict()
        self._lock = Lock()

    def get(self, key: K, size: int, make: Callable[[], V]) -> V:
        """The value of `key`, made where it is not known; one larger than all the room is made each time."""
        with self._lock:
            if (known := self._values.get(key)) is not None:
                self._values.move_to_end(key)
                return known[1]
        value = make()
        if size <= self._most:
            self._keep(key, size, value)
        return value

    def _keep(self, key: K, size: int, value: V) -> None:
        with self._lock:
            before, _ = self._values.pop(key, (0, value))
            self._values[key] = size, value
            self._size += size - before
            while self._size > self._most:
                _, (gone, _) = self._values.popitem(last=False)
                self._size -= gone

    def cache_clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._values.clear()
            self._size = 0
