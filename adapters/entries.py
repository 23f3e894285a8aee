"""A JSON file that holds one long list, read entry by entry: never more of it in memory than a few entries.

    { "a": …, "messages": [ {…}, {…}, … ], "b": … }

The file is read in pieces; an entry that a piece cuts is read again with the next one. Each entry comes with its
place in bytes, so that it can be read again by itself. Blocking.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from memory_core.errors import BadInput

PIECE_BYTES = 1024 * 1024
LARGEST_BYTES = 16 * 1024 * 1024
"""An entry that is longer is no message of anybody's."""

_BLANKS = " \t\r\n"


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the list: its number from 1, its place and length in bytes, its value."""

    number: int
    start: int
    length: int
    value: object


class Entries:
    """Reads `file`; `header` fills with the fields beside the list as they come by.

    `hear` gets every byte once, for a fingerprint. What is no such JSON raises BadInput: a file that does not even
    begin like it is named as what it is not, with what is `accepted`; another one with the place where it breaks.
    """

    def __init__(
        self, file: BinaryIO, name: str, listed: str, accepted: str, hear: Callable[[bytes], object] = len
    ) -> None:
        self.header: dict[str, object] = {}
        self._file, self._name, self._listed, self._accepted, self._hear = file, name, listed, accepted, hear
        self._begun = False
        self._decode = codecs.getincrementaldecoder("utf-8")()
        self._json = json.JSONDecoder()
        self._text, self._at, self._bytes, self._ended = "", 0, 0, False

    def __iter__(self) -> Iterator[Entry]:
        self._skip("\ufeff")
        if (first := self._next()) != "{":
            raise self._broken(f"it begins with {first!r}" if first else "it is empty")
        self._expect("{")
        more = self._next() != "}"
        while more:
            field = self._value()
            self._expect(":")
            self._begun = True
            if field == self._listed and self._next() == "[":
                yield from self._list()
            else:
                self.header[str(field)] = self._value()
            more = self._next() == ","
            if more:
                self._expect(",")
        self._expect("}")
        if self._next():
            raise self._broken("something follows its end")

    def _list(self) -> Iterator[Entry]:
        self._expect("[")
        more, number = self._next() != "]", 0
        while more:
            self._next()
            start, number = self._bytes, number + 1
            value = self._value()
            yield Entry(number, start, self._bytes - start, value)
            more = self._next() == ","
            if more:
                self._expect(",")
        self._expect("]")

    def _value(self) -> object:
        """The JSON value that comes next, and go behind it."""
        self._next()
        while True:
            try:
                value, end = self._json.raw_decode(self._text, self._at)
            except (ValueError, RecursionError) as error:
                if self._ended or len(self._text) - self._at > LARGEST_BYTES:
                    raise self._broken(getattr(error, "msg", "it is nested too deep")) from None
                self._more()
                continue
            if end < len(self._text) or self._ended:
                self._go(end)
                return value
            self._more()

    def _next(self) -> str:
        """The next character that is no blank, without going behind it; '' at the end."""
        while True:
            self._skip(_BLANKS)
            if self._at < len(self._text):
                return self._text[self._at]
            if self._ended:
                return ""
            self._more()

    def _expect(self, character: str) -> None:
        if self._next() != character:
            raise self._broken(f"{character!r} is missing")
        self._go(self._at + 1)

    def _skip(self, characters: str) -> None:
        if not self._text and not self._ended:
            self._more()
        end = self._at
        while end < len(self._text) and self._text[end] in characters:
            end += 1
        self._go(end)

    def _go(self, end: int) -> None:
        self._bytes += len(self._text[self._at : end].encode("utf-8", "surrogatepass"))
        self._at = end

    def _more(self) -> None:
        """Read one more piece; what was gone through is dropped."""
        piece = self._file.read(PIECE_BYTES)
        self._hear(piece)
        self._ended = not piece
        try:
            text = self._decode.decode(piece, final=self._ended)
        except UnicodeDecodeError:
            raise self._broken("it is no UTF-8 text") from None
        self._text, self._at = self._text[self._at :] + text, 0

    def _broken(self, why: str) -> BadInput:
        if not self._begun:
            return BadInput(f"{self._name} is no JSON object ({why}); give {self._accepted}.")
        return BadInput(f"{self._name} is broken at byte {self._bytes} ({why}); export it again.")
