"""Marks: from which messages a line came, in a comment at its end. Markdown shows no comment, and no disclosure does.

    - The staging certificate has expired (@bo, 2026-04-06) <!-- slack:T1:C9:1712412120.000100 -->

So a blocker, a fact of the environment or a day's point can leave memory when its message is deleted, as a record
does by its Source. What people write cannot form a mark (memory_core.forms.escape).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from memory_core.forms.escape import escape_comment, unescape_comment
from memory_core.ids import MessageKey

_MARK = re.compile(r"[ \t]*<!-- (?P<keys>[^\s<>]+:[^\s<>]+(?: [^\s<>]+:[^\s<>]+)*) -->[ \t]*\Z")


def marked(line: str, keys: Sequence[MessageKey]) -> str:
    """The line with the mark of those messages; without messages as it is."""
    return f"{line} <!-- {escape_comment(' '.join(dict.fromkeys(keys)))} -->" if keys else line


def unmarked(line: str) -> tuple[str, tuple[MessageKey, ...]]:
    """The line without its mark, and the messages of the mark (none without one)."""
    found = _MARK.search(line)
    if found is None:
        return line, ()
    return line[: found.start()], tuple(MessageKey(unescape_comment(key)) for key in found["keys"].split(" "))


def without_key(line: str, key: MessageKey) -> str | None:
    """The line without that message in its mark; None where it came from that message alone. Others are unchanged."""
    text, keys = unmarked(line)
    if key not in keys:
        return line
    left = tuple(one for one in keys if one != key)
    return marked(text, left) if left else None
