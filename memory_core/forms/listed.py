"""The lines of a section: bullets that are added, changed and taken out one at a time, each known by what it says.

    ## Blockers

    - The staging certificate has expired (@bo, 2026-04-06) <!-- slack:T1:C9:1712412120.000100 -->

A section is known by its heading, wherever it stands, and goes on to the next heading that is not deeper; one that is
missing is added at the end. An item ends with the mark of the messages that it came from (forms/marks); one without a
mark is a person's own. A fact is an item of the form `key: value`. Every other line stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from memory_core.forms.blocks import Line, lines_of, newline_of
from memory_core.forms.escape import escape, escape_comment, unescape, unescape_comment
from memory_core.forms.marks import marked, unmarked, without_key
from memory_core.ids import MessageKey
from memory_core.script import fold
from memory_core.text import flat

_HEADING = re.compile(r"(#{1,6})[ \t]+(.*?)[ \t]*")
_BULLET = re.compile(r"[-*+][ \t]+(.*\S)[ \t]*")
_FIELD = re.compile(r"(?:\*\*)?(?:tags|fitness|source|body|supersedes|conflicts|archived)(?:\*\*)?:", re.IGNORECASE)
_RECORD = re.compile(r"#{3,6}[ \t]+\[\d{4}-\d\d-\d\d\]")
_BOLD = re.compile(r"\A(\\*)(?=\*\*)")
_ESCAPED_BOLD = re.compile(r"\A(\\*)\\(?=\*\*)")
_ESCAPE = r"\1\\"

Read = Callable[[str], str]
"""What a line says as an item; '' for one that is none."""


def section(text: str, title: str) -> list[Line]:
    """The first heading of that title and the lines under it, up to the next one that is not deeper."""
    found: list[Line] = []
    level = 0
    for line in lines_of(text):
        heading = None if line.inert else _HEADING.fullmatch(line.text)
        if level and heading and len(heading[1]) <= level:
            break
        if level and not line.inert:
            found.append(line)
        elif heading and len(heading[1]) > 1 and _same_title(heading[2], title):
            level = len(heading[1])
            found.append(line)
    return found


def item(line: str) -> str:
    """The text of a line that is an item; '' for one that is none."""
    found = bullet(line)
    return unescape(_ESCAPED_BOLD.sub(r"\1", found)) if found else ""


def item_beside_records(line: str) -> str:
    """As `item`, in a section that holds records too: their fields (`- Body: …`) are no items."""
    found = item(line)
    return "" if line.startswith("- ") and _FIELD.match(found) else found


def as_item(text: str) -> str:
    """The line of an item. Where it would read as a field of a record (`- Source: …`) it gets another bullet."""
    return f"{'*' if _FIELD.match(text) else '-'} {text}"


def bullet(line: str) -> str | None:
    """What stands behind the bullet, as it stands, without its mark; None for a line without one."""
    found = _BULLET.fullmatch(unmarked(line)[0])
    return found[1] if found else None


def items(text: str, title: str, read: Read = item) -> tuple[str, ...]:
    """The items of a section, in order."""
    return tuple(found for line in section(text, title) if (found := read(line.text)))


def with_item(text: str, title: str, wanted: str, keys: Sequence[MessageKey] = (), read: Read = item) -> str:
    """The page with that item in its section, said in those messages. A known one only gets the keys.

    A line without a mark is a person's own and stays as it is.
    """
    for line in section(text, title):
        if same(read(line.text), wanted):
            plain, known = unmarked(line.text)
            missing = [key for key in keys if known and key not in known]
            new = marked(plain, [*known, *missing]) if missing else line.text
            return text[: line.start] + new + text[line.end :]
    return append(text, title, marked(as_item(_BOLD.sub(_ESCAPE, escape(flat(wanted)))), keys))


def without_item(text: str, title: str, gone: str, read: Read = item) -> str:
    """The page without that item."""
    for line in section(text, title):
        if same(read(line.text), gone):
            return without_line(text, line)
    return text


def without_key_of(text: str, title: str, known: str, key: MessageKey, read: Read = item) -> str:
    """The page with an item that no longer names that message."""
    for line in section(text, title):
        if same(read(line.text), known):
            return text[: line.start] + (without_key(line.text, key) or line.text) + text[line.end :]
    return text


def keys_of(text: str, title: str, known: str, read: Read = item) -> tuple[MessageKey, ...]:
    """The messages that the mark of an item names."""
    return next((unmarked(line.text)[1] for line in section(text, title) if same(read(line.text), known)), ())


def without_message(text: str, titles: Iterable[str], key: MessageKey) -> str:
    """The page without the items in those sections of that message alone, and without its key in others."""
    for title in titles:
        for line in reversed(section(text, title)):
            kept = without_key(line.text, key)
            if kept is None:
                text = without_line(text, line)
            elif kept != line.text:
                text = text[: line.start] + kept + text[line.end :]
    return text


def facts(text: str, title: str) -> tuple[tuple[str, str], ...]:
    """The keys and values of a section's facts, in order."""
    return tuple(found for line in section(text, title) if (found := _fact(line.text)))


