"""Is the write-ahead log beside a ledger one that a crash can leave? SQLite itself does not ask.

SQLite takes a log up to the first frame that does not fit, and forgets the rest without a word. After a power cut
that is right: the rest is one transaction that was never acknowledged, since each is synced before the next begins.
So if two or more transactions stand behind the place where the log breaks, it was damaged, and what they hold would
be lost in silence. A log whose end is missing cannot be told from one that a power cut left.

Layout (https://sqlite.org/fileformat2.html#walformat): a header of 32 bytes with two salts at 16; then frames: a
header of 24 bytes (page number; size of the database, if it commits; the two salts; two check sums) and a page.
"""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER_BYTES, _FRAME_BYTES, _SALT_AT = 32, 24, 8
_MAGIC = 0x377F0682
"""The last bit tells the byte order of the check sums."""
_MASK = 0xFFFFFFFF


def fault_in_log(path: Path) -> str:
    """What is wrong with the log of the ledger at `path`, in few words; empty where nothing is. Raises OSError."""
    log = path.with_name(f"{path.name}-wal")
    if log.is_symlink() or (log.exists() and not log.is_file()):
        return "its log is no file"
    if not log.exists():
        # A clean end removes the index of the log before the log itself.
        return "its log is gone" if path.with_name(f"{path.name}-shm").exists() else ""
    content = log.read_bytes()
    if len(content) < _HEADER_BYTES + _FRAME_BYTES:
        return ""
    end, salts = _whole(content)
    return "its log is damaged" if _commits(content, end, salts) > 1 else ""


def _whole(content: bytes) -> tuple[int, bytes]:
    """Where the part ends that SQLite takes, and the salts of the log's frames."""
    magic, _, page_bytes = struct.unpack(">III", content[:12])
    order = ">" if magic & 1 else "<"
    sums = _sum(content[:24], order, (0, 0))
    if magic & ~1 != _MAGIC or sums != struct.unpack(">II", content[24:32]):
        return 0, content[_HEADER_BYTES + _SALT_AT : _HEADER_BYTES + _SALT_AT + 8]
    salts, at = content[16:24], _HEADER_BYTES
    while at + _FRAME_BYTES + page_bytes <= len(content):
        frame = content[at : at + _FRAME_BYTES + page_bytes]
        sums = _sum(frame[_FRAME_BYTES:], order, _sum(frame[:8], order, sums))
        if frame[_SALT_AT : _SALT_AT + 8] != salts or sums != struct.unpack(">II", frame[16:24]):
            break
        at += len(frame)
    return at, salts


def _sum(content: bytes, order: str, start: tuple[int, int]) -> tuple[int, int]:
    one, two = start
    words = iter(struct.unpack(f"{order}{len(content) // 4}I", content[: len(content) // 8 * 8]))
    for word in words:
        one = (one + word + two) & _MASK
        two = (two + next(words) + one) & _MASK
    return one, two


def _commits(content: bytes, after: int, salts: bytes) -> int:
    """How many frames that commit stand behind `after`, in step with the frames before or not."""
    found, at = 0, content.find(salts, after)
    while at != -1:
        found += at >= _SALT_AT and content[at - 4 : at] != b"\0\0\0\0"
        at = content.find(salts, at + 1)
    return found
