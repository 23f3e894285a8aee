"""Bytes on disk ↔ text of a page. Both stores use it, so that they agree to the byte.

UTF-8, with or without a BOM; line ends are text like any other. What cannot be decoded is shown, one U+FFFD a byte,
and listed with its offset in the file; such a page is never written over. A file that starts with a UTF-16 BOM is
shown decoded, but it is as damaged as any other: its BOM is the two bytes that are listed.
"""

from __future__ import annotations

import codecs
import hashlib
import re

from memory_core.ids import PageId
from memory_core.store.base import BadByte, PageText, Stamp

_BOM = codecs.BOM_UTF8
_BAD = re.compile("[\udc80-\udcff]")
_SURROGATES = re.compile("[\ud800-\udfff]")
_REPLACEMENT = "\ufffd"


def stamp(content: bytes, mtime_ns: int) -> Stamp:
    """The stamp of a page with these bytes and this time."""
    return Stamp(mtime_ns, len(content), hashlib.sha256(content).hexdigest())


def same(one: Stamp, other: Stamp) -> bool:
    """Do both stamps stand for the same bytes? A touched but unchanged file is no other page."""
    return (one.size_bytes, one.sha256) == (other.size_bytes, other.sha256)


def decode(page: PageId, content: bytes, mtime_ns: int) -> PageText:
    """The page that these bytes are. Never raises."""
    mark = stamp(content, mtime_ns)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = content.decode("utf-16", "replace")
        return PageText(page, text, mark, bad_bytes=(BadByte(0), BadByte(1)))
    bom = content.startswith(_BOM)
    text, bad = _decode_utf8(content[len(_BOM) :] if bom else content, len(_BOM) if bom else 0)
    return PageText(page, text, mark, bom, bad)


def _decode_utf8(content: bytes, offset: int) -> tuple[str, tuple[BadByte, ...]]:
    text = content.decode("utf-8", "surrogateescape")
    bad: list[BadByte] = []
    seen = 0
    for match in _BAD.finditer(text):
        offset += len(text[seen : match.start()].encode("utf-8"))
        bad.append(BadByte(offset))
        offset += 1
        seen = match.end()
    return (_BAD.sub(_REPLACEMENT, text) if bad else text), tuple(bad)


def encode(text: str, bom: bool) -> bytes:
    """The bytes of a page. Half a surrogate pair, which no file can hold, becomes U+FFFD."""
    return (_BOM if bom else b"") + _SURROGATES.sub(_REPLACEMENT, text).encode("utf-8")
