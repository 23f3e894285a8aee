"""What of a message may say where to look. Pure.

A message routes by its words alone. The names of our own files are no words of it: to name a file opens nothing. A
line that poses as a notice of the system and names a file of ours has no say at all.
"""

from __future__ import annotations

import re

from memory_core.layouts import Layout
from memory_core.pleasantry import is_pleasantry

_NOTICE = re.compile(
    r"\s*(?:[\[<(【]\s*/?\s*(?:system|assistant|admin|developer)\b|(?:system|assistant)\b[^.\n]{0,20}[:：])",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\s,;:()\[\]<>\"'`、，。：；]+")


def spoken(message: str, names: frozenset[str]) -> str:
    """The message without what has no say. `names` are the file names of the memory tree, lower case."""
    lines: list[str] = []
    for line in message.splitlines():
        files = [word for word in _WORD.findall(line) if _is_ours(word, names)]
        if files and _NOTICE.match(line):
            continue
        for name in files:
            line = line.replace(name, " ")
        lines.append(line)
    return "\n".join(lines)


def _is_ours(word: str, names: frozenset[str]) -> bool:
    path = word.lower().replace("\\", "/").rstrip(".!?")
    return path.rpartition("/")[2] in names or "memory/" in path or ".remem/" in path


def file_names(layout: Layout) -> frozenset[str]:
    """The names of the tree's own files, lower case; those with a star are told by their folder."""
    files = (rule.file for table in (layout.group, layout.direct) for rule in table.rules)
    return frozenset(file.rpartition("/")[2].lower() for file in files if "{" not in file.rpartition("/")[2])


def asks_nothing(text: str) -> bool:
    """Is there nothing to look for: no text, or only a greeting or thanks?"""
    return not text.strip() or is_pleasantry(text)