def with_fact(text: str, title: str, key: str, value: str, keys: Sequence[MessageKey] = ()) -> str:
    """The page with `key: value` in the section, in the place of an earlier value of that key; '' removes it."""
    key = fact_key(key)
    new = marked(as_item(f"{escape(key)}: {escape_comment(flat(value))}"), keys)
    for line in section(text, title):
        fact = _fact(line.text)
        if fact and fold(fact[0]) == fold(key):
            if not flat(value):
                return without_line(text, line)
            return text if fact[1] == flat(value) else text[: line.start] + new + text[line.end :]
    return append(text, title, new) if flat(value) else text


def keys_of_fact(text: str, title: str, key: str) -> tuple[MessageKey, ...]:
    """The messages that the mark of the fact of that key names."""
    for line in section(text, title):
        found = _fact(line.text)
        if found and fold(found[0]) == fold(fact_key(key)):
            return unmarked(line.text)[1]
    return ()


def fact_key(text: str) -> str:
    """A key as it reads when it is read back: on one line, and without the colon that ends it."""
    return flat(text.replace(":", " "))


def append(text: str, title: str, block: str) -> str:
    """`text` with `block` as the last lines of the section, which is added at the end where it is missing.

    In a section that holds records too it stands above them: below one it would read as a part of it.
    """
    newline, lines = newline_of(text), section(text, title)
    if not lines:
        gap = "" if not text or text.endswith(newline * 2) else newline if text.endswith("\n") else newline * 2
        return f"{text}{gap}## {title}{newline}{newline}{block}{newline}"
    first = next((at for at, line in enumerate(lines) if _RECORD.match(line.text)), len(lines))
    last = [line for line in lines[:first] if line.text.strip()][-1]
    close = _BULLET.fullmatch(last.text.lstrip(" \t")) and _BULLET.fullmatch(block.split(newline)[0])
    return text[: last.end] + (newline if close else newline * 2) + block + (text[last.end :] or newline)


def permuted(text: str, spans: Sequence[tuple[str, int, int]], first: Sequence[str]) -> str:
    """`text` with its spans (key, start, end) in each other's places: those named in `first` before the others."""
    rank = {key: at for at, key in reversed(list(enumerate(first)))}
    wanted = sorted(spans, key=lambda span: rank.get(span[0], len(first)))
    parts: list[str] = []
    at = 0
    for (_, start, end), (_, begin, stop) in zip(spans, wanted, strict=True):
        parts += [text[at:start], text[begin:stop]]
        at = end
    return "".join(parts) + text[at:]


def after(text: str, end: int) -> int:
    """Where the line after the one that ends at `end` starts."""
    found = text.find("\n", end)
    return len(text) if found < 0 else found + 1


def without_line(text: str, line: Line, end: int = 0) -> str:
    """The page without that line and what belongs to it up to `end`.

    The blank line that `append` put before it goes too: what is put in and taken out leaves the page as it was.
    """
    newline, before, rest = newline_of(text), text[: line.start], text[after(text, max(line.end, end)) :]
    alone = before.endswith(newline * 2) and (not rest or rest.startswith(newline))
    return (before.removesuffix(newline) if alone else before) + rest


def same(one: str, other: str) -> bool:
    """Do two items say the same, case and width apart? An empty one is like none."""
    return bool(one) and fold(flat(one)) == fold(flat(other))


def _same_title(heading: str, title: str) -> bool:
    """Is it that heading? `Blocked/Waiting` is `Blocked / Waiting`."""
    return "".join(heading.split()).casefold() == "".join(title.split()).casefold()


def _fact(line: str) -> tuple[str, str] | None:
    found = bullet(line)
    if found is None or ":" not in found:
        return None
    key, _, value = found.partition(":")
    return unescape(key.strip()), unescape_comment(value.strip())
