"""The terminal's screen: whole lines, and an answer that grows on the last one.

What is on a screen stays there: an answer that grows only has its new part written; one that turns out otherwise is
written anew on lines of its own. Whatever else is written meanwhile begins a new line. Without `stream`, a way to
write part of a line, a growing answer is written when it is whole.
"""

from __future__ import annotations

from collections.abc import Callable

from memory_core.ids import MessageKey


class Screen:
    """`write` shows a line, `stream` a part of one."""

    def __init__(self, write: Callable[[str], None], stream: Callable[[str], None] | None = None) -> None:
        self._write = write
        self._stream = stream
        self._open: tuple[MessageKey, str] | None = None
        self._whole: tuple[MessageKey, str] | None = None

    def line(self, text: str) -> None:
        """Write a line, or several."""
        self._end()
        self._write(text)

    def show(self, key: MessageKey, text: str, *, growing: bool) -> None:
        """Write what is new of that answer; its line stays open while it is `growing`."""
        if (key, text) == self._whole:
            return
        if not growing:
            self._whole = (key, text)
        if self._stream is None:
            if not growing:
                self._write(text)
            return
        shown = self._open[1] if self._open is not None and self._open[0] == key else None
        if shown is None or not text.startswith(shown):
            self._end()
            shown = ""
        self._stream(text[len(shown) :])
        self._open = (key, text)
        if not growing:
            self._end()

    def _end(self) -> None:
        if self._open is not None and self._stream is not None:
            self._stream("\n")
        self._open = None
